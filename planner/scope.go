package planner

import (
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
)

// A term is a column of one occurrence, or a merged column of a FULL join, whose type is of a key family. Terms are what equalities hold
// between; columns of other types and expressions bind nothing and are no terms.
type termID int32

const noTerm termID = -1

type term struct {
	inst   *inst
	col    int
	left   termID // merged column: both sides
	right  termID
	merged bool
	class  layout.KeyClass
}

// scope holds the facts that are true of every row (combination of rows) that can still matter at one place of the statement: which terms are
// equal, which keys a class of equal terms can have, and whether there can be a row at all. Rows that break a fact can be removed from
// their tables without a change of the result; that is what makes routing by the facts right.
type scope struct {
	parent []termID  // union-find over the judge's terms
	set    []*keyset // of roots
	never  bool      // no row
	rule   string
}

func (s *scope) clone() *scope {
	return &scope{parent: append([]termID(nil), s.parent...), set: append([]*keyset(nil), s.set...), never: s.never}
}

func (s *scope) find(t termID) termID {
	if int(t) >= len(s.parent) {
		return t
	}
	for s.parent[t] != t {
		t = s.parent[t]
	}
	return t
}

func (s *scope) grow(t termID) {
	for len(s.parent) <= int(t) {
		s.parent = append(s.parent, termID(len(s.parent)))
		s.set = append(s.set, nil)
	}
}

// keys returns the values a term can have, nil for all.
func (s *scope) keys(t termID) *keyset {
	if s.never {
		return emptySet
	}
	if t == noTerm || int(t) >= len(s.parent) {
		return nil
	}
	return s.set[s.find(t)]
}

// restrict says that the term is one of the keys.
func (s *scope) restrict(t termID, set *keyset) {
	if set == nil {
		return
	}
	s.grow(t)
	r := s.find(t)
	s.set[r] = intersect(s.set[r], set)
	if len(s.set[r].keys) == 0 {
		s.never = true
	}
}

// equate says that two terms are equal, and so neither is NULL.
func (s *scope) equate(a, b termID) {
	s.grow(max(a, b))
	ra, rb := s.find(a), s.find(b)
	if ra == rb {
		return
	}
	s.parent[rb] = ra
	s.restrict(ra, s.set[rb])
}

// same tells whether two terms are surely equal where both are not NULL: one class, or one value.
func (s *scope) same(a, b termID) bool {
	if a == noTerm || b == noTerm {
		return false
	}
	if s.find(a) == s.find(b) {
		return true
	}
	ka, kb := s.keys(a), s.keys(b)
	return ka.single() && kb.single() && ka.keys[0].same(&kb.keys[0])
}

// term interns a column of an occurrence; noTerm if it can carry no key.
func (j *judge) term(in *inst, col int) termID {
	if t, ok := in.terms[col]; ok {
		return t
	}
	class := j.columnClass(in, col)
	if class == layout.NoKey {
		return noTerm
	}
	t := termID(len(j.terms))
	j.terms = append(j.terms, term{inst: in, col: col, class: class})
	if in.terms == nil {
		in.terms = map[int]termID{}
	}
	in.terms[col] = t
	return t
}

// columnClass is the key family of a column, NoKey for other types and for collations under which equal texts differ in bytes.
func (j *judge) columnClass(in *inst, col int) layout.KeyClass {
	switch {
	case in.rel != nil:
		if col < 0 || col >= len(in.rel.Columns) {
			return layout.NoKey
		}
		c := &in.rel.Columns[col]
		if c.NonDeterministic || !columnCollation(c.Collation) {
			return layout.NoKey
		}
		return layout.ClassOf(j.baseType(c.Type))
	case in.sub != nil:
		return j.outputClass(in.sub, col)
	case in.rec != nil && in.rec.level != nil && len(in.rec.level.arms) > 0:
		return j.outputClass(in.rec.level.arms[0], col) // the seed decides types and collations
	}
	return layout.NoKey
}

// outputClass is the key family of a query's output column.
func (j *judge) outputClass(lv *level, col int) layout.KeyClass {
	if col < 0 || col >= len(lv.q.Outputs) {
		return layout.NoKey
	}
	e := lv.q.Outputs[col].Expr
	class := layout.ClassOf(j.baseType(e.Type))
	if class == layout.TextKey && !j.bytewise(lv, e) {
		return layout.NoKey
	}
	return class
}

// bytewise tells whether the texts an expression gives compare by their bytes: nothing in it has a collation that makes other texts equal.
func (j *judge) bytewise(lv *level, e *facts.Expr) bool {
	if e == nil {
		return true
	}
	switch e.Op {
	case facts.Column:
		if e.Source == facts.OwnResult {
			for _, arm := range lv.arms {
				if arm != nil && e.Col < len(arm.q.Outputs) && !j.bytewise(arm, arm.q.Outputs[e.Col].Expr) {
					return false
				}
			}
			return true
		}
		in := lv.lookup(e.Source)
		return in != nil && (in.kind == instFunction || layout.ClassOf(j.baseType(e.Type)) != layout.TextKey || j.columnClass(in, e.Col) != layout.NoKey)
	case facts.Collate:
		return deterministic(e.Name)
	case facts.Sublink:
		return e.Query == nil || len(e.Query.Outputs) == 0 || layout.ClassOf(e.Type) != layout.TextKey
	}
	for _, a := range e.Args {
		if !j.bytewise(lv, a) {
			return false
		}
	}
	return true
}

func columnCollation(name string) bool { return name == "" || deterministic(name) }

func (j *judge) baseType(t string) string { return baseType(j.p.cat, t) }

// baseType follows domains of the schema.
func baseType(cat *catalog.Catalog, t string) string {
	for range 16 {
		d := cat.Types[t]
		if d == nil || d.Kind != 'd' {
			return t
		}
		t = d.Base
	}
	return ""
}

// mergedTerm is COALESCE(l, r) of a USING column of a FULL join.
func (j *judge) mergedTerm(l, r termID) termID {
	if l == noTerm || r == noTerm || j.terms[l].class != j.terms[r].class {
		return noTerm
	}
	if t, ok := j.merged[[2]termID{l, r}]; ok {
		return t
	}
	if j.merged == nil {
		j.merged = map[[2]termID]termID{}
	}
	t := termID(len(j.terms))
	j.merged[[2]termID{l, r}] = t
	j.terms = append(j.terms, term{left: l, right: r, merged: true, class: j.terms[l].class})
	return t
}

// termOf returns the term that an expression is, after casts that keep equality and hash; noTerm for anything computed.
func (j *judge) termOf(lv *level, e *facts.Expr) termID {
	for e != nil {
		switch e.Op {
		case facts.Column:
			if e.System || e.Source < 0 {
				return noTerm
			}
			in := lv.lookup(e.Source)
			if in == nil {
				return noTerm
			}
			return j.term(in, e.Col)
		case facts.Merge:
			if len(e.Args) != 2 {
				return noTerm
			}
			return j.mergedTerm(j.termOf(lv, e.Args[0]), j.termOf(lv, e.Args[1]))
		case facts.Collate:
			if !deterministic(e.Name) {
				return noTerm
			}
			e = e.Args[0]
		case facts.Cast:
			if !relabel(e) {
				return noTerm
			}
			e = e.Args[0]
		default:
			return noTerm
		}
	}
	return noTerm
}

// relabel tells a cast that keeps the value and its hash: one that changes the type's name only, or widens an integer.
func relabel(e *facts.Expr) bool {
	from, to := e.Args[0].Type, e.Type
	if e.Text != "" {
		return false
	}
	switch to {
	case "int4":
		return from == "int2" || from == to
	case "int8":
		return from == "int2" || from == "int4" || from == to
	}
	return from == to || layout.ClassOf(from) == layout.TextKey && layout.ClassOf(to) == layout.TextKey
}
