package sqlgen

import (
	"fmt"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
)

// write writes an INSERT, UPDATE or DELETE on a sharded table.
func (g *Generator) write() string {
	var pool []table
	for _, t := range g.tables {
		if t.placement == candidate.Sharded {
			pool = append(pool, t)
		}
	}
	t := pick(g, pool)
	alias := g.alias()
	scope := t.scope(alias)
	switch g.rng.IntN(8) {
	case 0, 1:
		return g.insert(t)
	case 2, 3, 4:
		from, all := g.extra("FROM", scope, t.colo)
		return fmt.Sprintf("UPDATE %s AS %s SET %s%s%s", t.name, alias, g.set(t), from, g.joined(scope, all))
	}
	using, all := g.extra("USING", scope, t.colo)
	return fmt.Sprintf("DELETE FROM %s AS %s%s%s", t.name, alias, using, g.joined(scope, all))
}

// extra adds a second source to an UPDATE or DELETE now and then.
func (g *Generator) extra(word string, scope []column, colo string) (string, []column) {
	if !g.chance(25) {
		return "", nil
	}
	sql, cols := g.source(0, colo)
	return " " + word + " " + sql, cols
}

func (g *Generator) joined(scope, extra []column) string {
	if extra == nil {
		return " WHERE " + g.predicate(scope, 2)
	}
	return " WHERE " + g.equality(scope, extra) + " AND " + g.predicate(append(append([]column{}, scope...), extra...), 1)
}

// set assigns a column that is neither key nor unique: text and timestamps are, in most schemas.
func (g *Generator) set(t table) string {
	for _, c := range t.columns {
		if c.shard == "" && !c.notNull && simple(c.typ) {
			return c.expr + " = NULL"
		}
	}
	for _, c := range t.columns {
		if c.shard == "" && c.typ == "text" {
			return c.expr + " = 'x'"
		}
	}
	return t.columns[0].expr + " = " + t.columns[0].expr
}

// insert copies rows of a table of the colo with changed key parts, or gives one row.
func (g *Generator) insert(t table) string {
	var names, values []string
	for _, c := range t.columns {
		if !simple(c.typ) && !c.notNull {
			continue
		}
		names = append(names, c.expr)
		switch {
		case !simple(c.typ):
			values = append(values, "DEFAULT")
		case c.shard == "" && family(c.typ) == "int" && c.notNull:
			values = append(values, fmt.Sprint(900000+g.rng.IntN(1000)))
		default:
			values = append(values, g.literal(c))
		}
	}
	conflict := ""
	if g.chance(40) {
		conflict = " ON CONFLICT DO NOTHING"
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)%s", t.name, strings.Join(names, ", "), strings.Join(values, ", "), conflict)
}
