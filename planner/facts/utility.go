package facts

// The kinds of utility statements, by what they do to a sharded database.
const (
	UtilTransaction   = "transaction"     // BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE; Verb and Name say which: begin, commit, rollback, savepoint, release, rollback_to
	UtilTwoPhase      = "two_phase"       // PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED; Verb: prepare_transaction, commit_prepared, rollback_prepared
	UtilSession       = "session"         // SET, RESET, SHOW, DISCARD, LISTEN, UNLISTEN, DEALLOCATE, FETCH, MOVE, CLOSE, SET CONSTRAINTS, LOAD; Verb: set, set_local, reset, reset_all, show, discard, listen, unlisten, deallocate, fetch, move, close, set_constraints, set_transaction, set_session_characteristics, load
	UtilNotify        = "notify"          // NOTIFY
	UtilPrepare       = "prepare"         // PREPARE name AS Query
	UtilExecute       = "execute"         // EXECUTE name
	UtilDeclare       = "declare"         // DECLARE CURSOR FOR Query
	UtilExplain       = "explain"         // EXPLAIN Query
	UtilCopy          = "copy"            // COPY table or (Query)
	UtilCreateTableAs = "create_table_as" // CREATE TABLE AS, CREATE MATERIALIZED VIEW, SELECT INTO
	UtilCreateTable   = "create_table"
	UtilAlterTable    = "alter_table"
	UtilCreateIndex   = "create_index"
	UtilDrop          = "drop"
	UtilTruncate      = "truncate"
	UtilLockTable     = "lock_table"
	UtilMaintenance   = "maintenance" // VACUUM, ANALYZE, REINDEX, CLUSTER, REFRESH MATERIALIZED VIEW, CHECKPOINT
	UtilCall          = "call"        // CALL procedure
	UtilDo            = "do"          // DO block
	UtilSequence      = "sequence"    // CREATE, ALTER SEQUENCE
	UtilTrigger       = "trigger"     // CREATE TRIGGER, CREATE RULE, CREATE EVENT TRIGGER
	UtilDDL           = "ddl"         // any other object of the schema: views, functions, types, comments, grants, roles, extensions, policies
	UtilOther         = "other"
)
