package sqltext_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/planner/sqltext"
)

// template gives the template of the one statement in sql.
func template(t testing.TB, cache *sqltext.Cache, sql string) *sqltext.Template {
	t.Helper()
	var s sqltext.Scanner
	s.Reset([]byte(sql))
	if !s.Next() {
		t.Fatalf("%q holds no statement", sql)
	}
	tmpl := cache.Template(s.Statement())
	if s.Next() {
		t.Fatalf("%q holds several statements", sql)
	}
	return tmpl
}

func TestStatementsThatShareATemplate(t *testing.T) {
	for _, group := range [][]string{
		{"select * from t where a = 5", "SELECT *\nFROM t -- x\nWHERE a=  6", "select * from \"t\" where \"a\" = -7", "/* x */ select * from t where a = 0x1F;"},
		{"select 1 from t where a in (1,2)", "select 5 from t where a in (7,8,9,10)"},
		{"insert into t values (1,'a'),(2,'b')", "insert into t values (3,E'\\n'),(4,$$x$$),(5,U&'z')"},
		{"select date '2020-01-01'", "select date $1", "select DATE E'x'"},
		{"select interval '1 day' from t limit 5", "select interval '2 h' from t limit 0"},
		{"select a <> 1", "select a != 2"},
		{"create user x password 'a'", "create user x password 'b'"},
		{"alter table t set (fillfactor = 70)", "alter table t set (fillfactor = 50)"},
		{"savepoint a1", "savepoint a2"},
	} {
		cache := sqltext.NewCache(1 << 20)
		first := template(t, cache, group[0])
		for _, sql := range group[1:] {
			if got := template(t, cache, sql); got != first {
				t.Errorf("%q has the template %q %s\nbut %q has %q %s", group[0], first.Text, sqltext.EncodeSlots(first.Slots), sql, got.Text, sqltext.EncodeSlots(got.Slots))
			}
		}
	}
}

func TestStatementsThatMustNotShareATemplate(t *testing.T) {
	for _, group := range [][]string{
		{"select 5", "select 5.0", "select '5'", "select 5000000000", "select $1", "select b'1'", "select null", "select true"},
		{"select 1 where a in (1)", "select 1 where a in (1,2)", "select 1 where a in (1,2.5)", "select 1 where a in (1,null)", "select 1 where a in ('1','2')", "select 1 where a in (1,5000000000)"},
		{"select a from t order by 1", "select a from t order by 2", "select a from t order by 1 desc", "select a from t order by 1+0"},
		{"select a from t group by 1", "select a from t group by 2"},
		{"select a::varchar(10)", "select a::varchar(20)", "select a::varchar"},
		{"select \"A\"", "select a"},
		{"select \"user\"", "select user"},
		{"select date '2020-01-01'", "select '2020-01-01'", "select datex '2020-01-01'"},
		{"insert into t values (1)", "insert into t values (1),(2)", "insert into t values ('1')"},
		{"insert into t values (1,null),(2,null)", "insert into t values (1,null),(null,2)"},
		{"select - 5::int", "select (-5)::int"},
		{"select a - 5", "select a, -5"},
		{"select * from t where a = $1 and b = $1", "select * from t where a = $1 and b = $2"},
	} {
		cache := sqltext.NewCache(1 << 20)
		ids := map[sqltext.ID]string{}
		for _, sql := range group {
			tmpl := template(t, cache, sql)
			if other, ok := ids[tmpl.ID]; ok {
				t.Errorf("%q and %q have one template %q", sql, other, tmpl.Text)
			}
			ids[tmpl.ID] = sql
		}
	}
}

func TestTemplateIsTheSameFromItsStoredForm(t *testing.T) {
	cache := sqltext.NewCache(1 << 22)
	for _, sql := range corpus(t) {
		var s sqltext.Scanner
		s.Reset([]byte(sql))
		for s.Next() {
			tmpl := cache.Template(s.Statement())
			if tmpl == nil {
				continue
			}
			slots, err := sqltext.DecodeSlots(sqltext.EncodeSlots(tmpl.Slots))
			if err != nil {
				t.Fatal(err)
			}
			if again := sqltext.NewTemplate(tmpl.Text, slots); again.ID != tmpl.ID || !reflect.DeepEqual(again, tmpl) {
				t.Errorf("%q: %+v becomes %+v", sql, tmpl, again)
			}
		}
	}
}

func TestSlotsAreCodedWithoutLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.SliceOf(rapid.Custom(func(t *rapid.T) sqltext.Slot {
			s := sqltext.Slot{Kind: sqltext.Kind(rapid.IntRange(int(sqltext.Bind), int(sqltext.Bits)).Draw(t, "kind")), List: rapid.Bool().Draw(t, "list")}
			if s.Kind == sqltext.Bind {
				s.Bind = rapid.IntRange(0, 1<<31-1).Draw(t, "bind")
			}
			return s
		})).Draw(t, "slots")
		got, err := sqltext.DecodeSlots(sqltext.EncodeSlots(slots))
		if err != nil || len(got) != len(slots) || len(slots) > 0 && !reflect.DeepEqual(got, slots) {
			t.Fatalf("%v becomes %v, %v", slots, got, err)
		}
	})
	for _, bad := range []string{"q", "b", "b1**", "*", "b99999999999", "i "} {
		if got, err := sqltext.DecodeSlots(bad); err == nil {
			t.Errorf("%q is decoded to %v", bad, got)
		}
	}
}

func TestTemplateIDIsStable(t *testing.T) {
	// a change here makes every stored template a stranger
	if got := fmt.Sprintf("%x", template(t, sqltext.NewCache(1<<20), "SELECT * FROM t WHERE a = 5 AND b IN ('x', 'y') AND c = $7").ID); got != "66cfa4c78e45d263d496d1f80b7b7a11" {
		t.Errorf("the ID is %s", got)
	}
}

func TestCacheIsBounded(t *testing.T) {
	cache := sqltext.NewCache(1 << 20)
	hot := template(t, cache, "select hot").ID
	for i := range 50_000 {
		template(t, cache, fmt.Sprintf("select column_with_some_length_%d from t", i))
		if template(t, cache, "select hot").ID != hot {
			t.Fatal("the ID changed")
		}
	}
	st := cache.Stats()
	if st.Templates > 5000 || st.Dropped == 0 || st.Made < 50_000 || st.Made > 50_010 {
		t.Errorf("got %+v: bounded, the hot template is made once", st)
	}
}

func TestCacheServesSeveralWorkers(t *testing.T) {
	cache := sqltext.NewCache(1 << 22)
	var wg sync.WaitGroup
	got := make([][]sqltext.ID, 4)
	for w := range got {
		wg.Go(func() {
			for i := range 2000 {
				got[w] = append(got[w], template(t, cache, fmt.Sprintf("select c%d from t where a = %d", i%500, i)).ID)
			}
		})
	}
	wg.Wait()
	for w := range got {
		if !reflect.DeepEqual(got[w], got[0]) {
			t.Errorf("worker %d has other templates", w)
		}
	}
	if st := cache.Stats(); st.Templates != 500 || st.Made != 500 {
		t.Errorf("got %+v", st)
	}
}

// TestNoValueIsInATemplate puts a canary in every place a value may stand.
func TestNoValueIsInATemplate(t *testing.T) {
	const word, number = "canary", "31337"
	cache := sqltext.NewCache(1 << 22)
	for _, sql := range corpus(t) {
		var s sqltext.Scanner
		s.Reset([]byte(sql))
		for s.Next() {
			st := s.Statement()
			planted := plant(sql, st, word, number)
			var p sqltext.Scanner
			p.Reset([]byte(planted))
			for p.Next() {
				tmpl := cache.Template(p.Statement())
				if tmpl != nil && (strings.Contains(tmpl.Text, word) || strings.Contains(tmpl.Text, number)) {
					t.Errorf("%q: the template %q holds a value", planted, tmpl.Text)
				}
			}
		}
	}
}

// plant gives the statement with every string and every number of it replaced.
func plant(sql string, st *sqltext.Statement, word, number string) string {
	src := sql[st.Span.Start:st.Span.End]
	tokens, ok := sqltext.Lex(src)
	if !ok {
		return src
	}
	var b strings.Builder
	at := 0
	for _, tk := range tokens {
		b.WriteString(src[at:tk.Start])
		switch tk.Class {
		case "string":
			b.WriteString("'" + word + "'")
		case "int":
			if tk.End-tk.Start > 2 && !inType(src, tk.Start) {
				b.WriteString(number)
			} else {
				b.WriteString(src[tk.Start:tk.End])
			}
		case "number":
			b.WriteString(number + ".5")
		default:
			b.WriteString(src[tk.Start:tk.End])
		}
		at = tk.End
	}
	return b.String() + src[at:]
}

// inType says whether a number stands in parentheses or brackets after a type's name, where it stays in the template.
func inType(src string, at int) bool { return at > 0 && (src[at-1] == '(' || src[at-1] == '[') }

func TestOrigin(t *testing.T) {
	for _, c := range []struct {
		sql       string
		n         int
		mark, was string
	}{
		{"SELECT  a, /* c */ 'it''s' FROM  T WHERE x IN (1, 2) AND y = 5", 0, "$1", "'it''s'"},
		{"SELECT  a, /* c */ 'it''s' FROM  T WHERE x IN (1, 2) AND y = 5", 0, "t where", "T WHERE"},
		{"SELECT  a, /* c */ 'it''s' FROM  T WHERE x IN (1, 2) AND y = 5", 0, "y = $3", "y = 5"},
		{"select 1;\n  UPDATE t SET a = -5", 1, "$1", "-5"},
		{"select 1;\n  UPDATE t SET a = -5", 1, "update", "UPDATE"},
		{"select date '2020-01-01', b", 0, "'$1'", "'2020"},
		{"select date '2020-01-01', b", 0, "b", "b"},
		{"  select 1", 0, "select", "select 1"},
	} {
		var s sqltext.Scanner
		s.Reset([]byte(c.sql))
		for range c.n + 1 {
			s.Next()
		}
		offset := strings.Index(string(s.Statement().Text), c.mark)
		at, ok := sqltext.Origin([]byte(c.sql), c.n, offset)
		if !ok || offset < 0 || !strings.HasPrefix(c.sql[at:], c.was) {
			t.Errorf("%q: %q at %d comes from %d %q", c.sql, c.mark, offset, at, c.sql[at:])
		}
	}
	for _, c := range []struct {
		sql       string
		n, offset int
	}{{"select 1", 1, 0}, {"select 1", 0, 100}, {"select 1", 0, -1}, {"select '", 0, 0}, {"", 0, 0}} {
		if at, ok := sqltext.Origin([]byte(c.sql), c.n, c.offset); ok {
			t.Errorf("%q %d %d: got %d", c.sql, c.n, c.offset, at)
		}
	}
}

func TestVerbs(t *testing.T) {
	for sql, want := range map[string]sqltext.Verb{
		"BEGIN": sqltext.VerbBegin, "start transaction": sqltext.VerbBegin, "end": sqltext.VerbCommit, "commit and chain": sqltext.VerbCommit, "abort": sqltext.VerbRollback,
		"rollback": sqltext.VerbRollback, "rollback to x": sqltext.VerbRollbackTo, "rollback work to savepoint x": sqltext.VerbRollbackTo, "savepoint x": sqltext.VerbSavepoint,
		"release x": sqltext.VerbRelease, "prepare transaction 'x'": sqltext.VerbPrepareTxn, "commit prepared 'x'": sqltext.VerbCommitPrepared,
		"rollback prepared 'x'": sqltext.VerbRollbackPrepared, "prepare p as select 1": sqltext.VerbPrepare, "execute p": sqltext.VerbExecute, "set a = 1": sqltext.VerbSet,
		"((select 1))": sqltext.VerbSelect, "with a as (select 1) select 2": sqltext.VerbWith, "vacuum": sqltext.VerbOther, "": sqltext.VerbOther, "'": sqltext.VerbOther,
		"copy t from stdin": sqltext.VerbCopy, "/* x */ fetch 1 from c": sqltext.VerbFetch,
	} {
		if got := sqltext.VerbOf(sql); got != want {
			t.Errorf("%q: got %d, want %d", sql, got, want)
		}
	}
}

func TestScannerDoesNotAllocateWhenWarm(t *testing.T) {
	cache := sqltext.NewCache(1 << 20)
	var s sqltext.Scanner
	var sources [][]byte
	for _, sql := range append(realistic, `select 'it''s', E'\n', - 5 from t; select 2`) {
		sources = append(sources, []byte(sql))
	}
	if n := testing.AllocsPerRun(20, func() {
		for _, src := range sources {
			s.Reset(src)
			for s.Next() {
				cache.Template(s.Statement())
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations for %d statements", n, len(sources))
	}
}

// The word that a setting is given is a value: SET app.tenant = acme.
func TestWordsOfSettingsAreValues(t *testing.T) {
	for sql, want := range map[string]string{
		"SET app.tenant = Canary":                           "set app.tenant = '$1'",
		"SET LOCAL app.tenant TO \"Canary\", U&\"c\\0061\"": "set local app.tenant to '$1', '$2'",
		"set session session = canary":                      "set session session = '$1'",
		"SET search_path = canary, 'x', 5":                  "set search_path = '$1', '$2', 1",
		"SET x TO DEFAULT":                                  "set x to default",
		"ALTER ROLE r SET app.token = canary":               "alter role r set app.token = '$1'",
		"ALTER ROLE r IN DATABASE d SET x TO 'c'":           "alter role r in database d set x to '$1'",
		"ALTER SYSTEM SET ssl_passphrase_command = canary":  "alter system set ssl_passphrase_command = '$1'",
		"ALTER TABLE t ALTER c SET DEFAULT canary":          "alter table t alter c set default canary",
		"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE":      "set transaction isolation level serializable",
		"SET ROLE canary":                                   "set role canary",
		"UPDATE t SET a = b":                                "update t set a = b",
	} {
		if got := template(t, sqltext.NewCache(1<<20), sql).Text; got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", sql, got, want)
		}
	}
}
