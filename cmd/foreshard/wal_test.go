package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/duck"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

// walServer is a server whose WAL can be read, with the schema of the tests of run.
func walServer(t *testing.T, settings map[string]string) (*pgserver.Server, *pgx.Conn) {
	t.Helper()
	set := map[string]string{"wal_level": "logical"}
	for k, v := range settings {
		set[k] = v
	}
	srv := pgserver.New(t, pgserver.Options{Major: 17, Settings: set})
	conn, err := pgx.Connect(t.Context(), srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), runSchema+"; alter table entries add note text", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	return srv, conn
}

// walRows are the rows of a warehouse by table and operation.
func walRows(t *testing.T, root string) map[string]int64 {
	t.Helper()
	w, err := analysis.OpenWarehouse(t.Context(), root, false)
	if err != nil {
		t.Fatal(err)
	}
	db, err := duck.Open(t.Context(), w.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out := map[string]int64{}
	if err := db.Each(t.Context(), `select table_name || ' ' || op, sum("rows")::bigint from wal_rows group by all`, func(scan func(...any) error) error {
		var name string
		var n int64
		err := scan(&name, &n)
		out[name] = n
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// An agent that is killed with SIGKILL again and again reads each row of the WAL once, with a slot of its own, and keeps no value of any.
func TestWALKilled(t *testing.T) {
	srv, conn := walServer(t, map[string]string{"logical_decoding_work_mem": "64kB"})
	dir := t.TempDir()
	a := newAgent(t, dir, "--wal", srv.DSN("postgres"), "--wal-slot", "lasting", "--wal-create-publication")
	want := map[string]int64{}
	stop, done := make(chan struct{}), make(chan error, 1)
	random := rand.New(rand.NewPCG(3, 4))
	a.start() // makes the slot
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var n int
		if err := conn.QueryRow(t.Context(), "select count(*) from pg_replication_slots where active").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no slot: %s", a.said())
		}
	}
	go func() {
		writer := rand.New(rand.NewPCG(1, 2))
		for id := int64(918273645000); ; id++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			n := int64(1)
			if id%20 == 0 {
				n = 3000 // is streamed
			}
			tx, err := conn.Begin(t.Context())
			if err == nil {
				_, err = tx.Exec(t.Context(), "insert into entries select $1, i, i, 'c4n4ry' from generate_series(1, $2) i", id, n)
			}
			if err == nil {
				_, err = tx.Exec(t.Context(), "insert into accounts values ($1, $2)", id, id)
			}
			if err == nil && writer.IntN(4) == 0 {
				err = tx.Rollback(t.Context())
			} else if err == nil {
				err = tx.Commit(t.Context())
				want["public.entries insert"] += n
				want["public.accounts insert"]++
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	const kills = 5
	for range kills {
		time.Sleep(time.Duration(150+random.IntN(600)) * time.Millisecond)
		a.kill()
		a.start()
	}
	time.Sleep(500 * time.Millisecond)
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var written string
	if err := conn.QueryRow(t.Context(), "select pg_current_wal_insert_lsn()::text").Scan(&written); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) { // the server has yet to notice that the last reader is dead
		var read bool
		if err := conn.QueryRow(t.Context(), "select confirmed_flush_lsn >= $1::text::pg_lsn from pg_replication_slots", written).Scan(&read); err != nil {
			t.Fatal(err)
		}
		if read || time.Now().After(end) {
			break
		}
	}
	a.drain()
	got := walRows(t, filepath.Join(dir, "traffic"))
	if fmt.Sprint(got) != fmt.Sprint(want) || want["public.accounts insert"] < 50 {
		t.Errorf("written %v, read %v\n%s", want, got, a.said())
	}
	look := func(where string, data []byte) {
		for _, canary := range []string{"c4n4ry", "918273645"} {
			if i := bytes.Index(data, []byte(canary)); i >= 0 {
				t.Errorf("%s holds a value: %q", where, data[max(0, i-100):min(len(data), i+40)])
			}
		}
	}
	look("what run says", []byte(a.said()))
	for name, data := range unpackedFiles(t, filepath.Join(dir, "traffic")) {
		look(name, data)
	}
	t.Logf("%d kills, %v", kills, want)
}

// The verbs say what to do about a server that is not set up, and clean up after themselves.
func TestWALVerbs(t *testing.T) {
	srv, conn := walServer(t, nil)
	dir := t.TempDir()
	schema := filepath.Join(dir, "schema.sql")
	if err := os.WriteFile(schema, []byte(runSchema), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--wal", srv.DSN("postgres")}, exitCannot, "CREATE PUBLICATION"},
		{[]string{"--log", "none.csv", "--wal-slot", "x"}, exitCannot, "--wal with a connection string"},
		{[]string{"--wal", srv.DSN("postgres"), "--wal-over-max", "panic"}, exitCannot, "renew, stop"},
		{[]string{"--wal", srv.DSN("postgres"), "--wal-slot", "Bad Name"}, exitCannot, "lower-case"},
		{[]string{"--wal", srv.DSN("postgres"), "--wal-drop", "--wal-slot", "none"}, exitDone, `slot "none" is not there`},
	} {
		var out, errOut bytes.Buffer
		args := append([]string{"run", "--warehouse", filepath.Join(dir, "w"), "--schema", schema, "--listen", ""}, c.args...)
		if code := run(t.Context(), args, nil, &out, &errOut); code != c.code || !strings.Contains(out.String()+errOut.String(), c.says) {
			t.Errorf("%v: exit code %d, %s%s", c.args, code, out.String(), errOut.String())
		}
	}
	var n int
	if err := conn.QueryRow(t.Context(), "select (select count(*) from pg_publication) + (select count(*) from pg_replication_slots)").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d publications and slots are left, %v", n, err)
	}
}

// A server that cannot be reached for its WAL does not keep the log from being read, and is said.
func TestWALAway(t *testing.T) {
	dir := t.TempDir()
	schema, log := filepath.Join(dir, "schema.sql"), filepath.Join(dir, "one.csv")
	record := `2026-01-02 03:04:05.678 UTC,"u","d",7,"[local]",69573e85.7,1,"SELECT",2026-01-02 03:04:05 UTC,3/1,0,LOG,00000,"duration: 0.100 ms  statement: select balance from accounts where id = 1",,,,,,,,,"app","client backend",,0` + "\n"
	for name, text := range map[string]string{schema: runSchema, log: record} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := &untilSaid{text: "executions committed", then: cancel}
	code := run(ctx, []string{"run", "--log", log, "--wal", "postgres://nobody@127.0.0.1:1/none?connect_timeout=1", "--warehouse", filepath.Join(dir, "w"), "--schema", schema,
		"--poll", "10ms", "--commit-every", "300ms", "--listen", ""}, nil, said, said)
	if code != exitDone || !bytes.Contains(said.all(), []byte("1 executions committed")) || !bytes.Contains(said.all(), []byte("again in")) {
		t.Errorf("exit code %d: %s", code, said.all())
	}
}
