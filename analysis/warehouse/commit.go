package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Commit is rows, and the positions and state of the stream they come from. It is all there or not at all.
type Commit struct {
	Stream    string
	Positions []Position
	State     []byte // nil keeps the one before
	Ledger    Ledger

	Templates    []Template
	Facts        []Fact
	Rollups      []Rollup
	KeySlots     []KeySlot
	Signatures   []SignatureRow
	Transactions []Transaction
	Opaque       []OpaqueRow
	Schemas      []Schema
}

// rebases is how often a commit is tried again when writers of other streams are faster.
const rebases = 100

// Commit writes the files and then the manifest. If another writer took the manifest's number and wrote other streams only, it tries the next
// one; if it wrote the same stream the error is ErrConflict and nothing changed.
func (w *Warehouse) Commit(ctx context.Context, c *Commit) error {
	m := manifest{Format: Format, Stream: c.Stream, Positions: c.Positions, Ledger: c.Ledger}
	if err := w.writeFiles(ctx, c, &m); err != nil {
		return fmt.Errorf("commit to warehouse %q: %w", w.store.Place(), err)
	}
	if err := w.publish(ctx, &m); err != nil {
		return fmt.Errorf("commit to warehouse %q: %w", w.store.Place(), err)
	}
	return nil
}

func (w *Warehouse) writeFiles(ctx context.Context, c *Commit, m *manifest) error {
	number := w.snap.Head + 1
	ledger := c.Ledger.rows(c.Stream, c.Stream)
	for _, write := range []func() ([]File, error){
		func() ([]File, error) { return writeTable(ctx, w, number, Templates, c.Templates, compareTemplates) },
		func() ([]File, error) { return writeTable(ctx, w, number, Facts, c.Facts, compareFacts) },
		func() ([]File, error) { return writeDays(ctx, w, number, Rollups, c.Rollups, compareRollups) },
		func() ([]File, error) { return writeDays(ctx, w, number, KeySlots, c.KeySlots, compareKeySlots) },
		func() ([]File, error) { return writeTable(ctx, w, number, Signatures, c.Signatures, compareSignatures) },
		func() ([]File, error) {
			return writeDays(ctx, w, number, Transactions, c.Transactions, compareTransactions)
		},
		func() ([]File, error) { return writeDays(ctx, w, number, Opaque, c.Opaque, compareOpaque) },
		func() ([]File, error) { return writeTable(ctx, w, number, LedgerTable, ledger, compareLedger) },
		func() ([]File, error) { return writeTable(ctx, w, number, Schemas, c.Schemas, compareSchemas) },
	} {
		files, err := write()
		if err != nil {
			return err
		}
		m.Files = append(m.Files, files...)
	}
	if c.State == nil {
		return nil
	}
	f, err := w.putData(ctx, fmt.Sprintf("state/%010d", number), ".zst", pack(c.State))
	m.State = &f
	return err
}

// publish makes the manifest appear under the first free number.
func (w *Warehouse) publish(ctx context.Context, m *manifest) error {
	base := w.snap.Streams[m.Stream]
	for range rebases {
		m.Number, m.Parent = w.snap.Head+1, w.snap.head
		data, err := m.encode()
		if err != nil {
			return err
		}
		err = w.store.Create(ctx, manifestName(m.Number), data)
		switch {
		case err == nil:
			snap := w.snap.clone()
			if err := snap.follow(manifestName(m.Number), data); err != nil {
				return err
			}
			w.snap = snap
			return nil
		case !errors.Is(err, fs.ErrExist):
			return err
		}
		if _, err := w.Refresh(ctx); err != nil {
			return err
		}
		if now := w.snap.Streams[m.Stream]; commitOf(now) != commitOf(base) {
			return fmt.Errorf("manifest %d: stop one of the two, then run again (nothing is lost, nothing counted twice): %w",
				now.commit, ErrConflict)
		}
	}
	return fmt.Errorf("%d other writers were faster: run again: %w", rebases, ErrConflict)
}

func commitOf(s *Stream) int {
	if s == nil {
		return 0
	}
	return s.commit
}

type dayRow interface {
	row
	day() time.Time
}

// writeDays writes one file per day.
func writeDays[R dayRow](ctx context.Context, w *Warehouse, number int, table string, rows []R, compare func(a, b *R) int) ([]File, error) {
	days := map[string][]R{}
	for _, r := range rows {
		day := Day(r.day())
		days[day] = append(days[day], r)
	}
	var files []File
	for _, day := range slices.Sorted(maps.Keys(days)) {
		f, err := writeFile(ctx, w, fmt.Sprintf("%s/day=%s/%010d", table, day, number), table, days[day], compare)
		if err != nil {
			return nil, err
		}
		for _, r := range days[day] {
			t := r.day()
			if f.From.IsZero() || t.Before(f.From) {
				f.From = t
			}
			if t.After(f.To) {
				f.To = t
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// Day is the partition of a time: its UTC date, 1970-01-01 for the zero time.
func Day(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format(time.DateOnly)
}

func writeTable[R row](ctx context.Context, w *Warehouse, number int, table string, rows []R, compare func(a, b *R) int) ([]File, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	f, err := writeFile(ctx, w, fmt.Sprintf("%s/%010d", table, number), table, rows, compare)
	return []File{f}, err
}

func writeFile[R row](ctx context.Context, w *Warehouse, prefix, table string, rows []R, compare func(a, b *R) int) (File, error) {
	t, err := TableNamed(table)
	if err != nil {
		return File{}, err
	}
	sorted := make([]*R, len(rows))
	for i := range rows {
		sorted[i] = &rows[i]
	}
	slices.SortStableFunc(sorted, compare)
	data, err := encode(t, sorted)
	if err != nil {
		return File{}, err
	}
	f, err := w.putData(ctx, prefix, ".parquet", data)
	f.Table, f.Rows = table, int64(len(rows))
	return f, err
}

// putData writes a file whose name holds a hash of its content, so a taken name is the same file: left by a run that crashed before its
// manifest, or by a writer that lost.
func (w *Warehouse) putData(ctx context.Context, prefix, ext string, data []byte) (File, error) {
	sum := digest(data)
	f := File{Path: prefix + "-" + sum[:16] + ext, Bytes: int64(len(data)), SHA256: sum}
	if err := w.store.Create(ctx, f.Path, data); err != nil && !errors.Is(err, fs.ErrExist) {
		return File{}, err
	}
	return f, nil
}

// Cache returns a derived file; ok is false if it is absent or unreadable. Caches may be deleted at any time.
func (w *Warehouse) Cache(ctx context.Context, name string) (data []byte, ok bool) {
	data, err := w.store.Read(ctx, "derived/"+name)
	if err != nil {
		return nil, false
	}
	data, err = unpack(data)
	return data, err == nil
}

// SetCache writes a derived file.
func (w *Warehouse) SetCache(ctx context.Context, name string, data []byte) error {
	return w.store.Replace(ctx, "derived/"+name, pack(data))
}

// SetCacheFile writes a derived file as it is, for a query engine to read.
func (w *Warehouse) SetCacheFile(ctx context.Context, name string, data []byte) error {
	return w.store.Replace(ctx, "derived/"+name, data)
}

// DropCache removes a derived file.
func (w *Warehouse) DropCache(ctx context.Context, name string) error {
	return w.store.Remove(ctx, "derived/"+name)
}

// CacheURL is how a query engine names a derived file, and whether it is there.
func (w *Warehouse) CacheURL(ctx context.Context, name string) (url string, ok bool) {
	_, err := w.store.Size(ctx, "derived/"+name)
	return w.store.URL("derived/" + name), err == nil
}

func pack(data []byte) []byte {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	return e.EncodeAll(data, nil)
}

func unpack(data []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return out, nil
}
