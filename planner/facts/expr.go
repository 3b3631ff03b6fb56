package facts

// Op is the kind of an expression node.
type Op uint8

// The kinds of expressions. What the resolver does not know in detail is Opaque with its parts in Args and Subs, so that a judge still
// sees every column, sublink and volatile function inside it.
const (
	Column    Op = iota + 1 // (Source, Col); Source OwnResult is a column of the query's own set operation or VALUES. Name is the column's name
	Slot                    // value Slot of the template (1-based), with the type PostgreSQL gives it; List: it is a folded list
	Const                   // a constant that stays in the template: NULL, TRUE, FALSE; Text has it in lower case. Literal: a literal of a view's definition, no client's value; Text is its value
	And                     // Args, two or more, flattened
	Or                      // Args, flattened
	Not                     // Args[0]
	Compare                 // Args[0] Name Args[1]; Name is the operator: =, <>, <, <=, >, >=, ~~, ... An argument whose Type is "" or no builtin may be cast unseen
	NotSame                 // Args[0] IS [NOT] DISTINCT FROM Args[1]; Negated = IS NOT DISTINCT FROM
	In                      // Args[0] IN (Args[1:]); Negated
	AnyArray                // Args[0] Name ANY/ALL (Args[1]); All; an ARRAY[...] is an Array node
	NullTest                // Args[0] IS NULL; Negated = IS NOT NULL
	BoolTest                // Args[0] IS Name; Name: true, not true, false, not false, unknown, not unknown
	Cast                    // Args[0]::Type, Text is the type modifier "(10)"; Implicit where PostgreSQL adds it: for an operator, a function, a common type, or the assignment of VALUES and SET. No node is made for a cast that changes nothing (same type, text to varchar, both without modifier), nor for one of an untyped literal or parameter: that is the Slot with the type itself
	Operator                // any other operator: Name, Args
	Call                    // plain function: Name is the catalog key or builtin name, Volatility
	Aggregate               // aggregate: Name, Args (none: star), Distinct, Filter, Order (inside the call, or WITHIN GROUP: then Ordered). Filter and Order are not in Args
	Window                  // window function or aggregate OVER: Name, Args, Partition, Order, Filter; frame bounds are the last Args
	Row                     // ROW(Args)
	Array                   // ARRAY[Args]; a folded list is one Slot with List
	Case                    // CASE: Args are condition, result, ..., and the ELSE (NULL if not written); CASE x WHEN v is x = v
	Coalesce                // COALESCE(Args)
	Sublink                 // Query with Sub; Args[0] is the test expression where there is one (a Row if it has several columns)
	Merge                   // merged USING column of a FULL join: Args[0], Args[1]
	Default                 // DEFAULT in VALUES or SET
	CurrentOf               // WHERE CURRENT OF Name
	Opaque                  // anything else; Name says what (number: a number the template does not show)
	Collate                 // Args[0] COLLATE Name
)

// OwnResult is the Source of a Column that stands for a column of the query's own result: in Outputs and OrderBy of a set operation or
// of VALUES, where Col is the position in both arms' Outputs, or in each row.
const OwnResult = -1

// Volatility is PostgreSQL's own: immutable, stable, volatile.
type Volatility byte

// The volatilities. VolUnknown is a function that is neither builtin nor in the catalog.
const (
	Immutable  Volatility = 'i'
	Stable     Volatility = 's'
	Volatile   Volatility = 'v'
	VolUnknown Volatility = 'u'
)

// SubKind is the kind of a sublink.
type SubKind uint8

// The kinds of sublinks.
const (
	SubScalar SubKind = iota + 1 // (SELECT ...)
	SubExists                    // EXISTS (...)
	SubAny                       // x op ANY (...), x IN (...); Name is the operator
	SubAll                       // x op ALL (...), x NOT IN (...) is Not over SubAny
	SubArray                     // ARRAY(...)
	SubMulti                     // (a, b) = (SELECT ...) and row assignments
)

// Expr is a typed, resolved expression.
type Expr struct {
	Op           Op         `cbor:"1,keyasint"`
	Args         []*Expr    `cbor:"2,keyasint,omitempty"`
	Type         string     `cbor:"3,keyasint,omitempty"` // "int8", "text", "uuid", "_int8" for arrays, "schema.mood" for the schema's own, "unknown" for an untyped NULL; "" not known
	Source       int        `cbor:"4,keyasint,omitempty"`
	Col          int        `cbor:"5,keyasint,omitempty"` // position in the source's columns: table attributes, or the subquery's outputs
	Slot         int        `cbor:"6,keyasint,omitempty"`
	Name         string     `cbor:"7,keyasint,omitempty"`
	Text         string     `cbor:"8,keyasint,omitempty"`
	Negated      bool       `cbor:"9,keyasint,omitempty"`
	All          bool       `cbor:"10,keyasint,omitempty"`
	Implicit     bool       `cbor:"11,keyasint,omitempty"`
	Volatility   Volatility `cbor:"12,keyasint,omitempty"` // of the node's own operation: Call, Compare, Operator, Cast, Aggregate, Window, Opaque; 0 means immutable
	Sub          SubKind    `cbor:"13,keyasint,omitempty"`
	Query        *Query     `cbor:"14,keyasint,omitempty"`
	Partition    []*Expr    `cbor:"15,keyasint,omitempty"`
	Order        []SortKey  `cbor:"16,keyasint,omitempty"`
	Distinct     bool       `cbor:"17,keyasint,omitempty"`
	Filter       *Expr      `cbor:"18,keyasint,omitempty"`
	Pos          int        `cbor:"19,keyasint,omitempty"`
	System       bool       `cbor:"20,keyasint,omitempty"` // Column: a system column (ctid, xmin, tableoid, ...) or a whole row; Name says which
	Levels       int        `cbor:"21,keyasint,omitempty"` // Column: 0 of this query level, n of the n-th enclosing one. Every Query is a level: arms of a set operation, CTEs, sublinks, derived tables, Write.Source
	UDF          bool       `cbor:"22,keyasint,omitempty"` // Call: a function of the schema, not a builtin
	SetReturning bool       `cbor:"23,keyasint,omitempty"` // Call: returns a set
	Literal      bool       `cbor:"24,keyasint,omitempty"` // Const: Text is a literal's value
	List         bool       `cbor:"25,keyasint,omitempty"` // Slot: it stands for two or more values
	Ordered      bool       `cbor:"26,keyasint,omitempty"` // Aggregate: WITHIN GROUP
}

// Utility is a statement that is not a query, or the wrapper around one.
type Utility struct {
	Kind    string   `cbor:"1,keyasint"`           // see the constants in utility.go
	Tables  []string `cbor:"2,keyasint,omitempty"` // catalog keys, or names as written where the catalog has no such relation
	Missing []string `cbor:"3,keyasint,omitempty"` // the ones of Tables that the catalog lacks
	Temp    bool     `cbor:"4,keyasint,omitempty"`
	Name    string   `cbor:"5,keyasint,omitempty"`  // setting, cursor, prepared statement, function, channel, index, object; of a transaction: as Verb
	Write   bool     `cbor:"6,keyasint,omitempty"`  // COPY FROM, EXPLAIN ANALYZE of a write
	Columns []string `cbor:"7,keyasint,omitempty"`  // COPY column list
	Actions []Action `cbor:"8,keyasint,omitempty"`  // DDL actions
	Flags   []string `cbor:"9,keyasint,omitempty"`  // concurrently, cascade, with_hold, scroll, analyze, serializable, ...
	Args    []*Expr  `cbor:"10,keyasint,omitempty"` // CALL and EXECUTE arguments
	Pos     int      `cbor:"11,keyasint,omitempty"`
	Verb    string   `cbor:"12,keyasint,omitempty"` // the command: begin, set_local, listen, create_view, drop_index, vacuum, ...
}

// Action is one change of CREATE INDEX, CREATE TABLE or ALTER TABLE.
type Action struct {
	Kind       string   `cbor:"1,keyasint"` // add_column, drop_column, alter_type, set_default, drop_default, set_not_null, rename_column, rename_table, add_unique, add_primary_key, add_exclude, add_foreign_key, add_check, attach_partition, other
	Column     string   `cbor:"2,keyasint,omitempty"`
	Columns    []string `cbor:"3,keyasint,omitempty"` // plain columns of an index or a constraint
	Exprs      int      `cbor:"4,keyasint,omitempty"` // expression columns of an index
	RefTable   string   `cbor:"5,keyasint,omitempty"`
	RefColumns []string `cbor:"6,keyasint,omitempty"`
	OnDelete   string   `cbor:"7,keyasint,omitempty"` // no action, restrict, cascade, set null, set default
	OnUpdate   string   `cbor:"8,keyasint,omitempty"`
	SetColumns []string `cbor:"9,keyasint,omitempty"`  // ON DELETE SET NULL (columns)
	Equal      []string `cbor:"10,keyasint,omitempty"` // EXCLUDE: plain columns compared with =
	Type       string   `cbor:"11,keyasint,omitempty"`
	Pos        int      `cbor:"12,keyasint,omitempty"`
	Table      string   `cbor:"13,keyasint,omitempty"` // the other table of attach_partition, detach_partition, inherit; the new name of a rename
	Partial    bool     `cbor:"14,keyasint,omitempty"` // a unique index has a WHERE
}
