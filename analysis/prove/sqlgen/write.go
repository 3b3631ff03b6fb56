package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// write writes a statement that changes rows.
func (g *Generator) write() string {
	if g.chance(15) {
		return g.writableCTE()
	}
	t := g.target()
	sql, _ := g.change(t, g.chance(25))
	return sql
}

// change writes a statement that changes rows of a table, with RETURNING its first columns if asked.
func (g *Generator) change(t table, returning bool) (string, []column) {
	alias := g.alias()
	scope := t.scope(alias)
	tail, outs := "", []column(nil)
	if returning {
		var items []string
		outs, items = g.outputs(scope, 2)
		if i := t.key(); i >= 0 && g.chance(70) {
			c := scope[i]
			items[0], c.name = c.expr+" AS c1", "c1"
			outs[0] = c
		}
		tail = " RETURNING " + strings.Join(items, ", ")
		if g.chance(10) {
			tail += ", " + g.scalar(scope, 0) + " AS n"
		}
	}
	switch g.rng.IntN(16) {
	case 0, 1, 2:
		return g.insert(t, alias) + tail, outs
	case 3, 4:
		return g.insertSelect(t, alias) + tail, outs
	case 5, 6:
		if !returning {
			return g.merge(t, alias, scope), nil
		}
	case 7, 8, 9, 10, 11:
		from, all := g.extra("FROM", scope, t.colo)
		return fmt.Sprintf("UPDATE %s AS %s SET %s%s%s", t.name, alias, g.set(t, scope), from, g.joined(scope, all)) + tail, outs
	}
	using, all := g.extra("USING", scope, t.colo)
	return fmt.Sprintf("DELETE FROM %s AS %s%s%s", t.name, alias, using, g.joined(scope, all)) + tail, outs
}

// writableCTE changes one table and reads what it returned.
func (g *Generator) writableCTE() string {
	t := g.target()
	name := g.alias()
	inner, cols := g.change(t, true)
	mark := len(g.ctes)
	g.ctes = append(g.ctes, view{name, cols})
	defer func() { g.ctes = g.ctes[:mark] }()
	if g.chance(40) {
		o := g.target()
		sql, _ := g.change(o, false)
		return fmt.Sprintf("WITH %s AS (%s) %s", name, inner, sql)
	}
	alias := g.alias()
	scope := renamed(cols, alias)
	from := name + " AS " + alias
	if g.chance(50) {
		right, more := g.source(0, t.colo)
		from, scope = g.join(from, scope, right, more, 0, map[string]bool{}, true)
	}
	sql, _ := g.plain(from, g.where(scope, 1), scope, 1, true)
	return fmt.Sprintf("WITH %s AS (%s) %s", name, inner, strings.NewReplacer(" FOR UPDATE", "", " FOR SHARE", "").Replace(sql))
}

// extra adds a second source to an UPDATE or DELETE now and then.
func (g *Generator) extra(word string, scope []column, colo string) (string, []column) {
	if !g.chance(35) {
		return "", nil
	}
	sql, cols := g.source(1, colo)
	if g.chance(25) {
		right, more := g.source(0, colo)
		sql, cols = g.join(sql, cols, right, more, 0, map[string]bool{}, true)
	}
	return " " + word + " " + sql, cols
}

func (g *Generator) joined(scope, extra []column) string {
	where := " WHERE "
	if extra == nil {
		where += g.predicate(scope, 2)
	} else {
		where += g.equality(scope, extra) + " AND " + g.predicate(append(append([]column{}, scope...), extra...), 1)
	}
	if g.chance(35) {
		where += " AND " + g.pin(scope)
	}
	return where
}

// set assigns a column that is neither key nor unique, or the key itself now and then.
func (g *Generator) set(t table, scope []column) string {
	if i := t.key(); i >= 0 && g.chance(7) {
		c := t.columns[i]
		return c.expr + " = " + pick(g, []string{c.expr, g.literal(c)})
	}
	for range 12 {
		i := g.rng.IntN(len(t.columns))
		c := t.columns[i]
		if c.shard != "" || !simple(c.typ) || slices.Contains(t.primary, c.name) {
			continue
		}
		switch g.rng.IntN(6) {
		case 0:
			if family(c.typ) == "int" {
				return c.expr + " = " + scope[i].expr + " + 1"
			}
		case 1:
			if !c.notNull {
				return c.expr + " = NULL"
			}
		case 2:
			if family(c.typ) == "int" {
				inner, cols := g.from(0, scope)
				return fmt.Sprintf("%s = (SELECT count(*) FROM %s WHERE %s)", c.expr, inner, g.equality(cols, scope))
			}
		}
		return c.expr + " = " + g.literal(c)
	}
	return t.columns[0].expr + " = " + t.columns[0].expr
}

// insertColumns are the columns that an INSERT gives values.
func (g *Generator) insertColumns(t table) []column {
	var cols []column
	for _, c := range t.columns {
		if simple(c.typ) && (c.notNull || g.chance(70)) || slices.Contains(t.primary, c.name) {
			cols = append(cols, c)
		}
	}
	return cols
}

// fresh is a value for an inserted column: new for the parts of a primary key that are not the shard key.
func (g *Generator) fresh(t table, c column) string {
	if slices.Contains(t.primary, c.name) && (c.shard == "" || len(t.primary) == 1) && g.chance(80) {
		switch family(c.typ) {
		case "int":
			return fmt.Sprint(900 + g.rng.IntN(90))
		case "text":
			return quote(fmt.Sprintf("new%d", g.rng.IntN(90)))
		case "uuid":
			return quote(fmt.Sprintf("99999999-0000-0000-0000-0000000000%02d", g.rng.IntN(90)))
		}
	}
	return g.literal(c)
}

// insert gives one to three rows.
func (g *Generator) insert(t table, alias string) string {
	cols := g.insertColumns(t)
	var names, rows []string
	for _, c := range cols {
		names = append(names, c.expr)
	}
	for range pick(g, []int{1, 1, 1, 2, 3}) {
		var values []string
		for _, c := range cols {
			v := g.fresh(t, c)
			if g.chance(3) {
				from, scope := g.from(0, t.columns)
				for _, o := range scope {
					if o.typ == c.typ && o.typ != "bool" {
						v = fmt.Sprintf("(SELECT %s FROM %s WHERE %s ORDER BY 1 LIMIT 1)", o.expr, from, g.pin(scope))
						break
					}
				}
			}
			values = append(values, v)
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	return fmt.Sprintf("INSERT INTO %s AS %s (%s) VALUES %s%s", t.name, alias, strings.Join(names, ", "), strings.Join(rows, ", "), g.conflict(t))
}

// conflict writes ON CONFLICT.
func (g *Generator) conflict(t table) string {
	if len(t.primary) == 0 || !g.chance(55) {
		return ""
	}
	var cols []string
	for _, name := range t.primary {
		cols = append(cols, ident(name))
	}
	target := " ON CONFLICT (" + strings.Join(cols, ", ") + ")"
	switch g.rng.IntN(4) {
	case 0:
		return " ON CONFLICT DO NOTHING"
	case 1:
		return target + " DO NOTHING"
	}
	for range 12 {
		c := pick(g, t.columns)
		if simple(c.typ) && (c.shard == "" || g.chance(10)) && (!slices.Contains(t.primary, c.name) || c.shard != "") {
			sql := target + " DO UPDATE SET " + c.expr + " = " + pick(g, []string{"EXCLUDED." + c.expr, g.literal(c)})
			if g.chance(20) {
				from, scope := g.from(0, t.columns)
				sql += " WHERE EXISTS (SELECT 1 FROM " + from + g.where(scope, 0) + ")"
			}
			return sql
		}
	}
	return target + " DO NOTHING"
}

// insertSelect copies rows of a query: the key from a key of the colo, mostly.
func (g *Generator) insertSelect(t table, alias string) string {
	from, scope := g.from(1, t.columns)
	cols := g.insertColumns(t)
	var names, outs []string
	for _, c := range cols {
		names = append(names, c.expr)
		value := g.fresh(t, c)
		var fit []column
		for _, s := range scope {
			if s.typ == c.typ && (c.shard == "" || s.shard == c.shard || g.chance(10)) {
				fit = append(fit, s)
			}
		}
		if len(fit) > 0 && (c.shard != "" || g.chance(40)) {
			value = pick(g, fit).expr
		} else if c.shard == "" || g.chance(50) {
			value = "(" + value + ")::" + c.typ
		}
		outs = append(outs, value)
	}
	return fmt.Sprintf("INSERT INTO %s AS %s (%s) SELECT DISTINCT %s FROM %s%s%s", t.name, alias, strings.Join(names, ", "), strings.Join(outs, ", "),
		from, g.where(scope, 1), g.conflict(t))
}

// merge writes a MERGE from a table or query.
func (g *Generator) merge(t table, alias string, scope []column) string {
	source, cols := g.source(1, t.colo)
	on := g.equality(scope, cols)
	if g.chance(40) {
		on += " AND " + g.equality(scope, cols)
	}
	switch g.rng.IntN(5) {
	case 0:
		on += " AND " + g.pin(scope)
	case 1:
		on += " AND " + g.pin(cols)
	}
	both := append(append([]column{}, scope...), cols...)
	extra := func(list []column) string {
		if g.chance(40) {
			return " AND " + g.predicate(list, 0)
		}
		return ""
	}
	sql := fmt.Sprintf("MERGE INTO %s AS %s USING %s ON %s", t.name, alias, source, on)
	if g.chance(75) {
		action := "DELETE"
		if g.chance(60) {
			action = "UPDATE SET " + g.set(t, scope)
		}
		sql += " WHEN MATCHED" + extra(both) + " THEN " + action
	}
	if g.chance(45) || !strings.Contains(sql, "WHEN MATCHED") {
		var names, values []string
		for _, c := range g.insertColumns(t) {
			value := g.fresh(t, c)
			for _, s := range cols {
				if s.typ == c.typ && (s.shard == c.shard || g.chance(10)) && (c.shard != "" || g.chance(30)) {
					value = s.expr
				}
			}
			names, values = append(names, c.expr), append(values, value)
		}
		sql += fmt.Sprintf(" WHEN NOT MATCHED%s THEN INSERT (%s) VALUES (%s)", extra(cols), strings.Join(names, ", "), strings.Join(values, ", "))
	}
	if g.chance(25) {
		action := "DELETE"
		if g.chance(50) {
			action = "UPDATE SET " + g.set(t, scope)
		}
		sql += " WHEN NOT MATCHED BY SOURCE" + extra(scope) + " THEN " + action
	}
	return sql
}
