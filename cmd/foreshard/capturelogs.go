package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/capture/tail"
	"github.com/foreshard/foreshard/cmd/foreshard/service"
	"github.com/foreshard/foreshard/reports"
)

// captureLogs are the flags of capture that are about log files.
type captureLogs struct {
	files               []string
	prefix, inputFormat string
	workers             int
	hold                bool
	follow              bool
	start               string
	poll, idle          time.Duration
}

func (f *captureLogs) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.files, "log", nil, "a FILE, as the arguments are; may be given several times")
	flags.StringVar(&f.prefix, "log-line-prefix", "", "log_line_prefix of stderr logs; found out if not given")
	flags.StringVar(&f.inputFormat, "input-format", "auto", "what the files are: auto, "+formatNames())
	flags.BoolVar(&f.follow, "follow", false, "the FILEs are patterns of log files to follow while they are written, through rotation, until interrupted")
	flags.StringVar(&f.start, "start", "beginning", "with --follow, what becomes of files that are there before the first run: beginning (read them), end (do not)")
	flags.DurationVar(&f.poll, "poll", time.Second, "with --follow, how often to look at the files")
	flags.DurationVar(&f.idle, "idle", 2*time.Second, "with --follow, silence after which the last record of a stderr log is taken for whole")
	flags.BoolVar(&f.hold, "still-written", false, "the files are still being written: leave an unfinished end to the next run")
	flags.IntVar(&f.workers, "workers", 0, "threads that read; 0 means one per CPU, with --follow one. The result is the same for any number")
}

// source is the logs as something to read, nil if none are named.
func (f *captureLogs) source(in io.Reader, args []string) (*captureSource, error) {
	files := slices.Concat(f.files, args)
	if len(files) == 0 {
		return nil, nil
	}
	format, err := inputFormat(f.inputFormat)
	if err != nil {
		return nil, err
	}
	logs := pglog.Config{Prefix: f.prefix, Format: format, Workers: f.workers, Hold: f.hold, Now: time.Now}
	if f.follow {
		start, err := f.followed(format)
		if err != nil {
			return nil, err
		}
		return &captureSource{func(ctx, work context.Context, c *capturing) error {
			return f.followFiles(ctx, work, c, logs, tail.Options{Patterns: files, Start: start, Idle: f.idle, Now: time.Now})
		}}, nil
	}
	inputs, total, err := openInputs(files, in)
	if err != nil {
		return nil, err
	}
	if total == 0 {
		return nil, fmt.Errorf("read logs: every file is empty: %w", pglog.ErrNothing)
	}
	return &captureSource{func(ctx, work context.Context, c *capturing) error { return readFiles(ctx, work, c, logs, inputs) }}, nil
}

// followed checks the flags of --follow.
func (f *captureLogs) followed(format pglog.Format) (tail.Start, error) {
	start, ok := map[string]tail.Start{"beginning": tail.Beginning, "end": tail.End}[f.start]
	switch {
	case !ok:
		return 0, fmt.Errorf("--start %q is none of beginning, end", f.start)
	case format == pglog.SQL:
		return 0, errors.New("--input-format sql: a .sql file is no log that is being written")
	case format == pglog.Stderr && f.prefix == "":
		return 0, errors.New("stderr logs need --log-line-prefix, as SHOW log_line_prefix prints it")
	case f.poll <= 0 || f.idle <= 0:
		return 0, errors.New("--poll and --idle must be more than 0")
	case f.hold:
		return 0, errors.New("--still-written is for files that are read once; --follow reads what is added")
	}
	return start, nil
}

// readFiles reads files to their end and waits until everything is stored in the topic.
func readFiles(ctx, work context.Context, c *capturing, logs pglog.Config, inputs []pglog.Input) (err error) {
	agent, _, err := c.agent(sourceLog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agent.Close()) }()
	reader, err := pglog.Open(ctx, inputs, agent.LogConfig(logs))
	if err != nil {
		return fmt.Errorf("read logs: %w", err)
	}
	c.began()
	return c.allRead(work, agent, reader, errors.Join(stream.SendLogs(ctx, reader, agent, time.Now), reader.Close()))
}

// allRead waits until what a reader read to its end, or to the error that ended it, is stored in the topic, and tells how much it was.
func (c *capturing) allRead(work context.Context, agent *stream.Agent, reader *pglog.Reader, err error) error {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, pglog.ErrNothing) {
		return fmt.Errorf("capture: %w", err)
	}
	if err != nil {
		return errors.Join(err, c.sendRest(work, agent))
	}
	if err := agent.Drain(work); err != nil {
		return err
	}
	n := reader.Counts()
	fmt.Fprintf(c.out, "read %s, %s records, %s statements, %s executions; all of it is stored in topic %q\n", reports.Size(n.Bytes),
		reports.Count(n.Records), reports.Count(n.Statements), reports.Count(n.Executions), c.topic.Name())
	return nil
}

// followFiles follows until ctx ends; what is there is read and sent then.
func (f *captureLogs) followFiles(ctx, work context.Context, c *capturing, logs pglog.Config, files tail.Options) error {
	return f.follower(work, c, sourceLog, stream.FollowConfig{Logs: logs, Files: files, Stop: ctx.Done()})
}

// follower follows what cfg says until its Stop.
func (f *captureLogs) follower(work context.Context, c *capturing, source string, cfg stream.FollowConfig) (err error) {
	agent, sent, err := c.agent(source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agent.Close()) }()
	if cfg.Logs.Workers == 0 {
		cfg.Logs.Workers = 1 // it runs beside the database
	}
	cfg.Logs.ChunkSize = 256 << 10
	status := &logStatus{source: source, poll: f.poll}
	c.Check(func() string { return status.unready(time.Now()) })
	if err := c.Watch(status.emit); err != nil {
		return err
	}
	ticker := time.NewTicker(f.poll)
	defer ticker.Stop()
	c.began()
	cfg.Tick, cfg.Observe = ticker.C, func(s stream.FollowStatus) {
		for _, problem := range status.look(look{read: sent.read(), files: s.Files, unread: s.Unread, last: s.Last, problems: s.Problems}, time.Now()) {
			c.Log.Warn(problem)
		}
	}
	err = stream.FollowLogs(work, agent, cfg)
	if work.Err() != nil && service.Cancelled(err) {
		c.Log.Warn("not all of the log was read in --drain-time; the next start goes on from there")
		return nil
	}
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return c.sendRest(work, agent)
}
