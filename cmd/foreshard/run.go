package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/tail"
	"github.com/foreshard/foreshard/cmd/foreshard/service"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/reports"
)

// runFlags are the flags of run as given.
type runFlags struct {
	logs        []string
	schema      string
	schemaFrom  string
	candidates  []string
	warehouse   string
	stream      string
	prefix      string
	inputFormat string
	start       string
	poll        time.Duration
	commit      time.Duration
	idle        time.Duration
	report      time.Duration
	workers     int
	counts      statisticsFlags
	wal         walFlags
	upkeep      upkeepFlags
	service     service.Flags
}

func newRunCmd() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run --log PATTERN --warehouse DIR --schema SCHEMA.sql [--candidate CANDIDATE.yaml...] [flags]",
		Short: "Follow a server's log and keep judging its traffic",
		Long: `run follows PostgreSQL log files while they are written and keeps what they show in a warehouse, for analyze and every other verb to judge.
The log is the queue: the warehouse holds how far it was read, together with what was read, so after a crash or a restart every statement
counts once. It only reads files; it connects to the server only if --schema-from says so, once, at the start, or --statistics, whose counts are
kept beside the log's: they tell what the log does not have. --wal reads what is written, by logical replication; docs/live.md says what that costs.

--log takes globs, and log_filename's strftime escapes stand for anything: '/var/log/postgresql/postgresql-%Y-%m-%d.csv'. Name the files of one
format. Rotation by rename or by new names, truncation in place, copy-and-truncate and compressed leftovers are followed; a file is told by its
first bytes, not by its name. stderr logs need --log-line-prefix.

SIGTERM or SIGINT reads what is there, for --drain-time at most, commits and ends; a second one ends at once, which loses nothing either. Metrics, /healthz and /readyz
are served on --listen.`,
		Example: `  foreshard run --log '/var/log/postgresql/*.csv' --warehouse traffic --schema schema.sql
  foreshard run --log '/var/log/postgresql/*.log' --log-line-prefix '%m [%p] %q%u@%d ' --warehouse traffic --schema schema.sql --candidate by-org.yaml --report-every 1h`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.wal.drop {
				return f.wal.dropAll(cmd.Context(), cmd.OutOrStdout())
			}
			return runAgent(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), &f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.logs, "log", nil, "log files to follow: a glob, or log_filename with its strftime escapes; may be given several times")
	flags.StringVar(&f.schema, "schema", "", "schema of the database: pg_dump --schema-only, or plain DDL")
	flags.StringVar(&f.schemaFrom, "schema-from", "", schemaFromUsage)
	flags.StringArrayVar(&f.candidates, "candidate", nil, "candidate sharding schema (YAML) for --report-every; may be given several times")
	flags.StringVar(&f.warehouse, "warehouse", "", "directory that keeps the traffic and how far the log was read; made if it is not there")
	flags.StringVar(&f.stream, "stream", "", "name of this log in the warehouse, if several servers' logs go into one")
	flags.StringVar(&f.prefix, "log-line-prefix", "", "log_line_prefix of stderr logs, as SHOW prints it")
	flags.StringVar(&f.inputFormat, "input-format", "auto", "what the files are, as in analyze: auto, stderr, csvlog, jsonlog, syslog, docker and others")
	flags.StringVar(&f.start, "start", "beginning", "what becomes of files that are there before the first run: beginning (read them), end (do not)")
	flags.DurationVar(&f.poll, "poll", time.Second, "how often to look at the files")
	flags.DurationVar(&f.commit, "commit-every", 30*time.Second, "how often to commit; each commit writes some files")
	flags.DurationVar(&f.idle, "idle", 2*time.Second, "silence after which the last record of a stderr log is taken for whole")
	flags.DurationVar(&f.report, "report-every", 0, "how often to print each candidate's headline; 0: never")
	flags.IntVar(&f.workers, "workers", 1, "threads that read and judge")
	f.counts.register(cmd)
	f.wal.register(cmd)
	f.upkeep.register(flags)
	f.service.Register(flags, "127.0.0.1:9797")
	f.service.RegisterDrain(flags)
	return cmd
}

// agent is a run in progress.
type agent struct {
	*service.Service
	f          *runFlags
	out        io.Writer
	w          *warehouse.Warehouse
	cat        *catalog.Catalog
	candidates []*candidate.Candidate
	status     *runStatus
	reported   time.Time
}

// runAgent runs the verb: everything that can be refused is refused before a byte of traffic is read.
func runAgent(ctx context.Context, out, errOut io.Writer, f *runFlags) (err error) {
	a := &agent{f: f, out: out, reported: time.Now()}
	o, err := a.options()
	if err != nil {
		return err
	}
	if len(f.candidates) > 0 {
		a.cat, a.candidates, err = loadSchema(ctx, f.schema, f.schemaFrom, f.candidates)
	} else {
		a.cat, err = catalogFrom(ctx, f.schema, f.schemaFrom)
	}
	if err != nil {
		return err
	}
	if a.w, err = analysis.OpenWarehouse(ctx, f.warehouse, true); err != nil {
		return err
	}
	if a.Service, err = f.service.Start(ctx, errOut, plannerVersion()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	work, cancel := a.Drain(ctx)
	defer cancel()
	defer a.Repeat(work, a.jobs()...)()

	var sources []runSource
	if len(f.logs) > 0 {
		sources = append(sources, runLog(o))
	}
	if len(f.counts.dsns) > 0 {
		sources = append(sources, runStatistics(&f.counts))
	}
	if f.wal.dsn != "" {
		sources = append(sources, runWAL(&f.wal, len(sources) == 0))
	}
	return a.readAll(ctx, sources)
}

// jobs are what run does beside following the log.
func (a *agent) jobs() []service.Job { return a.f.upkeep.jobs(a.f.warehouse, a.Service) }

// options checks the flags.
func (a *agent) options() (analysis.FollowOptions, error) {
	f := a.f
	var o analysis.FollowOptions
	format, err := inputFormat(f.inputFormat)
	if err != nil {
		return o, err
	}
	start, ok := map[string]tail.Start{"beginning": tail.Beginning, "end": tail.End}[f.start]
	switch {
	case len(f.logs) == 0 && len(f.counts.dsns) == 0 && f.wal.dsn == "":
		return o, errors.New("nothing to follow: give --log with a pattern of file names, --statistics or --wal")
	case f.warehouse == "":
		return o, errors.New("no warehouse: give --warehouse with a directory; it also keeps how far the log was read")
	case !ok:
		return o, fmt.Errorf("--start %q is none of beginning, end", f.start)
	case format == pglog.SQL:
		return o, errors.New("--input-format sql: a .sql file is no log that is being written; give it to analyze")
	case format == pglog.Stderr && f.prefix == "" && len(f.logs) > 0:
		return o, errors.New("stderr logs need --log-line-prefix, as SHOW log_line_prefix prints it")
	case f.poll <= 0 || f.commit <= 0 || f.idle <= 0:
		return o, errors.New("--poll, --commit-every and --idle must be more than 0")
	case f.report < 0:
		return o, errors.New("--report-every must not be negative")
	case f.report > 0 && len(f.candidates) == 0:
		return o, errors.New("--report-every needs a --candidate to report on")
	case f.workers < 1:
		return o, fmt.Errorf("--workers %d: give 1 or more", f.workers)
	}
	if err := errors.Join(f.counts.check(), f.wal.check(), f.upkeep.check()); err != nil {
		return o, err
	}
	o.IngestOptions = analysis.IngestOptions{Stream: f.stream, SchemaName: schemaName(f.schema, f.schemaFrom), Workers: f.workers,
		Logs: pglog.Config{Prefix: f.prefix, Format: format, Workers: f.workers, ChunkSize: 256 << 10}}
	o.Files = tail.Options{Patterns: f.logs, Start: start, Idle: f.idle, Now: time.Now}
	o.Commit = f.commit
	return o, nil
}

// observe takes note of a look at the files; a problem is said when it is new.
func (a *agent) observe(s analysis.FollowStatus) {
	for _, problem := range a.status.look(s, time.Now()) {
		a.Log.Warn(problem)
	}
	for _, m := range s.Missing {
		a.Log.Warn(fmt.Sprintf("%q is gone, and %s of it were not read; under a name that --log finds they still are", m.Name, reports.Size(m.Bytes)), "file", m.Name, "bytes", m.Bytes)
	}
}

// committed is what happens after each commit: the status, and the headline when it is due.
func (a *agent) committed(ctx context.Context) func(analysis.Ledger) {
	return func(total analysis.Ledger) {
		now := time.Now()
		line, numbers := a.status.commit(total, now)
		a.Tell(line, numbers...)
		if a.f.report == 0 || now.Sub(a.reported) < a.f.report {
			return
		}
		a.reported = now
		r, err := analysis.BuildReport(ctx, a.w, a.cat, a.candidates, analysis.ReportOptions{Workers: a.f.workers, PlannerVersion: plannerVersion()})
		if err != nil {
			if !errors.Is(err, analysis.ErrNoEvidence) {
				a.Log.Error("no headline: "+err.Error(), "error", err.Error()) // the log is read on, whatever becomes of a report
			}
			return
		}
		a.status.report(r)
		for _, c := range reports.NewView(r).Candidates {
			fmt.Fprintf(a.out, "%s %s\n", now.UTC().Format(time.RFC3339), c.Headline)
		}
	}
}
