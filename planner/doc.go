// Package planner judges what a sharded database would do with a statement: facts and a candidate in, a verdict out. It is pure: no I/O,
// clock, log or goroutine. It may import the packages below planner/ except router; it never imports capture or analysis.
//
// # The rule
//
// A colo's rows are spread over shards by the hash of their shard key; reference tables have a copy on every shard; unsharded tables stay on
// the original database. A verdict is a proof over that layout, for every content of the tables and every placement of the hash ranges:
//
//   - single_shard: the statement on the whole data gives what it gives on one shard's data;
//   - scatter, multi_shard: it gives what one layer of merging makes of its results on all shards, or on those of a known set of keys;
//   - multi_phase: neither could be shown. none: no sharded row matters, any shard answers.
//
// Two passes decide, after both of which everything that was not understood is dearer, never cheaper.
//
// Restriction (scope.go, predicate.go, lists.go, join.go, push.go). For each occurrence of a sharded table, at every level of the statement, the
// judge finds a set of keys such that removing all rows with other keys changes nothing. The facts that allow that are equalities of
// columns with columns and constants; they hold in scopes. Conditions in WHERE and in ON of inner joins hold for a whole level and travel
// through equalities in any direction. On the nullable side of a LEFT join hold the facts of the preserved side and of ON, but not the
// other way round; both sides of a FULL join keep to themselves, except for their merged USING columns. A condition above that is not true
// for NULL turns an outer join into an inner one first. Facts go down into derived tables, views, WITH queries and the arms of set
// operations where the output is the bare column and nothing between counts rows: not past LIMIT, only on grouping columns past GROUP BY, on
// PARTITION BY columns past windows, on its own columns past DISTINCT ON. They go down into subqueries at their place, and up from them as what
// their outputs can be. AND intersects key sets, OR unites them, NOT is pushed down; what has no such form allows all keys.
// If all sets together are keys of one shard, the statement runs there: aggregates, windows, LIMIT and recursion included.
//
// Shard-locality (local.go, levelprop.go, gather.go). Otherwise the judge asks whether the rows before the last merge are the union of what
// each shard makes of its own: tables of one colo joined on their keys, reference tables not on a preserved side, subqueries tied to the outer
// key, groups, DISTINCT and windows that contain a key that no outer join has made NULL, set operations with a key in the same column.
// One layer of merging may stand on top: sorted merge, limit, partial aggregates, merged groups; the features name it.
//
// Constants count by what PostgreSQL makes of them (fold.go, value.go): ' 5 ' is the bigint 5, 5.0 equals a bigint only if it is whole,
// a float never does, a text is compared by its bytes only under a deterministic collation. INSERT converts by assignment. Parameters and the
// literals of a template are symbols: two different ones are two keys, one that occurs twice is one.
//
// Rows that every copy of the reference tables gives alike count as each shard's own; what may differ from copy to copy does not (copies.go).
//
// Writes (write.go) change rows where their target's rows are, must give an inserted row a key, and must not change it. Functions whose
// bodies may touch tables make the verdict unknown, until the candidate says what they touch or their body shows that they touch nothing
// (effects.go); so do triggers, rules and row security. Utility statements and schema changes are in utility.go and ddl.go. The statements of
// one text are judged in the session that those before them leave (session.go).
package planner
