package resolve_test

import (
	"testing"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqltext"
)

func oracleTemplates(b *testing.B) (out []*sqltext.Template) {
	b.Helper()
	for _, c := range oracle(b) {
		out = append(out, templates(c.SQL)...)
	}
	return out
}

// BenchmarkStatement resolves one statement of the oracle, the C parser included: the cost of a template that is seen for the first time.
func BenchmarkStatement(b *testing.B) {
	cat := loadSchema(b, oracleSchema(b))
	tmpls := oracleTemplates(b)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		resolve.Statement(tmpls[i%len(tmpls)], cat, resolve.Options{})
	}
}

// BenchmarkDecode decodes the facts of one statement of the oracle: a stored history is judged at this pace.
func BenchmarkDecode(b *testing.B) {
	cat := loadSchema(b, oracleSchema(b))
	var all [][]byte
	size := 0
	for _, tmpl := range oracleTemplates(b) {
		enc := facts.Encode(resolve.Statement(tmpl, cat, resolve.Options{}))
		all = append(all, enc)
		size += len(enc)
	}
	b.ResetTimer()
	b.ReportMetric(float64(size)/float64(len(all)), "bytes/statement")
	for i := 0; i < b.N; i++ {
		if _, err := facts.Decode(all[i%len(all)]); err != nil {
			b.Fatal(err)
		}
	}
}
