package sqlgen

import (
	"fmt"
	"strings"
)

// predicate writes a condition over a scope.
func (g *Generator) predicate(scope []column, depth int) string {
	if depth > 0 {
		switch n := g.rng.IntN(100); {
		case n < 12:
			return "(" + g.predicate(scope, depth-1) + " OR " + g.predicate(scope, depth-1) + ")"
		case n < 24:
			return g.predicate(scope, depth-1) + " AND " + g.predicate(scope, depth-1)
		case n < 30:
			return "NOT (" + g.predicate(scope, depth-1) + ")"
		case n < 48:
			return g.sublink(scope, depth-1)
		}
	}
	return g.atom(scope)
}

func (g *Generator) atom(scope []column) string {
	cols := g.simpleColumns(scope)
	if len(cols) == 0 {
		return "true"
	}
	c := pick(g, cols)
	switch g.rng.IntN(16) {
	case 0, 1, 2, 3, 4:
		if g.chance(15) {
			return g.literal(c) + " = " + c.expr
		}
		return c.expr + " = " + g.literal(c)
	case 5, 6:
		return c.expr + " IN (" + g.list(c) + ")"
	case 7:
		return c.expr + " NOT IN (" + g.list(c) + ")"
	case 8:
		return c.expr + " <> " + g.literal(c)
	case 9:
		return c.expr + " IS NULL"
	case 10:
		return c.expr + " IS NOT NULL"
	case 11:
		return g.twoColumns(c, cols)
	case 12:
		if c.typ == "bool" {
			return c.expr + " IS NOT TRUE"
		}
		return c.expr + " > " + g.literal(c)
	case 13:
		return c.expr + " IS NOT DISTINCT FROM " + g.literal(c)
	case 14:
		return "COALESCE(" + c.expr + ", " + g.typed(c) + ") = " + g.literal(c)
	}
	if c.typ == "bool" {
		return c.expr
	}
	return c.expr + " BETWEEN " + g.literal(c) + " AND " + g.literal(c)
}

func (g *Generator) twoColumns(c column, cols []column) string {
	for range 6 {
		if o := pick(g, cols); family(o.typ) == family(c.typ) && o.expr != c.expr {
			return c.expr + " = " + o.expr
		}
	}
	return c.expr + " = " + g.literal(c)
}

func (g *Generator) list(c column) string {
	n := 1 + g.rng.IntN(4)
	items := make([]string, n)
	for i := range items {
		items[i] = g.literal(c)
	}
	if g.chance(6) {
		items = append(items, "NULL")
	}
	return strings.Join(items, ", ")
}

// sublink writes a subquery condition, mostly correlated.
func (g *Generator) sublink(scope []column, depth int) string {
	inner, cols := g.from(depth)
	where := ""
	if g.chance(70) {
		where = " WHERE " + g.equality(cols, scope)
		if g.chance(40) {
			where += " AND " + g.predicate(cols, depth)
		}
	} else if g.chance(70) {
		where = " WHERE " + g.predicate(cols, depth)
	}
	not := ""
	if g.chance(35) {
		not = "NOT "
	}
	switch g.rng.IntN(5) {
	case 0, 1:
		return fmt.Sprintf("%sEXISTS (SELECT 1 FROM %s%s)", not, inner, where)
	case 2, 3:
		out, in, ok := g.samePair(scope, cols)
		if ok {
			return fmt.Sprintf("%s %sIN (SELECT %s FROM %s%s)", out.expr, not, in.expr, inner, where)
		}
	}
	return fmt.Sprintf("(SELECT count(*) FROM %s%s) > %d", inner, where, g.rng.IntN(3))
}

// samePair picks a column of each scope with one type; shard keys of one colo, mostly.
func (g *Generator) samePair(left, right []column) (l, r column, ok bool) {
	l, r = column{}, column{}
	for try := range 24 {
		l, r = pick(g, left), pick(g, right)
		if !simple(l.typ) || family(l.typ) != family(r.typ) {
			continue
		}
		if try < 12 && (l.shard == "" || l.shard != r.shard) && g.chance(60) {
			continue
		}
		return l, r, true
	}
	return l, r, false
}
