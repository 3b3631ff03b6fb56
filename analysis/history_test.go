package analysis

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/facts"
)

// history writes a month of traffic straight into a warehouse: the given number of templates, of which the busy ones run every few minutes
// and the rest now and then, from several applications.
func history(t testing.TB, templates, days, rowsPerDay int) (*warehouse.Warehouse, plan) {
	t.Helper()
	w := openAt(t, t.TempDir())
	rng := rand.New(rand.NewPCG(1, 2))
	p := plan{}
	classes := []judged{onKey("pgbench_accounts", "account", true, 1), {Class: "scatter", Readiness: "costly", Reasons: []QueryReason{{Code: "key_missing"}}},
		{Class: "multi_phase", Readiness: "blocked", Reasons: []QueryReason{{Code: "cross_colo_join"}}, Pairs: [][2]string{{"public.pgbench_accounts", "public.pgbench_tellers"}}}}
	first := warehouse.Commit{}
	ids := make([]string, templates)
	for i := range templates {
		text := fmt.Sprintf("select c%d from pgbench_accounts where aid = $1", i)
		k := tmpl(text, 1)
		ids[i] = fmt.Sprintf("%x", k.ID)
		v := classes[i%len(classes)]
		v.Tables = []string{"public.pgbench_accounts"}
		p[text] = planned{values: []pipeline.ValueSlot{compared(1, "pgbench_accounts", "aid")}, verdicts: []judged{v, v}}
		first.Templates = append(first.Templates, warehouse.Template{ID: ids[i], Text: text, Slots: "i", Verb: "select"})
		first.Facts = append(first.Facts, warehouse.Fact{Template: ids[i], Schema: "schema", Version: facts.Version, Data: []byte{0xa0}})
	}
	if err := w.Commit(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	zipf := rand.NewZipf(rng, 1.1, 10, uint64(templates-1))
	for d := range days {
		c := warehouse.Commit{}
		seen := map[warehouse.KeySlot]bool{}
		for range rowsPerDay {
			calls := int64(1 + rng.IntN(50))
			us := calls * int64(100+rng.IntN(5000))
			i := int(zipf.Uint64())
			team := i % 12 // a statement belongs to a team, its application and a few of its routes
			r := warehouse.Rollup{Minute: begin.AddDate(0, 0, d).Truncate(24 * time.Hour).Add(time.Duration(rng.IntN(1440)) * time.Minute),
				Template: ids[i], Database: "shop", User: "app", Application: fmt.Sprint("app", team), Team: fmt.Sprint("team", team),
				End: fmt.Sprint("route", i%500+rng.IntN(4)), Calls: calls, Timed: calls, TimeUS: us, Latency: warehouse.Histogram{}}
			for n := calls; n > 0; n -= 10 {
				r.Latency[warehouse.Bucket(us/calls*int64(50+rng.IntN(100))/100)] += min(n, 10)
			}
			c.Ledger.Executions += calls
			c.Rollups = append(c.Rollups, r)
		}
		for range 20_000 {
			k := warehouse.KeySlot{Day: begin.AddDate(0, 0, d), Table: "public.pgbench_accounts", Column: "aid", Slot: uint16(rng.IntN(65536))}
			if !seen[k] {
				seen[k] = true
				k.Calls = 3
				c.KeySlots = append(c.KeySlots, k)
			}
		}
		for i := range 2000 {
			s := fmt.Sprint("signature", i)
			if d == 0 {
				for j := range 4 {
					c.Signatures = append(c.Signatures, warehouse.SignatureRow{Signature: s, Position: j, Template: ids[(i*7+j)%templates],
						Slots: []int64{1}, Symbols: []int64{1}})
				}
			}
			c.Transactions = append(c.Transactions, warehouse.Transaction{Day: begin.AddDate(0, 0, d), Signature: s, Explicit: true, Committed: true, Count: 10})
		}
		if err := w.Commit(t.Context(), &c); err != nil {
			t.Fatal(err)
		}
	}
	return w, p
}

// BenchmarkAnotherCandidate is the budget of a candidate over stored history: 20,000 templates and 30 days in less than a second.
func BenchmarkAnotherCandidate(b *testing.B) {
	w, p := history(b, 20_000, 30, 100_000)
	report(b, w, p, ReportOptions{}, pgbenchCandidates()[0])
	for b.Loop() {
		report(b, w, p, ReportOptions{}, pgbenchCandidates()[0])
	}
}

// BenchmarkTwoCandidates compares two candidates over the same history.
func BenchmarkTwoCandidates(b *testing.B) {
	w, p := history(b, 20_000, 30, 100_000)
	report(b, w, p, ReportOptions{}, []*candidate.Candidate(pgbenchCandidates())...)
	for b.Loop() {
		report(b, w, p, ReportOptions{}, []*candidate.Candidate(pgbenchCandidates())...)
	}
}
