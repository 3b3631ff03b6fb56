package facts

// Sources visits every FROM item of a query and of the queries inside it, joins and write targets included.
func Sources(q *Query, visit func(*Source)) {
	Walk(q, func(s *Source) bool { visit(s); return true }, func(*Expr) bool { return true })
}

// Walk visits every source and every expression of a query and of the queries inside it, in a fixed order. A visitor returns false to
// leave out what is below; a write target that is also in From is visited once.
func Walk(q *Query, source func(*Source) bool, expr func(*Expr) bool) {
	w := &walker{source: source, expr: expr}
	w.query(q)
}

// Parts visits what a query holds directly: its sources, the tops of its expressions, and the queries one level below that are no sublinks.
func Parts(q *Query, source func(*Source), expr func(*Expr), below func(*Query)) {
	w := &walker{source: func(s *Source) bool { source(s); return true }, expr: func(e *Expr) bool { expr(e); return false }, below: below}
	w.parts(q)
}

type walker struct {
	source func(*Source) bool
	expr   func(*Expr) bool
	below  func(*Query) // set: queries below are given to it, not walked
}

func (w *walker) query(q *Query) {
	switch {
	case q == nil:
	case w.below != nil:
		w.below(q)
	default:
		w.parts(q)
	}
}

func (w *walker) parts(q *Query) {
	for i := range q.CTEs {
		w.query(q.CTEs[i].Query)
	}
	if q.SetOp != nil {
		w.query(q.SetOp.Left)
		w.query(q.SetOp.Right)
	}
	for _, row := range q.Values {
		w.exprs(row...)
	}
	if q.Write != nil {
		w.write(q)
	}
	for _, s := range q.From {
		w.from(s)
	}
	w.exprs(q.Where)
	for _, g := range q.Group {
		w.exprs(g...)
	}
	w.exprs(q.Having)
	w.exprs(q.On...)
	for _, o := range q.Outputs {
		w.exprs(o.Expr)
	}
	w.keys(q.OrderBy)
	w.exprs(q.Limit, q.Offset)
}

func (w *walker) write(q *Query) {
	wr := q.Write
	if wr.Op == "insert" {
		w.from(wr.Target)
	}
	w.query(wr.Source)
	w.sets(wr.Set)
	if c := wr.Conflict; c != nil {
		w.sets(c.Set)
		w.exprs(c.Where)
	}
	w.exprs(wr.On)
	for i := range wr.Actions {
		a := &wr.Actions[i]
		w.exprs(a.When)
		w.sets(a.Set)
		w.exprs(a.Values...)
	}
}

func (w *walker) sets(list []Assign) {
	for i := range list {
		w.exprs(list[i].Value)
	}
}

func (w *walker) keys(list []SortKey) {
	for i := range list {
		w.exprs(list[i].Expr)
	}
}

func (w *walker) from(s *Source) {
	if s == nil || !w.source(s) {
		return
	}
	w.query(s.Query)
	w.exprs(s.Funcs...)
	if j := s.Join; j != nil {
		w.from(j.Left)
		w.from(j.Right)
		w.exprs(j.On)
	}
}

func (w *walker) exprs(list ...*Expr) {
	for _, e := range list {
		if e == nil || !w.expr(e) {
			continue
		}
		w.exprs(e.Args...)
		w.exprs(e.Partition...)
		w.keys(e.Order)
		w.exprs(e.Filter)
		w.query(e.Query)
	}
}
