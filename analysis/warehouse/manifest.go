package warehouse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Format is the version of the warehouse's layout. A reader refuses a higher one. Since 2 the first manifests may be gone, and a checkpoint
// stands for them.
const Format = 2

// manifest is one commit. Its number is its name's.
type manifest struct {
	Format    int        `json:"format"`
	Number    int        `json:"number"`
	Parent    string     `json:"parent"`        // SHA-256 of manifest Number-1; "" of number 0
	Key       string     `json:"key,omitempty"` // number 0: fingerprint of the hash key
	Was       string     `json:"was,omitempty"` // number 0: its SHA-256 before its format was raised
	Stream    string     `json:"stream"`        // whose traffic this is; one writer at a time per stream
	At        time.Time  `json:"at,omitzero"`   // of upkeep: when, by its clock
	Files     []File     `json:"files"`
	Removed   []string   `json:"removed,omitempty"` // files that count no more: those that Files stand for, first; they may be deleted later
	Deleted   []int      `json:"deleted,omitempty"` // manifests whose Removed are deleted
	Positions []Position `json:"positions"`         // of the stream's sources that moved
	State     *File      `json:"state,omitempty"`   // what the stream needs to go on from Positions; it replaces the one before
	Ledger    Ledger     `json:"ledger"`            // what this commit adds
}

// File is one immutable file.
type File struct {
	Table  string    `json:"table,omitempty"`
	Path   string    `json:"path"`
	Rows   int64     `json:"rows"`
	Bytes  int64     `json:"bytes"`
	SHA256 string    `json:"sha256"`
	From   time.Time `json:"from,omitzero"` // first and last minute or day of the rows of a table that has them
	To     time.Time `json:"to,omitzero"`
	// Of a file that upkeep made: it stands for so many of its manifest's Removed, and its rows are in the order of the table's keys.
	Replaces int `json:"replaces,omitempty"`
}

// Position says how far one source was read. Identity names its content, so that a renamed file is the same source.
type Position struct {
	Identity   string `json:"identity"`
	Replaces   string `json:"replaces,omitempty"` // the identity that the same source had before
	Name       string `json:"name"`
	Format     string `json:"format,omitempty"`
	Offset     int64  `json:"offset"`
	Records    int64  `json:"records,omitempty"`    // since the beginning
	Executions int64  `json:"executions,omitempty"` // since the beginning
	Unread     int64  `json:"unread,omitempty"`     // bytes of a last record that is not whole yet
}

// Ledger is counts of what was read; two of them add up.
type Ledger struct {
	Bytes        int64            `json:"bytes"`
	Records      int64            `json:"records"`
	Statements   int64            `json:"statements"`
	Executions   int64            `json:"executions"`
	Errors       int64            `json:"errors"`
	Transactions int64            `json:"transactions"`
	Dropped      map[string]int64 `json:"dropped,omitempty"`
	DroppedBytes map[string]int64 `json:"dropped_bytes,omitempty"`
	Unparsed     map[string]int64 `json:"unparsed,omitempty"`
	Buckets      map[string]int64 `json:"buckets,omitempty"`
	Notes        map[string]int64 `json:"notes,omitempty"`
	Retired      map[string]int64 `json:"retired,omitempty"` // by table: what its rows counted that retention removed
	From         time.Time        `json:"from,omitzero"`     // of the events
	To           time.Time        `json:"to,omitzero"`
}

// Add adds another ledger times a factor: 1, or -1 to take the difference (which keeps From and To).
func (l *Ledger) Add(o Ledger, factor int64) {
	l.Bytes += factor * o.Bytes
	l.Records += factor * o.Records
	l.Statements += factor * o.Statements
	l.Executions += factor * o.Executions
	l.Errors += factor * o.Errors
	l.Transactions += factor * o.Transactions
	l.Dropped = addCounts(l.Dropped, o.Dropped, factor)
	l.DroppedBytes = addCounts(l.DroppedBytes, o.DroppedBytes, factor)
	l.Unparsed = addCounts(l.Unparsed, o.Unparsed, factor)
	l.Buckets = addCounts(l.Buckets, o.Buckets, factor)
	l.Notes = addCounts(l.Notes, o.Notes, factor)
	l.Retired = addCounts(l.Retired, o.Retired, factor)
	if factor > 0 {
		l.Saw(o.From)
		l.Saw(o.To)
	}
}

// Saw widens the window; the zero time is no time.
func (l *Ledger) Saw(t time.Time) {
	if t.IsZero() {
		return
	}
	if l.From.IsZero() || t.Before(l.From) {
		l.From = t
	}
	if t.After(l.To) {
		l.To = t
	}
}

// addCounts returns a + factor*b without zeros; it may change a.
func addCounts(a, b map[string]int64, factor int64) map[string]int64 {
	for k, v := range b {
		if a == nil {
			a = map[string]int64{}
		}
		if a[k] += factor * v; a[k] == 0 {
			delete(a, k)
		}
	}
	return a
}

// rows lists the ledger's counts as rows of the ledger table.
func (l *Ledger) rows(source, name string) []LedgerRow {
	var out []LedgerRow
	add := func(measure, reason string, v int64) {
		if v != 0 {
			out = append(out, LedgerRow{source, name, measure, reason, v})
		}
	}
	add("bytes", "", l.Bytes)
	add("records", "", l.Records)
	add("statements", "", l.Statements)
	add("executions", "", l.Executions)
	add("errors", "", l.Errors)
	add("transactions", "", l.Transactions)
	for measure, m := range map[string]map[string]int64{
		"dropped": l.Dropped, "dropped_bytes": l.DroppedBytes, "unparsed": l.Unparsed, "bucket": l.Buckets, "note": l.Notes, "retired": l.Retired,
	} {
		for _, reason := range slices.Sorted(maps.Keys(m)) {
			add(measure, reason, m[reason])
		}
	}
	return out
}

func manifestName(n int) string { return fmt.Sprintf("manifests/%010d.json", n) }

// encode writes the manifest as JSON with a final newline. The same manifest gives the same bytes.
func (m *manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("encode manifest %d: %w", m.Number, err)
	}
	return b.Bytes(), nil
}
