package pgwal

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/foreshard/foreshard/capture"
)

// decoder turns pgoutput's messages into events. One lives as long as a session.
type decoder struct {
	hash     hasher
	database string
	skip     uint64 // transactions that end here or before were handed on already
	store    *store
	counts   *Counts
	tables   *tables
	// reread reads the catalog again, for a table that it did not have.
	reread func() (*tables, error)
	emit   func([]capture.Event) error // of one transaction, all at once

	relations map[uint32]*relation
	plain     *transaction // between Begin and Commit
	chunk     *transaction // between StreamStart and StreamStop
	streams   map[uint32]*transaction
	end       uint64 // of the last transaction that ended
	seq       uint64
	rows      int // since memory was looked at
}

// errProtocol says that messages came in an order that has no meaning, or one of those that set the order did not decode. What follows cannot be
// relied on; the session begins again.
var errProtocol = errors.New("the stream makes no sense")

// boundRows is after how many rows memory is looked at.
const boundRows = 1000

// bucket names are what messages are counted under.
var buckets = map[pglogrepl.MessageType]string{
	pglogrepl.MessageTypeBegin: "wal_begin", pglogrepl.MessageTypeCommit: "wal_commit", pglogrepl.MessageTypeOrigin: "wal_origin", pglogrepl.MessageTypeRelation: "wal_relation",
	pglogrepl.MessageTypeType: "wal_type", pglogrepl.MessageTypeInsert: "wal_insert", pglogrepl.MessageTypeUpdate: "wal_update", pglogrepl.MessageTypeDelete: "wal_delete",
	pglogrepl.MessageTypeTruncate: "wal_truncate", pglogrepl.MessageTypeMessage: "wal_message", pglogrepl.MessageTypeStreamStart: "wal_stream", pglogrepl.MessageTypeStreamStop: "wal_stream",
	pglogrepl.MessageTypeStreamCommit: "wal_commit", pglogrepl.MessageTypeStreamAbort: "wal_abort",
}

// open says whether a transaction is being sent, so that no position inside it may be acknowledged.
func (d *decoder) open() bool { return d.plain != nil || d.chunk != nil }

// message takes one message.
func (d *decoder) message(data []byte) error {
	d.counts.Bytes += int64(len(data))
	m, err := parse(data, d.chunk != nil)
	if err != nil {
		return d.unreadable(data, err)
	}
	bucket := buckets[m.Type()]
	if bucket == "" {
		return d.unreadable(data, errMessage)
	}
	d.counts.Records++
	d.counts.Buckets[bucket]++
	return d.take(m)
}

// unreadable counts a message that does not decode. If it is one of a transaction's rows, or describes a table, the transaction is unknown; without
// one that begins or ends something nothing after it has a meaning.
func (d *decoder) unreadable(data []byte, why error) error {
	d.counts.Dropped[DropUnreadable]++
	d.counts.DroppedBytes[DropUnreadable] += int64(len(data))
	current := d.current()
	if len(data) == 0 || current == nil {
		return fmt.Errorf("%w: %w", errProtocol, why)
	}
	switch pglogrepl.MessageType(data[0]) {
	case pglogrepl.MessageTypeInsert, pglogrepl.MessageTypeUpdate, pglogrepl.MessageTypeDelete, pglogrepl.MessageTypeTruncate:
		current.set(0).unknown++
		return nil
	}
	return fmt.Errorf("%w: %w", errProtocol, why)
}

func (d *decoder) current() *transaction {
	if d.chunk != nil {
		return d.chunk
	}
	return d.plain
}

func (d *decoder) take(m pglogrepl.Message) error {
	switch m := m.(type) {
	case *pglogrepl.BeginMessage:
		if d.open() {
			return fmt.Errorf("%w: a transaction begins inside another", errProtocol)
		}
		d.plain = &transaction{xid: m.Xid}
	case *pglogrepl.CommitMessage:
		if d.plain == nil {
			return fmt.Errorf("%w: a transaction ends that did not begin", errProtocol)
		}
		t := d.plain
		d.plain = nil
		return d.finish(t, m.TransactionEndLSN, m.CommitTime)
	case *pglogrepl.StreamStartMessageV2:
		return d.startChunk(m)
	case *pglogrepl.StreamStopMessageV2:
		if d.chunk == nil {
			return fmt.Errorf("%w: a stream stops that did not start", errProtocol)
		}
		d.chunk = nil
	case *pglogrepl.StreamCommitMessageV2:
		return d.commitStream(m)
	case *pglogrepl.StreamAbortMessageV2:
		return d.abortStream(m)
	case *pglogrepl.RelationMessageV2:
		return d.describe(&m.RelationMessage)
	case *pglogrepl.InsertMessageV2:
		return d.change(m.RelationID, m.Xid, func(c *changes, r *relation) { c.insert(d.hash, r, m.Tuple) })
	case *pglogrepl.UpdateMessageV2:
		return d.change(m.RelationID, m.Xid, func(c *changes, r *relation) {
			c.update(d.hash, r, m.OldTuple, m.NewTuple, m.OldTupleType == pglogrepl.UpdateMessageTupleTypeKey)
		})
	case *pglogrepl.DeleteMessageV2:
		return d.change(m.RelationID, m.Xid, func(c *changes, r *relation) {
			c.delete(d.hash, r, m.OldTuple, m.OldTupleType == pglogrepl.DeleteMessageTupleTypeKey)
		})
	case *pglogrepl.TruncateMessageV2:
		for _, id := range m.RelationIDs {
			if err := d.change(id, m.Xid, func(c *changes, r *relation) { c.truncate(r) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *decoder) startChunk(m *pglogrepl.StreamStartMessageV2) error {
	if d.open() {
		return fmt.Errorf("%w: a stream starts inside a transaction", errProtocol)
	}
	t := d.streams[m.Xid]
	if t == nil {
		if m.FirstSegment == 0 {
			return fmt.Errorf("%w: a stream goes on that did not start", errProtocol)
		}
		t = &transaction{xid: m.Xid, streamed: true, relations: map[uint32]*relation{}}
		d.streams[m.Xid] = t
	}
	d.chunk = t
	return nil
}

func (d *decoder) commitStream(m *pglogrepl.StreamCommitMessageV2) error {
	t := d.streams[m.Xid]
	if t == nil || d.open() {
		return fmt.Errorf("%w: a stream is committed that did not start or did not stop", errProtocol)
	}
	delete(d.streams, m.Xid)
	// What the server described inside it, it now takes for described, unless it has said something newer since.
	for id, r := range t.relations {
		if have := d.relations[id]; have == nil || have.seq < r.seq {
			d.relations[id] = r
		}
	}
	return d.finish(t, m.TransactionEndLSN, m.CommitTime)
}

func (d *decoder) abortStream(m *pglogrepl.StreamAbortMessageV2) error {
	if d.open() {
		return fmt.Errorf("%w: a stream is rolled back inside a transaction", errProtocol)
	}
	t := d.streams[m.Xid]
	if t == nil { // 18 also tells of one that was rolled back before anything of it was sent
		return nil
	}
	if m.SubXid != m.Xid {
		t.abort(m.SubXid)
		return nil
	}
	delete(d.streams, m.Xid)
	return d.store.free(t)
}

// describe keeps what the server says of a table for the changes after it: inside a stream for that transaction only, because it may be rolled back.
func (d *decoder) describe(m *pglogrepl.RelationMessage) error {
	if !d.tables.knows(m) {
		t, err := d.reread()
		if err != nil {
			return err
		}
		d.tables = t
	}
	r := d.tables.describe(m)
	d.seq++
	r.seq = d.seq
	if d.chunk != nil {
		d.chunk.relations[m.RelationID] = r
	} else {
		d.relations[m.RelationID] = r
	}
	return nil
}

// change counts one row. A row of a table that was not described is unknown.
func (d *decoder) change(id, xid uint32, count func(*changes, *relation)) error {
	t := d.current()
	if t == nil {
		return fmt.Errorf("%w: a row outside a transaction", errProtocol)
	}
	sub := uint32(0)
	var r *relation
	if t.streamed {
		sub, r = xid, t.relations[id]
	}
	if r == nil {
		r = d.relations[id]
	}
	if r == nil {
		t.set(sub).unknown++
		return nil
	}
	count(t.set(sub), r)
	if d.rows++; d.rows >= boundRows {
		d.rows = 0
		return d.store.bound(d.all())
	}
	return nil
}

// all are the open transactions.
func (d *decoder) all() []*transaction {
	out := make([]*transaction, 0, len(d.streams)+1)
	if d.plain != nil {
		out = append(out, d.plain)
	}
	for _, xid := range sortedKeys(d.streams) {
		out = append(out, d.streams[xid])
	}
	return out
}

// finish hands on a committed transaction, unless it was handed on before.
func (d *decoder) finish(t *transaction, end pglogrepl.LSN, at time.Time) error {
	d.end = max(d.end, uint64(end))
	if uint64(end) <= d.skip {
		return d.store.free(t)
	}
	events, err := t.events(commit{uint64(end), at.UTC()}, d.database, d.counts)
	if err := errors.Join(err, d.store.free(t)); err != nil || len(events) == 0 {
		return err
	}
	return d.emit(events)
}

// close gives up what is open.
func (d *decoder) close() error {
	var errs []error
	for _, t := range d.all() {
		errs = append(errs, d.store.free(t))
	}
	d.plain, d.chunk, d.streams = nil, nil, map[uint32]*transaction{}
	return errors.Join(errs...)
}
