package planner

import (
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
)

// assumeIn adds x IN (list). Rows are taken apart column by column.
func (j *judge) assumeIn(lv *level, s *scope, x *facts.Expr, list []*facts.Expr) {
	if x.Op == facts.Row {
		for i, col := range x.Args {
			var column []*facts.Expr
			for _, row := range list {
				if row.Op != facts.Row || i >= len(row.Args) {
					return
				}
				column = append(column, row.Args[i])
			}
			j.assumeIn(lv, s, col, column)
		}
		return
	}
	t := j.termOf(lv, x)
	if t == noTerm {
		if len(list) == 1 && !list[0].List {
			j.assumeEqual(lv, s, x, list[0])
			return
		}
		j.assumeNumericIn(lv, s, x, list)
		return
	}
	if len(list) == 1 && j.termOf(lv, list[0]) != noTerm {
		j.assumeEqual(lv, s, x, list[0])
		return
	}
	set := &keyset{}
	for _, e := range list {
		one := j.keysOf(lv, e, j.terms[t].class)
		if one == nil {
			return
		}
		for i := range one.keys {
			set.add(one.keys[i])
		}
	}
	s.restrict(t, set)
}

func (j *judge) assumeNumericIn(lv *level, s *scope, x *facts.Expr, list []*facts.Expr) {
	set, t := &keyset{}, noTerm
	for _, e := range list {
		var one *keyset
		if t, one = j.throughNumeric(lv, x, e); t == noTerm {
			return
		}
		for i := range one.keys {
			set.add(one.keys[i])
		}
	}
	s.restrict(t, set)
}

// assumeAny adds x = ANY (array).
func (j *judge) assumeAny(lv *level, s *scope, x, array *facts.Expr) {
	if array.Op == facts.Array {
		j.assumeIn(lv, s, x, array.Args)
		if len(array.Args) == 0 {
			s.never = true
		}
		return
	}
	if array.Op == facts.Cast && array.Text == "" && array.Args[0].Op == facts.Array && family(array.Type) == family(array.Args[0].Type) && family(array.Type) != layout.NoKey {
		j.assumeAny(lv, s, x, array.Args[0])
		return
	}
	t := j.termOf(lv, x)
	if t == noTerm {
		return
	}
	class := j.terms[t].class
	if array.Op == facts.Sublink && array.Sub == facts.SubArray {
		if sub := lv.subOf(array); sub != nil && len(sub.lv.outs) > 0 && j.outputClass(sub.lv, 0) == class {
			s.restrict(t, sub.lv.outs[0].set)
		}
		return
	}
	o, err := j.eval(array)
	if err != nil {
		j.wrong = true
		return
	}
	if !o.fixed || family(j.baseType(array.Type)) != class {
		return
	}
	s.restrict(t, arrayKeys(o, class))
}

func arrayKeys(o operand, class layout.KeyClass) *keyset {
	if o.known && o.val.kind == dNull {
		if o.id == "" {
			return emptySet
		}
		return &keyset{keys: []key{{id: o.id, slot: o.slot, list: true, null: true, from: originOf(o)}}}
	}
	if o.known && o.val.kind != dArray {
		return nil
	}
	o.list = true
	return keysFrom(o, class)
}

// assumeEach adds x = ALL (array): x is every element, if there is one.
func (j *judge) assumeEach(lv *level, s *scope, x, array *facts.Expr) {
	if array.Op != facts.Array {
		t := j.termOf(lv, x)
		o, err := j.eval(array)
		if err != nil || t == noTerm || !o.fixed || !o.known || o.id != "" || o.val.kind != dArray || len(o.val.arr) == 0 || family(j.baseType(array.Type)) != j.terms[t].class {
			return
		}
		for _, d := range o.val.arr {
			s.restrict(t, keysFrom(operand{fixed: true, known: true, val: d}, j.terms[t].class))
		}
		return
	}
	for _, e := range array.Args {
		if e.List {
			return
		}
		if o, err := j.eval(e); err == nil && o.fixed {
			j.assumeEqual(lv, s, x, e)
		}
	}
}

// assumeSublink adds what a subquery that is a condition of its own tells: EXISTS that its conditions hold for some row, x IN (SELECT c) that
// x is one of the values c can have.
func (j *judge) assumeSublink(lv *level, s *scope, e *facts.Expr) {
	sub := lv.subOf(e)
	if sub == nil {
		return
	}
	switch {
	case e.Sub == facts.SubExists, e.Sub == facts.SubAny && e.Name == "=":
		if e.Sub == facts.SubAny && len(e.Args) > 0 {
			j.assumeRowQuery(lv, s, e.Args[0], e)
		}
		if sub.lv.own == nil || oneRow(sub.lv.q) {
			return
		}
		if sub.lv.own.never {
			s.never = true
			return
		}
		j.exportOuter(sub.lv, s, lv)
	}
}

// assumeRowQuery adds x = or IN (SELECT ...), column by column.
func (j *judge) assumeRowQuery(lv *level, s *scope, x, e *facts.Expr) {
	sub := lv.subOf(e)
	if sub == nil {
		return
	}
	cols := []*facts.Expr{x}
	if x.Op == facts.Row {
		cols = x.Args
	}
	for i, c := range cols {
		if i >= len(sub.lv.outs) {
			return
		}
		t := j.termOf(lv, c)
		if t != noTerm && j.outputClass(sub.lv, i) == j.terms[t].class {
			s.restrict(t, sub.lv.outs[i].set)
		}
	}
}

// exportOuter copies what a subquery's own conditions say about columns of the levels around it.
func (j *judge) exportOuter(sub *level, to *scope, lv *level) {
	from := sub.own
	first := map[termID]termID{}
	for t := range from.parent {
		if !j.visible(termID(t), lv) {
			continue
		}
		r := from.find(termID(t))
		if set := from.set[r]; set != nil {
			to.restrict(termID(t), set)
		}
		if f, ok := first[r]; ok {
			to.equate(f, termID(t))
		} else {
			first[r] = termID(t)
		}
	}
}

// visible tells whether a term is a column of the level or of one around it.
func (j *judge) visible(t termID, lv *level) bool {
	tm := &j.terms[t]
	if tm.merged {
		return j.visible(tm.left, lv) && j.visible(tm.right, lv)
	}
	for l := lv; l != nil; l = l.outer {
		if tm.inst.lv == l {
			return true
		}
	}
	return false
}

// oneRow tells a query that returns a row whatever its tables hold: aggregation without GROUP BY.
func oneRow(q *facts.Query) bool {
	if !q.Grouped {
		return false
	}
	if len(q.Group) == 0 {
		return true
	}
	for _, set := range q.Group {
		if len(set) == 0 {
			return true
		}
	}
	return false
}

func (lv *level) subOf(e *facts.Expr) *sublink {
	for _, s := range lv.subs {
		if s.expr == e {
			return s
		}
	}
	return nil
}
