package planner

import (
	"slices"
	"sort"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/reason"
)

// result is what the judge finds before it is dressed as a verdict.
type result struct {
	class  Class
	shards ShardSet
	layout bool
	write  bool
	binds  []Binding
	pairs  [][2]string
}

// statement judges the whole statement.
func (j *judge) statement() Verdict {
	var r result
	switch {
	case len(j.st.Problems) > 0:
		r.class = j.problems()
	case j.st.Utility != nil:
		r = j.utility(j.st.Utility)
	case j.st.Query != nil:
		r = j.query(j.st.Query)
	default:
		r.class = Unknown
		j.note(reason.Internal, -1, reason.Args{})
	}
	return j.verdict(r)
}

func (j *judge) problems() Class {
	class := Invalid
	for _, p := range j.st.Problems {
		if !p.Invalid {
			class = Unknown
		}
		code := p.Code
		if code == "out_of_bounds" {
			code = reason.TooDeep
		}
		if _, known := reason.Of(code); !known {
			code = reason.UnsupportedSyntax
			if p.Invalid {
				code = reason.InvalidStatement
			}
		}
		j.note(code, p.Pos, reason.Args{Detail: p.Text})
	}
	return class
}

func (j *judge) verdict(r result) Verdict {
	v := Verdict{Class: r.class, Shards: r.shards, Bindings: r.binds, LayoutDependent: r.layout, CrossColo: r.pairs, Write: r.write}
	v.Tables, v.Colos = j.tables()
	if v.Shards.Kind == "" {
		v.Shards.Kind = shardKind(r.class)
	}
	if v.Class != Unknown && v.Class != Invalid {
		v.Features = append([]string{}, j.feats...)
		sort.Strings(v.Features)
	}
	v.Readiness = Readiness(policy.Readiness(string(v.Class), v.Features, v.Write, j.p.dialect))
	if missing := policy.Missing(string(v.Class), v.Features, v.Write, j.p.dialect); len(missing) > 0 {
		for _, f := range missing {
			j.note(reason.OutsideDialect, -1, reason.Args{Name: f})
		}
	}
	v.Reasons = j.reasons()
	return v
}

func shardKind(c Class) string {
	switch c {
	case None, Reference:
		return "any"
	case SingleShard:
		return "one"
	case MultiShard:
		return "some"
	case Unsharded, Session, Reject, Invalid:
		return "none"
	}
	return "all"
}

// tables lists what the statement touches, and the colos of the sharded ones.
func (j *judge) tables() (tables, colos []string) {
	for _, u := range Tables(j.st) {
		tables = append(tables, u.Table)
		if t := j.p.cand.Table(u.Table); t.Placement == candidate.Sharded && t.Colo != nil && !slices.Contains(colos, t.Colo.Name) {
			colos = append(colos, t.Colo.Name)
		}
	}
	sort.Strings(colos)
	return tables, colos
}

// query judges a SELECT, VALUES, INSERT, UPDATE, DELETE or MERGE.
func (j *judge) query(q *facts.Query) result {
	j.scan(q)
	top := j.open(q, nil, nil)
	if !j.closed {
		j.push(top, &scope{}, nil)
	}
	for _, o := range j.occ {
		o.find(j)
	}
	r := result{binds: j.bindings()}
	r.pairs = j.crossColo()
	r.write = j.changes()
	rejected := false
	for _, lv := range j.writes {
		if !j.closed && lv.final != nil {
			rejected = j.checkWrite(lv) || rejected
		}
	}
	switch {
	case j.closed:
		j.note(reason.TooDeep, -1, reason.Args{})
		r.class = Unknown
	case j.wrong:
		j.note(reason.InvalidStatement, -1, reason.Args{Detail: "a constant is no value of its type"})
		r.class = Invalid
	case j.seen.undecided || j.seen.opaque || j.seen.currentOf:
		r.class = Unknown
	case rejected:
		r.class = Reject
	default:
		j.classify(top, &r)
	}
	if j.seen.sequence && len(j.occ) > 0 {
		j.feature(policy.GlobalSequence)
	}
	if r.class == SingleShard || r.class == None {
		j.feature(policy.Passthrough)
	}
	j.explainKeys(top, r.class)
	return r
}

// find takes the key set of an occurrence from the facts at its place.
func (o *occurrence) find(j *judge) {
	if o.scope == nil {
		return
	}
	if o.scope.never {
		o.set = emptySet
	} else if t := j.term(o.in, o.in.keyColumn()); t != noTerm {
		o.set = o.scope.keys(t)
	}
	for _, lv := range j.writes {
		if lv.q.Write.Op == "merge" && lv.q.Write.Target.ID == o.in.src.ID && lv == o.lv {
			o.set = j.mergeTarget(lv, o)
		}
	}
}

// mergeTarget adds the keys of the rows that a MERGE inserts to the keys of those that it matches.
func (j *judge) mergeTarget(lv *level, o *occurrence) *keyset {
	if o.set == nil {
		return nil
	}
	return j.mergeKeys(lv, o.in, o.set)
}

// changes tells whether rows of a sharded or reference table are changed or locked.
func (j *judge) changes() bool {
	if j.seen.rowLock && (len(j.occ) > 0 || j.seen.reference) {
		return true
	}
	for _, lv := range j.writes {
		if p := j.p.cand.Table(lv.q.Write.Target.Table).Placement; p == candidate.Sharded || p == candidate.Reference {
			return true
		}
	}
	return false
}

func (j *judge) writesTo(p candidate.Placement) bool {
	for _, lv := range j.writes {
		w := lv.q.Write.Target
		if !w.Temp && !w.System && j.p.cand.Table(w.Table).Placement == p {
			return true
		}
	}
	return false
}

// classify finds the class of a statement whose tables and effects are known.
func (j *judge) classify(top *level, r *result) {
	if len(j.occ) == 0 {
		j.classifyUnsharded(top, r)
		return
	}
	if j.apart() {
		r.class = MultiPhase
		j.feature(policy.Subplan)
		return
	}
	if j.writesTo(candidate.Reference) {
		j.noteReferenceWrite(reason.ReferenceWrite)
		j.feature(policy.Subplan)
		j.feature(policy.TwoPhaseCommit)
		r.class = MultiPhase
		return
	}
	once := j.evaluatedOnce(top)
	if once {
		r.class = MultiPhase
		j.feature(policy.Subplan)
		return
	}
	if j.pinned(r) {
		if r.class == None && j.seen.home {
			r.class, r.shards = MultiPhase, ShardSet{}
			j.feature(policy.Subplan)
			return
		}
		j.noteSingle(top)
		return
	}
	j.classifyMany(top, r)
}

// classifyUnsharded decides among the statements without a sharded table.
func (j *judge) classifyUnsharded(top *level, r *result) {
	switch s := &j.seen; {
	case j.writesTo(candidate.Reference):
		j.noteReferenceWrite(reason.ReferenceWrite)
		if s.local || s.temp {
			j.note(reason.LocalJoin, -1, reason.Args{Table: s.refTable, Other: s.localTable})
			r.class = MultiPhase
			return
		}
		j.feature(policy.TwoPhaseCommit)
		if s.volatile || j.volatileDefaults() {
			j.feature(policy.EvalOnce)
		}
		r.class = Broadcast
	case len(s.sizes) > 0 && j.sizeClass(r):
	case s.reference && s.rowLock && j.locksReference(top):
		j.noteReferenceWrite(reason.RowLock)
		j.feature(policy.TwoPhaseCommit)
		r.class = Broadcast
	case s.temp && !s.local && !s.reference:
		r.class = Session
	case s.reference && !s.local && !s.temp && !s.home: // the original database has a copy too
		r.class = Reference
	default:
		r.class = Unsharded
	}
	if j.seen.sequence {
		j.feature(policy.GlobalSequence)
	}
}

// volatileDefaults tells whether a row for a reference table leaves a column to a default that each copy would compute on its own.
func (j *judge) volatileDefaults() bool {
	for _, lv := range j.writes {
		w := lv.q.Write
		rel := j.p.cat.Relations[w.Target.Table]
		if w.Op != "insert" && w.Op != "merge" || rel == nil {
			continue
		}
		for i := range rel.Columns {
			if c := &rel.Columns[i]; (c.DefaultVolatile || c.Identity) && !slices.Contains(w.Columns, c.Name) {
				return true
			}
		}
	}
	return false
}

func (j *judge) noteReferenceWrite(code reason.Code) {
	for _, lv := range j.writes {
		if t := lv.q.Write.Target; j.p.cand.Table(t.Table).Placement == candidate.Reference {
			j.note(code, t.Pos, reason.Args{Table: t.Table})
		}
	}
}

// locksReference tells whether a row lock may be on a reference table: it would lock one copy.
func (j *judge) locksReference(top *level) bool {
	found := false
	walkQuery(top.q, func(q *facts.Query) {
		for _, l := range q.Locks {
			for _, src := range q.From {
				walkSource(src, func(s *facts.Source) {
					if len(l.Of) == 0 || slices.Contains(l.Of, s.ID) {
						found = found || s.Kind != facts.FromTable || j.p.cand.Table(s.Table).Placement == candidate.Reference
					}
				})
			}
		}
	})
	return found
}

// apart tells whether the tables live in places that no shard has together.
func (j *judge) apart() bool {
	first := j.occ[0].in
	args := j.argsOf(first)
	if j.seen.local || j.seen.temp {
		args.Other = j.seen.localTable
		j.note(reason.LocalJoin, first.src.Pos, args)
		return true
	}
	found := false
	for _, o := range j.occ[1:] {
		a, b := first.table.Colo, o.in.table.Colo
		if a == b {
			continue
		}
		found = true
		other := j.argsOf(o.in)
		pair := args
		pair.Other, pair.OtherColumn, pair.OtherColo = other.Table, other.Column, other.Colo
		code := reason.CrossColoJoin
		if a.KeyType == b.KeyType && a.KeyName == b.KeyName {
			code = reason.LayoutMismatch
		}
		j.note(code, o.in.src.Pos, pair)
	}
	return found
}

// crossColo lists the pairs of tables of different colos in one statement.
func (j *judge) crossColo() [][2]string {
	var pairs [][2]string
	for i, a := range j.occ {
		for _, b := range j.occ[i+1:] {
			if a.in.table.Colo == b.in.table.Colo {
				continue
			}
			p := [2]string{min(a.in.src.Table, b.in.src.Table), max(a.in.src.Table, b.in.src.Table)}
			if !slices.Contains(pairs, p) {
				pairs = append(pairs, p)
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return pairs
}

// pinned decides none and single_shard: every sharded occurrence can be restricted to keys of one shard. It also fills the shard list.
func (j *judge) pinned(r *result) bool {
	all := &keyset{}
	bounded := true
	for _, o := range j.occ {
		if o.set == nil {
			bounded = false
			continue
		}
		for i := range o.set.keys {
			all.add(o.set.keys[i])
		}
	}
	if !bounded {
		return false
	}
	list, literal, whole := j.shardsOf(all.keys)
	r.shards.List = list
	switch {
	case len(all.keys) == 0:
		r.class, r.shards.Kind = None, "any"
		return true
	case all.single():
		r.class = SingleShard
	case literal && len(list) == 1:
		r.class, r.layout = SingleShard, true
	default:
		if !whole {
			r.shards.List = nil
		}
		return false
	}
	if !whole {
		r.shards.List = nil
	}
	if whole && len(list) == 0 {
		r.shards.Kind = "none" // the parameter is NULL this time
	}
	return true
}

// shardsOf hashes the keys whose values are known. literal says that all of them are part of the statement, whole that all are known.
func (j *judge) shardsOf(keys []key) (list []int, literal, whole bool) {
	colo := j.occ[0].in.table.Colo
	literal, whole = true, true
	for i := range keys {
		k := &keys[i]
		if k.id != "" || k.list || k.from == fromGenerated {
			literal = false
		}
		values := k.values
		if k.known {
			values = append(values, k.k)
		} else if !k.null && k.values == nil {
			whole = false
		}
		for _, v := range values {
			if s := layout.Shard(v.Slot(), colo.Shards); !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	sort.Ints(list)
	return list, literal, whole
}

// classifyMany decides among the classes over several shards.
func (j *judge) classifyMany(top *level, r *result) {
	bounded := !slices.ContainsFunc(j.occ, func(o *occurrence) bool { return o.set == nil })
	if j.annotatedOnly() {
		r.class = MultiPhase
		j.feature(policy.Subplan)
		return
	}
	if in, ins, ok := j.splitInsert(top); ok {
		if ins.set != nil && len(ins.set.keys) > 0 {
			r.class = MultiShard
			j.note(reason.InsertMultiRow, in.src.Pos, j.argsOf(in))
			j.feature(policy.SplitInsert)
			j.feature(policy.TwoPhaseCommit)
			j.writeRows(top)
			return
		}
	}
	p := j.levelProp(top, true)
	if p.kind != local {
		r.class = MultiPhase
		j.feature(policy.Subplan)
		if r.write {
			j.feature(policy.TwoPhaseCommit)
		}
		return
	}
	if len(j.writes) > 0 {
		for _, lv := range j.writes {
			in := lv.lookup(lv.q.Write.Target.ID)
			j.note(reason.CrossShardWrite, in.src.Pos, j.argsOf(in))
		}
		j.feature(policy.TwoPhaseCommit)
	}
	if top.q.Write != nil {
		if j.seen.system {
			r.class = Reject // ctid and the like name other rows on each shard
			return
		}
		j.writeRows(top)
	} else {
		j.gather(top, p)
	}
	r.class = Scatter
	if bounded {
		r.class = MultiShard
	}
}

func (j *judge) writeRows(top *level) {
	if len(top.q.Outputs) > 0 {
		j.feature(policy.Concat)
		return
	}
	j.feature(policy.RowCountSum)
}

// annotatedOnly tells whether a function that the candidate describes reads a sharded table: it reads it as a whole.
func (j *judge) annotatedOnly() bool {
	return slices.ContainsFunc(j.occ, func(o *occurrence) bool { return o.scope == nil })
}

// splitInsert tells an INSERT of rows that are written in the statement, into the only sharded table it touches.
func (j *judge) splitInsert(top *level) (*inst, insertion, bool) {
	w := top.q.Write
	if w == nil || w.Op != "insert" || len(j.occ) != 1 || len(j.writes) != 1 {
		return nil, insertion{}, false
	}
	in := top.insts[0]
	if !j.isSharded(in) {
		return nil, insertion{}, false
	}
	ins := j.insertion(top, in)
	return in, ins, ins.split && !ins.reject
}
