package sqlgen

import (
	"fmt"
	"strings"
)

// predicate writes a condition over a scope.
func (g *Generator) predicate(scope []column, depth int) string {
	if depth > 0 {
		switch n := g.rng.IntN(100); {
		case n < 11:
			return "(" + g.predicate(scope, depth-1) + " OR " + g.predicate(scope, depth-1) + ")"
		case n < 28:
			return g.predicate(scope, depth-1) + " AND " + g.predicate(scope, depth-1)
		case n < 33:
			return "NOT (" + g.predicate(scope, depth-1) + ")"
		case n < 37:
			return g.wrapped(g.predicate(scope, depth-1))
		case n < 52:
			return g.sublink(scope, depth-1)
		}
	}
	return g.atom(scope)
}

// wrapped hides a condition in a form that means the same, or nearly.
func (g *Generator) wrapped(p string) string {
	return fmt.Sprintf(pick(g, []string{"(%s) IS TRUE", "(%s) IS NOT FALSE", "NOT (NOT (%s))", "(%s) = true", "CASE WHEN %s THEN true ELSE false END",
		"COALESCE(%s, false)", "(%s) IS NOT NULL", "(%s) IS UNKNOWN", "NOT ((%s) IS NOT TRUE)"}), p)
}

func (g *Generator) atom(scope []column) string {
	cols := g.simpleColumns(scope)
	if len(cols) == 0 {
		return "true"
	}
	c := pick(g, cols)
	switch g.rng.IntN(28) {
	case 0, 1, 2, 3, 4, 5, 6:
		if g.chance(15) {
			return g.literal(c) + " = " + c.expr
		}
		return c.expr + " = " + g.literal(c)
	case 7, 8:
		return c.expr + " IN (" + g.list(c) + ")"
	case 9:
		return c.expr + " NOT IN (" + g.list(c) + ")"
	case 10:
		return c.expr + " <> " + g.literal(c)
	case 11:
		return c.expr + " IS NULL"
	case 12:
		return c.expr + " IS NOT NULL"
	case 13, 14:
		return g.twoColumns(c, cols)
	case 15:
		if c.typ == "bool" {
			return c.expr + " IS NOT TRUE"
		}
		return c.expr + pick(g, []string{" > ", " >= ", " < "}) + g.literal(c)
	case 16:
		return c.expr + pick(g, []string{" IS NOT DISTINCT FROM ", " IS NOT DISTINCT FROM ", " IS DISTINCT FROM "}) + g.literal(c)
	case 17:
		return "COALESCE(" + c.expr + ", " + g.typed(c) + ") = " + g.literal(c)
	case 18, 19:
		return g.rowAtom(c, cols)
	case 20, 21:
		return g.arrayAtom(c)
	case 26:
		return pick(g, []string{"random() < 2", "now() > '2020-01-01'", "clock_timestamp() > '2020-01-01'", "current_user <> ''", "1 = 1", "NULL", "1 = 2"})
	case 22, 27:
		return g.twisted(c)
	case 23:
		return c.expr + " = CASE WHEN " + c.expr + " IS NULL THEN " + g.typed(c) + " ELSE " + g.typed(c) + " END"
	}
	if c.typ == "bool" {
		return c.expr
	}
	return c.expr + " BETWEEN " + g.literal(c) + " AND " + g.literal(c)
}

// twisted compares an expression of a column, which must not be taken for the column.
func (g *Generator) twisted(c column) string {
	switch family(c.typ) {
	case "int":
		return fmt.Sprintf(pick(g, []string{"%s + 0 = %s", "%s::numeric = %s", "%s::text = (%s)::text", "%s::float8 = %s", "%s::int2 = %s", "-%s = -(%s)",
			"GREATEST(%s, 1) = %s", "NULLIF(%s, 1) = %s", "%s::int8 = %s", "%s %% 8 = %s"}), c.expr, g.literal(c))
	case "text":
		return fmt.Sprintf(pick(g, []string{"%s || '' = %s", "lower(%s) = %s", "%s::bpchar = %s", "%s::varchar(3) = %s", "%s LIKE %s", "%s::varchar = %s", "%s COLLATE \"C\" = %s"}),
			c.expr, g.literal(c))
	case "uuid":
		return fmt.Sprintf("%s::text = (%s)::text", c.expr, g.literal(c))
	}
	return c.expr + " = " + g.literal(c)
}

// rowAtom compares rows of two columns.
func (g *Generator) rowAtom(c column, cols []column) string {
	o := pick(g, cols)
	row := func() string { return "(" + g.literal(c) + ", " + g.literal(o) + ")" }
	left := "(" + c.expr + ", " + o.expr + ")"
	switch g.rng.IntN(4) {
	case 0:
		return left + " = " + row()
	case 1:
		return left + " NOT IN (" + row() + ", " + row() + ")"
	}
	return left + " IN (" + row() + ", " + row() + ")"
}

func (g *Generator) arrayAtom(c column) string {
	if c.typ == "timestamptz" || c.typ == "date" || c.typ == "bool" {
		return c.expr + " IN (" + g.list(c) + ")"
	}
	vs := make([]string, g.rng.IntN(4))
	for i := range vs {
		vs[i] = g.sample(c)
	}
	op := pick(g, []string{" = ANY (", " = ANY (", " = ANY (", " = SOME (", " <> ALL (", " = ALL (", " <> ANY ("})
	switch g.rng.IntN(4) {
	case 0:
		return c.expr + op + quote(arrayText(vs)) + ")"
	case 1:
		return c.expr + op + quote(arrayText(vs)) + "::" + c.typ + "[])"
	case 2:
		if g.binds {
			return c.expr + op + g.arrayParam(c, vs) + ")"
		}
	}
	return c.expr + op + "ARRAY[" + g.typed(c) + ", " + g.typed(c) + "])"
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
	scope = g.seenInside(scope)
	if len(scope) == 0 {
		return "true"
	}
	inner, cols := g.from(depth, scope)
	where := ""
	if g.chance(75) {
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
	switch g.rng.IntN(10) {
	case 0, 1, 2:
		return fmt.Sprintf("%sEXISTS (SELECT 1 FROM %s%s)", not, inner, where)
	case 3, 4, 5:
		if out, in, ok := g.samePair(scope, cols); ok {
			return fmt.Sprintf("%s %sIN (SELECT %s FROM %s%s)", out.expr, not, in.expr, inner, where)
		}
	case 6:
		if out, in, ok := g.samePair(scope, cols); ok {
			op := pick(g, []string{"= ANY", "<> ALL", "= ALL", ">= ALL"})
			if out.typ == "bool" {
				op = "= ANY"
			}
			return fmt.Sprintf("%s %s (SELECT %s FROM %s%s)", out.expr, op, in.expr, inner, where)
		}
	case 7:
		if out, in, ok := g.samePair(scope, cols); ok && in.typ != "bool" && in.typ != "uuid" {
			return fmt.Sprintf("%s = (SELECT max(%s) FROM %s%s)", out.expr, in.expr, inner, where)
		} else if ok {
			return fmt.Sprintf("%s = (SELECT %s FROM %s%s ORDER BY 1 LIMIT 1)", out.expr, in.expr, inner, where)
		}
	case 8:
		o1, i1, ok1 := g.samePair(scope, cols)
		o2, i2, ok2 := g.samePair(scope, cols)
		if ok1 && ok2 {
			return fmt.Sprintf("(%s, %s) %sIN (SELECT %s, %s FROM %s%s)", o1.expr, o2.expr, not, i1.expr, i2.expr, inner, where)
		}
	}
	return fmt.Sprintf("(SELECT count(*) FROM %s%s) > %d", inner, where, g.rng.IntN(3))
}

// scalar writes a subquery of one value, correlated mostly.
func (g *Generator) scalar(scope []column, depth int) string {
	scope = g.seenInside(scope)
	if len(scope) == 0 {
		return "1"
	}
	inner, cols := g.from(depth, scope)
	where := " WHERE " + g.equality(cols, scope)
	if g.chance(25) {
		where = " WHERE " + g.predicate(cols, 0)
	}
	c := pick(g, g.simpleColumns(cols))
	switch g.rng.IntN(8) {
	case 6:
		return fmt.Sprintf("(SELECT count(*) + count(%s) FROM %s%s)", pick(g, scope).expr, inner, where)
	case 7:
		return fmt.Sprintf("(SELECT count(*) FROM (SELECT %s FROM %s%s ORDER BY 1 LIMIT 2) AS z)", c.expr, inner, where)
	case 0:
		return fmt.Sprintf("(SELECT %s FROM %s%s ORDER BY 1 LIMIT 1)", c.expr, inner, where)
	case 1:
		return fmt.Sprintf("ARRAY(SELECT %s FROM %s%s ORDER BY 1)", c.expr, inner, where)
	case 2:
		return fmt.Sprintf("EXISTS (SELECT 1 FROM %s%s)", inner, where)
	case 3:
		if o, in, ok := g.samePair(scope, cols); ok {
			return fmt.Sprintf("(%s IN (SELECT %s FROM %s%s))", o.expr, in.expr, inner, where)
		}
	case 4:
		return fmt.Sprintf("(SELECT %s FROM %s%s)", g.aggregate(cols), inner, where)
	}
	return fmt.Sprintf("(SELECT count(*) FROM %s%s)", inner, where)
}

// samePair picks a column of each scope with one type; shard keys of one colo, mostly.
func (g *Generator) samePair(left, right []column) (l, r column, ok bool) {
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

// seenInside is what a subquery uses of the scope around it: bare names seldom, because there they may mean something else.
func (g *Generator) seenInside(scope []column) []column {
	if g.chance(8) {
		return scope
	}
	return qualified(scope)
}
