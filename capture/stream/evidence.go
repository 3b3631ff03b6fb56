package stream

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/foreshard/foreshard/capture"
)

// What is no statement: the server's statistics and transactions of the WAL. They lie in the column of what few events have, as a byte for the
// kind and numbers after it.

func appendEvidence(b []byte, ev *capture.Event) []byte {
	b = append(b, byte(ev.Kind))
	switch ev.Kind {
	case capture.Statistics:
		return appendCounted(b, ev.Counted)
	case capture.Write:
		return appendWritten(b, ev.Written)
	}
	return b
}

func readEvidence(r *reader, e *capture.Event) error {
	e.Kind = capture.Kind(r.byte())
	switch e.Kind {
	case capture.Statistics:
		e.Counted = readCounted(r)
		return nil
	case capture.Write:
		return readWritten(r, e)
	}
	return errors.New("an event is of no kind that this program knows")
}

func appendCounted(b []byte, c *capture.Counted) []byte {
	b = binary.AppendVarint(b, c.From.UnixNano())
	b = binary.AppendVarint(b, int64(c.To.Sub(c.From)))
	b = binary.AppendVarint(b, c.Calls)
	b = binary.AppendVarint(b, int64(c.Time))
	return append(b, byte(c.Evidence))
}

func readCounted(r *reader) *capture.Counted {
	c := &capture.Counted{From: time.Unix(0, r.int()).UTC()}
	c.To = c.From.Add(time.Duration(r.int()))
	c.Calls, c.Time = r.int(), time.Duration(r.int())
	c.Evidence = capture.Evidence(r.byte())
	return c
}

func appendWritten(b []byte, w *capture.Written) []byte {
	b = binary.AppendVarint(binary.AppendUvarint(b, w.LSN), int64(w.Part))
	b = binary.AppendUvarint(b, uint64(len(w.Tables)))
	for i := range w.Tables {
		t := &w.Tables[i]
		b = append(appendString(b, t.Table), byte(t.Op))
		b = binary.AppendVarint(binary.AppendVarint(b, t.Rows), t.Bytes)
		b = binary.AppendUvarint(b, uint64(len(t.Columns)))
		for j := range t.Columns {
			b = appendColumn(b, &t.Columns[j])
		}
	}
	return b
}

func appendColumn(b []byte, c *capture.ColumnWrite) []byte {
	b = append(appendString(b, c.Column), c.Class)
	one := uint64(0)
	if c.One {
		one = 1
	}
	b = binary.AppendUvarint(b, uint64(len(c.Slots))<<1|one)
	if c.One {
		b = binary.AppendUvarint(b, c.Eq)
	}
	last := 0
	for _, s := range c.Slots {
		b = binary.AppendVarint(b, int64(int(s.Slot)-last))
		b = binary.AppendVarint(b, s.Rows)
		last = int(s.Slot)
	}
	return binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(b, c.Null), c.Unknown), c.Moved), c.Blind)
}

func readWritten(r *reader, e *capture.Event) error {
	w := &capture.Written{LSN: r.uint(), Part: int(r.int())}
	n := r.uint()
	if n > uint64(len(r.b)) {
		return errCut
	}
	for range n {
		t := capture.TableWrite{Table: r.string(), Op: capture.WriteOp(r.byte())}
		t.Rows, t.Bytes = r.int(), r.int()
		columns := r.uint()
		if r.bad || columns > uint64(len(r.b)) { // what is not there must not become memory
			return errCut
		}
		for range columns {
			c, err := readColumn(r)
			if err != nil {
				return err
			}
			t.Columns = append(t.Columns, c)
		}
		w.Tables = append(w.Tables, t)
	}
	e.Written = w
	return nil
}

func readColumn(r *reader) (capture.ColumnWrite, error) {
	c := capture.ColumnWrite{Column: r.string(), Class: r.byte()}
	n := r.uint()
	if c.One = n&1 != 0; c.One {
		c.Eq = r.uint()
	}
	if n >>= 1; n > uint64(len(r.b)) {
		return c, errCut
	}
	slot := int64(0)
	for range n {
		slot += r.int()
		if slot < 0 || slot > 65535 {
			return c, errors.New("a hash slot is beyond 65535")
		}
		c.Slots = append(c.Slots, capture.SlotRows{Slot: uint16(slot), Rows: r.int()})
		if r.bad {
			return c, errCut
		}
	}
	c.Null, c.Unknown, c.Moved, c.Blind = r.int(), r.int(), r.int(), r.int()
	if r.bad {
		return c, errCut
	}
	return c, nil
}
