// Package sqlgen writes valid SQL statements over a schema, by seed: joins of every kind, nested sublinks, set operations, common table
// expressions, grouping, windows and writes, biased towards shard keys. Package prove runs them to look for a verdict that does not hold.
// It may import planner/catalog and planner/candidate.
package sqlgen

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// Samples gives literal texts, unquoted, that occur in a column. Few and often repeated values make joins and predicates match.
type Samples func(table, column string) []string

// Generator writes statements. The same seed, schema and samples give the same statements in the same order. Not safe for concurrent use.
type Generator struct {
	rng     *rand.Rand
	tables  []table
	samples Samples
	names   int    // aliases given in this statement
	ctes    []view // common table expressions that may be referred to
}

// table is a table of the schema that statements may use.
type table struct {
	name      string
	key       string // catalog key
	columns   []column
	placement candidate.Placement
	colo      string
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

// New makes a generator.
func New(seed uint64, cat *catalog.Catalog, cand *candidate.Candidate, samples Samples) *Generator {
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
	return g
}

func newTable(r *catalog.Relation, place *candidate.Table) table {
	t := table{name: pgx.Identifier{r.Schema, r.Name}.Sanitize(), key: r.Key(), placement: place.Placement}
	if r.Schema == "public" {
		t.name = pgx.Identifier{r.Name}.Sanitize()
	}
	if place.Colo != nil {
		t.colo = place.Colo.Name
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

// Statement writes the next statement.
func (g *Generator) Statement() string {
	g.names, g.ctes = 0, nil
	if g.chance(18) {
		return g.write()
	}
	sql, _ := g.query(3, true)
	return sql
}

func (g *Generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

func pick[T any](g *Generator, list []T) T { return list[g.rng.IntN(len(list))] }

func (g *Generator) alias() string {
	g.names++
	return fmt.Sprintf("a%d", g.names)
}

// table picks one, mostly a sharded one, and once a colo is in play mostly of that colo.
func (g *Generator) table(colo string) table {
	var pool []table
	for _, t := range g.tables {
		weight := 2
		switch {
		case t.placement == candidate.Sharded && colo != "" && t.colo == colo:
			weight = 16
		case t.placement == candidate.Sharded:
			weight = 3
		case t.placement == candidate.Unsharded:
			weight = 1
		}
		for range weight {
			pool = append(pool, t)
		}
	}
	return pick(g, pool)
}

func (t table) scope(alias string) []column {
	cols := make([]column, len(t.columns))
	for i, c := range t.columns {
		c.expr = alias + "." + c.expr
		cols[i] = c
	}
	return cols
}

// comparable types: the ones that predicates and joins are written over.
func simple(typ string) bool {
	switch typ {
	case "int2", "int4", "int8", "text", "varchar", "uuid", "bool", "timestamptz", "numeric", "date":
		return true
	}
	return false
}

func family(typ string) string {
	switch typ {
	case "int2", "int4", "int8":
		return "int"
	case "varchar":
		return "text"
	}
	return typ
}

func (g *Generator) simpleColumns(scope []column) []column {
	var cols []column
	for _, c := range scope {
		if simple(c.typ) {
			cols = append(cols, c)
			if c.shard != "" { // keys matter most
				cols = append(cols, c, c, c)
			}
		}
	}
	return cols
}

// literal writes a value of a column's type that is likely to occur.
func (g *Generator) literal(c column) string {
	var texts []string
	if table, col, ok := cutLast(c.from); ok {
		texts = g.samples(table, col)
	}
	if len(texts) == 0 {
		switch family(c.typ) {
		case "int", "numeric":
			return fmt.Sprint(g.rng.IntN(12))
		case "bool":
			return pick(g, []string{"true", "false"})
		case "uuid":
			return "'00000000-0000-0000-0000-00000000000" + fmt.Sprint(g.rng.IntN(10)) + "'::uuid"
		case "timestamptz", "date":
			return fmt.Sprintf("'2024-01-%02d'::%s", 1+g.rng.IntN(28), c.typ)
		}
		return pick(g, []string{"'a'", "'b'", "''"})
	}
	v := pick(g, texts)
	switch family(c.typ) {
	case "int":
		return g.integer(v)
	case "numeric":
		return v
	case "bool":
		return map[string]string{"t": "true", "f": "false"}[v[:1]]
	case "text":
		return quote(v)
	}
	if g.chance(50) && family(c.typ) == "uuid" {
		return quote(strings.ToUpper(v))
	}
	return quote(v) + "::" + c.typ
}

// integer writes one integer in the ways that applications do, some of which no longer are integers.
func (g *Generator) integer(v string) string {
	switch g.rng.IntN(12) {
	case 0:
		return "'" + v + "'"
	case 1:
		return v + "::int"
	case 2:
		return "' " + v + " '"
	case 3:
		return v + ".0"
	case 4:
		return "(" + v + " + 0)"
	case 5:
		return v + "::numeric"
	}
	return v
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}
