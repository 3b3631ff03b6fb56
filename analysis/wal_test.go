package analysis_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/pgwal"
	"github.com/foreshard/foreshard/fixtures/pgserver"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

const walSchema = `create table orgs (org_id bigint primary key, name text);
create table files (file_id bigint primary key, org_id bigint not null references orgs, body text);
create table users (user_id bigint primary key, name text);
create table plans (plan_id int primary key, name text);
create table jobs (id bigint primary key, state text);
create table strays (id bigint primary key);
create table shares (org_id bigint, file_id bigint, primary key (org_id, file_id));`

const walCandidate = `name: by-org
shards: 4
colos:
  org: {key: {name: org_id, type: bigint}, tables: {orgs: org_id, files: org_id, shares: org_id}}
  user: {key: {name: user_id, type: bigint}, tables: {users: user_id}}
reference: [plans]
unsharded: [jobs]
`

// Transactions that a client wrote are where it knows them to be, under a candidate, and an earlier run's are not counted again.
func TestWrites(t *testing.T) {
	ctx := t.Context()
	srv := pgserver.New(t, pgserver.Options{Major: 17, Settings: map[string]string{"wal_level": "logical"}})
	conn, err := pgx.Connect(ctx, srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // the server is stopped with the test
	exec := func(statements ...string) {
		t.Helper()
		for _, sql := range statements {
			if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	exec(walSchema)
	cat, err := catalog.Load("schema.sql", []byte(walSchema))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("by-org.yaml", []byte(walCandidate), cat)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w, err := analysis.OpenWarehouse(ctx, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "one.sql")
	if err := os.WriteFile(log, []byte("select * from orgs where org_id = 1;\nupdate files set org_id = 2 where file_id = 1 and org_id = 1;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := analysis.Ingest(ctx, w, []pglog.Input{{Path: log}}, cat, analysis.IngestOptions{Logs: pglog.Config{Format: pglog.SQL}}, nil); err != nil {
		t.Fatal(err)
	}
	follow := func(writes ...string) {
		t.Helper()
		w, err := analysis.OpenWarehouse(ctx, dir, false)
		if err != nil {
			t.Fatal(err)
		}
		stop, reading := make(chan struct{}), make(chan bool, 10)
		go func() {
			<-reading
			exec(writes...)
			close(stop)
		}()
		cfg := pgwal.Config{DSN: srv.DSN("postgres"), Dir: t.TempDir(), Create: true, Slot: "lasting", Tick: 20 * time.Millisecond, Reading: func(on bool) { reading <- on },
			Problem: func(err error) { t.Error(err) }}
		if err := analysis.FollowWAL(ctx, w, cat, analysis.WALOptions{IngestOptions: analysis.IngestOptions{Stream: "wal"}, WAL: cfg, Commit: time.Millisecond, Stop: stop}); err != nil {
			t.Fatal(err)
		}
	}
	follow("insert into orgs values (1, 'a')", // one key
		"begin; insert into orgs values (2, 'b'); insert into files values (1, 2, 'f'), (2, 2, 'f'); commit", // one key, two tables
		"insert into orgs values (3, 'c'), (4, 'd')",                                                         // two keys
		"begin; insert into files values (3, 3, 'f'); insert into users values (3, 'u'); commit",             // one value, two colos
		"insert into jobs values (1, 'new')",                                                                 // the original database
		"begin; update jobs set state = 'old'; insert into files values (4, 4, 'f'); commit",                 // it and a shard
		"insert into plans values (1, 'p')",                                                                  // every shard
		"truncate shares",                                                                                    // every shard
		"insert into strays values (1)")                                                                      // nobody knows
	exec("update files set body = 'g' where file_id = 1", // whether org_id changed is not in the WAL: it is not in the primary key
		"delete from files where file_id = 2", // nor is it for a delete
		"insert into shares values (1, 1)")    // one key
	follow("update shares set org_id = 2", // moved
		"update orgs set name = 'z' where org_id = 2") // one key; the key is in the primary key
	w, err = analysis.OpenWarehouse(ctx, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := analysis.BuildReport(ctx, w, cat, []*candidate.Candidate{cand}, analysis.ReportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Candidates[0].Writes
	if got == nil {
		t.Fatal("nothing was written")
	}
	want := analysis.WriteTransactions{Total: 14, OneShard: 5, OneKey: 4, OneShardUnlessMoved: 1, CrossShards: 6, Broadcast: 2, Unknown: 2}
	if got.Transactions != want {
		t.Errorf("transactions %+v, want %+v", got.Transactions, want)
	}
	text, err := json.Marshal(got.Tables)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Table, Placement                           string
		Inserts, Updates, Deletes, Truncates, Rows int64
		KeyUnknown                                 int64 `json:"key_unknown"`
		KeyMoves                                   int64 `json:"key_moves"`
		MovesBlind                                 int64 `json:"moves_blind"`
	}
	var tables []row
	if err := json.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	wantTables := []row{
		{Table: "public.files", Placement: "sharded", Inserts: 4, Updates: 1, Deletes: 1, Rows: 6, KeyUnknown: 1, MovesBlind: 1},
		{Table: "public.orgs", Placement: "sharded", Inserts: 4, Updates: 1, Rows: 5},
		{Table: "public.jobs", Placement: "unsharded", Inserts: 1, Updates: 1, Rows: 2},
		{Table: "public.shares", Placement: "sharded", Inserts: 1, Updates: 1, Truncates: 1, Rows: 2, KeyMoves: 1},
		{Table: "public.plans", Placement: "reference", Inserts: 1, Rows: 1},
		{Table: "public.strays", Placement: "undecided", Inserts: 1, Rows: 1},
		{Table: "public.users", Placement: "sharded", Inserts: 1, Rows: 1},
	}
	if len(tables) != len(wantTables) {
		t.Fatalf("%+v", tables)
	}
	for i := range tables {
		if tables[i] != wantTables[i] {
			t.Errorf("table %+v, want %+v", tables[i], wantTables[i])
		}
	}
	if len(got.Skew) != 2 || got.Skew[0].Rows != 12 || got.Skew[0].Unplaced != 1 || got.Skew[1].Rows != 1 || got.Rows != 18 {
		t.Errorf("%d rows, skew %+v", got.Rows, got.Skew)
	}
	keys := map[string]string{}
	for _, f := range r.Candidates[0].SchemaFindings {
		if f.Code == "key_update" {
			keys[f.Table+"."+f.Object] = f.Why
		}
	}
	if len(keys) != 2 || keys["public.shares.org_id"] == "" || keys["public.files.org_id"] == "" {
		t.Errorf("findings of changed keys: %v", keys)
	}
	if n := r.Ledger.Notes; n["wal_gap"] != 0 {
		t.Errorf("notes %v", n)
	}
}

// A warehouse that holds nothing but writes is reported, and says that no statement was judged; in a window without any it is no evidence.
func TestWritesAlone(t *testing.T) {
	ctx := t.Context()
	cat, err := catalog.Load("schema.sql", []byte(walSchema))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("by-org.yaml", []byte(walCandidate), cat)
	if err != nil {
		t.Fatal(err)
	}
	w, err := analysis.OpenWarehouse(ctx, t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	c := warehouse.Commit{Stream: "wal", Positions: []warehouse.Position{{Identity: "wal:d", Name: "wal d", Format: "wal", Offset: 1 << 40}}, WALRows: []warehouse.WALRow{{Minute: at, Database: "d", Table: "public.orgs", Op: "insert", Rows: 2, Bytes: 10, Transactions: 2}},
		WALColumns:      []warehouse.WALColumn{{Day: at, Table: "public.orgs", Column: "org_id", Op: "insert", Rows: 2}},
		WALSlots:        []warehouse.WALSlot{{Day: at, Table: "public.orgs", Column: "org_id", Slot: 7, Rows: 2}},
		WALShapes:       []warehouse.WALShape{{Shape: "s", Table: "public.orgs", Op: "insert", Column: "org_id", Symbol: 1}},
		WALTransactions: []warehouse.WALTransaction{{Day: at, Shape: "s", Count: 2, Rows: 2, Bytes: 10}}}
	if err := w.Commit(ctx, &c); err != nil {
		t.Fatal(err)
	}
	r, err := analysis.BuildReport(ctx, w, cat, []*candidate.Candidate{cand}, analysis.ReportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Candidates[0].Writes; r.Basis != analysis.BasisWAL || got == nil || got.Transactions.OneKey != 2 || got.Skew[0].MaxMean != 4 || !r.Window.From.Equal(at) {
		t.Errorf("%+v %+v", r, got)
	}
	if len(r.Sources) != 1 || r.Sources[0].Bytes != 0 || r.Sources[0].Offset != 1<<40 {
		t.Errorf("an LSN is no number of bytes that were read: %+v", r.Sources)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	// One look at statistics is nothing to compare with, and hides no writes; nor does retention that dropped the transactions first.
	if err := w.Commit(ctx, &warehouse.Commit{Stream: "s", Counted: []warehouse.CountedRow{{From: at, To: at, Source: "srv"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Retire(ctx, at, w.Snapshot().Files(warehouse.WALTransactions)); err != nil {
		t.Fatal(err)
	}
	r, err = analysis.BuildReport(ctx, w, cat, []*candidate.Candidate{cand}, analysis.ReportOptions{})
	if err != nil || r.Basis != analysis.BasisWAL || r.Candidates[0].Writes == nil || r.Candidates[0].Writes.Rows != 2 {
		t.Errorf("with one look: %+v, %v", r, err)
	}
	if _, err := analysis.BuildReport(ctx, w, cat, []*candidate.Candidate{cand}, analysis.ReportOptions{From: at.AddDate(1, 0, 0)}); !errors.Is(err, analysis.ErrNoEvidence) {
		t.Errorf("%v", err)
	}
}
