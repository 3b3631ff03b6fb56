package planner

import (
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
)

// deriveOwn finds the facts of a level without looking around it, and what they tell about its outputs.
func (j *judge) deriveOwn(lv *level) {
	lv.own = &scope{}
	lv.outs = make([]output, len(lv.q.Outputs))
	if j.closed {
		return
	}
	if len(lv.q.Values) > 0 {
		j.deriveValues(lv)
		return
	}
	j.fillLevel(lv, lv.own)
	if oneRow(lv.q) {
		j.deriveConstants(lv)
		return
	}
	classes := map[termID]int{}
	for i := range lv.q.Outputs {
		e := lv.q.Outputs[i].Expr
		if t := j.termOf(lv, e); t != noTerm {
			if !everyGroup(lv.q, e) {
				continue
			}
			lv.outs[i] = output{set: lv.own.keys(t), notNull: j.notNull(lv, lv.root, e) || j.mergedNotNull(lv, e)}
			if lv.own.never {
				lv.outs[i].set = nil
			}
			r := lv.own.find(t)
			if classes[r] == 0 {
				classes[r] = len(classes) + 1
			}
			lv.outs[i].class = classes[r]
			continue
		}
		j.deriveConstant(lv, i)
	}
}

// mergedNotNull tells a USING column of a FULL join whose sides are both never NULL in their tables.
func (j *judge) mergedNotNull(lv *level, e *facts.Expr) bool {
	if e.Op != facts.Merge || len(e.Args) != 2 || len(lv.root.fulls) == 0 {
		return false
	}
	for _, a := range e.Args {
		in := lv.local(a.Source)
		if a.Op != facts.Column || in == nil || !j.columnNotNull(in, a.Col) {
			return false
		}
		if in.isl == nil || in.isl.parent != lv.root || !isFullSide(lv.root, in.isl) {
			return false
		}
	}
	return true
}

func isFullSide(isl, side *island) bool {
	for _, f := range isl.fulls {
		if f.left == side || f.right == side {
			return true
		}
	}
	return false
}

func (j *judge) deriveConstants(lv *level) {
	for i := range lv.q.Outputs {
		j.deriveConstant(lv, i)
	}
	lv.own = &scope{}
}

// deriveConstant looks at an output that is no column.
func (j *judge) deriveConstant(lv *level, i int) {
	e := lv.q.Outputs[i].Expr
	if e.Op == facts.Aggregate {
		lv.outs[i].notNull = e.Name == "count"
		return
	}
	if e.Op == facts.Column {
		lv.outs[i].notNull = everyGroup(lv.q, e) && j.notNull(lv, lv.root, e)
		return
	}
	if class := j.outputClass(lv, i); class != layout.NoKey {
		set := j.keysOf(lv, e, class)
		if set != nil && len(set.keys) > 0 {
			lv.outs[i].set = set
		}
		lv.outs[i].notNull = j.surelyNotNull(e)
	}
}

func (j *judge) deriveValues(lv *level) {
	for i := range lv.outs {
		class := j.outputClass(lv, i)
		if class == layout.NoKey {
			continue
		}
		set, notNull := &keyset{}, true
		for _, row := range lv.q.Values {
			if i >= len(row) {
				set = nil
				break
			}
			one := j.keysOf(lv, row[i], class)
			if one == nil {
				set = nil
				break
			}
			for k := range one.keys {
				set.add(one.keys[k])
			}
			notNull = notNull && j.surelyNotNull(row[i])
		}
		if set != nil && len(set.keys) > 0 {
			lv.outs[i] = output{set: set, notNull: notNull}
		}
	}
}

// everyGroup tells whether a column of the output is a grouping column in every grouping set, or the query does not group: with several sets
// a column that one of them lacks is NULL in its rows.
func everyGroup(q *facts.Query, e *facts.Expr) bool {
	if len(q.Group) < 2 {
		return true
	}
	for _, set := range q.Group {
		if !hasColumn(set, e) {
			return false
		}
	}
	return true
}

func hasColumn(list []*facts.Expr, e *facts.Expr) bool {
	for _, g := range list {
		if sameColumn(g, e) {
			return true
		}
	}
	return false
}

// sameColumn tells whether two expressions are one bare column.
func sameColumn(a, b *facts.Expr) bool {
	if a.Op != b.Op {
		return false
	}
	switch a.Op {
	case facts.Column:
		return a.Source == b.Source && a.Col == b.Col && !a.System && !b.System
	case facts.Merge:
		return len(a.Args) == 2 && len(b.Args) == 2 && sameColumn(a.Args[0], b.Args[0]) && sameColumn(a.Args[1], b.Args[1])
	case facts.Cast:
		return relabel(a) && relabel(b) && sameColumn(a.Args[0], b.Args[0])
	}
	return false
}

// fillLevel adds the facts of the level's own rows to a scope.
func (j *judge) fillLevel(lv *level, s *scope) {
	if lv.root == nil {
		return
	}
	j.fillIsland(lv, s, lv.root)
	if lv.q.Having != nil {
		j.assumeAll(lv, s, nil, j.groupConditions(lv.q.Having, nil))
	}
	if w := lv.q.Write; w != nil && w.Op == "insert" {
		j.fillInsert(lv, s)
	}
}

// groupConditions lists the conjuncts of HAVING that speak of grouping columns only: they can be asked of the rows before grouping.
func (j *judge) groupConditions(e *facts.Expr, out []*facts.Expr) []*facts.Expr {
	if e.Op == facts.And {
		for _, a := range e.Args {
			out = j.groupConditions(a, out)
		}
		return out
	}
	plain := true
	walkExpr(e, func(x *facts.Expr) {
		switch x.Op {
		case facts.Aggregate, facts.Window, facts.Sublink, facts.NullTest, facts.Opaque:
			plain = false
		case facts.Call:
			plain = plain && x.Name != "grouping"
		}
	})
	if plain {
		out = append(out, e)
	}
	return out
}

func (j *judge) fillIsland(lv *level, s *scope, isl *island) {
	for _, in := range isl.leaves {
		j.applyOutputs(lv, s, in)
	}
	for _, m := range isl.merged {
		l, r, kept := j.termOf(lv, m.left), j.termOf(lv, m.right), j.termOf(lv, m.kept)
		if t := j.mergedTerm(l, r); t != noTerm {
			s.equate(t, kept)
		}
	}
	j.assumeAll(lv, s, isl, isl.conj)
}

// applyOutputs adds what is known of the columns of a derived table.
func (j *judge) applyOutputs(lv *level, s *scope, in *inst) {
	outs := []output(nil)
	switch {
	case in.rec != nil:
		outs = in.rec.outs
	case in.sub != nil:
		outs = in.sub.outs
		if own := in.sub.own; own != nil && in.sub.q.Write == nil {
			if own.never && !oneRow(in.sub.q) {
				s.never = true
			} else if in.src.Lateral && !oneRow(in.sub.q) {
				j.exportOuter(in.sub, s, lv)
			}
		}
	}
	first := map[int]termID{}
	for i, o := range outs {
		if o.set == nil && o.class == 0 {
			continue
		}
		t := j.term(in, i)
		if t == noTerm {
			continue
		}
		s.restrict(t, o.set)
		if o.class == 0 {
			continue
		}
		if f, ok := first[o.class]; ok {
			s.equate(f, t)
		} else {
			first[o.class] = t
		}
	}
}
