package sqlgen

import (
	"fmt"
	"strings"
)

// from writes a FROM clause of one to three sources, with at least one column that predicates can be written over.
func (g *Generator) from(depth int) (sql string, scope []column) {
	for len(g.simpleColumns(scope)) == 0 {
		sql, scope = g.source(depth, "")
	}
	for n := g.rng.IntN(3); n > 0; n-- {
		right, cols := g.source(depth, coloOf(scope))
		all := append(append([]column{}, scope...), cols...)
		switch kind := g.rng.IntN(12); {
		case kind < 5:
			sql += " JOIN " + right + " ON " + g.on(scope, cols, depth)
		case kind < 8:
			sql += " LEFT JOIN " + right + " ON " + g.on(scope, cols, depth)
			nullable(all[len(scope):])
		case kind < 9:
			sql += " RIGHT JOIN " + right + " ON " + g.equality(scope, cols)
			nullable(all[:len(scope)])
		case kind < 10:
			sql += " FULL JOIN " + right + " ON " + g.equality(scope, cols)
			nullable(all)
		case kind < 11:
			sql += " CROSS JOIN " + right
		default:
			sql = sql + ", " + right
		}
		scope = all
	}
	return sql, scope
}

func nullable(cols []column) {
	for i := range cols {
		cols[i].notNull = false
	}
}

func coloOf(scope []column) string {
	for _, c := range scope {
		if c.shard != "" {
			return c.shard
		}
	}
	return ""
}

// source writes one FROM item.
func (g *Generator) source(depth int, colo string) (string, []column) {
	alias := g.alias()
	switch n := g.rng.IntN(100); {
	case n < 14 && depth > 0:
		sql, cols := g.query(depth-1, false)
		return "(" + sql + ") AS " + alias, renamed(cols, alias)
	case n < 22 && len(g.ctes) > 0:
		v := pick(g, g.ctes)
		return v.name + " AS " + alias, renamed(v.columns, alias)
	case n < 25:
		t := g.table(colo)
		c := pick(g, g.simpleColumns(t.columns))
		c.shard, c.notNull = "", false
		rows := []string{}
		for range 1 + g.rng.IntN(3) {
			rows = append(rows, "("+g.typed(c)+")")
		}
		c.expr, c.name = alias+".v", "v"
		return fmt.Sprintf("(VALUES %s) AS %s(v)", strings.Join(rows, ", "), alias), []column{c}
	}
	t := g.table(colo)
	return t.name + " AS " + alias, t.scope(alias)
}

// typed is a literal whose type needs no context.
func (g *Generator) typed(c column) string {
	switch family(c.typ) {
	case "int":
		return "(" + g.literal(c) + ")::" + c.typ
	case "text":
		return g.literal(c) + "::text"
	}
	return "(" + g.literal(c) + ")::" + c.typ
}

// renamed is what a derived table's columns are called from outside.
func renamed(cols []column, alias string) []column {
	out := make([]column, len(cols))
	for i, c := range cols {
		c.expr = alias + "." + c.name
		out[i] = c
	}
	return out
}

// on writes a join condition: an equality, sometimes with more.
func (g *Generator) on(left, right []column, depth int) string {
	cond := g.equality(left, right)
	switch g.rng.IntN(6) {
	case 0:
		cond += " AND " + g.predicate(right, 0)
	case 1:
		cond += " AND " + g.predicate(left, 0)
	}
	return cond
}

// equality writes an equality of a column of each side: the same shard key where there is one, mostly.
func (g *Generator) equality(left, right []column) string {
	if g.chance(75) {
		for _, l := range left {
			for _, r := range right {
				if l.shard != "" && l.shard == r.shard {
					return l.expr + " = " + r.expr
				}
			}
		}
	}
	for range 12 {
		l, r := pick(g, left), pick(g, right)
		if simple(l.typ) && family(l.typ) == family(r.typ) && l.typ != "bool" {
			return l.expr + " = " + r.expr
		}
	}
	for _, l := range left {
		for _, r := range right {
			if simple(l.typ) && family(l.typ) == family(r.typ) {
				return l.expr + " = " + r.expr
			}
		}
	}
	return "true"
}
