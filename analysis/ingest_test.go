package analysis

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/analysis/duck"
	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
)

// tree is the content of every file of a directory, by name.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func asJSON(t testing.TB, r *Report) string {
	t.Helper()
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSameInputAgainChangesNothing(t *testing.T) {
	root := t.TempDir()
	events := pgbenchEvents(20)
	ingest(t, openAt(t, root), pgbenchPlan(), &feed{events: events, batch: 5}, pipeline.Options{})
	before := tree(t, root)
	l := ingest(t, openAt(t, root), pgbenchPlan(), &feed{events: events, batch: 5}, pipeline.Options{})
	if l.Executions != 0 {
		t.Errorf("the second run counts %d executions, want 0", l.Executions)
	}
	if !reflect.DeepEqual(before, tree(t, root)) {
		t.Error("the second run changed files")
	}
}

// However the input is cut into runs, batches and commits, the report is the one of a single run.
func TestAppendedInputAddsUp(t *testing.T) {
	events := pgbenchEvents(40)
	whole := openAt(t, t.TempDir())
	ingest(t, whole, pgbenchPlan(), &feed{events: events, batch: len(events)}, pipeline.Options{})
	want := asJSON(t, report(t, whole, pgbenchPlan(), ReportOptions{}, pgbenchCandidates()...))
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "w")
		if err != nil {
			rt.Fatal(err)
		}
		for from := 0; from < len(events); {
			upto := min(len(events), from+rapid.IntRange(20, len(events)).Draw(rt, "run"))
			f := &feed{events: events[:upto], batch: rapid.IntRange(1, 50).Draw(rt, "batch")}
			ingest(t, openAt(t, root), pgbenchPlan(), f, pipeline.Options{MaxEvents: int64(rapid.IntRange(20, 400).Draw(rt, "commit"))})
			from = upto
		}
		got := asJSON(t, report(t, openAt(t, root), pgbenchPlan(), ReportOptions{}, pgbenchCandidates()...))
		if got != want {
			rt.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestWorkersDoNotShow(t *testing.T) {
	var trees [2]map[string]string
	var reports [2]string
	for i, workers := range []int{1, 8} {
		root := t.TempDir()
		w := openAt(t, root)
		ingest(t, w, pgbenchPlan(), &feed{events: pgbenchEvents(50), batch: 9}, pipeline.Options{Workers: workers, MaxEvents: 100})
		trees[i] = tree(t, root)
		reports[i] = asJSON(t, report(t, w, pgbenchPlan(), ReportOptions{Workers: workers}, pgbenchCandidates()...))
	}
	if !reflect.DeepEqual(trees[0], trees[1]) {
		t.Error("files differ between 1 and 8 workers")
	}
	if reports[0] != reports[1] {
		t.Error("reports differ between 1 and 8 workers")
	}
}

// An error of the source keeps what came before it, and the next run goes on from there.
func TestErrorOfTheSourceKeepsWhatWasRead(t *testing.T) {
	events := pgbenchEvents(10)
	w := openAt(t, t.TempDir())
	broken := &feed{events: events[:30], batch: 10, fail: errors.New("cut file")}
	if _, err := pipeline.Run(t.Context(), w, broken, pgbenchPlan(), warehouse.Schema{}, pipeline.Options{}); !errors.Is(err, broken.fail) {
		t.Fatalf("got %v, want the source's error", err)
	}
	ingest(t, w, pgbenchPlan(), &feed{events: events, batch: 10}, pipeline.Options{})
	if got := w.Snapshot().Ledger.Executions; got != 70 {
		t.Errorf("got %d executions, want 70", got)
	}
}

// The events of a batch that failed are not all counted, and the source is past them: nothing may be committed for it.
func TestFailedBatchIsNotCommitted(t *testing.T) {
	c := newClock()
	first, second := tmpl("select 1", 0), tmpl("select 2", 0)
	f := &feed{batch: 2, events: []capture.Event{c.auto(first), c.auto(first), c.auto(first), c.auto(second)}}
	w := openAt(t, t.TempDir())
	if _, err := pipeline.Run(t.Context(), w, f, plan{"select 1": {}}, warehouse.Schema{Hash: "h"}, pipeline.Options{}); err == nil {
		t.Fatal("a template that cannot be resolved is an error")
	}
	f.resume(w)
	if _, err := pipeline.Run(t.Context(), w, f, plan{"select 1": {}, "select 2": {}}, warehouse.Schema{Hash: "h"}, pipeline.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := w.Snapshot().Ledger.Executions; got != 4 {
		t.Errorf("got %d executions in the warehouse, want 4", got)
	}
}

func TestCancelledRunCommitsWhatItRead(t *testing.T) {
	events := pgbenchEvents(10)
	w := openAt(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	o := pipeline.Options{Due: func() bool {
		if n++; n == 3 {
			cancel()
		}
		return false
	}}
	if _, err := pipeline.Run(ctx, w, &feed{events: events, batch: 10}, pgbenchPlan(), warehouse.Schema{}, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
	if got := w.Snapshot().Streams[""].Positions["feed"].Offset; got != 300 {
		t.Errorf("got position %d, want 300: three batches of ten events", got)
	}
}

// The sums hold for any traffic: classes, readiness, teams and rollups all add up to the executions.
func TestSumsOverClassesAreExecutions(t *testing.T) {
	classes := []judged{{Class: "single_shard", Readiness: "ready"}, {Class: "scatter", Readiness: "costly"}, {Class: "multi_phase", Readiness: "blocked"},
		{Class: "unknown", Readiness: "unknown"}, {Class: "unsharded", Readiness: "ready"}}
	p := plan{}
	for i := range 12 {
		text := fmt.Sprintf("select %d", i)
		p[text] = planned{verdicts: []judged{classes[i%len(classes)]}}
		if i == 7 {
			q := p[text]
			q.unparsed = "unparsed"
			p[text] = q
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		var events []capture.Event
		var errorsSeen, unparsed, opaque int64
		n := rapid.IntRange(1, 80).Draw(rt, "events")
		for range n {
			i := rapid.IntRange(0, 11).Draw(rt, "template")
			e := capture.Event{Kind: capture.Execution, Time: begin.Add(time.Duration(rapid.IntRange(0, 200_000).Draw(rt, "second")) * time.Second),
				Template: tmpl(fmt.Sprintf("select %d", i), 0), Auto: rapid.Bool().Draw(rt, "auto"), Session: "s", TxnID: uint64(rapid.IntRange(1, 5).Draw(rt, "txn")),
				Timed: rapid.Bool().Draw(rt, "timed"), Duration: time.Duration(rapid.IntRange(0, 5_000_000).Draw(rt, "us")) * time.Microsecond,
				Team: rapid.SampledFrom([]string{"", "core", "files"}).Draw(rt, "team"), App: rapid.SampledFrom([]string{"", "web"}).Draw(rt, "app"), User: "u"}
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				e.SQLState = "23505"
				errorsSeen++
			case 1:
				e.Template, e.Opaque = nil, &capture.Opaque{Bytes: 5, Hash: "h", Reason: rapid.SampledFrom([]string{"truncated", "unlexable"}).Draw(rt, "reason")}
				opaque++
			case 2:
				e.Kind = capture.BindOnly
			}
			if e.Kind == capture.Execution && e.Template != nil && i == 7 {
				unparsed++
			}
			events = append(events, e)
		}
		var executions int64
		for _, e := range events {
			if e.Kind == capture.Execution {
				executions++
			}
		}
		if executions == 0 {
			return
		}
		root, err := os.MkdirTemp(t.TempDir(), "w")
		if err != nil {
			rt.Fatal(err)
		}
		w := openAt(t, root)
		ingest(t, w, p, &feed{events: events, batch: 7}, pipeline.Options{MaxEvents: int64(rapid.IntRange(10, 100).Draw(rt, "commit"))})
		c := pgbenchCandidates()[:1]
		r := report(t, w, p, ReportOptions{}, c...)
		equal(rt, "executions", r.Ledger.Executions, executions)
		equal(rt, "errors", r.Ledger.Errors, errorsSeen)
		equal(rt, "unparsed", sum(r.Ledger.Unparsed), unparsed+opaque)
		got := r.Candidates[0]
		equal(rt, "calls", int64(got.Calls.Total), executions)
		equal(rt, "calls by class", int64(sum(got.Calls.ByClass)), executions)
		equal(rt, "calls by readiness", int64(sum(got.Calls.ByReadiness)), executions)
		if sum(got.TimeMS.ByClass)-got.TimeMS.Total > 1e-6 {
			rt.Errorf("time by class: got %v, want %v", sum(got.TimeMS.ByClass), got.TimeMS.Total)
		}
		var teams, queries, queryErrors int64
		for _, team := range got.Teams {
			teams += team.Calls
			equal(rt, "calls of a team by readiness", sum(team.ByReadiness), team.Calls)
		}
		for _, q := range got.Queries {
			queries += q.Calls
			queryErrors += q.Errors
		}
		equal(rt, "calls of teams", teams, executions)
		equal(rt, "calls of queries", queries, executions)
		equal(rt, "errors of queries", queryErrors, errorsSeen)
		x := got.Transactions
		equal(rt, "transactions", x.SingleShard+x.MultiShardRead+x.MultiShardWrite+x.Unknown, x.Total)
	})
}

func sum[V int64 | float64](m map[string]V) (s V) {
	for _, v := range m {
		s += v
	}
	return s
}

func equal(t *rapid.T, what string, got, want int64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %d, want %d", what, got, want)
	}
}

func TestNoEvidence(t *testing.T) {
	w := openAt(t, t.TempDir())
	_, err := BuildReport(t.Context(), w, testCatalog(), pgbenchCandidates(), ReportOptions{})
	if !errors.Is(err, ErrNoEvidence) {
		t.Errorf("got %v, want %v", err, ErrNoEvidence)
	}
}

// killEnv makes the test binary the child that is killed.
const killEnv = "FORESHARD_TEST_INGEST"

// slow is a feed that tells its parent after each batch.
type slow struct {
	*feed
	out io.Writer
}

func (s slow) Run(ctx context.Context, fn func([]capture.Event, int) error) error {
	return s.feed.Run(ctx, func(e []capture.Event, i int) error {
		err := fn(e, i)
		fmt.Fprintln(s.out, "batch")
		time.Sleep(time.Millisecond)
		return err
	})
}

func TestChildIngest(t *testing.T) {
	root := os.Getenv(killEnv)
	if root == "" {
		t.Skip("runs as a child of the kill test only")
	}
	w := openAt(t, root)
	f := &feed{events: pgbenchEvents(200), batch: 3}
	f.resume(w)
	if _, err := pipeline.Run(t.Context(), w, slow{f, os.Stdout}, pgbenchPlan(), warehouse.Schema{Hash: "schema", Name: "test.sql"}, pipeline.Options{MaxEvents: 6}); err != nil {
		t.Fatal(err)
	}
}

// A run that is killed again and again loses nothing that was committed and counts nothing twice.
func TestKilledRunGoesOn(t *testing.T) {
	root := t.TempDir()
	kill := func(batches int) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChildIngest$")
		cmd.Env = append(os.Environ(), killEnv+"="+root)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for seen := 0; seen < batches && lines.Scan(); {
			if lines.Text() == "batch" {
				seen++
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child ended before it was killed")
		}
	}
	last := int64(0)
	for _, batches := range []int{5, 9, 14, 20} {
		kill(batches)
		w := openAt(t, root)
		if err := w.Snapshot().Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.Snapshot().Ledger.Executions; got <= last {
			t.Fatalf("got %d executions after the kill and %d before", got, last)
		} else {
			last = got
		}
	}
	w := openAt(t, root)
	ingest(t, w, pgbenchPlan(), &feed{events: pgbenchEvents(200), batch: 3}, pipeline.Options{MaxEvents: 400})
	whole := openAt(t, t.TempDir())
	ingest(t, whole, pgbenchPlan(), &feed{events: pgbenchEvents(200), batch: 100}, pipeline.Options{})
	got := asJSON(t, report(t, w, pgbenchPlan(), ReportOptions{}, pgbenchCandidates()...))
	want := asJSON(t, report(t, whole, pgbenchPlan(), ReportOptions{}, pgbenchCandidates()...))
	if got != want {
		t.Errorf("after four kills got\n%s\nwant\n%s", got, want)
	}
}

// What the source holds back as secret is in no file, packed or not.
func TestCanaryIsInNoFile(t *testing.T) {
	const canary = "canary@example.test"
	root := t.TempDir()
	w := openAt(t, root)
	c := newClock()
	e := c.auto(tAccount, 4711, 815)
	hidden := c.auto(nil)
	hidden.Opaque = &capture.Opaque{Bytes: len(canary), Hash: "0123", Reason: "truncated"}
	ingest(t, w, pgbenchPlan(), &feed{events: []capture.Event{e, hidden}, batch: 1}, pipeline.Options{})
	report(t, w, pgbenchPlan(), ReportOptions{PlannerVersion: "test"}, pgbenchCandidates()...)
	for name, data := range tree(t, root) {
		for _, secret := range []string{canary, "4711"} {
			if strings.Contains(data, secret) || bytes.Contains(unpacked(t, w, root, name), []byte(secret)) {
				t.Errorf("file %s holds %q", name, secret)
			}
		}
	}
}

// unpacked is the content of a packed file as text: Parquet tables row by row, states and caches unpacked.
func unpacked(t *testing.T, w *warehouse.Warehouse, root, name string) []byte {
	t.Helper()
	switch {
	case strings.HasSuffix(name, ".parquet"):
		db := openDuck(t, w)
		var out bytes.Buffer
		err := db.Each(t.Context(), "SELECT f::VARCHAR FROM read_parquet(?) AS f", func(scan func(...any) error) error {
			var row string
			err := scan(&row)
			out.WriteString(row)
			return err
		}, filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if out.Len() == 0 {
			t.Errorf("file %s has no rows: the test looks at nothing", name)
		}
		return out.Bytes()
	case strings.HasPrefix(name, "state/"):
		data, err := w.Snapshot().State(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return data
	case strings.HasPrefix(name, "derived/"):
		data, _ := w.Cache(t.Context(), strings.TrimPrefix(name, "derived/"))
		return data
	}
	return nil
}

func openDuck(t testing.TB, w *warehouse.Warehouse) *duck.DB {
	t.Helper()
	db, err := duck.Open(t.Context(), w.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
