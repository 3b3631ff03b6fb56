// Package policy decides what a class and its features mean under a dialect: ready, costly, blocked or unknown. It owns the vocabulary of
// features. It imports nothing of the project; classes and readiness are the plain words of package planner.
package policy

// Feature is one thing that the query engine must be able to do for a statement.
type Feature = string

// The features. What a statement on one shard needs beyond being passed through (sequences, generated keys) is listed with it all the same.
const (
	Passthrough      Feature = "passthrough"         // send the statement as it is
	Concat           Feature = "concat"              // rows of the shards in any order
	MergeSort        Feature = "merge_sort"          // merge sorted rows of the shards
	Limit            Feature = "limit"               // LIMIT after the merge
	Offset           Feature = "offset"              // OFFSET after the merge; shards deliver limit+offset
	WithTies         Feature = "with_ties"           // FETCH FIRST ... WITH TIES
	PartialAgg       Feature = "partial_agg"         // count, sum, min, max, bool_and, bool_or from partial results
	PartialAvg       Feature = "partial_avg"         // avg from sum and count
	AggDistinctOnKey Feature = "agg_distinct_on_key" // count(DISTINCT key): partial counts add up
	AggDistinct      Feature = "agg_distinct"        // DISTINCT aggregates off the key
	AggPull          Feature = "agg_pull"            // aggregates that need all rows: array_agg, ordered-set, stddev, grouping sets
	GroupByKey       Feature = "group_by_key"        // whole groups on shards
	GroupMerge       Feature = "group_merge"         // groups that are split over shards
	HavingAfterMerge Feature = "having_after_merge"  // HAVING over merged groups
	Distinct         Feature = "distinct"            // DISTINCT over the rows of several shards
	DistinctOn       Feature = "distinct_on"         // DISTINCT ON over the rows of several shards
	WindowOnKey      Feature = "window_on_key"       // whole window partitions on shards
	WindowPull       Feature = "window_pull"         // window functions over the rows of several shards
	UnionAppend      Feature = "union_append"        // append arms that run in different places
	RowCountSum      Feature = "row_count_sum"       // add up row counts of a write
	SplitInsert      Feature = "split_insert"        // split the rows of an INSERT by shard
	KeyGeneration    Feature = "key_generation"      // evaluate the key's default before routing
	GlobalSequence   Feature = "global_sequence"     // one sequence over all shards
	EvalOnce         Feature = "eval_once"           // evaluate an expression once and send its value
	TwoPhaseCommit   Feature = "2pc"                 // a write on several shards, atomic
	BroadcastDDL     Feature = "broadcast_ddl"       // the same schema change on every shard
	MoveRow          Feature = "move_row"            // a row changes shards
	Subplan          Feature = "subplan"             // the result of one query feeds another
	Repartition      Feature = "repartition"         // rows move between shards
)

// Features returns the whole vocabulary in a fixed order.
func Features() []Feature {
	return []Feature{
		Passthrough, Concat, MergeSort, Limit, Offset, WithTies, PartialAgg, PartialAvg, AggDistinctOnKey, AggDistinct, AggPull, GroupByKey,
		GroupMerge, HavingAfterMerge, Distinct, DistinctOn, WindowOnKey, WindowPull, UnionAppend, RowCountSum, SplitInsert, KeyGeneration,
		GlobalSequence, EvalOnce, TwoPhaseCommit, BroadcastDDL, MoveRow, Subplan, Repartition,
	}
}

// Dialect is the subset of features the query engine is meant to support. A statement on one shard needs none of them.
type Dialect struct {
	Name     string
	Features map[Feature]bool
}

// DefaultDialect is used where a candidate names none.
const DefaultDialect = "figma"

// Builtin returns a built-in dialect by name.
func Builtin(name string) (Dialect, bool) {
	var features []Feature
	switch name {
	case "single-shard": // nothing over shards, except schema changes
		features = []Feature{Passthrough, BroadcastDDL}
	case "figma": // single-shard anything; over shards only reads that one pass of merging answers
		features = []Feature{
			Passthrough, Concat, MergeSort, Limit, Offset, PartialAgg, PartialAvg, AggDistinctOnKey, GroupByKey, GroupMerge, WindowOnKey, EvalOnce,
			BroadcastDDL,
		}
	case "full": // everything one phase can do
		features = Features()
	default:
		return Dialect{}, false
	}
	return New(name, features), true
}

// Builtins returns the names of the built-in dialects, sorted.
func Builtins() []string { return []string{"figma", "full", "single-shard"} }

// New makes a dialect of a list of features.
func New(name string, features []Feature) Dialect {
	d := Dialect{Name: name, Features: make(map[Feature]bool, len(features))}
	for _, f := range features {
		d.Features[f] = true
	}
	return d
}

// MultiShardWrites returns the features that a write on several shards needs.
func MultiShardWrites() []Feature { return []Feature{TwoPhaseCommit, RowCountSum, SplitInsert} }

// The readiness words, as in package planner.
const (
	Ready   = "ready"
	Costly  = "costly"
	Blocked = "blocked"
	Unknown = "unknown"
)

// Readiness turns a class and its features into ready, costly, blocked or unknown. write says that the statement changes or locks rows of a
// sharded or reference table. A class that it does not know is unknown.
func Readiness(class string, features []Feature, write bool, d Dialect) string {
	switch class {
	case "none", "unsharded", "reference", "single_shard", "session":
		return Ready
	case "multi_phase", "reject":
		return Blocked
	case "multi_shard", "scatter", "broadcast":
		if len(Missing(class, features, write, d)) > 0 {
			return Blocked
		}
		return Costly
	}
	return Unknown
}

// Missing returns the features that a statement over several shards needs and the dialect lacks, in the order given. It is nil for a class
// that needs no engine.
func Missing(class string, features []Feature, write bool, d Dialect) []Feature {
	switch class {
	case "multi_shard", "scatter", "broadcast":
	default:
		return nil
	}
	var missing []Feature
	need := func(f Feature) {
		if d.Features[f] {
			return
		}
		for _, m := range missing {
			if m == f {
				return
			}
		}
		missing = append(missing, f)
	}
	ddl := class == "broadcast" && !write
	for _, f := range features {
		if ddl && f == TwoPhaseCommit { // schema changes are their own feature: an engine has them long before it has distributed writes
			continue
		}
		need(f)
	}
	switch {
	case ddl:
		need(BroadcastDDL)
	case write:
		need(TwoPhaseCommit)
	}
	return missing
}
