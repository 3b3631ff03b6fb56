package resolve

import (
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// sub resolves a sublink's query.
func (r *resolver) sub(l *sqlast.SubLink, s *scope) *facts.Query {
	q := r.queryNode(l.GetSubselect(), s, "")
	if q == nil {
		r.problem("unsupported_syntax", int(l.GetLocation()), "a sublink is no query")
		return &facts.Query{}
	}
	return q
}

func (r *resolver) subLink(l *sqlast.SubLink, s *scope) *facts.Expr {
	e := &facts.Expr{Op: facts.Sublink, Pos: r.pos(int(l.GetLocation()))}
	switch l.GetSubLinkType() {
	case sqlast.SubLinkType_EXISTS_SUBLINK:
		e.Sub, e.Type, e.Query = facts.SubExists, "bool", r.sub(l, s)
	case sqlast.SubLinkType_EXPR_SUBLINK, sqlast.SubLinkType_ARRAY_SUBLINK:
		e.Sub, e.Query = facts.SubScalar, r.sub(l, s)
		if n := len(e.Query.Outputs); n != 1 && !openQuery(e.Query) {
			r.invalid("invalid_statement", e.Pos, "a scalar sublink has %d columns", n)
		} else if n >= 1 {
			e.Type = e.Query.Outputs[0].Expr.Type
		}
		if l.GetSubLinkType() == sqlast.SubLinkType_ARRAY_SUBLINK {
			e.Sub, e.Type = facts.SubArray, arrayOf(e.Type)
		}
	case sqlast.SubLinkType_ANY_SUBLINK, sqlast.SubLinkType_ALL_SUBLINK:
		e.Sub, e.Type, e.Name = facts.SubAny, "bool", operatorName(l.GetOperName())
		if l.GetSubLinkType() == sqlast.SubLinkType_ALL_SUBLINK {
			e.Sub = facts.SubAll
		}
		test := r.expr(l.GetTestexpr(), s)
		e.Query = r.sub(l, s)
		e.Args = []*facts.Expr{r.pairOutputs(e.Name, test, e.Query, e.Pos)}
	default:
		r.problem("unsupported_syntax", e.Pos, "a sublink is of an unknown kind")
		e.Op, e.Name, e.Query = facts.Opaque, "sublink", r.sub(l, s)
	}
	return e
}

// pairOutputs compares a test expression, or each part of a row, with the query's outputs, and casts both as the operator needs.
func (r *resolver) pairOutputs(op string, test *facts.Expr, q *facts.Query, pos int) *facts.Expr {
	parts := []*facts.Expr{test}
	if test.Op == facts.Row {
		parts = test.Args
	}
	if len(parts) != len(q.Outputs) {
		if !openQuery(q) {
			r.invalid("invalid_statement", pos, "%d columns are compared with %d of a sublink", len(parts), len(q.Outputs))
		}
		return test
	}
	for i := range parts {
		c := r.operator(op, []*facts.Expr{parts[i], {Op: facts.Opaque, Type: q.Outputs[i].Expr.Type, Pos: pos}}, pos)
		if right := c.Args[1]; right.Op == facts.Cast {
			r.recast(q, i, right.Type)
		}
		if test.Op == facts.Row {
			test.Args[i] = c.Args[0]
		} else {
			test = c.Args[0]
		}
	}
	return test
}
