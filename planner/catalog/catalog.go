// Package catalog turns schema DDL (pg_dump --schema-only, or plain CREATE statements) into the names and types a statement is resolved
// against: relations, columns, constraints, views, functions, types. It may import planner/sqlast and nothing else of the project.
package catalog

// Catalog is one schema, immutable after Load. Keys are "schema.name" with each part as PostgreSQL stores it (unquoted, folded); Key makes one.
type Catalog struct {
	Hash       string   // of the normalised objects: facts are valid for one hash
	SearchPath []string // default: public
	Relations  map[string]*Relation
	Functions  map[string][]*Function // by key; overloads in order of definition
	Types      map[string]*Type
	Sequences  map[string]bool
	Extensions map[string]int // by name: line of CREATE EXTENSION; what they make is not in a dump
	Skipped    map[string]int // statements of the DDL that do not concern a verdict, counted by kind
}

// RelationKind is what a relation is.
type RelationKind uint8

// The kinds of relations.
const (
	Table RelationKind = iota + 1
	PartitionedTable
	View
	MaterializedView
	ForeignTable
)

// Relation is a table, view or the like.
type Relation struct {
	Schema, Name string
	Kind         RelationKind
	Columns      []Column
	Primary      *Constraint
	Uniques      []*Constraint // unique constraints and unique indexes, the primary key included
	Exclusions   []*Constraint
	ForeignKeys  []*ForeignKey
	Parents      []string // INHERITS, or the one table it is a partition of
	Children     []string // direct ones, sorted
	Partition    bool     // it is a partition of Parents[0]
	ViewSQL      string   // the query of a view, as text pg_query can parse
	ViewColumns  []string // explicit column names of a view
	ViewPath     []string // search_path in force when the view was made: its names resolve by it; empty if pg_dump wrote them in full
	PartitionKey []string // plain columns of PARTITION BY
	Triggers     []Trigger
	Rules        []string // names of rules other than a view's own
	RowSecurity  bool
	Policies     []string
	PolicySQL    map[string]string // by policy: SELECT with its USING and WITH CHECK expressions; a policy that cannot be written back is missing
	Temp         bool
	Line         int // of the definition in the DDL
}

// Column is one column of a relation.
type Column struct {
	Name             string
	Type             string // canonical: "int8", "text", "varchar", "bpchar", "uuid", "_int8" (array), "schema.mood" for the schema's own types
	TypeMod          string // "(10,2)" as written
	NotNull          bool
	Default          string // SQL text of the default, "" none
	DefaultVolatile  bool   // nextval, gen_random_uuid, clock_timestamp: evaluated per row
	Identity         bool
	Generated        bool // GENERATED ALWAYS AS (expr) STORED
	Collation        string
	NonDeterministic bool // the collation is declared deterministic = false
}

// Constraint is a primary key, unique constraint, unique index or exclusion constraint.
type Constraint struct {
	Name    string
	Columns []string // plain columns
	Exprs   int      // expression columns
	Partial bool     // has a WHERE
	Primary bool
	Index   bool     // a unique index that no constraint stands for: ON CONFLICT ON CONSTRAINT cannot name it
	Equal   []string // exclusion: plain columns compared with =
	Line    int
}

// ForeignKey is a FOREIGN KEY of a relation.
type ForeignKey struct {
	Name               string
	Columns            []string
	RefTable           string // catalog key
	RefColumns         []string
	OnDelete, OnUpdate string // "no action", "restrict", "cascade", "set null", "set default"
	SetColumns         []string
	Line               int
}

// Trigger is a trigger of a relation that users made.
type Trigger struct {
	Name, Function string   // Function is a catalog key or a builtin's name
	Events         []string // insert, update, delete, truncate
	Row            bool
	Line           int
}

// Function is a function, procedure or aggregate of the schema.
type Function struct {
	Schema, Name string
	Args         []string // canonical input types
	Returns      string
	ReturnsSet   bool
	Columns      []Column // RETURNS TABLE and OUT columns
	Language     string
	Volatility   byte // 'i', 's', 'v'
	Strict       bool
	Procedure    bool
	Aggregate    bool
	Body         string   // text of the body in its language; of a C function its file
	Variadic     bool     // the last of Args is an array that takes any number of values
	Defaults     int      // how many of the last Args have a default
	Path         []string // search_path in force when the function was made
	Line         int
}

// Type is an enum, domain, composite or range type of the schema.
type Type struct {
	Schema, Name string
	Kind         byte   // 'e' enum, 'd' domain, 'c' composite, 'r' range, 'b' base
	Base         string // domain: the type below
	NotNull      bool
	Fields       []Column // composite
}

// Key joins a schema and a name.
func Key(schema, name string) string { return schema + "." + name }

// Column returns the position of the named column, -1 if there is none.
func (r *Relation) Column(name string) int {
	for i := range r.Columns {
		if r.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Key returns the relation's catalog key.
func (r *Relation) Key() string { return Key(r.Schema, r.Name) }

// Relation finds a relation as PostgreSQL does: by its schema, or along the path. Nil if there is none. pg_catalog is the resolver's business.
func (c *Catalog) Relation(path []string, schema, name string) *Relation {
	if schema != "" {
		return c.Relations[Key(schema, name)]
	}
	if path == nil {
		path = c.SearchPath
	}
	for _, s := range path {
		if r := c.Relations[Key(s, name)]; r != nil {
			return r
		}
	}
	return nil
}
