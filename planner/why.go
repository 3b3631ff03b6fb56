package planner

import (
	"slices"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
)

// evaluatedOnce tells whether a volatile function stands where PostgreSQL evaluates it once for the whole statement, while each shard would
// do so on its own.
func (j *judge) evaluatedOnce(top *level) bool {
	if j.seen.onceCTE {
		j.noteTable(reason.CTEFence, -1, top)
		return true
	}
	if !j.seen.volatile {
		return false
	}
	for _, s := range j.sublinks {
		if !correlated(s.expr.Query) && j.volatileInside(s.lv) {
			j.note(reason.Volatile, s.expr.Pos, reason.Args{})
			return true
		}
	}
	once := false
	for _, in := range j.froms {
		switch {
		case in.kind == instFunction && !in.src.Lateral:
			for _, f := range in.src.Funcs {
				once = once || j.volatileExpr(f)
			}
		case in.kind == instQuery && in.sub != nil && !(in.src.Lateral && correlated(in.sub.q)) && !j.holdsSharded(in.sub):
			once = once || j.volatileInside(in.sub)
		}
	}
	return once
}

// explainKeys says for each occurrence how its key is bound, or what stands in the way.
func (j *judge) explainKeys(top *level, class Class) {
	switch class {
	case Invalid, Reject:
		return
	}
	for _, o := range j.occ {
		if o.scope == nil {
			continue
		}
		args := j.argsOf(o.in)
		switch {
		case o.set == nil:
			code, pos := j.whyUnbound(o)
			j.note(code, pos, args)
		case len(o.set.keys) == 0:
			j.note(j.whyEmpty(o), o.in.src.Pos, args)
		case o.in.written && o.lv.q.Write != nil && o.lv.q.Write.Op == "insert":
			if len(o.set.keys) == 1 {
				j.note(reason.KeyEq, o.in.src.Pos, args)
			}
		case o.set.single():
			code := reason.KeyEq
			switch {
			case o.set.keys[0].from == fromExpr:
				code = reason.KeyConstFold
			case o.set.keys[0].from == fromGenerated:
				continue
			}
			if !j.comparesKey(o) {
				code = reason.KeyTransitive
			}
			j.note(code, o.in.src.Pos, args)
		case o.set.or:
			j.note(reason.KeyOr, o.in.src.Pos, args)
		default:
			j.note(reason.KeyIn, o.in.src.Pos, args)
		}
	}
}

// whyEmpty says why no row can qualify.
func (j *judge) whyEmpty(o *occurrence) reason.Code {
	if o.lv.q.Where != nil {
		if t, err := j.truth(o.lv.q.Where); err == nil && t != unsettled {
			return reason.ConstantFalse
		}
	}
	if o.scope.rule == "null" {
		return reason.KeyNull
	}
	null := false
	j.eachKeyCondition(o, func(e *facts.Expr, _ bool) {
		walkExpr(e, func(x *facts.Expr) { null = null || isNullConst(x) })
		null = null || e.Op == facts.NullTest
	})
	if null {
		return reason.KeyNull
	}
	return reason.KeyContradiction
}

// comparesKey tells whether the occurrence's own key stands in a comparison with a value.
func (j *judge) comparesKey(o *occurrence) bool {
	direct := false
	j.eachKeyCondition(o, func(e *facts.Expr, _ bool) {
		columns := 0
		walkExpr(e, func(x *facts.Expr) {
			if x.Op == facts.Column || x.Op == facts.Sublink {
				columns++
			}
		})
		direct = direct || columns == 1 || e.Op == facts.Compare && e.Args[0].Op == facts.Row
	})
	return direct
}

// eachKeyCondition calls f for each condition of the occurrence's level that mentions its key, with whether it is negated: AND, OR and NOT
// are looked through.
func (j *judge) eachKeyCondition(o *occurrence, f func(e *facts.Expr, negated bool)) {
	col := o.in.keyColumn()
	var visit func(e *facts.Expr, negated bool)
	visit = func(e *facts.Expr, negated bool) {
		switch e.Op {
		case facts.And, facts.Or:
			for _, a := range e.Args {
				visit(a, negated)
			}
			return
		case facts.Not:
			visit(e.Args[0], !negated)
			return
		}
		found := false
		walkExpr(e, func(x *facts.Expr) {
			found = found || x.Op == facts.Column && x.Source == o.in.src.ID && x.Col == col && !x.System
		})
		if found {
			f(e, negated)
		}
	}
	for l := o.lv; l != nil; l = l.outer {
		if l.q.Where != nil {
			visit(l.q.Where, false)
		}
		for _, src := range l.q.From {
			eachFromExpr(src, func(e *facts.Expr, p place) {
				if p.clause == inOn {
					visit(e, false)
				}
			})
		}
		if l.q.Write != nil && l.q.Write.On != nil {
			visit(l.q.Write.On, false)
		}
	}
}

// whyUnbound names the most telling condition on a key that does not bind it.
func (j *judge) whyUnbound(o *occurrence) (reason.Code, int) {
	best, pos := reason.KeyMissing, o.in.src.Pos
	rank := func(c reason.Code) int {
		return slices.Index([]reason.Code{reason.KeyMissing, reason.KeyExpr, reason.KeyRange, reason.KeyPattern, reason.KeyNegated, reason.KeyOr,
			reason.KeyCastUnsafe, reason.KeyStable, reason.KeyVolatile}, c)
	}
	or := map[*facts.Expr]bool{}
	if o.lv.q.Where != nil {
		walkExpr(o.lv.q.Where, func(x *facts.Expr) {
			if x.Op == facts.Or {
				for _, a := range x.Args {
					or[a] = true
				}
			}
		})
	}
	j.eachKeyCondition(o, func(e *facts.Expr, negated bool) {
		code := j.conditionKind(o, e, negated)
		if code == reason.KeyEq && or[e] {
			code = reason.KeyOr
		}
		if rank(code) > rank(best) {
			best, pos = code, e.Pos
		}
	})
	if pos < 0 {
		pos = o.in.src.Pos
	}
	return best, pos
}

// conditionKind says what a condition on a key is, seen from routing.
func (j *judge) conditionKind(o *occurrence, e *facts.Expr, negated bool) reason.Code {
	switch e.Op {
	case facts.Compare:
		switch e.Name {
		case "=":
			if negated {
				return reason.KeyNegated
			}
			return j.equalityKind(o, e)
		case "<>":
			if !negated {
				return reason.KeyNegated
			}
			return j.equalityKind(o, e)
		case "<", "<=", ">", ">=":
			return reason.KeyRange
		}
		return reason.KeyPattern
	case facts.In, facts.AnyArray:
		if e.All && e.Name == "=" {
			return reason.KeyExpr
		}
		if e.Negated != negated || e.All || e.Op == facts.AnyArray && e.Name != "=" {
			return reason.KeyNegated
		}
		return j.equalityKind(o, e)
	case facts.Sublink, facts.NullTest:
		return reason.KeyMissing
	}
	return reason.KeyExpr
}

// equalityKind says why an equality on the key does not bind it.
func (j *judge) equalityKind(o *occurrence, e *facts.Expr) reason.Code {
	code := reason.KeyEq
	key := -1
	for i, a := range e.Args {
		walkExpr(a, func(x *facts.Expr) {
			if x.Op == facts.Column && x.Source == o.in.src.ID && x.Col == o.in.keyColumn() {
				key = i
			}
		})
	}
	for i, a := range e.Args {
		if i == key {
			if a.Op == facts.Cast {
				code = reason.KeyCastUnsafe
			} else if a.Op != facts.Column {
				code = reason.KeyExpr
			}
			continue
		}
		walkExpr(a, func(x *facts.Expr) {
			switch {
			case x.Volatility == facts.Volatile:
				code = reason.KeyVolatile
			case x.Volatility == facts.Stable && code != reason.KeyVolatile:
				code = reason.KeyStable
			}
		})
	}
	if code == reason.KeyEq {
		for i, a := range e.Args {
			if i != key && a.Op == facts.Column {
				return reason.KeyMissing
			}
		}
	}
	return code
}

// noteSingle says how several occurrences come to be on one shard.
func (j *judge) noteSingle(top *level) {
	var first *occurrence
	for _, o := range j.occ {
		if o.scope == nil || o.set == nil || len(o.set.keys) == 0 {
			continue
		}
		if first == nil {
			first = o
			continue
		}
		a, b := j.term(first.in, first.in.keyColumn()), j.term(o.in, o.in.keyColumn())
		if a == noTerm || b == noTerm {
			continue
		}
		code := reason.PinnedJoin
		if o.scope.find(a) == o.scope.find(b) || first.scope.find(a) == first.scope.find(b) {
			code = reason.ColocatedJoin
		}
		j.note(code, o.in.src.Pos, reason.Args{Table: first.in.src.Table, Other: o.in.src.Table})
	}
	if j.seen.reference && first != nil {
		j.note(reason.ReferenceJoin, first.in.src.Pos, reason.Args{Table: first.in.src.Table, Other: j.seen.refTable})
	}
}

// bindings lists what restricts each occurrence.
func (j *judge) bindings() []Binding {
	out := []Binding{}
	for _, o := range j.occ {
		if o.set == nil || len(o.set.keys) == 0 {
			continue
		}
		b := Binding{Table: o.in.src.Table, Column: o.in.table.Column, Colo: o.in.table.Colo.Name, Source: bindingSource(o.set)}
		bare := true
		for i := range o.set.keys {
			k := &o.set.keys[i]
			if k.list && k.values != nil {
				for _, v := range k.values {
					b.Values = append(b.Values, v.String())
				}
			} else {
				b.Values = append(b.Values, k.text())
			}
			bare = bare && k.slot > 0 && k.from != fromExpr
		}
		if bare {
			seen := map[int]bool{}
			for i := range o.set.keys {
				if s := o.set.keys[i].slot; !seen[s] {
					seen[s] = true
					b.Slots = append(b.Slots, s)
				}
			}
		}
		if !slices.ContainsFunc(out, func(x Binding) bool { return x.Table == b.Table && slices.Equal(x.Values, b.Values) }) {
			out = append(out, b)
		}
	}
	return out
}

func bindingSource(s *keyset) string {
	k := &s.keys[0]
	switch {
	case len(s.keys) > 1:
		return "list"
	case k.list && k.from == fromParam:
		return "param_array"
	case k.list:
		return "list"
	}
	switch k.from {
	case fromParam:
		return "param"
	case fromExpr:
		return "expr"
	case fromGenerated:
		return "generated"
	}
	return "const"
}
