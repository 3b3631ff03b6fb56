package planner

import (
	"slices"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// judge is the work on one statement.
type judge struct {
	p     *Planner
	st    *facts.Statement
	slots []sqltext.Slot
	vals  *Values

	terms  []term
	merged map[[2]termID]termID // terms of merged columns, by both sides
	values map[*facts.Expr]evaluated
	insts  int
	occ    []*occurrence
	writes []*level // data-modifying queries
	// all subqueries in expressions and all FROM items, of every level
	sublinks []*sublink
	froms    []*inst
	notes    noteList
	seen     effects
	wrong    bool // PostgreSQL fails on a constant
	feats    []policy.Feature
	closed   bool // the statement is past the judge's bounds
}

// maxInstances bounds the expansion of CTEs that refer to each other several times.
const maxInstances = 2000

// inst is one occurrence of a FROM item. A CTE that is referenced twice is expanded twice: each reference has keys of its own.
type inst struct {
	src   *facts.Source
	lv    *level // where it stands
	kind  instKind
	table *candidate.Table  // a table of the candidate
	rel   *catalog.Relation // a table
	sub   *level            // derived table, view, CTE
	rec   *recursion        // the recursive reference inside a recursive CTE
	isl   *island
	terms map[int]termID // by column
	// written tells the target of a write; lateral, that sub was opened with the neighbours in sight.
	written bool
	shared  bool // evaluated once, whoever reads it
	body    bool // sub is the only expansion of a WITH query, which belongs to the level that defines it
}

type instKind uint8

const (
	instTable instKind = iota + 1
	instQuery
	instFunction
	instSelf
	instOther // EXCLUDED
)

// level is one query level of one expansion.
type level struct {
	q     *facts.Query
	outer *level
	above *level // where it is evaluated: of a WITH query the level that reads it, while outer is the one that defines it
	insts []*inst
	byID  map[int]*inst // insts by the ID of their source
	root  *island
	ctes  []*withQuery
	arms  []*level // both arms of a set operation
	subs  []*sublink
	src   *level // the source of an INSERT
	rec   *recursion
	own   *scope // facts of this level alone, before the outer ones are known
	base  *scope // what holds outside of this level's own rows
	final *scope // with the outer facts
	outs  []output
}

// output is what is known of one output column.
type output struct {
	set     *keyset
	notNull bool
	class   int // outputs of one class are equal; 0 none
}

// withQuery is a WITH entry as its level sees it.
type withQuery struct {
	cte   *facts.CTE
	level *level // where it is defined
	body  *level // of a writing one: its only expansion
}

// recursion is a recursive CTE under expansion.
type recursion struct {
	cte   *facts.CTE
	level *level
	outs  []output // what each row of the recursion has for sure
	keys  []keyCol // positions that hold a shard key
}

// sublink is a subquery in an expression.
type sublink struct {
	expr    *facts.Expr
	lv      *level
	on      *facts.Expr // the ON clause it is in
	isl     *island     // where that clause is evaluated; nil: the level's rows
	clause  clause
	where   bool   // reached from a condition through AND and OR only
	negated bool   // directly under NOT
	inAgg   bool   // inside an aggregate's arguments
	scope   *scope // final facts at its place
	inst    *inst  // inside a function of FROM
}

type clause uint8

const (
	inWhere clause = iota
	inOn
	inOutput
	inHaving
	inGroup
	inOrder
	inLimit
	inValues
	inSet
	inFunction
)

func (lv *level) lookup(source int) *inst {
	for l := lv; l != nil; l = l.outer {
		if in := l.local(source); in != nil {
			return in
		}
	}
	return nil
}

func (lv *level) with(id int) *withQuery {
	for l := lv; l != nil; l = l.outer {
		for _, w := range l.ctes {
			if w.cte.ID == id {
				return w
			}
		}
	}
	return nil
}

func (lv *level) recursive(id int) *recursion {
	for l := lv; l != nil; l = l.outer {
		if l.rec != nil && l.rec.cte.ID == id {
			return l.rec
		}
	}
	return nil
}

// open builds a level and everything below it, and derives what it tells about its outputs on its own.
// rejected lists the outputs whose NULLs a condition above rejects.
func (j *judge) open(q *facts.Query, outer *level, rec *recursion, rejected ...int) *level {
	lv := &level{q: q, outer: outer, above: outer, rec: rec}
	if rec != nil {
		rec.level = lv
	}
	for i := range q.CTEs {
		w := &withQuery{cte: &q.CTEs[i], level: lv}
		if w.cte.Query.Write != nil || writesInside(w.cte.Query) {
			w.body = j.open(w.cte.Query, lv, nil)
		} else if w.cte.Uses == 0 {
			w.body = j.open(w.cte.Query, lv, selfRef(w.cte))
		}
		lv.ctes = append(lv.ctes, w)
	}
	if q.SetOp != nil {
		if rec != nil || limited(q) {
			rejected = nil
		}
		j.openArms(lv, rejected)
		return lv
	}
	if w := q.Write; w != nil {
		j.writes = append(j.writes, lv)
		j.openWrite(lv, w)
	}
	lv.root = &island{}
	strict := j.strictHere(q, rejected)
	for _, src := range q.From {
		j.addSources(lv, src, strict)
	}
	j.openSublinks(lv)
	j.plantJoins(lv, strict)
	j.deriveOwn(lv)
	return lv
}

// strictHere lists the columns of a level whose NULLs are rejected by its WHERE, or by a condition above on an output that is the column.
func (j *judge) strictHere(q *facts.Query, rejected []int) []strictColumn {
	var strict []strictColumn
	if q.Where != nil {
		strict = j.rejects(q.Where, false)
	}
	var windows []*facts.Expr
	if len(rejected) > 0 {
		windows = windowsOf(q)
	}
	for _, i := range rejected {
		if i < len(q.Outputs) && pushable(q, windows, i) {
			strict = append(strict, strictOn(q.Outputs[i].Expr)...)
		}
	}
	return strict
}

func selfRef(c *facts.CTE) *recursion {
	if c.SelfRef {
		return &recursion{cte: c}
	}
	return nil
}

func writesInside(q *facts.Query) bool {
	for i := range q.CTEs {
		if c := q.CTEs[i].Query; c.Write != nil || writesInside(c) {
			return true
		}
	}
	return false
}

func (j *judge) openWrite(lv *level, w *facts.Write) {
	if w.Op == "insert" {
		j.addLeaf(lv, w.Target, nil)
		lv.insts[len(lv.insts)-1].written = true
		if w.Conflict != nil {
			lv.add(&inst{src: &facts.Source{ID: w.Conflict.Excluded}, lv: lv, kind: instOther})
		}
		if w.Source != nil {
			lv.src = j.open(w.Source, lv, nil)
		}
	}
}

// openArms opens a set operation. In a recursive CTE the first arm is the seed: what its outputs are known to be, and the recursive term
// keeps, holds for every row by induction.
func (j *judge) openArms(lv *level, rejected []int) {
	op := lv.q.SetOp
	left := j.open(op.Left, lv, nil, rejected...)
	lv.arms = []*level{left, nil}
	if lv.rec == nil || !lv.rec.cte.SelfRef {
		lv.arms[1] = j.open(op.Right, lv, nil, rejected...)
	} else {
		lv.rec.outs = append([]output(nil), left.outs...)
		for {
			right := j.open(op.Right, lv, nil)
			lv.arms[1] = right
			if j.closed || keepInvariants(lv.rec.outs, right.outs) {
				break
			}
		}
	}
	right := lv.arms[1]
	lv.outs = make([]output, len(lv.q.Outputs))
	for i := range lv.outs {
		if i >= len(left.outs) || i >= len(right.outs) {
			continue
		}
		l, r := left.outs[i], right.outs[i]
		o := &lv.outs[i]
		switch op.Op {
		case "union":
			o.set, o.notNull = unite(l.set, r.set), l.notNull && r.notNull
			if lv.rec != nil && lv.rec.cte.SelfRef {
				o.set, o.notNull = lv.rec.outs[i].set, lv.rec.outs[i].notNull
			}
		case "intersect":
			o.set, o.notNull = intersect(l.set, r.set), l.notNull || r.notNull
		case "except":
			o.set, o.notNull = l.set, l.notNull
		}
	}
}

// keepInvariants drops what the recursive term does not keep, and reports whether nothing had to be dropped.
func keepInvariants(seed, step []output) bool {
	kept := true
	for i := range seed {
		s := &seed[i]
		if s.class = 0; i >= len(step) {
			*s = output{}
			continue
		}
		if s.set != nil && !within(step[i].set, s.set) {
			s.set, kept = nil, false
		}
		if s.notNull && !step[i].notNull {
			s.notNull, kept = false, false
		}
	}
	return kept
}

// addSources makes the occurrences of a join tree, left to right. strict are the columns whose NULLs are rejected where the tree stands.
func (j *judge) addSources(lv *level, src *facts.Source, strict []strictColumn) {
	if src == nil {
		return
	}
	if src.Kind != facts.FromJoin {
		j.addLeaf(lv, src, strict)
		return
	}
	jn := src.Join
	left, right := strict, strict
	var on []strictColumn
	if jn.On != nil {
		on = j.rejects(jn.On, false)
	}
	both := append(slices.Clone(strict), on...)
	switch jn.Kind {
	case facts.Inner:
		left, right = both, both
	case facts.Left: // rows of the nullable side that cannot match do not count
		right = both
	case facts.Right:
		left = both
	}
	j.addSources(lv, jn.Left, left)
	j.addSources(lv, jn.Right, right)
}

func (j *judge) addLeaf(lv *level, src *facts.Source, strict []strictColumn) {
	in := &inst{src: src, lv: lv}
	j.froms = append(j.froms, in)
	if j.insts++; j.insts > maxInstances {
		j.closed = true
		in.kind = instOther
		lv.add(in)
		return
	}
	switch src.Kind {
	case facts.FromTable:
		in.kind = instTable
		in.rel = j.p.cat.Relations[src.Table]
		in.table = j.p.cand.Table(src.Table)
		if w := lv.q.Write; w != nil && w.Target != nil && w.Target.ID == src.ID {
			in.written = true
		}
	case facts.FromQuery:
		in.kind = instQuery
		in.sub = j.open(src.Query, lv, nil, outputsOf(strict, src.ID)...)
	case facts.FromCTE:
		j.addReference(lv, in, outputsOf(strict, src.ID))
	case facts.FromFunction:
		in.kind = instFunction
	default:
		in.kind = instOther
		j.closed = true
	}
	lv.add(in)
}

// add makes an occurrence one of the level's.
func (lv *level) add(in *inst) {
	lv.insts = append(lv.insts, in)
	if lv.byID == nil {
		lv.byID = map[int]*inst{}
	}
	lv.byID[in.src.ID] = in
}

// local is the level's own occurrence of a source.
func (lv *level) local(source int) *inst { return lv.byID[source] }

// outputsOf lists the columns of a source that are in the list.
func outputsOf(strict []strictColumn, source int) []int {
	var cols []int
	for _, c := range strict {
		if c.source == source && c.col >= 0 {
			cols = append(cols, c.col)
		}
	}
	return cols
}

func (j *judge) addReference(lv *level, in *inst, rejected []int) {
	in.kind = instQuery
	if r := lv.recursive(in.src.CTE); r != nil {
		in.kind, in.rec = instSelf, r
		return
	}
	w := lv.with(in.src.CTE)
	switch {
	case w == nil:
		in.kind, j.closed = instOther, true
	case w.body != nil:
		in.sub, in.shared, in.body = w.body, true, true
	default:
		in.sub = j.open(w.cte.Query, w.level, selfRef(w.cte), rejected...)
		in.sub.above = lv
		if w.cte.Uses > 1 && !j.closed && j.volatileInside(in.sub) {
			in.shared = true
			j.seen.onceCTE = true
		}
	}
}
