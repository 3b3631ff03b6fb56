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

// An operator of the schema's own may come before a builtin one that is reached by a cast.
func TestOwnOperators(t *testing.T) {
	cat, err := catalog.Load("schema.sql", []byte(`CREATE TABLE bk (k bigint NOT NULL, n numeric);
CREATE FUNCTION f_eq(bigint, numeric) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT true $$;
CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = numeric, FUNCTION = f_eq);`))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("c.yaml", []byte("name: x\nshards: 8\ncolos: {n: {key: {name: k, type: bigint}, tables: {bk: k}}}\n"), cat)
	if err != nil {
		t.Fatal(err)
	}
	p := planner.New(cat, cand)
	for sql, want := range map[string]planner.Class{
		"SELECT * FROM bk WHERE k = 5":                      planner.SingleShard,
		"SELECT * FROM bk WHERE k = '5'":                    planner.SingleShard,
		"SELECT * FROM bk WHERE k = 5::smallint":            planner.SingleShard,
		"SELECT * FROM bk WHERE k IN (5, 6)":                planner.MultiShard,
		"SELECT * FROM bk WHERE k = 5.0":                    planner.Unknown,
		"SELECT * FROM bk WHERE k IN (5, 6.0)":              planner.Unknown,
		"SELECT * FROM bk WHERE k = ANY(ARRAY[5.0])":        planner.Unknown,
		"SELECT * FROM bk a JOIN bk b ON a.k = b.n":         planner.Unknown,
		"SELECT * FROM bk WHERE (k, n) = (5.0, 1::numeric)": planner.Unknown,
	} {
		if got := p.Explain(planner.Question{SQL: sql}).Class; got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}
