package resolve

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// comparison tells the operators that a Compare node holds.
func comparison(name string) bool {
	switch name {
	case "=", "<>", "<", "<=", ">", ">=", "~~", "!~~", "~~*", "!~~*", "~", "!~", "~*", "!~*":
		return true
	}
	return false
}

// intFamily tells the types of PostgreSQL's one btree and hash family of integers.
func intFamily(t string) bool { return t == "int2" || t == "int4" || t == "int8" }

// pick chooses a builtin operator.
func (r *resolver) pick(name string, types []string) (*routine, int) {
	all := r.b.operators[name]
	var cands []routine
	for _, c := range all {
		if len(c.args) == len(types) {
			cands = append(cands, c)
		}
	}
	if len(types) == 2 { // one side untyped: PostgreSQL first tries the other side's type for both
		for _, try := range [][2]string{{types[0], types[1]}, {r.baseType(types[0]), r.baseType(types[1])}} {
			l, rt := try[0], try[1]
			if l == untyped {
				l = rt
			} else if rt == untyped {
				rt = l
			}
			if l == untyped {
				break
			}
			for i := range cands {
				if cands[i].args[0] == l && cands[i].args[1] == rt {
					return &cands[i], i
				}
			}
		}
	}
	i := r.choose(cands, types)
	if i < 0 {
		return nil, i
	}
	return &cands[i], i
}

// operator resolves name over its arguments, with the implicit casts PostgreSQL adds.
func (r *resolver) operator(name string, args []*facts.Expr, pos int) *facts.Expr {
	if schema, bare, ok := strings.Cut(name, "\x00"); ok {
		name = bare
		if schema != "pg_catalog" {
			r.problem("unknown_operator", pos, "operator %s of schema %q", name, schema)
		}
	}
	e := &facts.Expr{Op: facts.Operator, Name: name, Args: args, Pos: pos}
	if comparison(name) && len(args) == 2 {
		e.Op, e.Type = facts.Compare, "bool"
		if args[0].Op == facts.Row && args[1].Op == facts.Row {
			return r.rowCompare(e)
		}
	}
	types := make([]string, len(args))
	sure := true
	for i, a := range args {
		types[i] = a.Type
		sure = sure && a.Type != "" && (a.Type == untyped || r.known(a.Type))
	}
	c, how := r.pick(name, types)
	if c != nil && sure && r.customOperators() && (slices.Contains(r.path, "pg_catalog") || !r.takesExactly(c, types)) {
		r.problem("unknown_operator", pos, "operator %s over %s may be one of the schema's own", name, typeList(types))
	}
	if c != nil && sure {
		e.Type = r.pass(c, args)
		e.Volatility = notImmutable(c.vol)
		return e
	}
	for i, a := range args {
		if other := args[len(args)-1-i]; !sure && isLiteral(a) && e.Op == facts.Compare && other.Type != "" {
			r.giveType(a, other.Type) // an extension's type: its own operator takes a literal of the same type
		}
		r.later(a)
	}
	switch {
	case !sure:
		r.loose(e)
	case r.customOperators():
		r.problem("unknown_operator", pos, "operator %s over %s is none of PostgreSQL's own", name, typeList(types))
	case extensionOperators[name] != "" && r.allText(types):
		e.Type = extensionOperators[name]
	case how == ambiguous:
		r.problem("unknown_operator", pos, "operator %s over %s is ambiguous", name, typeList(types))
	case len(r.b.operators[name]) > 0:
		r.invalid("no_such_operator", pos, "there is no operator %s over %s", name, typeList(types))
	default:
		e.Volatility = facts.VolUnknown
		r.problem("unknown_operator", pos, "operator %s is none of PostgreSQL's own", name)
	}
	return e
}

// loose types an operator some of whose arguments have types of an extension, or none that is known.
func (r *resolver) loose(e *facts.Expr) {
	if e.Op == facts.Compare {
		return
	}
	if t := extensionOperators[e.Name]; t != "" {
		e.Type = t
		return
	}
	types := map[string]bool{}
	for _, c := range r.b.operators[e.Name] {
		if len(c.args) == len(e.Args) {
			types[c.ret] = true
		}
	}
	if len(types) == 1 {
		for t := range types {
			e.Type = t
		}
	}
	if len(r.b.operators[e.Name]) == 0 {
		e.Volatility = facts.VolUnknown
		r.problem("unknown_operator", e.Pos, "operator %s is none of PostgreSQL's own", e.Name)
	}
}

// takesExactly tells an operator of pg_catalog over just these types: none of the schema's own can come before it.
func (r *resolver) takesExactly(c *routine, types []string) bool {
	for i, t := range types {
		if t != c.args[i] && r.baseType(t) != c.args[i] && t != untyped && !strings.HasPrefix(c.args[i], "any") && !(stringly(t) && stringly(c.args[i])) && !(intFamily(t) && intFamily(c.args[i])) {
			return false
		}
	}
	return true
}

// customOperators tells whether the schema makes operators or casts of its own, which the catalog does not keep.
func (r *resolver) customOperators() bool {
	for kind, n := range r.cat.Skipped {
		k := strings.ToLower(kind)
		if n > 0 && (strings.Contains(k, "operator") || strings.Contains(k, "cast")) {
			return true
		}
	}
	return false
}

// allText tells types that pg_trgm's operators take.
func (r *resolver) allText(types []string) bool {
	for _, t := range types {
		if t != untyped && r.category(t) != 'S' {
			return false
		}
	}
	return true
}

func typeList(types []string) string { return strings.Join(types, " and ") }

// rowCompare compares two rows part by part.
func (r *resolver) rowCompare(e *facts.Expr) *facts.Expr {
	l, rt := e.Args[0], e.Args[1]
	if len(l.Args) != len(rt.Args) {
		r.invalid("invalid_statement", e.Pos, "rows of %d and %d columns are compared", len(l.Args), len(rt.Args))
		return e
	}
	for i := range l.Args {
		c := r.operator(e.Name, []*facts.Expr{l.Args[i], rt.Args[i]}, e.Pos)
		l.Args[i], rt.Args[i] = c.Args[0], c.Args[1]
	}
	return e
}

// operatorName joins a qualified operator's schema and name.
func operatorName(list []*sqlast.Node) string {
	parts := names(list)
	switch len(parts) {
	case 0:
		return "="
	case 1:
		return parts[0]
	}
	if parts[0] == "pg_catalog" {
		return parts[len(parts)-1]
	}
	return strings.Join(parts, "\x00")
}

func (r *resolver) aExpr(a *sqlast.A_Expr, s *scope) *facts.Expr {
	pos := r.pos(int(a.GetLocation()))
	name := operatorName(a.GetName())
	switch a.GetKind() {
	case sqlast.A_Expr_Kind_AEXPR_OP, sqlast.A_Expr_Kind_AEXPR_LIKE, sqlast.A_Expr_Kind_AEXPR_ILIKE, sqlast.A_Expr_Kind_AEXPR_SIMILAR:
		return r.plainOperator(a, name, s, pos)
	case sqlast.A_Expr_Kind_AEXPR_OP_ANY, sqlast.A_Expr_Kind_AEXPR_OP_ALL:
		return r.anyArray(a, name, s, pos)
	case sqlast.A_Expr_Kind_AEXPR_DISTINCT, sqlast.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		c := r.operator("=", []*facts.Expr{r.expr(a.GetLexpr(), s), r.expr(a.GetRexpr(), s)}, pos)
		return &facts.Expr{Op: facts.NotSame, Args: c.Args, Type: "bool", Negated: a.GetKind() == sqlast.A_Expr_Kind_AEXPR_NOT_DISTINCT, Pos: pos}
	case sqlast.A_Expr_Kind_AEXPR_NULLIF:
		c := r.operator("=", []*facts.Expr{r.expr(a.GetLexpr(), s), r.expr(a.GetRexpr(), s)}, pos)
		e := &facts.Expr{Op: facts.Call, Name: "nullif", Args: c.Args, Type: c.Args[0].Type, Pos: pos}
		if stringly(e.Type) {
			e.Type = "text" // the operator's own type
		}
		return e
	case sqlast.A_Expr_Kind_AEXPR_IN:
		return r.in(a, name == "<>", s, pos)
	}
	return r.between(a, s, pos)
}

func (r *resolver) plainOperator(a *sqlast.A_Expr, name string, s *scope, pos int) *facts.Expr {
	if a.GetLexpr() == nil {
		return r.operator(name, []*facts.Expr{r.expr(a.GetRexpr(), s)}, pos)
	}
	if sub := a.GetRexpr().GetSubLink(); sub != nil && sub.GetSubLinkType() == sqlast.SubLinkType_EXPR_SUBLINK && a.GetLexpr().GetRowExpr() != nil {
		row := r.expr(a.GetLexpr(), s)
		q := r.sub(sub, s)
		r.pairOutputs(name, row, q, pos)
		return &facts.Expr{Op: facts.Sublink, Sub: facts.SubMulti, Name: name, Args: []*facts.Expr{row}, Query: q, Type: "bool", Pos: pos}
	}
	return r.operator(name, []*facts.Expr{r.expr(a.GetLexpr(), s), r.expr(a.GetRexpr(), s)}, pos)
}

// anyArray is x op ANY (array).
func (r *resolver) anyArray(a *sqlast.A_Expr, name string, s *scope, pos int) *facts.Expr {
	l, arr := r.expr(a.GetLexpr(), s), r.expr(a.GetRexpr(), s)
	e := &facts.Expr{Op: facts.AnyArray, Name: name, Args: []*facts.Expr{l, arr}, Type: "bool", All: a.GetKind() == sqlast.A_Expr_Kind_AEXPR_OP_ALL, Pos: pos}
	elem := r.elemOf(arr.Type)
	if arr.Type == untyped {
		elem = untyped
	}
	if elem == "" && arr.Type != "" && r.known(arr.Type) {
		r.invalid("no_such_operator", pos, "ANY or ALL over %s, which is no array", arr.Type)
		return e
	}
	probe := r.operator(name, []*facts.Expr{l, {Op: facts.Opaque, Type: elem, Pos: pos}}, pos)
	e.Args[0], e.Volatility, e.Name = probe.Args[0], probe.Volatility, probe.Name
	if right := probe.Args[1]; elem == untyped {
		if c, _ := r.pick(e.Name, []string{l.Type, untyped}); c != nil {
			e.Args[1] = r.coerce(arr, arrayOf(r.arrayElem(c.declared(1), l)))
		}
	} else if right.Op == facts.Cast {
		e.Args[1] = r.coerce(arr, arrayOf(right.Type))
	}
	return e
}

// arrayElem is the element type an untyped array takes where the operator is polymorphic.
func (r *resolver) arrayElem(declared string, l *facts.Expr) string {
	if strings.HasPrefix(declared, "any") {
		return l.Type
	}
	return declared
}

// in resolves x IN (list): a common type for the list as PostgreSQL finds it, so that one wide element casts the column.
func (r *resolver) in(a *sqlast.A_Expr, negated bool, s *scope, pos int) *facts.Expr {
	l := r.expr(a.GetLexpr(), s)
	items := r.exprs(a.GetRexpr().GetList().GetItems(), s)
	e := &facts.Expr{Op: facts.In, Type: "bool", Negated: negated, Pos: pos}
	if l.Op == facts.Row {
		for _, it := range items {
			if it.Op == facts.Row {
				r.rowCompare(&facts.Expr{Name: "=", Args: []*facts.Expr{l, it}, Pos: pos})
			}
		}
		e.Args = append([]*facts.Expr{l}, items...)
		return e
	}
	l = r.inTypes(l, items, pos)
	e.Args = append([]*facts.Expr{l}, items...)
	return e
}

func (r *resolver) inTypes(l *facts.Expr, items []*facts.Expr, pos int) *facts.Expr {
	if len(items) == 1 && !holdsList(items[0]) { // the marker may stand for more
		c := r.operator("=", []*facts.Expr{l, items[0]}, pos)
		items[0] = c.Args[1]
		return c.Args[0]
	}
	scalar := r.commonType(append([]*facts.Expr{l}, items...))
	if scalar == "" { // no common type: PostgreSQL compares one by one
		for i := range items {
			c := r.operator("=", []*facts.Expr{l, items[i]}, pos)
			items[i] = c.Args[1]
			if c.Args[0] != l {
				r.problem("unsupported_syntax", pos, "elements of an IN list cast the left side differently")
			}
		}
		return l
	}
	for i, it := range items {
		if !(intFamily(scalar) && intFamily(it.Type)) {
			items[i] = r.coerce(it, scalar)
		}
	}
	probe := r.operator("=", []*facts.Expr{l, {Op: facts.Opaque, Type: scalar, Pos: pos}}, pos)
	if c := probe.Args[1]; c.Op == facts.Cast {
		for i, it := range items {
			items[i] = r.coerce(it, c.Type)
		}
	}
	return probe.Args[0]
}

// between expands BETWEEN into comparisons; the left side is resolved once for each.
func (r *resolver) between(a *sqlast.A_Expr, s *scope, pos int) *facts.Expr {
	bounds := a.GetRexpr().GetList().GetItems()
	if len(bounds) != 2 {
		r.problem("unsupported_syntax", pos, "an operator expression is of an unknown kind")
		return r.opaque("expression", pos)
	}
	if l := r.expr(a.GetLexpr(), s); nodes(l) > maxRepeated {
		return &facts.Expr{Op: facts.Opaque, Name: "between", Type: "bool", Pos: pos,
			Args: []*facts.Expr{r.settle(l), r.settle(r.expr(bounds[0], s)), r.settle(r.expr(bounds[1], s))}}
	}
	cmp := func(op string, bound int) *facts.Expr {
		return r.operator(op, []*facts.Expr{r.expr(a.GetLexpr(), s), r.expr(bounds[bound], s)}, pos)
	}
	switch a.GetKind() {
	case sqlast.A_Expr_Kind_AEXPR_BETWEEN:
		return flat(facts.And, []*facts.Expr{cmp(">=", 0), cmp("<=", 1)})
	case sqlast.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return flat(facts.Or, []*facts.Expr{cmp("<", 0), cmp(">", 1)})
	case sqlast.A_Expr_Kind_AEXPR_BETWEEN_SYM, sqlast.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		either := flat(facts.Or, []*facts.Expr{
			flat(facts.And, []*facts.Expr{cmp(">=", 0), cmp("<=", 1)}),
			flat(facts.And, []*facts.Expr{cmp(">=", 1), cmp("<=", 0)})})
		if a.GetKind() == sqlast.A_Expr_Kind_AEXPR_BETWEEN_SYM {
			return either
		}
		return &facts.Expr{Op: facts.Not, Args: []*facts.Expr{either}, Type: "bool", Pos: pos}
	}
	r.problem("unsupported_syntax", pos, "an operator expression is of an unknown kind")
	return r.opaque("expression", pos)
}
