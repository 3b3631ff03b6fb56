package resolve

import (
	"slices"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// selectStmt resolves SELECT, VALUES and set operations.
func (r *resolver) selectStmt(st *sqlast.SelectStmt, parent *scope) *facts.Query {
	q := &facts.Query{}
	s := newScope(parent, q)
	untypedOutputs := r.untypedOutputs
	r.untypedOutputs = false
	r.with(st.GetWithClause(), s)
	switch {
	case st.GetOp() != sqlast.SetOperation_SETOP_NONE && st.GetOp() != sqlast.SetOperation_SET_OPERATION_UNDEFINED:
		r.setOp(st, s)
	case len(st.GetValuesLists()) > 0:
		r.values(st, s)
	default:
		r.plainSelect(st, s)
		for i := range q.Outputs {
			if !untypedOutputs {
				q.Outputs[i].Expr = r.settle(q.Outputs[i].Expr)
			}
		}
	}
	r.limit(st, s)
	r.locks(st, s)
	return q
}

func (r *resolver) plainSelect(st *sqlast.SelectStmt, s *scope) {
	q := s.query
	if st.GetIntoClause() != nil {
		q.Into = st.GetIntoClause().GetRel().GetRelname()
		if s.parent != nil {
			r.invalid("invalid_statement", -1, "SELECT INTO stands inside another statement")
		}
	}
	q.From = r.from(st.GetFromClause(), s)
	r.defineWindows(st.GetWindowClause(), s)
	q.Outputs = r.targets(st.GetTargetList(), s)
	q.Where = r.condition(st.GetWhereClause(), s, "WHERE")
	q.Having = r.condition(st.GetHavingClause(), s, "")
	s.outputs = q.Outputs
	q.OrderBy = r.sortKeys(st.GetSortClause(), s, true)
	r.group(st, s)
	r.distinct(st, s)
	q.Grouped = s.agg || len(st.GetGroupClause()) > 0 || q.Having != nil
}

// condition resolves a boolean clause.
func (r *resolver) condition(n *sqlast.Node, s *scope, noAgg string) *facts.Expr {
	if n == nil {
		return nil
	}
	before := s.noAgg
	s.noAgg = noAgg
	e := r.expr(n, s)
	s.noAgg = before
	return r.boolean(e)
}

// boolean coerces to bool.
func (r *resolver) boolean(e *facts.Expr) *facts.Expr {
	if isLiteral(e) {
		r.giveType(e, "bool")
		return e
	}
	if t := r.baseType(e.Type); t != "bool" && t != "" && r.known(t) && e.Op != facts.Opaque {
		r.invalid("invalid_statement", e.Pos, "a condition is of type %s, not boolean", t)
	}
	return e
}

// targets resolves a target list, * expanded.
func (r *resolver) targets(list []*sqlast.Node, s *scope) []facts.Output {
	var out []facts.Output
	for _, n := range list {
		t := n.GetResTarget()
		if t == nil {
			r.problem("unsupported_syntax", -1, "a target list holds an unknown item")
			continue
		}
		if c, ok := t.GetVal().GetNode().(*sqlast.Node_ColumnRef); ok && isStar(c.ColumnRef) {
			out = append(out, r.star(c.ColumnRef, s)...)
			continue
		}
		if more, ok := r.compositeStar(t.GetVal(), s); ok {
			out = append(out, more...)
			continue
		}
		name := t.GetName()
		if name == "" {
			name = outputName(t.GetVal())
		}
		out = append(out, facts.Output{Name: name, Expr: r.expr(t.GetVal(), s)})
	}
	return out
}

func isStar(c *sqlast.ColumnRef) bool {
	f := c.GetFields()
	if len(f) == 0 {
		return false
	}
	_, ok := f[len(f)-1].GetNode().(*sqlast.Node_AStar)
	return ok
}

func (r *resolver) star(c *sqlast.ColumnRef, s *scope) []facts.Output {
	pos := r.pos(int(c.GetLocation()))
	parts := names(c.GetFields())
	if len(parts) == 0 {
		out, open, some := s.expand(pos)
		if !some {
			r.invalid("invalid_statement", pos, "SELECT * without FROM")
		}
		if open {
			out = append(out, facts.Output{Expr: r.opaque("star", pos)})
		}
		return out
	}
	schema, rel := qualifier(append(parts, ""))
	it, levels, amb := s.relation(schema, rel)
	if it == nil || amb {
		r.missingRelation(rel, s, pos)
		return []facts.Output{{Expr: r.opaque("star", pos)}}
	}
	var out []facts.Output
	for k := range it.cols {
		out = append(out, facts.Output{Name: it.cols[k].name, Expr: it.cols[k].at(levels, pos)})
	}
	if it.open || it.loose && len(it.cols) == 0 {
		out = append(out, facts.Output{Expr: r.opaque("star", pos)})
	}
	return out
}

// compositeStar expands (expression).* over a composite type.
func (r *resolver) compositeStar(n *sqlast.Node, s *scope) ([]facts.Output, bool) {
	a := n.GetAIndirection()
	if a == nil || len(a.GetIndirection()) == 0 {
		return nil, false
	}
	last := a.GetIndirection()[len(a.GetIndirection())-1]
	if _, star := last.GetNode().(*sqlast.Node_AStar); !star {
		return nil, false
	}
	e := r.indirection(r.expr(a.GetArg(), s), a.GetIndirection()[:len(a.GetIndirection())-1], s)
	fields := r.fields(e)
	if fields == nil {
		r.problem("unsupported_syntax", e.Pos, "the columns of a row expression are not known")
		return []facts.Output{{Expr: &facts.Expr{Op: facts.Opaque, Name: "star", Args: []*facts.Expr{e}, Pos: e.Pos}}}, true
	}
	var out []facts.Output
	for _, f := range fields {
		out = append(out, facts.Output{Name: f.name, Expr: r.field(e, f.name, e.Pos)})
	}
	return out, true
}

// outputName is PostgreSQL's FigureColname.
func outputName(n *sqlast.Node) string {
	name, _ := figureName(n)
	if name == "" {
		return "?column?"
	}
	return name
}

// figureName returns a name and how strong it is: a function or column names more than a type.
func figureName(n *sqlast.Node) (string, int) {
	switch e := n.GetNode().(type) {
	case *sqlast.Node_ColumnRef:
		if parts := names(e.ColumnRef.GetFields()); len(parts) > 0 {
			return parts[len(parts)-1], 2
		}
	case *sqlast.Node_AIndirection:
		if parts := names(e.AIndirection.GetIndirection()); len(parts) > 0 {
			return parts[len(parts)-1], 2
		}
		return figureName(e.AIndirection.GetArg())
	case *sqlast.Node_FuncCall:
		parts := names(e.FuncCall.GetFuncname())
		return parts[len(parts)-1], 2
	case *sqlast.Node_AExpr:
		if e.AExpr.GetKind() == sqlast.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", 2
		}
	case *sqlast.Node_TypeCast:
		if name, strength := figureName(e.TypeCast.GetArg()); strength > 1 {
			return name, strength
		}
		if parts := names(e.TypeCast.GetTypeName().GetNames()); len(parts) > 0 {
			return parts[len(parts)-1], 1
		}
	case *sqlast.Node_CollateClause:
		return figureName(e.CollateClause.GetArg())
	case *sqlast.Node_GroupingFunc:
		return "grouping", 2
	case *sqlast.Node_SubLink:
		return sublinkName(e.SubLink)
	case *sqlast.Node_CaseExpr:
		if name, strength := figureName(e.CaseExpr.GetDefresult()); strength > 1 {
			return name, strength
		}
		return "case", 1
	case *sqlast.Node_AArrayExpr:
		return "array", 2
	case *sqlast.Node_RowExpr:
		return "row", 2
	case *sqlast.Node_CoalesceExpr:
		return "coalesce", 2
	case *sqlast.Node_MinMaxExpr:
		if e.MinMaxExpr.GetOp() == sqlast.MinMaxOp_IS_LEAST {
			return "least", 2
		}
		return "greatest", 2
	case *sqlast.Node_SqlvalueFunction:
		return valueFunction(e.SqlvalueFunction.GetOp()).name, 2
	case *sqlast.Node_XmlExpr:
		return xmlName(e.XmlExpr.GetOp()), 2
	case *sqlast.Node_XmlSerialize:
		return "xmlserialize", 2
	case *sqlast.Node_MergeSupportFunc:
		return "merge_action", 2
	}
	return jsonName(n)
}

func sublinkName(l *sqlast.SubLink) (string, int) {
	switch l.GetSubLinkType() {
	case sqlast.SubLinkType_EXISTS_SUBLINK:
		return "exists", 2
	case sqlast.SubLinkType_ARRAY_SUBLINK:
		return "array", 2
	case sqlast.SubLinkType_EXPR_SUBLINK:
		sel := l.GetSubselect().GetSelectStmt()
		for sel.GetLarg() != nil {
			sel = sel.GetLarg()
		}
		if len(sel.GetTargetList()) > 0 {
			t := sel.GetTargetList()[0].GetResTarget()
			if t.GetName() != "" {
				return t.GetName(), 2
			}
			return figureName(t.GetVal())
		}
		if len(sel.GetValuesLists()) > 0 {
			return "column1", 2
		}
	}
	return "", 0
}

// values resolves VALUES rows.
func (r *resolver) values(st *sqlast.SelectStmt, s *scope) {
	q := s.query
	for _, row := range st.GetValuesLists() {
		q.Values = append(q.Values, r.exprs(row.GetList().GetItems(), s))
	}
	width := len(q.Values[0])
	for _, row := range q.Values {
		if len(row) != width {
			r.invalid("invalid_statement", -1, "rows of VALUES differ in length")
			width = min(width, len(row))
		}
		for _, e := range row {
			q.Folded = q.Folded || e.Op == facts.Slot && e.List
		}
	}
	for c := range width {
		col := make([]*facts.Expr, len(q.Values))
		for i, row := range q.Values {
			col[i] = row[c]
		}
		t := r.coerceAll(col)
		for i, row := range q.Values {
			row[c] = r.settle(col[i])
		}
		name := "column" + itoa(c+1)
		q.Outputs = append(q.Outputs, facts.Output{Name: name, Expr: own(c, name, t)})
	}
	s.outputs = q.Outputs
	q.OrderBy = r.sortKeys(st.GetSortClause(), s, true)
}

// own is a column of the query's own result.
func own(col int, name, typ string) *facts.Expr {
	return &facts.Expr{Op: facts.Column, Source: facts.OwnResult, Col: col, Type: typ, Name: name, Pos: -1}
}

// setOp resolves UNION, INTERSECT, EXCEPT.
func (r *resolver) setOp(st *sqlast.SelectStmt, s *scope) {
	q := s.query
	op := &facts.SetOp{All: st.GetAll()}
	switch st.GetOp() {
	case sqlast.SetOperation_SETOP_UNION:
		op.Op = "union"
	case sqlast.SetOperation_SETOP_INTERSECT:
		op.Op = "intersect"
	case sqlast.SetOperation_SETOP_EXCEPT:
		op.Op = "except"
	}
	q.SetOp = op
	op.Left = r.selectStmt(st.GetLarg(), s)
	r.recursiveColumns(s, op.Left)
	op.Right = r.selectStmt(st.GetRarg(), s)
	r.align(q)
	s.outputs = q.Outputs
	q.OrderBy = r.sortKeys(st.GetSortClause(), s, true)
}

// align pairs the arms' outputs and gives the set operation its own.
func (r *resolver) align(q *facts.Query) {
	left, right := q.SetOp.Left.Outputs, q.SetOp.Right.Outputs
	if len(left) != len(right) && !openQuery(q.SetOp.Left) && !openQuery(q.SetOp.Right) {
		r.invalid("invalid_statement", -1, "arms of a set operation have %d and %d columns", len(left), len(right))
	}
	for i, l := range left {
		typ := l.Expr.Type
		if i < len(right) {
			typ = r.commonOf([]string{l.Expr.Type, right[i].Expr.Type})
			if typ != "" {
				r.recast(q.SetOp.Left, i, typ)
				r.recast(q.SetOp.Right, i, typ)
			}
		}
		e := own(i, l.Name, typ)
		if l.Expr.Op == facts.Opaque && l.Expr.Name == "star" {
			e = r.opaque("star", -1)
		}
		q.Outputs = append(q.Outputs, facts.Output{Name: l.Name, Expr: e})
	}
}

// recast coerces output i of an arm to the set operation's type, down to the plain arms.
func (r *resolver) recast(q *facts.Query, i int, typ string) {
	if i >= len(q.Outputs) {
		return
	}
	if q.SetOp != nil && q.Limit == nil && q.Offset == nil {
		r.recast(q.SetOp.Left, i, typ)
		r.recast(q.SetOp.Right, i, typ)
		q.Outputs[i].Expr.Type = typ
		return
	}
	q.Outputs[i].Expr = r.coerce(q.Outputs[i].Expr, typ)
}

// limit resolves LIMIT, OFFSET, FETCH.
func (r *resolver) limit(st *sqlast.SelectStmt, s *scope) {
	number := func(n *sqlast.Node) *facts.Expr {
		if n == nil {
			return nil
		}
		empty := &scope{parent: s.parent, query: s.query, ctes: s.ctes, noAgg: "LIMIT"} // no column of this level
		e := r.expr(n, empty)
		if intFamily(e.Type) {
			return e
		}
		return r.coerce(e, "int8")
	}
	q := s.query
	q.Limit, q.Offset = number(st.GetLimitCount()), number(st.GetLimitOffset())
	q.WithTies = st.GetLimitOption() == sqlast.LimitOption_LIMIT_OPTION_WITH_TIES
}

// locks resolves FOR UPDATE and its kin.
func (r *resolver) locks(st *sqlast.SelectStmt, s *scope) {
	for _, n := range st.GetLockingClause() {
		l := n.GetLockingClause()
		f := facts.Lock{Pos: -1, SkipLocked: l.GetWaitPolicy() == sqlast.LockWaitPolicy_LockWaitSkip, NoWait: l.GetWaitPolicy() == sqlast.LockWaitPolicy_LockWaitError}
		switch l.GetStrength() {
		case sqlast.LockClauseStrength_LCS_FORKEYSHARE:
			f.Strength = "key share"
		case sqlast.LockClauseStrength_LCS_FORSHARE:
			f.Strength = "share"
		case sqlast.LockClauseStrength_LCS_FORNOKEYUPDATE:
			f.Strength = "no key update"
		default:
			f.Strength = "update"
		}
		for _, rel := range l.GetLockedRels() {
			v := rel.GetRangeVar()
			it, levels, amb := s.relation(v.GetSchemaname(), v.GetRelname())
			if it == nil || it.source == nil || amb || levels > 0 {
				r.invalid("unknown_table", int(v.GetLocation()), "the locked relation %q is not in FROM", v.GetRelname())
				continue
			}
			f.Of = append(f.Of, it.source.ID)
		}
		slices.Sort(f.Of)
		s.query.Locks = append(s.query.Locks, f)
	}
}

func itoa(n int) string {
	const digits = "0123456789"
	if n < 10 {
		return digits[n : n+1]
	}
	return itoa(n/10) + digits[n%10:n%10+1]
}
