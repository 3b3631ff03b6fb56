package sqlgen

import (
	"fmt"
	"strings"
)

// simple types are the ones that predicates and joins are written over.
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
				cols = append(cols, c, c, c, c)
			}
		}
	}
	return cols
}

// sample takes a value that is likely to occur: the first ones, which are frequent, more often than others.
func (g *Generator) sample(c column) string {
	var texts []string
	if table, col, ok := cutLast(c.from); ok {
		texts = g.samples(table, col)
	}
	if len(texts) > 0 {
		return texts[min(g.rng.IntN(len(texts)), g.rng.IntN(len(texts)))]
	}
	switch family(c.typ) {
	case "int", "numeric":
		return fmt.Sprint(g.rng.IntN(12))
	case "bool":
		return pick(g, []string{"t", "f"})
	case "uuid":
		return "00000000-0000-0000-0000-00000000000" + fmt.Sprint(g.rng.IntN(10))
	case "timestamptz", "date":
		return fmt.Sprintf("2024-01-%02d", 1+g.rng.IntN(28))
	}
	return pick(g, []string{"a", "b", ""})
}

// literal writes a value of a column's type that is likely to occur: as a literal in one of its spellings, or as a parameter.
func (g *Generator) literal(c column) string {
	v := g.sample(c)
	if g.binds && g.chance(60) {
		return g.param(c.typ, v)
	}
	switch family(c.typ) {
	case "int":
		return g.integer(v)
	case "numeric":
		return v
	case "bool":
		return map[string]string{"t": "true", "f": "false"}[v[:1]]
	case "text":
		return g.text(v)
	case "uuid":
		return g.uuid(v)
	}
	return quote(v) + "::" + c.typ
}

// param gives the number of a parameter with this value: a new one, or an earlier one of the same type and value.
func (g *Generator) param(typ, v string) string {
	if family(typ) == "int" && g.chance(12) {
		typ = pick(g, []string{"int4", "int2", "numeric"})
	}
	p := Param{Type: typ, Text: v, Null: g.chance(3)}
	for i, have := range g.params {
		if have == p && g.chance(70) {
			return fmt.Sprintf("$%d", i+1)
		}
	}
	g.params = append(g.params, p)
	return fmt.Sprintf("$%d", len(g.params))
}

// arrayParam gives the number of a new parameter that is an array.
func (g *Generator) arrayParam(c column, vs []string) string {
	g.params = append(g.params, Param{Type: c.typ + "[]", Text: arrayText(vs)})
	return fmt.Sprintf("$%d", len(g.params))
}

func arrayText(vs []string) string {
	items := make([]string, len(vs))
	for i, v := range vs {
		items[i] = `"` + v + `"`
	}
	return "{" + strings.Join(items, ",") + "}"
}

// integer writes one integer in the ways that applications do, some of which no longer are integers.
func (g *Generator) integer(v string) string {
	switch g.rng.IntN(22) {
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
	case 6:
		return "CAST('" + v + "' AS bigint)"
	case 7:
		return "bigint '" + v + "'"
	case 8:
		return "'" + v + "'::text::int8"
	case 9:
		return v + "::float8"
	case 10:
		return "+" + v
	case 11:
		return "0" + v
	}
	return v
}

func (g *Generator) text(v string) string {
	switch g.rng.IntN(14) {
	case 0:
		return quote(v) + "::text"
	case 1:
		return quote(v) + "::varchar"
	case 2:
		return "E" + quote(v)
	case 3:
		return quote(v) + "::bpchar"
	case 4:
		return "text " + quote(v)
	case 5:
		return "(" + quote(v) + " || '')"
	case 6:
		return quote(v) + "::varchar(4)"
	case 7:
		return "lower(" + quote(v) + ")"
	}
	return quote(v)
}

func (g *Generator) uuid(v string) string {
	switch g.rng.IntN(8) {
	case 0:
		return quote(strings.ToUpper(v))
	case 1:
		return quote("{" + v + "}")
	case 2:
		return quote(strings.ReplaceAll(v, "-", ""))
	case 3:
		return "uuid " + quote(v)
	case 4:
		return quote(v) + "::text::uuid"
	case 5:
		return quote(v)
	}
	return quote(v) + "::uuid"
}

// typed is a literal whose type needs no context.
func (g *Generator) typed(c column) string { return "(" + g.literal(c) + ")::" + c.typ }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}
