// Package impact turns a schema and a candidate into findings: what of the schema the candidate would break or weaken, and what to do about
// each. No traffic is read. It may import planner/catalog, planner/candidate, planner/layout and planner/reason, and is as pure as they are.
package impact

import (
	"cmp"
	"slices"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/reason"
)

// Severity says how much of a promise of the schema is left.
type Severity string

// The severities, worst first.
const (
	Breaks  Severity = "breaks"  // the object cannot be kept as it is, or no longer promises what it says
	Weakens Severity = "weakens" // it can be kept, but does less or something else than on one database
	Info    Severity = "info"    // it stays as it is; know about it
)

// Severities returns all of them, worst first.
func Severities() []Severity { return []Severity{Breaks, Weakens, Info} }

// Codes of findings that package reason has no code for, because no statement meets them.
const (
	FKSetsKey        = "fk_sets_key"         // an action of a foreign key would empty or change the shard key
	FKAction         = "fk_action"           // an action of a foreign key reaches more than one shard
	FKUnknown        = "fk_unknown"          // it refers to a table that is undecided or missing
	KeyDefault       = "key_default"         // the shard key has a default
	KeyGenerated     = "key_generated"       // the shard key is computed by the database
	CopiesDiffer     = "copies_differ"       // a default or generated column gives each copy of a reference table its own value
	ViewCrossPlace   = "view_cross_place"    // a view reads tables that live in different places
	ViewUnread       = "view_unread"         // a view's tables are not known
	MaterializedView = "materialized_view"   // a materialized view reads sharded tables
	FunctionPlaces   = "function_places"     // a function works on tables that live in different places
	LargeObject      = "large_object"        // a column may point at large objects
	Extension        = "extension"           // an extension is needed on every shard
	DynamicSQL       = "dynamic_sql"         // a function builds statements at run time
	KeyUpdated       = reason.KeyUpdate      // traffic changes the shard key: analysis adds it, Check cannot know
	Undecided        = reason.UndecidedTable // the candidate does not name the table
)

// Finding is one object of the schema that a candidate touches.
type Finding struct {
	Code     string   `json:"code"` // of package reason, or one of this package's
	Severity Severity `json:"severity"`
	Table    string   `json:"table"`  // catalog key of the table or view; "" for functions and extensions
	Object   string   `json:"object"` // name of the constraint, column, trigger, function ...; the table's key if it is the object itself
	Kind     string   `json:"kind"`   // what Object is: "primary key", "foreign key", "column", "trigger", ...
	Why      string   `json:"why"`    // what is lost, with names
	Repair   string   `json:"repair"` // SQL or an edit of the candidate; "" if there is nothing to do
	Line     int      `json:"line"`   // in the schema's DDL
}

// Check returns what the candidate would break or weaken of the schema, in the order of Sort. Of tables that stay unsharded only what ties
// them to others is looked at; of partitions, what they do not share with their table.
func Check(cat *catalog.Catalog, cand *candidate.Candidate) []Finding {
	c := &checker{cat: cat, cand: cand, words: cat.Words(), referred: map[string][]reference{}, out: []Finding{}}
	c.findReferences()
	for _, key := range sortedKeys(cat.Relations) {
		rel := cat.Relations[key]
		if rel.Temp {
			continue
		}
		c.relation(&place{rel: rel, Table: cand.Table(key)})
	}
	c.functions()
	c.extensions()
	Sort(c.out)
	return c.out
}

// Sort puts findings into the order of reports: by table, those of no table last; worst first; then as they stand in the DDL.
func Sort(f []Finding) {
	slices.SortStableFunc(f, func(a, b Finding) int {
		if (a.Table == "") != (b.Table == "") {
			return -cmp.Compare(a.Table, b.Table)
		}
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Object, b.Object))
	})
}

// Count returns how many findings have each severity; all severities are there.
func Count(f []Finding) map[Severity]int {
	n := map[Severity]int{Breaks: 0, Weakens: 0, Info: 0}
	for i := range f {
		n[f[i].Severity]++
	}
	return n
}

func (s Severity) rank() int { return slices.Index(Severities(), s) }

// place is a relation and where the candidate puts it.
type place struct {
	rel *catalog.Relation
	*candidate.Table
}

func (p *place) sharded() bool   { return p.Placement == candidate.Sharded }
func (p *place) reference() bool { return p.Placement == candidate.Reference }

// key is the catalog's column that holds the shard key; nil if the table is not sharded.
func (p *place) key() *catalog.Column {
	if !p.sharded() || p.Col < 0 || p.Col >= len(p.rel.Columns) {
		return nil
	}
	return &p.rel.Columns[p.Col]
}

type checker struct {
	cat      *catalog.Catalog
	cand     *candidate.Candidate
	words    *catalog.Words
	referred map[string][]reference // by referenced table
	out      []Finding
}

// add adds a finding about an object of a relation.
func (c *checker) add(p *place, f Finding) {
	f.Table = p.rel.Key()
	if f.Line == 0 {
		f.Line = p.rel.Line
	}
	c.out = append(c.out, f)
}

// relation checks one table or view with all that belongs to it.
func (c *checker) relation(p *place) {
	switch p.rel.Kind {
	case catalog.View, catalog.MaterializedView:
		c.view(p)
		return
	case catalog.ForeignTable:
		return // stays where it is, or the candidate was refused
	}
	if p.Placement == candidate.Undecided {
		if len(p.rel.Parents) == 0 {
			c.add(p, Finding{Code: Undecided, Severity: Breaks, Object: p.rel.Key(), Kind: p.rel.Kind.String(),
				Why:    "the candidate does not say where it lives, so everything that touches it is unknown",
				Repair: "name " + yaml(p.rel.Key()) + " in the candidate: under tables: of a colo, reference: or unsharded:"})
		}
		return
	}
	c.foreignKeys(p)
	c.triggers(p)
	c.rules(p)
	if p.Placement == candidate.Unsharded {
		return
	}
	if p.sharded() {
		c.uniques(p)
		if !p.rel.Partition { // a partition's columns are its table's
			c.keyColumn(p)
			c.sequences(p)
			c.partitionKey(p)
		}
	} else if !p.rel.Partition {
		c.copies(p)
	}
	c.largeObjects(p)
	c.policies(p)
}

// parent is the table that p is a partition of, nil if it is none.
func (c *checker) parent(p *place) *catalog.Relation {
	if !p.rel.Partition || len(p.rel.Parents) == 0 {
		return nil
	}
	return c.cat.Relations[p.rel.Parents[0]]
}

// where names a table's place: `in colo "org"`, "on every shard", "on the original database".
func where(t *candidate.Table) string {
	switch t.Placement {
	case candidate.Sharded:
		return "in colo " + quoted(t.Colo.Name)
	case candidate.Reference:
		return "on every shard"
	case candidate.Unsharded:
		return "on the original database"
	}
	return "in an undecided place"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func quoted(s string) string { return `"` + s + `"` }
