package pgwal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/foreshard/foreshard/capture"
)

// session is one connection that WAL is read from.
type session struct {
	r       *Reader
	server  server
	control *control
	tables  *tables
	name    string // of the slot
	repl    *pgconn.PgConn
	decoder *decoder

	received atomic.Uint64
	read     atomic.Int64 // when the loop last read from the connection, Unix nanoseconds; 0: not yet
	over     atomic.Bool  // the slot held too much WAL
	lost     atomic.Bool  // the server took WAL away that the slot needs
	poke     chan bool    // send a status now; true asks for an answer
	failed   chan error   // of the sending side
}

// errCeiling says that the slot was dropped because it held too much WAL.
var errCeiling = errors.New("the slot held more WAL than it may and was dropped")

// sinkError is an error of the caller: no other session helps.
type sinkError struct{ error }

func (e sinkError) Unwrap() error { return e.error }

// session reads until something fails, ctx ends, or stop is closed and the end of the WAL is reached, which is nil.
func (r *Reader) session(ctx context.Context, stop <-chan struct{}, fn func([]capture.Event) error) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &session{r: r, name: r.cfg.Slot, control: &control{dsn: r.cfg.DSN}, poke: make(chan bool, 1), failed: make(chan error, 1)}
	var beside sync.WaitGroup
	defer func() {
		cancel()
		err = errors.Join(err, s.hangUp())
		beside.Wait()
		last, done := context.WithTimeout(context.Background(), drainTime)
		defer done()
		err = s.why(last, err)
		err = errors.Join(err, s.control.close(last))
		if s.decoder != nil {
			err = errors.Join(err, s.decoder.close())
		}
	}()
	setup, ready := context.WithCancel(ctx) // creating a slot waits for transactions that are open
	defer ready()
	beside.Go(func() {
		select {
		case <-stop:
			ready()
		case <-setup.Done():
		}
	})
	names, err := s.prepare(setup)
	if err != nil {
		return stopped(stop, err)
	}
	beside.Go(func() { s.watch(ctx) })
	start, err := s.start(setup, names)
	if err != nil {
		return stopped(stop, err)
	}
	s.decoder = &decoder{hash: newHasher(r.cfg.HashKey), database: s.server.database, skip: start, store: r.store, counts: &r.counts, tables: s.tables,
		relations: map[uint32]*relation{}, streams: map[uint32]*transaction{},
		emit: func(events []capture.Event) error {
			r.advance(events[0].Written.LSN) // whoever keeps them keeps the position with them
			if err := fn(events); err != nil {
				return sinkError{err}
			}
			return nil
		},
		reread: func() (t *tables, err error) {
			err = s.control.do(ctx, func(conn *pgx.Conn) error { t, err = readTables(ctx, conn, r.cfg.Keys); return err })
			return t, err
		}}
	r.live = s
	beside.Go(func() { s.keep(ctx) })
	r.cfg.Reading(true)
	defer r.cfg.Reading(false)
	return s.loop(ctx, stop, fn)
}

// stopped turns an error of a session that was stopped while it began into none.
func stopped(stop <-chan struct{}, err error) error {
	select {
	case <-stop:
		return nil
	default:
		return err
	}
}

// why replaces the error of a connection that was cut from here by what it was cut for, and sees to it that a slot that must go is gone.
func (s *session) why(ctx context.Context, err error) error {
	switch {
	case s.over.Load():
		s.r.counts.Notes[NoteCeiling]++
		err = errCeiling
		if s.name != "" {
			derr := s.control.do(ctx, func(conn *pgx.Conn) error { _, err := dropSlot(ctx, conn, s.name); return err })
			err = errors.Join(err, derr)
		}
	case s.lost.Load():
		err = fmt.Errorf("the server removed WAL that slot %q needs", s.name)
	}
	return err
}

// prepare asks the server and makes the publications; the result are their names.
func (s *session) prepare(ctx context.Context) (names []string, err error) {
	err = s.control.do(ctx, func(conn *pgx.Conn) error {
		if s.server, err = ask(ctx, conn); err != nil {
			return err
		}
		have, err := lookAtSlot(ctx, conn, s.name, s.server.version)
		if err != nil {
			return err
		}
		if !have.active && have.retained > uint64(s.r.cfg.MaxRetained) { // the watch begins later, and sessions that fail before it would hold the WAL for ever
			s.over.Store(true)
			return errCeiling
		}
		if err := s.server.ready(); err != nil {
			return err
		}
		if s.tables, err = readTables(ctx, conn, s.r.cfg.Keys); err != nil {
			return err
		}
		names, err = s.r.cfg.publish(ctx, conn, &s.server, s.tables)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.name == "" {
		var random [6]byte
		if _, err := rand.Read(random[:]); err != nil {
			return nil, fmt.Errorf("name slot: %w", err)
		}
		s.name = "foreshard_" + hex.EncodeToString(random[:])
	}
	cfg, err := pgconn.ParseConfig(s.r.cfg.DSN)
	if err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = drainTime
	cfg.RuntimeParams["replication"] = "database"
	cfg.RuntimeParams["application_name"] = walName
	cfg.RuntimeParams["client_encoding"] = s.server.encoding // bytes as they lie in the table, because those are what PostgreSQL hashes
	s.repl, err = pgconn.ConnectConfig(ctx, cfg)
	return names, err
}

// start makes or finds the slot, settles where this session begins, and begins it. The result is up to where everything was handed on.
func (s *session) start(ctx context.Context, publications []string) (uint64, error) {
	id, err := pglogrepl.IdentifySystem(ctx, s.repl)
	if err != nil {
		return 0, fmt.Errorf("identify system: %w", err)
	}
	have := slot{}
	if s.r.cfg.Slot != "" {
		if have, err = s.find(ctx); err != nil {
			return 0, err
		}
	}
	begin := have.confirmed
	if !have.exists {
		if begin, err = s.create(ctx); err != nil {
			return 0, err
		}
	}
	if err := s.r.begin(ctx, s.repl, Position{System: id.SystemID, Database: s.server.database, Timeline: id.Timeline, LSN: begin}); err != nil {
		return 0, err
	}
	quoted := make([]string, len(publications))
	for i, p := range publications {
		quoted[i] = pgx.Identifier{p}.Sanitize()
	}
	args := []string{"publication_names '" + strings.ReplaceAll(strings.Join(quoted, ","), "'", "''") + "'"}
	if s.server.version >= 140000 {
		args = append(args, "proto_version '2'", "streaming 'on'")
	} else {
		args = append(args, "proto_version '1'")
	}
	s.received.Store(max(begin, s.r.pos.LSN))
	if err := pglogrepl.StartReplication(ctx, s.repl, s.name, pglogrepl.LSN(s.r.pos.LSN), pglogrepl.StartReplicationOptions{Mode: pglogrepl.LogicalReplication, PluginArgs: args}); err != nil {
		return 0, fmt.Errorf("read slot %q: %w", s.name, err)
	}
	return s.r.pos.LSN, nil
}

// find looks for the named slot. One whose WAL is gone is of no use and is made anew.
func (s *session) find(ctx context.Context) (have slot, err error) {
	err = s.control.do(ctx, func(conn *pgx.Conn) error {
		if have, err = lookAtSlot(ctx, conn, s.name, s.server.version); err != nil || !have.exists {
			return err
		}
		switch {
		case have.plugin != "pgoutput" || have.database != s.server.database:
			return fmt.Errorf("%w: slot %q is of plugin %q and database %q: give another --wal-slot", ErrSetup, s.name, have.plugin, have.database)
		case have.lost:
			s.r.cfg.Problem(fmt.Errorf("the server removed WAL that slot %q needs: it is made anew, and what is missing is counted", s.name))
			_, err := dropSlot(ctx, conn, s.name)
			have = slot{}
			return err
		case have.active:
			return fmt.Errorf("slot %q is read by process %d", s.name, have.pid)
		}
		return nil
	})
	return have, err
}

func (s *session) create(ctx context.Context) (uint64, error) {
	const patience = 10 * time.Second
	defer time.AfterFunc(patience, func() {
		s.r.cfg.Problem(fmt.Errorf("slot %q waits for transactions that are open since before it; until they end nothing is read", s.name))
	}).Stop()
	made, err := pglogrepl.CreateReplicationSlot(ctx, s.repl, s.name, "pgoutput", pglogrepl.CreateReplicationSlotOptions{
		Temporary: s.r.cfg.Slot == "", SnapshotAction: "NOEXPORT_SNAPSHOT", Mode: pglogrepl.LogicalReplication})
	if err != nil {
		return 0, fmt.Errorf("create slot %q: %w", s.name, err)
	}
	lsn, err := pglogrepl.ParseLSN(made.ConsistentPoint)
	if err != nil {
		return 0, fmt.Errorf("create slot %q: %w", s.name, err)
	}
	return uint64(lsn), nil
}

// hangUp closes the WAL's connection, from any goroutine: a read or a write that waits ends.
func (s *session) hangUp() error {
	if s.repl == nil {
		return nil
	}
	if err := s.repl.Conn().Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close connection: %w", err)
	}
	return nil
}

// keep sends the server what is durable: soon after it changed, when asked, and often enough for wal_sender_timeout. A server that is shut down
// waits until it has an answer for all it sent; so one whose reader is held up is let go.
func (s *session) keep(ctx context.Context) {
	const held = time.Minute
	interval := drainTime
	if t := s.server.timeout; t > 0 {
		interval = min(interval, max(t/4, 100*time.Millisecond))
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		question := false
		select {
		case <-ctx.Done():
			return
		case question = <-s.poke:
		case <-tick.C:
		}
		if last := s.read.Load(); last > 0 && time.Since(time.Unix(0, last)) > held {
			s.failed <- fmt.Errorf("what was read could not be kept for %s: the connection is closed, so that the server can be shut down", held)
			if err := s.hangUp(); err != nil {
				s.r.cfg.Problem(err)
			}
			return
		}
		durable := s.r.durable.Load()
		if err := s.status(durable, question); err != nil {
			s.failed <- errors.Join(err, s.hangUp())
			return
		}
	}
}

func (s *session) status(durable uint64, question bool) error {
	if durable == 0 {
		return errors.New("send status: nothing is durable") // the library would acknowledge what was only received
	}
	if err := s.repl.Conn().SetWriteDeadline(time.Now().Add(drainTime)); err != nil {
		return fmt.Errorf("send status: %w", err)
	}
	err := pglogrepl.SendStandbyStatusUpdate(context.Background(), s.repl, pglogrepl.StandbyStatusUpdate{WALWritePosition: pglogrepl.LSN(max(s.received.Load(), durable)),
		WALFlushPosition: pglogrepl.LSN(durable), WALApplyPosition: pglogrepl.LSN(durable), ReplyRequested: question})
	if err != nil {
		return fmt.Errorf("send status: %w", err)
	}
	return nil
}

// answer has a status sent soon.
func (s *session) answer(question bool) {
	select {
	case s.poke <- question:
	default: // one is on its way
	}
}

// loop reads messages until the session ends.
func (s *session) loop(ctx context.Context, stop <-chan struct{}, fn func([]capture.Event) error) error {
	s.answer(false)
	var end drain
	var due time.Time
	for {
		if now := time.Now(); !now.Before(due) {
			if err := s.tick(ctx, fn); err != nil {
				return err
			}
			done, err := end.look(ctx, s, stop)
			if err != nil || done {
				return err
			}
			due = time.Now().Add(s.r.cfg.Tick)
			if err := s.repl.Conn().SetReadDeadline(due); err != nil {
				return fmt.Errorf("read WAL: %w", err)
			}
		}
		s.read.Store(time.Now().UnixNano())
		m, err := s.repl.ReceiveMessage(context.Background())
		s.read.Store(time.Now().UnixNano())
		if err != nil {
			if pgconn.Timeout(err) {
				continue
			}
			return s.broken(err)
		}
		switch m := m.(type) {
		case *pgproto3.CopyData:
			if err := s.data(m.Data); err != nil {
				return err
			}
		case *pgproto3.ErrorResponse:
			return fmt.Errorf("read WAL: %w", pgconn.ErrorResponseToPgError(m))
		case *pgproto3.CopyDone, *pgproto3.CommandComplete:
			return errors.New("read WAL: the server ended the stream: it is shutting down, or the slot is gone")
		}
	}
}

// broken is why a read failed: what the sending side says, if it closed the connection.
func (s *session) broken(err error) error {
	select {
	case why := <-s.failed:
		return fmt.Errorf("read WAL: %w", why)
	default:
		return fmt.Errorf("read WAL: %w", err)
	}
}

func (s *session) tick(ctx context.Context, fn func([]capture.Event) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := fn(nil); err != nil {
		return sinkError{err}
	}
	return nil
}

// data takes one message of the replication protocol.
func (s *session) data(b []byte) error {
	if len(b) == 0 {
		return fmt.Errorf("%w: an empty message", errProtocol)
	}
	switch b[0] {
	case pglogrepl.XLogDataByteID:
		x, err := pglogrepl.ParseXLogData(b[1:])
		if err != nil {
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
		s.received.Store(max(s.received.Load(), uint64(x.WALStart)))
		err = s.decoder.message(x.WALData)
		if err == nil && !s.decoder.open() { // after an error the last transaction that ended may not have been handed on
			s.r.advance(s.decoder.end)
		}
		return err
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		k, err := pglogrepl.ParsePrimaryKeepaliveMessage(b[1:])
		if err != nil {
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
		return s.alive(uint64(k.ServerWALEnd), k.ReplyRequested)
	}
	return nil
}

// alive takes a keepalive. All WAL up to its end is decoded, and all commits in it were sent: with no transaction open there is nothing to miss.
func (s *session) alive(end uint64, question bool) error {
	s.received.Store(max(s.received.Load(), end))
	if !s.decoder.open() {
		s.r.advance(end)
		s.r.asked = s.r.asked || question
	}
	if question {
		s.answer(false)
	}
	if d := s.r.durable.Load(); end > d && end-d > uint64(s.r.cfg.MaxRetained) { // should the slot not be watched
		s.over.Store(true)
		return errCeiling
	}
	return nil
}

// drain is the end of a session that was stopped: what was written before is read, for some time.
type drain struct {
	began  time.Time
	target uint64
}

// settled is how long transactions that were committed without waiting for the disk may take to get there, before what is on disk is taken for all.
const settled = time.Second

func (d *drain) look(ctx context.Context, s *session, stop <-chan struct{}) (done bool, err error) {
	select {
	case <-stop:
	default:
		return false, nil
	}
	if d.began.IsZero() {
		d.began = time.Now()
		if d.target, err = s.wal(ctx, "pg_current_wal_insert_lsn()"); err != nil {
			return true, nil // nobody can say where the end is
		}
	}
	since := time.Since(d.began)
	if since > drainTime || s.r.pos.LSN >= d.target {
		return true, nil
	}
	if since > settled {
		flushed, err := s.wal(ctx, "pg_current_wal_flush_lsn()")
		if err != nil || s.r.pos.LSN >= flushed {
			return true, nil
		}
	}
	s.answer(true)
	return false, nil
}

// wal is a position of the server's WAL.
func (s *session) wal(ctx context.Context, function string) (lsn uint64, err error) {
	err = s.control.do(ctx, func(conn *pgx.Conn) error {
		var text string
		if err := conn.QueryRow(ctx, "select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else "+function+" end - '0/0')::text").Scan(&text); err != nil {
			return err
		}
		lsn, err = strconv.ParseUint(text, 10, 64)
		return err
	})
	return lsn, err
}
