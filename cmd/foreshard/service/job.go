package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/foreshard/foreshard/cmd/foreshard/metric"
)

// Job is something small that a verb does again and again beside its main work. Its failure does not end the verb: it is said, counted
// (foreshard_job_failures_total) and tried again the next time.
type Job struct {
	Name  string // of a closed set: it is the label task
	Every time.Duration
	Run   func(ctx context.Context) error
}

// jobs is how background jobs fared, by name.
type jobs struct {
	mu     sync.Mutex
	byName map[string]jobCounts
}

type jobCounts struct {
	runs, failures int64
	last           time.Time // success
}

func (j *jobs) count(name string, change func(*jobCounts)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.byName[name]
	change(&c)
	j.byName[name] = c
}

func (j *jobs) emit(emit metric.Emit) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(j.byName)) {
		c := j.byName[name]
		emit("job_runs_total", float64(c.runs), name)
		emit("job_failures_total", float64(c.failures), name)
		if !c.last.IsZero() {
			emit("job_last_success_timestamp_seconds", float64(c.last.UnixMilli())/1000, name)
		}
	}
}

// Repeat runs jobs, each on its own, until the function it returns is called, which waits for those at work.
func (s *Service) Repeat(ctx context.Context, list ...Job) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	for _, j := range list {
		s.jobs.count(j.Name, func(*jobCounts) {}) // it is there to be watched before it first runs
		working.Go(func() { s.repeat(ctx, j) })
	}
	return func() { cancel(); working.Wait() }
}

func (s *Service) repeat(ctx context.Context, j Job) {
	ticker := time.NewTicker(j.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s.jobs.count(j.Name, func(c *jobCounts) { c.runs++ })
		err := j.Run(ctx)
		switch {
		case err == nil:
			s.jobs.count(j.Name, func(c *jobCounts) { c.last = time.Now() })
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return
		default:
			s.jobs.count(j.Name, func(c *jobCounts) { c.failures++ })
			if text := fmt.Sprintf("%s failed and is tried again in %s: %v", j.Name, j.Every, err); s.again.due(text) {
				s.Log.Error(text, "job", j.Name, "error", err.Error())
			}
		}
	}
}
