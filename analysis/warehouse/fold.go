package warehouse

import (
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// folding makes one row of rows that share all keys.
type folding struct {
	folds   []Fold // by column; 0: a key
	buckets int    // column of the histogram's buckets, -1: the table has none
	counts  int
}

func (t Table) folding() folding {
	f := folding{folds: make([]Fold, len(t.Columns)), buckets: -1, counts: -1}
	for i, c := range t.Columns {
		f.folds[i] = t.Folds[c.Name]
		switch f.folds[i] {
		case Buckets:
			f.buckets = i
		case Counts:
			f.counts = i
		}
	}
	return f
}

// emit appends the row that stands for a group.
func (f folding) emit(builders []array.Builder, group []place) error {
	var histogram Histogram
	if f.buckets >= 0 && len(group) > 1 {
		histogram = Histogram{}
		for _, p := range group {
			counts := integersOf(p.batch.Column(f.counts).(*array.List), p.row)
			for i, b := range integersOf(p.batch.Column(f.buckets).(*array.List), p.row) {
				histogram[int(b)] += counts[i]
			}
		}
	}
	for c, b := range builders {
		var err error
		switch fold := f.folds[c]; {
		case len(group) == 1 || fold == 0 || fold == Either:
			err = copyCell(b, group[0].batch.Column(c), group[0].row)
		case fold == Buckets:
			appendList(b.(*array.ListBuilder), slices.Sorted(bucketNumbers(histogram)))
		case fold == Counts:
			_, counts := histogram.Sorted()
			appendList(b.(*array.ListBuilder), counts)
		default:
			err = foldCells(b, fold, c, group)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func bucketNumbers(h Histogram) func(yield func(int64) bool) {
	return func(yield func(int64) bool) {
		for b := range maps.Keys(h) {
			if !yield(int64(b)) {
				return
			}
		}
	}
}

func appendList(b *array.ListBuilder, values []int64) {
	b.Append(true)
	b.ValueBuilder().(*array.Int64Builder).AppendValues(values, nil)
}

// foldCells appends the sum or an extreme of a column's cells.
func foldCells(b array.Builder, fold Fold, column int, group []place) error {
	value, err := number(group[0], column)
	if err != nil {
		return err
	}
	for _, p := range group[1:] {
		n, err := number(p, column)
		if err != nil {
			return err
		}
		switch {
		case fold == Sum:
			value += n
		case fold == Least, fold == LeastPositive && value != 0 && n != 0:
			value = min(value, n)
		case fold == Greatest, fold == LeastPositive:
			value = max(value, n)
		default:
			return fmt.Errorf("fold column %d: no such fold: %d", column, fold)
		}
	}
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(value)
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(value))
	default:
		return fmt.Errorf("fold column %d: it holds no numbers", column)
	}
	return nil
}

// number is a cell that holds an integer or a time.
func number(p place, column int) (int64, error) {
	switch a := p.batch.Column(column).(type) {
	case *array.Int64:
		return a.Value(p.row), nil
	case *array.Timestamp:
		return int64(a.Value(p.row)), nil
	default:
		return 0, fmt.Errorf("fold column %d: it holds %s, no numbers", column, a.DataType())
	}
}

func copyCell(b array.Builder, from arrow.Array, row int) error {
	switch from := from.(type) {
	case *array.String:
		b.(*array.StringBuilder).Append(from.Value(row))
	case *array.Int64:
		b.(*array.Int64Builder).Append(from.Value(row))
	case *array.Timestamp:
		b.(*array.TimestampBuilder).Append(from.Value(row))
	case *array.Boolean:
		b.(*array.BooleanBuilder).Append(from.Value(row))
	case *array.Binary:
		b.(*array.BinaryBuilder).Append(from.Value(row))
	case *array.List:
		appendList(b.(*array.ListBuilder), integersOf(from, row))
	default:
		return fmt.Errorf("copy cell: columns of type %s are not copied", from.DataType())
	}
	return nil
}
