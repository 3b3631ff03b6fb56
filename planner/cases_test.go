package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner"
)

// TestCases judges the statements of testdata/cases.sql, one a line, and compares with testdata/cases.golden: class, class for all values,
// shards, reasons and features. Among them are the public wrong-routing bugs of other planners, one of each kind.
func TestCases(t *testing.T) {
	p := oraclePlanner(t)
	var out strings.Builder
	for _, line := range strings.Split(string(readFile(t, "testdata/cases.sql")), "\n") {
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
	golden(t, "cases.golden", out.String())
}
