// Package capture defines the Event: one observed execution, with its values already taken out. It may import planner/sqltext and
// planner/layout, nothing else of the project; it knows nothing of candidates.
package capture

import (
	"time"

	"github.com/foreshard/foreshard/planner/sqltext"
)

// Kind says what an event is evidence of.
type Kind uint8

// The kinds of events. Only Execution counts as a call.
const (
	Execution   Kind = iota + 1 // one execution of one statement, successful or failed (SQLState)
	BindOnly                    // a bind line without its execute line: the template is known, no call is counted
	Transaction                 // the end of a transaction that had statements: Txn is set
	Statistics                  // calls that the server's own statistics counted: Counted is set. Evidence beside the log's, no call of its own
	Write                       // a committed transaction as the WAL has it: Written is set. It has no statement's text and counts no call
)

// Event is one observed execution, statement by statement (a simple-protocol string of three statements gives three events).
type Event struct {
	Kind     Kind
	Time     time.Time // UTC; of the log record
	Session  string    // session id, or pid, or client address, as the source has it
	User     string
	Database string
	App      string
	Team     string // from sqlcommenter tags, "" none
	Endpoint string // from sqlcommenter tags (route, or controller#action), "" none
	Client   string // host without port

	Template *sqltext.Template // nil if Opaque
	Opaque   *Opaque           // text that could not be lexed or was cut: length and keyed hash only
	Values   []Value           // by Slot, lists in order
	Search   string            // search_path in force in the session if it was SET, else ""

	Duration time.Duration // of the whole string if several statements share it: then Share > 1 and it is already divided
	Timed    bool
	Share    int    // statements of one string that were timed together; 0 or 1: alone
	SQLState string // "00000" or "" success; StateUnknown: it failed and the log does not say how
	Copy     bool   // COPY FROM STDIN: the rows are not visible
	Txn      *Txn   // Kind Transaction
	Counted  *Counted
	Written  *Written
	TxnID    uint64 // number of the transaction within the session: statements of one transaction share it; every autocommit statement has its own
	Auto     bool   // autocommit: the statement is its own transaction. The first one of a transaction that only its virtual id shows is Auto too; the others have its TxnID, and a Transaction with Partial follows
}

// StateUnknown is the SQLState of a failed execution whose code is not in the log (stderr without %e and without verbose errors).
const StateUnknown = "?????"

// SearchUnknown is the Search of a session that changed its search_path in a way that cannot be followed. It is no valid path, so names stay unresolved.
const SearchUnknown = "?"

// Opaque is text that is treated as secret.
type Opaque struct {
	Bytes  int
	Hash   string // keyed
	Reason string // truncated, unlexable, encoding, fastpath
}

// Value is what leaves the source of a value: nothing but hashes.
type Value struct {
	Slot int // 1-based, in the template
	Null bool
	Cut  bool // the server truncated it: no hash is valid
	// Hash slot (0..65535) and keyed equality hash by key type; valid where Has says so. An integer's Int is that of its int8 value, a uuid's of its 16 bytes, Text of the bytes.
	Has   HashTypes
	Slots [3]uint16
	Eq    [3]uint64
}

// HashTypes is a set of key type classes.
type HashTypes uint8

// The key type classes; also indexes (IntHash = 1<<0 → index 0).
const (
	IntHash HashTypes = 1 << iota
	TextHash
	UUIDHash
)

// Txn is a finished transaction.
type Txn struct {
	Start, End   time.Time
	Statements   int
	Committed    bool // false: rolled back, or the session ended
	Partial      bool // its beginning or end was not seen
	Savepoints   int
	Serializable bool
}
