package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
)

// Bounds of shapes of transactions that wrote. What is beyond them is counted under warehouse.WALOverflow.
const (
	maxWriteShapes = 20_000 // of a run
	maxShapeRows   = 256    // columns of tables and operations, of one shape
)

// writes aggregates what the WAL tells. Nothing of it is an execution: the log has those.
type writes struct {
	rows     map[writeKey]*writeSums
	columns  map[writeColumnKey]*columnSums
	slots    map[slotKey]*slotCounts
	cells    int
	counts   map[writeShapeKey]*writeSums
	fresh    []warehouse.WALShape
	known    map[string]bool
	overflow bool // its shape is known
}

type writeKey struct {
	minute          int64
	database, table string
	op              capture.WriteOp
}

type writeColumnKey struct {
	day           int64
	table, column string
	op            capture.WriteOp
}

type writeShapeKey struct {
	day   int64
	shape string
}

// writeSums has transactions in n.
type writeSums struct{ n, rows, bytes int64 }

type columnSums struct{ rows, nulls, unknown, moved, blind int64 }

// add takes up an event.
func (w *writes) add(a *aggregate, e *capture.Event) {
	if w.rows == nil {
		w.rows, w.columns, w.slots, w.counts = map[writeKey]*writeSums{}, map[writeColumnKey]*columnSums{}, map[slotKey]*slotCounts{}, map[writeShapeKey]*writeSums{}
	}
	day := dayOf(e.Time)
	for i := range e.Written.Tables {
		t := &e.Written.Tables[i]
		if e.Written.Part == 0 {
			w.row(e, t)
		}
		for j := range t.Columns {
			c := &t.Columns[j]
			if e.Written.Part == 0 {
				w.column(day, t, c)
			}
			if len(c.Slots) > 0 {
				w.slot(slotKey{day, a.column(strings.Clone(t.Table), strings.Clone(c.Column))}, c.Slots)
			}
		}
	}
	if e.Written.Part > 0 || len(e.Written.Tables) == 0 {
		return // the first part had the whole shape
	}
	k := writeShapeKey{day, w.shape(e.Written.Tables)}
	sums := w.counts[k]
	if sums == nil {
		sums = &writeSums{}
		w.counts[k] = sums
	}
	sums.n++
	for i := range e.Written.Tables {
		sums.rows += e.Written.Tables[i].Rows
		sums.bytes += e.Written.Tables[i].Bytes
	}
}

func (w *writes) row(e *capture.Event, t *capture.TableWrite) {
	k := writeKey{minute(e.Time), e.Database, t.Table, t.Op}
	sums := w.rows[k]
	if sums == nil {
		k.database, k.table = strings.Clone(k.database), strings.Clone(k.table)
		sums = &writeSums{}
		w.rows[k] = sums
	}
	sums.n++
	sums.rows += t.Rows
	sums.bytes += t.Bytes
}

func (w *writes) column(day int64, t *capture.TableWrite, c *capture.ColumnWrite) {
	k := writeColumnKey{day, t.Table, c.Column, t.Op}
	sums := w.columns[k]
	if sums == nil {
		k.table, k.column = strings.Clone(k.table), strings.Clone(k.column)
		sums = &columnSums{}
		w.columns[k] = sums
	}
	sums.rows += t.Rows
	sums.nulls += c.Null
	sums.unknown += c.Unknown
	sums.moved += c.Moved
	sums.blind += c.Blind
}

func (w *writes) slot(k slotKey, slots []capture.SlotRows) {
	counts := w.slots[k]
	if counts == nil {
		counts = new(slotCounts)
		w.slots[k] = counts
	}
	for _, s := range slots {
		page := counts[s.Slot>>8]
		if page == nil {
			page = new(slotPage)
			counts[s.Slot>>8] = page
		}
		if page[s.Slot&255] == 0 {
			w.cells++
		}
		page[s.Slot&255] += s.Rows
	}
}

// shape names what a transaction did, its values replaced by symbols, and keeps it if it is new.
func (w *writes) shape(tables []capture.TableWrite) string {
	rows := shapeRows(tables)
	if rows == nil {
		return w.overflowing()
	}
	h := sha256.New()
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(h, "%q %s %q %d %t %t %t %t\n", r.Table, r.Op, r.Column, r.Symbol, r.Nulls, r.Unknown, r.Moved, r.Blind)
	}
	id := hex.EncodeToString(h.Sum(nil)[:16])
	if w.known[id] {
		return id
	}
	if len(w.known) >= maxWriteShapes {
		return w.overflowing()
	}
	if w.known == nil {
		w.known = map[string]bool{}
	}
	w.known[id] = true
	for i := range rows {
		rows[i].Shape, rows[i].Table, rows[i].Column = id, strings.Clone(rows[i].Table), strings.Clone(rows[i].Column)
	}
	w.fresh = append(w.fresh, rows...)
	return id
}

// overflowing is the shape of what has none: it is not known what was written.
func (w *writes) overflowing() string {
	if !w.overflow {
		w.overflow = true
		w.fresh = append(w.fresh, warehouse.WALShape{Shape: warehouse.WALOverflow, Op: capture.WriteOp(0).String()})
	}
	return warehouse.WALOverflow
}

// shapeRows are the rows of a shape without its name; nil if there are too many.
func shapeRows(tables []capture.TableWrite) (out []warehouse.WALShape) {
	type value struct {
		class uint8
		eq    uint64
	}
	symbols := map[value]int{}
	for i := range tables {
		t := &tables[i]
		if len(t.Columns) == 0 {
			out = append(out, warehouse.WALShape{Position: len(out), Table: t.Table, Op: t.Op.String()})
		}
		for j := range t.Columns {
			c := &t.Columns[j]
			r := warehouse.WALShape{Position: len(out), Table: t.Table, Op: t.Op.String(), Column: c.Column, Nulls: c.Null > 0, Unknown: c.Unknown > 0, Moved: c.Moved > 0, Blind: c.Blind > 0}
			switch {
			case c.One:
				v := value{c.Class, c.Eq}
				if symbols[v] == 0 {
					symbols[v] = len(symbols) + 1
				}
				r.Symbol = symbols[v]
			case c.Null+c.Unknown < t.Rows:
				r.Symbol = -1
			}
			out = append(out, r)
		}
		if len(out) > maxShapeRows {
			return nil
		}
	}
	return out
}

// size is the number of rows held.
func (w *writes) size() int { return len(w.rows) + len(w.columns) + len(w.counts) + len(w.fresh) }

// drain moves the rows into a commit.
func (w *writes) drain(c *warehouse.Commit) {
	day := func(n int64) time.Time { return time.Unix(n*86400, 0).UTC() }
	for k, s := range w.rows {
		c.WALRows = append(c.WALRows, warehouse.WALRow{Minute: time.Unix(k.minute*60, 0).UTC(), Database: k.database, Table: k.table, Op: k.op.String(),
			Rows: s.rows, Bytes: s.bytes, Transactions: s.n})
	}
	for k, s := range w.columns {
		c.WALColumns = append(c.WALColumns, warehouse.WALColumn{Day: day(k.day), Table: k.table, Column: k.column, Op: k.op.String(),
			Rows: s.rows, Nulls: s.nulls, Unknown: s.unknown, Moved: s.moved, Blind: s.blind})
	}
	for k, counts := range w.slots {
		counts.each(func(slot uint16, n int64) {
			c.WALSlots = append(c.WALSlots, warehouse.WALSlot{Day: day(k.day), Table: k.c.table, Column: k.c.name, Slot: slot, Rows: n})
		})
	}
	for k, s := range w.counts {
		c.WALTransactions = append(c.WALTransactions, warehouse.WALTransaction{Day: day(k.day), Shape: k.shape, Count: s.n, Rows: s.rows, Bytes: s.bytes})
	}
	c.WALShapes = w.fresh
	w.rows, w.columns, w.slots, w.counts, w.fresh, w.cells = nil, nil, nil, nil, nil, 0
}
