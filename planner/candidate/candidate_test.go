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

const (
	smallSchema = "CREATE TABLE a (id bigint NOT NULL, k bigint NOT NULL); CREATE TABLE b (id bigint NOT NULL); CREATE TABLE r (x int); CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';"
	small       = `
name: one
shards: 8
colos:
  x:
    key: {name: id, type: bigint}
    tables: {a: id, b: id}
reference: [r]
functions:
  f: {volatility: stable}
`
)

// The hash is over what is placed where, not over the candidate's name, its order or its spelling.
func TestHash(t *testing.T) {
	want, err := load(t, []byte(smallSchema), []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, now string) string {
		out := strings.Replace(small, old, now, 1)
		if out == small {
			t.Fatalf("%q is not in the candidate", old)
		}
		return out
	}
	same := []string{
		replaced("name: one", "name: two"), replaced("{a: id, b: id}", "{public.b: ID, A: '\"id\"'}"), replaced("bigint", "INT8"), replaced("{a: id, b: id}", "[a, b]"),
		replaced("name: one", "dialect: figma"), replaced("shards: 8", "shards: 8 # many"), replaced("f:", "public.f:"),
	}
	other := []string{
		replaced("shards: 8", "shards: 16"), replaced("a: id", "a: k"), replaced("[r]", "[]"), replaced("reference: [r]", "unsharded: [r]"), replaced("x:", "y:"),
		replaced("stable", "volatile"), replaced("{volatility: stable}", "{volatility: stable, tables: []}"), replaced("name: one", "dialect: full"),
	}
	for i, texts := range [][]string{same, other} {
		for _, text := range texts {
			c, err := load(t, []byte(smallSchema), []byte(text))
			if err != nil {
				t.Errorf("%v in\n%s", err, text)
			} else if (c.Hash == want.Hash) != (i == 0) {
				t.Errorf("hash is equal: %v\n%s", c.Hash == want.Hash, text)
			}
		}
	}
}

func TestUndecided(t *testing.T) {
	c, err := load(t, []byte(smallSchema), []byte("unsharded: [a]"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "c" || c.Table("public.a").Placement != Unsharded || c.Table("public.b").Placement != Undecided || c.Table("x.y").Key != "x.y" {
		t.Errorf("%s: %v %v", c.Name, c.Table("public.a"), c.Table("public.b"))
	}
	cat, err := catalog.Load("schema.sql", []byte(smallSchema+"CREATE VIEW v AS SELECT 1; CREATE TABLE p (x int) PARTITION BY LIST (x); CREATE TABLE p1 PARTITION OF p DEFAULT;"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Undecided(cat), " "); got != "public.b public.p public.r" {
		t.Errorf("undecided: %s", got)
	}
}

// Texts that are no YAML mapping, and candidates that say nothing, are refused with a place.
func TestNoCandidate(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty", "# nothing": "empty", "just words": "c.yaml:1:1: the candidate must be a mapping", "- a": "c.yaml:1:1: the candidate must be a mapping",
		"name: x": "places no table", "a: [": "c.yaml:1:4: the text is not YAML", "reference: [a]\n---\nreference: [b]": "c.yaml:3:10: a second document",
		"reference: &x [a]": "must be a list", "{}": "places no table", "reference: [[a]]": "must be a plain value", "reference: [~]": "has no value",
		"? [a]\n: b": "the text is not YAML",
	} {
		if _, err := load(t, []byte(smallSchema), []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"users", "users", 0}, {"user", "users", 1}, {"suers", "users", 1}, {"kitten", "sitting", 3}, {"abc", "xyz", 3}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("distance of %q and %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestSplitName(t *testing.T) {
	for in, want := range map[string]string{
		"Users": "users", "App.Users": "app|users", `"App"."a""b.c"`: `App|a"b.c`, "ÄB": "Äb", "a$1": "a$1", " a ": "a",
		"": "", "a b": "", "1a": "", "a.": "", ".a": "", `"a`: "", `""`: "", "a.b.c": "", `"a"b`: "", "a-b": "",
	} {
		parts, why := splitName(strings.TrimSpace(in))
		if got := strings.Join(parts, "|"); got != want || (why == "") != (want != "") {
			t.Errorf("%q splits into %q (%s), want %q", in, got, why, want)
		}
	}
}

// Load never panics, errors name the file, and an accepted candidate keeps what the contract promises.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(small))
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range ar.Files {
			if part.Name == "c.yaml" {
				f.Add(part.Data)
			}
		}
	}
	cat, err := catalog.Load("schema.sql", []byte(smallSchema))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Load("c.yaml", text, cat)
		if err != nil {
			if !strings.Contains(err.Error(), "c.yaml") {
				t.Errorf("error without the file: %v", err)
			}
			return
		}
		for key, table := range c.Tables {
			rel := cat.Relations[key]
			if rel == nil || table.Key != key || table.Placement == Undecided {
				t.Errorf("table %q: %+v", key, table)
			}
			if table.Placement == Sharded && (table.Colo.Shards < 1 || table.Colo.KeyType == "" || rel.Columns[table.Col].Name != table.Column) {
				t.Errorf("sharded table %q: %+v %+v", key, table, table.Colo)
			}
		}
	})
}
