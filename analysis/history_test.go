package analysis

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/fixtures/app"
	"github.com/foreshard/foreshard/fixtures/history"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// month writes a history of the demo application and returns it with two candidates.
func month(t testing.TB, o history.Options) (string, *catalog.Catalog, []*candidate.Candidate) {
	t.Helper()
	cat, err := catalog.Load("schema.sql", []byte(app.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	var list []*candidate.Candidate
	for _, name := range []string{"by-org", "by-user"} {
		path := "../fixtures/app/candidates/" + name + ".yaml"
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := candidate.Load(path, data, cat)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	dir, err := history.Dir(t.Context(), "../.cache/bench", cat, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, cat, list
}

// cpu is the processor time that this process has taken.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkHistory is the budget of reports over stored history, 20,000 templates and 30 days: less than a second for a candidate that was
// never judged before. FORESHARD_TEMPLATES makes the history another size.
func BenchmarkHistory(b *testing.B) {
	o := history.Options{Templates: 20_000, Days: 30, RowsPerDay: 100_000}
	if n, err := strconv.Atoi(os.Getenv("FORESHARD_TEMPLATES")); err == nil {
		o.Templates = n
	}
	dir, cat, list := month(b, o)
	report := func(w *warehouse.Warehouse, version string, c ...*candidate.Candidate) {
		r, err := BuildReport(b.Context(), w, cat, c, ReportOptions{PlannerVersion: version})
		if err != nil {
			b.Fatal(err)
		}
		if r.Candidates[0].Templates.Total == 0 || r.Candidates[0].Calls.ByReadiness["ready"] == 0 {
			b.Fatalf("got %+v", r.Candidates[0].Templates)
		}
	}
	begun := time.Now()
	report(openAt(b, dir), "", list[0])
	b.Logf("the first report, which sums the traffic: %v", time.Since(begun).Round(time.Millisecond))
	report(openAt(b, dir), "v1", list...)
	for _, bench := range []struct {
		name, version string
		candidates    []*candidate.Candidate
	}{{"another candidate", "", list[:1]}, {"two other candidates", "", list}, {"the same candidate again", "v1", list[:1]}} {
		b.Run(bench.name, func(b *testing.B) {
			from := cpu(b)
			for b.Loop() {
				report(openAt(b, dir), bench.version, bench.candidates...)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/report")
			b.ReportMetric(float64((cpu(b)-from).Milliseconds())/float64(b.N), "cpu-ms/report")
		})
	}
}
