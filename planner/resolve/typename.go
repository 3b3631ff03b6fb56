package resolve

import (
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// typeName gives a type's canonical name and its modifier as "(10,2)".
func (r *resolver) typeName(t *sqlast.TypeName) (name, mod string) {
	parts := names(t.GetNames())
	if len(parts) == 0 || t.GetPctType() {
		return "", ""
	}
	name = r.lookupType(parts)
	if len(t.GetArrayBounds()) > 0 {
		name = arrayOf(name)
	}
	return name, typeMod(t.GetTypmods())
}

func (r *resolver) lookupType(parts []string) string {
	last := parts[len(parts)-1]
	if len(parts) > 1 {
		schema := parts[len(parts)-2]
		if schema == "pg_catalog" {
			return last
		}
		if key := catalog.Key(schema, last); r.cat.Types[key] != nil || r.cat.Relations[key] != nil {
			return key
		}
		return last // only an extension can have made it; the catalog names those without a schema
	}
	if _, ok := r.b.types[last]; ok || strings.HasPrefix(last, "_") && r.b.types[last[1:]].category != 0 {
		return last
	}
	for _, p := range r.path {
		key := catalog.Key(p, last)
		if r.cat.Types[key] != nil || r.cat.Relations[key] != nil {
			return key
		}
	}
	return last
}

// typeExists tells a builtin type or one of the schema.
func (r *resolver) typeExists(t string) bool {
	_, ok := r.b.types[t]
	return ok || r.cat.Types[t] != nil
}

func typeMod(list []*sqlast.Node) string {
	if len(list) == 0 {
		return ""
	}
	var out []string
	for _, n := range list {
		switch {
		case n.GetAConst().GetIval() != nil:
			out = append(out, itoaSigned(int(n.GetAConst().GetIval().GetIval())))
		case n.GetParamRef() != nil:
			out = append(out, "$"+itoa(int(n.GetParamRef().GetNumber())))
		default:
			out = append(out, "?")
		}
	}
	return "(" + strings.Join(out, ",") + ")"
}

func itoaSigned(n int) string {
	if n < 0 {
		return "-" + itoa(-n)
	}
	return itoa(n)
}

// typeByText reads a type as SQL writes it, such as "bigint[]" or "timestamp with time zone".
func (r *resolver) typeByText(text string) string {
	n, err := sqlast.ParseOne("SELECT NULL::" + text)
	if err != nil {
		return ""
	}
	list := n.GetSelectStmt().GetTargetList()
	if len(list) != 1 || n.GetSelectStmt().GetFromClause() != nil {
		return ""
	}
	c := list[0].GetResTarget().GetVal().GetTypeCast()
	if c == nil {
		return ""
	}
	t, _ := r.typeName(c.GetTypeName())
	if t == untyped {
		return ""
	}
	return t
}

// cast resolves an explicit cast.
func (r *resolver) cast(c *sqlast.TypeCast, s *scope) *facts.Expr {
	t, mod := r.typeName(c.GetTypeName())
	pos := r.pos(int(c.GetLocation()))
	if a := c.GetArg().GetAArrayExpr(); a != nil && mod == "" {
		if elem := r.elemOf(t); elem != "" {
			return r.arrayAs(a, s, elem, t)
		}
	}
	return r.castTo(r.expr(c.GetArg(), s), t, mod, pos)
}

// arrayAs is ARRAY[...]::t[]: PostgreSQL casts the elements, not the array.
func (r *resolver) arrayAs(a *sqlast.A_ArrayExpr, s *scope, elem, typ string) *facts.Expr {
	e := &facts.Expr{Op: facts.Array, Type: typ, Pos: r.pos(int(a.GetLocation()))}
	for _, n := range a.GetElements() {
		if inner := n.GetAArrayExpr(); inner != nil {
			e.Args = append(e.Args, r.arrayAs(inner, s, elem, typ))
			continue
		}
		x := r.expr(n, s)
		e.Args = append(e.Args, r.castTo(x, elem, "", x.Pos))
	}
	return e
}

func (r *resolver) castTo(e *facts.Expr, t, mod string, pos int) *facts.Expr {
	if isLiteral(e) {
		base := r.baseType(t)
		r.giveType(e, base)
		if mod == "" && base == t {
			return e
		}
		return &facts.Expr{Op: facts.Cast, Args: []*facts.Expr{e}, Type: t, Text: mod, Pos: pos}
	}
	if mod == "" && t != "" && (e.Type == t || r.baseType(e.Type) == t || stringly(e.Type) && stringly(t)) {
		return e
	}
	out := &facts.Expr{Op: facts.Cast, Args: []*facts.Expr{e}, Type: t, Text: mod, Pos: pos}
	if e.Type == "" || t == "" || !r.known(e.Type) && r.category(e.Type) != 'C' {
		out.Volatility = facts.Stable
		return out
	}
	way, ok := r.castWay(e.Type, t, 'e')
	out.Volatility = notImmutable(way.vol)
	if !ok {
		out.Volatility = facts.Stable
	}
	return out
}

// field selects a column of a composite value; of a whole table row it is the column itself.
func (r *resolver) field(e *facts.Expr, name string, pos int) *facts.Expr {
	if rel := r.cat.Relations[e.Type]; rel != nil && e.Op == facts.Column && e.System && e.Col < 0 {
		if i := rel.Column(name); i >= 0 {
			return &facts.Expr{Op: facts.Column, Source: e.Source, Col: i, Name: name, Type: rel.Columns[i].Type, Levels: e.Levels, Pos: pos}
		}
	}
	out := &facts.Expr{Op: facts.Opaque, Name: "field", Text: name, Args: []*facts.Expr{e}, Pos: pos}
	for _, f := range r.fields(e) {
		if f.name == name {
			out.Type = f.typ
		}
	}
	return out
}

// fields gives the columns of a composite value, nil if they are not known.
func (r *resolver) fields(e *facts.Expr) []column {
	var out []column
	add := func(cols []catalog.Column) {
		for _, c := range cols {
			out = append(out, column{c.Name, c.Type})
		}
	}
	if t := r.ownType(r.baseType(e.Type)); t != nil && t.Kind == 'c' {
		add(t.Fields)
		return out
	}
	if rel := r.cat.Relations[e.Type]; rel != nil {
		add(rel.Columns)
		return out
	}
	if e.Op == facts.Call {
		return r.callColumns(e)
	}
	return nil
}

// indirection applies subscripts and field selections.
func (r *resolver) indirection(e *facts.Expr, list []*sqlast.Node, s *scope) *facts.Expr {
	for _, n := range list {
		switch i := n.GetNode().(type) {
		case *sqlast.Node_String_:
			e = r.field(e, i.String_.GetSval(), e.Pos)
		case *sqlast.Node_AIndices:
			out := &facts.Expr{Op: facts.Opaque, Name: "subscript", Args: []*facts.Expr{e}, Pos: e.Pos}
			for _, x := range []*sqlast.Node{i.AIndices.GetLidx(), i.AIndices.GetUidx()} {
				if x != nil {
					sub := r.expr(x, s)
					if isLiteral(sub) && r.category(e.Type) == 'A' {
						r.giveType(sub, "int4")
					}
					out.Args = append(out.Args, r.settle(sub))
				}
			}
			switch {
			case i.AIndices.GetIsSlice(), r.elemOf(e.Type) == "":
				out.Type = e.Type
			default:
				out.Type = r.elemOf(e.Type)
			}
			e = out
		default:
			r.problem("unsupported_syntax", e.Pos, "a selection of an unknown kind")
		}
	}
	return e
}
