package stream

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// magic begins every record: three letters and the version of the layout. A reader refuses versions it does not know. Version 2 added events that
// are no statements, version 3 says since when an agent is; a reader of it reads both.
const (
	magic   = "fsh"
	version = 3
)

// Batch is the content of one record: a run of executions of the sessions of one partition, in order.
type Batch struct {
	Agent      string // name of the capturing process
	Generation uint64 // drawn when the agent's directory was made; numbers below count within it
	Number     int64  // of the record within agent, generation and partition, from 1, without gaps
	Before     int64  // events in the records before it
	Born       int64  // where the partition ended when the agent's directory was made: none of its records is before that; 0 in version 1 and 2
	Events     []capture.Event
	Report     *Report // only in records of the agent's own partition
}

// Report is what an agent says beside events.
type Report struct {
	Ledger    Ledger     `cbor:"1,keyasint"` // what was read since the report before
	Positions []Position `cbor:"2,keyasint"` // of all inputs
}

// Ledger counts what was read; Dropped also holds what the agent had to give up.
type Ledger struct {
	Bytes        int64            `cbor:"1,keyasint,omitempty"`
	Records      int64            `cbor:"2,keyasint,omitempty"`
	Statements   int64            `cbor:"3,keyasint,omitempty"`
	Dropped      map[string]int64 `cbor:"4,keyasint,omitempty"`
	DroppedBytes map[string]int64 `cbor:"5,keyasint,omitempty"`
	Buckets      map[string]int64 `cbor:"6,keyasint,omitempty"`
	Notes        map[string]int64 `cbor:"7,keyasint,omitempty"`
}

// Add adds another ledger times a factor, 1 or -1.
func (l *Ledger) Add(o Ledger, factor int64) {
	l.Bytes += factor * o.Bytes
	l.Records += factor * o.Records
	l.Statements += factor * o.Statements
	for _, m := range []struct {
		to   *map[string]int64
		from map[string]int64
	}{{&l.Dropped, o.Dropped}, {&l.DroppedBytes, o.DroppedBytes}, {&l.Buckets, o.Buckets}, {&l.Notes, o.Notes}} {
		for k, n := range m.from {
			if *m.to == nil {
				*m.to = map[string]int64{}
			}
			if (*m.to)[k] += factor * n; (*m.to)[k] == 0 {
				delete(*m.to, k)
			}
		}
	}
}

// empty says that there is nothing to report.
func (l *Ledger) empty() bool {
	return l.Bytes == 0 && l.Records == 0 && l.Statements == 0 && len(l.Dropped)+len(l.DroppedBytes)+len(l.Buckets)+len(l.Notes) == 0
}

// Position says how far an agent has read one input.
type Position struct {
	Name     string `cbor:"1,keyasint" json:"name"`
	Identity string `cbor:"2,keyasint" json:"identity"`
	Offset   int64  `cbor:"3,keyasint" json:"offset"`
	Unread   int64  `cbor:"4,keyasint,omitempty" json:"unread,omitempty"` // bytes after Offset of a record that is not whole yet
}

// The first byte of an event's flags; flagMore says that a second one follows.
const (
	flagKind     = 3 // two bits
	flagAuto     = 1 << 2
	flagTimed    = 1 << 3
	flagTemplate = 1 << 4
	flagValues   = 1 << 5
	flagTags     = 1 << 6
	flagMore     = 1 << 7
)

// The second byte.
const (
	moreTxn = 1 << iota
	moreOpaque
	moreShare
	moreState
	moreCopy
	moreNoTime
	moreEvidence // the kind follows, and what it is set for: flagKind is 0
)

// What a transaction says of itself.
const (
	txnCommitted = 1 << iota
	txnPartial
	txnSerializable
	txnStart // it has a time
	txnEnd
)

// The columns of a record, in order. Values are kept as numbers of a dictionary: a transaction says its key again and again.
const (
	colFlags = iota
	colTime
	colOrigin
	colTemplate
	colTags
	colDuration
	colTxn
	colValues
	colRare
	columns
)

// The dictionaries of a record, in order.
const (
	dictTemplates = iota
	dictOrigins
	dictTags
	dictValues
	dictionaries
)

// encoder builds one record, event by event.
type encoder struct {
	n       int
	cols    [columns][]byte
	dicts   [dictionaries]dictionary
	last    int64    // time of the event before, Unix nanoseconds
	txns    []uint64 // last transaction number by origin
	byID    map[sqltext.ID]uint64
	scratch []byte
}

// dictionary numbers byte strings in order of first use.
type dictionary struct {
	index map[string]uint64
	data  []byte // length and bytes of each
}

func (d *dictionary) number(b []byte) (n uint64, fresh bool) {
	if n, ok := d.index[string(b)]; ok {
		return n, false
	}
	if d.index == nil {
		d.index = map[string]uint64{}
	}
	n = uint64(len(d.index))
	d.index[string(b)] = n
	d.data = appendBytes(d.data, b)
	return n, true
}

func (d *dictionary) reset() {
	clear(d.index)
	d.data = d.data[:0]
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// size is the length of the record before compression, about.
func (e *encoder) size() int {
	n := 0
	for i := range e.cols {
		n += len(e.cols[i])
	}
	for i := range e.dicts {
		n += len(e.dicts[i].data)
	}
	return n
}

func (e *encoder) reset() {
	e.n, e.last = 0, 0
	for i := range e.cols {
		e.cols[i] = e.cols[i][:0]
	}
	for i := range e.dicts {
		e.dicts[i].reset()
	}
	e.txns = e.txns[:0]
	clear(e.byID)
}

func (e *encoder) put(col int, v uint64) { e.cols[col] = binary.AppendUvarint(e.cols[col], v) }

// add takes up one event that shorten has been over.
func (e *encoder) add(ev *capture.Event) {
	e.n++
	flags, more := e.flags(ev)
	e.cols[colFlags] = append(e.cols[colFlags], flags)
	if flags&flagMore != 0 {
		e.cols[colFlags] = append(e.cols[colFlags], more)
	}
	if more&moreNoTime == 0 {
		e.time(ev.Time)
	}
	e.origin(ev)
	if ev.Template != nil {
		e.put(colTemplate, e.template(ev.Template))
	}
	if flags&flagTags != 0 {
		b := appendString(appendString(e.scratch[:0], ev.Team), ev.Endpoint)
		n, _ := e.dicts[dictTags].number(b)
		e.put(colTags, n)
		e.scratch = b
	}
	if flags&flagTimed != 0 {
		e.putExact(colDuration, int64(ev.Duration), time.Microsecond)
	}
	if flags&flagValues != 0 {
		e.values(ev.Values)
	}
	e.rare(ev, more)
}

func (e *encoder) flags(ev *capture.Event) (flags, more byte) {
	if ev.Kind <= flagKind {
		flags = byte(ev.Kind)
	}
	set := func(to *byte, bit byte, on bool) {
		if on {
			*to |= bit
		}
	}
	set(&flags, flagAuto, ev.Auto)
	set(&flags, flagTimed, ev.Timed)
	set(&flags, flagTemplate, ev.Template != nil)
	set(&flags, flagValues, len(ev.Values) > 0)
	set(&flags, flagTags, ev.Team != "" || ev.Endpoint != "")
	set(&more, moreTxn, ev.Txn != nil)
	set(&more, moreOpaque, ev.Opaque != nil)
	set(&more, moreShare, ev.Share != 0)
	set(&more, moreState, ev.SQLState != "")
	set(&more, moreCopy, ev.Copy)
	set(&more, moreNoTime, ev.Time.IsZero())
	set(&more, moreEvidence, ev.Kind > flagKind)
	set(&flags, flagMore, more != 0)
	return flags, more
}

// putExact writes nanoseconds as a number of units, and what is left over only where there is something.
func (e *encoder) putExact(col int, ns int64, unit time.Duration) {
	q, rest := ns/int64(unit), ns%int64(unit)
	if rest == 0 {
		e.put(col, zigzag(q)<<1)
		return
	}
	e.put(col, zigzag(q)<<1|1)
	e.put(col, zigzag(rest))
}

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// time writes the distance from the event before. Server logs have milliseconds.
func (e *encoder) time(t time.Time) {
	now := t.UnixNano()
	e.putExact(colTime, now-e.last, time.Millisecond)
	e.last = now
}

func (e *encoder) origin(ev *capture.Event) {
	b := e.scratch[:0]
	for _, s := range [...]string{ev.Session, ev.User, ev.Database, ev.App, ev.Client, ev.Search} {
		b = appendString(b, s)
	}
	e.scratch = b
	n, fresh := e.dicts[dictOrigins].number(b)
	if fresh {
		e.txns = append(e.txns, 0)
	}
	e.put(colOrigin, n)
	e.put(colTxn, zigzag(int64(ev.TxnID-e.txns[n])))
	e.txns[n] = ev.TxnID
}

func (e *encoder) template(t *sqltext.Template) uint64 {
	if n, ok := e.byID[t.ID]; ok {
		return n
	}
	b := appendString(appendString(e.scratch[:0], sqltext.EncodeSlots(t.Slots)), t.Text)
	n, _ := e.dicts[dictTemplates].number(b)
	e.scratch = b
	if e.byID == nil {
		e.byID = map[sqltext.ID]uint64{}
	}
	e.byID[t.ID] = n
	return n
}

func (e *encoder) values(values []capture.Value) {
	e.put(colValues, uint64(len(values)))
	slot := 0
	for i := range values {
		v := &values[i]
		e.put(colValues, zigzag(int64(v.Slot-slot)))
		slot = v.Slot
		n, _ := e.dicts[dictValues].number(e.value(v))
		e.put(colValues, n)
	}
}

// value writes what is known of a value: nothing but hashes.
func (e *encoder) value(v *capture.Value) []byte {
	head := byte(v.Has) << 2
	if v.Null {
		head |= 1
	}
	if v.Cut {
		head |= 2
	}
	b := append(e.scratch[:0], head)
	for c := range v.Slots {
		if v.Has&(1<<c) != 0 {
			b = binary.LittleEndian.AppendUint16(b, v.Slots[c])
			b = binary.LittleEndian.AppendUint64(b, v.Eq[c])
		}
	}
	e.scratch = b
	return b
}

// rare writes what few events have.
func (e *encoder) rare(ev *capture.Event, more byte) {
	b := e.cols[colRare]
	if x := ev.Txn; x != nil {
		bits := uint64(0)
		for i, on := range [...]bool{x.Committed, x.Partial, x.Serializable} {
			if on {
				bits |= txnCommitted << i
			}
		}
		for i, t := range [...]time.Time{x.Start, x.End} {
			if !t.IsZero() {
				bits |= txnStart << i
			}
		}
		b = binary.AppendUvarint(b, bits)
		for i, t := range [...]time.Time{x.Start, x.End} {
			if bits&(txnStart<<i) != 0 {
				b = binary.AppendVarint(b, t.UnixNano())
			}
		}
		b = binary.AppendVarint(b, int64(x.Statements))
		b = binary.AppendVarint(b, int64(x.Savepoints))
	}
	if o := ev.Opaque; o != nil {
		b = binary.AppendVarint(b, int64(o.Bytes))
		b = appendString(appendString(b, o.Hash), o.Reason)
	}
	if more&moreShare != 0 {
		b = binary.AppendVarint(b, int64(ev.Share))
	}
	if more&moreState != 0 {
		b = appendString(b, ev.SQLState)
	}
	if more&moreEvidence != 0 {
		b = appendEvidence(b, ev)
	}
	e.cols[colRare] = b
}

// seal writes the record: what tells records apart in the clear, the rest compressed.
func (e *encoder) seal(z *zstd.Encoder, b *Batch) ([]byte, error) {
	out := append([]byte(magic), version)
	out = appendString(out, b.Agent)
	out = binary.LittleEndian.AppendUint64(out, b.Generation)
	for _, n := range [...]int64{b.Number, b.Before, int64(e.n), b.Born} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	body := make([]byte, 0, e.size()+64)
	for i := range e.dicts {
		body = binary.AppendUvarint(body, uint64(len(e.dicts[i].index)))
		body = append(body, e.dicts[i].data...)
	}
	for i := range e.cols {
		body = appendBytes(body, e.cols[i])
	}
	var report []byte
	if b.Report != nil {
		mode, err := cbor.CoreDetEncOptions().EncMode()
		if err != nil {
			return nil, fmt.Errorf("encode report: %w", err)
		}
		if report, err = mode.Marshal(b.Report); err != nil {
			return nil, fmt.Errorf("encode report: %w", err)
		}
	}
	return z.EncodeAll(appendBytes(body, report), out), nil
}
