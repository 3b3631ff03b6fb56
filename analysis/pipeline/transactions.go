package pipeline

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
)

// The symbols of a value slot that hold no number of a value.
const (
	noValue    = 0  // no value, NULL, cut, or of a type that can not be a shard key
	manyValues = -1 // more than one value in the transaction
)

// transactions groups statements into transactions and transactions into shapes.
type transactions struct {
	open   map[txnKey]*txn
	queue  []txnKey // keys of open in order of their beginning, ended ones among them
	counts map[shapeKey]*shapeCount
	known  map[string]string // encoded shape -> signature, of this process
	fresh  []warehouse.SignatureRow
	ended  int64
	buf    []byte
	single txn // of autocommit, used again and again
}

type txnKey struct {
	Session string `cbor:"1,keyasint"`
	ID      uint64 `cbor:"2,keyasint"`
}

// txn is an open transaction. Its fields are exported for the state, which outlives a run.
type txn struct {
	Key        txnKey          `cbor:"1,keyasint"`
	Start      time.Time       `cbor:"2,keyasint"`
	Entries    []*entry        `cbor:"3,keyasint"`
	Numbers    map[eqKey]int64 `cbor:"-"`
	Eq         []eqKey         `cbor:"4,keyasint"` // Numbers as a list: number i+1 is Eq[i]
	Opaque     bool            `cbor:"5,keyasint"`
	Overflow   bool            `cbor:"6,keyasint"`
	Statements int64           `cbor:"7,keyasint"`
	US         int64           `cbor:"8,keyasint"`
	byTemplate map[string]*entry
}

// entry is one distinct template of a transaction. Of several executions a slot keeps the value if it was the same in all of them: a slot
// with two values is on two shards for every candidate that binds with it, whatever the values.
type entry struct {
	Template string  `cbor:"1,keyasint"`
	Repeated bool    `cbor:"2,keyasint"`
	Slots    []int64 `cbor:"3,keyasint"`
	Symbols  []int64 `cbor:"4,keyasint"`
}

// eqKey is the identity of a value: key class and keyed hash.
type eqKey struct {
	Class int    `cbor:"1,keyasint"`
	Hash  uint64 `cbor:"2,keyasint"`
}

type shapeKey struct {
	day                                            int64
	signature                                      string
	explicit, committed, partial, opaque, overflow bool
}

type shapeCount struct{ count, statements, us int64 }

func (x *transactions) init() {
	x.open = map[txnKey]*txn{}
	x.known = map[string]string{}
	x.single.Numbers = map[eqKey]int64{}
}

func (x *transactions) reset() {
	x.counts = map[shapeKey]*shapeCount{}
	x.fresh = nil
	x.ended = 0
	if len(x.known) > maxSignatures {
		x.known = map[string]string{}
	}
}

func (x *transactions) size() int { return len(x.counts) + len(x.fresh) }

// statement adds one execution to its transaction; t is nil if its text could not be read.
func (x *transactions) statement(e *capture.Event, t *template, us int64) {
	if e.Auto {
		x.autocommit(e, t, us)
		return
	}
	k := txnKey{e.Session, e.TxnID}
	tx := x.open[k]
	if tx == nil {
		k.Session = strings.Clone(k.Session)
		tx = &txn{Key: k, Start: e.Time.UTC(), Numbers: map[eqKey]int64{}, byTemplate: map[string]*entry{}}
		x.open[k] = tx
		x.queue = append(x.queue, k)
		x.evict()
	}
	tx.US += us
	if t == nil {
		tx.Statements++
		tx.Opaque = true
		return
	}
	if t.resolved.Control {
		return
	}
	tx.Statements++
	tx.add(t, e.Values)
}

// autocommit counts a transaction of one statement. Its class decides where it runs, and for a list also whether its values are one and the same.
func (x *transactions) autocommit(e *capture.Event, t *template, us int64) {
	k := shapeKey{day: dayOf(e.Time), committed: e.SQLState == "" || e.SQLState == "00000", opaque: t == nil}
	var entries []*entry
	if t != nil && t.resolved.Control {
		return // SET, SHOW and the like outside a block touch no data
	}
	if t != nil {
		en := &entry{Template: t.id}
		if len(t.lists) > 0 {
			x.single.fill(en, t.lists, e.Values)
			clear(x.single.Numbers)
			x.single.Eq = x.single.Eq[:0]
			renumber([]*entry{en})
		}
		entries = []*entry{en}
	}
	k.signature = x.signature(entries)
	x.count(k, 1, us)
}

// add merges one execution into the transaction's entries.
func (tx *txn) add(t *template, values []capture.Value) {
	en := tx.byTemplate[t.id]
	if en == nil {
		if len(tx.Entries) == maxStatements {
			tx.Overflow = true
			return
		}
		en = &entry{Template: t.id}
		tx.fill(en, t.values, values)
		tx.Entries = append(tx.Entries, en)
		tx.byTemplate[t.id] = en
		return
	}
	en.Repeated = true
	for i := range t.values {
		if i < len(en.Slots) && en.Slots[i] == int64(t.values[i].slot) {
			en.Symbols[i] = merge(en.Symbols[i], tx.symbol(values, &t.values[i]))
		}
	}
}

// fill gives an entry its slots and their symbols in one execution.
func (tx *txn) fill(en *entry, slots []value, values []capture.Value) {
	en.Slots, en.Symbols = make([]int64, len(slots)), make([]int64, len(slots))
	for i := range slots {
		en.Slots[i] = int64(slots[i].slot)
		en.Symbols[i] = tx.symbol(values, &slots[i])
	}
}

// symbol numbers the value of a slot in one execution.
func (tx *txn) symbol(values []capture.Value, w *value) int64 {
	out, found := int64(noValue), false
	for i := range values {
		v := &values[i]
		if v.Slot != w.slot {
			continue
		}
		s := int64(noValue)
		if usable(v, w.class) && !w.mixed {
			s = tx.number(eqKey{w.class, v.Eq[w.class]})
		}
		if found {
			s = merge(out, s)
		}
		if out, found = s, true; out == manyValues {
			break // whatever follows
		}
	}
	return out
}

// merge is the symbol of a slot that had a and b. Two different values stay two whatever else is seen; a missing value could be any.
func merge(a, b int64) int64 {
	switch {
	case a == b:
		return a
	case a == manyValues || b == manyValues:
		return manyValues
	case a == noValue || b == noValue:
		return noValue
	}
	return manyValues
}

func (tx *txn) number(k eqKey) int64 {
	n, ok := tx.Numbers[k]
	if !ok {
		tx.Eq = append(tx.Eq, k)
		n = int64(len(tx.Eq))
		tx.Numbers[k] = n
	}
	return n
}

// end closes a transaction whose end was seen.
func (x *transactions) end(e *capture.Event) {
	k := txnKey{e.Session, e.TxnID}
	tx := x.open[k]
	if tx == nil {
		tx = &txn{Key: k} // an empty block, or its statements came before the warehouse
	}
	partial, committed := true, false
	if e.Txn != nil {
		partial, committed = e.Txn.Partial, e.Txn.Committed
		if int64(e.Txn.Statements) > tx.Statements && len(tx.Entries) == 0 && !tx.Opaque {
			partial = true
		}
	}
	x.close(tx, e.Time, committed, partial)
}

func (x *transactions) close(tx *txn, at time.Time, committed, partial bool) {
	delete(x.open, tx.Key)
	renumber(tx.Entries)
	x.count(shapeKey{day: dayOf(at), signature: x.signature(tx.Entries), explicit: true, committed: committed, partial: partial,
		opaque: tx.Opaque, overflow: tx.Overflow}, tx.Statements, tx.US)
}

// evict closes the oldest open transactions beyond the bound, as partial ones.
func (x *transactions) evict() {
	for len(x.open) > maxOpen || len(x.queue) > 2*maxOpen {
		k := x.queue[0]
		x.queue = x.queue[1:]
		tx := x.open[k]
		switch {
		case tx == nil:
		case len(x.open) > maxOpen:
			x.close(tx, tx.Start, false, true)
		default:
			x.queue = append(x.queue, k)
		}
	}
}

func (x *transactions) count(k shapeKey, statements, us int64) {
	c := x.counts[k]
	if c == nil {
		c = &shapeCount{}
		x.counts[k] = c
	}
	c.count++
	c.statements += statements
	c.us += us
	x.ended++
}

// renumber gives symbols in order of first use by the entries, so that equal shapes have equal symbols.
func renumber(entries []*entry) {
	numbers := map[int64]int64{}
	for _, en := range entries {
		for i, s := range en.Symbols {
			if s <= 0 {
				continue
			}
			n, ok := numbers[s]
			if !ok {
				n = int64(len(numbers) + 1)
				numbers[s] = n
			}
			en.Symbols[i] = n
		}
	}
}

// signature names a shape, and notes its rows if this process has not seen it.
func (x *transactions) signature(entries []*entry) string {
	b := x.buf[:0]
	for _, en := range entries {
		b = append(b, en.Template...)
		if en.Repeated {
			b = append(b, 'r')
		}
		b = binary.AppendUvarint(b, uint64(len(en.Slots)))
		for i := range en.Slots {
			b = binary.AppendVarint(b, en.Slots[i])
			b = binary.AppendVarint(b, en.Symbols[i])
		}
	}
	x.buf = b
	if s, ok := x.known[string(b)]; ok {
		return s
	}
	sum := sha256.Sum256(b)
	s := hex.EncodeToString(sum[:16])
	x.known[string(b)] = s
	if len(entries) == 0 {
		x.fresh = append(x.fresh, warehouse.SignatureRow{Signature: s, Position: -1})
	}
	for i, en := range entries {
		x.fresh = append(x.fresh, warehouse.SignatureRow{Signature: s, Position: i, Template: en.Template, Repeated: en.Repeated,
			Slots: en.Slots, Symbols: en.Symbols})
	}
	return s
}

// savedState is what a stream needs to go on: the source's own state, and the transactions that are open.
type savedState struct {
	Source []byte `cbor:"1,keyasint"`
	Open   []*txn `cbor:"2,keyasint"`
}

// state encodes the open transactions, oldest first, beside the source's state.
func (a *aggregate) state(source []byte) ([]byte, error) {
	s := savedState{Source: source}
	for _, tx := range a.txns.open {
		s.Open = append(s.Open, tx)
	}
	slices.SortFunc(s.Open, func(a, b *txn) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Key.Session, b.Key.Session), cmp.Compare(a.Key.ID, b.Key.ID))
	})
	mode, err := cbor.EncOptions{Time: cbor.TimeUnixMicro, Sort: cbor.SortCoreDeterministic}.EncMode()
	if err != nil {
		return nil, err
	}
	return mode.Marshal(s)
}

// restore takes up open transactions and returns the source's state.
func (a *aggregate) restore(data []byte) ([]byte, error) {
	s, err := decodeState(data)
	if err != nil {
		return nil, err
	}
	for _, tx := range s.Open {
		tx.Start = tx.Start.UTC()
		tx.Numbers, tx.byTemplate = map[eqKey]int64{}, map[string]*entry{}
		for i, k := range tx.Eq {
			tx.Numbers[k] = int64(i + 1)
		}
		for _, en := range tx.Entries {
			tx.byTemplate[en.Template] = en
		}
		a.txns.open[tx.Key] = tx
		a.txns.queue = append(a.txns.queue, tx.Key)
	}
	return s.Source, nil
}
