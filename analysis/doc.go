// Package analysis turns traffic and candidates into numbers: the pipeline from events to the warehouse (Parquet), and DuckDB queries from
// the warehouse to a Report. It is the only importer of DuckDB and Arrow/Parquet; it may import capture and planner and their packages.
package analysis
