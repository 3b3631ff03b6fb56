package pgstat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

func server(t *testing.T, major int, settings map[string]string) *pgserver.Server {
	t.Helper()
	set := map[string]string{"shared_preload_libraries": "pg_stat_statements"}
	for k, v := range settings {
		set[k] = v
	}
	srv := pgserver.New(t, pgserver.Options{Major: major, Settings: set})
	execute(t, srv.DSN("postgres"), "create extension pg_stat_statements", "create table t (id int, org int, at timestamptz)", "create role other login", "grant all on t to other", "create database second")
	return srv
}

func execute(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s).ReadAll(); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func open(t *testing.T, state []byte, dsns ...string) *Group {
	t.Helper()
	g, err := Open(Config{DSNs: dsns, HashKey: [16]byte{1}, State: state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// poll is a look at one server that must answer.
func poll(t *testing.T, g *Group) *Delta {
	t.Helper()
	r := g.Look(t.Context())
	if len(r.Deltas) != 1 || r.Failed > 0 {
		t.Fatalf("%d servers failed: %v", r.Failed, r.Problems)
	}
	d := r.Deltas[0]
	for i, e := range d.Events {
		look := e.Template == nil && e.Opaque == nil && e.Counted.Calls == 0
		if e.Kind != capture.Statistics || look != (i == 0) || e.Session != d.Source || !e.Counted.From.Equal(d.From) || !e.Counted.To.Equal(d.To) {
			t.Errorf("event %d is %+v, counted %+v", i, e, e.Counted)
		}
	}
	return d
}

// first is the look that others are compared with: it counts nothing.
func first(t *testing.T, g *Group) {
	t.Helper()
	if d := poll(t, g); len(d.Events) != 1 || !d.From.Equal(d.To) {
		t.Fatalf("the first look gives %+v\n%s", d, listing(d))
	}
}

// of sums the calls of a statement, and says what they are worth.
func (d *Delta) of(database, text string) string {
	var out []string
	for _, e := range d.Events {
		if e.Template != nil && e.Database == database && e.Template.Text == text {
			out = append(out, fmt.Sprintf("%s %s %d", e.User, e.Counted.Evidence, e.Counted.Calls))
		}
	}
	return strings.Join(out, ", ")
}

// What clients ran between two looks is what the server says, on every major: planned statements exactly, in every database, by role, in both
// protocols, and under the text that a log's statement gets. A statement prepared in SQL counts under its own text.
func TestCalls(t *testing.T) {
	for _, major := range []int{12, 14, 16, 18} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			srv := server(t, major, nil)
			p := open(t, nil, srv.DSN("postgres"))
			execute(t, srv.DSN("postgres"), "select id from t where org = 5 and id = 7")
			first(t, p)
			for range 3 {
				execute(t, srv.DSN("postgres"), "select id from t where org = 6 and id = 8", "begin", "update t set id = id + 1 where org = 3", "commit")
			}
			execute(t, strings.Replace(srv.DSN("postgres"), "postgres@", "other@", 1), "select id from t where org = 6 and id = 8")
			execute(t, srv.DSN("second"), "select 1 + 2", "select 3 + 4", "select at - interval '1 day' from (select now() as at) x")
			extended(t, srv.DSN("postgres"), 4, "select id from t where id = any($1) and org = $2", "{1,2}", "7")
			execute(t, srv.DSN("postgres"), "prepare p1(int) as select org from t where id = $1; execute p1(1); execute p1(2)", "set work_mem = '4MB'", "select id from t where id in (1, 2, 3)")
			d := poll(t, p)
			utilities := "postgres exact "
			if major >= 14 {
				utilities = "postgres at_least "
			}
			for _, c := range [][3]string{
				{"postgres", "select id from t where org = $1 and id = $2", "other exact 1, postgres exact 3"},
				{"postgres", "update t set id = id + $1 where org = $2", "postgres exact 3"},
				{"postgres", "begin", utilities + "3"},
				{"postgres", "set work_mem = '$1'", utilities + "1"},
				{"postgres", "select org from t where id = $1", "postgres exact 2"},
				{"postgres", "select id from t where id in ($1 /*, ... */)", "postgres exact 1"},
				{"postgres", "select id from t where id = any($1) and org = $2", "postgres exact 4"},
				{"second", "select $1 + $2", "postgres exact 2"},
				{"second", "select at - interval '$1' from (select now() as at) x", "postgres exact 1"},
			} {
				if got := d.of(c[0], c[1]); got != c[2] {
					t.Errorf("%s: %s: %q, want %q\n%s", c[0], c[1], got, c[2], listing(d))
				}
			}
			if d.Reset || d.Evictions > 0 || d.Hidden > 0 || d.Vanished > 0 {
				t.Errorf("%+v", d)
			}
			if again := poll(t, p); again.of("postgres", "update t set id = id + $1 where org = $2") != "" {
				t.Errorf("counted again:\n%s", listing(again))
			}
		})
	}
}

func listing(d *Delta) string {
	var b strings.Builder
	for _, e := range d.Events {
		text := ""
		if e.Template != nil {
			text = e.Template.Text
		} else if e.Opaque != nil {
			text = "opaque: " + e.Opaque.Reason
		}
		fmt.Fprintf(&b, "%s %s: %d %s %s\n", e.Database, e.User, e.Counted.Calls, e.Counted.Evidence, text)
	}
	return b.String()
}

func extended(t *testing.T, dsn string, times int, sql string, args ...any) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for range times {
		if _, err := conn.Exec(ctx, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// A reset between two looks hides what ran before it: what is left is a lower bound, and the delta says so.
func TestReset(t *testing.T) {
	for _, major := range []int{12, 17} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			srv := server(t, major, nil)
			p := open(t, nil, srv.DSN("postgres"))
			q := "select id from t where org = 1"
			execute(t, srv.DSN("postgres"), q, q, q)
			poll(t, p)
			execute(t, srv.DSN("postgres"), q, "select pg_stat_statements_reset()", q, q)
			d := poll(t, p)
			if got := d.of("postgres", "select id from t where org = $1"); got != "postgres at_least 2" || !d.Reset {
				t.Errorf("%q, reset %t\n%s", got, d.Reset, listing(d))
			}
		})
	}
}

// A reset while a look reads the rows: what was counted before is not counted again, by this look or the next.
func TestResetWhileRead(t *testing.T) {
	srv := server(t, 17, nil)
	dsn := srv.DSN("postgres")
	execute(t, dsn, "create schema late", "create view late.pg_stat_statements_info as select * from pg_stat_statements_info",
		`create function late.pg_stat_statements(texts bool) returns setof pg_stat_statements volatile language plpgsql as $$
		begin
			return query select * from public.pg_stat_statements(texts);
			if not texts and current_setting('application_name') <> 'reset' then
				perform set_config('application_name', 'reset', false);
				perform pg_stat_statements_reset();
			end if;
		end $$`)
	g := open(t, nil, dsn)
	q := "select id from t where org = 1"
	for range 50 {
		execute(t, dsn, q)
	}
	first(t, g)
	execute(t, dsn, q)
	g.pollers[0].schema = "late" // whose rows are read just before a reset
	for range 2 {
		d := poll(t, g)
		if got := d.of("postgres", "select id from t where org = $1"); got != "" {
			t.Errorf("%q, reset %t\n%s", got, d.Reset, listing(d))
		}
	}
}

// One text over two schemas is two rows before 18 and one from then on: the template is ours and the same, and no schema is claimed. (A15)
func TestSchemasAreNotTold(t *testing.T) {
	for _, major := range []int{17, 18} {
		srv := server(t, major, nil)
		dsn := srv.DSN("postgres")
		execute(t, dsn, "create schema s1", "create schema s2", "create table s1.u (id int)", "create table s2.u (id int)")
		g := open(t, nil, dsn)
		first(t, g)
		execute(t, dsn, "set search_path = s1", "select id from u where id = 1", "set search_path = s2", "select id from u where id = 1")
		d := poll(t, g)
		if got := d.of("postgres", "select id from u where id = $1"); got != "postgres exact 2" {
			t.Errorf("%d: %q\n%s", major, got, listing(d))
		}
		for _, e := range d.Events {
			if e.Search != "" {
				t.Errorf("%d: %+v", major, e)
			}
		}
	}
}

// More statements than the view holds: the passes are told from 14 on, and no number is called exact on any server.
func TestEvictions(t *testing.T) {
	for _, major := range []int{13, 18} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			srv := server(t, major, map[string]string{"pg_stat_statements.max": "100"})
			p := open(t, nil, srv.DSN("postgres"))
			poll(t, p)
			var many []string
			for i := range 300 {
				many = append(many, "select 1"+strings.Repeat(", 1", i))
			}
			execute(t, srv.DSN("postgres"), many...)
			d := poll(t, p)
			if major >= 14 && d.Evictions == 0 || major < 14 && d.Evictions != -1 || len(d.Events) < 2 {
				t.Errorf("evictions %d, %d events", d.Evictions, len(d.Events))
			}
			if major >= 14 && d.Notes()[NoteEvictions] != d.Evictions {
				t.Errorf("notes are %v, evictions %d", d.Notes(), d.Evictions)
			}
			for _, e := range d.Events {
				if e.Counted.Evidence != capture.AtLeast {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// Calls from inside functions are left out where the server tells them apart, and make the numbers unclear where it does not.
func TestNested(t *testing.T) {
	for major, want := range map[int]string{13: "postgres unclear 3", 17: "postgres exact 1"} {
		srv := server(t, major, map[string]string{"pg_stat_statements.track": "all"})
		execute(t, srv.DSN("postgres"), "create function f() returns bigint language plpgsql as 'begin return (select count(*) from t); end'")
		p := open(t, nil, srv.DSN("postgres"))
		poll(t, p)
		execute(t, srv.DSN("postgres"), "select f()", "select f()", "select (select count(*) from t)")
		d := poll(t, p)
		got := d.of("postgres", "select (select count(*) from t)")
		if got != want || d.Nested != (major < 14) {
			t.Errorf("%d: %q, nested %t\n%s", major, got, d.Nested, listing(d))
		}
	}
}

// What is missing is explained once, with what to do; a server that went away is found again, and what ran meanwhile is told.
func TestMissing(t *testing.T) {
	srv := server(t, 17, nil)
	without := open(t, nil, srv.DSN("second"))
	for i := range 2 {
		r := without.Look(t.Context())
		if r.Failed != 1 || r.Notes()[NoteFailed] != 1 || len(r.Deltas) != 0 {
			t.Errorf("look %d: %+v", i, r)
		}
		if text := fmt.Sprint(r.Problems); strings.Contains(text, "CREATE EXTENSION") != (i == 0) {
			t.Errorf("look %d says %s", i, text)
		}
	}
	execute(t, srv.DSN("second"), "create extension pg_stat_statements")
	first(t, without)

	little := open(t, nil, strings.Replace(srv.DSN("postgres"), "postgres@", "other@", 1))
	r := little.Look(t.Context())
	if !strings.Contains(fmt.Sprint(r.Problems), `GRANT pg_read_all_stats TO "other"`) || r.Notes()[NoteHidden] == 0 {
		t.Errorf("%v, %v", r.Problems, r.Notes())
	}
	execute(t, srv.DSN("postgres"), "select 42", "select 42", "select 42")
	d := poll(t, little)
	if d.Hidden == 0 || d.of("postgres", "select $1") != "" || d.Events[0].Counted.Evidence != capture.AtLeast {
		t.Errorf("%+v\n%s", d, listing(d))
	}
	execute(t, srv.DSN("postgres"), "grant pg_read_all_stats to other", "select 42")
	if d = poll(t, little); d.of("postgres", "select $1") != "" || d.Events[0].Counted.Evidence != capture.AtLeast || d.Notes()[NoteHidden] != 0 {
		t.Errorf("what was hidden cannot be compared:\n%s", listing(d))
	}
	execute(t, srv.DSN("postgres"), "select 42")
	if d = poll(t, little); d.of("postgres", "select $1") != "postgres exact 1" {
		t.Errorf("after the grant:\n%s", listing(d))
	}

	p := open(t, nil, srv.DSN("postgres"))
	first(t, p)
	execute(t, srv.DSN("postgres"), "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'foreshard statistics'", "select 1, 2")
	if r := p.Look(t.Context()); r.Failed != 1 || len(r.Problems) != 1 {
		t.Errorf("the connection is gone: %+v", r)
	}
	if d := poll(t, p); d.of("postgres", "select $1, $2") != "postgres exact 1" {
		t.Errorf("after connecting again:\n%s", listing(d))
	}
}

// Looks go on where an earlier group's state was: no interval is lost, none counts twice, and one server by two names counts once.
func TestState(t *testing.T) {
	srv := server(t, 16, nil)
	q := "select id from t where org = 1"
	execute(t, srv.DSN("postgres"), q, "alter role other password 'canary-4711'")
	g := open(t, nil, srv.DSN("postgres"))
	first(t, g)
	state, err := g.State()
	if err != nil {
		t.Fatal(err)
	}
	execute(t, srv.DSN("postgres"), q, q)
	lost := poll(t, g) // its end is never made durable
	execute(t, srv.DSN("postgres"), q)
	again := open(t, state, srv.DSN("postgres"), strings.Replace(srv.DSN("postgres"), "127.0.0.1", "localhost", 1))
	r := again.Look(t.Context())
	if len(r.Deltas) != 1 || r.Failed != 1 || !strings.Contains(fmt.Sprint(r.Problems), "are one server") {
		t.Fatalf("%+v", r)
	}
	if got := r.Deltas[0].of("postgres", "select id from t where org = $1"); got != "postgres exact 3" || !r.Deltas[0].From.Equal(lost.From) {
		t.Errorf("%q from %s, want 3 from %s", got, r.Deltas[0].From, lost.From)
	}
	var number int64
	conn, err := pgx.Connect(t.Context(), srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), "select queryid from pg_stat_statements where query like 'alter role%'").Scan(&number); err != nil {
		t.Fatal(err)
	}
	var in savedLooks
	if err := cbor.Unmarshal(state, &in); err != nil || len(in.Looks) != 1 || len(in.Looks[0].Names) == 0 {
		t.Fatal(in, err)
	}
	if strings.Contains(string(state), "canary") || slices.Contains(in.Looks[0].Names, uint64(number)) {
		t.Error("the state tells a text, or a number that anybody can compute from it")
	}
	if _, err := Open(Config{DSNs: []string{"host=x"}, State: []byte("garbage")}); err == nil {
		t.Error("a damaged state is taken")
	}
}

// A server that is shut down and started again goes on counting, and says no more than a lower bound; one that takes over under the same name has
// counted other things, and nothing of it counts before the first look.
func TestAnother(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	old := look{info: info{At: at(100), Started: at(10), Reset: at(20)}}
	for _, c := range []struct {
		what string
		now  info
		want bool
	}{
		{"the same", info{Started: at(10), Reset: at(20)}, false},
		{"restarted since", info{Started: at(110), Reset: at(20)}, false},
		{"reset since", info{Started: at(10), Reset: at(110)}, false},
		{"crashed since", info{Started: at(110), Reset: at(111)}, false},
		{"another process, started before", info{Started: at(50), Reset: at(20)}, true},
		{"another one's reset", info{Started: at(110), Reset: at(30)}, true},
	} {
		if got := old.another(c.now); got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}
