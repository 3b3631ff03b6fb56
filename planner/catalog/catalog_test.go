package catalog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestLoad reads the cases of testdata: in.sql goes in, dump.txt (and skipped.txt) or errors.txt come out.
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
	var in []byte
	want := map[string]string{}
	for _, f := range ar.Files {
		if f.Name == "in.sql" {
			in = f.Data
		} else {
			want[f.Name] = string(f.Data)
		}
	}
	got := outcome(in)
	if *update {
		ar.Files = []txtar.File{{Name: "in.sql", Data: in}}
		for _, name := range []string{"dump.txt", "skipped.txt", "errors.txt"} {
			if got[name] != "" {
				ar.Files = append(ar.Files, txtar.File{Name: name, Data: []byte(got[name])})
			}
		}
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
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

func outcome(in []byte) map[string]string {
	c, err := Load("in.sql", in)
	if err != nil {
		return map[string]string{"errors.txt": err.Error() + "\n", "dump.txt": "", "skipped.txt": ""}
	}
	var skipped strings.Builder
	for _, kind := range sorted(c.Skipped) {
		fmt.Fprintf(&skipped, "%d %s\n", c.Skipped[kind], kind)
	}
	return map[string]string{"dump.txt": c.Dump(), "skipped.txt": skipped.String(), "errors.txt": ""}
}

// TestAgainstServer compares what Load makes of plain DDL, and of pg_dump's output for it, with what a server itself says.
func TestAgainstServer(t *testing.T) {
	text, err := os.ReadFile("testdata/server.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "\n")
	want := strings.Split(strings.TrimSpace(list), "\n")
	slices.Sort(want)
	for _, file := range []string{"objects", "pgdump"} {
		ar, err := txtar.ParseFile("testdata/" + file + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		got := facts(mustLoad(t, string(ar.Files[0].Data)))
		for _, line := range got {
			if !slices.Contains(want, line) {
				t.Errorf("%s: the server does not have %s", file, line)
			}
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("%s: only the server has %s", file, line)
			}
		}
	}
}

// facts writes a catalog as server.txt does.
func facts(c *Catalog) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for key, r := range c.Relations {
		if r.ViewSQL != "" {
			continue
		}
		for _, col := range r.Columns {
			add("%s|%s|%s|%v|%v|%v", key, col.Name, col.Type, col.NotNull, col.Identity, col.Default != "" || col.Identity)
		}
		for _, u := range r.Uniques {
			add("U %s|%s|%s|%d|%v|%v|%v", key, u.Name, strings.Join(u.Columns, ","), u.Exprs, u.Partial, u.Primary, u.Index)
		}
		for _, fk := range r.ForeignKeys {
			add("F %s|%s|%s|%s|%s|%s|%s", key, fk.Name, strings.Join(fk.Columns, ","), fk.RefTable, strings.Join(fk.RefColumns, ","), fk.OnDelete, fk.OnUpdate)
		}
	}
	for key, fs := range c.Functions {
		for _, f := range fs {
			add("P %s|%s|%c|%v|%v", key, strings.Join(f.Args, ","), f.Volatility, f.Strict, f.ReturnsSet)
		}
	}
	for key := range c.Sequences {
		add("S %s", key)
	}
	return out
}

const small = `
CREATE TYPE mood AS ENUM ('ok');
CREATE TABLE a (id int PRIMARY KEY, m mood);
CREATE TABLE b (id int, a_id int REFERENCES a, CONSTRAINT x UNIQUE (id), CONSTRAINT y UNIQUE (a_id));
CREATE VIEW v AS SELECT id FROM a;
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
`

func mustLoad(t testing.TB, ddl string) *Catalog {
	t.Helper()
	c, err := Load("schema.sql", []byte(ddl))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The hash is over what the objects are: not over their order, the formatting or the comments, but over everything else.
func TestHash(t *testing.T) {
	want := mustLoad(t, small).Hash
	same := map[string]string{
		"formatting": strings.ToUpper(strings.ReplaceAll(small[:strings.Index(small, "CREATE VIEW")], "'OK'", "'ok'")) + small[strings.Index(small, "CREATE VIEW"):],
		"comments":   "-- hello\n" + strings.ReplaceAll(small, ";", "; /* x */"),
		"order": `
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TYPE mood AS ENUM ('ok');
CREATE TABLE b (id int, a_id int);
CREATE TABLE a (id int, m mood);
ALTER TABLE a ADD CONSTRAINT a_pkey PRIMARY KEY (id);
CREATE VIEW v AS SELECT id FROM a;
ALTER TABLE b ADD CONSTRAINT y UNIQUE (a_id);
ALTER TABLE b ADD CONSTRAINT x UNIQUE (id);
ALTER TABLE b ADD CONSTRAINT b_a_id_fkey FOREIGN KEY (a_id) REFERENCES a (id);`,
	}
	same["formatting"] = strings.Replace(same["formatting"], "'OK'", "'ok'", 1)
	for what, ddl := range same {
		if c := mustLoad(t, ddl); c.Hash != want {
			t.Errorf("%s changes the hash:\n%s", what, c.Dump())
		}
	}
	for _, change := range [][2]string{
		{"id int PRIMARY KEY", "id int8 PRIMARY KEY"}, {"id int PRIMARY KEY", "id int UNIQUE"}, {"(id int, a_id int", "(a_id int, id int"},
		{"REFERENCES a", "REFERENCES a ON DELETE CASCADE"}, {"SELECT id FROM a", "SELECT id FROM b"}, {"RETURNS int LANGUAGE", "RETURNS int STABLE LANGUAGE"},
		{"CREATE TYPE", "SET search_path = public, x; CREATE TYPE"}, {"UNIQUE (a_id)", "UNIQUE (a_id, id)"},
	} {
		if ddl := strings.Replace(small, change[0], change[1], 1); ddl == small || mustLoad(t, ddl).Hash == want {
			t.Errorf("%q instead of %q does not change the hash", change[1], change[0])
		}
	}
}

func TestLookups(t *testing.T) {
	c := mustLoad(t, `
CREATE SCHEMA app;
CREATE TABLE top (id int, PRIMARY KEY (id)) PARTITION BY HASH (id);
CREATE TABLE mid PARTITION OF top FOR VALUES WITH (MODULUS 2, REMAINDER 0) PARTITION BY HASH (id);
CREATE TABLE low PARTITION OF mid FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE app.top (id int);
CREATE TYPE app.mood AS ENUM ('ok');
CREATE FUNCTION app.f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION f(text) RETURNS int LANGUAGE sql AS 'SELECT 1';`)
	for _, key := range []string{"public.top", "public.mid", "public.low"} {
		if root := c.Root(key); root == nil || root.Key() != "public.top" {
			t.Errorf("root of %s is %v", key, root)
		}
	}
	if c.Root("public.none") != nil {
		t.Error("an unknown key has a root")
	}
	if k := c.Relations["public.low"].ConstraintByName("low_pkey"); k == nil || !k.Primary {
		t.Errorf("low_pkey is %v", k)
	}
	if k := c.Relations["public.low"].ConstraintByName("top_pkey"); k != nil {
		t.Errorf("top_pkey of low is %v", k)
	}
	if r := c.Relation([]string{"app", "public"}, "", "top"); r.Key() != "app.top" {
		t.Errorf("top along app, public is %s", r.Key())
	}
	if n := len(c.FunctionsByName([]string{"app", "public"}, "", "f")); n != 2 {
		t.Errorf("%d functions f along app, public", n)
	}
	if fs := c.FunctionsByName(nil, "", "f"); len(fs) != 1 || fs[0].Args[0] != "text" {
		t.Errorf("f along the default path is %v", fs)
	}
	if c.TypeByName(nil, "", "mood") != nil || c.TypeByName([]string{"app"}, "", "mood") == nil || c.TypeByName(nil, "app", "mood") == nil {
		t.Error("mood is found where it is not, or not where it is")
	}
}

func TestNotText(t *testing.T) {
	for in, want := range map[string]string{
		"PGDMP\x01\x0e": "pg_restore", "\x1f\x8b\x08": "decompress", "\xff\xfeC\x00": "UTF-16", "CREATE\x00": "NUL",
	} {
		if _, err := Load("x", []byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// Generated names are those PostgreSQL makes: at most 63 bytes, whole characters.
func TestObjectName(t *testing.T) {
	for _, c := range [][4]string{
		{"t", "a_b", "key", "t_a_b_key"}, {"t", "", "pkey", "t_pkey"},
		{strings.Repeat("t", 60), strings.Repeat("c", 60), "key", strings.Repeat("t", 29) + "_" + strings.Repeat("c", 29) + "_key"},
		{strings.Repeat("t", 70), "c", "seq", strings.Repeat("t", 57) + "_c_seq"},
	} {
		if got := objectName(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%s + %s + %s = %s (%d bytes), want %s", c[0], c[1], c[2], got, len(got), c[3])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := objectName(rapid.StringN(1, 63, 63).Draw(t, "table"), rapid.StringN(0, 63, 63).Draw(t, "column"), "pkey")
		if len(name) > maxName {
			t.Fatalf("%q has %d bytes", name, len(name))
		}
	})
}

// Load never panics, and what it makes of a text it makes again.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ar.Files[0].Data)
	}
	f.Add([]byte(small))
	f.Fuzz(func(t *testing.T, ddl []byte) {
		a, errA := Load("x", ddl)
		b, errB := Load("x", ddl)
		if (errA == nil) != (errB == nil) || errA == nil && (a.Hash != b.Hash || a.Dump() != b.Dump()) {
			t.Errorf("two results: %v, %v", errA, errB)
		}
	})
}
