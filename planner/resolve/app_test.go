package resolve_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
)

// TestApplication resolves every statement of the demo application: none has a problem.
func TestApplication(t *testing.T) {
	cat := loadSchema(t, readFile(t, "../../fixtures/app/schema.sql"))
	files, err := filepath.Glob("../../fixtures/app/queries/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no queries: %v", err)
	}
	rows := regexp.MustCompile(`VALUES \{`)
	hole := regexp.MustCompile(`\{[a-z_]+\}`)
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range strings.Split(string(text), "\n\n") {
			n := 0
			sql := hole.ReplaceAllStringFunc(query, func(name string) string { n++; return "$" + strconv.Itoa(n) })
			if rows.MatchString(query) {
				continue // the values are rows in parentheses
			}
			for _, tmpl := range templates(sql) {
				seen++
				st := resolve.Statement(tmpl, cat, resolve.Options{SearchPath: []string{"public", "billing"}})
				if len(st.Problems) > 0 {
					t.Errorf("%s: %s\n%s", filepath.Base(file), tmpl.Text, facts.String(st))
				}
				roundTrip(t, st)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d statements", seen)
	}
}
