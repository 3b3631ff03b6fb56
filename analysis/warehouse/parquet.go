package warehouse

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// rowGroup is the number of rows of a row group: small enough that a filter on the sort columns skips most of a file, large enough that
// dictionaries pay. It also bounds what is encoded at a time, so no size has to be asked of the Parquet writer.
const rowGroup = 1 << 16

// row is what a table's rows know: how to put themselves into columns.
type row interface{ cells(*cells) }

// cells appends the values of one row, column by column. A mismatch with the table's columns is a defect of this package and panics.
type cells struct {
	builders []array.Builder
	next     int
}

func (c *cells) builder() array.Builder {
	b := c.builders[c.next]
	c.next++
	return b
}

func (c *cells) text(s string)   { c.builder().(*array.StringBuilder).Append(s) }
func (c *cells) integer(n int64) { c.builder().(*array.Int64Builder).Append(n) }
func (c *cells) flag(v bool)     { c.builder().(*array.BooleanBuilder).Append(v) }
func (c *cells) blob(v []byte)   { c.builder().(*array.BinaryBuilder).Append(v) }

func (c *cells) time(t time.Time) {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	c.builder().(*array.TimestampBuilder).Append(arrow.Timestamp(t.UnixMicro()))
}

func (c *cells) integers(ns []int64) {
	l := c.builder().(*array.ListBuilder)
	l.Append(true)
	l.ValueBuilder().(*array.Int64Builder).AppendValues(ns, nil)
}

// encoder writes rows as one Parquet file: zstd, dictionaries, row groups of rowGroup rows. The same rows give the same bytes.
type encoder struct {
	t       Table
	out     bytes.Buffer
	writer  *pqarrow.FileWriter
	builder *array.RecordBuilder
	rows    int64
}

func newEncoder(t Table) (*encoder, error) {
	schema := t.arrowSchema()
	e := &encoder{t: t}
	props := parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDictionaryDefault(true),
		parquet.WithMaxRowGroupLength(rowGroup),
		parquet.WithCreatedBy("foreshard"),
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithSortingColumns(t.sorting()),
	)
	var err error
	if e.writer, err = pqarrow.NewFileWriter(schema, &e.out, props, pqarrow.NewArrowWriterProperties()); err != nil {
		return nil, fmt.Errorf("encode table %q: %w", t.Name, err)
	}
	e.builder = array.NewRecordBuilder(memory.DefaultAllocator, schema)
	return e, nil
}

// row takes one row, whose values fn appends to the builders of the columns.
func (e *encoder) row(fn func([]array.Builder) error) error {
	if err := fn(e.builder.Fields()); err != nil {
		return err
	}
	if e.rows++; e.rows%rowGroup == 0 {
		return e.flush()
	}
	return nil
}

func (e *encoder) flush() error {
	rec := e.builder.NewRecordBatch()
	defer rec.Release()
	if err := e.writer.Write(rec); err != nil {
		return fmt.Errorf("encode table %q: %w", e.t.Name, err)
	}
	return nil
}

// close returns the file.
func (e *encoder) close() ([]byte, error) {
	defer e.builder.Release()
	if e.rows%rowGroup != 0 {
		if err := e.flush(); err != nil {
			return nil, err
		}
	}
	if err := e.writer.Close(); err != nil {
		return nil, fmt.Errorf("encode table %q: %w", e.t.Name, err)
	}
	return e.out.Bytes(), nil
}

// encode writes sorted rows as one Parquet file.
func encode[R row](t Table, rows []*R) ([]byte, error) {
	e, err := newEncoder(t)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		err := e.row(func(builders []array.Builder) error {
			c := cells{builders: builders}
			(*r).cells(&c)
			if c.next != len(t.Columns) {
				panic(fmt.Sprintf("warehouse: a row of %s has %d cells, not %d", t.Name, c.next, len(t.Columns)))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return e.close()
}

// sorting names the sort columns to readers of the file; the columns before the first list have the same position in the Parquet schema.
func (t Table) sorting() []parquet.SortingColumn {
	var out []parquet.SortingColumn
	for _, name := range t.Sort {
		i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
		out = append(out, parquet.SortingColumn{ColumnIdx: int32(i)})
	}
	return out
}
