package warehouse_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

var (
	ctx     = context.Background()
	testKey = [32]byte{7}
	minute  = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
)

func dir(t testing.TB, path string) *warehouse.Dir {
	t.Helper()
	d, err := warehouse.NewDir(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func open(t testing.TB, s warehouse.Storage) *warehouse.Warehouse {
	t.Helper()
	w, err := warehouse.Open(ctx, s, warehouse.Options{Create: true, Key: &testKey})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// commitOf is a commit of n calls of one stream.
func commitOf(stream string, offset, calls int64) *warehouse.Commit {
	return &warehouse.Commit{
		Stream:    stream,
		State:     []byte(stream + " state"),
		Positions: []warehouse.Position{{Identity: stream, Name: stream + ".log", Offset: offset}},
		Ledger:    warehouse.Ledger{Executions: calls, Bytes: offset},
		Rollups:   []warehouse.Rollup{{Minute: minute, Template: "t", Calls: calls}},
	}
}

func mustCommit(t testing.TB, w *warehouse.Warehouse, c *warehouse.Commit) {
	t.Helper()
	if err := w.Commit(ctx, c); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(t *testing.T, root string)
		want    error
		says    string
	}{
		{"a directory of somebody else", func(t *testing.T, root string) { write(t, root, "notes.txt", "mine") },
			warehouse.ErrForeign, `it holds "notes.txt"`},
		{"a newer format", func(t *testing.T, root string) {
			open(t, dir(t, root))
			write(t, root, "manifests/0000000001.json", `{"format": 99, "number": 1, "whatever": []}`)
		}, warehouse.ErrNewer, "upgrade foreshard"},
		{"a manifest that is no JSON", func(t *testing.T, root string) {
			open(t, dir(t, root))
			write(t, root, "manifests/0000000001.json", "\x00\x00")
		}, warehouse.ErrCorrupt, "0000000001.json"},
		{"a manifest of another warehouse", func(t *testing.T, root string) {
			mustCommit(t, open(t, dir(t, root)), commitOf("a", 1, 1))
			write(t, root, "manifests/0000000002.json", `{"format":1,"number":2,"parent":"beef","files":null,"positions":null,"stream":"","ledger":{}}`)
		}, warehouse.ErrCorrupt, "does not follow"},
		{"a cut data file", func(t *testing.T, root string) {
			w := open(t, dir(t, root))
			mustCommit(t, w, commitOf("a", 1, 1))
			path := w.Snapshot().URLs(warehouse.Rollups)[0]
			if err := os.Truncate(path, 10); err != nil {
				t.Fatal(err)
			}
		}, warehouse.ErrCorrupt, "has 10 bytes"},
		{"a missing data file", func(t *testing.T, root string) {
			w := open(t, dir(t, root))
			mustCommit(t, w, commitOf("a", 1, 1))
			if err := os.Remove(w.Snapshot().URLs(warehouse.Rollups)[0]); err != nil {
				t.Fatal(err)
			}
		}, warehouse.ErrCorrupt, "is missing"},
		{"another key", func(t *testing.T, root string) {
			open(t, dir(t, root))
			if err := os.Remove(filepath.Join(root, "key")); err != nil {
				t.Fatal(err)
			}
			write(t, root, "key", strings.Repeat("k", 32))
		}, warehouse.ErrCorrupt, "not the key"},
		{"a key that was cut", func(t *testing.T, root string) {
			open(t, dir(t, root))
			write(t, root, "key", "short")
		}, warehouse.ErrCorrupt, "5 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			tt.prepare(t, root)
			_, err := warehouse.Open(ctx, dir(t, root), warehouse.Options{Create: true})
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), root) {
				t.Errorf("got %v, want %v that says %q and names the place", err, tt.want, tt.says)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the message has several lines: %q", err)
			}
		})
	}
}

func write(t *testing.T, root, name, data string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpenWithoutCreateMakesNothing(t *testing.T) {
	root := t.TempDir()
	if _, err := warehouse.Open(ctx, dir(t, root), warehouse.Options{}); !errors.Is(err, warehouse.ErrAbsent) {
		t.Errorf("got %v, want %v", err, warehouse.ErrAbsent)
	}
	if names, _ := os.ReadDir(root); len(names) > 0 {
		t.Errorf("left %v behind", names)
	}
}

func TestKeyIsPrivateAndRandom(t *testing.T) {
	var keys [2][16]byte
	for i := range keys {
		root := t.TempDir()
		w, err := warehouse.Open(ctx, dir(t, root), warehouse.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = w.HashKey("values")
		info, err := os.Stat(filepath.Join(root, "key"))
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
			t.Errorf("key file: %v %v, want 32 bytes of mode 0600", info, err)
		}
		again := open(t, dir(t, root))
		if again.HashKey("values") != keys[i] || again.HashKey("other") == keys[i] {
			t.Error("a purpose has one key, and two purposes two")
		}
	}
	if keys[0] == keys[1] {
		t.Error("two warehouses have one key")
	}
}

func TestCommitIsSeenByTheNextOpen(t *testing.T) {
	root := t.TempDir()
	w := open(t, dir(t, root))
	mustCommit(t, w, commitOf("a", 10, 3))
	mustCommit(t, w, commitOf("a", 20, 4))
	mustCommit(t, w, commitOf("b", 5, 5))
	s := open(t, dir(t, root)).Snapshot()
	if s.Head != 3 || s.Ledger.Executions != 12 || s.Streams["a"].Positions["a"].Offset != 20 || s.Streams["b"].Positions["b"].Offset != 5 {
		t.Errorf("got head %d, ledger %+v, streams %v", s.Head, s.Ledger, s.Streams)
	}
	if s.Version() != w.Snapshot().Version() {
		t.Error("a writer and a reader do not see one version")
	}
	if data, err := s.State(ctx, "a"); err != nil || string(data) != "a state" {
		t.Errorf("state: got %q, %v", data, err)
	}
	if err := s.Verify(ctx); err != nil {
		t.Error(err)
	}
}

func TestVerifyFindsAChangedByte(t *testing.T) {
	w := open(t, dir(t, t.TempDir()))
	mustCommit(t, w, commitOf("a", 10, 3))
	path := w.Snapshot().URLs(warehouse.Rollups)[0]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.Snapshot().Verify(ctx); !errors.Is(err, warehouse.ErrCorrupt) {
		t.Errorf("got %v, want %v", err, warehouse.ErrCorrupt)
	}
}

// Two writers of one stream read the same bytes: only one of them may count.
func TestTwoWritersOfOneStream(t *testing.T) {
	root := t.TempDir()
	first, second := open(t, dir(t, root)), open(t, dir(t, root))
	mustCommit(t, first, commitOf("a", 10, 3))
	err := second.Commit(ctx, commitOf("a", 10, 3))
	if !errors.Is(err, warehouse.ErrConflict) {
		t.Fatalf("got %v, want %v", err, warehouse.ErrConflict)
	}
	s := open(t, dir(t, root)).Snapshot()
	if s.Ledger.Executions != 3 || len(s.Files(warehouse.Rollups)) != 1 {
		t.Errorf("got %d executions in %d files, want 3 in 1", s.Ledger.Executions, len(s.Files(warehouse.Rollups)))
	}
}

func TestManyWritersOfManyStreams(t *testing.T) {
	root := t.TempDir()
	open(t, dir(t, root))
	const writers, commits = 8, 5
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		w := open(t, dir(t, root))
		wg.Go(func() {
			for n := range int64(commits) {
				errs[i] = errors.Join(errs[i], w.Commit(ctx, commitOf(fmt.Sprint("s", i), n+1, 1)))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir(t, root)).Snapshot()
	if s.Head != writers*commits || s.Ledger.Executions != writers*commits {
		t.Errorf("got %d commits and %d executions, want %d of both", s.Head, s.Ledger.Executions, writers*commits)
	}
}

// full is a store that fails from the n-th write on, as a full disk does.
type full struct {
	warehouse.Storage
	left int
}

func (f *full) Create(ctx context.Context, name string, data []byte) error {
	if f.left--; f.left < 0 {
		return &fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
	}
	return f.Storage.Create(ctx, name, data)
}

// Whatever write fails, the warehouse is as it was before the commit, and the commit can be made again.
func TestFullDiskLeavesTheWarehouseIntact(t *testing.T) {
	root := t.TempDir()
	mustCommit(t, open(t, dir(t, root)), commitOf("a", 10, 3))
	before := open(t, dir(t, root)).Snapshot()
	for left := 0; ; left++ {
		w := open(t, &full{dir(t, root), left})
		err := w.Commit(ctx, commitOf("a", 20, 4))
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("write %d: got %v, want one clear message of the full disk", left, err)
		}
		after := open(t, dir(t, root)).Snapshot()
		if after.Version() != before.Version() || w.Snapshot().Version() != before.Version() {
			t.Fatalf("write %d: the failed commit shows", left)
		}
		if err := after.Verify(ctx); err != nil {
			t.Fatal(err)
		}
		if left > 20 {
			t.Fatal("a commit has more than 20 writes")
		}
	}
	if got := open(t, dir(t, root)).Snapshot().Ledger.Executions; got != 7 {
		t.Errorf("got %d executions, want 7", got)
	}
}

func TestSameRowsSameBytes(t *testing.T) {
	var files [2][]warehouse.File
	for i := range files {
		w := open(t, dir(t, t.TempDir()))
		c := commitOf("a", 1, 1)
		for n := range 50 {
			c.Rollups = append(c.Rollups, warehouse.Rollup{Minute: minute, Template: fmt.Sprint(n), Calls: 1, Latency: warehouse.Histogram{n: 1, 2 * n: 3}})
		}
		if i == 1 {
			slices.Reverse(c.Rollups)
		}
		mustCommit(t, w, c)
		files[i] = w.Snapshot().Files(warehouse.Rollups)
	}
	if files[0][0].SHA256 != files[1][0].SHA256 {
		t.Error("the order in which rows arrive shows in the file")
	}
}

func TestBucketsCoverAllDurations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Int64Range(0, 1<<50).Draw(t, "us")
		low, high := warehouse.BucketBounds(warehouse.Bucket(us))
		if us < low || us >= high {
			t.Fatalf("%d us is in the bucket [%d, %d)", us, low, high)
		}
		if us >= 16 && (high-low)*8 > low {
			t.Fatalf("bucket [%d, %d) is wider than an eighth", low, high)
		}
	})
	for b := range 300 {
		_, high := warehouse.BucketBounds(b)
		if low, _ := warehouse.BucketBounds(b + 1); low != high {
			t.Fatalf("bucket %d ends at %d and the next begins at %d", b, high, low)
		}
	}
}

func TestEveryColumnIsDocumented(t *testing.T) {
	text := warehouse.Columns()
	for _, table := range warehouse.Tables() {
		if table.Doc == "" || !strings.Contains(text, "### `"+table.Name+"`") {
			t.Errorf("table %s has no section", table.Name)
		}
		for _, c := range table.Columns {
			if c.Doc == "" {
				t.Errorf("column %s.%s has no sentence", table.Name, c.Name)
			}
		}
		for _, s := range table.Sort {
			if !slices.ContainsFunc(table.Columns, func(c warehouse.Column) bool { return c.Name == s }) {
				t.Errorf("table %s is sorted by %s, which it lacks", table.Name, s)
			}
		}
	}
}
