package analysis

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/capture"
)

var update = flag.Bool("update", false, "write the golden files")

// The whole report of a few events under two candidates: failed, opaque, autocommit and unfinished ones among them.
func TestGoldenReport(t *testing.T) {
	c := newClock()
	events := pgbenchEvents(4)
	failed := c.auto(tAccount, 1, 5)
	failed.SQLState, failed.Timed = "23505", false
	hidden := c.auto(nil)
	hidden.Opaque = &capture.Opaque{Bytes: 1024, Hash: "aa", Reason: "truncated"}
	tagged := c.auto(tBalance, 5)
	tagged.Team, tagged.Endpoint = "ledger", "GET /balance"
	open := c.in("other", 99, tBranch, 1, 1)
	single := []capture.Event{c.in("one", 98, tAccount, 1, 7), c.in("one", 98, tHistory, 1, 1, 7, 1), c.commit("one", 98, 2)}
	events = append(append(events, failed, hidden, tagged, open), single...)

	w := openAt(t, t.TempDir())
	ingest(t, w, pgbenchPlan(), &feed{events: events, batch: 6}, pipeline.Options{})
	got := asJSON(t, report(t, w, pgbenchPlan(), ReportOptions{}, pgbenchCandidates()...)) + "\n"
	path := filepath.Join("testdata", "report.json")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the report differs from %s; if it is right: go test ./analysis -run Golden -update\ngot\n%s", path, got)
	}
}
