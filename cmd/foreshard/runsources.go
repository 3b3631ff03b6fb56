package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/cmd/foreshard/service"
	"github.com/foreshard/foreshard/reports"
)

// runSource is one thing that run reads, into a stream of the warehouse of its own.
type runSource struct {
	// read ends after ctx has asked for the end and what is there was taken up; work is the context for that, and ends --drain-time later. It calls
	// began once it is ready to read.
	read func(ctx, work context.Context, a *agent, began func()) error
}

// readAll reads all sources side by side. One that fails ends the others: a run that reads half of what it should would look well.
func (a *agent) readAll(ctx context.Context, sources []runSource) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	work, cancel := a.Drain(ctx)
	defer cancel()
	var waiting atomic.Int64
	waiting.Store(int64(len(sources)))
	began := func() {
		if waiting.Add(-1) == 0 {
			a.Up()
		}
	}
	var reading sync.WaitGroup
	errs := make([]error, len(sources))
	for i, s := range sources {
		reading.Go(func() {
			if errs[i] = s.read(ctx, work, a, began); errs[i] != nil {
				end()
			}
		})
	}
	reading.Wait()
	return errors.Join(errs...)
}

// runLog follows the log.
func runLog(o analysis.FollowOptions) runSource {
	return runSource{func(ctx, work context.Context, a *agent, began func()) error {
		a.status = newRunStatus(a.f.poll)
		a.Check(func() string { return a.status.log.unready(time.Now()) })
		if err := a.Watch(a.status.emit); err != nil {
			return err
		}
		ticker := time.NewTicker(a.f.poll)
		defer ticker.Stop()
		o.Tick, o.Stop, o.Observe = ticker.C, ctx.Done(), a.observe
		began()
		total, err := analysis.Follow(work, a.w, a.cat, o, a.committed(work))
		if work.Err() != nil && service.Cancelled(err) {
			a.Log.Warn("not all of the log was read in --drain-time; the next start goes on from there")
			err = nil
		}
		if err != nil {
			return err
		}
		a.Log.Info(fmt.Sprintf("ended: %s executions committed by this run", reports.Count(total.Executions)), "executions", total.Executions)
		return nil
	}}
}

// runStatistics looks at the statistics of servers, with a handle of the warehouse of its own: the log's commits take as long as they do.
func runStatistics(f *statisticsFlags) runSource {
	return runSource{func(ctx, work context.Context, a *agent, began func()) error {
		w, err := analysis.OpenWarehouse(work, a.f.warehouse, true)
		if err != nil {
			return err
		}
		status := &statisticsStatus{s: a.Service}
		if err := a.Watch(status.emit); err != nil {
			return err
		}
		name := sourceStatistics
		if a.f.stream != "" {
			name = a.f.stream + "/" + name
		}
		o := analysis.StatisticsOptions{DSNs: f.dsns, Tick: f.ticks(ctx), Stop: ctx.Done(), Observe: status.observe,
			IngestOptions: analysis.IngestOptions{Stream: name, SchemaName: schemaName(a.f.schema, a.f.schemaFrom), Workers: 1}}
		began()
		if err := analysis.FollowStatistics(work, w, a.cat, o); err != nil && (work.Err() == nil || !service.Cancelled(err)) {
			return err
		}
		return nil
	}}
}
