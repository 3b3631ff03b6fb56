package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/cmd/foreshard/service"
)

// captureFlags are the flags of capture as given.
type captureFlags struct {
	topicFlags
	service   service.Flags
	name      string
	state     string
	spoolMB   int64
	whenFull  string
	batchKB   int
	batchTime time.Duration
	logs      captureLogs
	receive   captureReceive
	counts    statisticsFlags
	wal       walFlags
}

func newCaptureCmd() *cobra.Command {
	var f captureFlags
	cmd := &cobra.Command{
		Use:   "capture --brokers HOST:PORT --state DIR [--follow] [flags] FILE...",
		Short: "Read server logs and send the traffic, without its values, to Kafka",
		Long: `capture reads PostgreSQL server logs as analyze does, or follows them as run does, takes the values out, and sends what is left to a Kafka topic,
where plan reads it. One directory and name per server. --log names files as the arguments do. Standard input (-) and syslog (--listen-syslog) are
received into the state directory first, because they cannot be read twice.
--wal reads what is written, by logical replication, beside the log or alone; what fails of it is said and tried again, and does not hold up the log.

The state directory holds how far the files were read and what waits to be sent. It is written before anything is sent, so that every statement
counts once whatever is killed, and a later run goes on where this one was. Keep it: with an empty one everything is read and counted again.

While the brokers cannot be reached the state directory grows to --max-spool. Then reading waits, which loses nothing as long as the log files are
kept; with --when-full drop it goes on, and what is lost is counted in the ledger.

SIGTERM or SIGINT reads and sends what is there and ends; what cannot be sent by --drain-time waits in the state directory. A second one ends at
once, which loses nothing either. Metrics, /healthz and /readyz are served on --listen.

Exit codes: 0 everything is stored in the topic, or with --follow in the state directory, 2 could not run, 3 no execution of a statement was found.`,
		Example: `  foreshard capture --brokers kafka:9092 --create-topic --state /var/lib/foreshard/capture --follow '/var/log/postgresql/*.csv'
  foreshard capture --brokers kafka:9092 --create-topic --state state archive/*.csv.gz
  foreshard plan --brokers kafka:9092 --schema schema.sql --warehouse traffic`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.wal.drop {
				return f.wal.dropAll(cmd.Context(), cmd.OutOrStdout())
			}
			err := captureAll(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), &f, args)
			if errors.Is(err, pglog.ErrNothing) {
				return &exitError{exitThin, fmt.Errorf("%w\n\n%s", err, analysis.Advice)}
			}
			return err
		},
	}
	f.register(cmd)
	f.logs.register(cmd)
	f.receive.register(cmd)
	f.counts.register(cmd)
	f.wal.register(cmd)
	flags := cmd.Flags()
	f.service.Register(flags, "127.0.0.1:9798")
	f.service.RegisterDrain(flags)
	flags.StringVar(&f.name, "name", "", "name of this capture; two of them must not share one (default: the host's name)")
	flags.StringVar(&f.state, "state", "", "directory for its position and for what waits to be sent; made if it is not there")
	flags.Int64Var(&f.spoolMB, "max-spool", 1024, "megabytes that may wait in the state directory")
	flags.StringVar(&f.whenFull, "when-full", "wait", "what to do when they do: wait, drop")
	flags.IntVar(&f.batchKB, "batch-size", 4096, "kilobytes, before compression, after which what was read is made durable and sent")
	flags.DurationVar(&f.batchTime, "batch-time", time.Second, "time after which it is")
	return cmd
}

// captureSource is one thing that capture reads.
type captureSource struct {
	// read ends when everything is read, or, after ctx has asked for the end, when what is there was taken up; work is the context for that, and
	// ends --drain-time later. It calls began once it is ready to read.
	read func(ctx, work context.Context, c *capturing) error
}

// sources lists what is to be read, by the flags and arguments. What makes no sense is refused here, before anything is opened. Each source has
// an agent of its own, of which it says by name where it is kept: see capturing.agent.
func (f *captureFlags) sources(in io.Reader, args []string) ([]captureSource, error) {
	all, args, err := f.receive.sources(&f.logs, in, args)
	if err != nil {
		return nil, err
	}
	logs, err := f.logs.source(in, args)
	if err != nil {
		return nil, err
	}
	if logs != nil {
		all = append(all, *logs)
	}
	if err := f.counts.check(); err != nil {
		return nil, err
	}
	if len(f.counts.dsns) > 0 {
		if logs != nil && !f.logs.follow {
			return nil, errors.New("--statistics goes on until it is interrupted, and files that are read once end: give --follow, or none of the two together")
		}
		all = append(all, *captureStatistics(&f.counts))
	}
	if err := f.wal.check(); err != nil {
		return nil, err
	}
	if f.wal.dsn != "" {
		all = append(all, *captureWAL(&f.wal, len(all) == 0))
	}
	if len(all) == 0 {
		return nil, errors.New("nothing to read: name log files, with --follow patterns of them, or give --statistics or --wal")
	}
	return all, nil
}

// capturing is a capture in progress: what its sources share.
type capturing struct {
	*service.Service
	f       *captureFlags
	topic   *stream.Kafka
	out     io.Writer
	waiting atomic.Int64 // sources that have not begun

	mu       sync.Mutex
	statuses []*agentStatus
}

// tell says how things are, of all sources in one line.
func (c *capturing) tell(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	var numbers []any
	for _, s := range c.statuses {
		line, n := s.line()
		lines = append(lines, line)
		numbers = append(numbers, slog.Group(s.source, n...))
	}
	if len(lines) > 0 {
		c.Tell(strings.Join(lines, "; "), numbers...)
	}
	return nil
}

// began is what each source calls once it is ready to read.
func (c *capturing) began() {
	if c.waiting.Add(-1) == 0 {
		c.Up()
	}
}

// captureAll runs the verb.
func captureAll(ctx context.Context, in io.Reader, out, errOut io.Writer, f *captureFlags, args []string) (err error) {
	if err := errors.Join(f.check(), f.service.Check()); err != nil {
		return err
	}
	sources, err := f.sources(in, args)
	if err != nil {
		return err
	}
	c := &capturing{f: f, out: out}
	if c.Service, err = f.service.Start(ctx, errOut, plannerVersion()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if c.topic, err = f.open(ctx, c.Warn, true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.topic.Close()) }()

	ctx, end := context.WithCancel(ctx)
	defer end()
	work, cancel := c.Drain(ctx)
	defer cancel()
	defer c.Repeat(work, service.Job{Name: "status", Every: tellEvery, Run: c.tell})()
	c.waiting.Store(int64(len(sources)))
	var reading sync.WaitGroup
	errs := make([]error, len(sources))
	for i, s := range sources {
		reading.Go(func() {
			if errs[i] = s.read(ctx, work, c); errs[i] != nil {
				end() // the others are drained: a capture that reads half of what it should would look well
			}
		})
	}
	reading.Wait()
	if f.logs.follow {
		errs = append(errs, c.tell(work)) // the last word, as run has one
	}
	return errors.Join(errs...)
}

// agent opens the agent of a source and watches it. That of logs is kept in the state directory itself; those of others in a directory there,
// under a name of their own. source is a label of metrics, of a closed set. The caller closes the agent.
func (c *capturing) agent(source string) (*stream.Agent, *agentStatus, error) {
	f := c.f
	status := &agentStatus{source: source, full: f.spoolMB << 20, drop: f.whenFull == "drop"}
	cfg := stream.AgentConfig{Name: f.name, Dir: f.state, MaxSpool: status.full, Drop: status.drop, BatchBytes: f.batchKB << 10, BatchTime: f.batchTime,
		Flushed: status.flushed,
		Sent:    func(records int) { status.sent(records, time.Now()) },
		Retry: func(err error, pause time.Duration) {
			status.failed(err, time.Now())
			if !stream.Settling(err, pause) {
				c.Warn(fmt.Errorf("%w (trying again)", err)) // without the pause, so that the same words are said once a minute
			}
		}}
	if cfg.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, nil, fmt.Errorf("find the host's name: %w: give --name", err)
		}
		cfg.Name = host
	}
	if source != sourceLog {
		cfg.Name, cfg.Dir = cfg.Name+"/"+source, filepath.Join(cfg.Dir, source)
	}
	agent, err := stream.OpenAgent(cfg, c.topic)
	if err != nil {
		return nil, nil, err
	}
	status.opened(agent)
	c.mu.Lock()
	c.statuses = append(c.statuses, status)
	c.mu.Unlock()
	c.Check(func() string { return status.unready(time.Now()) })
	if err := c.Watch(status.emit); err != nil {
		return nil, nil, errors.Join(err, agent.Close())
	}
	return agent, status, nil
}

// sendRest waits until what was read is stored in the topic. What is not when work ends waits on disk and goes out at the next start.
func (c *capturing) sendRest(work context.Context, agent *stream.Agent) error {
	err := agent.Drain(work)
	if work.Err() != nil && service.Cancelled(err) {
		c.Warn(err)
		return nil
	}
	return err
}

// check refuses flags that make no sense.
func (f *captureFlags) check() error {
	switch {
	case f.state == "":
		return errors.New("no state directory: give --state DIR, which keeps how far the files were read")
	case f.spoolMB < 1:
		return fmt.Errorf("--max-spool %d: give 1 or more", f.spoolMB)
	case f.batchKB < 1 || f.batchTime <= 0:
		return errors.New("--batch-size and --batch-time must be above zero")
	case f.whenFull != "wait" && f.whenFull != "drop":
		return fmt.Errorf("--when-full %q is none of wait, drop", f.whenFull)
	}
	return nil
}
