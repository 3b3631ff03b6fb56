package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/foreshard/foreshard/analysis/duck"
	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/planner/catalog"
)

// hashPurpose separates the key of the equality hashes from other keys made of the warehouse's key.
const hashPurpose = "equality of values"

// OpenWarehouse opens the warehouse in a directory; create makes it if there is none.
func OpenWarehouse(ctx context.Context, dir string, create bool) (*warehouse.Warehouse, error) {
	store, err := warehouse.NewDir(dir)
	if err != nil {
		return nil, err
	}
	return warehouse.Open(ctx, store, warehouse.Options{Create: create})
}

// IngestOptions says how traffic is read. The zero value is sensible.
type IngestOptions struct {
	Stream     string       // name of the stream, for servers whose logs are read apart; two streams may be written at a time
	Logs       pglog.Config // HashKey, Known and State are filled in from the warehouse
	SchemaName string       // where the catalog came from, for the schemas table
	Workers    int          // resolving goroutines; 0: one per CPU
	MaxEvents  int64        // events per commit; 0: a default
	MaxRows    int          // rows per commit; 0: a default
	Due        func() bool  // true commits after the batch at hand; a live run looks at a clock
}

// Ingest reads server logs into the warehouse, from where the warehouse says an earlier run got to, and returns what this run added. Input
// that was read before adds nothing. What is read before an error stays committed. progress may be nil; it is called after each commit.
func Ingest(ctx context.Context, w *warehouse.Warehouse, inputs []pglog.Input, cat *catalog.Catalog, o IngestOptions, progress func(Ledger)) (Ledger, error) {
	cfg, err := resume(ctx, w, o)
	if err != nil {
		return Ledger{}, fmt.Errorf("read logs: %w", err)
	}
	reader, err := pglog.Open(ctx, inputs, cfg)
	if err != nil {
		return Ledger{}, fmt.Errorf("read logs: %w", err)
	}
	total, err := IngestFrom(ctx, w, newLogSource(reader, w.Snapshot().Streams[o.Stream]), cat, o, progress)
	if err := errors.Join(err, reader.Close()); err != nil {
		return total, fmt.Errorf("read logs: %w", err)
	}
	return total, nil
}

// resume is the log reader's configuration at the point where the stream was left.
func resume(ctx context.Context, w *warehouse.Warehouse, o IngestOptions) (pglog.Config, error) {
	cfg := o.Logs
	cfg.HashKey = w.HashKey(hashPurpose)
	snap := w.Snapshot()
	st := snap.Streams[o.Stream]
	if st == nil {
		return cfg, nil
	}
	for _, p := range sortedPositions(st) {
		cfg.Known = append(cfg.Known, pglog.Position{Name: p.Name, Identity: p.Identity, Offset: p.Offset, Unread: p.Unread})
	}
	data, err := snap.State(ctx, o.Stream)
	if err != nil {
		return cfg, err
	}
	cfg.State, err = pipeline.SourceState(data)
	return cfg, err
}

// sortedPositions lists a stream's positions by name.
func sortedPositions(st *warehouse.Stream) []warehouse.Position {
	return slices.SortedFunc(maps.Values(st.Positions), func(a, b warehouse.Position) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Identity, b.Identity))
	})
}

// IngestFrom is Ingest for any source of events.
func IngestFrom(ctx context.Context, w *warehouse.Warehouse, src pipeline.Source, cat *catalog.Catalog, o IngestOptions, progress func(Ledger)) (Ledger, error) {
	var known map[string]bool
	err := w.View(ctx, func(snap *warehouse.Snapshot) (err error) {
		known, err = knownTemplates(ctx, snap, cat.Hash)
		return err
	})
	if ctx.Err() != nil { // nothing was read yet, and how a query says that it was interrupted is nobody's business
		return Ledger{}, ctx.Err()
	}
	if err != nil {
		return Ledger{}, err
	}
	po := pipeline.Options{Stream: o.Stream, Workers: o.Workers, MaxEvents: o.MaxEvents, MaxRows: o.MaxRows, Due: o.Due,
		Known: func(id string) bool { return known[id] }}
	if progress != nil {
		po.Progress = func(l warehouse.Ledger) { progress(ledgerReport(l)) }
	}
	total, err := pipeline.Run(ctx, w, src, resolver{cat}, warehouse.Schema{Hash: cat.Hash, Name: o.SchemaName}, po)
	return ledgerReport(total), err
}

// knownTemplates are the templates whose text and facts under this schema the warehouse has.
func knownTemplates(ctx context.Context, snap *warehouse.Snapshot, schema string) (map[string]bool, error) {
	known := map[string]bool{}
	if len(snap.Files(warehouse.Templates)) == 0 {
		return known, nil
	}
	db, err := duck.Open(ctx, snap)
	if err != nil {
		return nil, err
	}
	templates, err := loadTemplates(ctx, db)
	if err == nil {
		err = loadFacts(ctx, db, schema, templates)
	}
	for _, t := range templates {
		known[t.id] = t.facts != nil
	}
	return known, errors.Join(err, db.Close())
}

// logSource is a log reader as the pipeline sees it.
type logSource struct {
	reader   *pglog.Reader
	replaces map[string]string // identity of a source -> the one it had when it was shorter
	records  map[int]int64     // of this run, by source
	before   map[string]int64  // of earlier runs, by identity
	seen     int64             // records of the batches so far
}

var _ pipeline.Source = (*logSource)(nil)

// newLogSource takes over a reader that was opened with the stream's positions and has not run.
func newLogSource(reader *pglog.Reader, st *warehouse.Stream) *logSource {
	s := &logSource{reader: reader, replaces: map[string]string{}, records: map[int]int64{}, before: map[string]int64{}}
	if st == nil {
		return s
	}
	positions := reader.Positions()
	current := map[string]bool{}
	for _, p := range positions {
		current[p.Identity] = true
	}
	for _, p := range positions {
		if old, ok := st.Positions[p.Identity]; ok {
			s.before[p.Identity] = old.Records
			continue
		}
		// A file that was shorter than what names it has a new identity, and starts where the old one was left.
		for _, old := range sortedPositions(st) {
			if p.Offset > 0 && old.Offset == p.Offset && !current[old.Identity] {
				s.replaces[p.Identity], s.before[p.Identity] = old.Identity, old.Records
				current[old.Identity] = true
				break
			}
		}
	}
	return s
}

// Run hands on the reader's batches.
func (s *logSource) Run(ctx context.Context, fn func([]capture.Event, int) error) error {
	return s.reader.Run(ctx, func(b pglog.Batch) error {
		n := s.reader.Counts().Records
		s.records[b.Source] += n - s.seen
		s.seen = n
		return fn(b.Events, b.Source)
	})
}

// Progress is the reader's positions, state and counts.
func (s *logSource) Progress() (pipeline.Progress, error) {
	state, err := s.reader.State()
	if err != nil {
		return pipeline.Progress{}, err
	}
	p := pipeline.Progress{State: state, Ledger: logLedger(s.reader.Counts())}
	for i, pos := range s.reader.Positions() {
		p.Positions = append(p.Positions, warehouse.Position{Identity: pos.Identity, Replaces: s.replaces[pos.Identity], Name: pos.Name,
			Format: formatName(pos.Format), Offset: pos.Offset, Unread: pos.Unread, Records: s.before[pos.Identity] + s.records[i]})
	}
	return p, nil
}

// formatName is a format by the name that PostgreSQL's log_destination has for it.
func formatName(f pglog.Format) string {
	switch f {
	case pglog.CSV:
		return "csvlog"
	case pglog.JSON:
		return "jsonlog"
	}
	return string(f)
}

func logLedger(c pglog.Counts) warehouse.Ledger {
	l := warehouse.Ledger{Bytes: c.Bytes, Records: c.Records, Statements: c.Statements, Dropped: map[string]int64{},
		DroppedBytes: map[string]int64{}, Buckets: map[string]int64{}, Notes: map[string]int64{}}
	for k, d := range c.Dropped {
		l.Dropped[k], l.DroppedBytes[k] = d.Count, d.Bytes
	}
	for k, n := range c.Buckets {
		l.Buckets[k] = n
	}
	for k, n := range c.Notes {
		l.Notes[k] = n
	}
	return l
}
