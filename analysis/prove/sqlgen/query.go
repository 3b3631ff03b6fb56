package sqlgen

import (
	"fmt"
	"strings"
)

// query writes a SELECT and says what its columns are. Columns are named c1, c2, ...
func (g *Generator) query(depth int, top bool) (string, []column) {
	prefix := ""
	mark := len(g.ctes)
	if depth > 0 && g.chance(map[bool]int{true: 18, false: 4}[top]) {
		prefix = g.with(depth)
	}
	var sql string
	var cols []column
	if depth > 0 && g.chance(10) {
		sql, cols = g.setOperation(depth)
		if top && g.chance(30) {
			sql += " ORDER BY " + ordinals(len(cols)) + g.limit(60)
		}
	} else {
		sql, cols = g.selectCore(depth, top)
	}
	g.ctes = g.ctes[:mark]
	return prefix + sql, cols
}

// with writes one to three common table expressions; later ones may read earlier ones.
func (g *Generator) with(depth int) string {
	if g.chance(15) {
		if sql, ok := g.recursive(); ok {
			return sql
		}
	}
	var list []string
	for range 1 + g.rng.IntN(3) {
		name := g.alias()
		sql, cols := g.query(depth-1, false)
		list = append(list, fmt.Sprintf("%s AS %s(%s)", name, pick(g, []string{"", "", "MATERIALIZED ", "NOT MATERIALIZED "}), sql))
		g.ctes = append(g.ctes, view{name, cols})
	}
	return "WITH " + strings.Join(list, ", ") + " "
}

// recursive writes a recursive common table expression of bounded depth.
func (g *Generator) recursive() (string, bool) {
	t := g.table("")
	name, alias, step := g.alias(), g.alias(), g.alias()
	seed := t.scope(alias)
	k, x, ok := g.samePair(seed, seed)
	if !ok {
		return "", false
	}
	if i := t.key(); i >= 0 && g.chance(80) {
		k = seed[i]
	}
	inner := g.table(t.colo)
	cols := inner.scope(step)
	link, _, ok := g.samePair(cols, []column{k})
	if !ok || family(link.typ) != family(k.typ) {
		return "", false
	}
	on := link.expr + " = r.c1"
	out := link.expr
	if g.chance(30) {
		for range 8 {
			if o := pick(g, cols); family(o.typ) == family(k.typ) && o.typ == k.typ {
				out = o.expr
				break
			}
		}
	}
	second := "r.c2"
	for _, c := range cols {
		if c.typ == x.typ && g.chance(20) {
			second = c.expr
			break
		}
	}
	if k.typ != link.typ {
		out = fmt.Sprintf("(%s)::%s", out, k.typ)
	}
	union := pick(g, []string{"UNION", "UNION ALL"})
	sql := fmt.Sprintf("WITH RECURSIVE %s AS (SELECT %s AS c1, %s AS c2, 1 AS d FROM %s AS %s WHERE %s %s SELECT %s, %s, r.d + 1 FROM %s AS %s JOIN %s AS r ON %s WHERE r.d < 3) ",
		name, k.expr, x.expr, t.name, alias, g.predicate(seed, 0), union, out, second, inner.name, step, name, on)
	k.name, x.name = "c1", "c2"
	x.shard = ""
	g.ctes = append(g.ctes, view{name, []column{k, x}})
	return sql, true
}

// setOperation puts queries with the same column types together.
func (g *Generator) setOperation(depth int) (string, []column) {
	from, scope := g.from(depth-1, nil)
	pool := g.simpleColumns(scope)
	var outs []string
	var cols []column
	for range 1 + g.rng.IntN(2) {
		c := pick(g, pool)
		if len(cols) == 0 && g.chance(60) {
			for _, k := range pool {
				if k.shard != "" {
					c = k
				}
			}
		}
		name := fmt.Sprintf("c%d", len(cols)+1)
		outs = append(outs, c.expr+" AS "+name)
		c.name = name
		cols = append(cols, c)
	}
	sql := "SELECT " + strings.Join(outs, ", ") + " FROM " + from + g.where(scope, depth)
	for n := 1 + g.rng.IntN(5)/4; n > 0; n-- {
		op := pick(g, []string{"UNION ALL", "UNION ALL", "UNION ALL", "UNION", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"})
		arm := g.arm(cols, depth)
		switch {
		case g.chance(20):
			sql = "(" + sql + ") " + op + " (" + arm + ")"
		default:
			sql = sql + " " + op + " " + arm
		}
	}
	return sql, cols
}

// arm writes a further arm of a set operation and takes from the columns what it does not share.
func (g *Generator) arm(cols []column, depth int) string {
	from, scope := g.from(depth-1, cols)
	var outs []string
	for i := range cols {
		var fit []column
		for _, c := range scope {
			if c.typ == cols[i].typ && (cols[i].shard == "" || c.shard == cols[i].shard) {
				fit = append(fit, c)
			}
		}
		if len(fit) == 0 {
			for _, c := range scope {
				if c.typ == cols[i].typ {
					fit = append(fit, c)
				}
			}
		}
		if len(fit) == 0 || g.chance(4) {
			outs = append(outs, g.typed(cols[i]))
			cols[i].shard = ""
			continue
		}
		c := pick(g, fit)
		outs = append(outs, c.expr)
		if c.shard != cols[i].shard {
			cols[i].shard = ""
		}
		cols[i].notNull = cols[i].notNull && c.notNull
	}
	return "SELECT " + strings.Join(outs, ", ") + " FROM " + from + g.where(scope, depth)
}

func (g *Generator) where(scope []column, depth int) string {
	if g.chance(20) {
		return ""
	}
	p := g.predicate(scope, min(depth, 2))
	if g.chance(25) {
		p += " AND " + g.pin(scope)
	}
	return " WHERE " + p
}

// pin compares a shard key with a value that occurs.
func (g *Generator) pin(scope []column) string {
	var keys []column
	for _, c := range scope {
		if c.shard != "" {
			keys = append(keys, c)
		}
	}
	if len(keys) == 0 {
		return g.atom(scope)
	}
	c := pick(g, keys)
	if g.chance(25) {
		return c.expr + " IN (" + g.literal(c) + ", " + g.literal(c) + ")"
	}
	return c.expr + " = " + g.literal(c)
}

func (g *Generator) selectCore(depth int, top bool) (string, []column) {
	from, scope := g.from(depth, nil)
	where := g.where(scope, depth)
	switch n := g.rng.IntN(100); {
	case n < 15:
		return g.grouped(from, where, scope)
	case n < 21:
		return g.aggregated(from, where, scope)
	case n < 28:
		return g.windowed(from, where, scope)
	case n < 33:
		return g.distinctOn(from, where, scope)
	}
	return g.plain(from, where, scope, depth, top)
}

func (g *Generator) plain(from, where string, scope []column, depth int, top bool) (string, []column) {
	cols, items := g.outputs(scope, 1+g.rng.IntN(3))
	if depth > 0 && g.chance(map[bool]int{true: 15, false: 5}[top]) {
		items = append(items, g.scalar(scope, depth-1)+" AS n")
	}
	distinct := ""
	if g.chance(12) {
		distinct = "DISTINCT "
	}
	sql := fmt.Sprintf("SELECT %s%s FROM %s%s", distinct, strings.Join(items, ", "), from, where)
	switch {
	case !top && g.chance(12):
		// An inner LIMIT has one answer only under an order that tells all rows apart.
		sql += " ORDER BY " + ordinals(len(items)) + g.limit(100)
	case top && g.chance(22):
		sql += " ORDER BY " + ordinals(len(items)) + g.limit(60)
	case top && distinct == "" && g.chance(4):
		sql += pick(g, []string{" FOR UPDATE", " FOR SHARE"})
	}
	return sql, cols
}

// limit writes a LIMIT, and an OFFSET now and then.
func (g *Generator) limit(percent int) string {
	if !g.chance(percent) {
		return ""
	}
	if g.binds && g.chance(40) {
		return " LIMIT " + g.param("int8", fmt.Sprint(g.rng.IntN(5)))
	}
	switch g.rng.IntN(12) {
	case 0:
		return fmt.Sprintf(" FETCH FIRST %d ROWS WITH TIES", 1+g.rng.IntN(3))
	case 1:
		return pick(g, []string{" LIMIT NULL", " LIMIT ALL", " OFFSET 1", " OFFSET 0", " LIMIT 1 + 1"})
	}
	sql := fmt.Sprintf(" LIMIT %d", g.rng.IntN(6))
	if g.chance(20) {
		sql += fmt.Sprintf(" OFFSET %d", g.rng.IntN(3))
	}
	return sql
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

func (g *Generator) distinctOn(from, where string, scope []column) (string, []column) {
	cols, items := g.outputs(scope, 2+g.rng.IntN(2))
	sql := fmt.Sprintf("SELECT DISTINCT ON (%s) %s FROM %s%s ORDER BY %s", strings.TrimSuffix(items[0], " AS c1"), strings.Join(items, ", "), from, where, ordinals(len(items)))
	return sql, cols
}

func (g *Generator) grouped(from, where string, scope []column) (string, []column) {
	cols, items := g.outputs(scope, 1+g.rng.IntN(2))
	var by []string
	for _, item := range items {
		by = append(by, item[:strings.LastIndex(item, " AS ")])
	}
	agg := g.aggregate(scope)
	group := strings.Join(by, ", ")
	if len(by) == 2 && g.chance(18) {
		group = fmt.Sprintf(pick(g, []string{"GROUPING SETS ((%s), (%s))", "ROLLUP (%s, %s)", "CUBE (%s, %s)", "GROUPING SETS ((%[1]s, %[2]s), (%[1]s))"}), by[0], by[1])
		for i := range cols {
			cols[i].shard = ""
		}
	}
	having := ""
	switch g.rng.IntN(10) {
	case 3:
		c := cols[0]
		c.expr = by[0]
		if sub := g.sublink([]column{c}, 0); g.chance(60) {
			having = " HAVING " + sub
		}
	case 0, 1:
		having = fmt.Sprintf(" HAVING count(*) > %d", g.rng.IntN(3))
	case 2:
		c := cols[0]
		c.expr = by[0]
		having = " HAVING " + c.expr + " = " + g.literal(c)
	}
	n := fmt.Sprintf("c%d", len(cols)+1)
	sql := fmt.Sprintf("SELECT %s, %s AS %s FROM %s%s GROUP BY %s%s", strings.Join(items, ", "), agg, n, from, where, group, having)
	return sql, append(cols, column{name: n, typ: "other"})
}

func (g *Generator) aggregated(from, where string, scope []column) (string, []column) {
	having := ""
	if g.chance(8) {
		having = pick(g, []string{" HAVING count(*) > 0", " HAVING true", " HAVING false"})
	}
	return fmt.Sprintf("SELECT %s AS c1 FROM %s%s%s", g.aggregate(scope), from, where, having), []column{{name: "c1", typ: "other"}}
}

func (g *Generator) aggregate(scope []column) string {
	c := pick(g, g.simpleColumns(scope))
	switch g.rng.IntN(9) {
	case 0, 1:
		return "count(DISTINCT " + c.expr + ")"
	case 2, 3:
		if c.typ != "bool" && c.typ != "uuid" {
			return pick(g, []string{"min", "max"}) + "(" + c.expr + ")"
		}
	case 4:
		if f := family(c.typ); f == "int" || f == "numeric" {
			return pick(g, []string{"sum", "avg"}) + "(" + c.expr + ")"
		}
	case 5:
		return "array_agg(" + c.expr + " ORDER BY " + c.expr + ")"
	case 6:
		return "count(*) FILTER (WHERE " + g.predicate(scope, g.rng.IntN(2)) + ")"
	}
	return "count(*)"
}

func (g *Generator) windowed(from, where string, scope []column) (string, []column) {
	cols, items := g.outputs(scope, 2)
	p := pick(g, g.simpleColumns(scope))
	n := fmt.Sprintf("c%d", len(cols)+1)
	order := ""
	for i, item := range items {
		if i > 0 {
			order += ", "
		}
		order += item[:strings.LastIndex(item, " AS ")]
	}
	var call, tail string
	switch g.rng.IntN(5) {
	case 0:
		// The order has all output columns, so that rows it leaves equal are equal.
		call = fmt.Sprintf("row_number() OVER (PARTITION BY %s, %s ORDER BY %s)", p.expr, order, order)
	case 1:
		call = fmt.Sprintf("rank() OVER (PARTITION BY %s ORDER BY %s)", p.expr, order)
	case 2:
		call, tail = "count(*) OVER w", " WINDOW w AS (PARTITION BY "+p.expr+")"
	case 3:
		call = "count(*) OVER ()"
	default:
		call = fmt.Sprintf("count(*) OVER (PARTITION BY %s)", p.expr)
	}
	sql := fmt.Sprintf("SELECT %s, %s AS %s FROM %s%s%s", strings.Join(items, ", "), call, n, from, where, tail)
	return sql, append(cols, column{name: n, typ: "other"})
}
