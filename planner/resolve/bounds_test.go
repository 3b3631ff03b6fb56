package resolve_test

import (
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// TestBounds resolves statements that would double at every level of nesting, or that nothing reads: each ends in a problem or in facts of
// bounded size.
func TestBounds(t *testing.T) {
	cat := loadSchema(t, oracleSchema(t))
	nest := func(n int, before, core, after string) string {
		return strings.Repeat(before, n) + core + strings.Repeat(after, n)
	}
	for name, c := range map[string]struct{ sql, code string }{
		"between":     {"SELECT " + nest(60, "(", "user_id BETWEEN 1 AND 2", ") BETWEEN false AND true") + " FROM users", ""},
		"case":        {"SELECT " + nest(60, "CASE (", "user_id", ") WHEN 1 THEN 2 WHEN 3 THEN 4 END") + " FROM users", ""},
		"order by":    {"SELECT " + nest(30, "(SELECT ", "1", " ORDER BY 1)"), "out_of_bounds"},
		"cube":        {"SELECT 1 FROM users GROUP BY CUBE (1,1,1,1,1,1,1,1,1,1,1,1,1)", "unsupported_syntax"},
		"deep":        {"SELECT " + nest(5000, "(", "1", ")"), "out_of_bounds"},
		"no end":      {"SELECT 'x", "out_of_bounds"},
		"no SQL":      {"SAVEPOINT inside a transaction", "unparsed"},
		"two in text": {"SELECT 1; SELECT 2", "several_statements"},
	} {
		tmpls := templates(c.sql)
		if name == "two in text" {
			tmpls = []*sqltext.Template{{Text: c.sql}}
		}
		for _, tmpl := range tmpls {
			st := resolve.Statement(tmpl, cat, resolve.Options{})
			code := ""
			if len(st.Problems) > 0 {
				code = st.Problems[0].Code
			}
			if code != c.code {
				t.Errorf("%s: problem %q, want %q: %+v", name, code, c.code, st.Problems)
			}
			if n := len(facts.Encode(st)); n > 1<<20 {
				t.Errorf("%s: facts of %d bytes", name, n)
			}
		}
	}
}

// TestViewsThatNest expands views that double at every level, or refer to themselves, only so far.
func TestViewsThatNest(t *testing.T) {
	cat := &catalog.Catalog{SearchPath: []string{"public"}, Relations: map[string]*catalog.Relation{}}
	add := func(name, sql string) {
		cat.Relations["public."+name] = &catalog.Relation{Schema: "public", Name: name, Kind: catalog.View, ViewSQL: sql}
	}
	add("v0", "SELECT 1 AS x")
	for i := 1; i < 30; i++ {
		prev := "v" + string(rune('0'+(i-1)%10)) + strings.Repeat("_", (i-1)/10)
		add("v"+string(rune('0'+i%10))+strings.Repeat("_", i/10), "SELECT a.x FROM "+prev+" a, "+prev+" b")
	}
	add("self", "SELECT * FROM self")
	for _, name := range []string{"v9__", "self"} {
		st := resolve.Statement(&sqltext.Template{Text: "select * from " + name}, cat, resolve.Options{})
		if len(st.Problems) == 0 || st.Problems[0].Code != "view_recursion" && st.Problems[0].Code != "out_of_bounds" {
			t.Errorf("%s: %+v", name, st.Problems)
		}
	}
}
