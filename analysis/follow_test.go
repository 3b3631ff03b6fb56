package analysis

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/tail"
	"github.com/foreshard/foreshard/planner/catalog"
)

// following is an agent whose clock the test turns.
type following struct {
	t     *testing.T
	dir   string
	log   string
	now   time.Time
	lines int
	start tail.Start

	missing []Missing
}

func (f *following) write(n int) {
	f.t.Helper()
	file, err := os.OpenFile(f.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	for range n {
		f.lines++
		if _, err := fmt.Fprintf(file, "2026-01-02 10:00:00.%03d UTC [71] LOG:  duration: 1.000 ms  statement: select %d\n", f.lines%1000, f.lines); err != nil {
			f.t.Fatal(err)
		}
	}
}

// run follows the log, calls each at every look after the first, and drains when there are no more. It gives what the warehouse holds after
// each commit.
func (f *following) run(looks ...func()) (commits []int64, w *warehouse.Warehouse) {
	f.t.Helper()
	ctx := context.Background()
	w, err := OpenWarehouse(ctx, filepath.Join(f.dir, "w"), true)
	if err != nil {
		f.t.Fatal(err)
	}
	cat, err := catalog.Load("schema", []byte("create table t (id int);"))
	if err != nil {
		f.t.Fatal(err)
	}
	tick, stop, look := make(chan time.Time, 1), make(chan struct{}), 0
	o := FollowOptions{
		IngestOptions: IngestOptions{Logs: pglog.Config{Format: pglog.Stderr, Prefix: "%m [%p] "}, Workers: 1},
		Files:         tail.Options{Patterns: []string{f.log + "*"}, Start: f.start, Idle: time.Second, Now: func() time.Time { return f.now }},
		Commit:        10 * time.Second, Tick: tick, Stop: stop,
		Observe: func(s FollowStatus) {
			f.missing = append(f.missing, s.Missing...)
			switch {
			case look < len(looks):
				looks[look]()
				tick <- f.now
			case look == len(looks):
				close(stop)
			}
			look++
		},
	}
	_, err = Follow(ctx, w, cat, o, func(l Ledger) { commits = append(commits, l.Executions) })
	if err != nil {
		f.t.Fatal(err)
	}
	return commits, w
}

func newFollowing(t *testing.T) *following {
	dir := t.TempDir()
	return &following{t: t, dir: dir, log: filepath.Join(dir, "postgresql.log"), now: time.Now().Add(time.Hour)}
}

// Commits come by the clock; what a drain finds is committed at the end; the next run adds nothing but what is new.
func TestFollowCommits(t *testing.T) {
	f := newFollowing(t)
	f.write(5)
	pass := func(d time.Duration, n int) func() {
		return func() { f.now = f.now.Add(d); f.write(n) }
	}
	commits, w := f.run(pass(time.Second, 3), pass(2*time.Second, 0), pass(10*time.Second, 0), pass(time.Second, 4), pass(5*time.Second, 0))
	if fmt.Sprint(commits) != "[8 12]" || w.Snapshot().Ledger.Executions != 12 {
		t.Errorf("commits of %v executions, the warehouse has %d", commits, w.Snapshot().Ledger.Executions)
	}
	if commits, w = f.run(); len(commits) != 0 || w.Snapshot().Ledger.Executions != 12 {
		t.Errorf("nothing new, and commits of %v", commits)
	}
	f.write(2)
	if _, w = f.run(pass(5*time.Second, 0)); w.Snapshot().Ledger.Executions != 14 {
		t.Errorf("the warehouse has %d executions, want 14", w.Snapshot().Ledger.Executions)
	}
	// A rotated file that an analysis reads later, whole and under another name, is known.
	if err := os.Rename(f.log, f.log+".1"); err != nil {
		t.Fatal(err)
	}
	l, err := Ingest(context.Background(), w, []pglog.Input{{Path: f.log + ".1"}}, mustCatalog(t), IngestOptions{Logs: pglog.Config{Prefix: "%m [%p] "}}, nil)
	if err != nil || l.Executions != 0 {
		t.Errorf("read again: %d executions, %v", l.Executions, err)
	}
}

func mustCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	cat, err := catalog.Load("schema", []byte("create table t (id int);"))
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// An agent that starts at the end keeps that end before it reads anything.
func TestFollowFromTheEnd(t *testing.T) {
	f := newFollowing(t)
	f.start = tail.End
	f.write(5)
	if _, w := f.run(); w.Snapshot().Ledger.Executions != 0 || len(w.Snapshot().Streams[""].Positions) != 1 {
		t.Errorf("%d executions, positions %v", w.Snapshot().Ledger.Executions, w.Snapshot().Streams[""].Positions)
	}
	f.write(3)
	if _, w := f.run(func() { f.now = f.now.Add(5 * time.Second) }); w.Snapshot().Ledger.Executions != 3 {
		t.Errorf("%d executions, want 3", w.Snapshot().Ledger.Executions)
	}
}

// A file that is deleted while the agent is down takes what was not read of it along, and the next run says so.
func TestFollowMissing(t *testing.T) {
	f := newFollowing(t)
	f.write(5)
	f.now = time.Now()
	f.run() // the last record could still grow
	if err := os.Remove(f.log); err != nil {
		t.Fatal(err)
	}
	f.write(5)
	f.run()
	if len(f.missing) != 1 || f.missing[0].Name != f.log || f.missing[0].Bytes == 0 {
		t.Errorf("missing %v", f.missing)
	}
}
