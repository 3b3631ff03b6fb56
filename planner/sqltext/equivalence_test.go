package sqltext_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/sqlast"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// corpus gives the statements that the tests compare with PostgreSQL's own parser: one per line of testdata/statements.sql, and the oracle's.
func corpus(t testing.TB) []string {
	t.Helper()
	var list []string
	for _, name := range []string{"statements.sql", "oracle.jsonl"} {
		f, err := os.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			line := lines.Text()
			if strings.HasSuffix(name, ".jsonl") {
				if err := json.Unmarshal([]byte(line), &line); err != nil {
					t.Fatalf("read %s: %v", name, err)
				}
			} else {
				line = strings.NewReplacer(`␊`, "\n", `␍`, "\r", `␉`, "\t").Replace(line)
			}
			if line != "" && !strings.HasPrefix(line, "##") {
				list = append(list, line)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(list) < 300 {
		t.Fatalf("only %d statements in the corpus", len(list))
	}
	return list
}

// pgClass gives the class of one of PostgreSQL's tokens; a keyword is a word.
func pgClass(name string) string {
	classes := map[string]string{"IDENT": "word", "UIDENT": "uname", "FCONST": "number", "SCONST": "string", "USCONST": "ustring", "BCONST": "bits",
		"XCONST": "bits", "Op": "op", "ICONST": "int", "PARAM": "param", "TYPECAST": "::", "DOT_DOT": "..", "COLON_EQUALS": ":=", "EQUALS_GREATER": "op",
		"LESS_EQUALS": "op", "GREATER_EQUALS": "op", "NOT_EQUALS": "op", "ASCII_40": "(", "ASCII_41": ")", "ASCII_91": "[", "ASCII_93": "]",
		"ASCII_44": ",", "ASCII_46": ".", "ASCII_58": ":", "ASCII_59": ";", "ASCII_36": "other", "ASCII_92": "other"}
	if c, ok := classes[name]; ok {
		return c
	}
	if strings.HasPrefix(name, "ASCII_") {
		return "op"
	}
	if strings.Trim(name, "0123456789") == "" {
		return "other"
	}
	return "word"
}

func TestTokensAreThoseOfPostgreSQL(t *testing.T) {
	compared := 0
	for _, sql := range append(corpus(t), lexical...) {
		if notAsPgQuery[sql] {
			continue
		}
		want, err := sqlast.Scan(sql)
		got, ok := sqltext.Lex(sql)
		if err != nil {
			if ok {
				t.Errorf("%q: PostgreSQL refuses it (%v), the scanner reads %v", sql, err, got)
			}
			continue
		}
		if !ok {
			t.Errorf("%q: PostgreSQL reads it, the scanner does not", sql)
			continue
		}
		i := 0
		for _, w := range want {
			if w.Name == "SQL_COMMENT" || w.Name == "C_COMMENT" {
				continue
			}
			if i == len(got) { // the rest is another statement
				if w.Name != "ASCII_59" {
					t.Errorf("%q: token %q is missing", sql, sql[w.Start:w.End])
				}
				break
			}
			g := got[i]
			i++
			class := pgClass(w.Name)
			text := sql[g.Start:g.End]
			same := g.Class == class || g.Class == "name" && class == "word" || g.Class == "int" && class == "number" && !strings.ContainsAny(text, ".eE")
			if g.Start != w.Start || g.End != w.End || !same {
				t.Errorf("%q: got %s %q at %d, PostgreSQL has %s %q at %d", sql, g.Class, text, g.Start, w.Name, sql[w.Start:w.End], w.Start)
				break
			}
			compared++
		}
	}
	if compared < 5000 {
		t.Fatalf("only %d tokens were compared", compared)
	}
}

// notAsPgQuery are texts where pg_query differs from the PostgreSQL server, and the scanner follows the server: a comment between the parts of a
// string, and a parameter number past int4.
var notAsPgQuery = map[string]bool{
	"select 'a'\n'b', E'a'\n'\\n', 'a' -- c\n'b'": true, "'a'\n -- c\n 'b'": true, "'a' -- c\n'b'": true, "'a'--c\n'b'": true, "$99999999999": true,
}

// lexical are texts for the lexer alone; they need not be statements.
var lexical = []string{
	"1..2", "1.", ".5", "1.5e10", "1e5", "1E-5", "1e", "1e+", "1.5.3", "1.e5", "1.e", "1a", "1_000", "1_", "1__0", "0x1F", "0x", "0xg", "0x1g", "0o17", "0o8", "0b101",
	"0b12", "0x_1f", "0x1__f", "1_000.5_0", "1._5", "1.5e1_0", "a.5", "a..b", "a.b", "00012", "0_1", "$1", "$1a", "$1_0", "$99999999999", "$", "$$", "$$x$$", "$a$x$a$", "$a$x$b$a$",
	"$1$x$1$", "a$$b", "a$b$c", "$ä$x$ä$", "$a$x$A$a$", "$a b$", "'a'", "'a''b'", "'a'\n'b'", "'a' 'b'", "'a'\n -- c\n 'b'", "'a'\n /* c */ 'b'", "'a' -- c\n'b'", "'a'--c\n'b'",
	"'a", "'a\\'", "E'a\\'b'", "E'a\\", "E'\\u0041'", "E'\\u00'", "E'\\U0001F600'", "E'\\ud83d\\ude00'", "E'\\ud83d'", "E'\\ude00'", "E'\\ud83dx'", "E'a\\x41\\101\\n'", "e'a'\n'\\'b'",
	"U&'\\0061'", "u&'a'", "U&\"a\"", "U& 'a'", "U&a", "B'101'", "b'12'", "X'1F'", "x'g'", "N'a'", "n'a'", "B'1", "b '1'", "\"a\"\"b\"", "\"\"", "\"a", "U&\"\"", "\"a\nb\"",
	"/* a */", "/* a /* b */ c */ 1", "/* a", "/* a /* b */", "-- a", "-- a\n1", "--\r1", "1--2", "1-/*x*/-2", "a+--b\nc", "@-1", "@- 1", "a=-1", "a<>-1", "a*-1", "+-1", "-+1", "a@@b", "a ?| b", "a ?& b", "a ? b", "a->>'b'",
	"a#>>b", "a<@b", "a@>b", "a||b", "a!=b", "a<=b", "a>=b", "a=>b", "a:=b", "a::b", "a:::b", "a: :b", "a~*b", "a!~~*b", "a<->b", "a&&b", "a-|-b", "a<<=b", "a*/b", "a/b", "a/ *b", "@/*x*/-1", "@--x\n1", "*--x",
	"a`b", "a#b", "~-1", "^-1", "%-", "=-", "<-", "||-", "<>+", "=+-", "+++", "@+", "~!@#^&|`?+-*/%<>=", strings.Repeat("@", 63), strings.Repeat("@", 64), strings.Repeat("+", 80),
	"größe", "日本", "a\u00a0b", "\u00a0", "_a", "a1", "1 a", "[1:2]", "(a).b", "a\\b", "{", "}", "a\vb", "a\fb", "a\tb", "select\v1", ";", "a;b", "\x01", "a\x7fb", "''", "E''", "$$$$", "'\n'", "'a'\n\n'b'\n'c'", "e'a'\n'b\\n'",
}

// admitted says whether the scanner reads the statement as one, within the bounds.
func one(t *testing.T, sql string) (*sqltext.Scanner, bool) {
	t.Helper()
	s := &sqltext.Scanner{}
	s.Reset([]byte(sql))
	if !s.Next() {
		return nil, false
	}
	return s, s.Statement().Bound == sqltext.WithinBounds
}

// constantsDiffer says whether pg_query counts a constant into the fingerprint that the template does not keep: the strings and numbers of
// utility statements, savepoint names, the string of a typed literal, and a sign before a sign.
func constantsDiffer(sql, text string) bool {
	switch sqltext.VerbOf(text) {
	case sqltext.VerbSelect, sqltext.VerbInsert, sqltext.VerbUpdate, sqltext.VerbDelete, sqltext.VerbMerge, sqltext.VerbWith, sqltext.VerbValues:
		return strings.Contains(text, "- - ") || strings.Contains(text, "- ($")
	}
	return strings.ContainsAny(sql, "'0123456789$")
}

func TestTemplatesParseWhereTheOriginalDoes(t *testing.T) {
	parsed, prints := 0, map[string]string{}
	for _, sql := range corpus(t) {
		stmts, err := sqlast.Parse(sql)
		if err != nil {
			t.Logf("not compared, PostgreSQL refuses %q: %v", sql, err)
			continue
		}
		if len(stmts) != 1 {
			continue
		}
		parsed++
		s, ok := one(t, sql)
		if !ok {
			t.Errorf("%q: PostgreSQL parses it, the scanner gives no template", sql)
			continue
		}
		st := s.Statement()
		text := string(st.Text)
		if _, err := sqlast.ParseOne(text); err != nil {
			t.Errorf("%q:\n template %q does not parse: %v", sql, text, err)
			continue
		}
		want, err := sqlast.Fingerprint(sql)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sqlast.Fingerprint(text)
		if err != nil {
			t.Fatal(err)
		}
		if got != want && st.Elements == 0 && !constantsDiffer(sql, text) {
			t.Errorf("%q:\n template %q has another fingerprint", sql, text)
		}
		key := text + "\x00" + sqltext.EncodeSlots(st.Slots)
		if other, seen := prints[key]; seen && other != want && st.Elements == 0 {
			t.Errorf("%q: its template %q is that of a statement with another fingerprint", sql, text)
		}
		prints[key] = want
		again, ok := one(t, text)
		if !ok || again.Statement().Elements == 0 && string(again.Statement().Text) != text {
			t.Errorf("%q:\n template %q\n becomes  %q", sql, text, again.Statement().Text)
		}
	}
	if parsed < 300 {
		t.Fatalf("only %d statements were parsed", parsed)
	}
}

// TestQuotesThatGoChangeNothing puts every keyword that loses its quotes, and two that keep them, in the places where names stand in queries.
func TestQuotesThatGoChangeNothing(t *testing.T) {
	places := []string{
		`select % from t`, `select a, % from t`, `select t.% from t`, `select %.a from %`, `select 1 %`, `select a % from t`, `select 1 as %`, `select a.b %, c from t`,
		`select f(x) %, (1) %, 'a' %, null %, now() % from t %`, `select x::int % from t`, `select a[1] % from t`, `select case when % then % else % end % from t`,
		`select a from t where % = 1 and b > % or not %`, `select a from t where % is null and % in (1) and % between % and %`, `select a from t where a = % collate "C"`,
		`select a from t where (%, a) = (1, 2) and a like % escape 'x'`, `select a from % where a = 1`, `select a from s.% as %`, `select a from t % join u % on %.a = %.b`,
		`select a from t % (%) left join u using (%)`, `select a from t group by %, a having % > 1 order by % desc, a limit 1`, `select distinct on (%) % from t`,
		`select distinct % from t`, `select all % from t`, `select %(1), x.%(a), %(distinct a)`, `select sum(%) filter (where %) over (partition by % order by %) % from t`,
		`select sum(a) over % from t window % as (order by a)`, `select % + 1, 1 + %, - %, % || %, @ %, (%).a, array[%], row(%), exists (select %) from t`,
		`select cast(% as int), cast(1 as %), 1::%, 1::s.%, % '1', extract(year from %), substring(% from % for %), trim(both % from %), position(% in %), overlay(% placing % from %)`,
		`select f(% => 1), f(a => %), f(variadic %)`, `select a at time zone %, % at time zone 'x', interval '1' day % from t`, `select coalesce(%, a), nullif(%, %), greatest(%, %)`,
		`with % as (select %), a (%) as (select 1) select % from %`, `with recursive % (%) as (select 1 union all select % from %) search depth first by % set % cycle % set % using % select 1`,
		`insert into % (%, a) values (%, 1) on conflict (%) where % do update set % = excluded.%, a = %.% where % returning %, a %`, `insert into t as % select % from % on conflict on constraint % do nothing`,
		`update % set % = 1, (%, a) = (%, 1) from % where % returning %`, `update % as % set % = %.% + 1`, `update % % set a = 1`, `update t set %.a = 1, %[1] = 2`, `delete from % using % where %.a = % returning %`,
		`delete from % % where current of %`, `merge into % using % on % when matched and % then update set % = % when not matched then insert (%) values (%)`,
		`select a from t union select % from t order by %`, `values (%, 1), (a, %)`, `table %`, `select a from only (%), lateral %(1) %, rows from (%(1)) as %(%, a)`,
		`select a from %(1) with ordinality as %(%, a)`, `select a from t tablesample %(1)`, `select a from t for update of %`, `select a from t fetch first (%) rows only`,
		`select a from f() as t(% int, a %)`, `select a from t where a = any(%) and a > all(select %)`, `select a isnull %, a notnull % from t`, `select a is not null %, a is distinct from %, % is true from t`,
		`select % operator(%.=) %`, `select array_agg(% order by %, a using <)`, `select percentile_cont(%) within group (order by %)`, `select % from t offset %`, `select current_date %, user %, true %`,
		`select json_object(%: %), json_array(%), j ->> % from t`, `select a from t where % similar to % or % ilike %`, `call %(%)`, `select a into % from t`,
	}
	compared := 0
	for word := range sqltext.PlainKeywords() {
		for _, place := range places {
			sql := strings.ReplaceAll(place, "%", `"`+word+`"`)
			want, err := sqlast.Fingerprint(sql)
			if err != nil {
				continue
			}
			s, ok := one(t, sql)
			if !ok {
				t.Fatalf("%q has no template", sql)
			}
			if got, err := sqlast.Fingerprint(string(s.Statement().Text)); err != nil || got != want && s.Statement().Elements == 0 {
				t.Errorf("%q:\n template %q: %v", sql, s.Statement().Text, err)
			}
			compared++
		}
	}
	if compared < 2000 {
		t.Fatalf("only %d statements were compared", compared)
	}
}
