package capture

import "time"

// Evidence says what a number of calls that a server counted is worth.
type Evidence uint8

// The kinds of evidence, best first.
const (
	Exact   Evidence = iota // the calls that there were
	AtLeast                 // there may have been more: rows were evicted or reset, or a prepared utility statement
	Unclear                 // calls from inside functions are in it too, and cannot be told apart
)

// String names the kind as the warehouse does.
func (e Evidence) String() string {
	return [...]string{Exact: "exact", AtLeast: "at_least", Unclear: "unclear"}[min(e, Unclear)]
}

// Counted is the calls of one template, by one role in one database, between two looks at the server's statistics.
type Counted struct {
	From, To time.Time
	Calls    int64
	Time     time.Duration // of all calls
	Evidence Evidence
}

// Written is what one committed transaction wrote, as logical decoding tells it: no values but hashes. One that is too large for one event goes
// on in others: the first (Part 0) has its whole shape, those after it only more of the Slots, with no rows, bytes or other counts.
type Written struct {
	LSN    uint64       // end of its commit record: grows from transaction to transaction of one server
	Part   int          // 0, or the number of a continuation
	Tables []TableWrite // sorted by table, then operation
}

// WriteOp is an operation of the WAL.
type WriteOp uint8

// The operations.
const (
	Insert WriteOp = iota + 1
	Update
	Delete
	Truncate
)

// String names the operation as the warehouse does.
func (o WriteOp) String() string {
	return [...]string{0: "unknown", Insert: "insert", Update: "update", Delete: "delete", Truncate: "truncate"}[o%(Truncate+1)]
}

// TableWrite is what a transaction did to one table by one operation.
type TableWrite struct {
	Table   string // schema.table, as the catalog's keys, of a partition its table's; "" with an Op of 0: rows of which it is not known what they did
	Op      WriteOp
	Rows    int64         // of Truncate: times
	Bytes   int64         // of the new tuples, of Delete the old ones, as they were sent: text form
	Columns []ColumnWrite // columns that can be a shard key, sorted by name
}

// ColumnWrite is how the rows of a TableWrite spread over one column's values.
type ColumnWrite struct {
	Column  string
	Class   uint8      // index into Value.Slots
	Slots   []SlotRows // rows by hash slot, ascending
	One     bool       // all known values are one value
	Eq      uint64     // its keyed hash, if One
	Null    int64      // rows where it is NULL
	Unknown int64      // rows whose value was not sent
	Moved   int64      // rows of updates that changed it; Slots has the new value
	Blind   int64      // rows of updates whose old value was not sent, so that a change would not show
}

// SlotRows is rows of one hash slot.
type SlotRows struct {
	Slot uint16
	Rows int64
}
