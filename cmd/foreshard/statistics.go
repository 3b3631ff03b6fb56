package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/capture/pgstat"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/cmd/foreshard/metric"
	"github.com/foreshard/foreshard/cmd/foreshard/service"
)

// sourceStatistics is the label of what servers' pg_stat_statements counted, and the name of its agent and stream.
const sourceStatistics = "statistics"

// statisticsFlags are the flags of the verbs that look at servers' statistics.
type statisticsFlags struct {
	dsns  []string
	every time.Duration
}

func (f *statisticsFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.dsns, "statistics", nil, "connection string of a server whose pg_stat_statements is looked at, in every database at once; once for each server and replica. PGPASSWORD, PGPASSFILE and PGSERVICE count")
	flags.DurationVar(&f.every, "statistics-every", time.Minute, "time between two looks, at whole multiples of it; a minute or more compares best with the log")
}

// check refuses flags that make no sense.
func (f *statisticsFlags) check() error {
	if len(f.dsns) == 0 {
		return nil
	}
	if f.every < time.Second {
		return fmt.Errorf("--statistics-every %s: give 1s or more", f.every)
	}
	group, err := pgstat.Open(pgstat.Config{DSNs: f.dsns})
	if err != nil {
		return fmt.Errorf("--statistics: %w", err)
	}
	return group.Close(context.Background()) // nothing was connected
}

// ticks gives the times of looks until ctx ends: whole multiples of the time between them, so that looks fall on the minutes that traffic is
// counted by.
func (f *statisticsFlags) ticks(ctx context.Context) <-chan time.Time {
	c := make(chan time.Time)
	go func() {
		for {
			now := time.Now()
			timer := time.NewTimer(now.Truncate(f.every).Add(f.every).Sub(now))
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case at := <-timer.C:
				select {
				case <-ctx.Done():
					return
				case c <- at:
				}
			}
		}
	}()
	return c
}

// statisticsStatus is what a verb tells of its looks at statistics. It is safe for concurrent use.
type statisticsStatus struct {
	s *service.Service

	mu     sync.Mutex
	failed int
}

// observe takes note of a round. What fails is tried again at the next look, and hinders nothing else.
func (s *statisticsStatus) observe(r *pgstat.Round) {
	s.mu.Lock()
	s.failed = r.Failed
	s.mu.Unlock()
	for _, err := range r.Problems {
		s.s.Warn(err)
	}
}

func (s *statisticsStatus) emit(emit metric.Emit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	emit("capture_problems", float64(s.failed), sourceStatistics)
}

// captureStatistics is the statistics as something to capture.
func captureStatistics(f *statisticsFlags) *captureSource {
	return &captureSource{func(ctx, work context.Context, c *capturing) (err error) {
		agent, _, err := c.agent(sourceStatistics)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, agent.Close()) }()
		status := &statisticsStatus{s: c.Service}
		if err := c.Watch(status.emit); err != nil {
			return err
		}
		c.began()
		err = stream.FollowStatistics(work, agent, stream.StatisticsConfig{DSNs: f.dsns, Tick: f.ticks(ctx), Stop: ctx.Done(), Observe: status.observe})
		if err != nil && (work.Err() == nil || !service.Cancelled(err)) {
			return fmt.Errorf("capture: %w", err)
		}
		return c.sendRest(work, agent)
	}}
}
