package pgwal

import (
	"time"

	"github.com/foreshard/foreshard/capture"
)

// Session is that of every event: the WAL has no sessions.
const Session = "wal"

// Bounds of one event, which has to fit into a record of the transport together with others: about 300 kB of hash slots, and 100 kB of names.
const (
	maxCells = 40_000
	maxNames = 100_000
)

// maxTotal is how many hash slots of a transaction are kept, over all its events, which must be kept together. Columns beyond are unknown.
const maxTotal = 4_000_000

// mergedColumns are merged in one pass over a transaction's file: 512 kB each.
const mergedColumns = 64

// commit is what is known of a transaction beside its changes.
type commit struct {
	lsn  uint64
	time time.Time
}

// events are a transaction: one, or several if its hash slots are many, of which the first has the shape.
func (t *transaction) events(c commit, database string, counts *Counts) ([]capture.Event, error) {
	var out []capture.Event
	emit := func(tables []capture.TableWrite) {
		out = append(out, capture.Event{Kind: capture.Write, Time: c.time, Session: Session, Database: database, TxnID: c.lsn,
			Written: &capture.Written{LSN: c.lsn, Part: len(out), Tables: tables}})
	}
	if whole, ok := t.whole(); ok {
		if len(whole) > 0 {
			emit(whole)
		}
		return out, nil
	}
	shape, cells, err := t.shape()
	if err != nil || len(shape) == 0 {
		return nil, err
	}
	shape = narrow(shape, cells, counts)
	emit(shape)
	p := parts{emit: emit}
	for todo := slotted(shape, cells); len(todo) > 0; {
		n := min(len(todo), mergedColumns)
		if err := t.merge(todo[:n], &p); err != nil {
			return nil, err
		}
		todo = todo[n:]
	}
	p.end()
	return out, nil
}

// whole is the one set of a transaction that fits into one event, which most do.
func (t *transaction) whole() (writes []capture.TableWrite, ok bool) {
	if t.file != nil || len(t.sets) > 1 {
		return nil, false
	}
	for _, c := range t.sets {
		writes = c.writes()
	}
	slots, names := 0, 0
	for i := range writes {
		names += nameBytes(&writes[i])
		for _, col := range writes[i].Columns {
			slots += len(col.Slots)
		}
	}
	return writes, slots <= maxCells && names <= maxNames
}

func nameBytes(w *capture.TableWrite) int {
	n := len(w.Table) + 40
	for _, c := range w.Columns {
		n += len(c.Column) + 40
	}
	return n
}

// cell names a column of a table and operation.
type cell struct {
	tableOp
	column string
	class  uint8
}

// narrow makes a shape fit into an event: tables whose names are too many become one entry without a name, which is unknown, and columns whose hash
// slots are too many have values that are not known.
func narrow(shape []capture.TableWrite, cells map[cell]int, counts *Counts) []capture.TableWrite {
	names, total, wide := 0, 0, false
	for i := range shape {
		w := &shape[i]
		if names += nameBytes(w); names > maxNames {
			shape, wide = fold(shape, i), true
			break
		}
		for j := range w.Columns {
			c := &w.Columns[j]
			k := cell{tableOp{w.Table, w.Op}, c.Column, c.Class}
			if total += cells[k]; total > maxTotal {
				total -= cells[k]
				delete(cells, k)
				c.Unknown, c.One, c.Eq, wide = w.Rows-c.Null, false, 0, true
			}
		}
	}
	if wide {
		counts.Notes[NoteWide]++
	}
	return shape
}

// fold puts the tables from the i-th on into an entry without a name.
func fold(shape []capture.TableWrite, i int) []capture.TableWrite {
	rest := capture.TableWrite{}
	for _, w := range shape[i:] {
		rest.Rows += w.Rows
		rest.Bytes += w.Bytes
	}
	if i > 0 && shape[0].Table == "" { // there is one already, and it sorts first
		shape[0].Rows += rest.Rows
		shape[0].Bytes += rest.Bytes
		return shape[:i]
	}
	return append([]capture.TableWrite{rest}, shape[:i]...)
}

// slotted are the columns that have hash slots, in the order of the shape.
func slotted(shape []capture.TableWrite, cells map[cell]int) (out []cell) {
	for i := range shape {
		for _, c := range shape[i].Columns {
			k := cell{tableOp{shape[i].Table, shape[i].Op}, c.Column, c.Class}
			if cells[k] > 0 {
				out = append(out, k)
			}
		}
	}
	return out
}

// merge adds up the hash slots of some columns over all sets.
func (t *transaction) merge(todo []cell, p *parts) error {
	sums := map[cell]*counters{}
	for _, k := range todo {
		sums[k] = &counters{}
	}
	err := t.each(func(writes []capture.TableWrite) error {
		for i := range writes {
			for _, c := range writes[i].Columns {
				if sum := sums[cell{tableOp{writes[i].Table, writes[i].Op}, c.Column, c.Class}]; sum != nil {
					for _, s := range c.Slots {
						sum.add(s.Slot, s.Rows)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range todo {
		p.add(k, sums[k].list())
	}
	return nil
}

// parts cuts hash slots into events.
type parts struct {
	n      int
	tables []capture.TableWrite
	emit   func(tables []capture.TableWrite)
}

func (p *parts) add(k cell, slots []capture.SlotRows) {
	const name = 20 // slots that a column's name is worth
	for len(slots) > 0 {
		take := min(len(slots), maxCells-p.n)
		last := len(p.tables) - 1
		if last < 0 || p.tables[last].Table != k.table || p.tables[last].Op != k.op {
			p.tables = append(p.tables, capture.TableWrite{Table: k.table, Op: k.op})
			last++
		}
		p.tables[last].Columns = append(p.tables[last].Columns, capture.ColumnWrite{Column: k.column, Class: k.class, Slots: slots[:take]})
		slots = slots[take:]
		if p.n += take + name; p.n >= maxCells {
			p.end()
		}
	}
}

func (p *parts) end() {
	if len(p.tables) > 0 {
		p.emit(p.tables)
	}
	p.tables, p.n = nil, 0
}
