package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/analysis/prove"
	"github.com/foreshard/foreshard/fixtures/app"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

// TestProveTraffic executes the verdicts on every template of the shipped traffic of a real application, on data that the application itself
// makes: no verdict may be refuted, and most that claim something must be confirmed.
func TestProveTraffic(t *testing.T) {
	srv := pgserver.New(t, pgserver.Options{Major: 17, Settings: map[string]string{"max_connections": "80", "fsync": "off", "autovacuum": "off"}})
	admin := srv.DSN("postgres")
	conn, err := pgconn.Connect(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE DATABASE atelier").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := app.Setup(t.Context(), srv.DSN("atelier"), 1); err != nil {
		t.Fatal(err)
	}
	const fixtures = "../../fixtures/"
	schema, warehouse := fixtures+"app/schema.sql", filepath.Join(t.TempDir(), "warehouse")
	invoke(t, "analyze", "--quiet", "--schema", schema, "--candidate", fixtures+"app/candidates/by-org.yaml", "--warehouse", warehouse,
		"--log-line-prefix", "%m [%p] [user=%u,db=%d,app=%a] ", fixtures+"traffic/atelier.log.zst")
	text, err := os.ReadFile(fixtures + "app/candidates/by-org.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cand, queries := filepath.Join(t.TempDir(), "by-org.yaml"), filepath.Join(t.TempDir(), "queries.sql")
	for name, content := range map[string]string{
		cand: strings.Replace(string(text), "shards: 64", "shards: 3", 1), // fewer databases to build
		queries: "-- name: FilesOfOrg :many\nSELECT * FROM files WHERE org_id = @org_id ORDER BY file_id;\n" +
			"-- name: CountMembers :one\nSELECT count(*) FROM team_members WHERE org_id = ANY(sqlc.arg('orgs'));\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		from  []string
		least int // confirmed
	}{{[]string{"--warehouse", warehouse}, 40}, {[]string{"--input", queries}, 1}} {
		args := append([]string{"prove", "--schema", schema, "--candidate", cand, "--server", admin, "--from", srv.DSN("atelier"), "--rows", "400",
			"--draws", "3", "--format", "jsonl"}, c.from...)
		counts := map[prove.Outcome]int{}
		for line := range strings.Lines(invoke(t, args...)) {
			var r prove.Result
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			counts[r.Outcome]++
			if r.Outcome == prove.Refuted {
				t.Errorf("%s: %s: %s\n%s", r.ID, r.Class, r.Detail, strings.Join(r.Diff, "\n"))
			}
		}
		t.Logf("%s: %v", c.from[0], counts)
		if counts[prove.Confirmed] < c.least {
			t.Errorf("%s: too little is confirmed: %v", c.from[0], counts)
		}
	}
}

// invoke runs a verb in this process and gives its standard output.
func invoke(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(""), &out, &errOut); code != exitDone {
		t.Errorf("foreshard %s: exit code %d", strings.Join(args, " "), code)
	}
	t.Log(errOut.String())
	return out.String()
}
