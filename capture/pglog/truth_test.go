package pglog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

// truth is what a conversation is, as the client that has it counts: executions by template, failed ones marked with a !, and transactions as
// "statements committed|rolled back [savepoints]" of blocks and strings.
type truth struct {
	name string
	talk func(c *pgconn.PgConn) error
	want string
	txns string
	vxid string // txns where the log has virtual transaction ids, if it says something else
}

func simple(texts ...string) func(c *pgconn.PgConn) error {
	return func(c *pgconn.PgConn) error {
		for _, sql := range texts {
			_, _ = c.Exec(context.Background(), sql).ReadAll() // what fails is counted as failed
		}
		return nil
	}
}

func extended(sql string, args ...string) func(c *pgconn.PgConn) error {
	return func(c *pgconn.PgConn) error {
		var params [][]byte
		for _, a := range args {
			params = append(params, []byte(a))
		}
		_ = c.ExecParams(context.Background(), sql, params, nil, nil, nil).Read()
		return nil
	}
}

// wire sends messages as they are and reads up to as many ReadyForQuery as there are Syncs and Queries.
func wire(messages ...pgproto3.FrontendMessage) func(c *pgconn.PgConn) error {
	return func(c *pgconn.PgConn) error {
		want := 0
		for _, m := range messages {
			switch m.(type) {
			case *pgproto3.Sync:
				want++
			}
			c.Frontend().Send(m)
		}
		if err := c.Frontend().Flush(); err != nil {
			return err
		}
		for want > 0 {
			m, err := c.Frontend().Receive()
			if err != nil {
				return err
			}
			if _, ok := m.(*pgproto3.ReadyForQuery); ok {
				want--
			}
		}
		return nil
	}
}

func all(talks ...func(c *pgconn.PgConn) error) func(c *pgconn.PgConn) error {
	return func(c *pgconn.PgConn) error {
		for _, t := range talks {
			if err := t(c); err != nil {
				return err
			}
		}
		return nil
	}
}

var (
	parse = func(name, sql string) *pgproto3.Parse { return &pgproto3.Parse{Name: name, Query: sql} }
	bind  = func(portal, name string) *pgproto3.Bind {
		return &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: name}
	}
	execute = func(portal string, rows uint32) *pgproto3.Execute {
		return &pgproto3.Execute{Portal: portal, MaxRows: rows}
	}
	sync = &pgproto3.Sync{}
)

var truths = []truth{
	{name: "string", talk: simple("select 1; select 'a' ;; select now()"), want: "select $1 ×2, select now() ×1", txns: "3 committed"},
	{name: "empty", talk: simple("", ";", "/* nothing */"), want: ""},
	{name: "string-fails", talk: simple("insert into t values (1, 'x'); select 1/0; select 3"),
		want: "insert into t values ($1, $2)! ×1, select $1 / $2! ×1, select $1! ×1", txns: "3 rolled back"},
	{name: "syntax", talk: simple("selec 1"), want: "selec 1! ×1"},
	{name: "block", talk: simple("begin", "select 1 from t", "savepoint a", "select nothing", "rollback to a", "release a", "select 2 from t", "commit"),
		want: "begin ×1, select $1 from t ×2, savepoint sp ×1, select nothing! ×1, rollback to sp ×1, release sp ×1, commit ×1", txns: "3 committed 1"},
	{name: "failed-block", talk: simple("begin", "select 1/0", "select 2", "commit"), want: "begin ×1, select $1 / $2! ×1, select $1! ×1, commit ×1", txns: "2 rolled back"},
	{name: "two-phase", talk: simple("begin", "insert into t values (7, 'g')", "prepare transaction 'g1'", "rollback prepared 'g1'"),
		want: "begin ×1, insert into t values ($1, $2) ×1, prepare transaction '$1' ×1, rollback prepared '$1' ×1", txns: "1 committed"},
	{name: "block-in-string", talk: simple("begin; select 1 from t; commit; select 2"), want: "begin ×1, select $1 from t ×1, commit ×1, select $1 ×1", txns: "1 committed, 1 committed"},
	{name: "params", talk: all(extended("select $1::int", "5"), extended("select $1::int", "x"), extended("select * from nowhere where a = $1", "5")),
		want: "select $1::int ×1, select $1::int! ×1, select * from nowhere where a = $1! ×1"},
	{name: "named", talk: wire(parse("s1", "select count(*) from t"), sync, bind("", "s1"), execute("", 0), sync, bind("", "s1"), execute("", 0), sync, bind("", "s1"), execute("", 0), sync),
		want: "select count(*) from t ×3"},
	{name: "parse-only", talk: wire(parse("", "select count(*) from t"), &pgproto3.Describe{ObjectType: 'S'}, sync), want: ""},
	{name: "portal", talk: wire(parse("", "select g from generate_series(1, 5) g"), bind("p", ""), execute("p", 2), execute("p", 2), execute("p", 2), sync),
		want: "select g from generate_series($1, $2) g ×1"},
	{name: "cursor", talk: simple("begin", "declare c cursor for select 1 from t", "fetch 2 from c", "move 1 in c", "close c", "commit"),
		want: "begin ×1, declare c cursor for select $1 from t ×1, fetch 1 from c ×1, move 1 in c ×1, close c ×1, commit ×1", txns: "4 committed"},
	{name: "sql-prepare", talk: simple("prepare q (int) as select $1 from t", "execute q(5)", "execute q(6)", "deallocate q", "execute q(7)"),
		want: "prepare q(int) as select $1 from t ×1, select $1 from t ×2, deallocate q ×1, select $1 from t! ×1"},
	{name: "nested", talk: simple("select twice(3)", "do $$ begin perform 1; perform 2; end $$", "call proc(4)"), want: "select twice($1) ×1, do '$1' ×1, call proc($1) ×1"},
	{name: "copy", talk: func(c *pgconn.PgConn) error {
		if _, err := c.CopyFrom(context.Background(), strings.NewReader("11\tx\n12\ty\n"), "copy t from stdin"); err != nil {
			return err
		}
		_, _ = c.CopyFrom(context.Background(), strings.NewReader("x\ty\n"), "copy t from stdin")
		_, err := c.CopyTo(context.Background(), new(strings.Builder), "copy (select 1) to stdout")
		return err
	}, want: "copy t from stdin ×1, copy t from stdin! ×1, copy (select $1) to stdout ×1"},
	{name: "timeout", talk: simple("set statement_timeout = 20", "select pg_sleep(9)"), want: "set statement_timeout = 1 ×1, select pg_sleep($1)! ×1"},
	{name: "killed", talk: simple("begin", "select 1 from t", "select pg_terminate_backend(pg_backend_pid())"),
		want: "begin ×1, select $1 from t ×1, select pg_terminate_backend(pg_backend_pid())! ×1", txns: "2 rolled back"},
	{name: "pipelined-block", talk: wire(parse("", "begin"), bind("", ""), execute("", 0), parse("", "select 1 from t"), bind("", ""), execute("", 0), parse("", "commit"), bind("", ""), execute("", 0), sync),
		want: "begin ×1, select $1 from t ×1, commit ×1", txns: "1 committed"},
	{name: "pipelined-error", talk: wire(parse("", "select 1 from t"), bind("", ""), execute("", 0), parse("", "select 1/0"), bind("", ""), execute("", 0), parse("", "select now()"), bind("", ""), execute("", 0), sync),
		want: "select $1 from t ×1, select $1 / $2! ×1", vxid: "2 rolled back partial"},
	{name: "pipelined", talk: wire(parse("", "select 1 from t"), bind("", ""), execute("", 0), bind("", ""), execute("", 0), bind("", ""), execute("", 0), sync),
		want: "select $1 from t ×3", vxid: "3 committed partial"},
	{name: "unnamed-again", talk: wire(parse("", "select now()"), bind("", ""), execute("", 0), sync, bind("", ""), execute("", 0), sync), want: "select now() ×2"},
	{name: "chain", talk: simple("begin", "select 1 from t", "commit and chain", "select 2 from t", "rollback"),
		want: "begin ×1, select $1 from t ×2, commit and chain ×1, rollback ×1", txns: "1 committed, 1 rolled back"},
}

var truthModes = map[string]map[string]string{
	"A": {"log_min_duration_statement": "0"},
	"B": {"log_statement": "all", "log_duration": "on"},
	"C": {"log_statement": "all", "log_min_duration_statement": "0"},
	"D": {"log_min_duration_statement": "0", "log_error_verbosity": "verbose"},
	"X": {"log_min_duration_statement": "0", "session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0", "auto_explain.log_nested_statements": "on"},
}

// TestTruth has the conversations with real servers in every mode of logging and counts what is read back, in every format.
func TestTruth(t *testing.T) {
	for _, major := range []int{12, 14, 18} {
		logs := []string{"stderr", "csvlog", "jsonlog"}[:min(3, 2+major/15)]
		srv := pgserver.New(t, pgserver.Options{Major: major, Log: logs, Settings: map[string]string{
			"log_line_prefix": "%m [%p] %q%u@%d/%a ", "max_prepared_transactions": "5",
		}})
		connect(t, srv, "setup", nil, simple(`create table t (a int, b text); insert into t values (1, 'a'), (2, 'b');
			create function twice(n int) returns int language plpgsql as $$ begin perform count(*) from t; return n * 2; end $$;
			create procedure proc(n int) language plpgsql as $$ begin insert into t values (n, 'p'); end $$;`))
		for mode, set := range truthModes {
			for _, x := range truths {
				connect(t, srv, mode+"."+x.name, set, x.talk)
			}
		}
		if err := srv.Stop(); err != nil {
			t.Fatal(err)
		}
		for _, l := range logs {
			t.Run(fmt.Sprintf("%d/%s", major, l), func(t *testing.T) { compareTruth(t, srv.LogFile(l), l != "stderr") })
		}
	}
}

// connect has one conversation in a session with settings of its own.
func connect(t *testing.T, srv *pgserver.Server, name string, set map[string]string, talk func(*pgconn.PgConn) error) {
	cfg, err := pgconn.ParseConfig(srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.RuntimeParams["application_name"] = name
	for _, k := range slices.Sorted(maps.Keys(set)) {
		cfg.RuntimeParams["options"] += " -c " + k + "=" + set[k]
	}
	c, err := pgconn.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := talk(c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	_ = c.Close(t.Context()) // one of them was ended by the server
}

func compareTruth(t *testing.T, path string, vxid bool) {
	r, err := Open(t.Context(), []Input{{Path: path}}, Config{HashKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	counts, order, txns := map[string]int{}, map[string][]string{}, map[string][]string{}
	err = r.Run(t.Context(), func(b Batch) error {
		for i := range b.Events {
			e := &b.Events[i]
			switch e.Kind {
			case capture.Execution:
				text := "opaque"
				if e.Template != nil {
					text = e.Template.Text
				}
				if e.SQLState != "" {
					text += "!"
				}
				if counts[e.App+"\x00"+text]++; counts[e.App+"\x00"+text] == 1 {
					order[e.App] = append(order[e.App], text)
				}
			case capture.Transaction:
				s := fmt.Sprintf("%d %s", e.Txn.Statements, map[bool]string{true: "committed", false: "rolled back"}[e.Txn.Committed])
				if e.Txn.Savepoints > 0 {
					s += fmt.Sprintf(" %d", e.Txn.Savepoints)
				}
				if e.Txn.Partial {
					s += " partial"
				}
				txns[e.App] = append(txns[e.App], s)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r.Counts())
	for mode := range truthModes {
		for _, x := range truths {
			name := mode + "." + x.name
			var list []string
			for _, text := range order[name] {
				list = append(list, fmt.Sprintf("%s ×%d", text, counts[name+"\x00"+text]))
			}
			if got := strings.Join(list, ", "); got != x.want {
				t.Errorf("%s: executions\n got  %s\n want %s", name, got, x.want)
			}
			want := x.txns
			if vxid && x.vxid != "" {
				want = x.vxid
			}
			if got := strings.Join(txns[name], ", "); got != want {
				t.Errorf("%s: transactions\n got  %s\n want %s", name, got, want)
			}
		}
	}
}
