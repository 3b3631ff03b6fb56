package pgdoctor

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/fixtures/pgserver"
)

var update = flag.Bool("update", false, "write the golden files")

// What the doctor says of real servers in several configurations; role "" asks as the superuser.
func TestServers(t *testing.T) {
	for _, c := range []struct {
		name string
		pg   pgserver.Options
		sql  []string
		role string
		seen [3]string
	}{
		{name: "12-default", pg: pgserver.Options{Major: 12}, seen: [3]string{seenNone, seenNone, seenNone}},
		{name: "12-statistics", pg: pgserver.Options{Major: 12, Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements", "log_statement": "mod", "log_line_prefix": "%h ", "pg_stat_statements.max": "100"}},
			sql: append([]string{"create extension pg_stat_statements"}, distinct(95)...), seen: [3]string{seenPart, seenPart, seenNone}},
		{name: "14-slow-only", pg: pgserver.Options{Major: 14, Log: []string{"stderr"}, Settings: map[string]string{"log_min_duration_statement": "250", "log_error_verbosity": "terse",
			"shared_preload_libraries": "pg_stat_statements", "compute_query_id": "off"}}, sql: []string{"create extension pg_stat_statements"}, seen: [3]string{seenPart, seenNone, seenNone}},
		{name: "14-texts-only", pg: pgserver.Options{Major: 14, Log: []string{"csvlog"}, Settings: map[string]string{"log_statement": "all", "wal_level": "logical", "shared_preload_libraries": "pg_stat_statements"}},
			sql: []string{"create table nokey (a int)", "create table keyed (a int primary key)", "create table whole (a int)", "alter table whole replica identity full"}, seen: [3]string{seenAll, seenNone, seenPart}},
		{name: "17-whole", pg: pgserver.Options{Major: 17, Log: []string{"csvlog", "stderr"}, Settings: map[string]string{"log_min_duration_statement": "0", "log_rotation_size": "64MB", "wal_level": "logical", "max_slot_wal_keep_size": "1GB",
			"shared_preload_libraries": "pg_stat_statements"}}, sql: []string{"create extension pg_stat_statements version '1.9'", "create table keyed (a int primary key)"}, seen: [3]string{seenAll, seenAll, seenAll}},
		{name: "17-little-role", pg: pgserver.Options{Major: 17, Log: []string{"jsonlog"}, Settings: map[string]string{"log_min_duration_statement": "0", "log_parameter_max_length": "0", "shared_preload_libraries": "pg_stat_statements"}},
			sql:  []string{"create extension pg_stat_statements", "create role little login", "create database closed", "revoke connect on database closed from public", `alter role little set log_min_duration_statement = -1`, `alter database postgres set log_statement = 'none'`},
			role: "little", seen: [3]string{seenNone, seenPart, seenNone}},
		{name: "18-fatal-only", pg: pgserver.Options{Major: 18, Log: []string{"stderr"}, Settings: map[string]string{"log_min_duration_statement": "0", "log_min_messages": "fatal", "log_line_prefix": "%m [%p] "}}, seen: [3]string{seenNone, seenNone, seenNone}},
		{name: "18-sample-of-all", pg: pgserver.Options{Major: 18, Log: []string{"stderr"}, Settings: map[string]string{"log_transaction_sample_rate": "1", "log_line_prefix": AdvisedPrefix, "shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.max": "100"}},
			sql: append([]string{"create extension pg_stat_statements"}, distinct(300)...), seen: [3]string{seenAll, seenPart, seenNone}},
		{name: "18-syslog", pg: pgserver.Options{Major: 18, Settings: map[string]string{"log_min_duration_statement": "0", "log_destination": "syslog"}}, seen: [3]string{seenNone, seenNone, seenNone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := pgserver.New(t, c.pg)
			ctx := context.Background()
			dsn := srv.DSN("postgres")
			execute(t, dsn, c.sql...)
			if c.role != "" {
				dsn = strings.Replace(dsn, "postgres@", c.role+"@", 1)
			}
			f, err := Read(ctx, dsn)
			if err != nil {
				t.Fatal(err)
			}
			r := Diagnose(f)
			for i, s := range r.Sources {
				if s.Seen != c.seen[i] {
					t.Errorf("%s: %s is seen, want %s", s.Name, s.Seen, c.seen[i])
				}
			}
			var b bytes.Buffer
			if err := r.Text(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, strings.ReplaceAll(regexp.MustCompile(`PostgreSQL (\d+)\.\d+`).ReplaceAllString(b.String(), "PostgreSQL $1.x"), srv.Dir, "DIR"))
			check(t, dsn, srv, c.role, r)
		})
	}
}

func distinct(n int) []string {
	var out []string
	for i := range n {
		out = append(out, "select 1"+strings.Repeat(", 1", i))
	}
	return out
}

// check applies the advice: after the reload the server must be seen as a whole, as far as no restart is needed.
func check(t *testing.T, dsn string, srv *pgserver.Server, role string, before *Report) {
	t.Helper()
	reload, restart := before.Fixes()
	if len(reload) == 0 || len(restart) > 0 {
		return
	}
	execute(t, srv.DSN("postgres"), append(reload, "select pg_reload_conf()", "select pg_sleep(0.3)")...)
	f, err := Read(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if s := Diagnose(f).Sources[0]; s.Seen != seenAll && srvLogs(f) {
		t.Errorf("after the advice the log still shows %s: %+v", s.Seen, s.Findings)
	}
}

// srvLogs: what is written to syslog only needs a restart with a collector to become a file.
func srvLogs(f *Facts) bool { return !strings.Contains(f.Settings["log_destination"], "syslog") }

func execute(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s; if it is right: go test ./capture/pgdoctor -update\ngot\n%s", path, got)
	}
}

// A prefix is read as the server reads it: padding belongs to the escape, a doubled percent sign is none.
func TestEscapes(t *testing.T) {
	for prefix, want := range map[string]string{"": "", "%m [%p] ": "mp", "%-8p %6l%%u": "pl", "%q%u@%d ": "qud", "x%": ""} {
		if got := string(escapes(prefix)); got != want {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
}

// No server, no answer; the message holds no password.
func TestNoServer(t *testing.T) {
	_, err := Read(context.Background(), "postgres://u:secret@127.0.0.1:1/d")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error is %v", err)
	}
}

// What no server at hand can be set to.
func TestDiagnose(t *testing.T) {
	whole := func() *Facts {
		return &Facts{Version: 170000, Settings: map[string]string{"log_min_duration_statement": "0", "log_statement": "none", "log_destination": "csvlog", "logging_collector": "on",
			"log_rotation_age": "1440", "lc_messages": "en_US.UTF-8", "log_parameter_max_length": "-1", "log_min_error_statement": "error"}}
	}
	if s := Diagnose(whole()).Sources[0]; s.Seen != seenAll || len(s.Findings) > 0 {
		t.Fatalf("a server that logs everything: %+v", s)
	}
	for _, c := range []struct{ name, value, code string }{
		{"lc_messages", "de_DE.UTF-8", "lc_messages"},
		{"log_min_error_statement", "panic", "log_min_error_statement"},
		{"log_parameter_max_length", "64", "log_parameter_max_length"},
		{"log_min_duration_statement", "1", "part_of_statements"},
		{"log_destination", "eventlog", "log_destination"},
	} {
		f := whole()
		f.Settings[c.name] = c.value
		s := Diagnose(f).Sources[0]
		if len(s.Findings) != 1 || s.Findings[0].Code != c.code || s.Seen == seenAll {
			t.Errorf("%s = %s: %s, %+v", c.name, c.value, s.Seen, s.Findings)
		}
	}
}
