// Package pglog turns PostgreSQL server logs (stderr with any log_line_prefix, csvlog, jsonlog), the same in the envelopes of syslog, containers
// and cloud services, and plain .sql files into capture.Event values. Values are taken out where they are read: an event holds templates, hash
// slots and keyed hashes, never a literal. It imports capture, its own envelope, planner/sqltext and planner/layout, nothing else of the project.
//
// Bytes flow one way: input (file, gzip, zstd, stdin) → envelopes taken off, records put together and in order → chunks cut at record borders →
// records (prefix, csv, json) → statements and hashed values, by several workers → session machine, in input order → events. Every byte and every
// record ends in one bucket of Counts.
package pglog

import (
	"io"
	"time"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// Format is the format of an input. Auto looks at its first bytes.
type Format string

// The formats. JSON is jsonlog of PostgreSQL 15 and later.
const (
	Auto   Format = ""
	Stderr Format = "stderr"
	CSV    Format = "csv"
	JSON   Format = "json"
	SQL    Format = "sql"
)

// Input is one source of records.
type Input struct {
	Name   string    // shown in errors and positions; default Path
	Path   string    // a file; used if Reader is nil
	Reader io.Reader // for instance standard input; not closed
}

// Config says how inputs are read. The zero value reads anything that can be recognised, with a worker for each of up to 8 CPUs.
type Config struct {
	Prefix    string         // log_line_prefix of stderr inputs; "" infers it
	Format    Format         // Auto recognises it per input
	Workers   int            // parsing goroutines; 0: GOMAXPROCS, at most 8. The result is the same for any number
	HashKey   [16]byte       // of the equality hashes; one key per installation keeps them comparable
	Cache     *sqltext.Cache // of templates; may be shared with others; nil: one of its own
	Zone      *time.Location // of time stamps whose zone abbreviation is not known; nil: UTC
	MaxRecord int            // bytes of one record that are kept; 0: 8 MiB. The rest is counted as dropped, the statement is opaque
	ChunkSize int            // bytes read at a time; 0: 1 MiB
	// Now gives syslog times, which have no year, theirs, where the input is no file with a time of its own. Nil: they are no times.
	Now      func() time.Time
	Sessions int  // sessions remembered at a time; 0: 50,000
	Escaped  bool // control characters of syslog messages are written as #ooo; false: if the first messages show it

	// Known are the positions of an earlier run. An input whose first bytes match one of them is read from its Offset; the name does not
	// matter, so a rotated or compressed file is recognised.
	Known []Position
	// State is what State gave at those positions; nil starts without sessions.
	State []byte
	// Hold leaves the end open for a later run: a last record that could still grow is not consumed and pending statements stay in the
	// state. Without it the end of the last input is the end of the traffic: what is pending becomes events without a duration. In both
	// cases a record without its final newline is left unread and counted in Counts.Unread.
	Hold bool
}

// Position says how far a source was read.
type Position struct {
	Name     string `cbor:"1,keyasint" json:"name"`
	Identity string `cbor:"2,keyasint" json:"identity"`                   // "n:hex": HMAC-SHA256 with HashKey of the first n bytes of decompressed content, at most 4096, of a .sql file 262144
	Offset   int64  `cbor:"3,keyasint" json:"offset"`                     // of the first byte of decompressed content that was not consumed
	Format   Format `cbor:"4,keyasint,omitempty" json:"format,omitempty"` // as recognised, never Auto; of a Known position it says nothing
	Unread   int64  `cbor:"5,keyasint,omitempty" json:"unread,omitempty"` // bytes after Offset of a record that is not whole yet; known at the end of the source
}

// Batch is a run of events in input order. Events and what they point to, templates excepted, are valid until the callback returns.
type Batch struct {
	Events []capture.Event
	Source int // index in Reader.Positions; positions and state as of this batch are consistent with the events delivered so far
}

// Drop counts what was not understood as a record.
type Drop struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

// Counts is the ledger of capture. Bytes = RecordBytes + the bytes of Dropped; Records = the sum of Buckets;
// Statements + Restored = Executions + BindOnly + Joined + Pending.
type Counts struct {
	Bytes       int64 `json:"bytes"`        // decompressed bytes consumed
	RecordBytes int64 `json:"record_bytes"` // of them in records
	Unread      int64 `json:"unread"`       // half-written bytes at the ends of inputs, left for a later run
	Skipped     int64 `json:"skipped"`      // bytes consumed by an earlier run, see Config.Known

	Records      int64 `json:"records"`
	Statements   int64 `json:"statements"`   // observations of a statement
	Executions   int64 `json:"executions"`   // events of Kind Execution
	Errors       int64 `json:"errors"`       // of them failed
	Opaque       int64 `json:"opaque"`       // of them without a template
	BindOnly     int64 `json:"bind_only"`    // events of Kind BindOnly
	Joined       int64 `json:"joined"`       // observations that belong to another one: bind of an execute, plan of a logged statement
	Pending      int64 `json:"pending"`      // held in the state for a later run
	Restored     int64 `json:"restored"`     // pending in the state of the run before
	Transactions int64 `json:"transactions"` // events of Kind Transaction

	Buckets map[string]int64 `json:"buckets"` // records by what they were, see the Bucket constants
	Dropped map[string]Drop  `json:"dropped"` // bytes outside records by reason, see the Drop constants
	Notes   map[string]int64 `json:"notes"`   // what makes a result weaker, by kind, see the Note constants

	First, Last time.Time // of the records
}

// The buckets of records.
const (
	BucketStatement  = "statement"       // text of an execution
	BucketError      = "error"           // ERROR, FATAL or PANIC that ended a statement
	BucketDuration   = "duration"        // bare duration that closed a logged statement
	BucketOverhead   = "overhead"        // bare duration of parse, bind or something not logged
	BucketParse      = "parse"           // duration of a parse step
	BucketBind       = "bind"            // duration of a bind step
	BucketFetch      = "fetch"           // later fetch from a portal that was counted at its start
	BucketPlan       = "plan"            // auto_explain of a top-level statement
	BucketPlanNested = "plan_nested"     // auto_explain of a statement inside a function
	BucketFastpath   = "fastpath"        // fast-path function call
	BucketForged     = "forged"          // looks like a statement, but is a message raised by one
	BucketConnection = "connection"      // connections that come and go
	BucketAudit      = "audit"           // pgaudit, which doubles statements
	BucketWorker     = "parallel_worker" // of a parallel worker, whose leader says it again
	BucketMessage    = "message"         // everything else a server says
	BucketLocalized  = "localized"       // looks like a statement in a language that is not known
	BucketUndecoded  = "undecoded"       // record with fields that could not be decoded
)

// The reasons of dropped bytes.
const (
	DropForeign   = "foreign"        // line without the prefix and without the TAB of a continuation
	DropOrphan    = "orphan"         // continuation or DETAIL without its record
	DropMalformed = "malformed"      // bad csv or json, up to the next record
	DropOversize  = "oversize"       // what a record has beyond Config.MaxRecord
	DropCopyData  = "copy_data"      // rows of COPY FROM STDIN in a .sql file
	DropMeta      = "psql_meta"      // backslash commands in a .sql file
	DropBlank     = "blank"          // blank bytes and comments outside statements in a .sql file, NULs after a crash
	DropTruncated = "truncated_gzip" // tail of a broken compressed file
	DropEnvelope  = "envelope"       // brackets, commas and blanks between JSON entries
	DropDuplicate = "duplicate"      // chunk of a syslog message that came twice
)

// The notes.
const (
	NoteAmbiguousPrefix  = "ambiguous_prefix"   // more than one way to read the prefix; the last one was taken
	NotePidless          = "pidless"            // records grouped by client address, because the prefix has no pid; without that too, transactions are not followed
	NoteUnknownZone      = "unknown_zone"       // time zone abbreviation not known, Config.Zone taken
	NoteBadTime          = "bad_time"           // no readable time
	NoteUnknownPrepared  = "unknown_prepared"   // EXECUTE of a statement whose PREPARE was not seen
	NoteEvictedSession   = "evicted_session"    // forgotten because of Config.Sessions
	NoteEvictedPrepared  = "evicted_prepared"   // prepared statements of a session that had too many
	NoteCutValue         = "cut_value"          // bind values that end in the server's cut mark
	NoteMalformedParams  = "malformed_params"   // parameter list that does not parse; its values are unknown
	NoteUnresolvedParams = "unresolved_params"  // EXECUTE arguments that are expressions
	NoteFailedString     = "failed_string"      // statements of strings of several that failed: those after the one at fault never ran, but which one it was is not in the log
	NoteErrorWithoutText = "error_without_text" // failed statement whose text the log does not show (log_min_error_statement)
	NoteEmptyInput       = "empty_input"        // file without a byte
	NoteLostRecords      = "lost_records"       // records of a process that are missing in the numbers that csvlog, jsonlog and syslog give them
	NoteLostChunks       = "lost_chunks"        // records of syslog with a gap in the numbers of their chunks; their text is unknown
	NoteAmbiguousEscape  = "ambiguous_escape"   // lines with a "#011" that may be the daemon's escape or what the statement says
)
