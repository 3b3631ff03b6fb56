package resolve

import "github.com/foreshard/foreshard/planner/facts"

// maxNodes bounds the facts of one statement. ORDER BY 1 shares its output's expression in memory, but not in the encoding: nested, that
// doubles at every level.
const maxNodes = 100_000

// tooLarge tells whether the facts would be encoded into more than maxNodes nodes.
func tooLarge(st *facts.Statement) bool {
	if st.Query == nil {
		return false
	}
	c := &counter{exprs: map[*facts.Expr]int{}, queries: map[*facts.Query]int{}}
	return c.query(st.Query) > maxNodes
}

// counter counts each shared part once and adds it as often as it is referred to.
type counter struct {
	exprs   map[*facts.Expr]int
	queries map[*facts.Query]int
}

func (c *counter) query(q *facts.Query) int {
	if n, ok := c.queries[q]; ok {
		return n
	}
	n := 1
	add := func(m int) { n = min(n+m, maxNodes+1) }
	facts.Parts(q, func(s *facts.Source) { add(1) }, func(e *facts.Expr) { add(c.expr(e)) }, func(sub *facts.Query) { add(c.query(sub)) })
	c.queries[q] = n
	return n
}

func (c *counter) expr(e *facts.Expr) int {
	if n, ok := c.exprs[e]; ok {
		return n
	}
	n := 1
	add := func(m int) { n = min(n+m, maxNodes+1) }
	for _, a := range e.Args {
		add(c.expr(a))
	}
	for _, a := range e.Partition {
		add(c.expr(a))
	}
	for _, k := range e.Order {
		add(c.expr(k.Expr))
	}
	if e.Filter != nil {
		add(c.expr(e.Filter))
	}
	if e.Query != nil {
		add(c.query(e.Query))
	}
	c.exprs[e] = n
	return n
}
