package upkeep_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/upkeep"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// shop is the shipped application: its schema, a candidate and its traffic.
type shop struct {
	cat  *catalog.Catalog
	cand *candidate.Candidate
	log  string // file
}

func shipped(t testing.TB) shop {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "..", "fixtures", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	cat, err := catalog.Load("schema.sql", read("app/schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("by-org.yaml", read("app/candidates/by-org.yaml"), cat)
	if err != nil {
		t.Fatal(err)
	}
	d, err := zstd.NewReader(bytes.NewReader(read("traffic/atelier.log.zst")))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	log := filepath.Join(t.TempDir(), "atelier.log")
	f, err := os.Create(log)
	if err == nil {
		_, err = io.Copy(f, d)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return shop{cat, cand, log}
}

// read reads the log into a warehouse with a commit for so many events.
func (s shop) read(t testing.TB, w *warehouse.Warehouse, events int64) {
	t.Helper()
	o := analysis.IngestOptions{Logs: pglog.Config{Prefix: "%m [%p] [user=%u,db=%d,app=%a] ", ChunkSize: 384 << 10}, MaxEvents: events}
	if _, err := analysis.Ingest(t.Context(), w, []pglog.Input{{Path: s.log, Name: "atelier.log"}}, s.cat, o, nil); err != nil {
		t.Fatal(err)
	}
}

func (s shop) report(t testing.TB, root string, o analysis.ReportOptions) string {
	t.Helper()
	r, err := analysis.BuildReport(t.Context(), openDir(t, root), s.cat, []*candidate.Candidate{s.cand}, o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func openDir(t testing.TB, root string) *warehouse.Warehouse {
	t.Helper()
	w, err := analysis.OpenWarehouse(t.Context(), root, true)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func run(t testing.TB, root string, o upkeep.Options) upkeep.Result {
	t.Helper()
	r, err := upkeep.Run(t.Context(), openDir(t, root), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The shipped traffic in many small commits: the report is the same to the byte before and after files are merged, after the old ones are
// deleted, with caches from before and without.
func TestCompactionDoesNotShow(t *testing.T) {
	s := shipped(t)
	root := filepath.Join(t.TempDir(), "w")
	s.read(t, openDir(t, root), 400)
	noCache, cached := analysis.ReportOptions{}, analysis.ReportOptions{PlannerVersion: "test"}
	want := s.report(t, root, cached)
	same := func(when string) {
		t.Helper()
		if got := s.report(t, root, cached); got != want {
			t.Errorf("%s: the report differs", when)
		}
		if err := os.RemoveAll(filepath.Join(root, "derived")); err != nil {
			t.Fatal(err)
		}
		if got := s.report(t, root, noCache); got != want {
			t.Errorf("%s, without caches: the report differs", when)
		}
	}
	reader := openDir(t, root)
	before := len(reader.Snapshot().Files(warehouse.Rollups))
	now := time.Now()
	o := upkeep.Options{Now: func() time.Time { return now }, Grace: time.Hour, Compact: true}
	r := run(t, root, o)
	if before < 50 || r.Inputs < 300 || r.After >= r.Before {
		t.Errorf("%d files of rollups: %+v; the test shows nothing", before, r)
	}
	base, err := os.ReadFile(filepath.Join(root, "derived", "base.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.report(t, root, cached); got != want {
		t.Error("merged: the report differs")
	}
	if after, err := os.ReadFile(filepath.Join(root, "derived", "base.json")); err != nil || bytes.Equal(after, base) || version(t, after) != version(t, base) {
		t.Errorf("the sums of before do not serve after: %s", after)
	}
	same("merged")
	o.Full = true
	now = now.Add(2 * time.Hour)
	run(t, root, o)
	same("merged in full")
	now = now.Add(2 * time.Hour)
	if r := run(t, root, o); r.Swept.Deleted < before {
		t.Errorf("deleted: %+v", r.Swept)
	}
	same("deleted")
	for _, table := range warehouse.Tables() {
		if n := len(openDir(t, root).Snapshot().Files(table.Name)); n > 1 {
			t.Errorf("table %s: %d files are left of one day", table.Name, n)
		}
	}
	// A reader from before everything.
	late, err := analysis.BuildReport(t.Context(), reader, s.cat, []*candidate.Candidate{s.cand}, noCache)
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := json.MarshalIndent(late, "", " "); string(data) != want {
		t.Error("a reader of the files that are gone: the report differs")
	}
}

// version is that of the cached sums.
func version(t *testing.T, index []byte) string {
	t.Helper()
	d, err := zstd.NewReader(bytes.NewReader(index))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var x struct{ Version string }
	if err := json.NewDecoder(d).Decode(&x); err != nil {
		t.Fatal(err)
	}
	return x.Version
}

// Days that are dropped are in the ledger, and the report speaks of those that are left.
func TestRetentionIsTold(t *testing.T) {
	s := shipped(t)
	root := filepath.Join(t.TempDir(), "w")
	lines, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	lines = lines[:bytes.LastIndexByte(lines[:2<<20], '\n')+1]
	day := string(lines[:10])
	const day24 = 24 * time.Hour
	earlier := "2026-01-05"
	if err := os.WriteFile(s.log, append([]byte(strings.ReplaceAll(string(lines), "\n"+day, "\n"+earlier)), lines...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.read(t, openDir(t, root), 1000)
	before := openDir(t, root).Snapshot().Ledger
	s.report(t, root, analysis.ReportOptions{PlannerVersion: "test"}) // whose sums must not be taken afterwards
	today, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	retain, err := upkeep.ParseRetention("rollups=30d", "60d")
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, root, upkeep.Options{Now: func() time.Time { return today.Add(36 * time.Hour) }, Retain: retain})
	snap := openDir(t, root).Snapshot()
	gone := snap.Ledger.Retired[warehouse.Rollups] + snap.Ledger.Retired[warehouse.Opaque]
	if r.Dropped == 0 || gone < 1000 || snap.Executions()+gone != before.Executions || snap.Ledger.Retired[warehouse.Transactions] == 0 || snap.Ledger.Retired[warehouse.KeySlots] == 0 {
		t.Fatalf("%+v; ledger %+v", r, snap.Ledger)
	}
	var report analysis.Report
	if err := json.Unmarshal([]byte(s.report(t, root, analysis.ReportOptions{PlannerVersion: "test"})), &report); err != nil {
		t.Fatal(err)
	}
	if got := report.Window.From.Format(time.DateOnly); got != day {
		t.Errorf("the window begins at %s, want %s", got, day)
	}
	if total := int64(report.Candidates[0].Calls.Total); total != before.Executions-gone || report.Ledger.Executions != before.Executions {
		t.Errorf("%d calls are judged, want %d of %d", total, before.Executions-gone, before.Executions)
	}
	if ahead := run(t, root, upkeep.Options{Now: func() time.Time { return today.Add(1000 * day24) }, Retain: retain}); ahead.Dropped != 0 {
		t.Errorf("a clock that jumped ahead dropped days: %+v", ahead)
	}
	if again := run(t, root, upkeep.Options{Now: func() time.Time { return today.Add(36 * time.Hour) }, Retain: retain}); again.Dropped != 0 {
		t.Errorf("dropped again: %+v", again)
	}
}

// What is not of a log ages as well, where there is no log and where it ended long ago.
func TestRetentionWithoutALog(t *testing.T) {
	root := t.TempDir()
	w := openDir(t, root)
	for _, days := range []int{0, 50} {
		at := begin.AddDate(0, 0, days)
		c := &warehouse.Commit{Stream: "wal", WALRows: []warehouse.WALRow{{Minute: at, Table: "public.t", Op: "insert", Rows: 3}}}
		if err := w.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, root, upkeep.Options{Now: func() time.Time { return begin.AddDate(1, 0, 0) }, Retain: upkeep.Retention{warehouse.WALRows: 30 * 24 * time.Hour}})
	if left := openDir(t, root).Snapshot().Files(warehouse.WALRows); r.Dropped != 1 || r.Retired[warehouse.WALRows] != 3 || len(left) != 1 {
		t.Errorf("%+v; %d files are left", r, len(left))
	}
}

func TestParseRetention(t *testing.T) {
	for _, c := range []struct{ list, all, want string }{
		{"rollups=90d,key_slots=12w", "", ""},
		{"", "400d", ""},
		{"rollups=48h", "400d", ""},
		{"", "", ""},
		{"templates=90d", "", "tables with days are"},
		{"rollups", "", "write TABLE=AGE"},
		{"rollups=5d,key_slots=5d,rollups=6d", "", "named twice"},
		{"rollups=12h", "", "give 1d or more"},
		{"rollups=-3d", "", "give 1d or more"},
		{"rollups=ninety", "", "does not read"},
		{"", "99999999d", "does not read"},
	} {
		r, err := upkeep.ParseRetention(c.list, c.all)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q, %q: got %v, want an error that says %q", c.list, c.all, err, c.want)
		case c.want == "" && c.all == "" && len(r) != strings.Count(c.list, "="):
			t.Errorf("%q: got %v", c.list, r)
		case c.list == "rollups=48h" && (r[warehouse.Rollups] != 48*time.Hour || r[warehouse.Opaque] != 400*24*time.Hour):
			t.Errorf("%q, %q: got %v", c.list, c.all, r)
		}
	}
}

// One of several processes does the work of a span of time.
func TestLease(t *testing.T) {
	root := t.TempDir()
	now := time.Date(2026, 3, 1, 10, 1, 0, 0, time.UTC)
	o := upkeep.Options{Now: func() time.Time { return now }, Grace: time.Hour, Compact: true, Lease: 10 * time.Minute}
	if a, b := run(t, root, o), run(t, root, o); a.Idle || !b.Idle {
		t.Errorf("got %+v and %+v, want work and none", a, b)
	}
	now = now.Add(10 * time.Minute)
	if r := run(t, root, o); r.Idle {
		t.Error("nobody works in the next span")
	}
}
