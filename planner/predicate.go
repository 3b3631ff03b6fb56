package planner

import (
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
)

// assumeAll adds conditions to a scope: those without OR first, because an OR is worked out branch by branch against what is known.
func (j *judge) assumeAll(lv *level, s *scope, isl *island, conj []*facts.Expr) {
	var late []*facts.Expr
	for _, e := range conj {
		late = j.assumeEasy(lv, s, isl, e, false, late)
	}
	for _, e := range late {
		j.assumeOr(lv, s, isl, e)
	}
}

// assumeEasy adds what follows from e being true (from NOT e, if negated), and returns the disjunctions it met.
func (j *judge) assumeEasy(lv *level, s *scope, isl *island, e *facts.Expr, negated bool, late []*facts.Expr) []*facts.Expr {
	switch e.Op {
	case facts.And, facts.Or:
		if (e.Op == facts.And) != negated {
			for _, a := range e.Args {
				if j.decided(a, !negated) {
					s.never = true
					return late
				}
				late = j.assumeEasy(lv, s, isl, a, negated, late)
			}
			return late
		}
		if negated {
			e = &facts.Expr{Op: facts.Not, Args: []*facts.Expr{e}, Pos: e.Pos}
		}
		return append(late, e)
	case facts.Not:
		return j.assumeEasy(lv, s, isl, e.Args[0], !negated, late)
	case facts.BoolTest:
		switch {
		case !negated && e.Name == "true" || negated && e.Name == "not true":
			return j.assumeEasy(lv, s, isl, e.Args[0], false, late)
		case !negated && e.Name == "false" || negated && e.Name == "not false":
			return j.assumeEasy(lv, s, isl, e.Args[0], true, late)
		}
	case facts.Compare:
		if inner, flip, ok := boolEquality(e); ok {
			return j.assumeEasy(lv, s, isl, inner, negated != flip, late)
		}
	case facts.Coalesce:
		if !negated && j.neverTrue(e.Args[1:]) {
			return j.assumeEasy(lv, s, isl, e.Args[0], false, late)
		}
	}
	j.assumeAtom(lv, s, isl, e, negated)
	return late
}

// decided tells whether a condition is the constant that ends a list of them: as in PostgreSQL, what stands after it is not looked at, so that
// an error in there is none.
func (j *judge) decided(e *facts.Expr, isFalseEnds bool) bool {
	t, err := j.truth(e)
	return err == nil && (t == isFalse && isFalseEnds || t == isTrue && !isFalseEnds)
}

// neverTrue tells whether all of the conditions are constant and not true.
func (j *judge) neverTrue(list []*facts.Expr) bool {
	for _, e := range list {
		if t, err := j.truth(e); err != nil || t != isFalse && t != isNull {
			return false
		}
	}
	return true
}

// assumeOr adds what all branches that can be true agree on: for each term, the union of the keys that the branches allow.
func (j *judge) assumeOr(lv *level, s *scope, isl *island, e *facts.Expr) {
	negated := e.Op == facts.Not
	if negated {
		e = e.Args[0]
	}
	var live []*scope
	for _, b := range e.Args {
		if j.decided(b, negated) {
			return // it is true whatever the others are
		}
		branch := s.clone()
		var late []*facts.Expr
		late = j.assumeEasy(lv, branch, isl, b, negated, late)
		for _, l := range late {
			j.assumeOr(lv, branch, isl, l)
		}
		if !branch.never {
			live = append(live, branch)
		}
	}
	switch {
	case len(live) == 0:
		s.never = true
		return
	case len(live) == 1:
		s.parent, s.set = live[0].parent, live[0].set
		return
	}
	j.keepCommonEqualities(s, live)
	for t := range live[0].parent {
		if set := uniteAll(live, termID(t)); set != nil {
			s.restrict(termID(t), set)
		}
	}
}

// uniteAll returns what any branch allows a term to be, nil for all.
func uniteAll(branches []*scope, t termID) *keyset {
	out := &keyset{or: true}
	for _, b := range branches {
		keys := b.keys(t)
		if keys == nil {
			return nil
		}
		for i := range keys.keys {
			out.add(keys.keys[i])
		}
	}
	return out
}

// maxCommonTerms bounds the search for equalities that all branches of an OR share.
const maxCommonTerms = 200

// keepCommonEqualities adds the equalities that hold in every branch.
func (j *judge) keepCommonEqualities(s *scope, live []*scope) {
	if len(live[0].parent) > maxCommonTerms {
		return
	}
	for a := range live[0].parent {
		for b := a + 1; b < len(live[0].parent); b++ {
			common := s.find(termID(a)) != s.find(termID(b))
			for i := 0; common && i < len(live); i++ {
				common = live[i].find(termID(a)) == live[i].find(termID(b))
			}
			if common {
				s.equate(termID(a), termID(b))
			}
		}
	}
}

// assumeAtom adds what follows from a condition without AND, OR and NOT.
func (j *judge) assumeAtom(lv *level, s *scope, isl *island, e *facts.Expr, negated bool) {
	switch t, err := j.truth(e); {
	case err != nil:
		j.wrong = true
		return
	case t == isNull, t == isFalse && !negated, t == isTrue && negated:
		s.never = true
		return
	}
	switch e.Op {
	case facts.Compare:
		if len(e.Args) == 2 && (e.Name == "=" && !negated || e.Name == "<>" && negated && e.Args[0].Op != facts.Row) {
			j.assumeEqual(lv, s, e.Args[0], e.Args[1])
		}
	case facts.NotSame:
		if e.Negated != negated && len(e.Args) == 2 && (j.surelyNotNull(e.Args[0]) || j.surelyNotNull(e.Args[1])) {
			j.assumeEqual(lv, s, e.Args[0], e.Args[1])
		}
	case facts.In:
		if e.Negated == negated {
			j.assumeIn(lv, s, e.Args[0], e.Args[1:])
		}
	case facts.AnyArray:
		switch {
		case e.Name == "=" && !e.All && !negated, e.Name == "<>" && e.All && negated:
			j.assumeAny(lv, s, e.Args[0], e.Args[1])
		case e.Name == "=" && e.All && !negated, e.Name == "<>" && !e.All && negated:
			j.assumeEach(lv, s, e.Args[0], e.Args[1])
		}
	case facts.NullTest:
		if e.Negated == negated && e.Args[0].Op != facts.Row && j.notNull(lv, isl, e.Args[0]) {
			s.never, s.rule = true, "null"
		}
	case facts.Sublink:
		if !negated {
			j.assumeSublink(lv, s, e)
		}
	}
}

// notNull tells whether a bare column cannot be NULL in rows of the island.
func (j *judge) notNull(lv *level, isl *island, e *facts.Expr) bool {
	if e.Op != facts.Column || e.System || isl == nil {
		return false
	}
	in := lv.local(e.Source)
	if in == nil || in.isl == nil {
		return false
	}
	for i := isl; i != in.isl; i = i.parent {
		if i == nil {
			return false
		}
	}
	return j.columnNotNull(in, e.Col)
}

func (j *judge) columnNotNull(in *inst, col int) bool {
	switch {
	case in.rel != nil:
		return col >= 0 && col < len(in.rel.Columns) && in.rel.Columns[col].NotNull
	case in.sub != nil:
		return col >= 0 && col < len(in.sub.outs) && in.sub.outs[col].notNull
	case in.rec != nil:
		return col >= 0 && col < len(in.rec.outs) && in.rec.outs[col].notNull
	}
	return false
}

// assumeEqual adds a = b.
func (j *judge) assumeEqual(lv *level, s *scope, a, b *facts.Expr) {
	if a.Op == facts.Row && b.Op == facts.Row {
		for i := 0; i < len(a.Args) && i < len(b.Args); i++ {
			j.assumeEqual(lv, s, a.Args[i], b.Args[i])
		}
		return
	}
	if a.Op == facts.Row && b.Op == facts.Sublink {
		j.assumeRowQuery(lv, s, a, b)
		return
	}
	ta, tb := j.termOf(lv, a), j.termOf(lv, b)
	if ta != noTerm && tb != noTerm {
		if j.terms[ta].class == j.terms[tb].class {
			s.equate(ta, tb)
		}
		return
	}
	if ta == noTerm && tb == noTerm {
		if t, set := j.throughNumeric(lv, a, b); t != noTerm {
			s.restrict(t, set)
		} else if t, set := j.throughNumeric(lv, b, a); t != noTerm {
			s.restrict(t, set)
		}
		return
	}
	if ta == noTerm {
		ta, b = tb, a
	}
	s.restrict(ta, j.keysOf(lv, b, j.terms[ta].class))
}

// keysOf returns the keys that a constant, a parameter or a scalar subquery can be; nil for all. A NULL is no key.
func (j *judge) keysOf(lv *level, e *facts.Expr, class layout.KeyClass) *keyset {
	if e.Op == facts.Sublink && e.Sub == facts.SubScalar {
		sub := lv.subOf(e)
		if sub == nil || len(sub.lv.outs) == 0 || j.outputClass(sub.lv, 0) != class {
			return nil
		}
		return sub.lv.outs[0].set
	}
	o, err := j.eval(e)
	if err != nil {
		j.wrong = true
		return nil
	}
	if !o.fixed || layout.ClassOf(j.baseType(e.Type)) != class {
		return nil
	}
	return keysFrom(o, class)
}

// keysFrom makes the set of a constant operand.
func keysFrom(o operand, class layout.KeyClass) *keyset {
	if o.list {
		if !o.known {
			return &keyset{keys: []key{{id: o.id, slot: o.slot, list: true, from: originOf(o)}}}
		}
		set := &keyset{}
		for _, d := range o.val.arr {
			if d.kind == dNull {
				continue
			}
			k, ok := d.key()
			if !ok || k.Class != class {
				return nil
			}
			set.add(key{known: true, k: k})
		}
		if o.id != "" { // the values of a list of parameters may differ next time
			values := make([]layout.Key, 0, len(set.keys))
			for i := range set.keys {
				values = append(values, set.keys[i].k)
			}
			return &keyset{keys: []key{{id: o.id, slot: o.slot, list: true, null: len(values) == 0, values: values, from: originOf(o)}}}
		}
		return set
	}
	k := key{id: o.id, slot: o.slot, from: originOf(o)}
	if o.known {
		if o.val.kind == dNull {
			if o.id == "" {
				return emptySet
			}
			k.null = true
			return &keyset{keys: []key{k}}
		}
		v, ok := o.val.key()
		if !ok || v.Class != class {
			return nil
		}
		k.known, k.k = true, v
	}
	return &keyset{keys: []key{k}}
}

func originOf(o operand) keyOrigin {
	switch {
	case o.expr:
		return fromExpr
	case o.bind:
		return fromParam
	}
	return fromConst
}

// throughNumeric handles an integer column that PostgreSQL casts to numeric because the constant is one: the cast is exact, so that the
// column has the one value that maps to the constant, or none.
func (j *judge) throughNumeric(lv *level, col, e *facts.Expr) (termID, *keyset) {
	if col.Op != facts.Cast || !col.Implicit || col.Type != "numeric" || col.Text != "" {
		return noTerm, nil
	}
	t := j.termOf(lv, col.Args[0])
	if t == noTerm || j.terms[t].class != layout.IntKey {
		return noTerm, nil
	}
	o, err := j.eval(e)
	if err != nil {
		j.wrong = true
		return noTerm, nil
	}
	if !o.fixed || e.Type != "numeric" || o.list && !o.known {
		return noTerm, nil
	}
	if o.list {
		set := &keyset{}
		for _, d := range o.val.arr {
			if k, ok := wholeKey(d); ok {
				set.add(key{known: true, k: k, from: fromExpr})
			}
		}
		return t, set
	}
	k := key{id: o.id, from: fromExpr, slot: 0}
	if k.id != "" {
		k.id = "numeric:" + k.id
	}
	if o.known {
		whole, ok := wholeKey(o.val)
		switch {
		case ok:
			k.known, k.k = true, whole
		case o.id == "":
			return t, emptySet
		default:
			k.null = true
		}
	}
	return t, &keyset{keys: []key{k}}
}

func wholeKey(d datum) (layout.Key, bool) {
	if d.kind != dNumeric || !d.dec.IsInteger() || !fitsInt8(d.dec) {
		return layout.Key{}, false
	}
	return layout.Key{Class: layout.IntKey, Int: d.dec.IntPart()}, true
}
