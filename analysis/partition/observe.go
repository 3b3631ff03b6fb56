package partition

import "github.com/foreshard/foreshard/analysis"

// What is what happened to a partition.
type What uint8

// In the order in which they happen.
const (
	Begun      What = iota + 1 // it is planned by this member, from Offset; again after every failure
	Committed                  // up to Offset; Ledger is what was added since it was last begun
	Conflicted                 // another planner had committed it, and Err says so
	Failed                     // with Err; it is begun again
	Released                   // it may be another's
)

// Observation is something that happened to a partition, for whoever watches the planner.
type Observation struct {
	Partition int
	What      What
	Offset    int64
	Ledger    analysis.Ledger
	Err       error
}

func (p *Planner) observe(o Observation) {
	if p.Observe != nil {
		p.Observe(o)
	}
}
