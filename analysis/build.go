package analysis

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/foreshard/foreshard/analysis/duck"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

//go:embed sql/*.sql
var queries embed.FS

// query returns an embedded query. A missing file is a defect of the build.
func query(name string) string {
	data, err := queries.ReadFile("sql/" + name)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// ErrNoEvidence says that the warehouse holds no execution, so that no report means anything.
var ErrNoEvidence = errors.New("no statement executions")

// Advice is what to do about ErrNoEvidence.
const Advice = `no execution of a statement was found in what was read.
Let the server log what it runs, then read the new log:
  ALTER SYSTEM SET log_min_duration_statement = 0;      -- every statement with its duration and its values, or
  ALTER SYSTEM SET log_statement = 'all';               -- every statement, with log_duration = on for the durations
  ALTER SYSTEM SET log_line_prefix = '%m [%p] %q%u@%d/%a %c %x ';
  SELECT pg_reload_conf();
If the log holds statements already, its prefix was not recognised: give the server's log_line_prefix.`

// ReportOptions says what a report covers. The zero value covers everything.
type ReportOptions struct {
	From, To   time.Time // minutes from..to, both in; zero: no bound. Transactions, skew and what is known of the values of keys are counted per day
	MaxQueries int       // queries per candidate; 0: all
	Workers    int       // judging goroutines; 0: one per CPU
	// PlannerVersion names the build of the planner; verdicts are cached under it. "" turns the cache off.
	PlannerVersion string
	// Note receives what went wrong without making the report wrong; nil: dropped.
	Note func(string)

	judging func(*catalog.Catalog, *candidate.Candidate) judging
}

// builder is the state of one report.
type builder struct {
	w    *warehouse.Warehouse
	snap *warehouse.Snapshot
	cat  *catalog.Catalog
	o    ReportOptions
	db   *duck.DB

	templates  []*stored
	baseFiles  []string // that the base sums up; nil: it is of a window and not cached
	hidden     []string // entries of totals without a template
	shapes     []shape
	signatures map[string][]shapeStatement
	totals     map[string]total
	p95        map[string]float64
	origins    map[string]*origins
	written    *written       // nil: there is no WAL
	homonyms   map[string]int // schemas that have a relation of a name; nil: not counted yet
	counted    bool           // there is no log: what servers counted is all there is
}

// total is the traffic of one template.
type total struct{ calls, errors, us int64 }

// origins are where a template's traffic comes from, most calls first.
type origins struct{ teams, endpoints, apps []string }

// BuildReport judges everything in the warehouse under each candidate and weighs the verdicts by traffic. cat is the schema that the
// candidates are bound to. Without a single execution the error is ErrNoEvidence.
func BuildReport(ctx context.Context, w *warehouse.Warehouse, cat *catalog.Catalog, candidates []*candidate.Candidate, o ReportOptions) (r *Report, err error) {
	err = w.View(ctx, func(snap *warehouse.Snapshot) (err error) {
		r, err = buildReport(ctx, w, snap, cat, candidates, o)
		return err
	})
	return r, err
}

func buildReport(ctx context.Context, w *warehouse.Warehouse, snap *warehouse.Snapshot, cat *catalog.Catalog, candidates []*candidate.Candidate, o ReportOptions) (_ *Report, err error) {
	b := &builder{w: w, snap: snap, cat: cat, o: o}
	if b.o.judging == nil {
		b.o.judging = plannerJudging
	}
	b.counted = b.snap.Executions() == 0 && hasStatistics(snap)
	if b.snap.Executions() == 0 && !b.counted && !hasWrites(snap) {
		return nil, fmt.Errorf("report on warehouse %q: %w", w.Place(), ErrNoEvidence)
	}
	if b.db, err = duck.Open(ctx, b.snap); err != nil {
		return nil, fmt.Errorf("report on warehouse %q: %w", w.Place(), err)
	}
	defer func() { err = errors.Join(err, b.db.Close()) }()
	r, err := b.build(ctx, candidates)
	if err != nil {
		return nil, fmt.Errorf("report on warehouse %q: %w", w.Place(), err)
	}
	return r, nil
}

func (b *builder) build(ctx context.Context, candidates []*candidate.Candidate) (*Report, error) {
	all, err := b.load(ctx, candidates)
	if err != nil {
		return nil, err
	}
	if b.counted {
		b.countedVerdicts(all)
	}
	r := &Report{SchemaVersion: 1, Ledger: ledgerReport(b.snap.Ledger), Window: span(b.snap),
		Sources: sources(b.snap), Flips: []Flip{}, Candidates: []CandidateReport{}}
	if err := b.register(ctx, candidates, all); err != nil {
		return nil, err
	}
	if err := b.addCoverage(ctx, r); err != nil {
		return nil, err
	}
	if b.snap.Executions() == 0 && !b.counted {
		if b.written == nil { // not in the window
			return nil, ErrNoEvidence
		}
		r.Basis = BasisWAL
		r.Window = Window{From: b.written.from, To: b.written.to}
	}
	for i, c := range candidates {
		cr, err := b.candidate(ctx, i, c, all[i])
		if err != nil {
			return nil, fmt.Errorf("candidate %q: %w", c.Name, err)
		}
		cr.Unlogged = b.judgeUnlogged(r.Coverage, c, all[i])
		r.Candidates = append(r.Candidates, *cr)
	}
	if len(candidates) > 1 {
		r.Flips = b.flips(candidates, all)
	}
	return r, nil
}

// load reads what does not depend on a candidate, while the templates are judged under each; the result is their verdicts.
func (b *builder) load(ctx context.Context, candidates []*candidate.Candidate) (_ [][]*judged, err error) {
	if b.templates, err = loadTemplates(ctx, b.db); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wait, err := b.judge(ctx, candidates)
	if err != nil {
		return nil, err
	}
	for _, part := range []func(context.Context) error{b.loadBase, b.loadTraffic, b.loadShapes, b.loadWritten} {
		if err := part(ctx); err != nil {
			cancel()
			_, judging := wait()
			return nil, errors.Join(err, withoutCanceled(judging))
		}
	}
	return wait()
}

// withoutCanceled is nil for what was only told to stop.
func withoutCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (b *builder) loadTotals(ctx context.Context) error {
	b.totals, b.p95 = map[string]total{}, map[string]float64{}
	return b.db.Each(ctx, query("totals.sql"), func(scan func(...any) error) error {
		var id string
		var t total
		var p95 int64
		if err := scan(&id, &t.calls, &t.errors, &t.us, &p95); err != nil {
			return err
		}
		if p95 >= 0 {
			low, high := warehouse.BucketBounds(int(p95))
			b.p95[id] = float64(low+high-1) / 2000 // the middle of the bucket, in milliseconds
		}
		b.totals[id] = t
		return nil
	})
}

// checkTotals compares the sums with the texts and the ledger, and finds the entries that stand for executions without a template.
func (b *builder) checkTotals() error {
	known := make(map[string]bool, len(b.templates))
	for _, t := range b.templates {
		known[t.id] = true
	}
	var sum int64
	for _, id := range slices.Sorted(maps.Keys(b.totals)) {
		if !known[id] {
			if !strings.HasPrefix(id, hiddenPrefix) {
				return fmt.Errorf("template %s has traffic and no text: %w", id, warehouse.ErrCorrupt)
			}
			b.hidden = append(b.hidden, id)
		}
		sum += b.totals[id].calls
	}
	if b.o.From.IsZero() && b.o.To.IsZero() && !b.counted && sum != b.snap.Executions() {
		return fmt.Errorf("rollups hold %d executions and the ledger %d: %w", sum, b.snap.Executions(), warehouse.ErrCorrupt)
	}
	return nil
}

func (b *builder) loadOrigins(ctx context.Context) error {
	b.origins = map[string]*origins{}
	return b.db.Each(ctx, query("origins.sql"), func(scan func(...any) error) error {
		var id, kind string
		var list any
		if err := scan(&id, &kind, &list); err != nil {
			return err
		}
		names, err := texts(list)
		if err != nil {
			return err
		}
		o := b.origins[id]
		if o == nil {
			o = &origins{}
			b.origins[id] = o
		}
		switch kind {
		case "team":
			o.teams = names
		case "endpoint":
			o.endpoints = names
		case "app":
			o.apps = names
		}
		return nil
	})
}

// window is the span of minutes the report covers.
func (b *builder) window() (from, to time.Time) {
	from, to = time.Unix(0, 0).UTC().AddDate(-1, 0, 0), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	if !b.o.From.IsZero() {
		from = b.o.From.UTC().Truncate(time.Minute)
	}
	if !b.o.To.IsZero() {
		to = b.o.To.UTC()
	}
	return from, to
}

func (b *builder) workers() int {
	if b.o.Workers > 0 {
		return b.o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (b *builder) note(text string) {
	if b.o.Note != nil {
		b.o.Note(text)
	}
}

// ledgerReport is the warehouse's ledger in the report's terms.
func ledgerReport(l warehouse.Ledger) Ledger {
	return Ledger{Bytes: l.Bytes, Records: l.Records, Statements: l.Statements, Executions: l.Executions, Errors: l.Errors,
		Dropped: counts(l.Dropped), DroppedBytes: counts(l.DroppedBytes), Unparsed: counts(l.Unparsed), Buckets: counts(l.Buckets), Notes: counts(l.Notes), Retired: l.Retired}
}

// span is the window of what the warehouse still holds.
func span(s *warehouse.Snapshot) Window {
	from, to := s.Span()
	return Window{From: from, To: to}
}

func counts(m map[string]int64) map[string]int64 {
	if m == nil {
		return map[string]int64{}
	}
	return m
}

// sources lists what was read, by name.
func sources(s *warehouse.Snapshot) []SourceReport {
	out := []SourceReport{}
	for _, st := range s.Streams {
		for _, p := range st.Positions {
			s := SourceReport{Name: p.Name, Format: p.Format, Bytes: p.Offset, Records: p.Records, Executions: p.Executions, Incomplete: p.Unread}
			if p.Format == "kafka" || p.Format == "wal" {
				s.Bytes, s.Offset = 0, p.Offset
			}
			out = append(out, s)
		}
	}
	slices.SortFunc(out, compareSources)
	return out
}
