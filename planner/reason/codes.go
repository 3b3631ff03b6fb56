package reason

// Code names one kind of fact about a statement. It is an alias, so that facts and reports that store it as text need no conversion.
type Code = string

// How the shard key is bound, or why it is not.
const (
	KeyEq            Code = "key_eq"
	KeyIn            Code = "key_in"
	KeyOr            Code = "key_or"
	KeyTransitive    Code = "key_transitive"
	KeyConstFold     Code = "key_const_fold"
	KeyMissing       Code = "key_missing"
	KeyNegated       Code = "key_negated"
	KeyRange         Code = "key_range"
	KeyPattern       Code = "key_pattern"
	KeyExpr          Code = "key_expr"
	KeyCastUnsafe    Code = "key_cast_unsafe"
	KeyNull          Code = "key_null"
	KeyContradiction Code = "key_contradiction"
	KeyNullable      Code = "key_nullable"
	KeyVolatile      Code = "key_volatile"
	KeyStable        Code = "key_stable"
	PartitionKey     Code = "partition_key"
	ConstantFalse    Code = "constant_false"
)

// How tables are joined.
const (
	ColocatedJoin      Code = "colocated_join"
	PinnedJoin         Code = "pinned_join"
	NonKeyJoin         Code = "non_key_join"
	CrossColoJoin      Code = "cross_colo_join"
	LayoutMismatch     Code = "layout_mismatch"
	LocalJoin          Code = "local_join"
	ReferenceJoin      Code = "reference_join"
	ReferencePreserved Code = "reference_preserved"
)

// Subqueries, CTEs and set operations.
const (
	CorrelatedOnKey      Code = "correlated_on_key"
	CorrelatedOffKey     Code = "correlated_off_key"
	UncorrelatedSharded  Code = "uncorrelated_sharded"
	NotInNullable        Code = "not_in_nullable"
	LimitFence           Code = "limit_fence"
	AggFence             Code = "agg_fence"
	WindowFence          Code = "window_fence"
	CTEFence             Code = "cte_fence"
	Recursion            Code = "recursion"
	SetopKeyAligned      Code = "setop_key_aligned"
	SetopNotAligned      Code = "setop_not_aligned"
	SetopReplicatedArm   Code = "setop_replicated_arm"
	InsertKeyMissing     Code = "insert_key_missing"
	InsertMultiRow       Code = "insert_multi_row"
	InsertSelectRekey    Code = "insert_select_rekey"
	KeyUpdate            Code = "key_update"
	CrossShardWrite      Code = "cross_shard_write"
	ReferenceWrite       Code = "reference_write"
	ConflictTargetOffKey Code = "conflict_target_off_key"
)

// Schema changes.
const (
	UniqueOffKey Code = "unique_off_key"
	FKOffKey     Code = "fk_off_key"
	FKCrossColo  Code = "fk_cross_colo"
	KeyColumnDDL Code = "key_column_ddl"
	DDLBroadcast Code = "ddl_broadcast"
)

// Effects beside rows.
const (
	Volatile       Code = "volatile"
	Sequence       Code = "sequence"
	OpaqueFunction Code = "opaque_function"
	AdvisoryLock   Code = "advisory_lock"
	RowLock        Code = "row_lock"
	SystemColumn   Code = "system_column"
	Trigger        Code = "trigger"
	Rule           Code = "rule"
	RowSecurity    Code = "row_security"
)

// Transactions and sessions.
const (
	TxnMultiShard     Code = "txn_multi_shard"
	IsolationPerShard Code = "isolation_per_shard"
	Cursor            Code = "cursor"
	TempTable         Code = "temp_table"
	ListenNotify      Code = "listen_notify"
	SessionState      Code = "session_state"
)

// What is not understood, or not allowed.
const (
	UndecidedTable    Code = "undecided_table"
	UnknownTable      Code = "unknown_table"
	UnknownColumn     Code = "unknown_column"
	UnsupportedSyntax Code = "unsupported_syntax"
	InvalidStatement  Code = "invalid_statement"
	Unparsed          Code = "unparsed"
	Truncated         Code = "truncated"
	TooDeep           Code = "too_deep"
	Internal          Code = "internal"
	OutsideDialect    Code = "outside_dialect"
)
