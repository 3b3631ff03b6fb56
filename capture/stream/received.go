package stream

import (
	"context"
	"maps"
)

// received is what the receiver has counted, nil if there is none, and what that grew by since it was reported.
func (f *follower) received() (now *Ledger, grown Ledger) {
	if f.cfg.Received == nil {
		return nil, Ledger{}
	}
	l := receivedLedger(f.cfg.Received())
	return &l, receivedSince(l, f.agent.Checkpoint().Received)
}

// release lets contents go that are read and whose positions survive a crash.
func (f *follower) release() error {
	if f.agent.Durable() {
		return f.files.Release()
	}
	return nil
}

// FlushReceived reports what a receiver could not receive, as FollowConfig.Received has it, beside what was flushed before.
func (a *Agent) FlushReceived(ctx context.Context, dropped map[string]Drop) error {
	c, now := a.Checkpoint(), receivedLedger(dropped)
	grown := receivedSince(now, c.Received)
	if grown.empty() {
		return nil
	}
	c.Received = &now
	return a.Flush(ctx, c, grown)
}

// receivedSince is what a receiver's counts grew by since they were reported. Counts that have shrunk are those of a receiver that was made anew.
func receivedSince(now Ledger, told *Ledger) Ledger {
	if told == nil {
		return now
	}
	since := Ledger{Dropped: maps.Clone(now.Dropped), DroppedBytes: maps.Clone(now.DroppedBytes)}
	for reason, n := range told.Dropped {
		if now.Dropped[reason] < n || now.DroppedBytes[reason] < told.DroppedBytes[reason] {
			return now
		}
	}
	since.Bytes = now.Bytes
	since.Add(*told, -1)
	return since
}

// receivedLedger is a receiver's counts as a ledger: what was dropped was read, too.
func receivedLedger(dropped map[string]Drop) Ledger {
	l := Ledger{Dropped: map[string]int64{}, DroppedBytes: map[string]int64{}}
	for reason, d := range dropped {
		l.Bytes += d.Bytes
		l.Dropped[reason] = d.Count
		if d.Bytes > 0 {
			l.DroppedBytes[reason] = d.Bytes
		}
	}
	return l
}

// Drop counts what was not received whole.
type Drop struct{ Count, Bytes int64 }
