package analysis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pgstat"
	"github.com/foreshard/foreshard/planner/catalog"
)

// StatisticsOptions says how the statistics of servers are followed. DSNs and Tick are required. Logs, MaxEvents, MaxRows and Due are not used:
// each look is committed.
type StatisticsOptions struct {
	IngestOptions
	DSNs    []string
	Tick    <-chan time.Time    // each is a look at the servers; there is one at the start, too
	Stop    <-chan struct{}     // closed: one more look, commit, return
	Observe func(*pgstat.Round) // after each look; nil: nobody
}

// FollowStatistics looks at servers' statistics until Stop is closed or ctx ends and keeps what they counted in the warehouse, beside the traffic of
// logs. The last look is committed with what it counted: after any end the next run goes on from there. The stream must not be that of a log.
func FollowStatistics(ctx context.Context, w *warehouse.Warehouse, cat *catalog.Catalog, o StatisticsOptions) (err error) {
	snap := w.Snapshot()
	data, err := snap.State(ctx, o.Stream)
	if err != nil {
		return fmt.Errorf("follow statistics: %w", err)
	}
	state, err := pipeline.SourceState(data)
	if err != nil {
		return fmt.Errorf("follow statistics: %w", err)
	}
	group, err := pgstat.Open(pgstat.Config{DSNs: o.DSNs, HashKey: w.HashKey("rows of statistics"), State: state})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, group.Close(context.WithoutCancel(ctx))) }()
	s := &statisticsSource{o: o, group: group, looks: map[string]int64{}, notes: map[string]int64{}}
	if st := snap.Streams[o.Stream]; st != nil {
		for id, p := range st.Positions {
			s.looks[id] = p.Records
		}
	}
	o.IngestOptions.Due = func() bool { return true }
	if _, err := IngestFrom(ctx, w, s, cat, o.IngestOptions, nil); err != nil {
		return fmt.Errorf("follow statistics: %w", err)
	}
	return nil
}

// statisticsIdentity begins the identities of statistics among the sources.
const statisticsIdentity = "statistics:"

// statisticsSource is servers' statistics as the pipeline sees them.
type statisticsSource struct {
	o     StatisticsOptions
	group *pgstat.Group
	looks map[string]int64 // by identity of the source
	notes map[string]int64
}

var _ pipeline.Source = (*statisticsSource)(nil)

// Run looks at the servers at each tick. Stop makes one look more.
func (s *statisticsSource) Run(ctx context.Context, fn func([]capture.Event, int) error) error {
	for stopped := false; ; {
		round := s.group.Look(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.hand(&round, fn); err != nil {
			return err
		}
		if s.o.Observe != nil {
			s.o.Observe(&round)
		}
		if stopped {
			return nil
		}
		select {
		case <-s.o.Stop:
			stopped = true
		case <-s.o.Tick:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hand gives a round's events in one batch: the looks that they are compared with next are all of it.
func (s *statisticsSource) hand(round *pgstat.Round, fn func([]capture.Event, int) error) error {
	for k, n := range round.Notes() {
		s.notes[k] += n
	}
	var events []capture.Event
	for _, d := range round.Deltas {
		id := statisticsIdentity + d.Source
		s.looks[id]++
		events = append(events, d.Events...)
	}
	return fn(events, 0)
}

// Progress is the looks so far.
func (s *statisticsSource) Progress() (pipeline.Progress, error) {
	state, err := s.group.State()
	if err != nil {
		return pipeline.Progress{}, err
	}
	p := pipeline.Progress{State: state}
	p.Ledger.Add(warehouse.Ledger{Notes: s.notes}, 1)
	for _, id := range slices.Sorted(maps.Keys(s.looks)) {
		p.Positions = append(p.Positions, warehouse.Position{Identity: id, Name: id[len(statisticsIdentity):], Format: "pg_stat_statements", Records: s.looks[id]})
	}
	return p, nil
}
