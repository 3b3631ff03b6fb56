package analysis

import (
	"time"

	"github.com/foreshard/foreshard/planner"
)

// Report is everything a readiness report shows: what was read, and what it means under each candidate. Package reports turns it into text,
// JSON, Markdown and HTML. Its JSON form is a contract: fields are only ever added.
type Report struct {
	SchemaVersion int               `json:"schema_version"` // 1
	Ledger        Ledger            `json:"ledger"`
	Window        Window            `json:"window"`
	Candidates    []CandidateReport `json:"candidates"`
	Sources       []SourceReport    `json:"sources"`
	Flips         []Flip            `json:"flips"` // templates whose readiness differs between the candidates, by calls; empty for one candidate
	// Basis is what the candidates' numbers count: "" the log; "statistics" what servers counted themselves, because there is no log;
	// "wal" nothing, because there is neither, and Writes is all there is.
	Basis    string    `json:"basis,omitempty"`
	Coverage *Coverage `json:"coverage,omitempty"` // nil: the warehouse holds no statistics of servers
}

// Ledger says where every byte, record and statement that was read went. Bytes = record bytes + dropped bytes; Records = the sum of its buckets.
type Ledger struct {
	Bytes        int64            `json:"bytes"`
	Records      int64            `json:"records"`
	Statements   int64            `json:"statements"` // statement texts seen (an extended-protocol execution shows its text up to three times)
	Executions   int64            `json:"executions"` // calls, failed ones included
	Errors       int64            `json:"errors"`     // failed executions
	Dropped      map[string]int64 `json:"dropped"`    // records that are no evidence or could not be read, by reason
	DroppedBytes map[string]int64 `json:"dropped_bytes"`
	Unparsed     map[string]int64 `json:"unparsed"` // executions whose text is opaque or that the parser refused, by reason
	Buckets      map[string]int64 `json:"buckets"`  // records by what they were: execution, duration, parse, bind, detail, plan, error, connection, other, ...
	Notes        map[string]int64 `json:"notes"`    // what makes the result weaker, by kind: ambiguous_prefix, pidless, ...
	// Retired is what the rows counted that the warehouse's retention has dropped, by table: they are in the counts above and in nothing else.
	Retired map[string]int64 `json:"retired,omitempty"`
}

// Window is the span of the events.
type Window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// SourceReport is one file that was read.
type SourceReport struct {
	Name       string `json:"name"`
	Format     string `json:"format"`           // stderr, csvlog, jsonlog, sql; kafka, wal, pg_stat_statements
	Bytes      int64  `json:"bytes"`            // of a log; 0 of what is not read in bytes
	Offset     int64  `json:"offset,omitempty"` // how far a partition or a WAL was read, in messages or as an LSN
	Records    int64  `json:"records"`
	Executions int64  `json:"executions"`
	Incomplete int64  `json:"incomplete_bytes"` // of a last record that is not whole yet
}

// Share is one measure split by class and by readiness.
type Share struct {
	Total       float64            `json:"total"`
	ByClass     map[string]float64 `json:"by_class"`
	ByReadiness map[string]float64 `json:"by_readiness"`
}

// CandidateReport is the verdicts of one candidate, weighted by traffic.
type CandidateReport struct {
	Name                 string         `json:"name"`
	Hash                 string         `json:"hash"`
	Dialect              string         `json:"dialect"`
	Calls                Share          `json:"calls"`
	TimeMS               Share          `json:"time_ms"`
	Templates            Share          `json:"templates"`
	Transactions         Transactions   `json:"transactions"`
	CrossColoJoins       CrossColo      `json:"cross_colo_joins"`
	Reasons              []ReasonReport `json:"reasons"`
	LayoutDependentCalls int64          `json:"layout_dependent_calls"`
	Undecided            []string       `json:"undecided_tables"` // tables in the traffic that the candidate does not name
	Missing              []string       `json:"missing_tables"`   // tables in the traffic that the schema lacks
	Queries              []QueryReport  `json:"queries"`          // not ready ones first, by calls; then the rest
	Tables               []TableReport  `json:"tables"`
	Teams                []TeamReport   `json:"teams"`
	Skew                 []SkewReport   `json:"skew"`
	// SchemaFindings are the objects of the schema that the candidate breaks or weakens, by table, worst first; they do not depend on traffic.
	SchemaFindings []SchemaFinding `json:"schema_findings"`
	Writes         *WriteReport    `json:"writes,omitempty"`   // what the WAL says was written; nil: there is no WAL
	Unlogged       *Unlogged       `json:"unlogged,omitempty"` // calls that servers counted and the log does not have; nil: no statistics
}

// SchemaFinding is one object of the schema that the candidate touches: a constraint, a column, a trigger, a function.
type SchemaFinding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // breaks, weakens, info
	Table    string `json:"table"`    // catalog key; "" if it belongs to no table
	Object   string `json:"object"`
	Kind     string `json:"kind"` // what Object is: "primary key", "trigger", ...
	Why      string `json:"why"`
	Repair   string `json:"repair"` // SQL or an edit of the candidate; "" if there is nothing to do
	Line     int    `json:"line"`   // in the schema's DDL
}

// Transactions are counts of transactions; autocommit statements are transactions of one statement.
type Transactions struct {
	Total           int64 `json:"total"`
	SingleShard     int64 `json:"single_shard"` // one key value, or nothing sharded
	MultiShardRead  int64 `json:"multi_shard_read"`
	MultiShardWrite int64 `json:"multi_shard_write"`
	Unknown         int64 `json:"unknown"`
	Explicit        int64 `json:"explicit"` // of Total: BEGIN ... COMMIT blocks
	ExplicitSingle  int64 `json:"explicit_single_shard"`
	// ParamDependent is how many of SingleShard rest on the values that were seen: a list of keys that had one value. Other values would need more
	// shards, so the statement's own class does not say single_shard.
	ParamDependent int64 `json:"param_dependent"`
}

// CrossColo is the traffic of statements that join tables of different colos.
type CrossColo struct {
	Calls     int64      `json:"calls"`
	TimeMS    float64    `json:"time_ms"`
	Templates int64      `json:"templates"`
	Pairs     []ColoPair `json:"pairs"`
}

// ColoPair is the cross-colo joins of two tables.
type ColoPair struct {
	Left      string  `json:"left"`
	Right     string  `json:"right"`
	Calls     int64   `json:"calls"`
	TimeMS    float64 `json:"time_ms"`
	Templates int64   `json:"templates"`
}

// ReasonReport is the traffic of templates that carry a reason and are not ready.
type ReasonReport struct {
	Code      string   `json:"code"`
	Short     string   `json:"short"`
	Hint      string   `json:"hint"`
	Calls     int64    `json:"calls"`
	TimeMS    float64  `json:"time_ms"`
	Templates int64    `json:"templates"`
	Top       []string `json:"top"` // template IDs, most calls first, at most 5
}

// QueryReport is one template under one candidate.
type QueryReport struct {
	ID              string        `json:"id"`
	Text            string        `json:"text"` // values as $n; parameters that the client gave one number have one
	Class           string        `json:"class"`
	Readiness       string        `json:"readiness"`
	Reasons         []QueryReason `json:"reasons"`
	Features        []string      `json:"features"`
	MissingFeatures []string      `json:"missing_features"` // of Features and what follows from the class, those that the dialect lacks
	Tables          []string      `json:"tables"`
	Calls           int64         `json:"calls"`
	Errors          int64         `json:"errors"`
	TimeMS          float64       `json:"time_ms"`
	P95MS           float64       `json:"p95_ms"`
	Teams           []string      `json:"teams"`     // most calls first
	Endpoints       []string      `json:"endpoints"` // most calls first
	Apps            []string      `json:"apps"`
	LayoutDependent bool          `json:"layout_dependent"`
	Fixes           []planner.Fix `json:"fixes"` // smallest change first; only of the templates that are not ready and carry most calls
}

// QueryReason is one reason of one query.
type QueryReason struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Position int    `json:"position"`
}

// TableReport is the traffic that touches one table.
type TableReport struct {
	Table       string           `json:"table"`
	Placement   string           `json:"placement"` // sharded, reference, unsharded, undecided
	Colo        string           `json:"colo"`
	Key         string           `json:"key"`
	Calls       int64            `json:"calls"`
	TimeMS      float64          `json:"time_ms"`
	Templates   int64            `json:"templates"`
	ByReadiness map[string]int64 `json:"by_readiness"` // calls
}

// TeamReport is the traffic of one team ("" where no tag or application name tells).
type TeamReport struct {
	Team           string           `json:"team"`
	Calls          int64            `json:"calls"`
	Templates      int64            `json:"templates"`
	ByReadiness    map[string]int64 `json:"by_readiness"` // calls
	TemplatesReady int64            `json:"templates_ready"`
}

// SkewReport is how the bound calls of a colo spread over its logical shards.
type SkewReport struct {
	Colo     string  `json:"colo"`
	Shards   int     `json:"shards"`
	Calls    int64   `json:"calls"`
	MaxShare float64 `json:"max_share"` // of the busiest shard
	MaxMean  float64 `json:"max_over_mean"`
}

// Flip is a template whose readiness depends on the candidate.
type Flip struct {
	ID        string            `json:"id"`
	Text      string            `json:"text"`
	Calls     int64             `json:"calls"`
	Readiness map[string]string `json:"readiness"` // candidate name -> readiness
	Class     map[string]string `json:"class"`
}
