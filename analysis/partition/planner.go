package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/planner/catalog"
)

func sortAgents(list []savedAgent) {
	slices.SortFunc(list, func(a, b savedAgent) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Generation, b.Generation))
	})
}

// Planner is one member of the group that plans a topic.
type Planner struct {
	Topic   stream.Topic
	Group   string
	Open    func(ctx context.Context) (*warehouse.Warehouse, error) // a handle of its own for each partition
	Catalog *catalog.Catalog
	Schema  string        // where the catalog came from
	Workers int           // resolving goroutines per partition; 0: one per CPU
	Every   time.Duration // between commits of a partition that has something new
	Drain   bool          // end when everything that was in the topic at the start is in the warehouse
	Now     func() time.Time
	Note    func(string) // what is done, and what comes and goes by itself
	Problem func(error)  // what went wrong and is tried again, or should not be; said again and again while it lasts
	Observe func(Observation)
}

// The bounds of a commit, over all partitions of a planner.
const (
	maxEvents = 2_000_000
	maxRows   = 150_000
	again     = time.Second // pause before a partition that failed is tried again
)

// Run plans the partitions that the group gives this member, until ctx ends or the drain is done. What it had read is committed before it returns.
func (p *Planner) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if p.Drain {
		until, err := p.Topic.Ends(ctx)
		if err != nil {
			return err
		}
		watch := make(chan error, 1)
		go func() {
			defer stop()
			watch <- p.drained(ctx, until)
		}()
		err = p.Topic.Join(ctx, p.Group, func(ctx context.Context, c stream.Claim) {
			end := int64(0) // of a partition that was not there at the start
			if c.Partition < len(until) {
				end = until[c.Partition]
			}
			p.partition(ctx, c, end)
		})
		stop()
		return errors.Join(notCanceled(err), <-watch)
	}
	err := p.Topic.Join(ctx, p.Group, func(ctx context.Context, c stream.Claim) { p.partition(ctx, c, -1) })
	return notCanceled(err)
}

func notCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// drained returns nil when the warehouse has every partition up to an offset, whoever planned it.
func (p *Planner) drained(ctx context.Context, until []int64) error {
	w, err := p.Open(ctx)
	if err != nil {
		return err
	}
	for {
		snap, err := w.Refresh(ctx)
		if err != nil {
			return err
		}
		done := true
		for i, end := range until {
			done = done && offsetOf(snap, p.Topic.Name(), i) >= end
		}
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// offsetOf is how far a snapshot has a partition.
func offsetOf(snap *warehouse.Snapshot, topic string, partition int) int64 {
	st := snap.Streams[StreamName(topic, partition)]
	if st == nil {
		return 0
	}
	for _, pos := range st.Positions {
		return pos.Offset
	}
	return 0
}

// partition plans one partition until it is another's. A failure is said and tried again from what the warehouse has.
func (p *Planner) partition(ctx context.Context, c stream.Claim, until int64) {
	defer p.observe(Observation{Partition: c.Partition, What: Released})
	for {
		err := p.once(ctx, c, until)
		switch {
		case ctx.Err() != nil:
			if err = withoutCanceled(err); err != nil {
				p.Note(fmt.Sprintf("partition %d of %s: stopped before a commit; the next planner goes on from the one before: %v", c.Partition, p.Topic.Name(), err))
			}
			return
		case err == nil:
			return // it reached until
		case errors.Is(err, warehouse.ErrConflict):
			p.observe(Observation{Partition: c.Partition, What: Conflicted, Err: err})
			p.Note(fmt.Sprintf("partition %d of %s: another planner has committed it; going on from there", c.Partition, p.Topic.Name()))
		default:
			p.observe(Observation{Partition: c.Partition, What: Failed, Err: err})
			p.Problem(fmt.Errorf("partition %d of %s: trying again: %w", c.Partition, p.Topic.Name(), err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
	}
}

// withoutCanceled is nil for the plain end of a run that was cancelled.
func withoutCanceled(err error) error {
	if err == context.Canceled || err != nil && err.Error() == context.Canceled.Error() {
		return nil
	}
	return err
}

// once plans a partition from where the warehouse has it.
func (p *Planner) once(ctx context.Context, c stream.Claim, until int64) error {
	w, err := p.Open(ctx)
	if err != nil {
		return err
	}
	name := StreamName(p.Topic.Name(), c.Partition)
	data, err := w.Snapshot().State(ctx, name)
	if err != nil {
		return err
	}
	state, err := pipeline.SourceState(data)
	if err != nil {
		return err
	}
	src, err := NewSource(p.Topic, c.Partition, until, state)
	if err != nil {
		return err
	}
	defer src.Close()
	p.Note(fmt.Sprintf("planning partition %d of %s from offset %d", c.Partition, p.Topic.Name(), src.Offset()))
	if c.Noted > src.Offset() {
		// The group's offset is noted after a commit, so that it is never ahead of the warehouse that the commit was made to.
		p.Problem(fmt.Errorf("group %q has planned %s into another warehouse, and shares its partitions out between the two: give each warehouse a --group of its own; if that one is gone, all is well",
			p.Group, p.Topic.Name()))
	}
	p.observe(Observation{Partition: c.Partition, What: Begun, Offset: src.Offset()})
	last := p.Now()
	n := int64(p.Topic.Partitions())
	_, err = analysis.IngestFrom(ctx, w, src, p.Catalog, analysis.IngestOptions{Stream: name, SchemaName: p.Schema, Workers: p.Workers,
		MaxEvents: max(maxEvents/n, 1), MaxRows: int(max(maxRows/n, 1)), Due: func() bool { return p.Now().Sub(last) >= p.Every },
	}, func(l analysis.Ledger) {
		last = p.Now()
		p.observe(Observation{Partition: c.Partition, What: Committed, Offset: src.Offset(), Ledger: l})
		if err := c.Done(src.Offset()); err != nil {
			p.Note(fmt.Sprintf("partition %d of %s: the group's offset, a hint for displays of lag, was not noted: %v", c.Partition, p.Topic.Name(), err))
		}
	})
	return err
}
