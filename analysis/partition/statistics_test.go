package partition_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pgstat"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/fixtures/pgserver"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// What a server counted goes through a topic to the call, though the agent is killed between looks and sends again; nothing in the topic or in the
// agent's directory holds a value.
func TestStatistics(t *testing.T) {
	srv := pgserver.New(t, pgserver.Options{Major: 15, Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements"}})
	conn, err := pgconn.Connect(t.Context(), srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	send := func(times int, sql string) {
		t.Helper()
		for range times {
			if _, err := conn.Exec(t.Context(), sql).ReadAll(); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	send(1, "CREATE EXTENSION pg_stat_statements")
	send(1, "CREATE TABLE t (id int, note text)")
	topic, dir := stream.NewMemory("t", 3), t.TempDir()
	for i := range 4 {
		follow(t, topic, dir, srv.DSN("postgres"), func(look func()) {
			send(5, "SELECT id FROM t WHERE note = 'c4n4ry'")
			send(1, fmt.Sprintf("SET work_mem = '%dMB'", 918273+i))
			send(1, "DO $$ BEGIN PERFORM 'c4n4ry'; END $$")
			if i%2 == 0 {
				look()
			}
			send(2, "SELECT id FROM t WHERE note = 'c4n4ry'")
		})
	}
	follow(t, topic, dir, srv.DSN("postgres"), func(func()) {})
	d, err := stream.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	counted := int64(0)
	for p := range 3 {
		for _, m := range messages(t, topic, p) {
			b, err := d.Decode(m)
			if err != nil {
				t.Fatal(err)
			}
			if b.Agent != "a/statistics" {
				t.Errorf("agent is %q", b.Agent)
			}
			for _, e := range b.Events {
				text := fmt.Sprintf("%+v", e)
				if e.Template != nil {
					text += e.Template.Text
				}
				if e.Kind != capture.Statistics || strings.Contains(text, "c4n4ry") || strings.Contains(text, "918273") {
					t.Errorf("event %s", text)
				}
				if e.Template != nil && e.Template.Text == "select id from t where note = $1" {
					counted += e.Counted.Calls
				}
			}
		}
	}
	cat, err := catalog.Load("s.sql", []byte("create table t (id int, note text)"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := candidate.Load("c.yaml", []byte("name: c\nshards: 4\ncolos:\n  c:\n    key: {name: id, type: int}\n    tables: {t: id}\n"), cat)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for range 2 {
		if err := planner(t, topic, root, cat).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w := open(t, root)
	r, err := analysis.BuildReport(t.Context(), w, cat, []*candidate.Candidate{c}, analysis.ReportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	planned := int64(0)
	for _, q := range r.Candidates[0].Queries {
		if q.Text == "select id from t where note = $1" {
			planned = q.Calls
		}
	}
	if counted != 4*7 || planned != counted || r.Basis != analysis.BasisStatistics || r.Ledger.Notes[pgstat.NoteLooks] == 0 {
		t.Errorf("%d calls in the topic, %d in the report, %d were sent; basis %q, notes %v", counted, planned, 4*7, r.Basis, r.Ledger.Notes)
	}
}

// follow looks at a server with the agent of a directory, and ends it between two looks.
func follow(t *testing.T, topic stream.Topic, dir, dsn string, traffic func(look func())) {
	t.Helper()
	a, err := stream.OpenAgent(stream.AgentConfig{Name: "a/statistics", Dir: dir}, topic)
	if err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	tick, looked, done := make(chan time.Time), make(chan *pgstat.Round, 1), make(chan error, 1)
	go func() {
		done <- stream.FollowStatistics(ctx, a, stream.StatisticsConfig{DSNs: []string{dsn}, Tick: tick, Observe: func(r *pgstat.Round) { looked <- r }})
	}()
	if r := <-looked; r.Failed > 0 {
		t.Fatal(r.Problems)
	}
	traffic(func() { tick <- time.Now(); <-looked })
	kill()
	if err := <-done; err == nil {
		t.Error("it ends without being asked to")
	}
	for _, end := range []func() error{func() error { return a.Drain(t.Context()) }, a.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}
