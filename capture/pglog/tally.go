package pglog

import (
	"maps"
	"time"
)

// tally is the ledger while it is written.
type tally struct {
	Counts
	first, last int64
	restored    int64 // statements that an earlier run held
}

func newTally() *tally {
	return &tally{Counts: Counts{Buckets: map[string]int64{}, Dropped: map[string]Drop{}, Notes: map[string]int64{}}}
}

func (t *tally) note(kind string, n int64) { t.Notes[kind] += n }

func (t *tally) drop(reason string, bytes int) {
	d := t.Dropped[reason]
	t.Dropped[reason] = Drop{Count: d.Count + 1, Bytes: d.Bytes + int64(bytes)}
}

// chunk enters what the reader and a worker counted.
func (t *tally) chunk(c *chunk) {
	t.Bytes += int64(c.size + c.over)
	t.Unread += c.unread
	if c.over > 0 {
		t.drop(DropOversize, c.over)
	}
	t.RecordBytes += c.out.recordBytes
	t.worked(c.out.drops, c.out.notes)
	if c.src.wrap != nil {
		t.worked(c.un.drops, c.un.notes)
	}
	if c.out.first != 0 && (t.first == 0 || c.out.first < t.first) {
		t.first = c.out.first
	}
	t.last = max(t.last, c.out.last)
}

func (t *tally) worked(drops map[string]Drop, notes map[string]int64) {
	for reason, d := range drops {
		have := t.Dropped[reason]
		t.Dropped[reason] = Drop{Count: have.Count + d.Count, Bytes: have.Bytes + d.Bytes}
	}
	for kind, n := range notes {
		t.Notes[kind] += n
	}
}

func (t *tally) snapshot(pending int64) Counts {
	c := t.Counts
	c.Pending, c.Restored = pending, t.restored
	c.Buckets, c.Dropped, c.Notes = maps.Clone(t.Buckets), maps.Clone(t.Dropped), maps.Clone(t.Notes)
	if t.first != 0 {
		c.First, c.Last = time.Unix(0, t.first).UTC(), time.Unix(0, t.last).UTC()
	}
	return c
}
