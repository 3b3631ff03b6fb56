package pgwal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/capture"
)

// Position is how far the WAL of a database was seen. The zero value is the beginning of a reader that never read.
type Position struct {
	System   string `cbor:"1,keyasint"` // the cluster's identifier, which its replicas share
	Database string `cbor:"2,keyasint"`
	Timeline int32  `cbor:"3,keyasint"` // changes when a replica is promoted
	LSN      uint64 `cbor:"4,keyasint"` // all that ends here or before was handed on
}

// Identity names what a position is of.
func (p Position) Identity() string { return "wal:" + p.System + "/" + p.Database }

// Reader reads WAL, session after session. While Run runs, its other methods are for fn.
type Reader struct {
	cfg     Config
	store   *store
	counts  Counts
	pos     Position
	durable atomic.Uint64 // LSN
	asked   bool          // the server waits for an answer about where the position is
	flushed time.Time     // when Durable was last called
	live    *session
}

// Open makes a reader that goes on at a position.
func Open(cfg Config, at Position) (*Reader, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	r := &Reader{cfg: cfg, counts: newCounts(), pos: at, flushed: time.Now()}
	r.durable.Store(at.LSN)
	st, err := openStore(&r.cfg, &r.counts)
	if err != nil {
		return nil, fmt.Errorf("read WAL: %w", err)
	}
	r.store = st
	return r, nil
}

// Position is up to where everything was handed on, inside fn the events that it was given included.
func (r *Reader) Position() Position { return r.pos }

// Counts are what was read so far.
func (r *Reader) Counts() Counts { return r.counts.Clone() }

// Durable says that everything up to a position is kept, together with the position; the server may forget it.
func (r *Reader) Durable(p Position) {
	if p.System == r.pos.System && p.Timeline == r.pos.Timeline {
		r.durable.Store(max(r.durable.Load(), p.LSN))
	}
	r.flushed, r.asked = time.Now(), false
	if r.live != nil {
		r.live.answer(false)
	}
}

// askedTime is how soon a server that waits for an answer gets one.
const askedTime = 200 * time.Millisecond

// Wanted says whether the position should be made durable though there may be no events, because the server holds the WAL behind it: it has moved by
// so many bytes in a second or more, or by any in so long a time, or the server, which may be shutting down, waits for it.
func (r *Reader) Wanted(bytes uint64, after time.Duration) bool {
	d := r.durable.Load()
	if r.pos.LSN <= d {
		return false
	}
	since := time.Since(r.flushed)
	return since >= after || r.asked && since >= askedTime || r.pos.LSN-d >= bytes && since >= time.Second
}

func (r *Reader) advance(lsn uint64) { r.pos.LSN = max(r.pos.LSN, lsn) }

// Run reads until stop is closed and the WAL that was there then is read, which is nil, or ctx ends. fn gets the events of one transaction at a
// time, which must be kept together, and nothing now and then; its error ends Run. Everything else that fails is told to Config.Problem, counted and
// tried again.
func (r *Reader) Run(ctx context.Context, stop <-chan struct{}, fn func([]capture.Event) error) error {
	pause := r.cfg.Pause
	for first := true; ; first = false {
		began, before := time.Now(), r.pos
		err := r.session(ctx, stop, fn)
		r.live = nil
		var sink sinkError
		switch {
		case errors.As(err, &sink):
			return sink.error
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			return nil
		case first && r.cfg.Strict && errors.Is(err, ErrSetup):
			return fmt.Errorf("read WAL: %w", err)
		}
		if errors.Is(err, errCeiling) && !r.cfg.Renew {
			r.cfg.Problem(fmt.Errorf("%w: the WAL is read no more", err))
			return r.wait(ctx, stop, -1, fn)
		}
		r.counts.Notes[NoteReconnect]++
		if r.pos != before && time.Since(began) > r.cfg.Pause {
			pause = r.cfg.Pause
		}
		r.cfg.Problem(fmt.Errorf("%w (again in %s)", err, pause))
		if err := r.wait(ctx, stop, pause, fn); err != nil || isClosed(stop) {
			return err
		}
		pause = min(2*pause, lastPause)
	}
}

func isClosed(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// wait lets the caller keep what it has while there is no session; a negative time is for ever.
func (r *Reader) wait(ctx context.Context, stop <-chan struct{}, d time.Duration, fn func([]capture.Event) error) error {
	for end := time.Now().Add(d); d < 0 || time.Now().Before(end); {
		if err := fn(nil); err != nil {
			return err
		}
		left := r.cfg.Tick
		if d >= 0 {
			left = max(0, min(left, time.Until(end)))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			return nil
		case <-time.After(left):
		}
	}
	return nil
}

// begin settles where a session begins: at is where the server can begin, the reader's position what was seen before. What lies between is a gap.
func (r *Reader) begin(ctx context.Context, conn *pgconn.PgConn, at Position) error {
	was := r.pos
	switch {
	case was.System == "": // nothing was ever read
		r.pos = at
	case was.System != at.System || was.Database != at.Database:
		r.counts.Notes[NoteGap]++ // another cluster: its positions mean nothing to ours
		r.pos = at
	case was.Timeline != at.Timeline:
		r.counts.Notes[NoteFailover]++
		fork, err := forkOf(ctx, conn, was.Timeline, at.Timeline)
		if err != nil {
			return err
		}
		// What lies behind the fork is another history: its transactions were never seen, whatever their positions.
		r.pos = Position{at.System, at.Database, at.Timeline, min(was.LSN, fork)}
		r.gap(at.LSN)
	default:
		r.gap(at.LSN)
	}
	if r.pos.System != was.System || r.pos.Timeline != was.Timeline || r.pos.Database != was.Database {
		r.durable.Store(0)
	}
	r.durable.Store(max(r.durable.Load(), min(at.LSN, r.pos.LSN)))
	return nil
}

// gap counts what lies between the position and where the server can begin.
func (r *Reader) gap(at uint64) {
	if at > r.pos.LSN {
		r.counts.Notes[NoteGap]++
		r.counts.Notes[NoteGapBytes] += int64(at - r.pos.LSN)
		r.pos.LSN = at
	}
}

// forkOf is where the history of a timeline leaves an older one: 0 if it is none of its ancestors.
func forkOf(ctx context.Context, conn *pgconn.PgConn, old, now int32) (uint64, error) {
	h, err := pglogrepl.TimelineHistory(ctx, conn, now)
	if err != nil {
		return 0, fmt.Errorf("read history of timeline %d: %w", now, err)
	}
	for line := range bytes.Lines(h.Content) {
		fields := strings.Fields(string(line)) // timeline, where it ended, why
		if len(fields) < 2 {
			continue
		}
		id, err := strconv.ParseInt(fields[0], 10, 32)
		if err != nil || int32(id) != old {
			continue
		}
		lsn, err := pglogrepl.ParseLSN(fields[1])
		if err != nil {
			return 0, fmt.Errorf("read history of timeline %d: %w", now, err)
		}
		return uint64(lsn), nil
	}
	return 0, nil
}
