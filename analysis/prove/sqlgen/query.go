package sqlgen

import (
	"fmt"
	"strings"
)

// query writes a SELECT and says what its columns are. Columns are named c1, c2, ...
func (g *Generator) query(depth int, top bool) (string, []column) {
	prefix := ""
	if top && g.chance(15) {
		name := g.alias()
		sql, cols := g.query(depth-1, false)
		kind := pick(g, []string{"", "", "MATERIALIZED ", "NOT MATERIALIZED "})
		prefix = fmt.Sprintf("WITH %s AS %s(%s) ", name, kind, sql)
		g.ctes = append(g.ctes, view{name, cols})
	}
	if depth > 0 && g.chance(9) {
		sql, cols := g.setOperation(depth)
		return prefix + sql, cols
	}
	sql, cols := g.selectCore(depth, top)
	return prefix + sql, cols
}

// setOperation puts two queries with the same column types together.
func (g *Generator) setOperation(depth int) (string, []column) {
	fromL, scopeL := g.from(depth - 1)
	fromR, scopeR := g.from(depth - 1)
	var outL, outR []string
	var cols []column
	for range 1 + g.rng.IntN(2) {
		l, r, ok := g.samePair(scopeL, scopeR)
		if !ok {
			continue
		}
		name := fmt.Sprintf("c%d", len(cols)+1)
		outL, outR = append(outL, l.expr+" AS "+name), append(outR, r.expr)
		if l.shard != r.shard {
			l.shard = ""
		}
		l.name, l.notNull = name, l.notNull && r.notNull
		cols = append(cols, l)
	}
	if len(cols) == 0 {
		return g.selectCore(depth, false)
	}
	op := pick(g, []string{"UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT"})
	return fmt.Sprintf("SELECT %s FROM %s%s %s SELECT %s FROM %s%s", strings.Join(outL, ", "), fromL, g.where(scopeL, depth), op,
		strings.Join(outR, ", "), fromR, g.where(scopeR, depth)), cols
}

func (g *Generator) where(scope []column, depth int) string {
	if g.chance(20) {
		return ""
	}
	return " WHERE " + g.predicate(scope, min(depth, 2))
}

func (g *Generator) selectCore(depth int, top bool) (string, []column) {
	from, scope := g.from(depth)
	where := g.where(scope, depth)
	switch n := g.rng.IntN(100); {
	case n < 16:
		return g.grouped(from, where, scope)
	case n < 22:
		return g.aggregated(from, where, scope)
	case n < 27:
		return g.windowed(from, where, scope)
	}
	return g.plain(from, where, scope, depth, top)
}

func (g *Generator) plain(from, where string, scope []column, depth int, top bool) (string, []column) {
	cols, items := g.outputs(scope, 1+g.rng.IntN(3))
	if top && depth > 0 && g.chance(10) {
		inner, innerScope := g.from(0)
		items = append(items, fmt.Sprintf("(SELECT count(*) FROM %s WHERE %s) AS n", inner, g.equality(innerScope, scope)))
	}
	distinct := ""
	if g.chance(12) {
		distinct = "DISTINCT "
	}
	sql := fmt.Sprintf("SELECT %s%s FROM %s%s", distinct, strings.Join(items, ", "), from, where)
	if !top && g.chance(14) {
		// An inner LIMIT has one answer only under an order that tells all rows apart.
		sql += " ORDER BY " + ordinals(len(items)) + fmt.Sprintf(" LIMIT %d", 1+g.rng.IntN(5))
	}
	if top && g.chance(20) {
		sql += " ORDER BY " + ordinals(len(items))
		if g.chance(60) {
			sql += fmt.Sprintf(" LIMIT %d", g.rng.IntN(6))
		}
	}
	return sql, cols
}

func ordinals(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(list, ", ")
}

// outputs picks columns, shard keys first, mostly.
func (g *Generator) outputs(scope []column, n int) ([]column, []string) {
	pool := g.simpleColumns(scope)
	var cols []column
	var items []string
	for range n {
		c := pick(g, pool)
		name := fmt.Sprintf("c%d", len(cols)+1)
		items = append(items, c.expr+" AS "+name)
		c.name = name
		cols = append(cols, c)
	}
	return cols, items
}

func (g *Generator) grouped(from, where string, scope []column) (string, []column) {
	cols, items := g.outputs(scope, 1+g.rng.IntN(2))
	var by []string
	for _, item := range items {
		by = append(by, item[:strings.LastIndex(item, " AS ")])
	}
	agg := g.aggregate(scope)
	group := strings.Join(by, ", ")
	if len(by) == 2 && g.chance(15) {
		group = fmt.Sprintf("GROUPING SETS ((%s), (%s))", by[0], by[1])
		for i := range cols {
			cols[i].shard = ""
		}
	}
	having := ""
	if g.chance(25) {
		having = fmt.Sprintf(" HAVING count(*) > %d", g.rng.IntN(3))
	}
	n := fmt.Sprintf("c%d", len(cols)+1)
	sql := fmt.Sprintf("SELECT %s, %s AS %s FROM %s%s GROUP BY %s%s", strings.Join(items, ", "), agg, n, from, where, group, having)
	return sql, append(cols, column{name: n, typ: "other"})
}

func (g *Generator) aggregated(from, where string, scope []column) (string, []column) {
	return fmt.Sprintf("SELECT %s AS c1 FROM %s%s", g.aggregate(scope), from, where), []column{{name: "c1", typ: "other"}}
}

func (g *Generator) aggregate(scope []column) string {
	c := pick(g, g.simpleColumns(scope))
	switch g.rng.IntN(6) {
	case 0:
		return "count(DISTINCT " + c.expr + ")"
	case 1, 2:
		if c.typ != "bool" && c.typ != "uuid" {
			return pick(g, []string{"min", "max"}) + "(" + c.expr + ")"
		}
	case 3:
		if f := family(c.typ); f == "int" || f == "numeric" {
			return pick(g, []string{"sum", "avg"}) + "(" + c.expr + ")"
		}
	}
	return "count(*)"
}

func (g *Generator) windowed(from, where string, scope []column) (string, []column) {
	cols, items := g.outputs(scope, 2)
	p := pick(g, g.simpleColumns(scope))
	n := fmt.Sprintf("c%d", len(cols)+1)
	sql := fmt.Sprintf("SELECT %s, count(*) OVER (PARTITION BY %s) AS %s FROM %s%s", strings.Join(items, ", "), p.expr, n, from, where)
	return sql, append(cols, column{name: n, typ: "other"})
}
