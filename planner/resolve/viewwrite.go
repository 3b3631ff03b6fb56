package resolve

import (
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
)

// writableView replaces a view as a target by the table below it, as PostgreSQL does with a simple updatable view: one relation in FROM,
// no set operation, DISTINCT, grouping, window, LIMIT or WITH. Anything else, a rule or an INSTEAD OF trigger is a problem.
func (r *resolver) writableView(t *target) {
	view := t.rel
	pos := t.item.source.Pos
	t.view = view.Key()
	t.item.open = true // until the table below is found
	if len(view.Triggers) > 0 || len(view.Rules) > 0 {
		r.problem("view_write", pos, "view %q has triggers or rules of its own", view.Key())
		return
	}
	q := r.viewQuery(view, pos)
	if q == nil {
		return
	}
	base, cols, where, ok := r.updatable(q)
	if !ok {
		r.problem("view_write", pos, "view %q is no simple updatable view", view.Key())
		return
	}
	base.Alias, base.Pos = t.item.source.Alias, pos
	for i := range cols {
		if i < len(view.ViewColumns) {
			cols[i].name = view.ViewColumns[i]
		}
	}
	t.item = &item{name: t.item.name, schema: t.item.schema, source: base, cols: cols, relVisible: true, colVisible: true}
	t.where = where
	t.rel = r.cat.Relations[base.Table]
}

// updatable finds the table under a view's query, the view's columns in its terms, and the view's condition.
func (r *resolver) updatable(q *facts.Query) (*facts.Source, []member, *facts.Expr, bool) {
	if q.SetOp != nil || q.Grouped || q.Distinct != facts.NotDistinct || q.Limit != nil || q.Offset != nil || len(q.CTEs) > 0 ||
		len(q.From) != 1 || q.Write != nil || len(q.Values) > 0 {
		return nil, nil, nil, false
	}
	var cols []member
	for _, o := range q.Outputs {
		plain := true
		walk(o.Expr, func(x *facts.Expr) {
			plain = plain && x.Op != facts.Window && x.Op != facts.Sublink && !x.SetReturning
		})
		if !plain {
			return nil, nil, nil, false
		}
		cols = append(cols, member{o.Name, o.Expr})
	}
	src := q.From[0]
	switch src.Kind {
	case facts.FromTable:
		if rel := r.cat.Relations[src.Table]; src.Sample || rel == nil || rel.Kind == catalog.MaterializedView {
			return nil, nil, nil, false
		}
		return src, cols, q.Where, true
	case facts.FromQuery:
		if src.View == "" {
			return nil, nil, nil, false
		}
		base, below, where, ok := r.updatable(src.Query)
		if !ok {
			return nil, nil, nil, false
		}
		for i := range cols {
			if cols[i].expr, ok = through(cols[i].expr, src.ID, below); !ok {
				return nil, nil, nil, false
			}
		}
		own := q.Where
		if own != nil {
			if own, ok = through(own, src.ID, below); !ok {
				return nil, nil, nil, false
			}
		}
		return base, cols, and(where, own), true
	}
	return nil, nil, nil, false
}

// through rewrites references to a view's columns into what is below it; false where a sublink is in the way.
func through(e *facts.Expr, source int, below []member) (*facts.Expr, bool) {
	if e.Op == facts.Sublink || e.System || e.Op == facts.Window || e.Op == facts.Aggregate {
		return nil, false
	}
	if e.Op == facts.Column && e.Source == source {
		if e.Col < 0 || e.Col >= len(below) {
			return nil, false
		}
		return below[e.Col].expr, true
	}
	c := *e
	c.Args = nil
	for _, a := range e.Args {
		x, ok := through(a, source, below)
		if !ok {
			return nil, false
		}
		c.Args = append(c.Args, x)
	}
	return &c, true
}
