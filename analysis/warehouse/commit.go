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
	Counted      []CountedRow

	WALRows         []WALRow
	WALColumns      []WALColumn
	WALSlots        []WALSlot
	WALShapes       []WALShape
	WALTransactions []WALTransaction
}

// rebases is how often a commit is tried again when writers of other streams are faster; rewrites is how often its files are written again
// because upkeep took them for those of a crashed run.
const (
	rebases  = 100
	rewrites = 10
)

// UpkeepStream is the stream of the commits of upkeep.
const UpkeepStream = "foreshard/upkeep"

// errRewrite says that files of a commit were or may be condemned before its manifest could name them.
var errRewrite = errors.New("files were swept before they were committed")

// Commit writes the files and then the manifest. If another writer took the manifest's number and wrote other streams only, it tries the next
// one; if it wrote the same stream the error is ErrConflict and nothing changed.
func (w *Warehouse) Commit(ctx context.Context, c *Commit) error {
	if c.Stream == UpkeepStream {
		return fmt.Errorf("commit to warehouse %q: stream %q is upkeep's own: name another", w.store.Place(), c.Stream)
	}
	err := w.checkpointIfDue(ctx)
	for range rewrites {
		if err != nil && !errors.Is(err, errRewrite) {
			break
		}
		m := manifest{Format: Format, Stream: c.Stream, Positions: c.Positions, Ledger: c.Ledger}
		if err = w.writeFiles(ctx, c, &m); err != nil {
			break
		}
		if err = w.publish(ctx, &m); err == nil {
			return nil
		}
	}
	return fmt.Errorf("commit to warehouse %q: %w", w.store.Place(), err)
}

// attempt is what the names of a commit's files hold beside their content: its number at first, and its stream, so that no two streams ever
// share a file.
type attempt struct {
	number int
	stream string
}

func (a attempt) String() string { return fmt.Sprintf("%010d", a.number) }

func (w *Warehouse) writeFiles(ctx context.Context, c *Commit, m *manifest) error {
	number := attempt{w.snap.Head + 1, c.Stream}
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
		func() ([]File, error) { return writeDays(ctx, w, number, Statistics, c.Counted, compareCounted) },
		func() ([]File, error) { return writeDays(ctx, w, number, WALRows, c.WALRows, compareWALRows) },
		func() ([]File, error) { return writeDays(ctx, w, number, WALColumns, c.WALColumns, compareWALColumns) },
		func() ([]File, error) { return writeDays(ctx, w, number, WALSlots, c.WALSlots, compareWALSlots) },
		func() ([]File, error) { return writeTable(ctx, w, number, WALShapes, c.WALShapes, compareWALShapes) },
		func() ([]File, error) {
			return writeDays(ctx, w, number, WALTransactions, c.WALTransactions, compareWALTransactions)
		},
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
	f, err := w.putData(ctx, number, "state/"+number.String(), ".zst", pack(c.State))
	m.State = &f
	return err
}

// publish makes the manifest appear under the first free number.
func (w *Warehouse) publish(ctx context.Context, m *manifest) error {
	base := commitOf(w.snap.Streams[m.Stream])
	for range rebases {
		m.Number, m.Parent = w.snap.Head+1, w.snap.head
		data, err := m.encode()
		if err != nil {
			return err
		}
		err = w.store.Create(ctx, manifestName(m.Number), data)
		if err == nil {
			return w.settle(ctx, m, base, data)
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		condemned := false
		snap, skipped, err := w.catchUp(ctx, w.snap, func(other *manifest) {
			condemned = condemned || other.removes(m)
			m.spare(other)
		})
		if err != nil {
			return err
		}
		w.snap = snap
		if err := conflict(snap, m.Stream, base); err != nil {
			return err
		}
		if skipped || condemned {
			return errRewrite
		}
	}
	return fmt.Errorf("%d other writers were faster: run again: %w", rebases, ErrConflict)
}

func conflict(now *Snapshot, stream string, base int) error {
	if n := commitOf(now.Streams[stream]); n != base {
		return fmt.Errorf("manifest %d: stop one of the two, then run again (nothing is lost, nothing counted twice): %w", n, ErrConflict)
	}
	return nil
}

// settle takes up a manifest that was created. If there is a checkpoint beyond, its name may have been free because it is long gone: then the
// checkpoint says whether it counts.
func (w *Warehouse) settle(ctx context.Context, m *manifest, base int, data []byte) error {
	newest, err := w.newestCheckpoint(ctx)
	if err != nil {
		return fmt.Errorf("manifest %d is written, but whether it counts is not known: run again: %w", m.Number, err)
	}
	if newest < m.Number {
		snap := w.snap.clone()
		snap.add(m, digest(data))
		w.snap = snap
		return nil
	}
	snap, err := w.load(ctx)
	if err != nil {
		return err
	}
	w.snap = snap
	if st := snap.Streams[m.Stream]; st != nil && st.commit == m.Number && st.manifest == digest(data) {
		return nil
	}
	if err := conflict(snap, m.Stream, base); err != nil {
		return err
	}
	return errRewrite
}

// removes says whether the manifest condemns a file that another one is about to name.
func (m *manifest) removes(other *manifest) bool {
	if len(m.Removed) == 0 {
		return false
	}
	names := map[string]bool{}
	for _, f := range other.Files {
		names[f.Path] = true
	}
	if other.State != nil {
		names[other.State.Path] = true
	}
	return slices.ContainsFunc(m.Removed, func(p string) bool { return names[p] })
}

// spare takes what another manifest names now off the files that this one condemns. Files that were named before are never named again, so it
// finds none of those that Files stand for.
func (m *manifest) spare(other *manifest) {
	if len(m.Removed) == 0 {
		return
	}
	m.Removed = slices.DeleteFunc(m.Removed, func(p string) bool {
		return other.State != nil && other.State.Path == p || slices.ContainsFunc(other.Files, func(f File) bool { return f.Path == p })
	})
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
func writeDays[R dayRow](ctx context.Context, w *Warehouse, number attempt, table string, rows []R, compare func(a, b *R) int) ([]File, error) {
	days := map[string][]R{}
	for _, r := range rows {
		day := Day(r.day())
		days[day] = append(days[day], r)
	}
	var files []File
	for _, day := range slices.Sorted(maps.Keys(days)) {
		f, err := writeFile(ctx, w, number, fmt.Sprintf("%s/day=%s/%s", table, day, number), table, days[day], compare)
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

func writeTable[R row](ctx context.Context, w *Warehouse, number attempt, table string, rows []R, compare func(a, b *R) int) ([]File, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	f, err := writeFile(ctx, w, number, fmt.Sprintf("%s/%s", table, number), table, rows, compare)
	return []File{f}, err
}

func writeFile[R row](ctx context.Context, w *Warehouse, number attempt, prefix, table string, rows []R, compare func(a, b *R) int) (File, error) {
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
	f, err := w.putData(ctx, number, prefix, ".parquet", data)
	f.Table, f.Rows = table, int64(len(rows))
	return f, err
}

// putData writes a file whose name holds a hash of its content and stream, so a taken name is the same file: left by a run that crashed before
// its manifest, or by a writer that lost.
func (w *Warehouse) putData(ctx context.Context, number attempt, prefix, ext string, data []byte) (File, error) {
	sum := digest(data)
	f := File{Path: prefix + "-" + digest([]byte(number.stream + "\x00" + sum))[:16] + ext, Bytes: int64(len(data)), SHA256: sum}
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
