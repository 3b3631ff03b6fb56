package sqlfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/capture/sqlfile"
)

func TestSplit(t *testing.T) {
	src := `-- name: GetUser :one
SELECT * FROM users
WHERE user_id = $1;

/* name: ListByOrg :many */
SELECT sqlc.embed(users), 'a:b @c' FROM users WHERE org_id = @org_id AND (@org_id = '' OR id IN (sqlc.slice('ids')));

SET search_path = billing;
\\echo nothing
UPDATE invoices SET paid = :paid, tags = tags[1:n], at = now()::date WHERE id = :id AND x @> '{}' -- name: no
;
SELECT %(org)s, E'it\\'s :no' , $$ :no $$;
COPY t FROM stdin;
1\tdon't
\\.
SELECT 1
-- name: without_semicolon
SELECT 2

-- name: after_it
SELECT '
-- name: not_this'`
	src = strings.ReplaceAll(src, `\\`, `\`)
	got, err := sqlfile.Split("q.sql", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := []sqlfile.Statement{
		{Line: 2, Name: "GetUser", SQL: "SELECT * FROM users\nWHERE user_id = $1"},
		{Line: 6, Name: "ListByOrg", SQL: "SELECT users.*, 'a:b @c' FROM users WHERE org_id = $1 AND ($1 = '' OR id IN ($2))"},
		{Line: 8, SQL: "SET search_path = billing"},
		{Line: 10, SQL: "UPDATE invoices SET paid = $1, tags = tags[1:n], at = now()::date WHERE id = $2 AND x @> '{}' -- name: no\n", Setup: "SET search_path = billing;"},
		{Line: 12, SQL: `SELECT $1, E'it\'s :no' , $$ :no $$`, Setup: "SET search_path = billing;"},
		{Line: 13, SQL: "COPY t FROM stdin", Setup: "SET search_path = billing;"},
		{Line: 16, SQL: "SELECT 1\n", Setup: "SET search_path = billing;"},
		{Line: 18, Name: "without_semicolon", SQL: "SELECT 2\n\n", Setup: "SET search_path = billing;"},
		{Line: 21, Name: "after_it", SQL: "SELECT '\n-- name: not_this'", Setup: "SET search_path = billing;"},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Fatalf("%d statements, want %d: %+v", len(got), len(want), got)
		}
		w := want[i]
		w.File = "q.sql"
		if got[i] != w {
			t.Errorf("statement %d:\n%+v\nwant\n%+v", i, got[i], w)
		}
	}
}

func TestUnlexableNamesTheLine(t *testing.T) {
	_, err := sqlfile.Split("bad.sql", []byte("SELECT 1;\n\nSELECT 'never ends"))
	if err == nil || !strings.HasPrefix(err.Error(), "bad.sql:3: ") {
		t.Errorf("error %v does not name the line", err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.sql", "a/z.sql", "a/A.SQL", ".git/x.sql", "readme.md"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("SELECT 1"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := sqlfile.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		rel, err := filepath.Rel(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(rel))
	}
	if got := strings.Join(names, " "); got != "a/A.SQL a/z.sql b.sql" {
		t.Errorf("files %s", got)
	}
	if _, err := sqlfile.Files(filepath.Join(dir, ".git", "none")); err == nil {
		t.Error("a folder that is not there is no error")
	}
	empty := t.TempDir()
	if _, err := sqlfile.Files(empty); !errors.Is(err, sqlfile.ErrNone) {
		t.Errorf("empty folder: %v", err)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("-- name: A :one\nSELECT @a, ':b', :b; \\d x\nSELECT $1")
	f.Add("COPY t FROM stdin;\n1\n\\.\nSELECT sqlc.arg('x') -- c")
	f.Fuzz(func(t *testing.T, src string) {
		list, err := sqlfile.Split("f.sql", []byte(src))
		if err != nil && !strings.HasPrefix(err.Error(), "f.sql:") {
			t.Errorf("error names no place: %v", err)
		}
		last := 1
		for _, st := range list {
			if st.Line < last || st.Line > 1+strings.Count(src, "\n") {
				t.Errorf("line %d after %d", st.Line, last)
			}
			last = st.Line
		}
	})
}
