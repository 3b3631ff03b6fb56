package partition_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/partition"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

var inputs = []pglog.Input{{Path: "../../fixtures/traffic/atelier.csv.zst"}}

// executions is what the client counted when it made the log.
func executions(t *testing.T) int64 {
	t.Helper()
	text := read(t, "../../fixtures/traffic/atelier.csv.counts.json")
	var counts struct {
		Statements int64 `json:"statements"`
	}
	if err := json.Unmarshal(text, &counts); err != nil || counts.Statements == 0 {
		t.Fatal(counts, err)
	}
	return counts.Statements
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func schema(t *testing.T) *catalog.Catalog {
	t.Helper()
	cat, err := catalog.Load("schema.sql", read(t, "../../fixtures/app/schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// report is what a warehouse says of its traffic, without the names of what was read and without the ledger's notes.
func report(t *testing.T, dir string, cat *catalog.Catalog) string {
	t.Helper()
	c, err := candidate.Load("by-org.yaml", read(t, "../../fixtures/app/candidates/by-org.yaml"), cat)
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, dir)
	r, err := analysis.BuildReport(t.Context(), w, cat, []*candidate.Candidate{c}, analysis.ReportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.Sources, r.Ledger.Notes = nil, nil
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func open(t *testing.T, dir string) *warehouse.Warehouse {
	t.Helper()
	w, err := analysis.OpenWarehouse(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// direct reads the log without a topic.
func direct(t *testing.T, cat *catalog.Catalog) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := analysis.Ingest(t.Context(), open(t, dir), inputs, cat, analysis.IngestOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	return report(t, dir, cat)
}

// captured is the log in a topic, in many small records: by this clock, every batch of the reader is late.
func captured(t *testing.T, partitions int) *stream.Memory {
	t.Helper()
	topic := stream.NewMemory("t", partitions)
	a, err := stream.OpenAgent(stream.AgentConfig{Name: "a", Dir: t.TempDir()}, topic)
	if err != nil {
		t.Fatal(err)
	}
	r, err := pglog.Open(t.Context(), inputs, a.LogConfig(pglog.Config{ChunkSize: 256 << 10}))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(0, 0)
	late := func() time.Time { now = now.Add(time.Minute); return now }
	if err := stream.SendLogs(t.Context(), r, a, late); err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{r.Close, func() error { return a.Drain(t.Context()) }, a.Close} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	return topic
}

func planner(t *testing.T, topic stream.Topic, dir string, cat *catalog.Catalog) *partition.Planner {
	return &partition.Planner{Topic: topic, Group: "g", Catalog: cat, Schema: "schema.sql", Workers: 1, Every: time.Nanosecond, Drain: true, Now: time.Now,
		Open: func(ctx context.Context) (*warehouse.Warehouse, error) { return analysis.OpenWarehouse(ctx, dir, true) },
		Note: func(text string) { t.Log(text) }, Problem: func(err error) { t.Log(err) }}
}

// messages are the records of a partition.
func messages(t *testing.T, topic stream.Topic, p int) [][]byte {
	t.Helper()
	ends, err := topic.Ends(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	if err := topic.Read(t.Context(), p, 0, ends[p], func(run []stream.Message) error {
		for _, m := range run {
			out = append(out, m.Value)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// What goes through a topic leads to the same report as reading the log directly: records repeated, a planner interrupted again and again, and
// two planners that both believe to have every partition.
func TestPlannedIsIngested(t *testing.T) {
	cat := schema(t)
	want, topic := direct(t, cat), captured(t, 3)
	same := func(t *testing.T, dir string) {
		t.Helper()
		if got := report(t, dir, cat); got != want {
			t.Errorf("the report differs: %s", difference(got, want))
		}
		if n := open(t, dir).Snapshot().Ledger.Executions; n != executions(t) {
			t.Errorf("%d executions, the client sent %d", n, executions(t))
		}
	}
	t.Run("once", func(t *testing.T) {
		dir := t.TempDir()
		if err := planner(t, topic, dir, cat).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, dir)
		before := open(t, dir).Snapshot().Version()
		if err := planner(t, topic, dir, cat).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if open(t, dir).Snapshot().Version() != before {
			t.Error("planning again changed the warehouse")
		}
	})
	t.Run("repeated records", func(t *testing.T) {
		dir, twice, rng := t.TempDir(), stream.NewMemory("t", 3), rand.New(rand.NewPCG(1, 2))
		repeated := int64(0)
		for p := range 3 {
			all := messages(t, topic, p)
			for i := range all {
				from := i
				if rng.IntN(3) == 0 { // an agent whose answer was lost goes back some records
					from = rng.IntN(i + 1)
				}
				repeated += int64(i - from)
				for _, v := range all[from : i+1] {
					if err := twice.Send(t.Context(), []stream.Record{{Partition: p, Value: v}}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if err := planner(t, twice, dir, cat).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, dir)
		if n := open(t, dir).Snapshot().Ledger.Notes[partition.NoteRepeated]; n != repeated || n == 0 {
			t.Errorf("%d records were repeated, %d noted", repeated, n)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		dir, rng := t.TempDir(), rand.New(rand.NewPCG(5, 6))
		for range 8 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Duration(rng.IntN(200))*time.Millisecond, cancel)
			_ = planner(t, topic, dir, cat).Run(ctx) // it was interrupted, wherever it was
			cancel()
		}
		if err := planner(t, topic, dir, cat).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, dir)
	})
	t.Run("two owners", func(t *testing.T) {
		dir := t.TempDir()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if err := planner(t, topic, dir, cat).Run(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		same(t, dir)
	})
}

func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + " is not " + b[i]
		}
	}
	return "one is longer"
}

// A record that cannot be read is set aside and counted; the events of a record that is gone are counted to the event.
func TestUnreadableAndMissing(t *testing.T) {
	cat, topic := schema(t), captured(t, 1)
	all := messages(t, topic, 0)
	if len(all) < 5 {
		t.Fatalf("only %d records", len(all))
	}
	d, err := stream.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b, err := d.Decode(all[2])
	if err != nil {
		t.Fatal(err)
	}
	gone := int64(len(b.Events))
	lost := int64(0)
	for i := range b.Events {
		if b.Events[i].Kind == 1 {
			lost++
		}
	}
	broken := stream.NewMemory("t", 1)
	garbage := [][]byte{[]byte("not ours"), all[2][:len(all[2])/2], nil}
	records := append(append([][]byte{}, all[:2]...), garbage...)
	bytes := int64(0)
	for _, v := range garbage {
		bytes += int64(len(v))
	}
	for _, v := range append(records, all[3:]...) {
		if err := broken.Send(t.Context(), []stream.Record{{Value: v}}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := planner(t, broken, dir, cat).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir).Snapshot().Ledger
	if l.Dropped[partition.DropUnreadable] != 3 || l.DroppedBytes[partition.DropUnreadable] != bytes || len(broken.Aside()) != 3 {
		t.Errorf("%d unreadable records, %d bytes, %d set aside; want 3, %d, 3", l.Dropped[partition.DropUnreadable], l.DroppedBytes[partition.DropUnreadable], len(broken.Aside()), bytes)
	}
	if l.Dropped[partition.DropMissing] != gone || l.Executions != executions(t)-lost || gone == 0 {
		t.Errorf("%d events missing, want %d; %d executions, want %d", l.Dropped[partition.DropMissing], gone, l.Executions, executions(t)-lost)
	}
}

// A topic that is shorter than what was read of it is another one: nothing of it is read.
func TestRecreatedTopic(t *testing.T) {
	cat, topic := schema(t), captured(t, 1)
	dir := t.TempDir()
	if err := planner(t, topic, dir, cat).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 100)
	p := planner(t, stream.NewMemory("t", 1), dir, cat)
	p.Drain, p.Problem = false, func(err error) { said <- err.Error() }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		if text := <-said; !strings.Contains(text, "made again") {
			t.Errorf("the planner said %q", text)
		}
	}()
	if err := p.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// A report without events is committed when it is due, as events are: an agent's home may carry nothing else.
func TestReportWithoutEvents(t *testing.T) {
	topic := stream.NewMemory("t", 1)
	a, err := stream.OpenAgent(stream.AgentConfig{Name: "a", Dir: t.TempDir()}, topic)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Flush(t.Context(), stream.Checkpoint{State: []byte{1}}, stream.Ledger{Bytes: 7}); err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{func() error { return a.Drain(t.Context()) }, a.Close} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	p := planner(t, topic, dir, schema(t))
	p.Drain = false
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	for open(t, dir).Snapshot().Ledger.Bytes != 7 { // not only at the planner's end
		time.Sleep(10 * time.Millisecond)
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
