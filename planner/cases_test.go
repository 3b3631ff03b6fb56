package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// TestCases judges the statements of testdata/cases.sql, one a line, and compares with testdata/cases.golden: class, class for all values,
// shards, reasons and features. Among them are the public wrong-routing bugs of other planners, one of each kind.
func TestCases(t *testing.T) { judgeCases(t, oraclePlanner(t), "cases") }

// TestTypes does the same over a schema of unusual keys and tables: lengths, domains, collations, identities, partitions, inheritance,
// triggers, rules, row security, views of every kind, functions that hide builtin ones.
func TestTypes(t *testing.T) {
	cat, err := catalog.Load("types_schema.sql", readFile(t, "testdata/types_schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("types.yaml", readFile(t, "testdata/types.yaml"), cat)
	if err != nil {
		t.Fatal(err)
	}
	judgeCases(t, planner.New(cat, cand), "types")
}

func judgeCases(t *testing.T, p *planner.Planner, name string) {
	t.Helper()
	var out strings.Builder
	for _, line := range strings.Split(string(readFile(t, "testdata/"+name+".sql")), "\n") {
		if line == "" || strings.HasPrefix(line, "--") {
			fmt.Fprintln(&out, line)
			continue
		}
		a := p.Explain(planner.Question{SQL: line})
		var codes []string
		for _, r := range a.Reasons {
			if r.Code != "outside_dialect" {
				codes = append(codes, r.Code)
			}
		}
		fmt.Fprintf(&out, "%s\n    %s/%s %v | %s | %s\n", line, a.Class, a.Symbolic, a.Shards.List, strings.Join(codes, " "), strings.Join(a.Features, " "))
	}
	golden(t, name+".golden", out.String())
}
