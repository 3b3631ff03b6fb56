// Package warehouse keeps what was learned from traffic in a directory (or an object store): immutable Parquet files that any engine reads,
// and one small JSON manifest per commit that says which files count and how far each source was read. It turns rows into committed files
// and manifests into a Snapshot. It imports Arrow/Parquet and nothing else of the project.
//
// The protocol needs of a store only "put if absent" and "get by name". Data files go first, under names that hold a hash of their content;
// then manifest N appears, or somebody else's did. What no manifest names does not exist. A reader follows manifests 0, 1, 2, ... until one is
// absent and never lists a directory.
package warehouse
