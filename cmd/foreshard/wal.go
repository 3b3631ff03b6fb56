package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/capture/pgwal"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/cmd/foreshard/metric"
	"github.com/foreshard/foreshard/cmd/foreshard/service"
)

// sourceWAL is the label of a server's WAL, and the name of its agent and stream.
const sourceWAL = "wal"

// walFlags are the flags of the verbs that read WAL.
type walFlags struct {
	dsn                   string
	schemas, tables, keys []string
	publication, slot     string
	create, drop          bool
	maxRetained, maxSpill int64
	over                  string
}

func (f *walFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.dsn, "wal", "", "connection string of a database whose committed writes are read from the WAL (wal_level = logical); PGPASSWORD, PGPASSFILE and PGSERVICE count")
	flags.StringArrayVar(&f.schemas, "wal-schema", nil, "schema whose tables are read; may be given several times (default: all)")
	flags.StringArrayVar(&f.tables, "wal-table", nil, "table that is read, instead of all; may be given several times")
	flags.StringArrayVar(&f.keys, "wal-key", nil, "TABLE.COLUMN that can be a shard key, beside the columns in keys, indexes and foreign keys; may be given several times")
	flags.StringVar(&f.publication, "wal-publication", "foreshard", "publication to read, and with _inserts after its name that of the tables without replica identity")
	flags.BoolVar(&f.create, "wal-create-publication", false, "make the publications and keep them as the tables are; without it an owner of the tables runs what is printed")
	flags.BoolVar(&f.drop, "wal-drop", false, "drop the publications that foreshard made, and the slot if --wal-slot names one, and end")
	flags.StringVar(&f.slot, "wal-slot", "", "slot that outlives this process, so that nothing is missed between two; it holds WAL on the server meanwhile (default: a temporary one)")
	flags.Int64Var(&f.maxRetained, "wal-max-retained", 4096, "megabytes of WAL that the slot may hold on the server; beyond, it is dropped")
	flags.StringVar(&f.over, "wal-over-max", "renew", "what to do then: renew (go on with a new slot, and count what is missing), stop (read no more WAL)")
	flags.Int64Var(&f.maxSpill, "wal-max-spill", 1024, "megabytes on disk for counts of transactions that are still open")
}

// check refuses flags that make no sense.
func (f *walFlags) check() error {
	switch {
	case f.dsn == "" && (f.slot != "" || f.drop || f.create || len(f.tables)+len(f.keys)+len(f.schemas) > 0):
		return errors.New("flags that begin with --wal- need --wal with a connection string")
	case f.dsn == "":
		return nil
	case f.maxRetained < 64:
		return fmt.Errorf("--wal-max-retained %d: give 64 or more, which is some files of WAL", f.maxRetained)
	case f.maxSpill < 1:
		return fmt.Errorf("--wal-max-spill %d: give 1 or more", f.maxSpill)
	case f.over != "renew" && f.over != "stop":
		return fmt.Errorf("--wal-over-max %q is none of renew, stop", f.over)
	case len(f.tables) > 0 && len(f.schemas) > 0:
		return errors.New("give --wal-table or --wal-schema, not both")
	}
	if _, err := pgx.ParseConfig(f.dsn); err != nil { // no trying again makes it one
		return fmt.Errorf("--wal: %w", err)
	}
	return nil
}

// config is what to read. alone: there is no other source, so what the server is not set up for ends the verb.
func (f *walFlags) config(dir string, alone bool) pgwal.Config {
	return pgwal.Config{DSN: f.dsn, Dir: dir, Schemas: f.schemas, Tables: f.tables, Keys: f.keys, Publication: f.publication, Create: f.create, Slot: f.slot,
		MaxRetained: f.maxRetained << 20, MaxSpill: f.maxSpill << 20, Renew: f.over == "renew", Strict: alone}
}

// dropAll runs --wal-drop.
func (f *walFlags) dropAll(ctx context.Context, out io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	did, err := pgwal.Drop(ctx, f.config(".", true))
	for _, text := range did {
		fmt.Fprintln(out, text)
	}
	return err
}

// walPatience is how long the WAL may not be read until a verb is not ready: a restart of the server takes less.
const walPatience = time.Minute

// walStatus is what a verb tells of the WAL. It is safe for concurrent use.
type walStatus struct {
	s *service.Service

	mu      sync.Mutex
	since   time.Time // when it was read last; zero: it is being read
	problem string
}

// watch has the status shown, and the configuration tell it what happens.
func (s *walStatus) watch(cfg *pgwal.Config) error {
	s.since = time.Now()
	cfg.Reading = func(on bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.since, s.problem = time.Now(), ""; on {
			s.since = time.Time{}
		}
	}
	cfg.Problem = func(err error) {
		s.mu.Lock()
		s.problem = err.Error()
		s.mu.Unlock()
		s.s.Warn(err)
	}
	s.s.Check(func() string { return s.unready(time.Now()) })
	return s.s.Watch(s.emit)
}

func (s *walStatus) unready(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() || now.Sub(s.since) < walPatience {
		return ""
	}
	return fmt.Sprintf("the WAL has not been read for %s: %s", now.Sub(s.since).Round(time.Second), s.problem)
}

func (s *walStatus) emit(emit metric.Emit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	failing := 0.0
	if !s.since.IsZero() {
		failing = 1
	}
	emit("capture_problems", failing, sourceWAL)
}

// captureWAL is the WAL as something to capture. What fails is tried again: it does not hold up the other sources, if there are any.
func captureWAL(f *walFlags, alone bool) *captureSource {
	return &captureSource{func(ctx, work context.Context, c *capturing) (err error) {
		began := sync.OnceFunc(c.began)
		agent, err := openWALAgent(ctx, c, alone, began)
		if err != nil || agent == nil {
			return err
		}
		defer func() { err = errors.Join(err, agent.Close()) }()
		cfg := f.config(filepath.Join(c.f.state, sourceWAL, "open"), alone)
		status := &walStatus{s: c.Service}
		if err := status.watch(&cfg); err != nil {
			return err
		}
		began()
		err = stream.FollowWAL(work, agent, cfg, ctx.Done())
		switch {
		case err == nil || work.Err() != nil && service.Cancelled(err):
			return c.sendRest(work, agent)
		case alone:
			return fmt.Errorf("capture: %w", err)
		}
		cfg.Problem(fmt.Errorf("the WAL is read no more until this process is started again: %w", err))
		<-ctx.Done()
		return nil
	}}
}

// openWALAgent opens the agent, again and again if there are other sources: brokers may be away before it was ever there. nil: it was told to end.
func openWALAgent(ctx context.Context, c *capturing, alone bool, began func()) (*stream.Agent, error) {
	const pause = 10 * time.Second
	for said := false; ; said = true {
		agent, _, err := c.agent(sourceWAL)
		if err == nil || alone {
			return agent, err
		}
		if !said {
			began()
			c.Warn(fmt.Errorf("the WAL is not read yet: %w (again in %s)", err, pause))
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(pause):
		}
	}
}

// runWAL reads WAL, with a handle of the warehouse of its own.
func runWAL(f *walFlags, alone bool) runSource {
	return runSource{func(ctx, work context.Context, a *agent, began func()) (err error) {
		w, err := analysis.OpenWarehouse(work, a.f.warehouse, true)
		if err != nil {
			return err
		}
		name := sourceWAL
		if a.f.stream != "" {
			name = a.f.stream + "/" + name
		}
		dir, err := os.MkdirTemp("", "foreshard-wal-")
		if err != nil {
			return fmt.Errorf("make directory of open transactions: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		cfg := f.config(dir, alone)
		status := &walStatus{s: a.Service}
		if err := status.watch(&cfg); err != nil {
			return err
		}
		o := analysis.WALOptions{WAL: cfg, Commit: a.f.commit, Stop: ctx.Done(),
			IngestOptions: analysis.IngestOptions{Stream: name, SchemaName: schemaName(a.f.schema, a.f.schemaFrom), Workers: 1}}
		began()
		err = analysis.FollowWAL(work, w, a.cat, o)
		switch {
		case err == nil || work.Err() != nil && service.Cancelled(err):
			return nil
		case alone:
			return err
		}
		cfg.Problem(fmt.Errorf("the WAL is read no more until this process is started again: %w", err))
		<-ctx.Done()
		return nil
	}}
}
