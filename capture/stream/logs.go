package stream

import (
	"context"
	"errors"
	"time"

	"github.com/foreshard/foreshard/capture/pglog"
)

// LogConfig fills in the parts of a log reader's configuration that come from the agent: the hash key, and where to go on.
func (a *Agent) LogConfig(cfg pglog.Config) pglog.Config {
	cfg.HashKey = a.HashKey()
	c := a.Checkpoint()
	cfg.State = c.State
	for _, p := range c.Positions {
		cfg.Known = append(cfg.Known, pglog.Position{Name: p.Name, Identity: p.Identity, Offset: p.Offset, Unread: p.Unread})
	}
	return cfg
}

// SendLogs reads the inputs of a reader that was opened with the agent's LogConfig to their end and flushes everything, with what the ledger
// grew by. A reader that ends with an error, or because ctx ended, has flushed what was whole before.
func SendLogs(ctx context.Context, r *pglog.Reader, a *Agent, now func() time.Time) error {
	l := logs{reader: r, agent: a, before: a.Checkpoint().Positions}
	var broken error // of the agent
	last := now()
	err := r.Run(ctx, func(b pglog.Batch) error {
		if broken = a.Add(b.Events); broken != nil {
			return broken
		}
		if a.Size() < a.cfg.BatchBytes && now().Sub(last) < a.cfg.BatchTime {
			return nil
		}
		broken = l.flush(ctx)
		last = now()
		return broken
	})
	if broken != nil {
		return broken
	}
	if ctx.Err() != nil { // a spool that is full must not hold up the end
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		return errors.Join(err, l.flush(ctx))
	}
	return errors.Join(err, l.flush(ctx))
}

// logs flushes what a log reader handed on.
type logs struct {
	reader *pglog.Reader
	agent  *Agent
	before []Position // when the reader was opened
	told   Ledger
}

func (l *logs) flush(ctx context.Context) error {
	state, err := l.reader.State()
	if err != nil {
		return err
	}
	c := Checkpoint{State: state}
	have := map[string]bool{}
	for _, p := range l.reader.Positions() {
		c.Positions = append(c.Positions, Position{p.Name, p.Identity, p.Offset, p.Unread})
		have[p.Identity] = true
	}
	for _, p := range l.before { // of files that this reader was not given
		if !have[p.Identity] {
			c.Positions = append(c.Positions, p)
		}
	}
	now := logLedger(l.reader.Counts())
	var grown Ledger
	grown.Add(now, 1)
	grown.Add(l.told, -1)
	if err := l.agent.Flush(ctx, c, grown); err != nil {
		return err
	}
	l.told = now
	return nil
}

func logLedger(c pglog.Counts) Ledger {
	l := Ledger{Bytes: c.Bytes, Records: c.Records, Statements: c.Statements, Dropped: map[string]int64{}, DroppedBytes: map[string]int64{},
		Buckets: c.Buckets, Notes: c.Notes}
	for reason, d := range c.Dropped {
		l.Dropped[reason], l.DroppedBytes[reason] = d.Count, d.Bytes
	}
	return l
}
