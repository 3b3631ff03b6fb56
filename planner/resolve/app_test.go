package resolve_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
)

// appQueries are the statements of the demo application, its values as parameters; those whose value is a list of rows are left out.
func appQueries(t *testing.T) (out []string) {
	t.Helper()
	files, err := filepath.Glob("../../fixtures/app/queries/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no queries: %v", err)
	}
	rows, hole := regexp.MustCompile(`VALUES \{`), regexp.MustCompile(`\{[a-z_]+\}`)
	for _, file := range files {
		for _, query := range strings.Split(string(readFile(t, file)), "\n\n") {
			n := 0
			if !rows.MatchString(query) {
				out = append(out, hole.ReplaceAllStringFunc(query, func(string) string { n++; return "$" + strconv.Itoa(n) }))
			}
		}
	}
	if len(out) < 50 {
		t.Fatalf("only %d queries", len(out))
	}
	return out
}

var appOptions = resolve.Options{SearchPath: []string{"public", "billing"}}

// TestApplication resolves every statement of the demo application: none has a problem.
func TestApplication(t *testing.T) {
	cat := loadSchema(t, readFile(t, "../../fixtures/app/schema.sql"))
	for _, sql := range appQueries(t) {
		for _, tmpl := range templates(sql) {
			st := resolve.Statement(tmpl, cat, appOptions)
			if len(st.Problems) > 0 {
				t.Errorf("%s\n%s", tmpl.Text, facts.String(st))
			}
			roundTrip(t, st)
		}
	}
}
