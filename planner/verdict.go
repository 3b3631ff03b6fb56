package planner

import "github.com/foreshard/foreshard/planner/reason"

// Class says where a statement runs, in order of cost.
type Class string

// The classes. A verdict that is not understood is Unknown, never a cheaper class.
const (
	None        Class = "none"         // no sharded row can qualify; one arbitrary shard answers
	Unsharded   Class = "unsharded"    // only unsharded tables, no table, or the home catalog
	Reference   Class = "reference"    // only replicated tables: any one copy
	SingleShard Class = "single_shard" // one shard for every execution
	MultiShard  Class = "multi_shard"  // a bounded set of known keys
	Scatter     Class = "scatter"      // all shards of one colo, one phase
	MultiPhase  Class = "multi_phase"  // rows move between shards or databases
	Broadcast   Class = "broadcast"    // the same effect on every shard or copy: DDL, reference writes
	Session     Class = "session"      // BEGIN, SET, cursors: no data of its own
	Reject      Class = "reject"       // its semantics cannot be kept
	Unknown     Class = "unknown"      // opaque body, unparsed, undecided table
	Invalid     Class = "invalid"      // PostgreSQL rejects it too
)

// Readiness is what a class means to a product team under a dialect.
type Readiness string

// The four answers.
const (
	Ready            Readiness = "ready"
	Costly           Readiness = "costly"
	Blocked          Readiness = "blocked"
	UnknownReadiness Readiness = "unknown"
)

// Verdict is a proof about one statement under one candidate.
type Verdict struct {
	Class           Class           `json:"class"`
	Readiness       Readiness       `json:"readiness"`
	Shards          ShardSet        `json:"shards"`
	Colos           []string        `json:"colos"`
	Tables          []string        `json:"tables"`
	Bindings        []Binding       `json:"bindings"`
	Reasons         []reason.Reason `json:"reasons"`
	Features        []string        `json:"features"`
	LayoutDependent bool            `json:"layout_dependent"` // rests on two different keys sharing a shard
	CrossColo       [][2]string     `json:"-"`                // pairs of catalog keys, sorted, of tables in different layouts that one statement joins
	Write           bool            `json:"-"`                // changes rows of a sharded or reference table, or locks them
}

// ShardSet names the shards a statement goes to.
type ShardSet struct {
	Kind string `json:"kind"` // one, some, all, any, none
	List []int  `json:"list"` // logical shards, sorted, where the values are known
}

// Binding says why a table occurrence needs so few shards.
type Binding struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Source string `json:"source"` // const, param, expr, generated, list, param_array
	// Values are the key values in the key type's canonical text; of a symbolic verdict "$n", the template's slots.
	Values []string `json:"values"`
	Colo   string   `json:"-"`
	Slots  []int    `json:"-"` // template slots whose bare values are the key; nil where the key is an expression of them
}
