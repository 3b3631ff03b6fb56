package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// Source is traffic that can be read again from where a Progress says.
type Source interface {
	// Run hands on events batch by batch, from the caller's goroutine. Events and what they point to, templates excepted, are valid until fn
	// returns. source is an index into Progress.Positions.
	Run(ctx context.Context, fn func(events []capture.Event, source int) error) error
	// Progress is how far the source is, consistent with the events handed on so far. It may be called from fn and after Run.
	Progress() (Progress, error)
}

// Progress is how far a Source was read.
type Progress struct {
	Positions []warehouse.Position // of all sources, known or not
	State     []byte               // what it needs beside the positions to go on
	// Ledger is what was read since the Source was opened. Executions, Errors, Transactions, Unparsed and the window are ignored: the
	// pipeline counts them itself.
	Ledger warehouse.Ledger
}

// Resolver finds out what a template does under one schema. It is called from several goroutines.
type Resolver interface {
	Resolve(t *sqltext.Template, search string) (Resolved, error)
}

// Resolved is what the warehouse and the aggregation need to know of a template.
type Resolved struct {
	Facts    []byte // encoded
	Version  int    // of the encoding
	Slots    string // the template's slot kinds, encoded
	Unparsed string // why it cannot be parsed, "" it can; then nothing of it is kept but a keyed hash
	Control  bool   // BEGIN, COMMIT, SET: part of no transaction's shape
	Values   []ValueSlot
}

// ValueSlot is a value slot that is compared with a column or stored into it.
type ValueSlot struct {
	Slot          int // 1-based
	Table, Column string
	Class         int  // index into capture.Value.Slots; -1: the column's type can not be a shard key
	List          bool // the slot stands for two or more values
}

// Options says how a run works. The zero value is sensible.
type Options struct {
	Stream  string // name of the stream; two streams may be written at a time
	Workers int    // resolving goroutines; 0: one per CPU

	// Commit sooner or later: a commit follows the batch that reached one of these. 0: a default that keeps a run below 300 MB.
	MaxEvents int64
	MaxRows   int

	// Due is asked after every batch; true commits now. A live run gives one that looks at a clock.
	Due func() bool
	// Known says which templates the warehouse has already, by ID; nil: none.
	Known func(id string) bool
	// Progress is called after each commit.
	Progress func(total warehouse.Ledger)
}

// The default bounds. A rollup row takes about 500 bytes in memory with its histogram.
const (
	defaultMaxEvents = 2_000_000
	defaultMaxRows   = 150_000
	maxKeyCells      = 400_000
	maxStatements    = 64      // distinct statements of a transaction that are kept
	maxOpen          = 100_000 // transactions open at a time
	maxSignatures    = 100_000 // signatures remembered, so that they are not written again
)

// Run reads a source to its end and commits what it saw to the warehouse. schema is written beside the facts. The result is the ledger of
// this run. After an error the warehouse holds the commits before it, and running again goes on from there.
func Run(ctx context.Context, w *warehouse.Warehouse, src Source, r Resolver, schema warehouse.Schema, o Options) (warehouse.Ledger, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MaxEvents <= 0 {
		o.MaxEvents = defaultMaxEvents
	}
	if o.MaxRows <= 0 {
		o.MaxRows = defaultMaxRows
	}
	p := &run{w: w, src: src, resolver: r, schema: schema, o: o, agg: newAggregate(schema.Hash, o.Known, w.HashKey("texts that cannot be parsed"))}
	if err := p.restore(ctx); err != nil {
		return warehouse.Ledger{}, err
	}
	var broken error // of a batch: its events are not all counted, and the source is past them
	err := src.Run(ctx, func(events []capture.Event, source int) error {
		broken = p.batch(ctx, events, source)
		return broken
	})
	if broken != nil {
		return p.total, broken
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		// What came before the error is whole: a cut file, for instance, has delivered what it holds.
		return p.total, errors.Join(err, p.commit(ctx))
	}
	// A cancelled run keeps what it has read; the commit must not be cancelled with it.
	if cerr := p.commit(context.WithoutCancel(ctx)); cerr != nil {
		return p.total, errors.Join(err, cerr)
	}
	return p.total, err
}

type run struct {
	w        *warehouse.Warehouse
	src      Source
	resolver Resolver
	schema   warehouse.Schema
	o        Options
	agg      *aggregate

	events    int64            // since the last commit
	source    warehouse.Ledger // of the source at the last commit
	positions map[string]warehouse.Position
	counts    map[int]int64 // executions since the last commit by source
	total     warehouse.Ledger
	schemaIn  bool
}

func (p *run) batch(ctx context.Context, events []capture.Event, source int) error {
	if err := p.resolve(ctx, events); err != nil {
		return err
	}
	for i := range events {
		if events[i].Kind == capture.Execution {
			p.counts[source]++
		}
		p.agg.event(&events[i])
	}
	p.events += int64(len(events))
	if p.events >= p.o.MaxEvents || p.agg.size() >= p.o.MaxRows || p.agg.keyCells+p.agg.writes.cells >= maxKeyCells || p.o.Due != nil && p.o.Due() {
		return p.commit(ctx)
	}
	return nil
}

// resolve finds the templates of a batch that are new and resolves them, several at a time.
func (p *run) resolve(ctx context.Context, events []capture.Event) error {
	var fresh []*template
	for i := range events {
		if t := p.agg.intern(&events[i]); t != nil {
			fresh = append(fresh, t)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(p.o.Workers)
	for _, t := range fresh {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			res, err := p.resolver.Resolve(t.source, t.search)
			if err != nil {
				return fmt.Errorf("resolve template %s: %w", t.id, err)
			}
			t.resolved = res
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, t := range fresh {
		p.agg.add(t)
	}
	return nil
}

// commit writes what was aggregated since the last one, with the source's positions. Nothing to write and nothing moved: no commit.
func (p *run) commit(ctx context.Context) error {
	progress, err := p.src.Progress()
	if err != nil {
		return fmt.Errorf("ask source for its position: %w", err)
	}
	c := warehouse.Commit{Stream: p.o.Stream}
	p.move(&c, progress)
	c.Ledger.Add(progress.Ledger, 1)
	c.Ledger.Add(p.source, -1)
	own := p.agg.ledger
	c.Ledger.Executions, c.Ledger.Errors, c.Ledger.Transactions, c.Ledger.Unparsed = own.Executions, own.Errors, p.agg.txns.ended, own.Unparsed
	c.Ledger.From, c.Ledger.To = own.From, own.To
	if len(c.Positions) == 0 && p.events == 0 {
		return nil
	}
	if !p.schemaIn && p.schema.Hash != "" {
		c.Schemas = []warehouse.Schema{p.schema}
	}
	if c.State, err = p.agg.state(progress.State); err != nil {
		return err
	}
	p.agg.drain(&c)
	ledger := c.Ledger
	if err := p.w.Commit(ctx, &c); err != nil {
		return err
	}
	p.schemaIn, p.events = true, 0
	p.source = warehouse.Ledger{}
	p.source.Add(progress.Ledger, 1)
	for _, pos := range c.Positions {
		delete(p.positions, pos.Replaces)
		p.positions[pos.Identity] = pos
	}
	clear(p.counts)
	p.total.Add(ledger, 1)
	if p.o.Progress != nil {
		p.o.Progress(p.total)
	}
	return nil
}

// move adds the positions that differ from the last commit's.
func (p *run) move(c *warehouse.Commit, progress Progress) {
	for i, pos := range progress.Positions {
		before, known := p.positions[pos.Identity]
		if !known && pos.Replaces != "" {
			before = p.positions[pos.Replaces]
		}
		pos.Executions = before.Executions + p.counts[i]
		if !known || pos != before {
			c.Positions = append(c.Positions, pos)
		}
	}
}

// restore takes up what an earlier run left open.
func (p *run) restore(ctx context.Context) error {
	p.positions, p.counts = map[string]warehouse.Position{}, map[int]int64{}
	snap := p.w.Snapshot()
	if st := snap.Streams[p.o.Stream]; st != nil {
		for id, pos := range st.Positions {
			p.positions[id] = pos
		}
	}
	data, err := snap.State(ctx, p.o.Stream)
	if err != nil || data == nil {
		return err
	}
	_, err = p.agg.restore(data)
	return err
}
