package analysis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

func TestJoinKey(t *testing.T) {
	for _, c := range []struct{ log, statistics, key string }{
		{"select id from t where a = $1 and b is null and c = null", "select id from t where a = $1 and b is null and c = $2", "select id from t where a = ? and b is null and c = ?"},
		{"select interval '$1', date '$2'", "select interval '$1', date '$2'", "select interval ?, date ?"},
		{"select 1 from t where a in ($1 /*, ... */)", "select $1 from t where a in ($2)", "select ? from t where a in (?)"},
		{"insert into t values ($1, null), ($2, $3) /*, ... */", "insert into t values ($1, $2) /*, ... */", "insert into t values (?)"},
		{"select f($1, true, - $2)", "select f($1, $2, - $3)", "select f(?)"},
		{"select a is not true, a is not distinct from null", "select a is not true, a is not distinct from $1", "select a is not true, a is not distinct from ?"},
		{`select "null", "a ($1)" from t1 order by 2`, `select "null", "a ($1)" from t1 order by 2`, `select "null", "a ($1)" from t1 order by ?`},
		{"select '", "select '", "select ?"},
	} {
		if a, b := joinKey(c.log), joinKey(c.statistics); a != c.key || b != c.key {
			t.Errorf("%q gives %q, %q gives %q; want %q", c.log, a, c.statistics, b, c.key)
		}
	}
}

func TestPlannedText(t *testing.T) {
	for text, want := range map[string]bool{"select 1": true, "(select 1) union select 2": true, "with x as (select 1) select": true, "table t": true, "values ($1)": true,
		"merge into t": true, "begin": false, "selection": false, "copy t": false, "": false, "create table x as select 1": false} {
		if plannedText(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

func at(text string) time.Time {
	at, err := time.Parse(time.RFC3339, "2026-03-01T"+text+"Z")
	if err != nil {
		panic(err)
	}
	return at
}

func lookAt(source, from, to string) lookInterval {
	return lookInterval{source: source, from: at(from), to: at(to)}
}

// A short stretch is compared with every minute that it touches; of a long one the parts before and after whole minutes are left out, and the
// minutes beside it are kept apart.
func TestStretches(t *testing.T) {
	var long []lookInterval
	long = append(long, lookAt("a", "10:00:20", "10:01:00.1"))
	for i := 1; i < 15; i++ {
		long = append(long, lookInterval{source: "a", from: long[len(long)-1].to, to: at("10:00:00").Add(time.Duration(i+1)*time.Minute + 50*time.Millisecond)})
	}
	long = append(long, lookInterval{source: "a", from: long[len(long)-1].to, to: at("10:15:40")})
	for _, c := range []struct {
		name  string
		looks []lookInterval
		want  string
	}{
		{"short", []lookInterval{lookAt("a", "10:00:20", "10:00:40"), lookAt("a", "10:00:40", "10:02:10")}, "2 looks 10:00 to 10:02 []"},
		{"gap", []lookInterval{lookAt("a", "10:00:20", "10:00:40"), lookAt("a", "10:00:41", "10:00:59")}, "1 looks 10:00 to 10:00 []; 1 looks 10:00 to 10:00 []"},
		{"two servers", []lookInterval{lookAt("a", "10:00:20", "10:00:40"), lookAt("b", "10:00:40", "10:00:59")}, "1 looks 10:00 to 10:00 []; 1 looks 10:00 to 10:00 []"},
		{"long", long, "14 looks 10:01 to 10:14 [10:00 10:15]"},
	} {
		var got []string
		for _, s := range stretches(c.looks) {
			var edges []string
			for _, e := range s.edges {
				edges = append(edges, e.Format("15:04"))
			}
			got = append(got, fmt.Sprintf("%d looks %s to %s %v", len(s.looks), s.core.first.Format("15:04"), s.core.last.Format("15:04"), edges))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
	if d := covered([]lookInterval{lookAt("a", "10:00:00", "10:01:00"), lookAt("b", "10:00:30", "10:02:00"), lookAt("a", "10:03:00", "10:03:10")}); d != 130*time.Second {
		t.Errorf("covered %s, want 2m10s", d)
	}
	log := Window{From: at("10:00:01"), To: at("10:05:00")}
	if kept := within([]lookInterval{lookAt("a", "10:00:00", "10:01:00"), lookAt("a", "09:59:00", "10:00:00"), lookAt("a", "10:04:00", "10:05:03")}, log); len(kept) != 1 {
		t.Errorf("kept %v", kept)
	}
}

// Calls shared out among templates are all shared out, to none more than it has.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var g group
		for i := range rapid.IntRange(1, 6).Draw(r, "templates") {
			g.count(fmt.Sprint(i), rapid.Int64Range(0, 1<<40).Draw(r, "calls"), 10)
		}
		n := rapid.Int64Range(0, g.calls).Draw(r, "n")
		sum := int64(0)
		for i, k := range g.split(n) {
			sum += k
			if k < 0 || k > g.counted[i].calls {
				r.Fatalf("template %d gets %d of %d", i, k, g.counted[i].calls)
			}
		}
		if sum != n {
			r.Fatalf("%d of %d are shared out", sum, n)
		}
		before := g.calls
		if g.drop(n); g.calls != before-n {
			r.Fatalf("%d calls are left of %d", g.calls, before)
		}
	})
}

// Where one log tells databases and another does not, the calls of the other are missing from no database.
func TestLogsThatDifferInDatabases(t *testing.T) {
	cat, err := catalog.Load("s.sql", []byte("create table t (id int)"))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("c.yaml", []byte("name: c\nshards: 4\ncolos:\n  c:\n    key: {name: id, type: int}\n    tables: {t: id}\n"), cat)
	if err != nil {
		t.Fatal(err)
	}
	w, err := OpenWarehouse(t.Context(), t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	minute, next := at("10:00:00"), at("10:01:00")
	c := &warehouse.Commit{Stream: "s", Ledger: warehouse.Ledger{Executions: 17},
		Templates: []warehouse.Template{{ID: "x", Text: "select id from t where id = $1", Slots: "n", Verb: "select"}},
		Rollups:   []warehouse.Rollup{{Minute: minute, Template: "x", Database: "told", Calls: 5}, {Minute: minute, Template: "x", Calls: 7}},
		Opaque:    []warehouse.OpaqueRow{{Minute: minute, Reason: "truncated", Calls: 1}, {Minute: minute.Add(time.Hour), Reason: "truncated", Calls: 4}},
		Counted: []warehouse.CountedRow{{From: minute, To: next, Source: "srv"}, {From: minute, To: next, Source: "srv", Template: "x", Database: "told", Calls: 5},
			{From: minute, To: next, Source: "srv", Template: "x", Database: "untold", Calls: 8}}}
	c.Ledger.Saw(minute)
	c.Ledger.Saw(next)
	if err := w.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	r, err := BuildReport(t.Context(), w, cat, []*candidate.Candidate{cand}, ReportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Coverage; got == nil || got.Calls != 13 || got.Logged != 12 || got.Unlogged != 1 || got.LoggedOpaque != 1 || len(got.Databases) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestFunctionBodies(t *testing.T) {
	cat, err := catalog.Load("s.sql", []byte(`create function f(t text) returns text language sql immutable as $$ select lower(t) || 'x' $$;
create function g() returns int language plpgsql as $$ begin return 1; end $$;`))
	if err != nil {
		t.Fatal(err)
	}
	if got := functionBodies(cat); len(got) != 1 || !got[joinKey("select lower(t) || $1")] {
		t.Errorf("%v", got)
	}
}
