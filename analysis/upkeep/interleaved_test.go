package upkeep_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/analysis/duck"
	"github.com/foreshard/foreshard/analysis/upkeep"
	"github.com/foreshard/foreshard/analysis/warehouse"
)

var (
	ctx      = context.Background()
	hashKey  = [32]byte{7}
	begin    = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	errCrash = errors.New("killed")
)

// commitOf is the n-th commit of a stream: always the same.
func commitOf(stream string, n int64) *warehouse.Commit {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(len(stream)+int(stream[0]))))
	c := &warehouse.Commit{Stream: stream, State: []byte(fmt.Sprint(stream, n)), Positions: []warehouse.Position{{Identity: stream, Name: stream, Offset: n + 1}},
		Ledger:  warehouse.Ledger{Bytes: 100, Records: 10, Dropped: map[string]int64{"foreign": n}},
		Schemas: []warehouse.Schema{{Hash: "h", Name: "schema.sql"}}}
	for i := range 1 + rng.IntN(6) {
		id := fmt.Sprint("t", rng.IntN(4))
		minute := begin.Add(time.Duration(rng.IntN(3))*24*time.Hour + time.Duration(rng.IntN(2))*time.Minute)
		calls := int64(1 + rng.IntN(5))
		least := int64(rng.IntN(3))
		c.Rollups = append(c.Rollups, warehouse.Rollup{Minute: minute, Template: id, Database: "d", User: fmt.Sprint("u", i%2), Calls: calls, Errors: 1, Timed: calls,
			TimeUS: 7, Latency: warehouse.Histogram{rng.IntN(3): calls, 40: 2}, ListMin: least, ListMax: least * 2})
		c.Templates = append(c.Templates, warehouse.Template{ID: id, Text: "select " + id, Verb: "select", FirstSeen: minute})
		c.Facts = append(c.Facts, warehouse.Fact{Template: id, Schema: "h", Version: 1, Data: []byte(id)})
		c.KeySlots = append(c.KeySlots, warehouse.KeySlot{Day: minute.Truncate(24 * time.Hour), Table: "public.a", Column: "org_id", Slot: uint16(rng.IntN(4)), Calls: calls})
		c.Signatures = append(c.Signatures, warehouse.SignatureRow{Signature: "s" + id, Position: 0, Template: id, Slots: []int64{1, 2}, Symbols: []int64{1, int64(rng.IntN(2))}})
		c.Transactions = append(c.Transactions, warehouse.Transaction{Day: minute.Truncate(24 * time.Hour), Signature: "s" + id, Explicit: rng.IntN(2) == 0, Count: 1, Statements: 2, TimeUS: 3})
		c.Opaque = append(c.Opaque, warehouse.OpaqueRow{Minute: minute, Reason: "truncated", Hash: "h", Bytes: 9, User: "u", Calls: 1})
		c.Ledger.Saw(minute)
	}
	// Not every commit has rows for every table; it is also a matter of the test's time.
	for _, leave := range []func(){func() { c.Rollups = nil }, func() { c.Templates = nil }, func() { c.Facts = nil }, func() { c.KeySlots = nil }, func() { c.Signatures = nil },
		func() { c.Transactions = nil }, func() { c.Opaque = nil }, func() { c.Schemas = nil }} {
		if rng.IntN(3) > 0 {
			leave()
		}
	}
	for _, r := range c.Rollups {
		c.Ledger.Executions += r.Calls
	}
	c.Ledger.Executions += int64(len(c.Opaque))
	return c
}

// world is writers, readers and upkeep over one store.
type world struct {
	t       *rapid.T
	store   *objects
	at      time.Time
	writers map[string][]*warehouse.Warehouse // two processes may believe that a stream is theirs
	keepers []*warehouse.Warehouse
	readers []*warehouse.Warehouse
	retain  bool
	nested  int
	busy    map[*warehouse.Warehouse]bool // at work further up the stack: a handle is for one at a time
	did     map[string]int
}

func (w *world) open() *warehouse.Warehouse {
	h, err := warehouse.Open(ctx, w.store, warehouse.Options{Create: true, Key: &hashKey})
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

// interrupt is what may happen between a process's decision to write and the write.
func (w *world) interrupt(string) error {
	if w.nested > 0 {
		return nil
	}
	w.nested++
	defer func() { w.nested-- }()
	switch rapid.IntRange(0, 40).Draw(w.t, "interrupt") {
	case 0:
		return errCrash
	case 1:
		w.at = w.at.Add(2 * time.Hour)
		w.upkeep()
		w.at = w.at.Add(2 * time.Hour)
		w.upkeep()
	case 2:
		w.commit()
	case 3:
		w.upkeep()
	}
	return nil
}

func (w *world) commit() {
	stream := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(w.t, "stream")
	i := rapid.SampledFrom([]int{0, 0, 0, 0, 1}).Draw(w.t, "process")
	h := w.writers[stream][i]
	if w.busy[h] {
		return
	}
	w.busy[h] = true
	defer delete(w.busy, h)
	err := h.Commit(ctx, commitOf(stream, offset(h.Snapshot(), stream)))
	switch {
	case err == nil:
		w.did["commit"]++
	case errors.Is(err, errCrash), errors.Is(err, warehouse.ErrConflict):
		w.did["failed commit"]++
		w.writers[stream][i] = w.open()
	default:
		w.t.Fatal(err)
	}
}

// burst makes manifests that are worth pruning.
func (w *world) burst() {
	for range 12 {
		w.commit()
	}
	if err := w.open().Checkpoint(ctx); err != nil && !errors.Is(err, errCrash) {
		w.t.Fatal(err)
	}
}

func offset(s *warehouse.Snapshot, stream string) int64 {
	if st := s.Streams[stream]; st != nil {
		return st.Positions[stream].Offset
	}
	return 0
}

func (w *world) upkeep() {
	i := rapid.IntRange(0, 1).Draw(w.t, "keeper")
	h := w.keepers[i]
	if w.busy[h] {
		return
	}
	w.busy[h] = true
	defer delete(w.busy, h)
	o := upkeep.Options{Now: func() time.Time { return w.at }, Grace: time.Hour, Compact: true, Full: rapid.Bool().Draw(w.t, "full")}
	if w.retain && rapid.IntRange(0, 3).Draw(w.t, "retain") == 0 {
		// Age counts from the last event. Later commits are late for the days that were dropped.
		o.Retain = upkeep.Retention{warehouse.Rollups: 24 * time.Hour, warehouse.Opaque: 24 * time.Hour, warehouse.KeySlots: 24 * time.Hour}
	}
	r, err := upkeep.Run(ctx, h, o)
	if errors.Is(err, errCrash) {
		w.did["killed upkeep"]++
		w.keepers[i] = w.open()
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.did["merged"] += r.Inputs
	w.did["deleted"] += r.Swept.Deleted
	w.did["pruned"] += r.Swept.Manifests
	w.did["condemned"] += r.Swept.Condemned
	w.did["dropped"] += r.Dropped
	if r.Lost {
		w.did["lost"]++
	}
}

// read reads everything of a snapshot that may be old, and takes a new one now and then.
func (w *world) read() {
	i := rapid.IntRange(0, 1).Draw(w.t, "reader")
	if err := w.readers[i].View(ctx, func(s *warehouse.Snapshot) error { return s.Verify(ctx) }); err != nil {
		w.t.Fatal(err)
	}
	if rapid.Bool().Draw(w.t, "again") {
		if _, err := w.readers[i].Refresh(ctx); err != nil {
			w.t.Fatal(err)
		}
	}
}

// Whatever commits, merges, retention, sweeps, crashes and sleeps come between each other: what was committed is there once, and what the
// streams say they have read is what is there.
func TestInterleaved(t *testing.T) {
	did := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt, at: begin.Add(90 * 24 * time.Hour), did: did, busy: map[*warehouse.Warehouse]bool{}, retain: rapid.Bool().Draw(rt, "with retention")}
		w.store = newObjects(func() time.Time { return w.at })
		w.writers = map[string][]*warehouse.Warehouse{}
		for _, s := range []string{"a", "b", "c"} {
			w.writers[s] = []*warehouse.Warehouse{w.open(), w.open()}
		}
		w.keepers = []*warehouse.Warehouse{w.open(), w.open()}
		w.readers = []*warehouse.Warehouse{w.open(), w.open()}
		w.store.before = w.interrupt
		rt.Repeat(map[string]func(*rapid.T){
			"commit":  func(*rapid.T) { w.commit() },
			"commits": func(*rapid.T) { w.commit(); w.commit(); w.commit() },
			"burst":   func(*rapid.T) { w.burst() },
			"upkeep":  func(*rapid.T) { w.upkeep() },
			"read":    func(*rapid.T) { w.read() },
			"time": func(*rapid.T) {
				w.at = w.at.Add(time.Duration(rapid.IntRange(1, 100).Draw(rt, "minutes")) * time.Minute)
			},
		})
		w.store.before = func(string) error { return nil }
		w.compare()
	})
	t.Log(did)
	if flag.Lookup("rapid.checks").Value.String() == boundedChecks {
		return // few checks need not come across everything
	}
	for _, what := range []string{"commit", "failed commit", "merged", "deleted", "pruned", "condemned", "dropped", "lost", "killed upkeep"} {
		if did[what] == 0 {
			t.Errorf("nothing was %s; the test shows nothing of it", what)
		}
	}
}

// compare compares the warehouse with one that holds the same commits and knows no upkeep.
func (w *world) compare() {
	t := w.t
	h := w.open()
	snap := h.Snapshot()
	if err := snap.Verify(ctx); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.VerifyChain(ctx); err != nil {
		t.Fatal(err)
	}
	plain := newObjects(time.Now)
	want, err := warehouse.Open(ctx, plain, warehouse.Options{Create: true, Key: &hashKey})
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{"a", "b", "c"} {
		for n := range offset(snap, stream) {
			if err := want.Commit(ctx, commitOf(stream, n)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := snap.State(ctx, stream)
		if state, werr := want.Snapshot().State(ctx, stream); err != nil || werr != nil || string(got) != string(state) {
			t.Fatalf("state of stream %s: %q, want %q; %v, %v", stream, got, state, err, werr)
		}
	}
	retired := snap.Ledger.Retired
	left := snap.Ledger
	left.Retired = nil
	if fmt.Sprint(left) != fmt.Sprint(want.Snapshot().Ledger) {
		t.Fatalf("ledger %+v\nwant %+v", left, want.Snapshot().Ledger)
	}
	a, b := content(t, w.store), content(t, plain)
	for _, table := range warehouse.Tables() {
		name := table.Name
		if len(retired) > 0 && (table.ByDay || name == warehouse.LedgerTable) {
			if table.ByDay && a.counts[name]+retired[name] != b.counts[name] {
				t.Fatalf("table %s counts %d and %d are retired, want %d", name, a.counts[name], retired[name], b.counts[name])
			}
			continue
		}
		if a.rows[name] != b.rows[name] {
			t.Fatalf("table %s holds\n%s\nwant\n%s", name, a.rows[name], b.rows[name])
		}
	}
}

// contents is what the tables hold, rows of one key folded, and what they count.
type contents struct {
	rows   map[string]string
	counts map[string]int64
}

func content(t *rapid.T, store *objects) contents {
	c, err := contentOf(store)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func contentOf(store *objects) (_ contents, err error) {
	out := contents{map[string]string{}, map[string]int64{}}
	root, err := os.MkdirTemp("", "foreshard-upkeep-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	if err := store.dump(root); err != nil {
		return out, err
	}
	dir, err := warehouse.NewDir(root)
	if err != nil {
		return out, err
	}
	w, err := warehouse.Open(ctx, dir, warehouse.Options{})
	if err != nil {
		return out, err
	}
	db, err := duck.Open(ctx, w.Snapshot())
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, t := range warehouse.Tables() {
		for _, q := range folded(t) {
			err := db.Each(ctx, q, func(scan func(...any) error) error {
				var row string
				err := scan(&row)
				out.rows[t.Name] += row + "\n"
				return err
			})
			if err != nil {
				return out, err
			}
		}
		if t.Count == "" {
			continue
		}
		err := db.Each(ctx, fmt.Sprintf(`SELECT coalesce(sum("%s"), 0)::BIGINT FROM %s`, t.Count, t.Name), func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			out.counts[t.Name] = n
			return err
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// folded are queries that show a table as if all rows of one key were one.
func folded(t warehouse.Table) []string {
	sql := map[warehouse.Fold]string{warehouse.Sum: "sum", warehouse.Greatest: "max", warehouse.Least: "min", warehouse.LeastPositive: "min", warehouse.Either: "any_value"}
	var keys, columns []string
	for _, c := range t.Columns {
		name := `"` + c.Name + `"`
		if slices.Contains(t.Keys, c.Name) || len(t.Keys) == 0 {
			keys = append(keys, name)
			columns = append(columns, name)
			continue
		}
		if fold := t.Folds[c.Name]; fold == warehouse.LeastPositive && c.Type == warehouse.Integer {
			columns = append(columns, "coalesce(min(nullif("+name+", 0)), 0)")
		} else if sql[fold] != "" {
			columns = append(columns, sql[fold]+"("+name+")")
		}
	}
	if t.ByDay {
		keys, columns = append(keys, "day"), append(columns, "day")
	}
	out := []string{fmt.Sprintf("SELECT concat_ws('|', %s) AS r FROM %s GROUP BY %s ORDER BY r", strings.Join(columns, ", "), t.Name, strings.Join(keys, ", "))}
	if t.Name == warehouse.Rollups {
		out = append(out, fmt.Sprintf("SELECT concat_ws('|', %s, bucket, sum(n)) AS r FROM (SELECT *, unnest(buckets) AS bucket, unnest(counts) AS n FROM rollups) GROUP BY %s, bucket ORDER BY r",
			strings.Join(keys, ", "), strings.Join(keys, ", ")))
	}
	return out
}
