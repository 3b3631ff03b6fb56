package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/receive"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/capture/tail"
)

// The labels of what cannot be read twice.
const (
	sourceStdin  = "stdin"
	sourceSyslog = "syslog"
)

// captureReceive are the flags of capture that are about what cannot be read twice.
type captureReceive struct {
	listen []string
	max    int64
}

func (f *captureReceive) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.listen, "listen-syslog", nil,
		"receive syslog on udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH (datagrams); no HOST is loopback; may be given several times")
	flags.Int64Var(&f.max, "max-received", 1024, "megabytes of standard input or syslog that may wait on disk to be read")
}

// sources lists what is received, and leaves the rest of the arguments. Standard input that is a file is read as one.
func (f *captureReceive) sources(logs *captureLogs, in io.Reader, args []string) (all []captureSource, rest []string, err error) {
	if f.max < 64 {
		return nil, nil, fmt.Errorf("--max-received %d: give 64 or more", f.max)
	}
	for _, a := range f.listen {
		if err := receive.CheckSyslogAddress(a); err != nil {
			return nil, nil, fmt.Errorf("--listen-syslog: %w", err)
		}
	}
	if len(f.listen) > 0 {
		all = append(all, captureSource{func(ctx, work context.Context, c *capturing) error { return f.syslog(ctx, work, c, logs) }})
	}
	if !slices.Contains(slices.Concat(logs.files, args), "-") || !logs.follow && !once(in) {
		return all, args, nil
	}
	before := len(logs.files) + len(args)
	logs.files, args = without(logs.files, "-"), without(args, "-")
	if before-len(logs.files)-len(args) > 1 {
		return nil, nil, errors.New(`read logs: "-" is named twice`)
	}
	format, err := inputFormat(logs.inputFormat)
	if err != nil {
		return nil, nil, err
	}
	cfg := pglog.Config{Prefix: logs.prefix, Format: format, Workers: logs.workers, Hold: logs.hold, Now: time.Now}
	read := func(ctx, work context.Context, c *capturing) error { return f.stdinOnce(ctx, work, c, cfg, in) }
	if logs.follow {
		if _, err := logs.followed(format); err != nil {
			return nil, nil, err
		}
		read = func(ctx, work context.Context, c *capturing) error { return f.stdin(ctx, work, c, logs, cfg, in) }
	}
	return append(all, captureSource{read}), args, nil
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
}

// once says that an input cannot be read again from its beginning by whoever starts this program again.
func once(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

func (f *captureReceive) dir(c *capturing, source string) string {
	return filepath.Join(c.f.state, source, "received")
}

// store opens what a source has received.
func (f *captureReceive) store(c *capturing, source string) (*receive.Store, error) {
	return receive.Open(f.dir(c, source), receive.Options{Max: f.max << 20, Now: time.Now, Problem: c.Warn})
}

// contents are a store's logs as a tail reads them.
func contents(s *receive.Store) func() []tail.Content {
	return func() (out []tail.Content) {
		for _, l := range s.Logs() {
			out = append(out, l)
		}
		return out
	}
}

func dropped(s *receive.Store) func() map[string]stream.Drop {
	return func() map[string]stream.Drop {
		out := map[string]stream.Drop{}
		for reason, d := range s.Dropped() {
			out[reason] = stream.Drop(d)
		}
		return out
	}
}

// receiving runs a receiver and, beside it, what reads the store. The receiver ends with ctx or by itself; stop is closed when all it received is
// in the store.
func receiving(ctx context.Context, receiver func(ctx context.Context) error, read func(stop <-chan struct{}) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop, received := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(stop)
		received <- receiver(ctx)
	}()
	err := read(stop)
	cancel()
	if rerr := <-received; !errors.Is(rerr, context.Canceled) {
		err = errors.Join(err, rerr)
	}
	return err
}

// unusable says where what was received lies if it is no log: it is kept, and read again at each start.
func (f *captureReceive) unusable(c *capturing, source string, err error) error {
	if errors.Is(err, pglog.ErrUnrecognised) {
		return fmt.Errorf("%w: it is kept in %q; remove that if it is of no use", err, f.dir(c, source))
	}
	return err
}

// follow reads a store as files are followed.
func (f *captureReceive) follow(work context.Context, c *capturing, source string, logs *captureLogs, cfg pglog.Config, s *receive.Store, stop <-chan struct{}) error {
	return f.unusable(c, source, logs.follower(work, c, source, stream.FollowConfig{Logs: cfg, Stop: stop, Received: dropped(s),
		Files: tail.Options{Contents: contents(s), Idle: logs.idle, Now: time.Now}}))
}

func (f *captureReceive) stdin(ctx, work context.Context, c *capturing, logs *captureLogs, cfg pglog.Config, in io.Reader) (err error) {
	s, err := f.store(c, sourceStdin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	copyIn := func(ctx context.Context) error { return copyStdin(ctx, s, in, func(*receive.Log) {}) }
	return receiving(ctx, copyIn, func(stop <-chan struct{}) error { return f.follow(work, c, sourceStdin, logs, cfg, s, stop) })
}

// copyStdin receives standard input; if it is compressed, what is in it.
func copyStdin(ctx context.Context, s *receive.Store, in io.Reader, started func(*receive.Log)) error {
	if file, ok := in.(*os.File); ok {
		head, err := receive.Peek(ctx, file, 4)
		if err != nil {
			return err
		}
		if pglog.Compressed(head) {
			rd, done, err := pglog.Decompress(in)
			if err != nil {
				return fmt.Errorf("read standard input: %w", err)
			}
			defer done()
			in = rd
		}
	}
	return s.Copy(ctx, in, started)
}

func (f *captureReceive) syslog(ctx, work context.Context, c *capturing, logs *captureLogs) (err error) {
	s, err := f.store(c, sourceSyslog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	y, err := s.Listen(f.listen)
	if err != nil {
		return err
	}
	for _, a := range y.Addresses() {
		c.Log.Info(fmt.Sprintf("receiving syslog on %s", a), "address", a)
	}
	cfg := pglog.Config{Prefix: logs.prefix, Format: pglog.Syslog, Workers: logs.workers, Escaped: true, Now: time.Now}
	return receiving(ctx, y.Run, func(stop <-chan struct{}) error { return f.follow(work, c, sourceSyslog, logs, cfg, s, stop) })
}

// stdinOnce reads a pipe to its end and waits until everything is stored in the topic. What an earlier run received and did not read comes first.
func (f *captureReceive) stdinOnce(ctx, work context.Context, c *capturing, cfg pglog.Config, in io.Reader) (err error) {
	agent, _, err := c.agent(sourceStdin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agent.Close()) }()
	s, err := f.store(c, sourceStdin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	begun := make(chan *receive.Log, 1)
	copyIn := func(ctx context.Context) error {
		defer close(begun)
		return copyStdin(ctx, s, in, func(l *receive.Log) { begun <- l })
	}
	return receiving(ctx, copyIn, func(<-chan struct{}) error {
		newest, ok := <-begun
		if !ok {
			return nil // the receiver has an error
		}
		c.began()
		return f.unusable(c, sourceStdin, readReceived(ctx, work, c, cfg, agent, s, newest))
	})
}

// readReceived reads the logs of a store, the newest one to its end.
func readReceived(ctx, work context.Context, c *capturing, cfg pglog.Config, agent *stream.Agent, s *receive.Store, newest *receive.Log) error {
	if _, err := newest.Wait(ctx, pglog.HeadBytes); err != nil {
		return err
	}
	logs, err := unread(agent, s, newest)
	if err != nil {
		return err
	}
	var inputs []pglog.Input
	for _, l := range logs {
		inputs = append(inputs, pglog.Input{Name: l.Name(), Reader: l.Reader(ctx)})
	}
	if len(inputs) == 0 {
		return fmt.Errorf("read logs: standard input is empty: %w", pglog.ErrNothing)
	}
	reader, err := pglog.Open(ctx, inputs, agent.LogConfig(cfg))
	if err != nil {
		return fmt.Errorf("read logs: %w: %w", pglog.ErrUnrecognised, err)
	}
	var broken error
	agent.Kept(func(p stream.Checkpoint) {
		for _, l := range logs {
			broken = errors.Join(broken, l.Release(position(agent, p, l)))
		}
	})
	err = errors.Join(stream.SendLogs(ctx, reader, agent, time.Now), reader.Close(), broken)
	if err == nil {
		err = finished(ctx, agent, s, newest)
	}
	return c.allRead(work, agent, reader, err)
}

// unread lists the logs that are to be read, the newest one last. One that another repeats is not read twice.
func unread(agent *stream.Agent, s *receive.Store, newest *receive.Log) (logs []*receive.Log, err error) {
	skip := false
	for _, l := range s.Logs() {
		if l == newest {
			continue
		}
		size, _ := l.Stat()
		repeats, err := newest.Repeats(l, pglog.HeadBytes)
		if err != nil {
			return nil, err
		}
		now, _ := newest.Stat()
		switch {
		case repeats && newest.Ended() && now < size:
			skip = true // the newest one is the beginning of this one
			logs = append(logs, l)
		case repeats:
		case position(agent, agent.Checkpoint(), l) < size:
			logs = append(logs, l)
		}
	}
	if size, _ := newest.Stat(); size > 0 && !skip {
		logs = append(logs, newest)
	}
	return logs, nil
}

// position is how far a log was read, by a checkpoint.
func position(agent *stream.Agent, c stream.Checkpoint, l *receive.Log) (offset int64) {
	head, err := l.Head(pglog.HeadBytes)
	if err != nil {
		return 0
	}
	for _, p := range c.Positions {
		if pglog.Identifies(agent.HashKey(), p.Identity, head) {
			offset = max(offset, p.Offset)
		}
	}
	return offset
}

// finished removes the logs but the newest one, and reports what was not received whole. What nobody read of a log is lost: its last record, or what
// the newest log, which seemed to repeat it, did not repeat.
func finished(ctx context.Context, agent *stream.Agent, s *receive.Store, newest *receive.Log) error {
	for _, l := range s.Logs() {
		if l == newest {
			continue
		}
		size, _ := l.Stat()
		if err := l.Done(max(0, size-position(agent, agent.Checkpoint(), l))); err != nil {
			return err
		}
	}
	return agent.FlushReceived(ctx, dropped(s)())
}
