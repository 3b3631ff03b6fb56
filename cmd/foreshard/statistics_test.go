package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/fixtures/kafka"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

// statisticsServer starts a server that counts statements and logs none, and executes statements in its database postgres.
func statisticsServer(t *testing.T, major int, statements ...string) *pgserver.Server {
	t.Helper()
	srv := pgserver.New(t, pgserver.Options{Major: major, Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements"}})
	conn := connectTo(t, srv.DSN("postgres"))
	for _, sql := range append([]string{"CREATE EXTENSION pg_stat_statements"}, statements...) {
		if _, err := conn.Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return srv
}

func connectTo(t *testing.T, dsn string) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) }) // the server may be down by then
	return conn
}

// TestStatisticsCanaries lets servers count canaries in every place where a client can put a value, and looks at every byte that run and the reports
// on it leave.
func TestStatisticsCanaries(t *testing.T) {
	for _, major := range []int{12, 18} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			srv := statisticsServer(t, major)
			dir := t.TempDir()
			root := filepath.Join(dir, "warehouse")
			schema, cand := filepath.Join(dir, "schema.sql"), filepath.Join(dir, "by-org.yaml")
			for path, text := range map[string]string{schema: strings.ReplaceAll(canarySchema, "c4n4ry", "x"), cand: "name: by-org\nshards: 4\ncolos:\n  org:\n    key: {name: org_id, type: bigint}\n    tables: {orders: org_id}\n"} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			look := func(where string, data []byte) {
				t.Helper()
				for _, canary := range []string{"c4n4ry", "918273645"} {
					if i := bytes.Index(data, []byte(canary)); i >= 0 {
						t.Errorf("%s holds a value: %q", where, data[max(0, i-100):min(len(data), i+40)])
					}
				}
			}
			for i := range 2 { // the first run's look is what the second one's is compared with
				ctx, cancel := context.WithCancel(t.Context())
				said := &untilSaid{text: "no text", then: func() {}}
				time.AfterFunc(100*time.Millisecond, cancel) // whenever it ends, it looks at its beginning and at its end
				if code := run(ctx, []string{"run", "--statistics", srv.DSN("postgres"), "--warehouse", root, "--schema", schema, "--listen", "", "--log-level", "debug"}, nil, said, said); code != exitDone {
					t.Fatalf("run: exit code %d: %s", code, said.all())
				}
				look("what run says", said.all())
				if i == 0 {
					canaryTraffic(t, srv.DSN("postgres"))
				}
			}
			var out, errOut bytes.Buffer
			for _, format := range []string{"json", "markdown", "text"} {
				if code := run(t.Context(), []string{"analyze", "--schema", schema, "--candidate", cand, "--warehouse", root, "--format", format}, nil, &out, &errOut); code != exitDone {
					t.Fatalf("exit code %d: %s", code, errOut.String())
				}
			}
			look("the report", append(out.Bytes(), errOut.Bytes()...))
			if !strings.Contains(out.String(), "orders") || !strings.Contains(out.String(), "there is no log") {
				t.Errorf("the report shows no traffic:\n%s", out.String())
			}
			files := 0
			for name, data := range unpackedFiles(t, root) {
				look(name, data)
				files++
			}
			if files < 5 {
				t.Errorf("only %d files were looked at", files)
			}
		})
	}
}

// A run that is killed again and again while clients send has counted, when one ends in order, what they sent: to the call.
func TestStatisticsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server; not run with -short")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "foreshard")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	srv := statisticsServer(t, 16, "CREATE TABLE t (id int)")
	schema, cand, root := filepath.Join(dir, "schema.sql"), filepath.Join(dir, "c.yaml"), filepath.Join(dir, "warehouse")
	for path, text := range map[string]string{schema: "CREATE TABLE t (id int);\n", cand: "name: c\nshards: 4\ncolos:\n  c:\n    key: {name: id, type: int}\n    tables: {t: id}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commits := func() int {
		names, err := filepath.Glob(filepath.Join(root, "manifests", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	start := func() (*exec.Cmd, *bytes.Buffer) {
		var said bytes.Buffer
		before := commits()
		cmd := exec.Command(program, "run", "--statistics", srv.DSN("postgres"), "--statistics-every", "1s", "--warehouse", root, "--schema", schema, "--listen", "")
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for tries := 0; commits() <= max(before, 1); tries++ { // the first one makes the warehouse
			if time.Sleep(10 * time.Millisecond); tries > 6000 {
				t.Fatal("run commits nothing")
			}
		}
		return cmd, &said
	}
	end := func(cmd *exec.Cmd, said *bytes.Buffer) {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	end(start()) // the first look
	conn := connectTo(t, srv.DSN("postgres"))
	const sent = 900
	for i := range 3 {
		cmd, _ := start()
		for range sent / 3 {
			if _, err := conn.Exec(t.Context(), "SELECT count(*) FROM t WHERE id = 5").ReadAll(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(3+i) * time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
	}
	end(start())
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"analyze", "--schema", schema, "--candidate", cand, "--warehouse", root, "--format", "json"}, nil, &out, &errOut); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	var r analysis.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	got := int64(0)
	for _, q := range r.Candidates[0].Queries {
		if q.Text == "select count(*) from t where id = $1" {
			got = q.Calls
		}
	}
	if got != sent || r.Basis != analysis.BasisStatistics {
		t.Errorf("%d calls are counted, %d were sent; basis %q", got, sent, r.Basis)
	}
}

func TestStatisticsFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"run --warehouse w --schema s.sql", "--statistics"},
		{"run --warehouse w --schema s.sql --statistics postgres://x --statistics-every 1ms", "give 1s or more"},
		{"run --warehouse w --schema s.sql --statistics postgres://[", "--statistics"},
		{"capture --state d --brokers x:1", "--statistics"},
		{"capture --state d --brokers x:1 --statistics port=none", "--statistics"},
		{"capture --state d --brokers x:1 --statistics host=x statistics_test.go", "give --follow"},
	} {
		var out, errOut bytes.Buffer
		if code := run(t.Context(), strings.Fields(c.args), nil, &out, &errOut); code != exitCannot || !strings.Contains(errOut.String(), c.want) {
			t.Errorf("%s: exit code %d: %s", c.args, code, errOut.String())
		}
	}
}

// spooled tells the state of an agent's directory apart from others.
func spooled(t *testing.T, dir string) (state string) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Error(err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil { // it may be gone by now
			state += fmt.Sprint(f, info.Size(), info.ModTime())
		}
	}
	return state
}

// The log and the statistics of a server go through Kafka side by side, each with an agent of its own, into one report: the log is whole, and what
// another database does not log is not.
func TestStatisticsThroughKafka(t *testing.T) {
	cluster := kafka.New(t, kafka.Options{})
	srv := pgserver.New(t, pgserver.Options{Major: 17, Log: []string{"csvlog"}, Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements"}})
	send := func(database string, times int, sql string) {
		t.Helper()
		conn := connectTo(t, srv.DSN(database))
		for range times {
			if _, err := conn.Exec(t.Context(), sql).ReadAll(); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	for _, sql := range []string{"CREATE EXTENSION pg_stat_statements", "CREATE DATABASE loud", "CREATE DATABASE silent", "ALTER DATABASE loud SET log_min_duration_statement = 0"} {
		send("postgres", 1, sql)
	}
	for _, db := range []string{"loud", "silent"} {
		send(db, 1, "CREATE TABLE t (id int)")
	}
	dir := t.TempDir()
	schema, cand := filepath.Join(dir, "schema.sql"), filepath.Join(dir, "c.yaml")
	for path, text := range map[string]string{schema: "CREATE TABLE t (id int);\n", cand: "name: c\nshards: 4\ncolos:\n  c:\n    key: {name: id, type: int}\n    tables: {t: id}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	brokers := strings.Join(cluster.Brokers(), ",")
	for i := range 2 {
		if i == 1 {
			send("loud", 30, "SELECT id FROM t WHERE id = 5")
			send("silent", 20, "SELECT count(*) FROM t")
			send("loud", 1, "SELECT 1")
		}
		ctx, cancel := context.WithCancel(t.Context())
		said := &untilSaid{text: "no text", then: func() {}}
		before := spooled(t, filepath.Join(dir, "state", "statistics"))
		go func() { // it looks once more at its end
			for tries := 0; tries < 3000 && spooled(t, filepath.Join(dir, "state", "statistics")) == before; tries++ {
				time.Sleep(10 * time.Millisecond)
			}
			cancel()
		}()
		if code := run(ctx, []string{"capture", "--brokers", brokers, "--create-topic", "--name", "db1", "--state", filepath.Join(dir, "state"), "--statistics", srv.DSN("postgres"),
			"--listen", "", "--follow", srv.LogFile("csvlog")}, nil, said, said); code != exitDone {
			t.Fatalf("capture: exit code %d: %s", code, said.all())
		}
	}
	var out, errOut bytes.Buffer
	for _, args := range [][]string{
		{"plan", "--brokers", brokers, "--schema", schema, "--warehouse", filepath.Join(dir, "w"), "--listen", "", "--drain"},
		{"analyze", "--schema", schema, "--candidate", cand, "--warehouse", filepath.Join(dir, "w"), "--format", "json"},
	} {
		out.Reset()
		if code := run(t.Context(), args, nil, &out, &errOut); code != exitDone {
			t.Fatalf("%s: exit code %d: %s", args[0], code, errOut.String())
		}
	}
	var r analysis.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range r.Coverage.Databases {
		got[d.Database] = fmt.Sprint(d.Calls, d.Logged, d.Unlogged)
	}
	if got["loud"] != "31 31 0" || got["silent"] != "20 0 20" || r.Candidates[0].Unlogged.Calls.ByClass["scatter"] < 20 {
		t.Errorf("%v\n%+v", got, r.Candidates[0].Unlogged)
	}
}
