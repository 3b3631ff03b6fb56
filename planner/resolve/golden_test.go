package resolve_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
)

var update = flag.Bool("update", false, "rewrite the expected dumps in testdata")

// TestGolden resolves the statements of testdata/*.txtar, one per file x.sql, and compares facts.String with x.txt. A file schema.sql in
// an archive replaces the oracle's schema, more.sql adds to it; lines "-- path: a,b" and "-- types: bigint,text" above a statement set the options.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { goldenFile(t, file) })
	}
}

func goldenFile(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ddl := oracleSchema(t)
	want := map[string]string{}
	for _, f := range ar.Files {
		if f.Name == "schema.sql" {
			ddl = f.Data
		}
		if f.Name == "more.sql" {
			ddl = append(ddl, f.Data...)
		}
		if name, ok := strings.CutSuffix(f.Name, ".txt"); ok {
			want[name] = string(f.Data)
		}
	}
	cat := loadSchema(t, ddl)
	out := &txtar.Archive{Comment: ar.Comment}
	for _, f := range ar.Files {
		name, ok := strings.CutSuffix(f.Name, ".sql")
		if !ok {
			continue
		}
		out.Files = append(out.Files, f)
		if name == "schema" || name == "more" {
			continue
		}
		var got strings.Builder
		for _, tmpl := range templates(string(f.Data)) {
			st := resolve.Statement(tmpl, cat, caseOptions(string(f.Data)))
			got.WriteString(facts.String(st))
			roundTrip(t, st)
		}
		if got.String() != want[name] && !*update {
			t.Errorf("%s: %s\ngot:\n%s\nwant:\n%s", name, f.Data, got.String(), want[name])
		}
		out.Files = append(out.Files, txtar.File{Name: name + ".txt", Data: []byte(got.String())})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func caseOptions(sql string) (opt resolve.Options) {
	for line := range strings.Lines(sql) {
		if path, ok := strings.CutPrefix(line, "-- path: "); ok {
			opt.SearchPath = strings.Split(strings.TrimSpace(path), ",")
		}
		if types, ok := strings.CutPrefix(line, "-- types: "); ok {
			opt.ParamTypes = map[int]string{}
			for i, typ := range strings.Split(strings.TrimSpace(types), ",") {
				opt.ParamTypes[i+1] = typ
			}
		}
	}
	return opt
}

// roundTrip checks that facts survive their encoding, and that it is deterministic.
func roundTrip(t *testing.T, st *facts.Statement) {
	t.Helper()
	b := facts.Encode(st)
	back, err := facts.Decode(b)
	if err != nil {
		t.Fatalf("%v\n%s", err, facts.String(st))
	}
	if a, b := facts.String(st), facts.String(back); a != b {
		t.Errorf("decoded facts differ:\n%s\nnow\n%s", a, b)
	}
	if string(facts.Encode(back)) != string(b) {
		t.Errorf("facts encode to other bytes after decoding:\n%s", facts.String(st))
	}
}
