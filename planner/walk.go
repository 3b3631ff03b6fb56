package planner

import "github.com/foreshard/foreshard/planner/facts"

// place is where an expression of a level stands.
type place struct {
	clause clause
	on     *facts.Expr   // the ON clause, for inOn
	from   *facts.Source // the function of FROM, for inFunction
}

// eachExpr calls f for every expression that stands at the level itself, with its place: not for those of subqueries.
func eachExpr(q *facts.Query, f func(e *facts.Expr, p place)) {
	put := func(c clause, list ...*facts.Expr) {
		for _, e := range list {
			if e != nil {
				f(e, place{clause: c})
			}
		}
	}
	for _, src := range q.From {
		eachFromExpr(src, f)
	}
	put(inWhere, q.Where)
	for _, set := range q.Group {
		put(inGroup, set...)
	}
	put(inHaving, q.Having)
	for i := range q.Outputs {
		put(inOutput, q.Outputs[i].Expr)
	}
	put(inOrder, q.On...)
	for i := range q.OrderBy {
		put(inOrder, q.OrderBy[i].Expr)
	}
	put(inLimit, q.Limit, q.Offset)
	for _, row := range q.Values {
		put(inValues, row...)
	}
	if w := q.Write; w != nil {
		eachWriteExpr(w, f, put)
	}
}

func eachWriteExpr(w *facts.Write, f func(*facts.Expr, place), put func(clause, ...*facts.Expr)) {
	for i := range w.Set {
		put(inSet, w.Set[i].Value)
	}
	if w.On != nil {
		f(w.On, place{clause: inOn, on: w.On})
	}
	if c := w.Conflict; c != nil {
		for i := range c.Set {
			put(inSet, c.Set[i].Value)
		}
		put(inSet, c.Where)
	}
	for i := range w.Actions {
		a := &w.Actions[i]
		put(inSet, a.When)
		for k := range a.Set {
			put(inSet, a.Set[k].Value)
		}
		put(inSet, a.Values...)
	}
}

func eachFromExpr(src *facts.Source, f func(*facts.Expr, place)) {
	if src == nil {
		return
	}
	switch src.Kind {
	case facts.FromJoin:
		eachFromExpr(src.Join.Left, f)
		eachFromExpr(src.Join.Right, f)
		if src.Join.On != nil {
			f(src.Join.On, place{clause: inOn, on: src.Join.On})
		}
	case facts.FromFunction:
		for _, e := range src.Funcs {
			f(e, place{clause: inFunction, from: src})
		}
	}
}

// eachChild calls f for the direct parts of an expression, a subquery not included.
func eachChild(e *facts.Expr, f func(*facts.Expr)) {
	for _, a := range e.Args {
		if a != nil {
			f(a)
		}
	}
	for _, a := range e.Partition {
		f(a)
	}
	for i := range e.Order {
		f(e.Order[i].Expr)
	}
	if e.Filter != nil {
		f(e.Filter)
	}
}

// walkExpr calls f for an expression and everything in it, subqueries not included.
func walkExpr(e *facts.Expr, f func(*facts.Expr)) {
	f(e)
	eachChild(e, func(c *facts.Expr) { walkExpr(c, f) })
}

// walkQuery calls f for each query of a statement, subqueries of every kind included, from the outside in.
func walkQuery(q *facts.Query, f func(*facts.Query)) {
	if q == nil {
		return
	}
	f(q)
	for i := range q.CTEs {
		walkQuery(q.CTEs[i].Query, f)
	}
	if q.SetOp != nil {
		walkQuery(q.SetOp.Left, f)
		walkQuery(q.SetOp.Right, f)
	}
	for _, src := range q.From {
		walkSource(src, func(s *facts.Source) { walkQuery(s.Query, f) })
	}
	if q.Write != nil {
		walkQuery(q.Write.Source, f)
	}
	eachExpr(q, func(e *facts.Expr, _ place) {
		walkExpr(e, func(x *facts.Expr) {
			if x.Query != nil {
				walkQuery(x.Query, f)
			}
		})
	})
}

// walkSource calls f for each leaf of a join tree.
func walkSource(src *facts.Source, f func(*facts.Source)) {
	if src == nil {
		return
	}
	if src.Kind == facts.FromJoin {
		walkSource(src.Join.Left, f)
		walkSource(src.Join.Right, f)
		return
	}
	f(src)
}

// openSublinks opens every subquery in the level's expressions.
func (j *judge) openSublinks(lv *level) {
	eachExpr(lv.q, func(e *facts.Expr, p place) {
		cond := p.clause == inWhere || p.clause == inOn || p.clause == inHaving
		j.findSublinks(lv, e, p, sublink{clause: p.clause, on: p.on, where: cond})
	})
}

func (j *judge) findSublinks(lv *level, e *facts.Expr, p place, at sublink) {
	if e.Op == facts.Sublink && e.Query != nil {
		sub := at
		sub.expr = e
		if p.from != nil {
			sub.inst = lv.local(p.from.ID)
		}
		sub.lv = j.open(e.Query, lv, nil)
		lv.subs = append(lv.subs, &sub)
		j.sublinks = append(j.sublinks, &sub)
	}
	switch e.Op {
	case facts.And, facts.Or:
	case facts.Not:
		at.negated, at.where = at.where, false
	case facts.Aggregate:
		at.inAgg, at.where, at.negated = true, false, false
	default:
		at.where, at.negated = false, false
	}
	eachChild(e, func(c *facts.Expr) { j.findSublinks(lv, c, p, at) })
}

// volatileInside tells whether a query has a function that may give another value at the next call, or an effect.
func (j *judge) volatileInside(lv *level) bool {
	found := false
	walkQuery(lv.q, func(q *facts.Query) {
		eachExpr(q, func(e *facts.Expr, _ place) {
			walkExpr(e, func(x *facts.Expr) { found = found || j.volatileCall(x) })
		})
	})
	return found
}

func (j *judge) volatileCall(e *facts.Expr) bool {
	switch e.Op {
	case facts.Call, facts.Operator, facts.Cast, facts.Aggregate, facts.Window, facts.Opaque, facts.Compare:
		v := e.Volatility
		if e.UDF {
			if f, ok := j.p.annotation(e.Name); ok && f.Volatility != 0 {
				v = facts.Volatility(f.Volatility)
			}
		}
		return v == facts.Volatile || v == facts.VolUnknown
	}
	return false
}
