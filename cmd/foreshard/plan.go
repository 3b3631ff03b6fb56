package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/partition"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/cmd/foreshard/service"
)

// planFlags are the flags of plan as given.
type planFlags struct {
	topicFlags
	schema, warehouse, group string
	every                    time.Duration
	drain                    bool
	workers                  int
	upkeep                   upkeepFlags
	service                  service.Flags
}

func newPlanCmd() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan --brokers HOST:PORT --schema SCHEMA.sql --warehouse DIR [flags]",
		Short: "Plan the traffic that capture sends to Kafka, into a warehouse",
		Long: `plan reads what capture sent to a topic, finds out what each statement does under the schema, and commits it to a warehouse. Start as many as
you like, at any time: they share the topic's partitions. How far a partition was read is committed with what was read, so that every statement
counts once, whichever of them is killed.

It runs until it is interrupted; with --drain until everything that was in the topic at its start is in the warehouse. SIGTERM or SIGINT commits
what was read and ends; a second one ends at once, which loses nothing either. Metrics, /healthz and /readyz are served on --listen.
foreshard analyze --schema SCHEMA.sql --candidate CANDIDATE.yaml --warehouse DIR reports on it at any time.`,
		Example: `  foreshard plan --brokers kafka:9092 --schema schema.sql --warehouse traffic
  foreshard plan --brokers kafka:9092 --schema schema.sql --warehouse traffic --drain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return plan(cmd.Context(), cmd.ErrOrStderr(), &f)
		},
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.schema, "schema", "", "schema of the database: pg_dump --schema-only, or plain DDL")
	flags.StringVar(&f.warehouse, "warehouse", "", "directory that keeps the traffic; made if it is not there")
	flags.StringVar(&f.group, "group", "foreshard", "consumer group that shares the partitions")
	flags.DurationVar(&f.session, "session-timeout", 10*time.Second, "silence after which this planner's partitions go to others")
	flags.DurationVar(&f.every, "commit-every", 10*time.Second, "time between commits of a partition that has something new")
	flags.BoolVar(&f.drain, "drain", false, "end when everything that was in the topic at the start is in the warehouse")
	flags.IntVar(&f.workers, "workers", 0, "threads per partition that judge; 0 means one per CPU")
	f.upkeep.register(flags)
	f.service.Register(flags, "127.0.0.1:9799")
	return cmd
}

// plan runs the verb.
func plan(ctx context.Context, errOut io.Writer, f *planFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	cat, err := loadCatalog(f.schema)
	if err != nil {
		return err
	}
	s, err := f.service.Start(ctx, errOut, plannerVersion())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	topic, err := f.open(ctx, s.Warn, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, topic.Close()) }()
	// What no trying again makes a warehouse is said once. A disk that is full now may not be later: the partitions say so and wait.
	if _, err := os.Stat(f.warehouse); err == nil {
		if _, err := analysis.OpenWarehouse(ctx, f.warehouse, false); err != nil && !errors.Is(err, warehouse.ErrAbsent) {
			return err
		}
	}
	status := newPlanStatus(time.Now())
	s.Check(func() string { return status.unready(time.Now()) })
	if err := s.Watch(status.emit); err != nil {
		return err
	}
	p := &partition.Planner{Topic: topic, Group: f.group, Catalog: cat, Schema: f.schema, Workers: f.workers, Every: f.every, Drain: f.drain, Now: time.Now,
		Open: func(ctx context.Context) (*warehouse.Warehouse, error) {
			return analysis.OpenWarehouse(ctx, f.warehouse, true)
		},
		Note:    func(text string) { s.Log.Info(text) },
		Problem: s.Warn,
		Observe: func(o partition.Observation) { status.observe(o, time.Now()) },
	}
	defer s.Repeat(ctx, append(f.jobs(s, topic, status), f.upkeep.jobs(f.warehouse, s)...)...)()
	s.Up()
	return p.Run(ctx)
}

// jobs are what plan does beside planning.
func (f *planFlags) jobs(s *service.Service, topic stream.Topic, status *planStatus) []service.Job {
	return []service.Job{
		{Name: "lag", Every: 5 * time.Second, Run: func(ctx context.Context) error { return status.askEnds(ctx, topic) }},
		{Name: "status", Every: tellEvery, Run: func(context.Context) error {
			line, numbers := status.line()
			s.Tell(line, numbers...)
			return nil
		}},
	}
}

// check refuses flags that make no sense.
func (f *planFlags) check() error {
	switch {
	case f.warehouse == "":
		return errors.New("no warehouse: give --warehouse DIR, which keeps the traffic and how far it was read")
	case f.every <= 0:
		return fmt.Errorf("--commit-every %s: give a time above zero", f.every)
	case f.session < time.Second:
		return fmt.Errorf("--session-timeout %s: give 1s or more", f.session)
	case f.workers < 0:
		return fmt.Errorf("--workers %d: give 0 (one per CPU) or more", f.workers)
	}
	return errors.Join(f.upkeep.check(), f.service.Check())
}
