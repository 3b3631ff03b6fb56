// Package warehouse keeps what was learned from traffic in a directory (or an object store): immutable Parquet files that any engine reads,
// and one small JSON manifest per commit that says which files count and how far each source was read. It turns rows into committed files,
// manifests into a Snapshot, and many small files into few. It imports Arrow/Parquet and nothing else of the project.
//
// The protocol needs of a store "put if absent", "get by name" and a listing that misses nothing. Data files go first, under names that hold a
// hash of their content; then manifest N appears, or somebody else's did. What no manifest names does not exist. Now and then who commits first
// writes what the manifests come to as a checkpoint; a reader begins at the newest and follows manifests N+1, N+2, ... until one is absent.
//
// Upkeep (Merge and Replace, Retire, Sweep) is commits of a stream of its own, so that no two processes remove the same file. A file is deleted
// only if a manifest removed it, and a grace later, by the time in that manifest. This holds for what crashed runs left too: a manifest condemns
// it first, and a writer that finds its own files condemned, because it slept between them and its manifest, writes them again. Manifests are
// deleted only before a checkpoint; see chain.go for why no writer can commit where they were.
package warehouse
