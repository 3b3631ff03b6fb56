package resolve

import (
	"slices"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// join resolves a JOIN: its sides, USING and NATURAL, ON.
func (r *resolver) join(j *sqlast.JoinExpr, s *scope) (*facts.Source, []*item) {
	before := s.items
	defer func() { s.items = before }()
	left, litems := r.fromItem(j.GetLarg(), s)
	for _, i := range litems {
		i.lateralOnly = true
	}
	s.items = append(slices.Clip(before), litems...)
	right, ritems := r.fromItem(j.GetRarg(), s)
	r.clash(litems, ritems)
	for _, i := range litems {
		i.lateralOnly = false
	}
	f := &facts.Join{Left: left, Right: right}
	switch j.GetJointype() {
	case sqlast.JoinType_JOIN_INNER:
	case sqlast.JoinType_JOIN_LEFT:
		f.Kind = facts.Left
	case sqlast.JoinType_JOIN_RIGHT:
		f.Kind = facts.Right
	case sqlast.JoinType_JOIN_FULL:
		f.Kind = facts.Full
	default:
		r.problem("unsupported_syntax", -1, "a join is of an unknown kind")
	}
	src := r.newSource(&facts.Source{Kind: facts.FromJoin, Join: f, Alias: j.GetAlias().GetAliasname(), Pos: -1})
	lcols, rcols := visibleMembers(litems), visibleMembers(ritems)
	open := anyOpen(litems) || anyOpen(ritems)
	using := names(j.GetUsingClause())
	if j.GetIsNatural() {
		using = nil
		if open {
			r.problem("unknown_column", -1, "a NATURAL join has a side whose columns are not known")
		}
		for _, l := range lcols {
			if slices.ContainsFunc(rcols, func(m member) bool { return m.name == l.name }) {
				using = append(using, l.name)
			}
		}
	}
	merged := r.using(using, f, lcols, rcols, open)
	if j.GetQuals() != nil {
		s.items = append(slices.Clip(litems), ritems...)
		on := r.condition(j.GetQuals(), s, "JOIN/ON")
		f.On = and(f.On, on)
	}
	return src, r.joinItems(j, src, litems, ritems, merged, using, open)
}

func visibleMembers(items []*item) (out []member) {
	for _, i := range items {
		if i.colVisible {
			out = append(out, i.cols...)
		}
	}
	return out
}

func anyOpen(items []*item) bool {
	return slices.ContainsFunc(items, func(i *item) bool { return i.colVisible && i.open })
}

// using builds the equalities of USING and the merged columns.
func (r *resolver) using(cols []string, f *facts.Join, lcols, rcols []member, open bool) (out []member) {
	on := []*facts.Expr{f.On}
	for _, name := range cols {
		l, r1 := r.usingColumn(name, lcols, open), r.usingColumn(name, rcols, open)
		if l == nil || r1 == nil {
			continue
		}
		on = append(on, r.operator("=", []*facts.Expr{shift(l, 0), shift(r1, 0)}, -1))
		f.Merged = append(f.Merged, facts.Merged{Name: name, Left: l, Right: r1})
		var e *facts.Expr
		switch f.Kind {
		case facts.Right:
			e = shift(r1, 0)
		case facts.Full:
			args := []*facts.Expr{shift(l, 0), shift(r1, 0)}
			t := r.coerceAll(args)
			e = &facts.Expr{Op: facts.Merge, Args: args, Type: t}
		default:
			e = shift(l, 0)
		}
		out = append(out, member{name, e})
	}
	f.On = and(on...)
	return out
}

func (r *resolver) usingColumn(name string, cols []member, open bool) *facts.Expr {
	var found *facts.Expr
	for i := range cols {
		if cols[i].name == name {
			if found != nil {
				r.invalid("ambiguous_column", -1, "USING column %q is ambiguous", name)
				return nil
			}
			found = cols[i].expr
		}
	}
	if found == nil {
		if open {
			r.problem("unknown_column", -1, "USING column %q is not known", name)
		} else {
			r.invalid("unknown_column", -1, "USING column %q does not exist", name)
		}
	}
	return found
}

// joinItems gives the names a join leaves visible.
func (r *resolver) joinItems(j *sqlast.JoinExpr, src *facts.Source, litems, ritems []*item, merged []member, using []string, open bool) []*item {
	whole := &item{source: src, colVisible: true, open: open, cols: slices.Clone(merged)}
	for _, cols := range [][]member{visibleMembers(litems), visibleMembers(ritems)} {
		for _, m := range cols {
			if !slices.Contains(using, m.name) {
				whole.cols = append(whole.cols, m)
			}
		}
	}
	if a := j.GetAlias(); a != nil {
		whole.relVisible = true
		r.alias(whole, a)
		return []*item{whole}
	}
	out := []*item{whole}
	for _, i := range append(slices.Clip(litems), ritems...) {
		i.colVisible = false
		out = append(out, i)
	}
	if a := j.GetJoinUsingAlias(); a != nil {
		out = append(out, &item{name: a.GetAliasname(), source: src, relVisible: true, cols: merged})
	}
	return out
}

// and joins conditions into one flat And; nil is no condition.
func and(list ...*facts.Expr) *facts.Expr { return flat(facts.And, list) }

func flat(op facts.Op, list []*facts.Expr) *facts.Expr {
	var args []*facts.Expr
	for _, e := range list {
		switch {
		case e == nil:
		case e.Op == op:
			args = append(args, e.Args...)
		default:
			args = append(args, e)
		}
	}
	switch len(args) {
	case 0:
		return nil
	case 1:
		return args[0]
	}
	return &facts.Expr{Op: op, Args: args, Type: "bool", Pos: args[0].Pos}
}
