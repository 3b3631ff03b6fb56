package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/tail"
)

// FollowConfig says how an agent follows a log that is being written. Files.Patterns, Files.Now and Tick are required.
type FollowConfig struct {
	Logs    pglog.Config     // HashKey, Known and State are filled in from the agent
	Files   tail.Options     // HashKey and Known are filled in from the agent
	Tick    <-chan time.Time // each is a look at the files
	Stop    <-chan struct{}  // closed: read what is there, flush, return
	Observe func(FollowStatus)
	// Received is what the receiver of Files.Contents could not receive, by reason, counted on from process to process; nil: there is none.
	Received func() map[string]Drop
}

// FollowStatus is where following files stands after a look at them.
type FollowStatus struct {
	Files    tail.Counts
	Unread   int64     // bytes that are there and not consumed, of all files
	Last     time.Time // of the last record read
	Problems []error   // files that could not be read at this look, and are tried again
}

// keptPositions is how many positions of files that are gone are kept, newest last: one of them may come back as a compressed copy.
const keptPositions = 1000

// FollowLogs reads what the files get, until Stop is closed or ctx ends, and goes on where the agent's last flush was: what was not flushed is
// read again, so the log is the queue until then.
func FollowLogs(ctx context.Context, a *Agent, cfg FollowConfig) (err error) {
	logs := a.LogConfig(cfg.Logs)
	cfg.Files.HashKey, cfg.Files.Known = logs.HashKey, logs.Known
	begun := a.Begun()
	if begun {
		cfg.Files.Start = tail.Beginning // of files that have appeared since
	}
	files, err := tail.New(cfg.Files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	reader, err := pglog.Follow(logs)
	if err != nil {
		return fmt.Errorf("follow logs: %w", err)
	}
	f := &follower{cfg: cfg, agent: a, files: files, reader: reader, touched: map[*tail.File]bool{}, flushed: cfg.Files.Now()}
	if !begun && cfg.Files.Start == tail.End { // an agent that dies before its first flush must not start at another end
		if err := f.keepEnds(ctx); err != nil {
			return err
		}
	}
	return f.run(ctx)
}

type follower struct {
	cfg     FollowConfig
	agent   *Agent
	files   *tail.Tail
	reader  *pglog.Reader
	touched map[*tail.File]bool // read since the last flush
	flushed time.Time
	told    Ledger
}

func (f *follower) keepEnds(ctx context.Context) error {
	_, problems := f.files.Poll()
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	for _, file := range f.files.Files() {
		f.touched[file] = true
	}
	return f.flush(ctx)
}

// run looks at the files at each tick. Stop makes the look at hand the last but one.
func (f *follower) run(ctx context.Context) error {
	for stopped := false; ; {
		round, err := f.files.Read(ctx, f.reader, func(file *tail.File, b pglog.Batch) error { return f.batch(ctx, file, b) })
		if err != nil {
			return fmt.Errorf("follow logs: %w", err)
		}
		f.observe(round)
		if stopped || f.due() {
			if err := f.flush(ctx); err != nil {
				return err
			}
		}
		if err := f.release(); err != nil {
			return fmt.Errorf("follow logs: %w", err)
		}
		if stopped {
			return nil
		}
		select {
		case <-f.cfg.Stop:
			stopped = true
		case <-f.cfg.Tick:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *follower) observe(round tail.Round) {
	if f.cfg.Observe == nil {
		return
	}
	st := FollowStatus{Files: f.files.Counts(), Last: f.reader.Counts().Last, Problems: round.Problems}
	for _, file := range f.files.Files() {
		st.Unread += file.Unread()
	}
	f.cfg.Observe(st)
}

func (f *follower) due() bool {
	if len(f.touched) == 0 {
		if _, grown := f.received(); grown.empty() {
			return false
		}
	}
	return f.cfg.Files.Now().Sub(f.flushed) >= f.agent.cfg.BatchTime
}

func (f *follower) batch(ctx context.Context, file *tail.File, b pglog.Batch) error {
	if f.reader.Guessed() {
		return fmt.Errorf("%q is a stderr log: give its log_line_prefix; one made from its first lines would lose what later lines add", file.Name())
	}
	f.touched[file] = true
	if err := f.agent.Add(b.Events); err != nil {
		return err
	}
	if f.agent.Size() < f.agent.cfg.BatchBytes && !f.due() {
		return nil
	}
	return f.flush(ctx)
}

// flush keeps the positions of the files that were read since the one before, beside those of all others.
func (f *follower) flush(ctx context.Context) error {
	state, err := f.reader.State()
	if err != nil {
		return err
	}
	replaced := map[string]bool{}
	var moved []Position
	for _, file := range f.files.Files() {
		if f.touched[file] {
			p := Position{file.Name(), file.Identity(), file.Offset(), file.Unread()}
			replaced[file.Committed()], replaced[p.Identity] = true, true
			moved = append(moved, p)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(f.agent.Checkpoint().Positions), func(p Position) bool { return replaced[p.Identity] })
	if gone := len(kept) + len(moved) - keptPositions - len(f.files.Files()); gone > 0 {
		kept = kept[min(gone, len(kept)):]
	}
	now := logLedger(f.reader.Counts())
	counts := f.files.Counts()
	now.Notes["truncated_files"] += counts.Truncated
	now.Notes["lost_bytes"] += counts.Lost
	var grown, received Ledger
	grown.Add(now, 1)
	grown.Add(f.told, -1)
	c := Checkpoint{Positions: append(kept, moved...), State: state}
	c.Received, received = f.received()
	grown.Add(received, 1)
	if err := f.agent.Flush(ctx, c, grown); err != nil {
		return err
	}
	for file := range f.touched {
		file.SetCommitted(file.Identity())
	}
	clear(f.touched)
	f.told, f.flushed = now, f.cfg.Files.Now()
	return nil
}
