package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// SourceState returns the source's own part of a stream's saved state; nil if there is none.
func SourceState(data []byte) ([]byte, error) {
	if data == nil {
		return nil, nil
	}
	s, err := decodeState(data)
	return s.Source, err
}

func decodeState(data []byte) (s savedState, err error) {
	if err := cbor.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("decode state of the stream: %w", err)
	}
	return s, nil
}

// drain moves the rows into a commit and forgets them. Their order is the commit's business.
func (a *aggregate) drain(c *warehouse.Commit) {
	for _, t := range a.fresh {
		c.Templates = append(c.Templates, warehouse.Template{ID: t.id, Text: t.source.Text, Slots: t.resolved.Slots, Search: t.search,
			Verb: verb(t.source.Text), FirstSeen: t.seen})
		c.Facts = append(c.Facts, warehouse.Fact{Template: t.id, Schema: a.schema, Version: t.resolved.Version, Data: t.resolved.Facts})
		t.resolved.Facts = nil
	}
	c.Rollups = slices.Grow(c.Rollups, len(a.rollups))
	for k, r := range a.rollups {
		c.Rollups = append(c.Rollups, warehouse.Rollup{Minute: time.Unix(k.minute*60, 0).UTC(), Template: k.t.id, Database: k.o.database,
			User: k.o.user, Application: k.o.app, Team: k.o.team, End: k.o.endpoint, Calls: r.calls, Errors: r.errors, Timed: r.timed,
			TimeUS: r.us, Latency: r.latency, ListMin: r.listMin, ListMax: r.listMax})
	}
	for k, o := range a.opaque {
		c.Opaque = append(c.Opaque, warehouse.OpaqueRow{Minute: time.Unix(k.minute*60, 0).UTC(), Reason: k.reason, Hash: k.hash,
			Bytes: int64(k.bytes), Database: k.o.database, User: k.o.user, Application: k.o.app, Team: k.o.team, Calls: o.calls,
			Errors: o.errors, TimeUS: o.us})
	}
	c.KeySlots = slices.Grow(c.KeySlots, a.keyCells)
	for k, counts := range a.slots {
		day := time.Unix(k.day*86400, 0).UTC()
		counts.each(func(slot uint16, n int64) {
			c.KeySlots = append(c.KeySlots, warehouse.KeySlot{Day: day, Table: k.c.table, Column: k.c.name, Slot: slot, Calls: n})
		})
		a.recycle(counts)
	}
	a.drainCounted(c)
	a.writes.drain(c)
	c.Signatures = a.txns.fresh
	for k, n := range a.txns.counts {
		c.Transactions = append(c.Transactions, warehouse.Transaction{Day: time.Unix(k.day*86400, 0).UTC(), Signature: k.signature,
			Explicit: k.explicit, Committed: k.committed, Partial: k.partial, Opaque: k.opaque, Overflow: k.overflow, Count: n.count,
			Statements: n.statements, TimeUS: n.us})
	}
	a.reset()
}

// verb is the first word of a template's canonical text.
func verb(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
	if end < 0 {
		end = len(text)
	}
	return text[:end]
}
