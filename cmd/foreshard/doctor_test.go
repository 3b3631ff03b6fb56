package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/fixtures/pgserver"
)

func TestDoctor(t *testing.T) {
	t.Setenv("PGHOST", "")
	t.Setenv("PGSERVICE", "")
	said := func(want int, args ...string) string {
		t.Helper()
		var out, errOut bytes.Buffer
		if code := run(context.Background(), append([]string{"doctor"}, args...), strings.NewReader(""), &out, &errOut); code != want {
			t.Errorf("%q: exit code %d, want %d\n%s%s", args, code, want, &out, &errOut)
		}
		if want == exitCannot {
			return errOut.String()
		}
		return out.String()
	}
	if s := said(exitCannot); !strings.Contains(s, "no server: give --dsn") {
		t.Error(s)
	}
	if s := said(exitCannot, "--dsn", "postgres://u:secret@127.0.0.1:1/d"); strings.Contains(s, "secret") {
		t.Error(s)
	}
	said(exitCannot, "--dsn", "x", "--format", "yaml")
	silent := pgserver.New(t, pgserver.Options{Major: 17})
	if s := said(exitNo, "--dsn", silent.DSN("postgres")); !strings.Contains(s, "ALTER SYSTEM SET log_min_duration_statement = 0;\n") {
		t.Error(s)
	}
	loud := pgserver.New(t, pgserver.Options{Major: 17, Log: []string{"csvlog"}, Settings: map[string]string{"log_min_duration_statement": "0"}})
	var answer struct {
		Visible bool
		Sources []struct{ Name, Seen string }
	}
	if err := json.Unmarshal([]byte(said(exitDone, "--dsn", loud.DSN("postgres"), "--format", "json")), &answer); err != nil || !answer.Visible || answer.Sources[0].Seen != "all" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// A schema read from the server serves as one from a file does.
func TestSchemaFrom(t *testing.T) {
	dir := t.TempDir()
	newAgent(t, dir) // its files
	srv := pgserver.New(t, pgserver.Options{Major: 17})
	conn, err := pgconn.Connect(context.Background(), srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), runSchema).ReadAll(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "live.sql")
	log := filepath.Join(dir, "traffic.sql")
	if err := os.WriteFile(log, []byte("select * from accounts where org_id = 1;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	answer := func(want int, args ...string) string {
		t.Helper()
		var out, errOut bytes.Buffer
		if code := run(context.Background(), args, strings.NewReader(""), &out, &errOut); code != want {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, &out, &errOut)
		}
		return out.String() + errOut.String()
	}
	answer(exitNo, "doctor", "--dsn", srv.DSN("postgres"), "--schema-out", file)
	candidate := filepath.Join(dir, "by-org.yaml")
	live := answer(exitDone, "analyze", "--schema-from", srv.DSN("postgres"), "--candidate", candidate, log)
	if kept := answer(exitDone, "analyze", "--schema", file, "--candidate", candidate, log); kept != live || !strings.Contains(live, "100 % of calls") {
		t.Errorf("from the server\n%s\nfrom the file\n%s", live, kept)
	}
	if s := answer(exitCannot, "analyze", "--schema-from", "postgres://u:secret@127.0.0.1:1/d", "--candidate", candidate, log); strings.Contains(s, "secret") {
		t.Error(s)
	}
	answer(exitCannot, "analyze", "--schema-from", srv.DSN("postgres"), "--schema", file, "--candidate", candidate, log)
}
