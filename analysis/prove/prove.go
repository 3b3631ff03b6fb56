// Package prove executes verdicts on a real PostgreSQL: a statement, its verdict and a laboratory of databases in, confirmed or refuted out.
//
// The laboratory holds the whole data set in one database, and again cut up as the candidate says: one database per logical shard (the rows
// that PostgreSQL's own hash sends there, and a copy of every reference table), one with the unsharded tables, one with the reference tables
// alone. A verdict claims that the statement can be answered from some of these databases; the claim is run and the answer compared. Databases
// rather than schemas, because names in a statement then mean what they mean in production, whatever its search_path.
//
// It may import planner and its packages; it never writes to the database that the data came from.
package prove

import (
	"github.com/foreshard/foreshard/planner"
)

// Statement is one statement with the values to run it with.
type Statement struct {
	ID string
	planner.Question
}

// Outcome is what running a verdict showed.
type Outcome string

// The outcomes. Only Refuted says that a verdict is wrong.
const (
	Confirmed        Outcome = "confirmed"         // same answer, and a wrong verdict would have given another one
	Refuted          Outcome = "refuted"           // another answer, another effect, or a row on a wrong shard
	NotDiscriminated Outcome = "not_discriminated" // same answer, but the data would also have hidden a wrong verdict
	NotDeterministic Outcome = "not_deterministic" // the whole database itself answers differently when its rows lie in another order
	Refused          Outcome = "refused"           // the verdict claims nothing that can be run, or the statement fails on the whole data
)

// Result is the outcome for one statement.
type Result struct {
	ID      string        `json:"id"`
	Class   planner.Class `json:"class"`
	Outcome Outcome       `json:"outcome"`
	Cause   string        `json:"cause,omitempty"`  // of a refusal: what many of them have in common
	Detail  string        `json:"detail,omitempty"` // why, in a sentence
	Diff    []string      `json:"diff,omitempty"`   // lines of the two answers that differ: "-" only the whole has, "+" only the shards have
}

// maxDiff bounds the lines of a Diff.
const maxDiff = 20
