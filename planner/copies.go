package planner

import (
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/facts"
)

// varies tells whether the rows of a query without a sharded table may differ from one copy of the reference tables to another, or from one
// evaluation to the next: by a volatile function, a sample, or a LIMIT that does not say which rows. perRow says that the query is evaluated
// anew for each row around it, so that any of the rows a LIMIT may take is right.
func (j *judge) varies(lv *level, perRow bool) bool {
	if !perRow && anyRows(lv.q) {
		return true
	}
	found := false
	eachExpr(lv.q, func(e *facts.Expr, _ place) { found = found || j.volatileExpr(e) })
	for _, in := range lv.insts {
		switch {
		case found:
			return true
		case in.src.Sample && j.isReference(in):
			found = true
		case in.sub != nil:
			found = j.varies(in.sub, in.src.Lateral && correlated(in.sub.q))
		}
	}
	for _, arm := range lv.arms {
		found = found || j.varies(arm, false)
	}
	for _, s := range lv.subs {
		found = found || j.varies(s.lv, s.expr.Sub == facts.SubExists || correlated(s.expr.Query))
	}
	return found
}

// isReference tells an occurrence of a table that has a copy on every shard.
func (j *judge) isReference(in *inst) bool {
	return in.kind == instTable && in.table != nil && in.table.Placement == candidate.Reference && !in.src.System && !in.src.Temp
}

// anyRows tells a query that takes some of its rows without saying which: copies of a reference table may answer it differently.
func anyRows(q *facts.Query) bool {
	return limited(q) && len(q.OrderBy) == 0 && !tableless(q)
}
