package foreshard_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/cmd/foreshard/metric"
)

var update = flag.Bool("update", false, "write the generated parts of the documents")

// The documents list every table and column of the warehouse, every bucket of the ledger, and every metric, from the places that define them.
func TestREADME(t *testing.T) {
	for name, sections := range map[string]map[string]string{
		"docs/contracts.md":  {"warehouse": "\n" + warehouse.Columns(), "ledger": ledgerTables(t)},
		"docs/operations.md": {"metrics": metricTable()},
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := text
		for section, body := range sections {
			want = replaceSection(t, name, want, section, body)
		}
		if bytes.Equal(text, want) {
			continue
		}
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s does not describe what there is; accept with: go test -run README -update .", name)
	}
}

// replaceSection puts body between the marks of a generated section.
func replaceSection(t *testing.T, file string, text []byte, name, body string) []byte {
	t.Helper()
	begin := bytes.Index(text, []byte("<!-- "+name+":"))
	end := bytes.Index(text, []byte("<!-- /"+name+" -->"))
	if begin < 0 || end < begin {
		t.Fatalf("%s lacks the marks around section %q", file, name)
	}
	begin += bytes.IndexByte(text[begin:], '\n') + 1
	return append(append(append([]byte{}, text[:begin]...), body...), text[end:]...)
}

// metricTable describes what the long-running verbs measure.
func metricTable() string {
	var b strings.Builder
	b.WriteString("\n| metric | labels | |\n|---|---|---|\n")
	for _, m := range metric.Table() {
		fmt.Fprintf(&b, "| `foreshard_%s` | %s | %s |\n", m.Name, strings.Join(m.Labels, ", "), m.Help)
	}
	return b.String() + "\n"
}

// ledgerTables describes the buckets of records, the reasons of dropped bytes and the notes: the constants of capture/pglog and their comments.
func ledgerTables(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "capture/pglog/pglog.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, group := range []struct{ prefix, title string }{
		{"Bucket", "`buckets`: records by what they were"}, {"Drop", "`dropped_bytes`: bytes outside records"}, {"Note", "notes: what makes a result weaker"},
	} {
		fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n", group.title)
		rows := 0
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, group.prefix) {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				value, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "| `%s` | %s |\n", value, strings.TrimSpace(spec.Comment.Text()))
				rows++
			}
			return true
		})
		if rows < 5 {
			t.Fatalf("found %d constants %s...; the test sees nothing", rows, group.prefix)
		}
	}
	return b.String() + "\n"
}
