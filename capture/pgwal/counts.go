package pgwal

import "maps"

// What the ledger of the WAL says.
const (
	DropUnreadable = "wal_unreadable" // messages that did not decode; the transaction they were in is unknown
	DropSpill      = "wal_spill_full" // rows of transactions that did not fit into memory and disk; they are unknown

	NoteGap       = "wal_gap"          // stretches of WAL that were not seen
	NoteGapBytes  = "wal_gap_bytes"    // their length, of those whose both ends are known
	NoteReconnect = "wal_reconnects"   // sessions that ended with an error
	NoteCeiling   = "wal_slot_dropped" // times that the slot was dropped because it held too much WAL
	NoteFailover  = "wal_failover"     // times that the server's timeline changed
	NoteWide      = "wal_wide"         // transactions that wrote more tables than fit into an event
)

// Counts are what was read since a Reader was opened. Bytes = the bytes of Records and DroppedBytes; Records = the sum of Buckets.
type Counts struct {
	Bytes        int64 // of messages, without their envelope
	Records      int64
	Dropped      map[string]int64
	DroppedBytes map[string]int64
	Buckets      map[string]int64
	Notes        map[string]int64
}

func newCounts() Counts {
	return Counts{Dropped: map[string]int64{}, DroppedBytes: map[string]int64{}, Buckets: map[string]int64{}, Notes: map[string]int64{}}
}

// Clone returns a copy that does not change.
func (c Counts) Clone() Counts {
	c.Dropped, c.DroppedBytes, c.Buckets, c.Notes = maps.Clone(c.Dropped), maps.Clone(c.DroppedBytes), maps.Clone(c.Buckets), maps.Clone(c.Notes)
	return c
}
