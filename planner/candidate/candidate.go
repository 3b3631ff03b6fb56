// Package candidate reads a candidate sharding schema (YAML) and binds it to a catalog: which table lives in which colo with which key
// column, which are reference tables, which stay unsharded. It may import planner/catalog, planner/layout, planner/policy and sqltext.
package candidate

import (
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/policy"
)

// Placement says where the rows of a table live.
type Placement uint8

// The placements. Undecided is a table that the candidate does not name: what touches it is unknown.
const (
	Undecided Placement = iota
	Sharded
	Reference
	Unsharded
)

// Candidate is one proposed sharding schema bound to a catalog, immutable.
type Candidate struct {
	Name      string
	Hash      string              // of the normalised content: verdicts are cached by it
	Colos     []*Colo             // sorted by name
	Tables    map[string]*Table   // by catalog key; partitions and inheritance children share the entry of their root
	Functions map[string]Function // annotations, by catalog key or bare name
	Dialect   Dialect
	Warnings  []string // what is allowed but deserves a look, with file and line
}

// Colo is a colocation group: tables that share a shard key and a layout. Two colos never share a layout, even with the same key.
type Colo struct {
	Name    string
	KeyName string
	KeyType string // canonical type: int8, text, uuid, ...
	Shards  int
}

// Table is where one table lives.
type Table struct {
	Key       string // catalog key
	Placement Placement
	Colo      *Colo  // Sharded
	Column    string // Sharded: the key column
	Col       int    // Sharded: its position in the catalog relation's columns
}

// Function is an annotation of an opaque function.
type Function struct {
	Volatility byte     // 'i', 's', 'v'; 0 not given
	Tables     []string // catalog keys of the tables it reads or writes; non-nil empty means none
	Known      bool     // tables: was given
}

// Dialect is the subset of features the query engine is meant to support; policy decides with it.
type Dialect = policy.Dialect

// Table returns where the table lives; a table that the candidate does not name is Undecided.
func (c *Candidate) Table(key string) *Table {
	if t := c.Tables[key]; t != nil {
		return t
	}
	return &Table{Key: key}
}

// Undecided returns the catalog keys of the tables that the candidate does not name, sorted; partitions and children count with their root.
// Views hold no rows and are not among them; a materialized or foreign table need not be named.
func (c *Candidate) Undecided(cat *catalog.Catalog) []string {
	var out []string
	for _, key := range sortedKeys(cat.Relations) {
		rel := cat.Relations[key]
		table := rel.Kind == catalog.Table || rel.Kind == catalog.PartitionedTable
		if table && !rel.Temp && len(rel.Parents) == 0 && c.Tables[key] == nil {
			out = append(out, key)
		}
	}
	return out
}
