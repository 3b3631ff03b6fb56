package resolve_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqltext"
)

func loadSchema(t testing.TB, ddl []byte) *catalog.Catalog {
	t.Helper()
	cat, err := catalog.Load("schema.sql", ddl)
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// oracleSchema is the schema that the oracle and the golden cases speak of.
func oracleSchema(t testing.TB) []byte {
	return slices.Concat(readFile(t, "../../fixtures/oracle/schema.sql"), readFile(t, "../../fixtures/oracle/objects.sql"))
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// templates gives the templates of a text, one per statement.
func templates(text string) (out []*sqltext.Template) {
	var sc sqltext.Scanner
	sc.Reset([]byte(text))
	for sc.Next() {
		st := sc.Statement()
		t := sqltext.NewTemplate(string(st.Text), append([]sqltext.Slot(nil), st.Slots...))
		t.Bound = st.Bound
		out = append(out, t)
	}
	return out
}

type oracleCase struct {
	ID, SQL, Setup string
	Params         [][]*string
}

func oracle(t testing.TB) (cases []oracleCase) {
	t.Helper()
	f, err := os.Open("../../fixtures/oracle/oracle.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var c oracleCase
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// options are what a case's parameters and its preceding SET tell.
func (c *oracleCase) options() resolve.Options {
	opt := resolve.Options{ParamTypes: map[int]string{}}
	for i, p := range c.Params {
		opt.ParamTypes[i+1] = *p[0]
	}
	if path, ok := strings.CutPrefix(c.Setup, "SET search_path="); ok {
		opt.SearchPath = strings.Split(path, ",")
	}
	return opt
}

// TestOracle resolves every oracle statement: what is valid SQL over the schema has no problem.
func TestOracle(t *testing.T) {
	cat := loadSchema(t, oracleSchema(t))
	wrong := map[string][]string{ // what PostgreSQL rejects, and rows that tell a story in place of SQL
		"key-018":     {"no_such_operator"},
		"session-004": {"unparsed"},
		"session-006": {"unparsed"},
		"session-014": {"unknown_column", "unparsed"},
		"session-016": {"unparsed"},
	}
	seen := map[string]bool{}
	for _, c := range oracle(t) {
		for _, tmpl := range templates(c.SQL) {
			st := resolve.Statement(tmpl, cat, c.options())
			for _, p := range st.Problems {
				seen[c.ID] = true
				if !slices.Contains(wrong[c.ID], p.Code) {
					t.Errorf("%s: %s\n  %+v\n%s", c.ID, tmpl.Text, p, facts.String(st))
				}
			}
		}
	}
	for id := range wrong {
		if !seen[id] {
			t.Errorf("%s has no problem", id)
		}
	}
}
