package pgwal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jackc/pglogrepl"

	"github.com/foreshard/foreshard/capture"
)

// changes count the rows of a transaction, or of a subtransaction, as they come.
type changes struct {
	tables  map[tableOp]*tableChanges
	last    *tableChanges // of the row before
	lastOp  tableOp
	size    int   // bytes of memory, about
	unknown int64 // rows of which it is not known what they did
}

type tableOp struct {
	table string
	op    capture.WriteOp
}

type tableChanges struct {
	rows, bytes int64
	relation    *relation        // that cols belong to
	cols        []*columnChanges // of the relation's keys, in their order
	columns     []*columnChanges // all that there were; a change of the table's definition may add some
}

// columnChanges are the rows of one column. What is not in seen had no such column: its value is unknown.
type columnChanges struct {
	name                        string
	class                       uint8
	seen                        int64
	null, unknown, moved, blind int64
	slots                       counters
	known                       bool // a value was there; eq is its hash, and one says that all had it
	one                         bool
	eq                          uint64
}

// Sizes of memory, about: a counter's map and name; a page of counters.
const (
	tableSize  = 200
	columnSize = 200
	pageSize   = 256 * 8
)

// counters are counts by hash slot: a short list while there are few, then pages of an array of 65,536.
type counters struct {
	few   []capture.SlotRows
	pages *[256]*[256]int64
}

const few = 16

// add counts rows and returns by how much the memory grew.
func (c *counters) add(slot uint16, rows int64) (grown int) {
	if c.pages == nil {
		for i := range c.few {
			if c.few[i].Slot == slot {
				c.few[i].Rows += rows
				return 0
			}
		}
		if len(c.few) < few {
			c.few = append(c.few, capture.SlotRows{Slot: slot, Rows: rows})
			return 16
		}
		c.pages = new([256]*[256]int64)
		grown = pageSize
		for _, s := range c.few {
			grown += c.add(s.Slot, s.Rows)
		}
		c.few = nil
	}
	page := c.pages[slot>>8]
	if page == nil {
		page = new([256]int64)
		c.pages[slot>>8] = page
		grown += pageSize
	}
	page[slot&255] += rows
	return grown
}

// list is the counts in order.
func (c *counters) list() []capture.SlotRows {
	if c.pages == nil {
		slices.SortFunc(c.few, func(a, b capture.SlotRows) int { return cmp.Compare(a.Slot, b.Slot) })
		return c.few
	}
	var out []capture.SlotRows
	for hi, page := range c.pages {
		if page == nil {
			continue
		}
		for lo, n := range page {
			if n != 0 {
				out = append(out, capture.SlotRows{Slot: uint16(hi<<8 | lo), Rows: n})
			}
		}
	}
	return out
}

// of finds the counters of a table and operation.
func (c *changes) of(r *relation, op capture.WriteOp) *tableChanges {
	k := tableOp{r.table, op}
	if c.last == nil || c.lastOp != k {
		if c.tables == nil {
			c.tables = map[tableOp]*tableChanges{}
		}
		t := c.tables[k]
		if t == nil {
			t = &tableChanges{}
			c.tables[k] = t
			c.size += tableSize + len(k.table)
		}
		c.last, c.lastOp = t, k
	}
	t := c.last
	if t.relation != r {
		t.relation, t.cols = r, t.cols[:0:0]
		for i := range r.keys {
			t.cols = append(t.cols, c.column(t, &r.keys[i]))
		}
	}
	return t
}

func (c *changes) column(t *tableChanges, k *keyColumn) *columnChanges {
	for _, col := range t.columns {
		if col.name == k.name && col.class == k.class {
			return col
		}
	}
	col := &columnChanges{name: k.name, class: k.class}
	t.columns = append(t.columns, col)
	c.size += columnSize + len(k.name)
	return col
}

// cells are the columns of a tuple; one that is shorter than the relation gives nothing.
type cells struct{ t *pglogrepl.TupleData }

func (c cells) at(i int) *pglogrepl.TupleDataColumn {
	if c.t == nil || i >= len(c.t.Columns) {
		return nil
	}
	return c.t.Columns[i]
}

func (c cells) bytes() (n int64) {
	if c.t == nil {
		return 0
	}
	for _, col := range c.t.Columns {
		n += int64(len(col.Data))
	}
	return n
}

// row counts one row: tuple is the new one, of a delete the old one.
func (c *changes) row(r *relation, op capture.WriteOp, tuple cells) *tableChanges {
	t := c.of(r, op)
	t.rows++
	t.bytes += tuple.bytes()
	return t
}

func (c *changes) insert(h hasher, r *relation, tuple *pglogrepl.TupleData) {
	t := c.row(r, capture.Insert, cells{tuple})
	for i := range r.keys {
		c.value(h, t.cols[i], cells{tuple}.at(r.keys[i].at))
	}
}

// delete counts a row whose old tuple is whole, or has the columns of the replica identity and NULL for all others, which is no NULL.
func (c *changes) delete(h hasher, r *relation, old *pglogrepl.TupleData, keyOnly bool) {
	t := c.row(r, capture.Delete, cells{old})
	for i := range r.keys {
		k := &r.keys[i]
		if keyOnly && !k.identity {
			t.cols[i].seen++
			t.cols[i].unknown++
			continue
		}
		c.value(h, t.cols[i], cells{old}.at(k.at))
	}
}

// update counts a row. Without an old tuple its replica identity is as it was, and of other columns it is not known; an old tuple that is the key
// says nothing of them either.
func (c *changes) update(h hasher, r *relation, old, fresh *pglogrepl.TupleData, keyOnly bool) {
	t := c.row(r, capture.Update, cells{fresh})
	for i := range r.keys {
		k, col := &r.keys[i], t.cols[i]
		now := cells{fresh}.at(k.at)
		var before *pglogrepl.TupleDataColumn
		if old != nil && (k.identity || !keyOnly) {
			before = cells{old}.at(k.at)
		}
		if now != nil && now.DataType == pglogrepl.TupleDataTypeToast {
			// Too large to lie in the row, and as it was: only a whole old tuple has it.
			if before != nil {
				now = before
			}
			c.value(h, col, now)
			continue
		}
		c.value(h, col, now)
		switch {
		case before != nil:
			if now != nil && !sameCell(before, now) {
				col.moved++
				c.value2(h, col, before)
			}
		case old != nil || !k.identity:
			col.blind++
		}
	}
}

func sameCell(a, b *pglogrepl.TupleDataColumn) bool {
	return a.DataType == b.DataType && string(a.Data) == string(b.Data)
}

// value counts the value of one row.
func (c *changes) value(h hasher, col *columnChanges, cell *pglogrepl.TupleDataColumn) {
	col.seen++
	if cell == nil {
		col.unknown++
		return
	}
	switch cell.DataType {
	case pglogrepl.TupleDataTypeNull:
		col.null++
	case pglogrepl.TupleDataTypeText:
		slot, eq, ok := h.hash(col.class, cell.Data)
		if !ok {
			col.unknown++
			return
		}
		c.size += col.slots.add(slot, 1)
		col.meet(eq)
	default:
		col.unknown++
	}
}

// value2 takes up the value that a row had before: it is one of the transaction's values, and no row is counted for it.
func (c *changes) value2(h hasher, col *columnChanges, cell *pglogrepl.TupleDataColumn) {
	if cell.DataType != pglogrepl.TupleDataTypeText {
		return
	}
	if _, eq, ok := h.hash(col.class, cell.Data); ok {
		col.meet(eq)
	}
}

// meet takes up the hash of a value.
func (col *columnChanges) meet(eq uint64) {
	if !col.known {
		col.known, col.one, col.eq = true, true, eq
		return
	}
	col.one = col.one && col.eq == eq
}

// truncate counts a truncation: every row of the table is gone, whatever its key.
func (c *changes) truncate(r *relation) {
	c.of(r, capture.Truncate).rows++
}

// writes are the counts in the order of events.
func (c *changes) writes() []capture.TableWrite {
	var out []capture.TableWrite
	for k, t := range c.tables {
		w := capture.TableWrite{Table: k.table, Op: k.op, Rows: t.rows, Bytes: t.bytes}
		if k.op != capture.Truncate {
			for _, col := range t.columns {
				w.Columns = append(w.Columns, capture.ColumnWrite{Column: col.name, Class: col.class, Slots: col.slots.list(), One: col.known && col.one, Eq: col.eqIfOne(),
					Null: col.null, Unknown: col.unknown + t.rows - col.seen, Moved: col.moved, Blind: col.blind})
			}
			slices.SortFunc(w.Columns, func(a, b capture.ColumnWrite) int {
				return cmp.Or(strings.Compare(a.Column, b.Column), cmp.Compare(a.Class, b.Class))
			})
		}
		out = append(out, w)
	}
	if c.unknown > 0 {
		out = append(out, capture.TableWrite{Rows: c.unknown})
	}
	slices.SortFunc(out, func(a, b capture.TableWrite) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), cmp.Compare(a.Op, b.Op))
	})
	return out
}

func (col *columnChanges) eqIfOne() uint64 {
	if col.known && col.one {
		return col.eq
	}
	return 0
}
