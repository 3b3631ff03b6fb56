package planner

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
)

// ValueSlot is a template slot whose bare value can be the value of a column: compared for equality with it, in a list of such values, or
// inserted or assigned into it.
type ValueSlot struct {
	Slot   int
	Table  string // catalog key
	Column string
	Type   string // canonical type of the column
	List   bool   // the slot stands for two or more values
}

// ValueSlots lists the slots that can hold a value of a column that could be a shard key under some candidate, sorted by slot, table and
// column. It needs no candidate, and holds every slot that Binding.Slots names under any: equalities are followed through joins, derived
// tables, WITH queries and set operations without a look at where they hold.
func ValueSlots(st *facts.Statement, cat *catalog.Catalog) []ValueSlot {
	g := &valueGraph{cat: cat, sources: map[int]*facts.Source{}, ctes: map[int]*facts.Query{}, id: map[valueNode]int{}}
	walkQuery(st.Query, g.collect)
	walkQuery(st.Query, g.query)
	return g.slots()
}

// valueNode is a column of a table, or a slot.
type valueNode struct {
	table  string
	column int
	slot   int
	list   bool
}

// valueGraph joins columns and slots that an equality puts together, whatever occurrence they belong to.
type valueGraph struct {
	cat     *catalog.Catalog
	sources map[int]*facts.Source
	ctes    map[int]*facts.Query
	id      map[valueNode]int
	nodes   []valueNode
	parent  []int
}

func (g *valueGraph) node(n valueNode) int {
	if i, ok := g.id[n]; ok {
		return i
	}
	i := len(g.nodes)
	g.id[n] = i
	g.nodes = append(g.nodes, n)
	g.parent = append(g.parent, i)
	return i
}

func (g *valueGraph) find(i int) int {
	for g.parent[i] != i {
		i = g.parent[i]
	}
	return i
}

func (g *valueGraph) join(lists ...[]int) {
	first := -1
	for _, list := range lists {
		for _, i := range list {
			if first < 0 {
				first = i
				continue
			}
			g.parent[g.find(i)] = g.find(first)
		}
	}
}

// collect notes where each source comes from.
func (g *valueGraph) collect(q *facts.Query) {
	for i := range q.CTEs {
		g.ctes[q.CTEs[i].ID] = q.CTEs[i].Query
	}
	for _, src := range q.From {
		walkSource(src, func(s *facts.Source) { g.sources[s.ID] = s })
	}
	if w := q.Write; w != nil && w.Target != nil {
		g.sources[w.Target.ID] = w.Target
		if w.Conflict != nil && w.Conflict.Excluded >= 0 {
			g.sources[w.Conflict.Excluded] = w.Target
		}
	}
}

// maxTrace bounds the way from an expression to the columns and slots it can be.
const maxTrace = 64

// trace lists the columns and slots whose bare value an expression can be.
func (g *valueGraph) trace(q *facts.Query, e *facts.Expr, depth int) []int {
	if e == nil || depth > maxTrace {
		return nil
	}
	switch e.Op {
	case facts.Slot:
		return []int{g.node(valueNode{slot: e.Slot, list: e.List})}
	case facts.Column:
		if e.System {
			return nil
		}
		return g.traceColumn(q, e, depth)
	case facts.Cast, facts.Collate:
		return g.trace(q, e.Args[0], depth+1)
	case facts.Merge, facts.Array:
		var all []int
		for _, a := range e.Args {
			all = append(all, g.trace(q, a, depth+1)...)
		}
		return all
	case facts.Sublink:
		if e.Sub != facts.SubScalar && e.Sub != facts.SubArray {
			return nil
		}
		return g.output(e.Query, 0, depth+1)
	case facts.Opaque:
		if e.Name == "row_column" && len(e.Args) == 1 && e.Args[0].Query != nil {
			return g.output(e.Args[0].Query, e.Col, depth+1)
		}
	}
	return nil
}

func (g *valueGraph) traceColumn(q *facts.Query, e *facts.Expr, depth int) []int {
	if e.Source == facts.OwnResult {
		return g.output(q, e.Col, depth+1)
	}
	s := g.sources[e.Source]
	if s == nil {
		return nil
	}
	switch s.Kind {
	case facts.FromTable:
		return []int{g.node(valueNode{table: s.Table, column: e.Col})}
	case facts.FromQuery:
		return g.output(s.Query, e.Col, depth+1)
	case facts.FromCTE:
		return g.output(g.ctes[s.CTE], e.Col, depth+1)
	}
	return nil
}

// output traces an output column of a query.
func (g *valueGraph) output(q *facts.Query, col, depth int) []int {
	if q == nil || col < 0 || depth > maxTrace {
		return nil
	}
	switch {
	case q.SetOp != nil:
		return append(g.output(q.SetOp.Left, col, depth+1), g.output(q.SetOp.Right, col, depth+1)...)
	case len(q.Values) > 0:
		var all []int
		for _, row := range q.Values {
			if col < len(row) {
				all = append(all, g.trace(q, row[col], depth+1)...)
			}
		}
		return all
	case col < len(q.Outputs):
		return g.trace(q, q.Outputs[col].Expr, depth+1)
	}
	return nil
}

// query adds the equalities of one level.
func (g *valueGraph) query(q *facts.Query) {
	eachExpr(q, func(e *facts.Expr, _ place) {
		walkExpr(e, func(x *facts.Expr) { g.condition(q, x) })
	})
	for _, src := range q.From {
		g.merged(q, src)
	}
	if q.SetOp != nil {
		for i := range q.Outputs {
			g.join(g.output(q, i, 0))
		}
	}
	if q.Write != nil {
		g.write(q, q.Write)
	}
}

func (g *valueGraph) merged(q *facts.Query, src *facts.Source) {
	if src == nil || src.Kind != facts.FromJoin {
		return
	}
	for _, m := range src.Join.Merged {
		g.join(g.trace(q, m.Left, 0), g.trace(q, m.Right, 0))
	}
	g.merged(q, src.Join.Left)
	g.merged(q, src.Join.Right)
}

func (g *valueGraph) condition(q *facts.Query, e *facts.Expr) {
	switch e.Op {
	case facts.Compare, facts.NotSame, facts.AnyArray:
		if len(e.Args) == 2 {
			g.equal(q, e.Args[0], e.Args[1])
		}
	case facts.In:
		for _, a := range e.Args[1:] {
			g.equal(q, e.Args[0], a)
		}
	case facts.Sublink:
		if e.Sub != facts.SubAny && e.Sub != facts.SubAll || len(e.Args) == 0 {
			return
		}
		tests := []*facts.Expr{e.Args[0]}
		if e.Args[0].Op == facts.Row {
			tests = e.Args[0].Args
		}
		for i, t := range tests {
			g.join(g.trace(q, t, 0), g.output(e.Query, i, 0))
		}
	}
}

func (g *valueGraph) equal(q *facts.Query, a, b *facts.Expr) {
	if a.Op == facts.Row && b.Op == facts.Row {
		for i := 0; i < len(a.Args) && i < len(b.Args); i++ {
			g.equal(q, a.Args[i], b.Args[i])
		}
		return
	}
	if a.Op == facts.Row && b.Op == facts.Sublink {
		for i, x := range a.Args {
			g.join(g.trace(q, x, 0), g.output(b.Query, i, 0))
		}
		return
	}
	g.join(g.trace(q, a, 0), g.trace(q, b, 0))
}

func (g *valueGraph) write(q *facts.Query, w *facts.Write) {
	into := func(column string) []int {
		rel := g.cat.Relations[w.Target.Table]
		if rel == nil || rel.Column(column) < 0 {
			return nil
		}
		return []int{g.node(valueNode{table: w.Target.Table, column: rel.Column(column)})}
	}
	for i, c := range w.Columns {
		if w.Source != nil {
			g.join(into(c), g.output(w.Source, i, 0))
		}
	}
	sets := slices.Clone(w.Set)
	if w.Conflict != nil {
		sets = append(sets, w.Conflict.Set...)
	}
	for i := range w.Actions {
		a := &w.Actions[i]
		sets = append(sets, a.Set...)
		for k, v := range a.Values {
			if k < len(a.Columns) {
				g.join(into(a.Columns[k]), g.trace(q, v, 0))
			}
		}
	}
	for i := range sets {
		g.join(into(sets[i].Column), g.trace(q, sets[i].Value, 0))
	}
}

// slots pairs the slots and columns that are joined, as far as the column's type can be a key.
func (g *valueGraph) slots() []ValueSlot {
	out := []ValueSlot{}
	for i, s := range g.nodes {
		if s.slot == 0 {
			continue
		}
		for k, c := range g.nodes {
			if c.slot != 0 || g.find(i) != g.find(k) {
				continue
			}
			rel := g.cat.Relations[c.table]
			if rel == nil || c.column < 0 || c.column >= len(rel.Columns) {
				continue
			}
			col := &rel.Columns[c.column]
			if layout.ClassOf(baseType(g.cat, col.Type)) != layout.NoKey {
				out = append(out, ValueSlot{Slot: s.slot, Table: c.table, Column: col.Name, Type: baseType(g.cat, col.Type), List: s.list})
			}
		}
	}
	slices.SortFunc(out, func(a, b ValueSlot) int {
		if a.Slot != b.Slot {
			return a.Slot - b.Slot
		}
		if c := strings.Compare(a.Table, b.Table); c != 0 {
			return c
		}
		return strings.Compare(a.Column, b.Column)
	})
	return slices.Compact(out)
}
