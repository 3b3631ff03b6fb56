package warehouse

import (
	"cmp"
	"math/bits"
	"slices"
	"time"
)

// Template is a row of templates.
type Template struct {
	ID, Text, Slots, Search, Verb string
	Bound                         int
	FirstSeen                     time.Time
}

// Fact is a row of facts.
type Fact struct {
	Template, Schema string
	Version          int
	Data             []byte
}

// Rollup is a row of rollups.
type Rollup struct {
	Minute                                           time.Time
	Template, Database, User, Application, Team, End string
	Calls, Errors, Timed, TimeUS                     int64
	Latency                                          Histogram
	ListMin, ListMax                                 int64
}

// KeySlot is a row of key_slots.
type KeySlot struct {
	Day           time.Time
	Table, Column string
	Slot          uint16
	Calls         int64
}

// SignatureRow is a row of signatures.
type SignatureRow struct {
	Signature string
	Position  int
	Template  string
	Repeated  bool
	Slots     []int64
	Symbols   []int64
}

// Transaction is a row of transactions.
type Transaction struct {
	Day                                            time.Time
	Signature                                      string
	Explicit, Committed, Partial, Opaque, Overflow bool
	Count, Statements, TimeUS                      int64
}

// OpaqueRow is a row of opaque.
type OpaqueRow struct {
	Minute                            time.Time
	Reason, Hash                      string
	Bytes                             int64
	Database, User, Application, Team string
	Calls, Errors, TimeUS             int64
}

// LedgerRow is a row of ledger.
type LedgerRow struct {
	Source, Name, Measure, Reason string
	Value                         int64
}

// Schema is a row of schemas.
type Schema struct{ Hash, Name string }

// Histogram counts durations in buckets that are at most 1/8 wide relative to their lower bound: eight to the octave, so a quantile read from
// it is off by 6.25 % at most. It is sparse and merges by adding.
type Histogram map[int]int64

// Bucket returns the number of the bucket of a duration in microseconds. Below 16 a bucket is one microsecond.
func Bucket(us int64) int {
	if us < 8 {
		return int(max(us, 0))
	}
	e := bits.Len64(uint64(us)) - 4
	return e<<3 + int(us>>e)
}

// BucketBounds returns the durations of a bucket in microseconds: low <= d < high.
func BucketBounds(b int) (low, high int64) {
	if b < 8 {
		return int64(b), int64(b) + 1
	}
	e := b>>3 - 1
	m := int64(b&7 + 8)
	return m << e, (m + 1) << e
}

// Add counts one duration in microseconds.
func (h Histogram) Add(us int64) { h[Bucket(us)]++ }

// Sorted returns the buckets in order and their counts.
func (h Histogram) Sorted() (buckets, counts []int64) {
	for b := range h {
		buckets = append(buckets, int64(b))
	}
	slices.Sort(buckets)
	for _, b := range buckets {
		counts = append(counts, h[int(b)])
	}
	return buckets, counts
}

func (r Template) cells(w *cells) {
	w.text(r.ID)
	w.text(r.Text)
	w.text(r.Slots)
	w.text(r.Search)
	w.text(r.Verb)
	w.integer(int64(r.Bound))
	w.time(r.FirstSeen)
}

func (r Fact) cells(w *cells) {
	w.text(r.Template)
	w.text(r.Schema)
	w.integer(int64(r.Version))
	w.blob(r.Data)
}

func (r Rollup) cells(w *cells) {
	w.time(r.Minute)
	w.text(r.Template)
	w.text(r.Database)
	w.text(r.User)
	w.text(r.Application)
	w.text(r.Team)
	w.text(r.End)
	w.integer(r.Calls)
	w.integer(r.Errors)
	w.integer(r.Timed)
	w.integer(r.TimeUS)
	buckets, counts := r.Latency.Sorted()
	w.integers(buckets)
	w.integers(counts)
	w.integer(r.ListMin)
	w.integer(r.ListMax)
}

func (r KeySlot) cells(w *cells) {
	w.text(r.Table)
	w.text(r.Column)
	w.integer(int64(r.Slot))
	w.integer(r.Calls)
}

func (r SignatureRow) cells(w *cells) {
	w.text(r.Signature)
	w.integer(int64(r.Position))
	w.text(r.Template)
	w.flag(r.Repeated)
	w.integers(r.Slots)
	w.integers(r.Symbols)
}

func (r Transaction) cells(w *cells) {
	w.text(r.Signature)
	w.flag(r.Explicit)
	w.flag(r.Committed)
	w.flag(r.Partial)
	w.flag(r.Opaque)
	w.flag(r.Overflow)
	w.integer(r.Count)
	w.integer(r.Statements)
	w.integer(r.TimeUS)
}

func (r OpaqueRow) cells(w *cells) {
	w.time(r.Minute)
	w.text(r.Reason)
	w.text(r.Hash)
	w.integer(r.Bytes)
	w.text(r.Database)
	w.text(r.User)
	w.text(r.Application)
	w.text(r.Team)
	w.integer(r.Calls)
	w.integer(r.Errors)
	w.integer(r.TimeUS)
}

func (r LedgerRow) cells(w *cells) {
	w.text(r.Source)
	w.text(r.Name)
	w.text(r.Measure)
	w.text(r.Reason)
	w.integer(r.Value)
}

func (r Schema) cells(w *cells) {
	w.text(r.Hash)
	w.text(r.Name)
}

func (r Rollup) day() time.Time      { return r.Minute }
func (r KeySlot) day() time.Time     { return r.Day }
func (r Transaction) day() time.Time { return r.Day }
func (r OpaqueRow) day() time.Time   { return r.Minute }

func compareTemplates(a, b *Template) int { return cmp.Compare(a.ID, b.ID) }
func compareFacts(a, b *Fact) int         { return cmp.Compare(a.Template, b.Template) }
func compareSchemas(a, b *Schema) int     { return cmp.Compare(a.Hash, b.Hash) }

func compareRollups(a, b *Rollup) int {
	return cmp.Or(cmp.Compare(a.Template, b.Template), a.Minute.Compare(b.Minute), cmp.Compare(a.Database, b.Database),
		cmp.Compare(a.User, b.User), cmp.Compare(a.Application, b.Application), cmp.Compare(a.Team, b.Team), cmp.Compare(a.End, b.End))
}

func compareKeySlots(a, b *KeySlot) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Slot, b.Slot))
}

func compareSignatures(a, b *SignatureRow) int {
	return cmp.Or(cmp.Compare(a.Signature, b.Signature), cmp.Compare(a.Position, b.Position))
}

func compareTransactions(a, b *Transaction) int {
	return cmp.Or(cmp.Compare(a.Signature, b.Signature), compareFlags(a.Explicit, b.Explicit), compareFlags(a.Committed, b.Committed),
		compareFlags(a.Partial, b.Partial), compareFlags(a.Opaque, b.Opaque), compareFlags(a.Overflow, b.Overflow))
}

func compareOpaque(a, b *OpaqueRow) int {
	return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Hash, b.Hash), a.Minute.Compare(b.Minute), cmp.Compare(a.Bytes, b.Bytes),
		cmp.Compare(a.Database, b.Database), cmp.Compare(a.User, b.User), cmp.Compare(a.Application, b.Application), cmp.Compare(a.Team, b.Team))
}

func compareLedger(a, b *LedgerRow) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Measure, b.Measure), cmp.Compare(a.Reason, b.Reason))
}

func compareFlags(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
