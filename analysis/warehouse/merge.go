package warehouse

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// batchRows is how many rows of a file that upkeep made are held at a time. Files of writers are held whole: their commits bound them.
const batchRows = 8192

// Merged is a file that upkeep made, and the files whose rows it holds.
type Merged struct {
	File   File
	Inputs []File
}

// Merge writes the rows of files of one table and day as one file, in which rows that share all keys are one. It counts only after Replace.
func (w *Warehouse) Merge(ctx context.Context, inputs []File) (Merged, error) {
	m, err := w.merge(ctx, inputs)
	if err != nil {
		return m, fmt.Errorf("merge files of warehouse %q: %w", w.store.Place(), w.overtaken(ctx, err))
	}
	return m, nil
}

func (w *Warehouse) merge(ctx context.Context, inputs []File) (Merged, error) {
	if len(inputs) == 0 {
		return Merged{}, errors.New("there are none")
	}
	t, err := TableNamed(inputs[0].Table)
	if err != nil {
		return Merged{}, err
	}
	folder := path.Dir(inputs[0].Path)
	out := File{Table: t.Name, Replaces: len(inputs)}
	var names []string
	g := merging{t: t, keys: t.columns(cmpKeys(t))}
	for _, f := range inputs {
		if path.Dir(f.Path) != folder {
			return Merged{}, fmt.Errorf("%q is not in folder %q", f.Path, folder)
		}
		data, err := w.snap.readFile(ctx, f)
		if err == nil {
			err = g.add(ctx, f, data)
		}
		if err != nil {
			return Merged{}, err
		}
		names = append(names, f.Path)
		out.From, out.To = earlier(out.From, f.From), later(out.To, f.To)
	}
	data, rows, err := g.run()
	if err != nil {
		return Merged{}, err
	}
	// The inputs are part of the name: two merges may come to the same rows.
	number := attempt{w.snap.Head + 1, UpkeepStream + "\x00" + strings.Join(names, "\x00")}
	f, err := w.putData(ctx, number, folder+"/"+number.String(), ".parquet", data)
	out.Path, out.Bytes, out.SHA256, out.Rows = f.Path, f.Bytes, f.SHA256, rows
	return Merged{out, slices.Clone(inputs)}, err
}

// cmpKeys are the columns that order the rows of a merged file.
func cmpKeys(t Table) []string {
	if len(t.Keys) > 0 {
		return t.Keys
	}
	return t.Sort
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// columns are the numbers of columns by name.
func (t Table) columns(names []string) []int {
	var out []int
	for _, name := range names {
		out = append(out, slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name }))
	}
	return out
}

// place is a row of a batch. Batches lie in memory of the Go heap and need no release.
type place struct {
	batch arrow.RecordBatch
	row   int
}

// merging merges the rows of files: those of writers are sorted together, those that upkeep made are in order and streamed.
type merging struct {
	t     Table
	keys  []int
	loose []place
	runs  runs
}

// run is rows in order, one at a time.
type run struct {
	place
	file string
	next func() (place, bool, error)
}

// add takes a file.
func (g *merging) add(ctx context.Context, f File, data []byte) error {
	next, err := g.rows(ctx, f, data)
	if err != nil {
		return err
	}
	if f.Replaces > 0 {
		return g.start(f.Path, next)
	}
	for {
		p, ok, err := next()
		if !ok || err != nil {
			return err
		}
		g.loose = append(g.loose, p)
	}
}

func (g *merging) start(name string, next func() (place, bool, error)) error {
	p, ok, err := next()
	if ok && err == nil {
		g.runs.list = append(g.runs.list, &run{p, name, next})
	}
	return err
}

// rows reads a file row by row.
func (g *merging) rows(ctx context.Context, f File, data []byte) (func() (place, bool, error), error) {
	opening := func(err error) error { return fmt.Errorf("read %q: %w", f.Path, err) }
	parquet, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return nil, opening(err)
	}
	reader, err := pqarrow.NewFileReader(parquet, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		return nil, opening(err)
	}
	records, err := reader.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return nil, opening(err)
	}
	if err := g.t.fits(records.Schema()); err != nil {
		return nil, opening(err)
	}
	var batch arrow.RecordBatch
	row := 0
	return func() (place, bool, error) {
		for batch == nil || row == int(batch.NumRows()) {
			if !records.Next() {
				if err := records.Err(); err != nil && !errors.Is(err, io.EOF) {
					return place{}, false, opening(err)
				}
				return place{}, false, nil
			}
			batch, row = records.RecordBatch(), 0
			batch.Retain() // the next call would give it up, and rows of it may still wait
		}
		row++
		return place{batch, row - 1}, true, nil
	}, nil
}

// fits says whether a file has the table's columns.
func (t Table) fits(schema *arrow.Schema) error {
	for i, c := range t.Columns {
		if i >= schema.NumFields() || schema.Field(i).Name != c.Name || schema.Field(i).Type.ID() != c.Type.arrow().ID() {
			return fmt.Errorf("it has other columns than table %q of this program: %s", t.Name, schema)
		}
	}
	return nil
}

// run writes the file.
func (g *merging) run() (data []byte, rows int64, err error) {
	e, err := newEncoder(g.t)
	if err != nil {
		return nil, 0, err
	}
	slices.SortStableFunc(g.loose, func(a, b place) int { return compareRows(a, b, g.keys) })
	i := 0
	err = g.start("", func() (place, bool, error) {
		if i++; i > len(g.loose) {
			return place{}, false, nil
		}
		return g.loose[i-1], true, nil
	})
	if err != nil {
		return nil, 0, err
	}
	g.runs.keys = g.keys
	heap.Init(&g.runs)
	fold := g.t.folding()
	var group []place
	for len(g.runs.list) > 0 {
		p, err := g.pop()
		if err != nil {
			return nil, 0, err
		}
		if len(group) > 0 && (len(g.t.Keys) == 0 || compareRows(group[0], p, g.keys) != 0) {
			if err := e.row(func(b []array.Builder) error { return fold.emit(b, group) }); err != nil {
				return nil, 0, err
			}
			group = group[:0]
		}
		group = append(group, p)
	}
	if len(group) > 0 {
		if err := e.row(func(b []array.Builder) error { return fold.emit(b, group) }); err != nil {
			return nil, 0, err
		}
	}
	data, err = e.close()
	return data, e.rows, err
}

// pop takes the first row of all runs.
func (g *merging) pop() (place, error) {
	r := g.runs.list[0]
	p := r.place
	next, ok, err := r.next()
	switch {
	case err != nil:
		return p, err
	case !ok:
		heap.Pop(&g.runs)
	case compareRows(p, next, g.keys) > 0:
		return p, fmt.Errorf("rows of %q are not in order: %w", r.file, ErrCorrupt)
	default:
		r.place = next
		heap.Fix(&g.runs, 0)
	}
	return p, nil
}

// runs is a heap by the row at hand.
type runs struct {
	list []*run
	keys []int
}

func (r *runs) Len() int           { return len(r.list) }
func (r *runs) Less(i, j int) bool { return compareRows(r.list[i].place, r.list[j].place, r.keys) < 0 }
func (r *runs) Swap(i, j int)      { r.list[i], r.list[j] = r.list[j], r.list[i] }
func (r *runs) Push(x any)         { r.list = append(r.list, x.(*run)) }
func (r *runs) Pop() any {
	last := r.list[len(r.list)-1]
	r.list = r.list[:len(r.list)-1]
	return last
}

// compareRows orders rows by columns: texts and blobs by their bytes, times and numbers by value, lists by their elements.
func compareRows(a, b place, columns []int) int {
	for _, c := range columns {
		if n := compareCells(a.batch.Column(c), a.row, b.batch.Column(c), b.row); n != 0 {
			return n
		}
	}
	return 0
}

func compareCells(a arrow.Array, i int, b arrow.Array, j int) int {
	switch a := a.(type) {
	case *array.String:
		return cmp.Compare(a.Value(i), b.(*array.String).Value(j))
	case *array.Int64:
		return cmp.Compare(a.Value(i), b.(*array.Int64).Value(j))
	case *array.Timestamp:
		return cmp.Compare(a.Value(i), b.(*array.Timestamp).Value(j))
	case *array.Boolean:
		return compareFlags(a.Value(i), b.(*array.Boolean).Value(j))
	case *array.Binary:
		return bytes.Compare(a.Value(i), b.(*array.Binary).Value(j))
	case *array.List:
		return slices.Compare(integersOf(a, i), integersOf(b.(*array.List), j))
	}
	panic(fmt.Sprintf("warehouse: columns of type %s are not compared", a.DataType()))
}

// integersOf is the list in a cell.
func integersOf(a *array.List, i int) []int64 {
	from, to := a.ValueOffsets(i)
	return a.ListValues().(*array.Int64).Int64Values()[from:to]
}
