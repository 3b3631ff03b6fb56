// Package sqlgen writes valid SQL statements over a schema, by seed: joins of every kind, nested sublinks, set operations, common table
// expressions, grouping, windows and writes, biased towards shard keys. Package prove runs them to look for a verdict that does not hold.
// It may import planner/catalog and planner/candidate.
package sqlgen

import (
	"fmt"
	"math/rand/v2"
	"sort"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// Samples gives literal texts, unquoted, that occur in a column, the most frequent first. Few and often repeated values make joins and
// predicates match.
type Samples func(table, column string) []string

// Statement is a statement with the values of its parameters $1, $2, ...
type Statement struct {
	SQL    string
	Params []Param
}

// Param is a parameter: its type, and its value in text form.
type Param struct {
	Type, Text string
	Null       bool
}

// View is a view that statements may read: the catalog does not say what its columns are.
type View struct {
	Schema, Name string
	Columns      []ViewColumn
}

// ViewColumn is a column of a view, with its type as the catalog names types.
type ViewColumn struct{ Name, Type string }

// Generator writes statements. The same seed, schema and samples give the same statements in the same order. Not safe for concurrent use.
type Generator struct {
	rng     *rand.Rand
	tables  []table
	samples Samples
	names   int    // aliases given in this statement
	ctes    []view // common table expressions that may be referred to
	binds   bool   // this statement has parameters
	params  []Param
}

// table is a table or view of the schema that statements may use.
type table struct {
	name      string
	columns   []column
	placement candidate.Placement
	colo      string
	primary   []string
	view      bool
}

// column is something a scope offers.
type column struct {
	expr    string
	typ     string
	shard   string // colo, if it is a shard key
	from    string // "table.column" to take samples from
	name    string
	notNull bool
}

// view is a named row source: a CTE.
type view struct {
	name    string
	columns []column
}

// New makes a generator. Views may be nil.
func New(seed uint64, cat *catalog.Catalog, cand *candidate.Candidate, samples Samples, views []View) *Generator {
	g := &Generator{rng: rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)), samples: samples}
	var keys []string
	for key, r := range cat.Relations {
		if (r.Kind == catalog.Table || r.Kind == catalog.PartitionedTable) && !r.Partition && !r.Temp {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	for _, key := range keys {
		g.tables = append(g.tables, newTable(cat.Relations[key], cand.Table(key)))
	}
	for _, v := range views {
		g.tables = append(g.tables, g.newView(v))
	}
	return g
}

func sqlName(schema, name string) string {
	if schema == "public" {
		return pgx.Identifier{name}.Sanitize()
	}
	return pgx.Identifier{schema, name}.Sanitize()
}

func newTable(r *catalog.Relation, place *candidate.Table) table {
	t := table{name: sqlName(r.Schema, r.Name), placement: place.Placement}
	if place.Colo != nil {
		t.colo = place.Colo.Name
	}
	if r.Primary != nil {
		t.primary = r.Primary.Columns
	}
	for _, c := range r.Columns {
		col := column{expr: pgx.Identifier{c.Name}.Sanitize(), name: c.Name, typ: c.Type, from: r.Key() + "." + c.Name, notNull: c.NotNull}
		if place.Placement == candidate.Sharded && c.Name == place.Column {
			col.shard = place.Colo.Name
		}
		t.columns = append(t.columns, col)
	}
	return t
}

// newView makes a view of View. That a column is a shard key is guessed by its name: it only decides what is often compared with what.
func (g *Generator) newView(v View) table {
	t := table{name: sqlName(v.Schema, v.Name), placement: candidate.Sharded, view: true}
	for _, c := range v.Columns {
		col := column{expr: pgx.Identifier{c.Name}.Sanitize(), name: c.Name, typ: c.Type}
		for _, other := range g.tables {
			for _, o := range other.columns {
				if o.name == c.Name && o.typ == c.Type && (col.from == "" || col.shard == "" && o.shard != "") {
					col.from, col.shard = o.from, o.shard
				}
			}
		}
		if col.shard != "" && t.colo == "" {
			t.colo = col.shard
		}
		t.columns = append(t.columns, col)
	}
	return t
}

// Statement writes the next statement.
func (g *Generator) Statement() Statement {
	g.names, g.ctes, g.params = 0, nil, nil
	g.binds = g.chance(25)
	var sql string
	if g.chance(22) {
		sql = g.write()
	} else {
		sql, _ = g.query(2+g.rng.IntN(2), true)
	}
	return Statement{SQL: sql, Params: g.params}
}

func (g *Generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

func pick[T any](g *Generator, list []T) T { return list[g.rng.IntN(len(list))] }

func (g *Generator) alias() string {
	g.names++
	return fmt.Sprintf("a%d", g.names)
}

// table picks one, mostly a sharded one, and once a colo is in play mostly of that colo.
func (g *Generator) table(colo string) table {
	total := 0
	weight := func(t table) int {
		switch {
		case t.placement == candidate.Sharded && colo != "" && t.colo == colo:
			return 24
		case t.placement == candidate.Sharded && colo != "":
			return 1
		case t.placement == candidate.Sharded:
			return 4
		case t.placement == candidate.Unsharded:
			return 1
		}
		return 4
	}
	for _, t := range g.tables {
		total += weight(t)
	}
	n := g.rng.IntN(total)
	for _, t := range g.tables {
		if n -= weight(t); n < 0 {
			return t
		}
	}
	return g.tables[0]
}

// target picks a table to write to, mostly a sharded one.
func (g *Generator) target() table {
	for {
		t := pick(g, g.tables)
		if !t.view && (t.placement == candidate.Sharded || g.chance(30)) {
			return t
		}
	}
}

func (t table) scope(alias string) []column {
	cols := make([]column, len(t.columns))
	for i, c := range t.columns {
		c.expr = alias + "." + c.expr
		cols[i] = c
	}
	return cols
}

// key gives the shard key's position, -1 if there is none.
func (t table) key() int {
	for i, c := range t.columns {
		if c.shard != "" {
			return i
		}
	}
	return -1
}
