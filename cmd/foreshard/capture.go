package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/capture/tail"
	"github.com/foreshard/foreshard/reports"
)

// captureFlags are the flags of capture as given.
type captureFlags struct {
	topicFlags
	name, state         string
	prefix, inputFormat string
	workers             int
	hold, quiet         bool
	spoolMB             int64
	whenFull            string
	batchKB             int
	batchTime           time.Duration
	follow              bool
	start               string
	poll, idle          time.Duration
}

// drainTime is how long an interrupted capture goes on sending what it has read; the rest goes out at the next start.
const drainTime = 10 * time.Second

func newCaptureCmd() *cobra.Command {
	var f captureFlags
	cmd := &cobra.Command{
		Use:   "capture --brokers HOST:PORT --state DIR [--follow] [flags] FILE...",
		Short: "Read server logs and send the traffic, without its values, to Kafka",
		Long: `capture reads PostgreSQL server logs as analyze does, or follows them as run does, takes the values out, and sends what is left to a Kafka topic,
where plan reads it. One directory and name per server.

The state directory holds how far the files were read and what waits to be sent. It is written before anything is sent, so that every statement
counts once whatever is killed, and a later run goes on where this one was. Keep it: with an empty one everything is read and counted again.

While the brokers cannot be reached the state directory grows to --max-spool. Then reading waits, which loses nothing as long as the log files are
kept; with --when-full drop it goes on, and what is lost is counted in the ledger.

Exit codes: 0 everything is stored in the topic, 2 could not run, 3 no execution of a statement was found.`,
		Example: `  foreshard capture --brokers kafka:9092 --create-topic --state /var/lib/foreshard/capture --follow '/var/log/postgresql/*.csv'
  foreshard capture --brokers kafka:9092 --create-topic --state state archive/*.csv.gz
  foreshard plan --brokers kafka:9092 --schema schema.sql --warehouse traffic`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := captureFiles(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), &f, args)
			if errors.Is(err, pglog.ErrNothing) {
				return &exitError{exitThin, fmt.Errorf("%w\n\n%s", err, analysis.Advice)}
			}
			return err
		},
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "name of this capture; two of them must not share one (default: the host's name)")
	flags.StringVar(&f.state, "state", "", "directory for its position and for what waits to be sent; made if it is not there")
	flags.StringVar(&f.prefix, "log-line-prefix", "", "log_line_prefix of stderr logs; found out if not given")
	flags.StringVar(&f.inputFormat, "input-format", "auto", "what the files are: auto, stderr, csvlog, jsonlog, sql")
	flags.BoolVar(&f.follow, "follow", false, "the FILEs are patterns of log files to follow while they are written, through rotation, until interrupted")
	flags.StringVar(&f.start, "start", "beginning", "with --follow, what becomes of files that are there before the first run: beginning (read them), end (do not)")
	flags.DurationVar(&f.poll, "poll", time.Second, "with --follow, how often to look at the files")
	flags.DurationVar(&f.idle, "idle", 2*time.Second, "with --follow, silence after which the last record of a stderr log is taken for whole")
	flags.BoolVar(&f.hold, "still-written", false, "the files are still being written: leave an unfinished end to the next run")
	flags.IntVar(&f.workers, "workers", 0, "threads that read; 0 means one per CPU. The result is the same for any number")
	flags.Int64Var(&f.spoolMB, "max-spool", 1024, "megabytes that may wait in the state directory")
	flags.StringVar(&f.whenFull, "when-full", "wait", "what to do when they do: wait, drop")
	flags.IntVar(&f.batchKB, "batch-size", 4096, "kilobytes, before compression, after which what was read is made durable and sent")
	flags.DurationVar(&f.batchTime, "batch-time", time.Second, "time after which it is")
	flags.BoolVar(&f.quiet, "quiet", false, "no notes on standard error")
	return cmd
}

// captureFiles runs the verb.
func captureFiles(ctx context.Context, in io.Reader, out, errOut io.Writer, f *captureFlags, files []string) (err error) {
	format, err := inputFormat(f.inputFormat)
	if err != nil {
		return err
	}
	cfg, err := f.agent(errOut)
	if err != nil {
		return err
	}
	var inputs []pglog.Input
	var start tail.Start
	if f.follow {
		start, err = f.followed(format)
	} else {
		inputs, err = captureInputs(files, in)
	}
	if err != nil {
		return err
	}
	topic, err := f.open(ctx, notes(errOut, f.quiet), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, topic.Close()) }()
	agent, err := stream.OpenAgent(cfg, topic)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agent.Close()) }()
	logs := pglog.Config{Prefix: f.prefix, Format: format, Workers: f.workers, Hold: f.hold}
	if f.follow {
		return f.followFiles(ctx, agent, logs, files, start, errOut)
	}

	reader, err := pglog.Open(ctx, inputs, agent.LogConfig(logs))
	if err != nil {
		return fmt.Errorf("read logs: %w", err)
	}
	err = errors.Join(stream.SendLogs(ctx, reader, agent, time.Now), reader.Close())
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, pglog.ErrNothing) {
		return fmt.Errorf("capture: %w", err)
	}
	if derr := drainAgent(ctx, agent); err != nil || derr != nil {
		return errors.Join(err, derr)
	}
	c := reader.Counts()
	fmt.Fprintf(out, "read %s, %s records, %s statements, %s executions; all of it is stored in topic %q\n", reports.Size(c.Bytes),
		reports.Count(c.Records), reports.Count(c.Statements), reports.Count(c.Executions), topic.Name())
	return nil
}

func captureInputs(files []string, in io.Reader) ([]pglog.Input, error) {
	inputs, total, err := openInputs(files, in)
	if err == nil && total == 0 {
		return nil, fmt.Errorf("read logs: every file is empty: %w", pglog.ErrNothing)
	}
	return inputs, err
}

// drainAgent waits until what was read is stored; after an interruption not for long.
func drainAgent(ctx context.Context, agent *stream.Agent) error {
	if ctx.Err() != nil {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		ctx = limited
	}
	return agent.Drain(ctx)
}

// followed checks the flags of --follow.
func (f *captureFlags) followed(format pglog.Format) (tail.Start, error) {
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

// followFiles follows until the first signal; what is there is read and sent then.
func (f *captureFlags) followFiles(ctx context.Context, agent *stream.Agent, logs pglog.Config, patterns []string, start tail.Start, errOut io.Writer) error {
	if logs.Workers == 0 {
		logs.Workers = 1 // it runs beside the database
	}
	logs.ChunkSize = 256 << 10
	ticker := time.NewTicker(f.poll)
	defer ticker.Stop()
	work, cancel := untilSecondSignal(ctx)
	defer cancel()
	err := stream.FollowLogs(work, agent, stream.FollowConfig{Logs: logs, Tick: ticker.C, Stop: ctx.Done(), Problem: notes(errOut, f.quiet),
		Files: tail.Options{Patterns: patterns, Start: start, Idle: f.idle, Now: time.Now}})
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return drainAgent(ctx, agent)
}

// agent checks the flags of the capturing side.
func (f *captureFlags) agent(errOut io.Writer) (stream.AgentConfig, error) {
	cfg := stream.AgentConfig{Name: f.name, Dir: f.state, MaxSpool: f.spoolMB << 20, BatchBytes: f.batchKB << 10, BatchTime: f.batchTime}
	if f.state == "" {
		return cfg, errors.New("no state directory: give --state DIR, which keeps how far the files were read")
	}
	if f.spoolMB < 1 {
		return cfg, fmt.Errorf("--max-spool %d: give 1 or more", f.spoolMB)
	}
	if f.batchKB < 1 || f.batchTime <= 0 {
		return cfg, errors.New("--batch-size and --batch-time must be above zero")
	}
	switch f.whenFull {
	case "wait":
	case "drop":
		cfg.Drop = true
	default:
		return cfg, fmt.Errorf("--when-full %q is none of wait, drop", f.whenFull)
	}
	if cfg.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return cfg, fmt.Errorf("find the host's name: %w: give --name", err)
		}
		cfg.Name = host
	}
	note := notes(errOut, f.quiet)
	cfg.Retry = func(err error, pause time.Duration) { note(fmt.Errorf("%w (again in %s)", err, pause)) }
	return cfg, nil
}

// notes writes lines to standard error, from any goroutine.
func notes(errOut io.Writer, quiet bool) func(error) {
	var mu sync.Mutex
	return func(err error) {
		if quiet {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(errOut, "foreshard: %v\n", err)
	}
}
