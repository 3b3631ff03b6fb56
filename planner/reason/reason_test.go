package reason

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// declared reads the code constants from codes.go, so that a constant without texts, or one value under two names, fails.
func declared(t *testing.T) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if other := codes[value]; other != "" {
			t.Errorf("code %q is both %s and %s", value, other, spec.Names[0].Name)
		}
		codes[value] = spec.Names[0].Name
		return true
	})
	return codes
}

func TestEveryCodeOnce(t *testing.T) {
	codes, total := declared(t), 0
	for _, family := range families() {
		total += len(family)
	}
	if total != len(codes) || len(All()) != total {
		t.Errorf("%d constants, %d entries, %d listed", len(codes), total, len(All()))
	}
	for code, name := range codes {
		info, ok := Of(code)
		if !ok {
			t.Errorf("%s = %q has no texts", name, code)
			continue
		}
		if strings.ReplaceAll(code, "_", "") != strings.ToLower(name) {
			t.Errorf("%s = %q: name and value differ", name, code)
		}
		if n := strings.Count(info.Long, ". ") + 1; n < 2 || n > 6 || !strings.HasSuffix(info.Long, ".") {
			t.Errorf("%s: long text has %d sentences", code, n)
		}
		if info.Short == "" || info.Hint == "" || info.Family == "" {
			t.Errorf("%s: empty text: %+v", code, info)
		}
	}
}

// Messages and hints start in lower case or with a name, end without a dot, and leave no placeholder behind, filled or not.
func TestTexts(t *testing.T) {
	full := Args{Table: "billing.t", Column: "c", Other: "public.o", OtherColumn: "oc", Colo: "l", OtherColo: "ol", Function: "f", Name: "n", Detail: "d"}
	general := regexp.MustCompile(`\{|\}|""|  `)
	for _, info := range All() {
		for _, args := range []Args{{}, full} {
			r := New(info.Code, 7, args)
			if r.Code != info.Code || r.Position != 7 {
				t.Errorf("%s: %+v", info.Code, r)
			}
			for _, text := range []string{r.Message, r.Hint} {
				if text == "" || general.MatchString(text) || strings.HasSuffix(text, ".") {
					t.Errorf("%s: bad text %q", info.Code, text)
				}
			}
		}
	}
}

func TestNew(t *testing.T) {
	cases := []struct {
		code          Code
		args          Args
		message, hint string
	}{
		{KeyMissing, Args{Table: "public.files", Column: "file_id", Colo: "file"},
			`no condition fixes column "file_id" of table "files", so every shard of colo "file" is asked`,
			`add column "file_id" to the WHERE clause or to the join condition of table "files"`},
		{KeyMissing, Args{},
			`no condition fixes the shard key of the table, so every shard of its colo is asked`,
			`add the shard key to the WHERE clause or to the join condition of the table`},
		{UnknownTable, Args{Table: "x.y", Detail: "search_path is not known"},
			`table "x.y" is not in the schema: search_path is not known`,
			`load the schema of the same database and time as the traffic, with all its schemas`},
		{OutsideDialect, Args{Name: "distinct"}, `the statement needs "distinct", which the dialect does not have`,
			`rewrite the statement, or add the feature to the candidate's dialect`},
		{"no_such_code", Args{}, `the planner failed on this statement`, `report it with the template's text`},
	}
	for _, c := range cases {
		if r := New(c.code, -1, c.args); r.Message != c.message || r.Hint != c.hint || r.Code != c.code || r.Position != -1 {
			t.Errorf("%s %+v:\n%s\n%s", c.code, c.args, r.Message, r.Hint)
		}
	}
}

func TestBlocking(t *testing.T) {
	for code, want := range map[Code]bool{KeyEq: false, ColocatedJoin: false, ReferenceJoin: false, SessionState: false, KeyMissing: true, UndecidedTable: true, "no_such_code": true} {
		if Blocking(code) != want {
			t.Errorf("Blocking(%s) = %v", code, !want)
		}
	}
}
