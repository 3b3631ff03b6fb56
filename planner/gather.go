package planner

import (
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/reason"
)

// feature adds what the engine must be able to do, once.
func (j *judge) feature(f policy.Feature) {
	for _, have := range j.feats {
		if have == f {
			return
		}
	}
	j.feats = append(j.feats, f)
}

// gather lists what merging the shards' results of a query takes. p is the property of its rows before grouping.
func (j *judge) gather(lv *level, p prop) {
	q := lv.q
	if q.SetOp != nil {
		if q.SetOp.Op == "union" && !q.SetOp.All && len(p.keys) == 0 {
			j.feature(policy.Distinct)
		}
		j.gatherOrder(q)
		return
	}
	merged := q.Grouped && j.gatherGroups(lv, p)
	windows := false
	eachWindow(q, func(w *facts.Expr) {
		windows = true
		if merged || !j.hasKey(lv, w.Partition, p.keys) {
			j.feature(policy.WindowPull)
			j.noteGroup(lv, w.Partition, p.keys, reason.WindowFence)
		}
	})
	if windows && !j.has(policy.WindowPull) {
		j.feature(policy.WindowOnKey)
	}
	merged = merged || j.has(policy.WindowPull) // what stands after a window that is worked out above is done above
	switch q.Distinct {
	case facts.DistinctAll:
		if merged || !j.hasKey(lv, outputExprs(q), p.keys) {
			j.feature(policy.Distinct)
			if k := j.keyIn(lv, outputExprs(q), p.keys); k != nil {
				j.noteTable(reason.KeyNullable, -1, lv)
			}
		}
	case facts.DistinctOn:
		if merged || !j.hasKey(lv, q.On, p.keys) {
			j.feature(policy.DistinctOn)
		}
	}
	j.gatherOrder(q)
}

func (j *judge) has(f policy.Feature) bool {
	for _, have := range j.feats {
		if have == f {
			return true
		}
	}
	return false
}

func (j *judge) gatherOrder(q *facts.Query) {
	if len(q.OrderBy) > 0 {
		j.feature(policy.MergeSort)
	}
	if q.Limit != nil && !isNullConst(q.Limit) {
		j.feature(policy.Limit)
		if q.WithTies {
			j.feature(policy.WithTies)
		}
	}
	if q.Offset != nil && !isNullConst(q.Offset) {
		j.feature(policy.Offset)
	}
	if len(j.feats) == 0 {
		j.feature(policy.Concat)
	}
}

// gatherGroups lists what grouping takes, and tells whether groups have to be merged.
func (j *judge) gatherGroups(lv *level, p prop) bool {
	q := lv.q
	whole := !oneRow(q)
	for _, set := range q.Group {
		if !whole {
			break
		}
		if !j.hasKey(lv, set, p.keys) {
			whole = false
			if k := j.keyIn(lv, set, p.keys); k != nil {
				j.noteTable(reason.KeyNullable, -1, lv)
			}
		}
	}
	if whole {
		j.feature(policy.GroupByKey)
		return false
	}
	if len(q.Group) > 1 {
		j.feature(policy.AggPull)
	} else if len(q.Group) == 1 {
		j.feature(policy.GroupMerge)
	}
	j.eachAggregate(q, func(a *facts.Expr) { j.aggregate(lv, a, p) })
	if q.Having != nil {
		j.feature(policy.HavingAfterMerge)
	}
	if len(j.feats) == 0 {
		j.feature(policy.PartialAgg)
	}
	return true
}

func (j *judge) eachAggregate(q *facts.Query, f func(*facts.Expr)) {
	visit := func(x *facts.Expr) {
		if x.Op == facts.Aggregate {
			f(x)
		}
	}
	for i := range q.Outputs {
		walkExpr(q.Outputs[i].Expr, visit)
	}
	if q.Having != nil {
		walkExpr(q.Having, visit)
	}
	for i := range q.OrderBy {
		walkExpr(q.OrderBy[i].Expr, visit)
	}
}

// aggregate says how one aggregate is made of the shards' results.
func (j *judge) aggregate(lv *level, a *facts.Expr, p prop) {
	name := a.Name
	switch {
	case a.UDF || a.Ordered || len(a.Order) > 0:
		j.feature(policy.AggPull)
	case name == "min" || name == "max" || name == "bool_and" || name == "bool_or" || name == "every":
		j.feature(policy.PartialAgg)
	case a.Distinct && (name == "count" || name == "sum" || name == "avg"):
		if name == "count" && len(a.Args) == 1 && j.keyIn(lv, a.Args, p.keys) != nil {
			j.feature(policy.AggDistinctOnKey) // NULL is not counted, so that a nullable key will do
		} else {
			j.feature(policy.AggDistinct)
		}
	case name == "count" || name == "sum":
		j.feature(policy.PartialAgg)
	case name == "avg":
		j.feature(policy.PartialAvg)
	default:
		j.feature(policy.AggPull)
	}
}
