package planner

import (
	"slices"

	"github.com/foreshard/foreshard/planner/facts"
)

// An island is a part of a join tree whose conditions hold together: occurrences that are joined by inner joins, after outer joins that a
// condition above makes inner have been turned into inner ones. The nullable side of a LEFT join is an island of its own below the
// preserved one: what holds above holds for its rows too, what holds in it says nothing about the rows above. Both sides of a FULL join are
// such islands.
type island struct {
	parent *island
	leaves []*inst
	conj   []*facts.Expr // conditions that each row of the island meets
	kids   []*island     // nullable sides, in join order
	fulls  []*fullJoin
	also   []*island // nullable siblings that the ON clause rejects NULLs of: their facts hold for rows that match
	on     *facts.Expr
	merged []mergedColumn
	scope  *scope // final facts
}

// mergedColumn is a USING column of a FULL join that turned out to be a LEFT or inner one: COALESCE of both sides is the preserved side's.
type mergedColumn struct{ left, right, kept *facts.Expr }

type fullJoin struct {
	left, right *island
	join        *facts.Join
}

// plantJoins builds the islands of a level. rejected are the columns that its condition, and the ones around it, reject NULLs of.
func (j *judge) plantJoins(lv *level, rejected []strictColumn) {
	q := lv.q
	if q.Where != nil {
		lv.root.conj = append(lv.root.conj, q.Where)
	}
	if w := q.Write; w != nil {
		if w.Op == "insert" {
			lv.insts[0].isl = lv.root
			lv.root.leaves = append(lv.root.leaves, lv.insts[0])
			return
		}
		if w.Op == "merge" && len(q.From) == 2 {
			j.plant(lv, mergeJoin(w, q), lv.root, rejected)
			return
		}
	}
	for _, src := range q.From {
		j.plant(lv, src, lv.root, rejected)
	}
}

// mergeJoin is the join that a MERGE is: rows of the source that match nothing count only if a NOT MATCHED action wants them, rows of the
// target only if a NOT MATCHED BY SOURCE action does.
func mergeJoin(w *facts.Write, q *facts.Query) *facts.Source {
	source, target := false, false
	for _, a := range w.Actions {
		source = source || a.Matched == 'n'
		target = target || a.Matched == 's'
	}
	jn := &facts.Join{Kind: facts.Inner, Left: q.From[0], Right: q.From[1], On: w.On}
	switch {
	case source && target:
		jn.Kind = facts.Full
	case source:
		jn.Kind = facts.Right
	case target:
		jn.Kind = facts.Left
	}
	return &facts.Source{ID: -1, Kind: facts.FromJoin, Join: jn}
}

func (j *judge) plant(lv *level, src *facts.Source, isl *island, rejected []strictColumn) {
	if src.Kind != facts.FromJoin {
		if in := lv.local(src.ID); in != nil {
			in.isl = isl
			isl.leaves = append(isl.leaves, in)
		}
		return
	}
	jn := src.Join
	kind, left, right := jn.Kind, jn.Left, jn.Right
	if kind == facts.Right {
		kind, left, right = facts.Left, right, left
	}
	if kind == facts.Full {
		rl, rr := touches(left, rejected), touches(right, rejected)
		switch {
		case rl && rr:
			kind = facts.Inner
		case rl:
			kind = facts.Left
		case rr:
			kind, left, right = facts.Left, right, left
		}
	}
	if kind == facts.Left && touches(right, rejected) {
		kind = facts.Inner
	}
	if jn.Kind == facts.Full && kind != facts.Full {
		for _, m := range jn.Merged {
			kept := m.Left
			if left == jn.Right {
				kept = m.Right
			}
			isl.merged = append(isl.merged, mergedColumn{m.Left, m.Right, kept})
		}
	}
	switch kind {
	case facts.Inner:
		j.plantInner(lv, jn, isl, rejected)
	case facts.Left:
		j.plantLeft(lv, jn, left, right, isl, rejected)
	default:
		full := &fullJoin{left: &island{parent: isl}, right: &island{parent: isl}, join: jn}
		isl.fulls = append(isl.fulls, full)
		j.plant(lv, left, full.left, nil)
		j.plant(lv, right, full.right, nil)
	}
}

func (j *judge) plantInner(lv *level, jn *facts.Join, isl *island, rejected []strictColumn) {
	if jn.On != nil {
		isl.conj = append(isl.conj, jn.On)
		rejected = append(slices.Clone(rejected), j.rejects(jn.On, false)...)
		lv.placeSublinks(jn.On, isl)
	}
	j.plant(lv, jn.Left, isl, rejected)
	j.plant(lv, jn.Right, isl, rejected)
}

func (j *judge) plantLeft(lv *level, jn *facts.Join, left, right *facts.Source, isl *island, rejected []strictColumn) {
	j.plant(lv, left, isl, rejected)
	kid := &island{parent: isl, on: jn.On}
	isl.kids = append(isl.kids, kid)
	var strict []strictColumn
	if jn.On != nil {
		kid.conj = append(kid.conj, jn.On)
		strict = j.rejects(jn.On, false)
		lv.placeSublinks(jn.On, kid)
	}
	j.plant(lv, right, kid, strict)
	for _, c := range strict {
		in := lv.local(c.source)
		if in == nil {
			continue
		}
		for i := in.isl; i != nil && i != isl && i != kid && below(i, isl); i = i.parent {
			if !slices.Contains(kid.also, i) {
				kid.also = append(kid.also, i)
			}
		}
	}
}

func below(i, top *island) bool {
	for i = i.parent; i != nil; i = i.parent {
		if i == top {
			return true
		}
	}
	return false
}

// touches tells whether one of the occurrences is in the join tree.
func touches(src *facts.Source, list []strictColumn) bool {
	if src.Kind == facts.FromJoin {
		return touches(src.Join.Left, list) || touches(src.Join.Right, list)
	}
	return slices.ContainsFunc(list, func(c strictColumn) bool { return c.source == src.ID })
}

// placeSublinks says where the subqueries of an ON clause are evaluated.
func (lv *level) placeSublinks(on *facts.Expr, isl *island) {
	for _, s := range lv.subs {
		if s.clause == inOn && s.on == on {
			s.isl = isl
		}
	}
}

// strictColumn is a column whose NULL keeps a condition from being true; col is -1 where any column of the source may be meant, as long as all
// are NULL.
type strictColumn struct{ source, col int }

// commonColumns keeps what both lists reject: the column, or the source where they name different columns of it.
func commonColumns(a, b []strictColumn) []strictColumn {
	var out []strictColumn
	for _, x := range a {
		switch {
		case slices.Contains(b, x):
			out = append(out, x)
		case slices.ContainsFunc(b, func(y strictColumn) bool { return y.source == x.source }):
			out = append(out, strictColumn{x.source, -1})
		}
	}
	return out
}

// rejects lists the columns for which the condition cannot be true when they are NULL. negated asks the same of NOT e.
func (j *judge) rejects(e *facts.Expr, negated bool) []strictColumn {
	switch e.Op {
	case facts.And, facts.Or:
		if (e.Op == facts.And) != negated {
			var all []strictColumn
			for _, a := range e.Args {
				all = append(all, j.rejects(a, negated)...)
			}
			return all
		}
		return j.rejectedByEach(e.Args, negated)
	case facts.Not:
		return j.rejects(e.Args[0], !negated)
	case facts.Compare:
		return j.rejectedByCompare(e, negated)
	case facts.NotSame:
		if e.Negated && !negated && len(e.Args) == 2 {
			if j.surelyNotNull(e.Args[1]) {
				return strictOn(e.Args[0])
			}
			if j.surelyNotNull(e.Args[0]) {
				return strictOn(e.Args[1])
			}
		}
	case facts.In:
		return strictOn(e.Args[0])
	case facts.AnyArray:
		if builtinComparison(e.Name) && e.All == negated {
			return strictOn(e.Args[0])
		}
	case facts.NullTest:
		if e.Negated != negated && e.Args[0].Op != facts.Row {
			return strictOn(e.Args[0])
		}
	case facts.BoolTest:
		switch {
		case !negated && e.Name == "true" || negated && e.Name == "not true":
			return j.rejects(e.Args[0], false)
		case !negated && e.Name == "false" || negated && e.Name == "not false":
			return j.rejects(e.Args[0], true)
		}
	case facts.Sublink:
		if e.Sub == facts.SubAny && !negated && builtinComparison(e.Name) && len(e.Args) > 0 {
			return strictOn(e.Args[0])
		}
	case facts.Column:
		return strictOn(e)
	}
	return nil
}

func (j *judge) rejectedByCompare(e *facts.Expr, negated bool) []strictColumn {
	if !builtinComparison(e.Name) || len(e.Args) != 2 {
		return nil
	}
	if e.Args[0].Op == facts.Row {
		if negated || e.Name != "=" {
			return nil
		}
		return append(strictRows(e.Args[0]), strictRows(e.Args[1])...)
	}
	if inner, flip, ok := boolEquality(e); ok {
		return j.rejects(inner, negated != flip)
	}
	return append(strictOn(e.Args[0]), strictOn(e.Args[1])...)
}

func (j *judge) rejectedByEach(branches []*facts.Expr, negated bool) []strictColumn {
	var common []strictColumn
	first := true
	for _, a := range branches {
		if t, err := j.truth(a); err == nil && (t == isNull || t == isFalse && !negated || t == isTrue && negated) {
			continue // a branch that is never true rejects everything
		}
		r := j.rejects(a, negated)
		if first {
			common, first = r, false
			continue
		}
		common = commonColumns(common, r)
	}
	return common
}

// strictOn lists the occurrences whose NULL makes the whole expression NULL.
func strictOn(e *facts.Expr) []strictColumn {
	switch e.Op {
	case facts.Column:
		if !e.System && e.Source >= 0 {
			return []strictColumn{{e.Source, e.Col}}
		}
	case facts.Collate, facts.Cast:
		return strictOn(e.Args[0])
	case facts.Operator, facts.Call:
		if !strictFunction(e) {
			return nil
		}
		fallthrough
	case facts.Compare:
		if e.Op == facts.Compare && (!builtinComparison(e.Name) || len(e.Args) > 0 && e.Args[0].Op == facts.Row) {
			return nil
		}
		var all []strictColumn
		for _, a := range e.Args {
			all = append(all, strictOn(a)...)
		}
		return all
	}
	return nil
}

func strictRows(e *facts.Expr) []strictColumn {
	if e.Op != facts.Row {
		return nil
	}
	var all []strictColumn
	for _, a := range e.Args {
		all = append(all, strictOn(a)...)
	}
	return all
}

// surelyNotNull tells a literal; a parameter may be NULL.
func (j *judge) surelyNotNull(e *facts.Expr) bool {
	o, err := j.eval(e)
	if err != nil || !o.fixed || o.list {
		return false
	}
	if o.id == "" {
		return o.known && o.val.kind != dNull
	}
	return o.slot != 0 && !o.bind
}

// boolEquality takes (condition) = TRUE apart; flip says that it is the negation.
func boolEquality(e *facts.Expr) (inner *facts.Expr, flip, ok bool) {
	if e.Name != "=" && e.Name != "<>" || len(e.Args) != 2 {
		return nil, false, false
	}
	for i, a := range e.Args {
		if a.Op != facts.Const || a.Literal || a.Text != "true" && a.Text != "false" {
			continue
		}
		other := e.Args[1-i]
		switch other.Op {
		case facts.And, facts.Or, facts.Not, facts.Compare, facts.In, facts.AnyArray, facts.NullTest, facts.BoolTest, facts.Sublink:
			return other, (a.Text == "false") != (e.Name == "<>"), true
		}
	}
	return nil, false, false
}
