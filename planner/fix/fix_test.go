package fix_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/fix"
	"github.com/foreshard/foreshard/planner/sqltext"
)

var update = flag.Bool("update", false, "write golden files anew")

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func newPlanner(t testing.TB, ddl, cand []byte) *planner.Planner {
	t.Helper()
	cat, err := catalog.Load("schema.sql", ddl)
	if err != nil {
		t.Fatal(err)
	}
	c, err := candidate.Load("candidate.yaml", cand, cat)
	if err != nil {
		t.Fatal(err)
	}
	return planner.New(cat, c)
}

func explain(p *planner.Planner, q planner.Question) planner.Answer {
	a := p.Explain(q)
	a.Fixes = fix.Explain(p, q, a)
	return a
}

// TestCases judges the statements of each testdata/*.txtar under its schema and candidate; the file fixes holds what is offered for each.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar := txtar.Parse(read(t, name))
			parts := map[string][]byte{}
			for _, f := range ar.Files {
				parts[f.Name] = f.Data
			}
			p := newPlanner(t, parts["schema.sql"], parts["candidate.yaml"])
			var out strings.Builder
			for _, sql := range strings.Split(strings.TrimSpace(string(parts["statements"])), "\n\n") {
				a := explain(p, planner.Question{SQL: sql})
				fmt.Fprintf(&out, "%s\n=> %s (%s)\n", sql, a.Class, a.Readiness)
				for _, f := range a.Fixes {
					fmt.Fprintf(&out, "%s: %s\n  then %s (%s): %s\n", f.Kind, f.Change, f.Class, f.Readiness, f.Semantics)
					for _, text := range []string{f.SQL, f.Candidate} {
						if text = strings.TrimRight(text, "\n"); text != "" {
							fmt.Fprintf(&out, "      %s\n", strings.ReplaceAll(text, "\n", "\n      "))
						}
					}
				}
				out.WriteString("\n")
			}
			if got := out.String(); got != string(parts["fixes"]) {
				if !*update {
					t.Fatalf("fixes differ; run go test -update and read the change:\n%s", got)
				}
				i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "fixes" })
				if i < 0 {
					ar.Files = append(ar.Files, txtar.File{Name: "fixes"})
					i = len(ar.Files) - 1
				}
				ar.Files[i].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// asked is a statement to look for fixes of.
type asked struct {
	id string
	q  planner.Question
}

type world struct {
	name       string
	ddl, cand  []byte
	p          *planner.Planner
	statements []asked
}

// worlds are the oracle's statements and the application's, each under its candidates.
func worlds(t testing.TB) []world {
	t.Helper()
	newWorld := func(name string, ddl, cand []byte) world {
		return world{name: name, ddl: ddl, cand: cand, p: newPlanner(t, ddl, cand)}
	}
	oracle := newWorld("oracle", slices.Concat(read(t, "../../fixtures/oracle/schema.sql"), []byte("\n"), read(t, "../../fixtures/oracle/objects.sql")),
		read(t, "../../fixtures/oracle/candidate.yaml"))
	sc := bufio.NewScanner(bytes.NewReader(read(t, "../../fixtures/oracle/oracle.jsonl")))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var row map[string]json.RawMessage
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		for k := range row {
			if !slices.Contains([]string{"id", "sql", "params", "setup"}, k) {
				delete(row, k)
			}
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		id, q, err := planner.ParseLine(line)
		if err != nil {
			t.Fatal(err)
		}
		oracle.statements = append(oracle.statements, asked{id, q})
	}
	out := []world{oracle}
	hole := regexp.MustCompile(`\{[a-z_]+\}`)
	for _, c := range []string{"by-org", "by-user"} {
		w := newWorld(c, read(t, "../../fixtures/app/schema.sql"), read(t, "../../fixtures/app/candidates/"+c+".yaml"))
		files, err := filepath.Glob("../../fixtures/app/queries/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			id := ""
			for _, line := range strings.Split(string(read(t, file)), "\n") {
				if rest, ok := strings.CutPrefix(line, "-- name: "); ok {
					id, _, _ = strings.Cut(rest, " ")
				}
				if line == "" || strings.HasPrefix(line, "--") {
					continue
				}
				n := 0
				sql := hole.ReplaceAllStringFunc(line, func(h string) string {
					n++
					if strings.HasSuffix(h, "_rows}") || h == "{layers}" {
						return fmt.Sprintf("($%d, $%d, $%d, $%d, $%d)", n, n+1, n+2, n+3, n+4)
					}
					return fmt.Sprintf("$%d", n)
				})
				w.statements = append(w.statements, asked{id, planner.Question{SQL: sql}})
			}
		}
		out = append(out, w)
	}
	return out
}

// applied is a candidate with a fix's YAML put in: tables leave the places they had.
func applied(t *testing.T, base, change []byte) []byte {
	t.Helper()
	var into, from map[string]any
	for text, m := range map[*[]byte]*map[string]any{&base: &into, &change: &from} {
		if err := yaml.Unmarshal(*text, m); err != nil {
			t.Fatalf("%v\n%s", err, *text)
		}
	}
	leave := func(table string) {
		for _, key := range []string{"reference", "unsharded"} {
			if list, ok := into[key].([]any); ok {
				into[key] = slices.DeleteFunc(list, func(x any) bool { return x == table })
			}
		}
		for _, colo := range into["colos"].(map[string]any) {
			delete(colo.(map[string]any)["tables"].(map[string]any), table)
		}
	}
	for key, value := range from {
		switch key {
		case "colos":
			for name, colo := range value.(map[string]any) {
				for table, column := range colo.(map[string]any)["tables"].(map[string]any) {
					leave(table)
					into["colos"].(map[string]any)[name].(map[string]any)["tables"].(map[string]any)[table] = column
				}
			}
		case "reference", "unsharded":
			for _, table := range value.([]any) {
				leave(table.(string))
				list, _ := into[key].([]any)
				into[key] = append(list, table)
			}
		case "functions":
			if into[key] == nil {
				into[key] = map[string]any{}
			}
			for f, said := range value.(map[string]any) {
				into[key].(map[string]any)[f] = said
			}
		default:
			into[key] = value
		}
	}
	out, err := yaml.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var column = regexp.MustCompile(`\((ALTER TABLE .*)\), place`)

// world applies a fix to the schema and the candidate.
func (w *world) with(t *testing.T, f planner.Fix) *planner.Planner {
	t.Helper()
	if f.Candidate == "" {
		return w.p
	}
	ddl := w.ddl
	if m := column.FindStringSubmatch(f.Change); m != nil {
		ddl = slices.Concat(ddl, []byte("\n"+m[1]+" NOT NULL;"))
	}
	return newPlanner(t, ddl, applied(t, w.cand, []byte(f.Candidate)))
}

// TestOffersHold applies every offered fix of the fixtures' statements, to the text or to the candidate's YAML, and asks the judge again: it
// must say what the fix says.
func TestOffersHold(t *testing.T) {
	for _, w := range worlds(t) {
		kinds, open, helped := map[string]int{}, 0, 0
		for _, st := range w.statements {
			a := w.p.Explain(st.q)
			if a.Readiness == planner.Ready {
				continue
			}
			open++
			fixes := fix.Explain(w.p, st.q, a)
			if len(fixes) > 0 {
				helped++
			}
			if again := fix.Explain(w.p, st.q, a); fmt.Sprint(again) != fmt.Sprint(fixes) {
				t.Errorf("%s %s: another answer the second time", w.name, st.id)
			}
			for i, f := range fixes {
				kinds[f.Kind]++
				if f.Change == "" || f.Semantics == "" || f.SQL+f.Candidate == "" || i >= fix.Max || !slices.Contains(fix.Kinds(), f.Kind) {
					t.Errorf("%s %s: incomplete fix %+v", w.name, st.id, f)
				}
				if f.Readiness == planner.Blocked || f.Readiness == planner.UnknownReadiness {
					t.Errorf("%s %s: a fix that does not help: %+v", w.name, st.id, f)
				}
				if got := w.judged(t, st.q, f); got.Class != f.Class || got.Readiness != f.Readiness {
					t.Errorf("%s %s: %s says %s (%s), the judge says %s (%s)\n%s\n%s%s", w.name, st.id, f.Kind, f.Class, f.Readiness, got.Class, got.Readiness, st.q.SQL, f.SQL, f.Candidate)
				}
			}
		}
		t.Logf("%s: %d of %d statements that are not ready have a fix: %v", w.name, helped, open, kinds)
		if helped*2 < open {
			t.Errorf("%s: only %d of %d statements have a fix", w.name, helped, open)
		}
	}
}

// judged is what the judge says of a fix: the dearest of its statements.
func (w *world) judged(t *testing.T, q planner.Question, f planner.Fix) planner.Answer {
	t.Helper()
	p := w.with(t, f)
	parts := []string{q.SQL}
	switch {
	case f.Kind == fix.Split || f.Kind == fix.Transaction:
		parts = strings.Split(f.SQL, ";\n")
	case f.SQL != "":
		parts = []string{f.SQL}
	}
	worst := planner.Answer{}
	for k, part := range parts {
		v := p.Explain(planner.Question{SQL: part, Params: q.Params, Setup: q.Setup})
		if k == 0 || planner.Cost(v.Class) > planner.Cost(worst.Class) {
			worst = v
		}
	}
	return worst
}

// TestTemplates looks for fixes of the same statements as templates: no literal of theirs may be in what is offered, and what is offered for
// the text, where it needs no value, is offered for the template.
func TestTemplates(t *testing.T) {
	for _, w := range worlds(t) {
		n := 0
		for _, st := range w.statements {
			var sc sqltext.Scanner
			sc.Reset([]byte(st.q.SQL))
			if !sc.Next() || sc.Statement().Bound != sqltext.WithinBounds {
				continue
			}
			one := sc.Statement()
			tmpl := sqltext.NewTemplate(string(one.Text), slices.Clone(one.Slots))
			var secrets []string
			for _, v := range one.Values {
				if v.Kind == sqltext.String && len(v.Text) > 4 && !strings.Contains(tmpl.Text, string(v.Text)) {
					secrets = append(secrets, string(v.Text))
				}
			}
			v := fix.Judge(w.p, tmpl, nil)
			for _, f := range fix.Template(w.p, tmpl, nil, v) {
				n++
				for _, s := range secrets {
					if strings.Contains(f.SQL+f.Change+f.Semantics+f.Candidate, s) {
						t.Errorf("%s %s: a value is in %+v", w.name, st.id, f)
					}
				}
			}
		}
		t.Logf("%s: %d fixes of templates", w.name, n)
		if n < 20 {
			t.Errorf("%s: only %d fixes of templates", w.name, n)
		}
	}
}

func BenchmarkTemplate(b *testing.B) {
	w := worlds(b)[1]
	type open struct {
		t *sqltext.Template
		v planner.Verdict
	}
	var all []open
	for _, st := range w.statements {
		var sc sqltext.Scanner
		sc.Reset([]byte(st.q.SQL))
		if !sc.Next() {
			continue
		}
		tmpl := sqltext.NewTemplate(string(sc.Statement().Text), slices.Clone(sc.Statement().Slots))
		if v := fix.Judge(w.p, tmpl, nil); v.Readiness != planner.Ready {
			all = append(all, open{tmpl, v})
		}
	}
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		o := all[i%len(all)]
		fix.Template(w.p, o.t, nil, o.v)
	}
}
