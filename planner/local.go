package planner

import (
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
)

// prop says how the result of an expression over the whole data relates to its results over the data of each shard (a shard's rows of the
// colo's tables, and all reference tables).
type prop struct {
	kind propKind
	keys []keyCol
}

type propKind uint8

const (
	repeated propKind = iota // each shard gives the whole result: reference tables, VALUES, constants
	local                    // the shards' results are disjoint parts that make up the whole
	never                    // neither
)

// keyCol is a column that holds the key of the shard the row is made on.
type keyCol struct {
	term     termID
	pos      int // of an output
	nullable bool
}

var notLocal = prop{kind: never}

// islandProp joins what is in an island.
func (j *judge) islandProp(lv *level, isl *island) prop {
	var parts []part
	var tied []*inst
	for _, in := range lateralLast(isl.leaves) {
		mark := len(j.notes)
		p := j.leafProp(lv, in)
		switch {
		case p.kind == never && in.src.Lateral && in.sub != nil:
			tied, j.notes = append(tied, in), j.notes[:mark]
		case p.kind == never:
			return notLocal
		case p.kind == local:
			parts = append(parts, part{keys: p.keys, in: in})
		}
	}
	for _, f := range isl.fulls {
		p := j.fullProp(lv, f)
		switch p.kind {
		case never:
			return notLocal
		case local:
			parts = append(parts, part{keys: p.keys})
		}
	}
	parts = j.connect(isl.scope, parts)
	parts, tied = looseLaterals(parts, tied)
	if len(parts) > 1 {
		j.noteUnjoined(parts)
		return notLocal
	}
	out := prop{kind: repeated}
	if len(parts) == 1 {
		out = prop{kind: local, keys: parts[0].keys}
	}
	for _, in := range tied {
		if out.kind != local || !j.tiedTo(in.sub, out.keys) {
			j.noteTable(reason.CorrelatedOffKey, in.src.Pos, in.sub)
			return notLocal
		}
	}
	for _, kid := range isl.kids {
		if out = j.addKid(lv, kid, out); out.kind == never {
			return out
		}
	}
	return out
}

// lateralLast puts LATERAL items after their neighbours.
func lateralLast(leaves []*inst) []*inst {
	out := make([]*inst, 0, len(leaves))
	for _, lateral := range []bool{false, true} {
		for _, in := range leaves {
			if in.src.Lateral == lateral {
				out = append(out, in)
			}
		}
	}
	return out
}

// part is a set of joined occurrences.
type part struct {
	keys []keyCol
	in   *inst
	n    int // occurrences joined to it
}

// connect joins parts that have an equal key.
func (j *judge) connect(s *scope, parts []part) []part {
	for again := true; again; {
		again = false
		for a := 0; a < len(parts); a++ {
			for b := a + 1; b < len(parts); b++ {
				if k1, k2, ok := sharedKey(s, parts[a].keys, parts[b].keys); ok {
					j.noteJoin(s, k1, k2)
					parts[a].keys = append(append([]keyCol(nil), parts[a].keys...), parts[b].keys...)
					parts[a].n++
					parts = append(parts[:b:b], parts[b+1:]...)
					again = true
					b--
				}
			}
		}
	}
	return parts
}

// looseLaterals takes out the LATERAL subqueries that are not joined by a key of their own: they may still be tied to their neighbours.
func looseLaterals(parts []part, tied []*inst) ([]part, []*inst) {
	if len(parts) < 2 {
		return parts, tied
	}
	var keep []part
	for _, p := range parts {
		if p.in != nil && p.n == 0 && p.in.src.Lateral && p.in.sub != nil {
			tied = append(tied, p.in)
			continue
		}
		keep = append(keep, p)
	}
	if len(keep) == 0 {
		return parts, nil
	}
	return keep, tied
}

func sharedKey(s *scope, a, b []keyCol) (termID, termID, bool) {
	for _, x := range a {
		for _, y := range b {
			if s.same(x.term, y.term) {
				return x.term, y.term, true
			}
		}
	}
	return noTerm, noTerm, false
}

// addKid joins the nullable side of a LEFT join to what is preserved.
func (j *judge) addKid(lv *level, kid *island, out prop) prop {
	mark := len(j.notes)
	p := j.islandProp(lv, kid)
	switch {
	case p.kind == repeated, kid.scope.never:
		return out
	case out.kind == repeated:
		j.noteIsland(reason.ReferencePreserved, kid)
		return notLocal
	case p.kind == never:
		if len(kid.leaves) == 1 && len(kid.kids)+len(kid.fulls) == 0 && kid.leaves[0].src.Lateral && kid.leaves[0].sub != nil && j.tiedTo(kid.leaves[0].sub, out.keys) {
			j.notes = j.notes[:mark]
			return out
		}
		return notLocal
	}
	if k1, k2, ok := sharedKey(kid.scope, out.keys, p.keys); ok {
		j.noteJoin(kid.scope, k1, k2)
		keys := append([]keyCol(nil), out.keys...)
		for _, k := range p.keys {
			k.nullable = true
			keys = append(keys, k)
		}
		return prop{kind: local, keys: keys}
	}
	if len(kid.leaves) == 1 && kid.leaves[0].src.Lateral && kid.leaves[0].sub != nil && j.tiedTo(kid.leaves[0].sub, out.keys) {
		return out
	}
	j.noteIsland(reason.NonKeyJoin, kid)
	return notLocal
}

// fullProp joins both sides of a FULL join.
func (j *judge) fullProp(lv *level, f *fullJoin) prop {
	l, r := j.islandProp(lv, f.left), j.islandProp(lv, f.right)
	switch {
	case l.kind == never || r.kind == never:
		return notLocal
	case l.kind == repeated && r.kind == repeated:
		return l
	case l.kind != r.kind:
		j.noteIsland(reason.ReferencePreserved, f.left)
		return notLocal
	}
	s := f.left.scope.clone()
	j.fillIsland(lv, s, f.right)
	if f.join.On != nil {
		j.assumeAll(lv, s, nil, []*facts.Expr{f.join.On})
	}
	k1, k2, ok := sharedKey(s, l.keys, r.keys)
	if !ok {
		j.noteIsland(reason.NonKeyJoin, f.right)
		return notLocal
	}
	j.noteJoin(s, k1, k2)
	out := prop{kind: local}
	for _, m := range f.join.Merged {
		lt, rt := j.termOf(lv, m.Left), j.termOf(lv, m.Right)
		lk, rk := keyOf(l.keys, lt), keyOf(r.keys, rt)
		if t := j.mergedTerm(lt, rt); t != noTerm && lk != nil && rk != nil {
			out.keys = append(out.keys, keyCol{term: t, nullable: lk.nullable || rk.nullable})
		}
	}
	for _, k := range append(append([]keyCol(nil), l.keys...), r.keys...) {
		k.nullable = true
		out.keys = append(out.keys, k)
	}
	return out
}

func keyOf(keys []keyCol, t termID) *keyCol {
	for i := range keys {
		if keys[i].term == t {
			return &keys[i]
		}
	}
	return nil
}

// leafProp is the property of one occurrence.
func (j *judge) leafProp(lv *level, in *inst) prop {
	switch in.kind {
	case instTable:
		if !j.isSharded(in) {
			if in.src.Sample {
				j.note(reason.Volatile, in.src.Pos, reason.Args{})
				return notLocal // each copy would be sampled on its own
			}
			return prop{kind: repeated} // unsharded tables beside sharded ones are dealt with before
		}
		t := j.term(in, in.keyColumn())
		if t == noTerm {
			return notLocal
		}
		return prop{kind: local, keys: []keyCol{{term: t, nullable: !j.columnNotNull(in, in.keyColumn())}}}
	case instFunction:
		for _, f := range in.src.Funcs {
			if j.volatileExpr(f) {
				j.note(reason.Volatile, f.Pos, reason.Args{})
				return notLocal
			}
		}
		return prop{kind: repeated}
	case instSelf:
		return j.byPosition(in, prop{kind: local, keys: in.rec.keys})
	case instQuery:
		p := j.levelProp(in.sub, false)
		if p.kind == repeated && anyRows(in.sub.q) {
			j.note(reason.LimitFence, in.src.Pos, reason.Args{})
			return notLocal
		}
		if p.kind == repeated && j.varies(in.sub, false) || in.shared && in.sub.q.Write == nil {
			j.noteTable(reason.CTEFence, in.src.Pos, in.sub)
			return notLocal
		}
		return j.byPosition(in, p)
	}
	return notLocal
}

// byPosition turns key positions of a subquery's outputs into terms of the level that reads it.
func (j *judge) byPosition(in *inst, p prop) prop {
	out := prop{kind: p.kind}
	for _, k := range p.keys {
		if t := j.term(in, k.pos); t != noTerm {
			out.keys = append(out.keys, keyCol{term: t, nullable: k.nullable})
		}
	}
	return out
}

func (j *judge) volatileExpr(e *facts.Expr) bool {
	found := false
	walkExpr(e, func(x *facts.Expr) { found = found || j.volatileCall(x) })
	return found
}

// tiedTo tells whether every sharded table in a subquery is restricted to the key of the outer row.
func (j *judge) tiedTo(sub *level, keys []keyCol) bool {
	if j.readsBody(sub) {
		return false
	}
	for _, o := range j.occ {
		if !o.lv.within(sub) {
			continue
		}
		t := j.term(o.in, o.in.keyColumn())
		ok := false
		for _, k := range keys {
			ok = ok || o.scope != nil && o.scope.same(t, k.term)
		}
		if !ok && (o.set == nil || len(o.set.keys) > 0) {
			return false
		}
	}
	return true
}

// within tells whether a level is evaluated as part of another one, or is it.
func (lv *level) within(top *level) bool {
	for l := lv; l != nil; l = l.above {
		if l == top {
			return true
		}
	}
	return false
}

// holdsSharded tells whether a sharded table is in the subquery.
func (j *judge) holdsSharded(sub *level) bool {
	if j.readsBody(sub) {
		return true
	}
	for _, o := range j.occ {
		if o.lv.within(sub) {
			return true
		}
	}
	return false
}

// readsBody tells whether a subquery reads a WITH query that is evaluated elsewhere and touches a sharded table.
func (j *judge) readsBody(sub *level) bool {
	for _, in := range j.froms {
		if !in.body || !in.lv.within(sub) || in.sub.within(sub) {
			continue
		}
		for _, o := range j.occ {
			if o.lv.within(in.sub) {
				return true
			}
		}
	}
	return false
}

// sublinksLocal checks the subqueries in the level's expressions against what its rows are.
func (j *judge) sublinksLocal(lv *level, base prop) bool {
	for _, sub := range lv.subs {
		if !j.holdsSharded(sub.lv) {
			if base.kind == local && j.varies(sub.lv, sub.expr.Sub == facts.SubExists || correlated(sub.expr.Query)) {
				code := reason.Volatile
				if !j.volatileInside(sub.lv) {
					code = reason.LimitFence
				}
				j.note(code, sub.expr.Pos, reason.Args{})
				return false
			}
			continue
		}
		if base.kind == local && j.tiedTo(sub.lv, base.keys) {
			j.noteTable(reason.CorrelatedOnKey, sub.expr.Pos, sub.lv)
			continue
		}
		j.noteLooseSublink(lv, sub)
		return false
	}
	return true
}
