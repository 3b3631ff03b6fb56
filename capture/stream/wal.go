package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pgwal"
)

// walState is the state of an agent that reads WAL, beside its position.
type walState struct {
	Version  int            `cbor:"1,keyasint"`
	Position pgwal.Position `cbor:"2,keyasint"`
}

const walStateVersion = 1

// How far a position without events may be ahead of the durable one, in bytes of WAL, which the server holds so long, and in time.
const (
	walBytes = 1 << 20
	walTime  = 10 * time.Second
)

// PackWAL and UnpackWAL write and read a position in the WAL as a reader's state. No state is the zero position.
func PackWAL(p pgwal.Position) ([]byte, error) {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return nil, fmt.Errorf("encode position in the WAL: %w", err)
	}
	data, err := mode.Marshal(&walState{walStateVersion, p})
	if err != nil {
		return nil, fmt.Errorf("encode position in the WAL: %w", err)
	}
	return data, nil
}

// UnpackWAL reads what PackWAL wrote.
func UnpackWAL(state []byte) (pgwal.Position, error) {
	if state == nil {
		return pgwal.Position{}, nil
	}
	var s walState
	if err := cbor.Unmarshal(state, &s); err != nil {
		return s.Position, fmt.Errorf("read position in the WAL: %w", err)
	}
	if s.Version != walStateVersion {
		return s.Position, fmt.Errorf("read position in the WAL: it has version %d, this program reads %d", s.Version, walStateVersion)
	}
	return s.Position, nil
}

// FollowWAL reads a server's WAL until stop is closed or ctx ends, and goes on where the agent's last flush was. The server may forget what was
// flushed or, with AgentConfig.Drop, given up; to a process that dies before its next frame the latter is a gap. cfg.HashKey is filled in from the agent.
func FollowWAL(ctx context.Context, a *Agent, cfg pgwal.Config, stop <-chan struct{}) error {
	at, err := UnpackWAL(a.Checkpoint().State)
	if err != nil {
		return err
	}
	cfg.HashKey = a.HashKey()
	r, err := pgwal.Open(cfg, at)
	if err != nil {
		return err
	}
	f := walFollower{agent: a, reader: r, flushed: time.Now()}
	err = r.Run(ctx, stop, func(events []capture.Event) error { return f.take(ctx, events) })
	if f.broken || err != nil && ctx.Err() == nil {
		return fmt.Errorf("follow WAL: %w", err)
	}
	if ctx.Err() != nil { // a spool that is full must not hold up the end
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		return errors.Join(err, f.flush(limited))
	}
	return f.flush(ctx)
}

type walFollower struct {
	agent   *Agent
	reader  *pgwal.Reader
	flushed time.Time
	waiting bool // events were added since
	broken  bool // the agent is of no use any more
	told    Ledger
}

// take gathers a transaction. The reader's position is past it, so that they are flushed together.
func (f *walFollower) take(ctx context.Context, events []capture.Event) error {
	if len(events) > 0 {
		f.waiting = true
		if err := f.agent.Add(events); err != nil {
			f.broken = true
			return err
		}
	}
	if f.waiting && (f.agent.Size() >= f.agent.cfg.BatchBytes || time.Since(f.flushed) >= f.agent.cfg.BatchTime) || f.reader.Wanted(walBytes, walTime) {
		return f.flush(ctx)
	}
	return nil
}

func (f *walFollower) flush(ctx context.Context) error {
	p := f.reader.Position()
	if p.System == "" {
		return nil // no session began
	}
	state, err := PackWAL(p)
	if err != nil {
		return err
	}
	now := walLedger(f.reader.Counts())
	var grown Ledger
	grown.Add(now, 1)
	grown.Add(f.told, -1)
	c := Checkpoint{State: state, Positions: []Position{{Name: "wal " + p.Database, Identity: p.Identity(), Offset: int64(p.LSN)}}}
	if err := f.agent.Flush(ctx, c, grown); err != nil {
		f.broken = true
		return err
	}
	f.told, f.flushed, f.waiting = now, time.Now(), false
	f.reader.Durable(p)
	return nil
}

func walLedger(c pgwal.Counts) Ledger {
	return Ledger{Bytes: c.Bytes, Records: c.Records, Dropped: c.Dropped, DroppedBytes: c.DroppedBytes, Buckets: c.Buckets, Notes: c.Notes}
}
