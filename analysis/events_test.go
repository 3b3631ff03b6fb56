package analysis

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// begin is the time of the first event of a test.
var begin = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

// template makes a template of a canonical text with n integer slots.
func tmpl(text string, n int) *sqltext.Template {
	sum := sha256.Sum256([]byte(text))
	t := &sqltext.Template{ID: sqltext.ID(sum[:16]), Text: text}
	for range n {
		t.Slots = append(t.Slots, sqltext.Slot{Kind: sqltext.Int})
	}
	return t
}

// number is an integer as capture hands it on.
func number(slot int, n int64) capture.Value {
	h := layout.HashInt8(n)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	sum := sha256.Sum256(b[:])
	return capture.Value{Slot: slot, Has: capture.IntHash, Slots: [3]uint16{layout.Slot(h)}, Eq: [3]uint64{binary.LittleEndian.Uint64(sum[:])}}
}

// clock makes events one second apart.
type clock struct {
	at  time.Time
	txn uint64
}

func newClock() *clock { return &clock{at: begin} }

func (c *clock) tick() time.Time {
	c.at = c.at.Add(time.Second)
	return c.at
}

// auto is one autocommit execution.
func (c *clock) auto(t *sqltext.Template, values ...int64) capture.Event {
	c.txn++
	e := c.in("s1", c.txn, t, values...)
	e.Auto = true
	return e
}

// in is one execution inside a transaction.
func (c *clock) in(session string, txn uint64, t *sqltext.Template, values ...int64) capture.Event {
	e := capture.Event{Kind: capture.Execution, Time: c.tick(), Session: session, TxnID: txn, Template: t, Timed: true, Duration: time.Millisecond,
		User: "app", Database: "shop", App: "web"}
	for i, v := range values {
		e.Values = append(e.Values, number(i+1, v))
	}
	return e
}

// commit ends a transaction.
func (c *clock) commit(session string, txn uint64, statements int) capture.Event {
	return capture.Event{Kind: capture.Transaction, Time: c.tick(), Session: session, TxnID: txn, Txn: &capture.Txn{Committed: true, Statements: statements}}
}

// feed is a source of events that continues where the warehouse says it was left: position = number of events.
type feed struct {
	events []capture.Event
	batch  int
	from   int // set by a test from the warehouse's position
	read   int
	fail   error // returned after all events
}

func (f *feed) Run(ctx context.Context, fn func([]capture.Event, int) error) error {
	f.read = min(f.from, len(f.events))
	for chunk := range slices.Chunk(f.events[f.read:], max(f.batch, 1)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.read += len(chunk)
		if err := fn(chunk, 0); err != nil {
			return err
		}
	}
	return f.fail
}

func (f *feed) Progress() (pipeline.Progress, error) {
	return pipeline.Progress{State: []byte("source"), Ledger: warehouse.Ledger{Bytes: int64(f.read-f.from) * 10, Records: int64(f.read - f.from)},
		Positions: []warehouse.Position{{Identity: "feed", Name: "feed.log", Format: "csvlog", Offset: int64(f.read) * 10}}}, nil
}

// resume sets the feed to the warehouse's position.
func (f *feed) resume(w *warehouse.Warehouse) {
	if st := w.Snapshot().Streams[""]; st != nil {
		f.from = int(st.Positions["feed"].Offset / 10)
	}
}

// plan is a planner for tests: what each text does, without parsing it.
type plan map[string]planned

type planned struct {
	values   []pipeline.ValueSlot
	control  bool
	unparsed string
	verdicts []judged // by candidate
}

func (p plan) Resolve(t *sqltext.Template, _ string) (pipeline.Resolved, error) {
	s, ok := p[t.Text]
	if !ok {
		return pipeline.Resolved{}, fmt.Errorf("test has no plan for %q", t.Text)
	}
	return pipeline.Resolved{Facts: []byte{0xa0}, Version: facts.Version, Values: s.values, Control: s.control, Unparsed: s.unparsed, Slots: sqltext.EncodeSlots(t.Slots)}, nil
}

func (p plan) judging(_ *catalog.Catalog, c *candidate.Candidate) judging {
	i := int(c.Name[len(c.Name)-1] - '1')
	return func(t *stored) (*judged, error) {
		s, ok := p[t.text]
		if !ok || i >= len(s.verdicts) {
			return nil, fmt.Errorf("test has no verdict for %q", t.text)
		}
		v := s.verdicts[i]
		v.Template = t.id
		return &v, nil
	}
}

var testKey = [32]byte{1, 2, 3}

func openAt(t testing.TB, dir string) *warehouse.Warehouse {
	t.Helper()
	store, err := warehouse.NewDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := warehouse.Open(t.Context(), store, warehouse.Options{Create: true, Key: &testKey})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func ingest(t testing.TB, w *warehouse.Warehouse, p plan, f *feed, o pipeline.Options) warehouse.Ledger {
	t.Helper()
	f.resume(w)
	l, err := pipeline.Run(t.Context(), w, f, p, warehouse.Schema{Hash: "schema", Name: "test.sql"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func report(t testing.TB, w *warehouse.Warehouse, p plan, o ReportOptions, candidates ...*candidate.Candidate) *Report {
	t.Helper()
	o.judging = p.judging
	r, err := BuildReport(t.Context(), w, testCatalog(), candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func testCatalog() *catalog.Catalog {
	c := &catalog.Catalog{Hash: "schema", Relations: map[string]*catalog.Relation{}}
	for _, n := range []string{"pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"} {
		c.Relations["public."+n] = &catalog.Relation{Schema: "public", Name: n}
	}
	return c
}
