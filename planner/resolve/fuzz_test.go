package resolve_test

import (
	"testing"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
)

// FuzzStatement resolves any text: it gives facts that survive their encoding and a second run, and never the problem of its own panic.
func FuzzStatement(f *testing.F) {
	cat := loadSchema(f, oracleSchema(f))
	for i, c := range oracle(f) {
		if i%20 == 0 {
			f.Add(c.SQL)
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, tmpl := range templates(sql) {
			st := resolve.Statement(tmpl, cat, resolve.Options{})
			for _, p := range st.Problems {
				if p.Code == "internal" {
					t.Fatalf("the resolver panics on %s", tmpl.Text)
				}
			}
			again := resolve.Statement(tmpl, cat, resolve.Options{})
			if a, b := facts.String(st), facts.String(again); a != b {
				t.Fatalf("two runs differ:\n%s\n%s", a, b)
			}
			roundTrip(t, st)
		}
	})
}
