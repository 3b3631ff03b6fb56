package planner

import "github.com/foreshard/foreshard/planner/facts"

// occurrence is one use of a sharded table, with the facts at its place.
type occurrence struct {
	in    *inst
	lv    *level
	scope *scope
	set   *keyset // keys it can be restricted to; nil: all
}

// push hands the facts around a level to it and to everything below it. terms[i] is the outer term that output i is, noTerm where a
// condition on the output must not be asked of the rows below.
func (j *judge) push(lv *level, base *scope, terms []termID) {
	lv.base = base
	for _, w := range lv.ctes {
		if w.body != nil {
			j.push(w.body, base, nil)
		}
	}
	if lv.q.SetOp != nil {
		inner := make([]termID, len(terms))
		for i := range terms {
			inner[i] = noTerm
			if terms[i] != noTerm && !limited(lv.q) && (lv.rec == nil || !lv.rec.cte.SelfRef || j.invariant(lv, i)) {
				inner[i] = terms[i]
			}
		}
		j.push(lv.arms[0], base, inner)
		j.push(lv.arms[1], base, inner)
		return
	}
	s := base.clone()
	var windows []*facts.Expr
	if len(terms) > 0 {
		windows = windowsOf(lv.q)
	}
	for i, t := range terms {
		if t == noTerm || i >= len(lv.q.Outputs) || !pushable(lv.q, windows, i) {
			continue
		}
		if o := j.termOf(lv, lv.q.Outputs[i].Expr); o != noTerm && j.terms[o].class == j.terms[t].class {
			s.equate(t, o)
		}
	}
	j.fillLevel(lv, s)
	lv.final, lv.root.scope = s, s
	j.pushIsland(lv, lv.root)
	if lv.src != nil {
		j.push(lv.src, base, nil)
	}
	for _, sub := range lv.subs {
		j.pushSublink(lv, sub)
	}
}

// invariant tells whether the recursive term hands column i on unchanged, so that a condition on it holds from the seed on.
func (j *judge) invariant(lv *level, i int) bool {
	right := lv.arms[1]
	if right.own == nil || right.q.SetOp != nil || i >= len(right.q.Outputs) {
		return false
	}
	out := j.termOf(right, right.q.Outputs[i].Expr)
	found := false
	for _, in := range right.insts {
		if in.rec == lv.rec {
			t := j.term(in, i)
			if found || t == noTerm || out == noTerm || right.own.find(t) != right.own.find(out) {
				return false
			}
			found = true
		}
	}
	return found
}

// limited tells a query whose rows are cut after they are made: conditions must stay above.
func limited(q *facts.Query) bool {
	return q.Limit != nil && !isNullConst(q.Limit) || q.Offset != nil && !isNullConst(q.Offset)
}

func isNullConst(e *facts.Expr) bool { return e.Op == facts.Const && !e.Literal && e.Text == "null" }

// pushable tells whether a condition on output i may be asked of the rows before grouping, windows, DISTINCT ON and so on.
// windows are the query's.
func pushable(q *facts.Query, windows []*facts.Expr, i int) bool {
	if limited(q) || len(q.Locks) > 0 || q.Write != nil || len(q.Values) > 0 {
		return false
	}
	e := q.Outputs[i].Expr
	if q.Distinct == facts.DistinctOn && !hasColumn(q.On, e) {
		return false
	}
	if q.Grouped {
		if len(q.Group) == 0 {
			return false
		}
		for _, set := range q.Group {
			if !hasColumn(set, e) {
				return false
			}
		}
	}
	for _, w := range windows {
		if !hasColumn(w.Partition, e) {
			return false
		}
	}
	return true
}

// windowsOf lists the windows of a query.
func windowsOf(q *facts.Query) (list []*facts.Expr) {
	eachWindow(q, func(w *facts.Expr) { list = append(list, w) })
	return list
}

func eachWindow(q *facts.Query, f func(*facts.Expr)) {
	visit := func(x *facts.Expr) {
		if x.Op == facts.Window {
			f(x)
		}
	}
	for i := range q.Outputs {
		walkExpr(q.Outputs[i].Expr, visit)
	}
	for i := range q.OrderBy {
		walkExpr(q.OrderBy[i].Expr, visit)
	}
	for _, e := range q.On {
		walkExpr(e, visit)
	}
}

func (j *judge) pushIsland(lv *level, isl *island) {
	for _, in := range isl.leaves {
		j.pushLeaf(lv, in, isl.scope)
	}
	for _, kid := range isl.kids {
		s := isl.scope.clone()
		for _, a := range kid.also {
			j.fillIsland(lv, s, a)
		}
		j.fillIsland(lv, s, kid)
		kid.scope = s
		j.pushIsland(lv, kid)
	}
	for _, f := range isl.fulls {
		f.left.scope, f.right.scope = isl.scope.clone(), isl.scope.clone()
		for _, m := range f.join.Merged {
			l, r := j.termOf(lv, m.Left), j.termOf(lv, m.Right)
			if t := j.mergedTerm(l, r); t != noTerm {
				f.left.scope.equate(l, t)
				f.right.scope.equate(r, t)
			}
		}
		j.fillIsland(lv, f.left.scope, f.left)
		j.pushIsland(lv, f.left)
		j.fillIsland(lv, f.right.scope, f.right)
		j.pushIsland(lv, f.right)
	}
}

func (j *judge) pushLeaf(lv *level, in *inst, s *scope) {
	switch in.kind {
	case instTable:
		j.use(lv, in, s)
	case instQuery:
		if in.sub == nil {
			return
		}
		if in.body {
			return // the level that defines it hands facts to it
		}
		terms := make([]termID, len(in.sub.q.Outputs))
		for i := range terms {
			terms[i] = j.term(in, i)
		}
		j.push(in.sub, s, terms)
	}
}

func (j *judge) pushSublink(lv *level, sub *sublink) {
	s := lv.final
	switch sub.clause {
	case inOn:
		s = lv.base
		if sub.isl != nil {
			s = sub.isl.scope
		}
	case inOutput, inHaving, inOrder:
		if oneRow(lv.q) && !sub.inAgg {
			s = lv.base
		}
	case inLimit, inValues:
		s = lv.base
	case inFunction:
		if sub.inst != nil && sub.inst.isl != nil && sub.inst.isl.scope != nil {
			s = sub.inst.isl.scope
		}
	}
	if w := lv.q.Write; w != nil && w.Op == "insert" {
		s = lv.base
	}
	sub.scope = s
	var terms []termID
	if e := sub.expr; e.Sub == facts.SubAny && e.Name == "=" && len(e.Args) > 0 {
		tests := []*facts.Expr{e.Args[0]}
		if e.Args[0].Op == facts.Row {
			tests = e.Args[0].Args
		}
		for i, t := range tests {
			term := noTerm
			if sub.where || j.notNull(lv, islandOf(lv, sub), t) && i < len(sub.lv.outs) && sub.lv.outs[i].notNull && len(tests) == 1 {
				term = j.termOf(lv, t)
			}
			terms = append(terms, term)
		}
	}
	j.push(sub.lv, s, terms)
}

// islandOf is where a subquery's test expression is evaluated.
func islandOf(lv *level, sub *sublink) *island {
	if sub.isl != nil {
		return sub.isl
	}
	return lv.root
}
