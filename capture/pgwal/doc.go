// Package pgwal turns a PostgreSQL server's WAL (12 and later), read by logical replication, into events of kind capture.Write: one for each
// committed transaction, saying which tables it wrote, how many rows, and how those spread over the values of the columns that can be a shard key.
// It may import capture, planner/layout and pglogrepl, of which it is the only importer. The values themselves are hashed while a message is
// decoded; none is written anywhere.
//
// # What it does to the server
//
// It reads through two publications of its own, by an explicit list of tables: one of inserts, updates, deletes and truncates, and one of inserts
// and truncates for the tables whose updates and deletes would FAIL if they were published, because they have no replica identity. It never
// publishes all tables. A replication slot holds WAL and a catalog horizon: it is temporary unless a name is given, what is durable is
// acknowledged at once, and beyond a ceiling of retained WAL the slot is dropped.
//
// # How nothing is lost and nothing counts twice
//
// A position is the end of the last transaction that was handed on, or the end of the WAL that the server says it has decoded while no
// transaction was open. Whoever keeps events keeps the position with them and calls Durable; only then is it acknowledged. With a named slot the
// server sends again what was not acknowledged, and what is at or before the position is left out. With a temporary one what was written between
// two sessions is not seen; each such gap is in the ledger with its length in bytes of WAL.
//
// # Memory
//
// Rows are counted, not kept: a transaction is a few counters per table, operation and column, at most 65,536 hash slots each. Large transactions
// are streamed by servers from 14 on before it is known whether they commit, one such set per subtransaction. Sets that do not fit into memory
// go to files, which have a bound too; what is beyond it is counted as lost and the transaction as unknown.
package pgwal
