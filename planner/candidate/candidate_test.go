package candidate

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/foreshard/foreshard/planner/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

// load binds a candidate to a schema; the candidate's file is called c.yaml.
func load(t testing.TB, schema, text []byte) (*Candidate, error) {
	t.Helper()
	cat, err := catalog.Load("schema.sql", schema)
	if err != nil {
		t.Fatal(err)
	}
	return Load("c.yaml", text, cat)
}

// TestLoad reads the cases of testdata: schema.sql and c.yaml go in; dump.txt, warnings.txt or errors.txt come out.
func TestLoad(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range ar.Files {
		want[f.Name] = string(f.Data)
	}
	schema := []byte(want["schema.sql"])
	if path := strings.TrimSpace(want["schema"]); path != "" {
		schema = oracleSchema(t)
	}
	c, err := load(t, schema, []byte(want["c.yaml"]))
	got := map[string]string{"dump.txt": "", "warnings.txt": "", "errors.txt": ""}
	if err != nil {
		got["errors.txt"] = err.Error() + "\n"
	} else {
		got["dump.txt"] = "name " + c.Name + "\n" + c.Dump()
		if len(c.Warnings) > 0 {
			got["warnings.txt"] = strings.Join(c.Warnings, "\n") + "\n"
		}
	}
	if *update {
		var out []txtar.File
		for _, name := range []string{"schema", "schema.sql", "c.yaml"} {
			if want[name] != "" {
				out = append(out, txtar.File{Name: name, Data: []byte(want[name])})
			}
		}
		for _, name := range []string{"dump.txt", "warnings.txt", "errors.txt"} {
			if got[name] != "" {
				out = append(out, txtar.File{Name: name, Data: []byte(got[name])})
			}
		}
		if err := os.WriteFile(file, txtar.Format(&txtar.Archive{Comment: ar.Comment, Files: out}), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range got {
		if got[name] != want[name] {
			t.Errorf("%s:\n--- got\n%s--- want\n%s", name, got[name], want[name])
		}
	}
}

func oracleSchema(t testing.TB) []byte {
	t.Helper()
	var all []byte
	for _, f := range []string{"schema.sql", "objects.sql"} {
		b, err := os.ReadFile(filepath.Join("../../fixtures/oracle", f))
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, b...), '\n')
	}
	return all
}
