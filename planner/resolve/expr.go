package resolve

import (
	"math"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
	"github.com/foreshard/foreshard/planner/sqltext"
)

func (r *resolver) exprs(list []*sqlast.Node, s *scope) []*facts.Expr {
	out := make([]*facts.Expr, 0, len(list))
	for _, n := range list {
		out = append(out, r.expr(n, s))
	}
	return out
}

// expr resolves any expression. It never returns nil.
func (r *resolver) expr(n *sqlast.Node, s *scope) *facts.Expr {
	switch e := n.GetNode().(type) {
	case *sqlast.Node_ColumnRef:
		return r.columnRef(e.ColumnRef, s)
	case *sqlast.Node_ParamRef:
		return r.param(int(e.ParamRef.GetNumber()), r.pos(int(e.ParamRef.GetLocation())))
	case *sqlast.Node_AConst:
		return r.constant(e.AConst)
	case *sqlast.Node_AExpr:
		return r.aExpr(e.AExpr, s)
	case *sqlast.Node_BoolExpr:
		return r.boolExpr(e.BoolExpr, s)
	case *sqlast.Node_TypeCast:
		return r.cast(e.TypeCast, s)
	case *sqlast.Node_CollateClause:
		arg := r.settle(r.expr(e.CollateClause.GetArg(), s))
		return &facts.Expr{Op: facts.Collate, Args: []*facts.Expr{arg}, Name: strings.Join(names(e.CollateClause.GetCollname()), "."), Type: arg.Type, Pos: r.pos(int(e.CollateClause.GetLocation()))}
	case *sqlast.Node_FuncCall:
		return r.funcCall(e.FuncCall, s)
	case *sqlast.Node_SubLink:
		return r.subLink(e.SubLink, s)
	case *sqlast.Node_CaseExpr:
		return r.caseExpr(e.CaseExpr, s)
	case *sqlast.Node_CoalesceExpr:
		x := &facts.Expr{Op: facts.Coalesce, Args: r.exprs(e.CoalesceExpr.GetArgs(), s), Pos: r.pos(int(e.CoalesceExpr.GetLocation()))}
		x.Type = r.coerceAll(x.Args)
		return x
	case *sqlast.Node_MinMaxExpr:
		name := "greatest"
		if e.MinMaxExpr.GetOp() == sqlast.MinMaxOp_IS_LEAST {
			name = "least"
		}
		x := &facts.Expr{Op: facts.Call, Name: name, Args: r.exprs(e.MinMaxExpr.GetArgs(), s), Pos: r.pos(int(e.MinMaxExpr.GetLocation()))}
		x.Type = r.coerceAll(x.Args)
		return x
	case *sqlast.Node_NullTest:
		return &facts.Expr{Op: facts.NullTest, Args: []*facts.Expr{r.later(r.expr(e.NullTest.GetArg(), s))}, Type: "bool",
			Negated: e.NullTest.GetNulltesttype() == sqlast.NullTestType_IS_NOT_NULL, Pos: r.pos(int(e.NullTest.GetLocation()))}
	case *sqlast.Node_BooleanTest:
		return &facts.Expr{Op: facts.BoolTest, Args: []*facts.Expr{r.boolean(r.expr(e.BooleanTest.GetArg(), s))}, Type: "bool",
			Name: boolTest(e.BooleanTest.GetBooltesttype()), Pos: r.pos(int(e.BooleanTest.GetLocation()))}
	case *sqlast.Node_RowExpr:
		return r.row(e.RowExpr, s)
	case *sqlast.Node_AArrayExpr:
		x := &facts.Expr{Op: facts.Array, Args: r.exprs(e.AArrayExpr.GetElements(), s), Pos: r.pos(int(e.AArrayExpr.GetLocation()))}
		if binds := len(x.Args) > 0; binds {
			for _, a := range x.Args {
				binds = binds && isLiteral(a) && r.isBind(a)
			}
			if binds {
				x.Type = untyped
				return x
			}
		}
		x.Type = arrayOf(r.coerceAll(x.Args))
		return x
	case *sqlast.Node_AIndirection:
		return r.indirection(r.expr(e.AIndirection.GetArg(), s), e.AIndirection.GetIndirection(), s)
	case *sqlast.Node_SqlvalueFunction:
		f := valueFunction(e.SqlvalueFunction.GetOp())
		return &facts.Expr{Op: facts.Call, Name: f.name, Type: f.typ, Volatility: facts.Stable, Pos: r.pos(int(e.SqlvalueFunction.GetLocation()))}
	case *sqlast.Node_GroupingFunc:
		s.agg = true
		x := &facts.Expr{Op: facts.Opaque, Name: "grouping", Type: "int4", Pos: r.pos(int(e.GroupingFunc.GetLocation()))}
		for _, a := range e.GroupingFunc.GetArgs() {
			x.Args = append(x.Args, r.listed(a, s, true))
		}
		return x
	case *sqlast.Node_SetToDefault:
		return &facts.Expr{Op: facts.Default, Pos: r.pos(int(e.SetToDefault.GetLocation()))}
	case *sqlast.Node_CurrentOfExpr:
		return &facts.Expr{Op: facts.CurrentOf, Name: e.CurrentOfExpr.GetCursorName(), Type: "bool", Pos: -1}
	case *sqlast.Node_NamedArgExpr:
		return r.expr(e.NamedArgExpr.GetArg(), s)
	case *sqlast.Node_MergeSupportFunc:
		return &facts.Expr{Op: facts.Opaque, Name: "merge_action", Type: "text", Pos: r.pos(int(e.MergeSupportFunc.GetLocation()))}
	case *sqlast.Node_List:
		return &facts.Expr{Op: facts.Row, Type: "record", Args: r.exprs(e.List.GetItems(), s), Pos: -1}
	}
	if x := r.xmlOrJSON(n, s); x != nil {
		return x
	}
	r.problem("unsupported_syntax", -1, "an expression is of an unknown kind")
	return r.opaque("expression", -1)
}

func boolTest(t sqlast.BoolTestType) string {
	switch t {
	case sqlast.BoolTestType_IS_TRUE:
		return "true"
	case sqlast.BoolTestType_IS_NOT_TRUE:
		return "not true"
	case sqlast.BoolTestType_IS_FALSE:
		return "false"
	case sqlast.BoolTestType_IS_NOT_FALSE:
		return "not false"
	case sqlast.BoolTestType_IS_UNKNOWN:
		return "unknown"
	}
	return "not unknown"
}

// param is a slot of the template.
func (r *resolver) param(n, pos int) *facts.Expr {
	e := &facts.Expr{Op: facts.Slot, Slot: n, Type: untyped, Pos: pos}
	s := r.slot(n)
	if s == nil {
		if r.inView > 0 {
			r.problem("view_unparsed", pos, "a view's definition holds a parameter")
		}
		return e
	}
	e.List = s.List
	switch s.Kind {
	case sqltext.Int:
		e.Type = "int4"
	case sqltext.BigInt:
		e.Type = "int8"
	case sqltext.Numeric:
		e.Type = "numeric"
	case sqltext.Bits:
		e.Type = "bit"
	case sqltext.Bind:
		if t := r.binds[s.Bind]; t != "" {
			e.Type = t
		} else {
			r.untypedBinds = append(r.untypedBinds, e)
		}
	}
	return e
}

// constant is a literal of the text: NULL, a boolean, '$n' for a slot, or what stayed.
func (r *resolver) constant(c *sqlast.A_Const) *facts.Expr {
	e := &facts.Expr{Op: facts.Const, Pos: r.pos(int(c.GetLocation())), Type: untyped}
	if c.GetIsnull() {
		e.Text = "null"
		return e
	}
	switch v := c.GetVal().(type) {
	case *sqlast.A_Const_Boolval:
		e.Type, e.Text = "bool", strconv.FormatBool(v.Boolval.GetBoolval())
		return e
	case *sqlast.A_Const_Sval:
		if n, ok := isSlotText(v.Sval.GetSval()); ok && r.slot(n) != nil {
			p := r.param(n, e.Pos)
			if s := r.slot(n); s.Kind == sqltext.String {
				p.Type = untyped
			}
			return p
		}
		e.Text = v.Sval.GetSval()
	case *sqlast.A_Const_Ival:
		e.Type, e.Text = "int4", strconv.Itoa(int(v.Ival.GetIval()))
		return r.number(e, c)
	case *sqlast.A_Const_Fval:
		e.Text = v.Fval.GetFval()
		e.Type = numberType(e.Text)
		return r.number(e, c)
	case *sqlast.A_Const_Bsval:
		e.Type, e.Text = "bit", v.Bsval.GetBsval()
		return r.number(e, c)
	}
	e.Literal = true
	return e
}

// number is a literal of a view's definition, or one that the grammar makes itself (SUBSTRING FROM gives a 1, without a location). Any
// other number of a template is a stand-in for one that was taken out, and says nothing.
func (r *resolver) number(e *facts.Expr, c *sqlast.A_Const) *facts.Expr {
	if r.inView > 0 || c.GetLocation() < 0 {
		e.Literal = true
		return e
	}
	return &facts.Expr{Op: facts.Opaque, Name: "number", Type: e.Type, Pos: e.Pos}
}

// numberType is the type of a number that is no int4: int8 if it is an integer that fits, else numeric.
func numberType(s string) string {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		if v >= math.MinInt32 && v <= math.MaxInt32 {
			return "int4"
		}
		return "int8"
	}
	return "numeric"
}

func (r *resolver) boolExpr(b *sqlast.BoolExpr, s *scope) *facts.Expr {
	args := r.exprs(b.GetArgs(), s)
	for i := range args {
		args[i] = r.boolean(args[i])
	}
	pos := r.pos(int(b.GetLocation()))
	switch b.GetBoolop() {
	case sqlast.BoolExprType_AND_EXPR:
		return flat(facts.And, args)
	case sqlast.BoolExprType_OR_EXPR:
		return flat(facts.Or, args)
	}
	return &facts.Expr{Op: facts.Not, Args: args, Type: "bool", Pos: pos}
}

func (r *resolver) row(e *sqlast.RowExpr, s *scope) *facts.Expr {
	x := &facts.Expr{Op: facts.Row, Type: "record", Pos: r.pos(int(e.GetLocation()))}
	for _, a := range e.GetArgs() {
		if c := a.GetColumnRef(); c != nil && isStar(c) {
			for _, o := range r.star(c, s) {
				x.Args = append(x.Args, o.Expr)
			}
			continue
		}
		x.Args = append(x.Args, r.expr(a, s))
	}
	return x
}

func (r *resolver) caseExpr(c *sqlast.CaseExpr, s *scope) *facts.Expr {
	e := &facts.Expr{Op: facts.Case, Pos: r.pos(int(c.GetLocation()))}
	var results []*facts.Expr
	big := false
	for i, n := range c.GetArgs() {
		w := n.GetCaseWhen()
		cond := r.expr(w.GetExpr(), s)
		switch {
		case c.GetArg() == nil:
		case big: // the tested expression stands in the first condition; repeating it could double the facts at every level
			cond = &facts.Expr{Op: facts.Opaque, Name: "case_test", Args: []*facts.Expr{r.settle(cond)}, Type: "bool", Pos: cond.Pos}
		default:
			arg := r.expr(c.GetArg(), s)
			big = i == 0 && nodes(arg) > maxRepeated
			cond = r.operator("=", []*facts.Expr{arg, cond}, r.pos(int(w.GetLocation())))
		}
		e.Args = append(e.Args, r.boolean(cond), nil)
		results = append(results, r.expr(w.GetResult(), s))
	}
	if c.GetDefresult() != nil {
		results = append(results, r.expr(c.GetDefresult(), s))
	} else {
		results = append(results, &facts.Expr{Op: facts.Const, Text: "null", Type: untyped, Pos: e.Pos})
	}
	e.Type = r.coerceAll(results)
	for i, x := range results[:len(results)-1] {
		e.Args[2*i+1] = x
	}
	e.Args = append(e.Args, results[len(results)-1])
	return e
}

type namedType struct{ name, typ string }

// valueFunction names the SQL functions that are written without parentheses.
func valueFunction(op sqlast.SQLValueFunctionOp) namedType {
	switch op {
	case sqlast.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
		return namedType{"current_date", "date"}
	case sqlast.SQLValueFunctionOp_SVFOP_CURRENT_TIME, sqlast.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:
		return namedType{"current_time", "timetz"}
	case sqlast.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, sqlast.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N:
		return namedType{"current_timestamp", "timestamptz"}
	case sqlast.SQLValueFunctionOp_SVFOP_LOCALTIME, sqlast.SQLValueFunctionOp_SVFOP_LOCALTIME_N:
		return namedType{"localtime", "time"}
	case sqlast.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP, sqlast.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		return namedType{"localtimestamp", "timestamp"}
	case sqlast.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:
		return namedType{"current_role", "name"}
	case sqlast.SQLValueFunctionOp_SVFOP_CURRENT_USER:
		return namedType{"current_user", "name"}
	case sqlast.SQLValueFunctionOp_SVFOP_USER:
		return namedType{"user", "name"}
	case sqlast.SQLValueFunctionOp_SVFOP_SESSION_USER:
		return namedType{"session_user", "name"}
	case sqlast.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:
		return namedType{"current_catalog", "name"}
	}
	return namedType{"current_schema", "name"}
}
