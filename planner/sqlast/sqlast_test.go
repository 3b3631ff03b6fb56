package sqlast_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/sqlast"
	"github.com/foreshard/foreshard/planner/sqltext"
)

func TestParseGivesByteOffsets(t *testing.T) {
	stmts, err := sqlast.Parse("select 'ä'; select größe from t where a = $1")
	if err != nil {
		t.Fatal(err)
	}
	if len(stmts) != 2 || stmts[1].StmtLocation != int32(len("select 'ä';")) {
		t.Fatalf("got %v", stmts)
	}
	node, err := sqlast.ParseOne("select a from t where b = 1")
	if err != nil {
		t.Fatal(err)
	}
	sel, ok := node.GetNode().(*sqlast.Node_SelectStmt)
	if !ok || len(sel.SelectStmt.GetTargetList()) != 1 {
		t.Errorf("got %T", node.GetNode())
	}
	if _, err := sqlast.ParseOne("select 1; select 2"); err == nil {
		t.Error("two statements are taken for one")
	}
}

// TestErrorsHoldNoLiteral: the text of a failed statement may be secret, so an error says where, never what.
func TestErrorsHoldNoLiteral(t *testing.T) {
	for _, c := range []struct {
		sql string
		pos int
	}{
		{"select from where 'secret'", 12},
		{"select 'secret' 'secret'", 16},
		{"select 'ä' 'secret'", 12},
		{"select 'ä', secret secret secret", 27},
		{"create table t (a int storage secret secret)", 37},
		{"select \"secret", -1},
		{"select 'secret", -1},
		{"select E'\\u00secret'", -1},
		{"select 1 as secret.secret", 18},
		{"selec 'secret'", 0},
		{"create user secret secret", -1},
	} {
		_, err := sqlast.Parse(c.sql)
		var e *sqlast.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: got %v, want an *Error", c.sql, err)
			continue
		}
		if strings.Contains(err.Error(), "secret") || e.Message == "" {
			t.Errorf("%q: the error is %q", c.sql, err)
		}
		if c.pos >= 0 && e.Pos != c.pos {
			t.Errorf("%q: position %d, want %d (%s)", c.sql, e.Pos, c.pos, e.Message)
		}
	}
}

func TestBoundsComeBeforeTheParser(t *testing.T) {
	for sql, want := range map[string]sqltext.Bound{
		"select 1" + strings.Repeat("+1", 64_000):                             sqltext.TooDeep,
		"select " + strings.Repeat("(", 20_000) + strings.Repeat(")", 20_000): sqltext.TooDeep,
		"select " + strings.Repeat("a, ", sqltext.MaxBytes/2) + "a":           sqltext.TooLong,
		"select '":    sqltext.Unlexable,
		"select \x00": sqltext.Unlexable,
	} {
		var e *sqlast.Error
		if _, err := sqlast.Parse(sql); !errors.As(err, &e) || e.Bound != want {
			t.Errorf("%.30q...: got %v, want bound %d", sql, err, want)
		}
		if _, err := sqlast.Fingerprint(sql); !errors.As(err, &e) || e.Bound != want {
			t.Errorf("%.30q...: fingerprint: got %v, want bound %d", sql, err, want)
		}
	}
}

func TestDeparse(t *testing.T) {
	node, err := sqlast.ParseOne("ALTER TABLE t ADD COLUMN c varchar(10) NOT NULL")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sqlast.Deparse(node); err != nil || got != "ALTER TABLE t ADD COLUMN c varchar(10) NOT NULL" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := sqlast.Deparse(&sqlast.Node{}); err == nil {
		t.Errorf("an empty node is deparsed to %q", got)
	}
}

// TestEveryNodeHasAName compares the names here with the types of the library, so that an upgrade that adds nodes is noticed.
func TestEveryNodeHasAName(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/pganalyze/pg_query_go/v6").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := typesOf(t, filepath.Join(strings.TrimSpace(string(out)), "pg_query.pb.go"))
	ours := map[string]bool{}
	for _, f := range []string{"nodes.go", "wrappers.go", "enums.go"} {
		for name := range typesOf(t, f) {
			ours[name] = true
		}
	}
	outside := regexp.MustCompile(`^(ParseResult|ScanResult|ScanToken|Summary.*|Token|KeywordKind)$`)
	if len(theirs) < 500 {
		t.Fatalf("only %d types found", len(theirs))
	}
	for name := range theirs {
		if !ours[name] && !outside.MatchString(name) {
			t.Errorf("%s has no name in sqlast", name)
		}
	}
}

// typesOf gives the exported types that a file declares.
func typesOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() {
				names[ts.Name.Name] = true
			}
		}
	}
	return names
}
