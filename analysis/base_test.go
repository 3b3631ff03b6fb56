package analysis

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/foreshard/foreshard/analysis/pipeline"
)

// Sums that are added to, read back, or made anew after somebody deleted or damaged them give one report.
func TestCachesDoNotShow(t *testing.T) {
	root := t.TempDir()
	events := pgbenchEvents(30)
	p, c := pgbenchPlan(), pgbenchCandidates()
	o := ReportOptions{PlannerVersion: "test"}
	for _, upto := range []int{60, 130, len(events)} {
		ingest(t, openAt(t, root), p, &feed{events: events[:upto], batch: 9}, pipeline.Options{MaxEvents: 40})
		added := asJSON(t, report(t, openAt(t, root), p, o, c...))
		if again := asJSON(t, report(t, openAt(t, root), p, o, c...)); again != added {
			t.Errorf("%d events: the second report differs", upto)
		}
		damage(t, filepath.Join(root, "derived"))
		if damaged := asJSON(t, report(t, openAt(t, root), p, o, c...)); damaged != added {
			t.Errorf("%d events: the report after damage to the caches differs", upto)
		}
		derived := filepath.Join(root, "derived")
		if err := os.RemoveAll(derived); err != nil {
			t.Fatal(err)
		}
		if anew := asJSON(t, report(t, openAt(t, root), p, o, c...)); anew != added {
			t.Errorf("%d events: added up\n%s\nmade anew\n%s", upto, added, anew)
		}
	}
}

// damage cuts the caches that foreshard itself decodes.
func damage(t *testing.T, derived string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(derived, "verdicts", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cached verdicts: %v", err)
	}
	for _, n := range append(names, filepath.Join(derived, "digest"), filepath.Join(derived, "base.json")) {
		if err := os.Truncate(n, 5); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWindowNarrowsTheReport(t *testing.T) {
	w := openAt(t, t.TempDir())
	ingest(t, w, pgbenchPlan(), &feed{events: pgbenchEvents(60), batch: 50}, pipeline.Options{})
	c := pgbenchCandidates()[:1]
	first := report(t, w, pgbenchPlan(), ReportOptions{To: begin}, c...).Candidates[0]
	rest := report(t, w, pgbenchPlan(), ReportOptions{From: begin.Add(60e9)}, c...).Candidates[0]
	all := report(t, w, pgbenchPlan(), ReportOptions{}, c...).Candidates[0]
	if first.Calls.Total == 0 || rest.Calls.Total == 0 || first.Calls.Total+rest.Calls.Total != all.Calls.Total {
		t.Errorf("got %v calls in the first minute and %v after it, want %v in all", first.Calls.Total, rest.Calls.Total, all.Calls.Total)
	}
}

// BenchmarkJudge is the cost of one stored template under a new candidate: facts decoded and judged.
func BenchmarkJudge(b *testing.B) {
	text, cat, c := shipped(b, "traffic/atelier.log.zst", "app/schema.sql", "app/candidates/by-user.yaml")
	path, dir := filepath.Join(b.TempDir(), "postgresql.log"), b.TempDir()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		b.Fatal(err)
	}
	readLog(b, dir, cat, path, false, IngestOptions{})
	db := openDuck(b, openAt(b, dir))
	templates, err := loadTemplates(b.Context(), db)
	if err == nil {
		err = loadFacts(b.Context(), db, cat.Hash, templates)
	}
	if err != nil {
		b.Fatal(err)
	}
	judge, i := plannerJudging(cat, c), 0
	for b.Loop() {
		if _, err := judge(templates[i%len(templates)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
