package warehouse

import (
	"cmp"
	"time"
)

// The tables of what the WAL tells.
const (
	WALRows         = "wal_rows"
	WALColumns      = "wal_columns"
	WALSlots        = "wal_slots"
	WALShapes       = "wal_shapes"
	WALTransactions = "wal_transactions"
)

// WALOverflow is the shape of transactions whose own was too large or one too many: what they wrote is unknown.
const WALOverflow = "overflow"

func walTables() []Table {
	return []Table{
		{Name: WALRows, Doc: "Rows that committed transactions wrote, as the WAL has them.", ByDay: true,
			Sort: []string{"table_name", "minute"}, Keys: []string{"table_name", "minute", "op", "database"},
			Folds: map[string]Fold{"rows": Sum, "bytes": Sum, "transactions": Sum}, Count: "rows", Columns: []Column{
				{"minute", Minute, "start of the minute of the commit, UTC"},
				{"database", Text, "database name"},
				{"table_name", Text, "catalog key, schema.table, of a partition its table's; empty: rows of which it is not known what they did"},
				{"op", Text, "insert, update, delete, truncate, unknown"},
				{"rows", Integer, "rows; of truncate: times"},
				{"bytes", Integer, "of the new rows, of delete the old ones as far as they are in the WAL; text form"},
				{"transactions", Integer, "transactions that did this to the table in the minute"},
			}},
		{Name: WALColumns, Doc: "The rows of wal_rows by column that can be a shard key, and what is known of its values.", ByDay: true,
			Sort: []string{"table_name", "column_name", "op"}, Keys: []string{"table_name", "column_name", "op"},
			Folds: map[string]Fold{"rows": Sum, "nulls": Sum, "unknown": Sum, "moved": Sum, "blind": Sum}, Count: "rows", Columns: []Column{
				{"table_name", Text, "catalog key"},
				{"column_name", Text, "the column"},
				{"op", Text, "insert, update, delete"},
				{"rows", Integer, "rows"},
				{"nulls", Integer, "of them, those where it is NULL"},
				{"unknown", Integer, "of them, those whose value is not in the WAL"},
				{"moved", Integer, "of updates, those that changed it"},
				{"blind", Integer, "of updates, those whose old value is not in the WAL: a change would not show"},
			}},
		{Name: WALSlots, Doc: "The rows of wal_columns by hash slot of the column's value: what a shard key's load of writes would be.", ByDay: true,
			Sort: []string{"table_name", "column_name", "slot"}, Keys: []string{"table_name", "column_name", "slot"},
			Folds: map[string]Fold{"rows": Sum}, Count: "rows", Columns: []Column{
				{"table_name", Text, "catalog key"},
				{"column_name", Text, "the column"},
				{"slot", Integer, "0..65535, as in key_slots"},
				{"rows", Integer, "rows"},
			}},
		{Name: WALShapes, Doc: "Shapes of transactions that wrote: a row for each column that can be a shard key of each table and operation, one without a column where there is none. Again, if two writers met it at the same time.",
			Sort: []string{"shape", "position"}, Keys: []string{"shape", "position", "table_name", "op", "column_name", "symbol", "nulls", "unknown", "moved", "blind"}, Columns: []Column{
				{"shape", Text, "hex; overflow: of those that were too many or too large"},
				{"position", Integer, "from 0"},
				{"table_name", Text, "catalog key; empty: it is not known what was written"},
				{"op", Text, "insert, update, delete, truncate, unknown"},
				{"column_name", Text, "the column; empty: the table has none that was looked at"},
				{"symbol", Integer, "n >= 1: all known values are the transaction's n-th distinct value, -1: they are several, 0: none is known"},
				{"nulls", Flag, "in some rows it is NULL"},
				{"unknown", Flag, "in some rows the value is not in the WAL"},
				{"moved", Flag, "an update changed it"},
				{"blind", Flag, "an update may have changed it: the old value is not in the WAL"},
			}},
		{Name: WALTransactions, Doc: "Transactions that wrote, per day and shape.", ByDay: true,
			Sort: []string{"shape"}, Keys: []string{"shape"}, Folds: map[string]Fold{"count": Sum, "rows": Sum, "bytes": Sum}, Count: "count", Columns: []Column{
				{"shape", Text, "wal_shapes.shape"},
				{"count", Integer, "transactions"},
				{"rows", Integer, "rows that they wrote"},
				{"bytes", Integer, "bytes of these, as in wal_rows"},
			}},
	}
}

// WALRow is a row of wal_rows.
type WALRow struct {
	Minute                    time.Time
	Database, Table, Op       string
	Rows, Bytes, Transactions int64
}

// WALColumn is a row of wal_columns.
type WALColumn struct {
	Day                                time.Time
	Table, Column, Op                  string
	Rows, Nulls, Unknown, Moved, Blind int64
}

// WALSlot is a row of wal_slots.
type WALSlot struct {
	Day           time.Time
	Table, Column string
	Slot          uint16
	Rows          int64
}

// WALShape is a row of wal_shapes.
type WALShape struct {
	Shape                        string
	Position                     int
	Table, Op, Column            string
	Symbol                       int
	Nulls, Unknown, Moved, Blind bool
}

// WALTransaction is a row of wal_transactions.
type WALTransaction struct {
	Day                time.Time
	Shape              string
	Count, Rows, Bytes int64
}

func (r WALRow) cells(w *cells) {
	w.time(r.Minute)
	w.text(r.Database)
	w.text(r.Table)
	w.text(r.Op)
	w.integer(r.Rows)
	w.integer(r.Bytes)
	w.integer(r.Transactions)
}

func (r WALColumn) cells(w *cells) {
	w.text(r.Table)
	w.text(r.Column)
	w.text(r.Op)
	w.integer(r.Rows)
	w.integer(r.Nulls)
	w.integer(r.Unknown)
	w.integer(r.Moved)
	w.integer(r.Blind)
}

func (r WALSlot) cells(w *cells) {
	w.text(r.Table)
	w.text(r.Column)
	w.integer(int64(r.Slot))
	w.integer(r.Rows)
}

func (r WALShape) cells(w *cells) {
	w.text(r.Shape)
	w.integer(int64(r.Position))
	w.text(r.Table)
	w.text(r.Op)
	w.text(r.Column)
	w.integer(int64(r.Symbol))
	w.flag(r.Nulls)
	w.flag(r.Unknown)
	w.flag(r.Moved)
	w.flag(r.Blind)
}

func (r WALTransaction) cells(w *cells) {
	w.text(r.Shape)
	w.integer(r.Count)
	w.integer(r.Rows)
	w.integer(r.Bytes)
}

func (r WALRow) day() time.Time         { return r.Minute }
func (r WALColumn) day() time.Time      { return r.Day }
func (r WALSlot) day() time.Time        { return r.Day }
func (r WALTransaction) day() time.Time { return r.Day }

func compareWALRows(a, b *WALRow) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), a.Minute.Compare(b.Minute), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Database, b.Database))
}

func compareWALColumns(a, b *WALColumn) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Op, b.Op))
}

func compareWALSlots(a, b *WALSlot) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Slot, b.Slot))
}

func compareWALShapes(a, b *WALShape) int {
	return cmp.Or(cmp.Compare(a.Shape, b.Shape), cmp.Compare(a.Position, b.Position))
}

func compareWALTransactions(a, b *WALTransaction) int { return cmp.Compare(a.Shape, b.Shape) }
