package resolve

import (
	"slices"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// with resolves a WITH clause into the scope. Entries of WITH RECURSIVE may refer to later ones: they are resolved when first met.
func (r *resolver) with(w *sqlast.WithClause, s *scope) {
	if w == nil {
		return
	}
	q := s.query
	q.Recursive = w.GetRecursive()
	q.CTEs = make([]facts.CTE, len(w.GetCtes()))
	for i, n := range w.GetCtes() {
		c := n.GetCommonTableExpr()
		f := &q.CTEs[i]
		f.ID, f.Name = r.ctes, c.GetCtename()
		r.ctes++
		switch c.GetCtematerialized() {
		case sqlast.CTEMaterialize_CTEMaterializeAlways:
			f.Materialized = 'm'
		case sqlast.CTEMaterialize_CTEMaterializeNever:
			f.Materialized = 'n'
		}
		if slices.ContainsFunc(s.ctes, func(o *cte) bool { return o.facts.Name == f.Name }) {
			r.invalid("invalid_statement", int(c.GetLocation()), "WITH names %q twice", f.Name)
		}
		s.ctes = append(s.ctes, &cte{facts: f, node: c, scope: s, recursive: w.GetRecursive()})
	}
	for _, c := range s.ctes {
		if c.state == ctePending {
			r.resolveCTE(c)
		}
	}
}

// resolveCTE resolves an entry's query at the level of its WITH clause, before that level has a FROM.
func (r *resolver) resolveCTE(c *cte) {
	c.state = cteRunning
	r.running = append(r.running, c)
	items := c.scope.items
	c.scope.items = nil
	q := r.queryNode(c.node.GetCtequery(), c.scope, "")
	c.scope.items = items
	r.running = r.running[:len(r.running)-1]
	c.state = cteReady
	if q == nil {
		r.problem("unsupported_syntax", int(c.node.GetLocation()), "WITH %q is no query", c.facts.Name)
		q = &facts.Query{}
		c.open = true
	}
	c.facts.Query = q
	if c.node.GetSearchClause() != nil || c.node.GetCycleClause() != nil {
		r.problem("unsupported_syntax", int(c.node.GetLocation()), "SEARCH and CYCLE of a recursive query")
		c.open = true
	}
	r.cteColumns(c, q)
}

func (r *resolver) cteColumns(c *cte, q *facts.Query) {
	c.open = c.open || openQuery(q)
	c.cols = nil
	aliases := names(c.node.GetAliascolnames())
	for _, m := range outputColumns(q, aliases, 0) {
		c.cols = append(c.cols, column{m.name, m.expr.Type})
	}
	if len(aliases) > len(q.Outputs) && !c.open {
		r.invalid("invalid_statement", int(c.node.GetLocation()), "WITH %q lists more columns than its query has", c.facts.Name)
	}
}

// recursiveColumns gives a recursive CTE its columns once its first arm is resolved.
func (r *resolver) recursiveColumns(s *scope, left *facts.Query) {
	if len(r.running) == 0 {
		return
	}
	if c := r.running[len(r.running)-1]; c.recursive && c.scope == s.parent && c.cols == nil {
		r.cteColumns(c, left)
	}
}

func (r *resolver) cteRef(c *cte, v *sqlast.RangeVar) *item {
	pos := r.pos(int(v.GetLocation()))
	switch c.state {
	case ctePending:
		r.resolveCTE(c)
		c.facts.Uses++
	case cteRunning:
		c.facts.SelfRef = true
		if c.cols == nil || r.running[len(r.running)-1] != c {
			r.problem("recursion", pos, "WITH %q refers to itself outside the recursive arm", c.facts.Name)
			c.open = true
		}
	default:
		c.facts.Uses++
	}
	src := r.newSource(&facts.Source{Kind: facts.FromCTE, CTE: c.facts.ID, Alias: v.GetAlias().GetAliasname(), Pos: pos})
	it := &item{name: v.GetRelname(), source: src, relVisible: true, colVisible: true, open: c.open}
	for i, col := range c.cols {
		it.cols = append(it.cols, member{col.name, &facts.Expr{Op: facts.Column, Source: src.ID, Col: i, Type: col.typ, Name: col.name}})
	}
	r.alias(it, v.GetAlias())
	return it
}
