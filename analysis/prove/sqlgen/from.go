package sqlgen

import (
	"fmt"
	"strings"
)

// from writes a FROM clause of one to four sources, with at least one column that predicates can be written over.
func (g *Generator) from(depth int, outer []column) (sql string, scope []column) {
	colo := ""
	if g.chance(80) {
		colo = coloOf(outer)
	}
	for len(g.simpleColumns(scope)) == 0 {
		sql, scope = g.source(depth, colo)
	}
	merged := map[string]bool{} // names that USING or NATURAL has merged
	for n := pick(g, []int{0, 0, 1, 1, 1, 2, 2, 3}); n > 0; n-- {
		right, cols := g.source(depth, coloOf(scope))
		sql, scope = g.join(sql, scope, right, cols, depth, merged, n == 1)
	}
	return sql, scope
}

// join adds a source. A comma binds less than JOIN, so that it can only stand before the last one.
func (g *Generator) join(left string, scope []column, right string, cols []column, depth int, merged map[string]bool, last bool) (string, []column) {
	using, shared := common(scope, cols, merged)
	shared = shared && g.chance(28)
	for _, c := range cols {
		if merged[c.name] && !(shared && using.name == c.name) {
			scope = qualified(scope) // the bare name now means two columns
		}
	}
	all := append(append([]column{}, scope...), cols...)
	l, r := all[:len(scope)], all[len(scope):]
	kind := g.rng.IntN(100)
	word := " JOIN "
	switch {
	case kind >= 86:
	case kind >= 80:
		word = " FULL JOIN "
		nullable(all)
	case kind >= 70:
		word = " RIGHT JOIN "
		nullable(l)
	case kind >= 42:
		word = " LEFT JOIN "
		nullable(r)
	}
	switch {
	case kind >= 97 && last:
		return left + ", " + right, all
	case kind >= 94:
		return left + " CROSS JOIN " + right, all
	case kind >= 86 && depth > 0:
		return g.lateral(left, scope, depth, last)
	}
	if shared {
		merged[using.name] = true
		if len(merged) == 1 && onlyCommon(scope, cols) && g.chance(30) {
			return left + " NATURAL" + word + right, g.withMerged(all, using)
		}
		return left + word + right + " USING (" + ident(using.name) + ")", g.withMerged(qualified(all), using)
	}
	cond := g.equality(scope, cols)
	if word != " FULL JOIN " {
		cond = g.on(cond, scope, cols, depth)
	}
	return left + word + right + " ON " + cond, all
}

// common finds a column name that both sides have once, a shard key if there is one.
func common(left, right []column, merged map[string]bool) (column, bool) {
	var found column
	for _, l := range left {
		for _, r := range right {
			if l.name != r.name || family(l.typ) != family(r.typ) || !simple(l.typ) || count(left, l.name) > 1 && !merged[l.name] || count(right, l.name) > 1 {
				continue
			}
			if found.name == "" || found.shard == "" && l.shard != "" {
				found = l
			}
		}
	}
	return found, found.name != ""
}

// onlyCommon tells whether two sides have just one column name in common.
func onlyCommon(left, right []column) bool {
	n := 0
	for _, r := range right {
		n += count(left, r.name)
	}
	return n == 1
}

// qualified leaves out the columns that are written without the name of their source.
func qualified(scope []column) []column {
	var out []column
	for _, c := range scope {
		if strings.Contains(c.expr, ".") {
			out = append(out, c)
		}
	}
	return out
}

func count(cols []column, name string) int {
	n := 0
	for _, c := range cols {
		if c.name == name {
			n++
		}
	}
	return n
}

// withMerged adds the merged column of USING under its bare name.
func (g *Generator) withMerged(all []column, c column) []column {
	c.expr = ident(c.name)
	return append(all, c, c)
}

func ident(name string) string {
	if strings.ToLower(name) == name {
		return name
	}
	return `"` + name + `"`
}

// lateral joins a subquery that sees the sources before it.
func (g *Generator) lateral(left string, scope []column, depth int, last bool) (string, []column) {
	alias := g.alias()
	scope = qualified(scope)
	inner, cols := g.from(depth-1, scope)
	where := " WHERE " + g.equality(cols, scope)
	if g.chance(40) {
		where += " AND " + g.predicate(append(append([]column{}, cols...), scope...), 0)
	}
	var sql string
	var outs []column
	switch g.rng.IntN(4) {
	case 0:
		sql, outs = g.aggregated(inner, where, cols)
	case 1:
		sql, outs = g.grouped(inner, where, cols)
	default:
		sql, outs = g.plain(inner, where, cols, depth-1, false)
	}
	outs = renamed(outs, alias)
	if g.chance(50) {
		nullable(outs)
		return left + " LEFT JOIN LATERAL (" + sql + ") AS " + alias + " ON true", append(append([]column{}, scope...), outs...)
	}
	word := " CROSS JOIN LATERAL ("
	if last && g.chance(40) {
		word = ", LATERAL ("
	}
	return left + word + sql + ") AS " + alias, append(append([]column{}, scope...), outs...)
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
	if len(g.ctes) > 0 && g.chance(40) {
		v := pick(g, g.ctes)
		return v.name + " AS " + alias, renamed(v.columns, alias)
	}
	switch n := g.rng.IntN(100); {
	case n < 16 && depth > 0:
		sql, cols := g.query(depth-1, false)
		return "(" + sql + ") AS " + alias, renamed(cols, alias)
	case n < 19:
		return g.values(alias, colo)
	case n < 21 && depth > 0:
		sql, cols := g.from(0, nil)
		if strings.Contains(sql, "JOIN") && !strings.Contains(sql, ",") {
			return "(" + sql + ")", cols
		}
	}
	if g.chance(2) {
		return fmt.Sprintf("generate_series(1, %d) AS %s(v)", 1+g.rng.IntN(9), alias), []column{{expr: alias + ".v", name: "v", typ: "int4"}}
	}
	t := g.table(colo)
	if !t.view && g.chance(2) {
		return "ONLY " + t.name + " AS " + alias, t.scope(alias)
	}
	return t.name + " AS " + alias, t.scope(alias)
}

// values writes a list of rows of one column.
func (g *Generator) values(alias, colo string) (string, []column) {
	t := g.table(colo)
	cols := g.simpleColumns(t.columns)
	if len(cols) == 0 {
		return t.name + " AS " + alias, t.scope(alias)
	}
	c := pick(g, cols)
	c.shard, c.notNull = "", false
	rows := []string{}
	for range 1 + g.rng.IntN(3) {
		rows = append(rows, "("+g.typed(c)+")")
	}
	c.expr, c.name = alias+".v", "v"
	if g.chance(30) {
		return fmt.Sprintf("unnest(ARRAY[%s]) AS %s(v)", strings.Join(rows, ", "), alias), []column{c}
	}
	return fmt.Sprintf("(VALUES %s) AS %s(v)", strings.Join(rows, ", "), alias), []column{c}
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

// on adds to a join condition now and then.
func (g *Generator) on(cond string, left, right []column, depth int) string {
	switch g.rng.IntN(7) {
	case 0:
		cond += " AND " + g.predicate(right, 0)
	case 1:
		cond += " AND " + g.predicate(left, 0)
	case 2:
		cond += " AND " + g.predicate(append(append([]column{}, left...), right...), min(depth, 1))
	case 3:
		cond += " AND " + g.equality(left, right)
	}
	return cond
}

// equality writes an equality of a column of each side: the same shard key where there is one, mostly.
func (g *Generator) equality(left, right []column) string {
	if g.chance(78) {
		var pairs []string
		for _, l := range left {
			for _, r := range right {
				if l.shard != "" && l.shard == r.shard {
					pairs = append(pairs, l.expr+" = "+r.expr)
				}
			}
		}
		if len(pairs) > 0 {
			return pick(g, pairs)
		}
	}
	for range 12 {
		l, r := pick(g, left), pick(g, right)
		if simple(l.typ) && family(l.typ) == family(r.typ) && l.typ != "bool" {
			if g.chance(4) {
				return l.expr + " IS NOT DISTINCT FROM " + r.expr
			}
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
