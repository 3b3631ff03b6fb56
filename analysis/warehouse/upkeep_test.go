package warehouse_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

const grace = time.Hour

// later is a time at which everything written so far is older than the grace; n of them follow each other.
func later(n int) time.Time { return time.Now().Add(time.Duration(n) * (grace + time.Minute)) }

func sweep(t testing.TB, w *warehouse.Warehouse, at time.Time) warehouse.Swept {
	t.Helper()
	s, err := w.Sweep(ctx, at, grace)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func exists(t testing.TB, root, name string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(root, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return err == nil
}

// What a crash left is condemned when it is old, and deleted a grace later; what is young may be a writer's that has not committed yet.
func TestSweepRemovesWhatACrashLeft(t *testing.T) {
	root := t.TempDir()
	w := open(t, dir(t, root))
	mustCommit(t, w, commitOf("a", 10, 3))
	mustCommit(t, w, commitOf("a", 20, 3)) // the first state is not needed any more
	const orphan, half = "rollups/day=2026-01-02/0000000002-0123456789abcdef.parquet", "rollups/day=2026-01-02/.new-123"
	write(t, root, orphan, "orphan")
	write(t, root, half, "half")
	write(t, root, "mine/notes.txt", "somebody's")
	if s := sweep(t, w, time.Now()); s != (warehouse.Swept{}) || !exists(t, root, half) {
		t.Errorf("young files: %+v", s)
	}
	if s := sweep(t, w, later(1)); s.Condemned != 2 || s.Deleted != 0 || !exists(t, root, orphan) || exists(t, root, half) {
		t.Errorf("old files: %+v", s)
	}
	if s := sweep(t, w, later(2)); s.Condemned != 0 || s.Deleted != 2 || exists(t, root, orphan) || !exists(t, root, "mine/notes.txt") {
		t.Errorf("condemned files: %+v", s)
	}
	if s := sweep(t, w, later(3)); s != (warehouse.Swept{}) {
		t.Errorf("nothing to do: %+v", s)
	}
	if err := open(t, dir(t, root)).Snapshot().Verify(ctx); err != nil {
		t.Error(err)
	}
}

// A writer that slept between its files and its manifest finds them condemned, and writes them again.
func TestSweepBesideASleepingWriter(t *testing.T) {
	root := t.TempDir()
	open(t, dir(t, root))
	sweeper := open(t, dir(t, root))
	store := &between{Storage: dir(t, root)}
	writer := open(t, store)
	store.before = func(name string) {
		if strings.HasPrefix(name, "manifests/") && store.calls == 0 {
			store.calls++
			if s := sweep(t, sweeper, later(1)); s.Condemned == 0 {
				t.Error("the files of the sleeping writer are not condemned; the test shows nothing")
			}
			sweep(t, sweeper, later(2)) // and gone
		}
	}
	mustCommit(t, writer, commitOf("a", 10, 3))
	s := open(t, dir(t, root)).Snapshot()
	if err := s.Verify(ctx); err != nil || s.Ledger.Executions != 3 || len(s.Files(warehouse.Rollups)) != 1 {
		t.Errorf("got %d executions in %d files, %v", s.Ledger.Executions, len(s.Files(warehouse.Rollups)), err)
	}
	if s.Version() != writer.Snapshot().Version() {
		t.Error("the writer does not see what it wrote")
	}
}

// Two writers sleep while their files and the manifests after their snapshot go away. The first puts a manifest into the hole and finds out; the
// second finds that one there.
func TestSleepingWritersMeetInThePast(t *testing.T) {
	root := t.TempDir()
	mustCommit(t, open(t, dir(t, root)), commitOf("c", 1, 1))
	first := open(t, dir(t, root))
	store := &between{Storage: dir(t, root)}
	second := open(t, store)
	store.before = func(name string) {
		if store.calls++; strings.HasPrefix(name, "manifests/") && store.before != nil {
			store.before = nil
			sweeper := open(t, dir(t, root))
			if s := sweep(t, sweeper, later(1)); s.Condemned == 0 {
				t.Error("the files of the second writer are not condemned; the test shows nothing")
			}
			sweep(t, sweeper, later(2)) // and gone
			prune(t, root, 25)
			mustCommit(t, first, commitOf("a", 10, 3))
		}
	}
	mustCommit(t, second, commitOf("d", 10, 4))
	s := open(t, dir(t, root)).Snapshot()
	if err := s.Verify(ctx); err != nil || s.Ledger.Executions != 33 || s.Version() != second.Snapshot().Version() {
		t.Errorf("got %d executions, want 33; %v", s.Ledger.Executions, err)
	}
}

// between is a store that calls before each Create.
type between struct {
	warehouse.Storage
	before func(name string)
	calls  int
}

func (b *between) Create(ctx context.Context, name string, data []byte) error {
	if b.before != nil {
		b.before(name)
	}
	return b.Storage.Create(ctx, name, data)
}

// prune makes n commits with checkpoints and lets the sweep remove the manifests before them.
func prune(t testing.TB, root string, n int) {
	t.Helper()
	w := open(t, dir(t, root))
	for i := range n {
		mustCommit(t, w, commitOf("b", int64(i+1), 1))
		if i%5 == 4 {
			if err := w.Checkpoint(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := sweep(t, w, later(1)); s.Manifests == 0 || s.Checkpoints == 0 {
		t.Fatalf("nothing was pruned: %+v", s)
	}
	if exists(t, root, "manifests/0000000001.json") {
		t.Fatal("manifest 1 is still there")
	}
}

// A writer whose next manifest's name is free because it was removed must not commit there.
func TestWriterThatSleptWhileManifestsWentAway(t *testing.T) {
	root := t.TempDir()
	mustCommit(t, open(t, dir(t, root)), commitOf("a", 10, 3))
	sleeper, reader, rival := open(t, dir(t, root)), open(t, dir(t, root)), open(t, dir(t, root))
	prune(t, root, 25)
	mustCommit(t, sleeper, commitOf("a", 20, 4))
	for name, w := range map[string]*warehouse.Warehouse{"sleeper": sleeper, "reader": reader, "new": open(t, dir(t, root))} {
		s, err := w.Refresh(ctx)
		if err != nil || s.Ledger.Executions != 32 || s.Streams["a"].Positions["a"].Offset != 20 || s.Streams["b"].Positions["b"].Offset != 25 {
			t.Errorf("%s: got %+v, %v", name, s.Ledger, err)
		}
		if err := s.Verify(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := rival.Commit(ctx, commitOf("a", 20, 4)); !errors.Is(err, warehouse.ErrConflict) {
		t.Errorf("a second writer of the stream: got %v, want %v", err, warehouse.ErrConflict)
	}
	if got := open(t, dir(t, root)).Snapshot().Ledger.Executions; got != 32 {
		t.Errorf("got %d executions after the conflict, want 32", got)
	}
}

// Whoever commits writes a checkpoint now and then, and Open begins there.
func TestOpenBeginsAtACheckpoint(t *testing.T) {
	root := t.TempDir()
	w := open(t, dir(t, root))
	for i := range 205 {
		mustCommit(t, w, commitOf("a", int64(i+1), 1))
	}
	names, err := filepath.Glob(filepath.Join(root, "checkpoints", "*"))
	if err != nil || len(names) != 2 {
		t.Fatalf("checkpoints: %q, %v, want 2", names, err)
	}
	if err := os.Remove(filepath.Join(root, "manifests", "0000000007.json")); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir(t, root)).Snapshot()
	if s.Version() != w.Snapshot().Version() || s.Ledger.Executions != 205 || len(s.Files(warehouse.Rollups)) != 205 {
		t.Errorf("got head %d, %d executions", s.Head, s.Ledger.Executions)
	}
}

func TestDamagedCheckpoint(t *testing.T) {
	root := t.TempDir()
	mustCommit(t, open(t, dir(t, root)), commitOf("a", 10, 3))
	prune(t, root, 25)
	want := open(t, dir(t, root)).Snapshot().Version()
	names, err := filepath.Glob(filepath.Join(root, "checkpoints", "*"))
	if err != nil || len(names) < 3 {
		t.Fatalf("checkpoints: %q, %v", names, err)
	}
	slices.Sort(names)
	slices.Reverse(names)
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := warehouse.Open(ctx, dir(t, root), warehouse.Options{})
		switch {
		case i < len(names)-1 && (err != nil || w.Snapshot().Version() != want):
			t.Errorf("%d checkpoints are damaged: %v", i+1, err)
		case i == len(names)-1 && (!errors.Is(err, warehouse.ErrCorrupt) || !strings.Contains(err.Error(), "restore") || strings.Contains(err.Error(), "\n")):
			t.Errorf("all checkpoints are damaged: got %v, want one clear message", err)
		}
	}
}

// A warehouse of a program that knew no checkpoints is pruned like any other, and such a program refuses it from then on.
func TestPruneRaisesTheFormat(t *testing.T) {
	root := t.TempDir()
	open(t, dir(t, root))
	name := filepath.Join(root, "manifests", "0000000000.json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	now := fmt.Sprintf(`"format": %d`, warehouse.Format)
	if err := os.WriteFile(name, []byte(strings.Replace(string(data), now, `"format": 1`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	mustCommit(t, open(t, dir(t, root)), commitOf("a", 1, 1))
	first, err := os.ReadFile(filepath.Join(root, "manifests", "0000000001.json"))
	if err != nil {
		t.Fatal(err)
	}
	prune(t, root, 25)
	if data, err = os.ReadFile(name); err != nil || !strings.Contains(string(data), now) {
		t.Errorf("manifest 0 is %s, %v", data, err)
	}
	if got := open(t, dir(t, root)).Snapshot().Ledger.Executions; got != 26 {
		t.Errorf("got %d executions, want 26", got)
	}
	// The manifests that were made before still follow it; and a warehouse without its checkpoints is damaged, not empty.
	kept := filepath.Join(root, "manifests", "0000000001.json")
	if err := os.WriteFile(kept, first, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root, "checkpoints")); err != nil {
		t.Fatal(err)
	}
	if _, err := warehouse.Open(ctx, dir(t, root), warehouse.Options{}); !errors.Is(err, warehouse.ErrCorrupt) || !strings.Contains(err.Error(), "from 2 on are gone") {
		t.Errorf("without checkpoints: got %v, want manifest 1 and no further one", err)
	}
}

// A manifest that is missing is found, whether or not the later ones can be reached by a checkpoint.
func TestMissingManifest(t *testing.T) {
	root := t.TempDir()
	w := open(t, dir(t, root))
	for i := range 5 {
		mustCommit(t, w, commitOf("a", int64(i+1), 1))
	}
	if err := os.Remove(filepath.Join(root, "manifests", "0000000003.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := warehouse.Open(ctx, dir(t, root), warehouse.Options{}); !errors.Is(err, warehouse.ErrCorrupt) {
		t.Errorf("without checkpoints: got %v, want %v", err, warehouse.ErrCorrupt)
	}
	if err := w.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		mustCommit(t, w, commitOf("a", int64(i+6), 1))
	}
	if err := os.Remove(filepath.Join(root, "manifests", "0000000007.json")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(t, dir(t, root)).VerifyChain(ctx); !errors.Is(err, warehouse.ErrCorrupt) || !strings.Contains(err.Error(), "0000000007") {
		t.Errorf("after a checkpoint: got %v, want %v", err, warehouse.ErrCorrupt)
	}
}

// Keys, folds and order of every table fit together: what is neither a key nor folded would be lost.
func TestEveryColumnIsKeyOrFolded(t *testing.T) {
	for _, table := range warehouse.Tables() {
		if len(table.Keys) == 0 {
			if len(table.Folds) > 0 {
				t.Errorf("table %s has folds and no keys", table.Name)
			}
			continue
		}
		if !slices.Equal(table.Sort, table.Keys[:min(len(table.Sort), len(table.Keys))]) {
			t.Errorf("table %s: the keys %q do not begin with the order %q of its files", table.Name, table.Keys, table.Sort)
		}
		names := map[string]bool{}
		for _, c := range table.Columns {
			names[c.Name] = true
			if key := slices.Contains(table.Keys, c.Name); key == (table.Folds[c.Name] != 0) {
				t.Errorf("column %s.%s: a key %t, a fold %d; want one of them", table.Name, c.Name, key, table.Folds[c.Name])
			}
		}
		for _, k := range table.Keys {
			if !names[k] {
				t.Errorf("table %s has the key %s, which is no column", table.Name, k)
			}
		}
		if table.Count != "" && table.Folds[table.Count] != warehouse.Sum {
			t.Errorf("table %s counts %s, which is no sum", table.Name, table.Count)
		}
	}
}
