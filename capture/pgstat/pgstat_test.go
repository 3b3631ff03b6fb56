package pgstat

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/fixtures/pgserver"
)

var clock = func() time.Time { return time.Unix(0, 0) }

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

func open(t *testing.T, dsn string) *Poller {
	t.Helper()
	p, err := Open(context.Background(), dsn, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func poll(t *testing.T, p *Poller) *Delta {
	t.Helper()
	d, err := p.Poll(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// of sums the calls of a statement, and says what they are worth.
func (d *Delta) of(database, text string) string {
	var out []string
	for _, s := range d.Statements {
		if s.Database == database && s.Text == text {
			out = append(out, fmt.Sprintf("%s %s %d", s.User, s.Evidence, s.Calls))
		}
	}
	return strings.Join(out, ", ")
}

// What clients ran between two looks is what the server says, on every major: planned statements exactly, in every database, by role, in both
// protocols, and under the text that a log's statement gets.
func TestCalls(t *testing.T) {
	for _, major := range []int{12, 13, 14, 17, 18} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			srv := server(t, major, nil)
			p := open(t, srv.DSN("postgres"))
			execute(t, srv.DSN("postgres"), "select id from t where org = 5 and id = 7")
			if d := poll(t, p); d != nil {
				t.Fatalf("the first look gives %+v", d)
			}
			for range 3 {
				execute(t, srv.DSN("postgres"), "select id from t where org = 6 and id = 8", "begin", "update t set id = id + 1 where org = 3", "commit")
			}
			execute(t, strings.Replace(srv.DSN("postgres"), "postgres@", "other@", 1), "select id from t where org = 6 and id = 8")
			execute(t, srv.DSN("second"), "select 1 + 2", "select 3 + 4", "select at - interval '1 day' from (select now() as at) x")
			extended(t, srv.DSN("postgres"), 4, "select id from t where id = any($1) and org = $2", "{1,2}", "7")
			d := poll(t, p)
			utilities := "postgres exact 3"
			if major >= 14 {
				utilities = "postgres at least 3"
			}
			for _, c := range [][3]string{
				{"postgres", "select id from t where org = $1 and id = $2", "other exact 1, postgres exact 3"},
				{"postgres", "update t set id = id + $1 where org = $2", "postgres exact 3"},
				{"postgres", "begin", utilities},
				{"postgres", "select id from t where id = any($1) and org = $2", "postgres exact 4"},
				{"second", "select $1 + $2", "postgres exact 2"},
				{"second", Key("select at - interval '$1' from (select now() as at) x"), "postgres exact 1"},
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
	for _, s := range d.Statements {
		fmt.Fprintf(&b, "%s %s: %d %s %s%s\n", s.Database, s.User, s.Calls, s.Evidence, s.Text, s.Opaque)
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
	for _, major := range []int{12, 14, 17} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			srv := server(t, major, nil)
			p := open(t, srv.DSN("postgres"))
			q := "select id from t where org = 1"
			execute(t, srv.DSN("postgres"), q, q, q)
			poll(t, p)
			execute(t, srv.DSN("postgres"), q, "select pg_stat_statements_reset()", q, q)
			d := poll(t, p)
			if got := d.of("postgres", "select id from t where org = $1"); got != "postgres at least 2" || !d.Reset {
				t.Errorf("%q, reset %t\n%s", got, d.Reset, listing(d))
			}
		})
	}
}

// More statements than the view holds: the passes are told from 14 on, and no number is called exact on any server.
func TestEvictions(t *testing.T) {
	for _, major := range []int{13, 18} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			srv := server(t, major, map[string]string{"pg_stat_statements.max": "100"})
			p := open(t, srv.DSN("postgres"))
			poll(t, p)
			var many []string
			for i := range 300 {
				many = append(many, "select 1"+strings.Repeat(", 1", i))
			}
			execute(t, srv.DSN("postgres"), many...)
			d := poll(t, p)
			if major >= 14 && d.Evictions == 0 || major < 14 && d.Evictions != -1 || len(d.Statements) == 0 {
				t.Errorf("evictions %d, %d statements", d.Evictions, len(d.Statements))
			}
			for _, s := range d.Statements {
				if s.Evidence != AtLeast {
					t.Errorf("%+v", s)
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
		p := open(t, srv.DSN("postgres"))
		poll(t, p)
		execute(t, srv.DSN("postgres"), "select f()", "select f()", "select (select count(*) from t)")
		d := poll(t, p)
		got := d.of("postgres", "select (select count(*) from t)")
		if got != want || d.Nested != (major < 14) {
			t.Errorf("%d: %q, nested %t\n%s", major, got, d.Nested, listing(d))
		}
	}
}

// What is missing is explained, and a server that went away is found again.
func TestMissing(t *testing.T) {
	srv := server(t, 17, nil)
	if _, err := Open(context.Background(), srv.DSN("second"), clock); err == nil || !strings.Contains(err.Error(), "CREATE EXTENSION") {
		t.Errorf("error is %v", err)
	}
	little := open(t, strings.Replace(srv.DSN("postgres"), "postgres@", "other@", 1))
	poll(t, little)
	execute(t, srv.DSN("postgres"), "select 42")
	if d := poll(t, little); d.Hidden == 0 || d.of("postgres", "select $1") != "" {
		t.Errorf("%+v", d)
	}
	p := open(t, srv.DSN("postgres"))
	poll(t, p)
	execute(t, srv.DSN("postgres"), "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'foreshard statistics'", "select 1, 2")
	if _, err := p.Poll(context.Background()); err == nil {
		t.Error("the connection is gone and nothing is said")
	}
	if d := poll(t, p); d.of("postgres", "select $1, $2") != "postgres exact 1" {
		t.Errorf("after connecting again:\n%s", listing(d))
	}
}

func TestKey(t *testing.T) {
	for in, want := range map[string]string{
		"select interval '$1'": "select interval $1", "select '$1', '$12'": "select $1, $12", "select $1": "select $1", "select '$x'": "select '$x'", "select '$'": "select '$'", "select '$1": "select '$1",
	} {
		if got := Key(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
