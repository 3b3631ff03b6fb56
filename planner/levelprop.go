package planner

import (
	"slices"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
)

// baseProp is the property of a level's rows: FROM and WHERE, with the subqueries of all clauses.
func (j *judge) baseProp(lv *level) prop {
	if len(lv.q.Values) > 0 {
		if !j.sublinksLocal(lv, prop{kind: repeated}) {
			return notLocal
		}
		return prop{kind: repeated}
	}
	p := j.islandProp(lv, lv.root)
	if p.kind != never && !j.sublinksLocal(lv, p) {
		return notLocal
	}
	return p
}

// levelProp is the property of a query's result. At the top of a statement one layer of merging is allowed above it, which the caller
// asks for by top: then grouping, DISTINCT, windows and LIMIT do not count, and a UNION may be made distinct after the merge.
func (j *judge) levelProp(lv *level, top bool) prop {
	for _, w := range lv.ctes {
		if w.body != nil { // it is run whether or not anything reads it, or what reads it matters
			if p := j.writeProp(w.body); p.kind == never {
				return notLocal
			}
		}
	}
	if lv.q.Write != nil {
		return j.writeProp(lv)
	}
	var p prop
	if lv.q.SetOp != nil {
		if top && lv.q.SetOp.Op == "union" && !lv.q.SetOp.All && lv.rec == nil {
			p = j.unionProp(lv)
		} else {
			p = j.armsProp(lv)
		}
	} else {
		p = j.baseProp(lv)
	}
	if p.kind != local || top {
		return p
	}
	if limited(lv.q) {
		j.noteTable(reason.LimitFence, -1, lv)
		return notLocal
	}
	if lv.q.SetOp != nil {
		return p
	}
	if !j.groupsLocal(lv, p) {
		return notLocal
	}
	return prop{kind: local, keys: j.outputKeys(lv, p)}
}

// groupsLocal tells whether grouping, windows and DISTINCT of a level stay within a shard: each of them has a key that is never NULL. The
// groups of NULL keys, which an outer join makes, would come once from each shard.
func (j *judge) groupsLocal(lv *level, p prop) bool {
	q := lv.q
	if q.Grouped {
		if oneRow(q) {
			j.noteTable(reason.AggFence, -1, lv)
			return false
		}
		for _, set := range q.Group {
			if !j.hasKey(lv, set, p.keys) {
				j.noteGroup(lv, set, p.keys, reason.AggFence)
				return false
			}
		}
	}
	ok := true
	eachWindow(q, func(w *facts.Expr) {
		if ok && !j.hasKey(lv, w.Partition, p.keys) {
			j.noteGroup(lv, w.Partition, p.keys, reason.WindowFence)
			ok = false
		}
	})
	if !ok {
		return false
	}
	switch q.Distinct {
	case facts.DistinctAll:
		ok = j.hasKey(lv, outputExprs(q), p.keys)
	case facts.DistinctOn:
		ok = j.hasKey(lv, q.On, p.keys)
	}
	if !ok {
		j.noteTable(reason.AggFence, -1, lv)
	}
	return ok
}

func outputExprs(q *facts.Query) []*facts.Expr {
	var list []*facts.Expr
	for i := range q.Outputs {
		if !q.Outputs[i].Hidden {
			list = append(list, q.Outputs[i].Expr)
		}
	}
	return list
}

// hasKey tells whether a list has a bare column that is a key and never NULL.
func (j *judge) hasKey(lv *level, list []*facts.Expr, keys []keyCol) bool {
	k := j.keyIn(lv, list, keys)
	return k != nil && !k.nullable
}

// keyIn finds a bare key column in a list, preferring one that is never NULL.
func (j *judge) keyIn(lv *level, list []*facts.Expr, keys []keyCol) *keyCol {
	var found *keyCol
	for _, e := range list {
		t := j.termOf(lv, e)
		if t == noTerm {
			continue
		}
		for i := range keys {
			if t == keys[i].term || lv.final != nil && lv.final.same(t, keys[i].term) && (j.terms[t].merged || j.terms[t].inst.isl == lv.root) {
				if !keys[i].nullable {
					return &keys[i]
				}
				found = &keys[i]
			}
		}
	}
	return found
}

// outputKeys finds the outputs that hold a key.
func (j *judge) outputKeys(lv *level, p prop) []keyCol {
	var keys []keyCol
	for i := range lv.q.Outputs {
		e := lv.q.Outputs[i].Expr
		if !everyGroup(lv.q, e) {
			continue
		}
		if k := j.keyIn(lv, []*facts.Expr{e}, p.keys); k != nil {
			keys = append(keys, keyCol{pos: i, nullable: k.nullable})
		}
	}
	return keys
}

// armsProp is the property of a set operation that stays within shards.
func (j *judge) armsProp(lv *level) prop {
	if lv.rec != nil && lv.rec.cte.SelfRef {
		return j.recursionProp(lv)
	}
	l, r := j.levelProp(lv.arms[0], false), j.levelProp(lv.arms[1], false)
	return j.combineArms(lv, l, r)
}

func (j *judge) combineArms(lv *level, l, r prop) prop {
	op := lv.q.SetOp
	switch {
	case l.kind == never || r.kind == never:
		return notLocal
	case l.kind == local && r.kind == repeated && j.varies(lv.arms[1], false), r.kind == local && l.kind == repeated && j.varies(lv.arms[0], false):
		j.noteTable(reason.SetopReplicatedArm, -1, lv)
		return notLocal
	case l.kind == repeated && r.kind == repeated:
		return l
	case l.kind == local && r.kind == local:
		out := prop{kind: local, keys: commonKeys(l.keys, r.keys)}
		if op.Op == "except" {
			for i := range out.keys {
				out.keys[i].nullable = keyAt(l.keys, out.keys[i].pos).nullable
			}
		}
		if op.Op == "union" && op.All {
			return out
		}
		for _, k := range commonKeys(l.keys, r.keys) {
			if !k.nullable {
				j.noteTable(reason.SetopKeyAligned, -1, lv)
				return out
			}
		}
		j.noteTable(reason.SetopNotAligned, -1, lv)
		return notLocal
	case l.kind == local && (op.Op == "except" || op.Op == "intersect") && anyNotNull(l.keys):
		return l
	case r.kind == local && op.Op == "intersect" && anyNotNull(r.keys):
		return r
	}
	j.noteTable(reason.SetopReplicatedArm, -1, lv)
	return notLocal
}

func anyNotNull(keys []keyCol) bool {
	return slices.ContainsFunc(keys, func(k keyCol) bool { return !k.nullable })
}

func keyAt(keys []keyCol, pos int) keyCol {
	for _, k := range keys {
		if k.pos == pos {
			return k
		}
	}
	return keyCol{nullable: true}
}

// commonKeys lists the positions that hold a key on both sides; one is nullable if it is on either.
func commonKeys(a, b []keyCol) []keyCol {
	var out []keyCol
	for _, x := range a {
		for _, y := range b {
			if x.pos == y.pos {
				out = append(out, keyCol{pos: x.pos, nullable: x.nullable || y.nullable})
			}
		}
	}
	return out
}

// unionProp is the property of a UNION at the top, whose duplicates go after the merge: each arm is a part, or the same on every shard.
func (j *judge) unionProp(lv *level) prop {
	out := prop{kind: repeated}
	for _, arm := range lv.arms {
		var p prop
		if !j.holdsSharded(arm) && j.varies(arm, false) {
			j.noteTable(reason.SetopReplicatedArm, -1, lv)
			return notLocal
		}
		if s := arm.q.SetOp; s != nil && s.Op == "union" && !s.All && !limited(arm.q) && len(arm.q.CTEs) == 0 {
			p = j.unionProp(arm)
		} else {
			p = j.levelProp(arm, false)
		}
		switch p.kind {
		case never:
			return notLocal
		case local:
			out.kind = local
		}
	}
	return out
}

// recursionProp proves a recursive query by induction: where the seed has a key at a position and the recursive term joins on it and hands
// it on, every step stays on the shard of its row.
func (j *judge) recursionProp(lv *level) prop {
	l := j.levelProp(lv.arms[0], false)
	if l.kind == never {
		return notLocal
	}
	if l.kind == repeated {
		if j.holdsSharded(lv.arms[1]) {
			j.noteTable(reason.Recursion, -1, lv)
			return notLocal
		}
		return l
	}
	if !j.needsSelf(lv.arms[1], lv.rec) { // on a shard without a seed the recursive term would not be asked
		j.noteTable(reason.Recursion, -1, lv)
		return notLocal
	}
	lv.rec.keys = l.keys
	for range len(l.keys) + 1 {
		r := j.levelProp(lv.arms[1], false)
		if r.kind != local {
			break
		}
		kept := commonKeys(lv.rec.keys, r.keys)
		if slices.Equal(kept, lv.rec.keys) {
			if len(kept) == 0 || !lv.q.SetOp.All && !anyNotNull(kept) {
				break
			}
			return prop{kind: local, keys: kept}
		}
		lv.rec.keys = kept
	}
	j.noteTable(reason.Recursion, -1, lv)
	return notLocal
}

// needsSelf tells whether a query has no rows where the recursive reference has none.
func (j *judge) needsSelf(lv *level, rec *recursion) bool {
	if lv.q.SetOp != nil {
		l, r := j.needsSelf(lv.arms[0], rec), j.needsSelf(lv.arms[1], rec)
		switch lv.q.SetOp.Op {
		case "union":
			return l && r
		case "intersect":
			return l || r
		}
		return l
	}
	return !oneRow(lv.q) && slices.ContainsFunc(lv.insts, func(in *inst) bool {
		return in.isl == lv.root && (in.rec == rec || in.sub != nil && j.needsSelf(in.sub, rec))
	})
}
