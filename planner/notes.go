package planner

import (
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
)

// noteList gathers the facts found about a statement, each once.
type noteList []note

type note struct {
	code reason.Code
	pos  int
	args reason.Args
}

func (j *judge) note(code reason.Code, pos int, args reason.Args) {
	for i := range j.notes {
		if n := &j.notes[i]; n.code == code && n.args == args {
			return
		}
	}
	j.notes = append(j.notes, note{code, pos, args})
}

// noteJoin says that two occurrences are joined on their keys, or fixed to one value.
func (j *judge) noteJoin(s *scope, a, b termID) {
	ia, ib := j.terms[a].inst, j.terms[b].inst
	if ia == nil || ib == nil {
		return
	}
	code := reason.ColocatedJoin
	if s.find(a) != s.find(b) {
		code = reason.PinnedJoin
	}
	j.note(code, ib.src.Pos, reason.Args{Table: j.tableOf(ia), Other: j.tableOf(ib)})
}

// tableOf names the table an occurrence stands for: its own, or the first sharded one in it.
func (j *judge) tableOf(in *inst) string {
	if in.kind == instTable {
		return in.src.Table
	}
	if in.src.View != "" {
		return in.src.View
	}
	if in.sub != nil {
		for _, o := range j.occ {
			if o.lv.within(in.sub) {
				return o.in.src.Table
			}
		}
	}
	return in.src.Alias
}

func (j *judge) argsOf(in *inst) reason.Args {
	a := reason.Args{Table: j.tableOf(in)}
	if in.table != nil && in.table.Colo != nil {
		a.Column, a.Colo = in.table.Column, in.table.Colo.Name
	}
	return a
}

// noteUnjoined says that occurrences of one colo stand side by side without an equality of their keys.
func (j *judge) noteUnjoined(parts []part) {
	a, b := parts[0], parts[1]
	if a.in == nil || b.in == nil {
		j.note(reason.NonKeyJoin, -1, reason.Args{})
		return
	}
	args := j.argsOf(a.in)
	other := j.argsOf(b.in)
	args.Other, args.OtherColumn = other.Table, other.Column
	j.note(reason.NonKeyJoin, b.in.src.Pos, args)
}

// noteTable notes a code about the first sharded table in a level.
func (j *judge) noteTable(code reason.Code, pos int, lv *level) {
	for _, o := range j.occ {
		if o.lv.within(lv) {
			if pos < 0 {
				pos = o.in.src.Pos
			}
			j.note(code, pos, j.argsOf(o.in))
			return
		}
	}
	j.note(code, pos, reason.Args{})
}

// noteIsland notes a code about a side of an outer join and what stands on the other one.
func (j *judge) noteIsland(code reason.Code, isl *island) {
	args, pos := reason.Args{}, -1
	if len(isl.leaves) > 0 {
		args, pos = j.argsOf(isl.leaves[0]), isl.leaves[0].src.Pos
	}
	if p := isl.parent; p != nil && len(p.leaves) > 0 {
		other := j.argsOf(p.leaves[0])
		args.Other, args.OtherColumn = other.Table, other.Column
	}
	j.note(code, pos, args)
}

// noteGroup says why a grouping or a window does not stay on a shard.
func (j *judge) noteGroup(lv *level, list []*facts.Expr, keys []keyCol, code reason.Code) {
	if k := j.keyIn(lv, list, keys); k != nil && k.nullable {
		j.noteTable(reason.KeyNullable, -1, lv)
		return
	}
	j.noteTable(code, -1, lv)
}

// noteLooseSublink says why a subquery cannot be answered shard by shard.
func (j *judge) noteLooseSublink(lv *level, sub *sublink) {
	code := reason.UncorrelatedSharded
	switch {
	case limited(sub.lv.q):
		code = reason.LimitFence
	case correlated(sub.expr.Query):
		code = reason.CorrelatedOffKey
	case sub.expr.Sub == facts.SubAny && sub.negated:
		code = reason.NotInNullable
	case sub.lv.q.Grouped:
		code = reason.AggFence
	}
	j.noteTable(code, sub.expr.Pos, sub.lv)
}

// correlated tells whether a query refers to a level around it.
func correlated(q *facts.Query) bool {
	found := false
	own := map[int]bool{}
	walkQuery(q, func(q *facts.Query) {
		for _, src := range q.From {
			walkSource(src, func(s *facts.Source) { own[s.ID] = true })
		}
		if q.Write != nil && q.Write.Target != nil {
			own[q.Write.Target.ID] = true
		}
	})
	walkQuery(q, func(q *facts.Query) {
		eachExpr(q, func(e *facts.Expr, _ place) {
			walkExpr(e, func(x *facts.Expr) {
				found = found || x.Op == facts.Column && x.Source >= 0 && !own[x.Source]
			})
		})
	})
	return found
}

// reasons turns the notes into what a verdict tells.
func (j *judge) reasons() []reason.Reason {
	out := make([]reason.Reason, 0, len(j.notes))
	for i := range j.notes {
		n := &j.notes[i]
		out = append(out, reason.New(n.code, n.pos, n.args))
	}
	return out
}
