package resolve

import (
	"reflect"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// maxGroupingSets bounds CUBE, whose sets double with every column.
const maxGroupingSets = 1024

// position tells an integer that ORDER BY, GROUP BY or DISTINCT ON takes for a position in the target list.
func position(n *sqlast.Node) (int, bool) {
	c := n.GetAConst()
	if c == nil || c.GetIsnull() {
		return 0, false
	}
	if v, ok := c.GetVal().(*sqlast.A_Const_Ival); ok {
		return int(v.Ival.GetIval()), true
	}
	return 0, false
}

// listed resolves an item of ORDER BY, GROUP BY or DISTINCT ON: a position, an output name, or an expression. GROUP BY prefers a column
// of FROM to an output of the same name, the others do not.
func (r *resolver) listed(n *sqlast.Node, s *scope, groupBy bool) *facts.Expr {
	if p, ok := position(n); ok {
		if p < 1 || p > len(s.outputs) {
			for _, o := range s.outputs {
				if o.Expr.Op == facts.Opaque && o.Expr.Name == "star" {
					return r.opaque("position", -1)
				}
			}
			r.invalid("invalid_statement", int(n.GetAConst().GetLocation()), "position %d is not in the target list", p)
			return r.opaque("position", -1)
		}
		return s.outputs[p-1].Expr
	}
	if c := n.GetColumnRef(); c != nil && len(c.GetFields()) == 1 && !isStar(c) {
		name := names(c.GetFields())[0]
		pos := r.pos(int(c.GetLocation()))
		if groupBy {
			local := &scope{items: s.items, lateral: s.lateral}
			if m, _, amb, _ := local.find(name); m != nil && !amb {
				return m.at(0, pos)
			}
		}
		if e, ok := r.outputNamed(name, s, pos); ok {
			return e
		}
	}
	return r.settle(r.expr(n, s))
}

func (r *resolver) outputNamed(name string, s *scope, pos int) (*facts.Expr, bool) {
	var found *facts.Expr
	for _, o := range s.outputs {
		if o.Name != name {
			continue
		}
		if found != nil && !sameExpr(found, o.Expr) {
			r.invalid("ambiguous_column", pos, "%q names several outputs", name)
		}
		found = o.Expr
	}
	return found, found != nil
}

// sameExpr compares two expressions, positions aside.
func sameExpr(a, b *facts.Expr) bool {
	if a == nil || b == nil || a.Op != b.Op || len(a.Args) != len(b.Args) {
		return a == b
	}
	x, y := *a, *b
	x.Pos, y.Pos, x.Args, y.Args = 0, 0, nil, nil
	if !reflect.DeepEqual(&x, &y) {
		return false
	}
	for i := range a.Args {
		if !sameExpr(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

// sortKeys resolves ORDER BY. named allows positions and output names.
func (r *resolver) sortKeys(list []*sqlast.Node, s *scope, named bool) []facts.SortKey {
	var out []facts.SortKey
	for _, n := range list {
		b := n.GetSortBy()
		k := facts.SortKey{Desc: b.GetSortbyDir() == sqlast.SortByDir_SORTBY_DESC}
		if b.GetSortbyDir() == sqlast.SortByDir_SORTBY_USING {
			switch op := names(b.GetUseOp()); {
			case len(op) == 1 && op[0] == ">":
				k.Desc = true
			case len(op) == 1 && op[0] == "<":
			default:
				r.problem("unsupported_syntax", int(b.GetLocation()), "ORDER BY USING an operator")
			}
		}
		k.NullsFirst = k.Desc
		switch b.GetSortbyNulls() {
		case sqlast.SortByNulls_SORTBY_NULLS_FIRST:
			k.NullsFirst = true
		case sqlast.SortByNulls_SORTBY_NULLS_LAST:
			k.NullsFirst = false
		}
		if named {
			k.Expr = r.listed(b.GetNode(), s, false)
		} else {
			k.Expr = r.settle(r.expr(b.GetNode(), s))
		}
		out = append(out, k)
	}
	return out
}

// distinct resolves DISTINCT and DISTINCT ON.
func (r *resolver) distinct(st *sqlast.SelectStmt, s *scope) {
	list := st.GetDistinctClause()
	if len(list) == 0 {
		return
	}
	q := s.query
	q.Distinct = facts.DistinctAll
	for _, n := range list {
		if n.GetNode() == nil {
			continue
		}
		q.Distinct = facts.DistinctOn
		q.On = append(q.On, r.listed(n, s, false))
	}
}

// group resolves GROUP BY into grouping sets.
func (r *resolver) group(st *sqlast.SelectStmt, s *scope) {
	list := st.GetGroupClause()
	if len(list) == 0 {
		return
	}
	sets := [][]*facts.Expr{nil}
	before := s.noAgg
	s.noAgg = "GROUP BY"
	for _, n := range list {
		sets = r.cross(sets, r.groupItem(n, s))
	}
	s.noAgg = before
	if st.GetGroupDistinct() {
		sets = dedupe(sets)
	}
	s.query.Group = sets
}

// groupItem gives the sets of one GROUP BY item.
func (r *resolver) groupItem(n *sqlast.Node, s *scope) [][]*facts.Expr {
	g := n.GetGroupingSet()
	if g == nil {
		return [][]*facts.Expr{r.groupList(n, s)}
	}
	var parts [][]*facts.Expr
	if g.GetKind() != sqlast.GroupingSetKind_GROUPING_SET_SETS {
		for _, c := range g.GetContent() {
			parts = append(parts, r.groupList(c, s))
		}
	}
	switch g.GetKind() {
	case sqlast.GroupingSetKind_GROUPING_SET_EMPTY:
		return [][]*facts.Expr{nil}
	case sqlast.GroupingSetKind_GROUPING_SET_ROLLUP:
		var out [][]*facts.Expr
		for i := len(parts); i >= 0; i-- {
			out = append(out, concat(parts[:i]))
		}
		return out
	case sqlast.GroupingSetKind_GROUPING_SET_CUBE:
		if len(parts) > 10 {
			r.problem("unsupported_syntax", int(g.GetLocation()), "CUBE of more than 10 columns")
			return parts
		}
		var out [][]*facts.Expr
		for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
			var set []*facts.Expr
			for i, p := range parts {
				if mask&(1<<(len(parts)-1-i)) != 0 {
					set = append(set, p...)
				}
			}
			out = append(out, set)
		}
		return out
	case sqlast.GroupingSetKind_GROUPING_SET_SETS:
		var out [][]*facts.Expr
		for _, c := range g.GetContent() {
			out = append(out, r.groupItem(c, s)...)
		}
		return out
	}
	r.problem("unsupported_syntax", int(g.GetLocation()), "a grouping set is of an unknown kind")
	return parts
}

// groupList resolves a column or a parenthesised list of columns.
func (r *resolver) groupList(n *sqlast.Node, s *scope) []*facts.Expr {
	if row := n.GetRowExpr(); row != nil && row.GetRowFormat() == sqlast.CoercionForm_COERCE_IMPLICIT_CAST {
		var out []*facts.Expr
		for _, a := range row.GetArgs() {
			out = append(out, r.listed(a, s, true))
		}
		return out
	}
	if g := n.GetGroupingSet(); g != nil {
		return concat(r.groupItem(n, s))
	}
	return []*facts.Expr{r.listed(n, s, true)}
}

func concat(lists [][]*facts.Expr) []*facts.Expr {
	var out []*facts.Expr
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func (r *resolver) cross(a, b [][]*facts.Expr) [][]*facts.Expr {
	if len(a)*len(b) > maxGroupingSets {
		r.problem("unsupported_syntax", -1, "GROUP BY has more than %d grouping sets", maxGroupingSets)
		return a
	}
	var out [][]*facts.Expr
	for _, x := range a {
		for _, y := range b {
			out = append(out, concat([][]*facts.Expr{x, y}))
		}
	}
	return out
}

func dedupe(sets [][]*facts.Expr) [][]*facts.Expr {
	var out [][]*facts.Expr
next:
	for _, s := range sets {
		for _, o := range out {
			if sameExpr(&facts.Expr{Args: s}, &facts.Expr{Args: o}) {
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}

// window is a resolved window definition.
type window struct {
	partition []*facts.Expr
	order     []facts.SortKey
	frame     []*facts.Expr
}

// defineWindows resolves a WINDOW clause; later definitions may build on earlier ones.
func (r *resolver) defineWindows(list []*sqlast.Node, s *scope) {
	if len(list) == 0 {
		return
	}
	s.windows = map[string]*window{}
	for _, n := range list {
		d := n.GetWindowDef()
		if s.windows[d.GetName()] != nil {
			r.invalid("invalid_statement", int(d.GetLocation()), "window %q is defined twice", d.GetName())
		}
		s.windows[d.GetName()] = r.windowSpec(d, s, d.GetRefname())
	}
}

// overClause resolves OVER name, OVER (...).
func (r *resolver) overClause(d *sqlast.WindowDef, s *scope) *window {
	if d.GetName() != "" {
		if w := s.windows[d.GetName()]; w != nil {
			return w
		}
		r.invalid("invalid_statement", int(d.GetLocation()), "window %q does not exist", d.GetName())
		return &window{}
	}
	return r.windowSpec(d, s, d.GetRefname())
}

func (r *resolver) windowSpec(d *sqlast.WindowDef, s *scope, base string) *window {
	w := &window{}
	if base != "" {
		b := s.windows[base]
		if b == nil {
			r.invalid("invalid_statement", int(d.GetLocation()), "window %q does not exist", base)
			b = &window{}
		}
		w.partition, w.order = b.partition, b.order
	}
	for _, p := range d.GetPartitionClause() {
		w.partition = append(w.partition, r.settle(r.expr(p, s)))
	}
	if len(d.GetOrderClause()) > 0 {
		w.order = r.sortKeys(d.GetOrderClause(), s, false)
	}
	for _, n := range []*sqlast.Node{d.GetStartOffset(), d.GetEndOffset()} {
		if n != nil {
			w.frame = append(w.frame, r.settle(r.expr(n, s)))
		}
	}
	return w
}
