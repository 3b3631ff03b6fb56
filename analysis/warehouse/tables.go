package warehouse

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Type is the type of a warehouse column.
type Type string

// The column types, by the name a SQL reader knows.
const (
	Text     Type = "VARCHAR"
	Integer  Type = "BIGINT"
	Flag     Type = "BOOLEAN"
	Minute   Type = "TIMESTAMPTZ"
	Blob     Type = "BLOB"
	Integers Type = "BIGINT[]"
)

// Column is one column of a table, with the sentence that docs/contracts.md prints.
type Column struct {
	Name string
	Type Type
	Doc  string
}

// Table is one table of the warehouse: a set of Parquet files with one schema.
type Table struct {
	Name    string
	Doc     string
	ByDay   bool // files lie under day=YYYY-MM-DD; readers get a column day from the path
	Columns []Column
	Sort    []string // order of the rows of a file
	// What upkeep makes of rows that are equal in all Keys, which begin with Sort: one row, each other column by its Fold. Without Keys the rows
	// of several files are put together and none is merged.
	Keys  []string
	Folds map[string]Fold
	Count string // column that retention adds up over what it removes; empty: rows are counted
}

// Fold says what a column of two rows becomes in the one row that stands for both.
type Fold uint8

// The folds. Buckets and Counts belong together: a histogram.
const (
	Sum           Fold = iota + 1
	Least              // of two times or numbers
	Greatest           // of two times or numbers
	LeastPositive      // like Least, and 0 is no value
	Either             // they are equal, or it does not matter
	Buckets            // numbers of a histogram's buckets, ascending
	Counts             // what is in each of Buckets
)

// The names of the tables.
const (
	Templates    = "templates"
	Facts        = "facts"
	Rollups      = "rollups"
	KeySlots     = "key_slots"
	Signatures   = "signatures"
	Transactions = "transactions"
	Opaque       = "opaque"
	LedgerTable  = "ledger"
	Schemas      = "schemas"
)

// Tables describes every table: the one place from which the Arrow schemas and the column lists of docs/contracts.md are made.
func Tables() []Table {
	return append([]Table{
		{Name: Templates, Doc: "Statements with their values taken out, once each (again if two writers met it at the same time: group by id). What cannot be parsed is in opaque.",
			Sort: []string{"id"}, Keys: []string{"id", "text", "slots", "search_path", "verb"},
			Folds: map[string]Fold{"bound": Either, "first_seen": LeastPositive}, Columns: []Column{
				{"id", Text, "hex; names the text, its slot kinds and the search path"},
				{"text", Text, "canonical text with values as $1..$n"},
				{"slots", Text, "kinds of the values, as planner/sqltext encodes them"},
				{"search_path", Text, "search path in force, empty: the default"},
				{"verb", Text, "first word in lower case"},
				{"bound", Integer, "0"},
				{"first_seen", Minute, "time of the first execution that this writer saw"},
			}},
		{Name: Facts, Doc: "What a template does, resolved against one schema; made anew from templates.text when the schema or the version changes.",
			Sort: []string{"template"}, Keys: []string{"template", "schema_hash", "version", "facts"}, Columns: []Column{
				{"template", Text, "templates.id"},
				{"schema_hash", Text, "schemas.hash"},
				{"version", Integer, "version of the encoding"},
				{"facts", Blob, "CBOR of facts.Statement"},
			}},
		{Name: Rollups, Doc: "Executions per minute and origin. Sum them: two rows may share all keys.", ByDay: true,
			Sort: []string{"template", "minute"}, Keys: []string{"template", "minute", "database", "user", "application", "team", "endpoint"},
			Folds: map[string]Fold{"calls": Sum, "errors": Sum, "timed": Sum, "time_us": Sum, "buckets": Buckets, "counts": Counts,
				"list_min": LeastPositive, "list_max": Greatest}, Count: "calls", Columns: []Column{
				{"minute", Minute, "start of the minute, UTC; 1970-01-01 where the source has no times"},
				{"template", Text, "templates.id"},
				{"database", Text, "database name"},
				{"user", Text, "role name"},
				{"application", Text, "application_name"},
				{"team", Text, "team of the sqlcommenter tags"},
				{"endpoint", Text, "route or controller#action of the sqlcommenter tags"},
				{"calls", Integer, "executions, failed ones included"},
				{"errors", Integer, "failed executions"},
				{"timed", Integer, "executions with a duration"},
				{"time_us", Integer, "sum of the durations, microseconds"},
				{"buckets", Integers, "latency histogram: numbers of the buckets that are not empty, ascending (see Bucket)"},
				{"counts", Integers, "latency histogram: executions in each of buckets"},
				{"list_min", Integer, "shortest folded list, 0: no list"},
				{"list_max", Integer, "longest folded list, 0: no list"},
			}},
		{Name: KeySlots, Doc: "Executions by hash slot of the values compared with a column: what a shard key's load would be.", ByDay: true,
			Sort: []string{"table_name", "column_name", "slot"}, Keys: []string{"table_name", "column_name", "slot"},
			Folds: map[string]Fold{"calls": Sum}, Count: "calls", Columns: []Column{
				{"table_name", Text, "catalog key, schema.table"},
				{"column_name", Text, "column that the value is compared with or stored into"},
				{"slot", Integer, "0..65535: (uint32(hash) xor 0x80000000) >> 16 with PostgreSQL's hash of the column's type"},
				{"calls", Integer, "values seen; a list counts each element"},
			}},
		{Name: Signatures, Doc: "Shapes of transactions: their distinct statements in order of first execution, values replaced by symbols.",
			Sort: []string{"signature", "position"}, Keys: []string{"signature", "position", "template", "repeated", "slots", "symbols"}, Columns: []Column{
				{"signature", Text, "hex; names the rows of one shape"},
				{"position", Integer, "from 0; -1 for the only row of a shape without statements"},
				{"template", Text, "templates.id"},
				{"repeated", Flag, "executed more than once in the transaction"},
				{"slots", Integers, "value slots that are compared with a column; of a statement outside a block only its lists"},
				{"symbols", Integers, "per slot: n >= 1 the n-th distinct value of the transaction, -1 several values, 0 no value to compare"},
			}},
		{Name: Transactions, Doc: "Transactions per day and shape.", ByDay: true,
			Sort:  []string{"signature", "explicit", "committed", "partial", "opaque", "overflow"},
			Keys:  []string{"signature", "explicit", "committed", "partial", "opaque", "overflow"},
			Folds: map[string]Fold{"count": Sum, "statements": Sum, "time_us": Sum}, Count: "count", Columns: []Column{
				{"signature", Text, "signatures.signature"},
				{"explicit", Flag, "a BEGIN block; false: one autocommit statement"},
				{"committed", Flag, "false: rolled back, or the session ended"},
				{"partial", Flag, "its beginning or end was not seen"},
				{"opaque", Flag, "it held text that could not be read"},
				{"overflow", Flag, "it had more distinct statements than are kept"},
				{"count", Integer, "transactions"},
				{"statements", Integer, "executions in them"},
				{"time_us", Integer, "sum of their statements' durations, microseconds"},
			}},
		{Name: Opaque, Doc: "Executions whose text could not be lexed or parsed, or was cut; the text itself is never kept, because any word of it may be a value.", ByDay: true,
			Sort: []string{"reason", "hash", "minute"}, Keys: []string{"reason", "hash", "minute", "bytes", "database", "user", "application", "team"},
			Folds: map[string]Fold{"calls": Sum, "errors": Sum, "time_us": Sum}, Count: "calls", Columns: []Column{
				{"minute", Minute, "start of the minute, UTC"},
				{"reason", Text, "truncated, unlexable, encoding, fastpath; too_long, too_deep, unparsed of what PostgreSQL's parser never saw or refused"},
				{"hash", Text, "keyed hash of the text"},
				{"bytes", Integer, "length of the text"},
				{"database", Text, "database name"},
				{"user", Text, "role name"},
				{"application", Text, "application_name"},
				{"team", Text, "team of the sqlcommenter tags"},
				{"calls", Integer, "executions"},
				{"errors", Integer, "failed executions"},
				{"time_us", Integer, "sum of the durations, microseconds"},
			}},
		statisticsTable(),
		{Name: LedgerTable, Doc: "Where every byte, record and statement that was read went.",
			Sort: []string{"source", "measure", "reason"}, Keys: []string{"source", "measure", "reason", "name"},
			Folds: map[string]Fold{"value": Sum}, Columns: []Column{
				{"source", Text, "identity of the source"},
				{"name", Text, "its name as given"},
				{"measure", Text, "bytes, records, statements, executions, errors, transactions, dropped, dropped_bytes, unparsed, bucket, note, retired (by retention: the reason is the table)"},
				{"reason", Text, "reason or bucket, empty: the measure has none"},
				{"value", Integer, "amount that this commit adds"},
			}},
		{Name: Schemas, Doc: "Schemas that facts were resolved against.",
			Sort: []string{"hash"}, Keys: []string{"hash", "name"}, Columns: []Column{
				{"hash", Text, "hash of the normalised objects"},
				{"name", Text, "file or server it came from"},
			}},
	}, walTables()...)
}

// TableNamed returns the description of a table.
func TableNamed(name string) (Table, error) {
	for _, t := range Tables() {
		if t.Name == name {
			return t, nil
		}
	}
	return Table{}, fmt.Errorf("find warehouse table %q: no such table", name)
}

// Columns returns the section of docs/contracts.md on the tables, as Markdown.
func Columns() string {
	var b strings.Builder
	for _, t := range Tables() {
		path := t.Name + "/*.parquet"
		if t.ByDay {
			path = t.Name + "/day=*/*.parquet"
		}
		fmt.Fprintf(&b, "### `%s`\n\n%s Files: `%s`.\n\n| column | type | meaning |\n|---|---|---|\n", t.Name, t.Doc, path)
		for _, c := range t.Columns {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, c.Type, c.Doc)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// arrowSchema makes the Arrow schema of a table.
func (t Table) arrowSchema() *arrow.Schema {
	fields := make([]arrow.Field, len(t.Columns))
	for i, c := range t.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: c.Type.arrow()}
	}
	return arrow.NewSchema(fields, nil)
}

func (t Type) arrow() arrow.DataType {
	switch t {
	case Text:
		return arrow.BinaryTypes.String
	case Integer:
		return arrow.PrimitiveTypes.Int64
	case Flag:
		return arrow.FixedWidthTypes.Boolean
	case Minute:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case Blob:
		return arrow.BinaryTypes.Binary
	case Integers:
		return arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)
	}
	panic("warehouse: column type " + string(t))
}
