// Package facts holds what a template does, resolved against one schema and free of any candidate: scopes, table occurrences, typed
// predicates, outputs, grouping, writes. It is made once per template and schema by planner/resolve, stored in the warehouse, and judged
// under any candidate by package planner. It imports nothing of the project.
package facts

// Version is stored with encoded facts; a reader that finds another one extracts the facts anew from the template text.
const Version = 2

// Statement is one template, resolved.
type Statement struct {
	Query    *Query    `cbor:"1,keyasint,omitempty"` // SELECT, VALUES, INSERT, UPDATE, DELETE, MERGE, and the query inside EXPLAIN, DECLARE, COPY (query), CREATE TABLE AS, PREPARE
	Utility  *Utility  `cbor:"2,keyasint,omitempty"` // everything else, and the wrapper around Query
	Problems []Problem `cbor:"3,keyasint,omitempty"` // what could not be understood; any problem makes the verdict unknown or invalid
	Sources  int       `cbor:"4,keyasint,omitempty"` // number of source IDs used: 0..Sources-1
}

// Problem is something the resolver does not understand.
type Problem struct {
	Code string `cbor:"1,keyasint"`           // reason code: invalid_statement, unknown_table, unknown_column, unsupported_syntax, ...
	Text string `cbor:"2,keyasint,omitempty"` // a sentence without values of the client
	Pos  int    `cbor:"3,keyasint,omitempty"` // byte offset in the template text, -1 unknown
	// Invalid is set where PostgreSQL would reject the statement too (no such operator, no such column).
	Invalid bool `cbor:"4,keyasint,omitempty"`
	// Name is the relation that the schema lacks, of an unknown_table: its catalog key if the statement names a schema, else as written.
	Name string `cbor:"5,keyasint,omitempty"`
}

// Query is one query level: a SELECT, VALUES, set operation, or a data-modifying statement (then Write is set).
type Query struct {
	CTEs  []CTE  `cbor:"1,keyasint,omitempty"`
	SetOp *SetOp `cbor:"2,keyasint,omitempty"` // a set operation; From, Where, Group, Having and Windows are empty then
	// Rows of VALUES. A row list that the templater folded has one row and Folded set.
	Values    [][]*Expr `cbor:"3,keyasint,omitempty"`
	Folded    bool      `cbor:"4,keyasint,omitempty"`
	From      []*Source `cbor:"5,keyasint,omitempty"` // comma list; each item may be a join tree. For UPDATE, DELETE and MERGE the target is From[0] and FROM/USING follow
	Where     *Expr     `cbor:"6,keyasint,omitempty"`
	Group     [][]*Expr `cbor:"7,keyasint,omitempty"` // grouping sets, expanded (ROLLUP, CUBE, GROUPING SETS); plain GROUP BY a, b is one set. Positions and output names are replaced by their expressions
	Grouped   bool      `cbor:"8,keyasint,omitempty"` // aggregates, GROUP BY or HAVING are present
	Having    *Expr     `cbor:"9,keyasint,omitempty"`
	Distinct  Distinct  `cbor:"10,keyasint,omitempty"`
	On        []*Expr   `cbor:"11,keyasint,omitempty"` // DISTINCT ON list
	OrderBy   []SortKey `cbor:"12,keyasint,omitempty"`
	Limit     *Expr     `cbor:"13,keyasint,omitempty"` // nil or NULL: no limit
	Offset    *Expr     `cbor:"14,keyasint,omitempty"`
	WithTies  bool      `cbor:"15,keyasint,omitempty"`
	Outputs   []Output  `cbor:"16,keyasint,omitempty"` // target list with * expanded; RETURNING for a write; of a set operation and VALUES: OwnResult columns
	Locks     []Lock    `cbor:"17,keyasint,omitempty"`
	Write     *Write    `cbor:"18,keyasint,omitempty"`
	Recursive bool      `cbor:"19,keyasint,omitempty"` // WITH RECURSIVE
	Into      string    `cbor:"20,keyasint,omitempty"` // SELECT INTO: the new table
}

// Distinct tells SELECT DISTINCT apart from DISTINCT ON.
type Distinct uint8

// The forms of DISTINCT.
const (
	NotDistinct Distinct = iota
	DistinctAll
	DistinctOn
)

// CTE is one WITH entry. Sources of kind FromCTE point at it by ID, which is unique in the statement.
type CTE struct {
	ID    int    `cbor:"1,keyasint"`
	Name  string `cbor:"2,keyasint"`
	Query *Query `cbor:"3,keyasint"`
	// Materialized is 'm' (MATERIALIZED), 'n' (NOT MATERIALIZED) or 0 (the default: inlined if used once and free of side effects).
	Materialized byte `cbor:"4,keyasint,omitempty"`
	SelfRef      bool `cbor:"5,keyasint,omitempty"` // the query refers to itself
	Uses         int  `cbor:"6,keyasint,omitempty"` // number of references from outside itself
}

// SetOp joins two queries' rows.
type SetOp struct {
	Op    string `cbor:"1,keyasint"` // union, intersect, except
	All   bool   `cbor:"2,keyasint,omitempty"`
	Left  *Query `cbor:"3,keyasint"`
	Right *Query `cbor:"4,keyasint"`
}

// SourceKind says what a FROM item is.
type SourceKind uint8

// The kinds of FROM items.
const (
	FromTable    SourceKind = iota + 1 // Table names it
	FromQuery                          // derived table, expanded view (View is set), VALUES
	FromCTE                            // reference to a CTE
	FromFunction                       // set-returning or scalar function; Funcs
	FromJoin                           // Join
)

// Source is one FROM item: one occurrence of a table, subquery, CTE or function, or a join of two sources. Its ID is unique in the
// statement; a column is named by (source ID, position in Columns).
type Source struct {
	ID      int        `cbor:"1,keyasint"`
	Kind    SourceKind `cbor:"2,keyasint"`
	Table   string     `cbor:"3,keyasint,omitempty"` // FromTable: catalog key, schema.name
	Query   *Query     `cbor:"4,keyasint,omitempty"` // FromQuery
	View    string     `cbor:"5,keyasint,omitempty"` // FromQuery made from a view: its catalog key
	CTE     int        `cbor:"6,keyasint,omitempty"` // FromCTE: CTE.ID
	Funcs   []*Expr    `cbor:"7,keyasint,omitempty"` // FromFunction
	Join    *Join      `cbor:"8,keyasint,omitempty"`
	Lateral bool       `cbor:"9,keyasint,omitempty"`
	Alias   string     `cbor:"10,keyasint,omitempty"`
	Sample  bool       `cbor:"11,keyasint,omitempty"` // TABLESAMPLE
	Only    bool       `cbor:"12,keyasint,omitempty"` // ONLY t
	Pos     int        `cbor:"13,keyasint,omitempty"`
	System  bool       `cbor:"14,keyasint,omitempty"` // FromTable: a table of pg_catalog or information_schema
	Temp    bool       `cbor:"15,keyasint,omitempty"` // FromTable: pg_temp or a temporary table of the schema
}

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds of joins. RIGHT stays RIGHT: the judge mirrors it.
const (
	Inner JoinKind = iota // also CROSS and comma-free ON true
	Left
	Right
	Full
)

// Join is a join of two sources. USING and NATURAL become equalities in On, plus Merged for the columns that both sides share.
type Join struct {
	Kind   JoinKind `cbor:"1,keyasint"`
	Left   *Source  `cbor:"2,keyasint"`
	Right  *Source  `cbor:"3,keyasint"`
	On     *Expr    `cbor:"4,keyasint,omitempty"`
	Merged []Merged `cbor:"5,keyasint,omitempty"`
}

// Merged is a USING column. A reference to it resolves to the left column of an inner or LEFT join, the right one of a RIGHT join, and to
// an Expr of kind Merge (COALESCE of both) over a FULL join.
type Merged struct {
	Name  string `cbor:"1,keyasint"`
	Left  *Expr  `cbor:"2,keyasint"`
	Right *Expr  `cbor:"3,keyasint"`
}

// Output is one column of a query's result.
type Output struct {
	Name   string `cbor:"1,keyasint,omitempty"`
	Expr   *Expr  `cbor:"2,keyasint"`
	Hidden bool   `cbor:"3,keyasint,omitempty"` // needed only by ORDER BY or DISTINCT ON; the resolver makes none, a judge may
}

// SortKey is one ORDER BY item; positions and output names are replaced by their expressions.
type SortKey struct {
	Expr *Expr `cbor:"1,keyasint"`
	Desc bool  `cbor:"2,keyasint,omitempty"`
	// NullsFirst tells where NULLs sort; PostgreSQL's default is first for DESC and last for ASC.
	NullsFirst bool `cbor:"3,keyasint,omitempty"`
}

// Lock is one FOR UPDATE/SHARE clause.
type Lock struct {
	Strength   string `cbor:"1,keyasint"`           // update, no key update, share, key share
	Of         []int  `cbor:"2,keyasint,omitempty"` // source IDs; empty: all
	SkipLocked bool   `cbor:"3,keyasint,omitempty"`
	NoWait     bool   `cbor:"4,keyasint,omitempty"`
	Pos        int    `cbor:"5,keyasint,omitempty"`
}

// Write is the effect of INSERT, UPDATE, DELETE or MERGE.
type Write struct {
	Op         string        `cbor:"1,keyasint"`           // insert, update, delete, merge
	Target     *Source       `cbor:"2,keyasint"`           // for update, delete and merge the same source as From[0]
	Columns    []string      `cbor:"3,keyasint,omitempty"` // insert: the columns that get a value, in order (the table's first ones where none were given)
	Source     *Query        `cbor:"4,keyasint,omitempty"` // insert: VALUES or SELECT; nil for DEFAULT VALUES
	Set        []Assign      `cbor:"5,keyasint,omitempty"` // update
	Conflict   *Conflict     `cbor:"6,keyasint,omitempty"`
	Actions    []MergeAction `cbor:"7,keyasint,omitempty"`
	On         *Expr         `cbor:"8,keyasint,omitempty"`  // merge ON
	Using      *Source       `cbor:"9,keyasint,omitempty"`  // merge source; also From[1]
	Overriding string        `cbor:"10,keyasint,omitempty"` // user, system
	View       string        `cbor:"11,keyasint,omitempty"` // catalog key of the updatable view that was written through; its WHERE is in the Query's
}

// Assign is one SET item. Values of a row assignment from a subquery are Opaque expressions that hold the sublink.
type Assign struct {
	Column string `cbor:"1,keyasint"`
	Value  *Expr  `cbor:"2,keyasint"`
	Pos    int    `cbor:"3,keyasint,omitempty"`
}

// Conflict is ON CONFLICT.
type Conflict struct {
	Nothing    bool     `cbor:"1,keyasint,omitempty"`
	Columns    []string `cbor:"2,keyasint,omitempty"` // plain columns of the arbiter, from the list or from the named constraint
	Exprs      int      `cbor:"3,keyasint,omitempty"` // number of expression columns in the arbiter
	Constraint string   `cbor:"4,keyasint,omitempty"`
	Set        []Assign `cbor:"5,keyasint,omitempty"` // EXCLUDED.c is a Column of source Excluded
	Where      *Expr    `cbor:"6,keyasint,omitempty"`
	Excluded   int      `cbor:"7,keyasint,omitempty"` // source ID of EXCLUDED
	Pos        int      `cbor:"8,keyasint,omitempty"`
}

// MergeAction is one WHEN clause.
type MergeAction struct {
	Matched byte     `cbor:"1,keyasint"` // 'm' MATCHED, 'n' NOT MATCHED [BY TARGET], 's' NOT MATCHED BY SOURCE
	Do      string   `cbor:"2,keyasint"` // update, insert, delete, nothing
	When    *Expr    `cbor:"3,keyasint,omitempty"`
	Set     []Assign `cbor:"4,keyasint,omitempty"`
	Columns []string `cbor:"5,keyasint,omitempty"` // insert: the columns given, or all
	Values  []*Expr  `cbor:"6,keyasint,omitempty"` // insert: nil for DEFAULT VALUES
	Pos     int      `cbor:"7,keyasint,omitempty"`
}
