package upkeep_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/upkeep"
	"github.com/foreshard/foreshard/analysis/warehouse"
)

var commits = flag.Int("commits", 500, "commits of BenchmarkSmallCommits; a day of eight planners has 70,000")

// planned is a commit as a planner of one of eight partitions makes every ten seconds.
func planned(rng *rand.Rand, n int) *warehouse.Commit {
	stream := fmt.Sprint("kafka/foreshard/", n%8)
	at := begin.Add(time.Duration(n/8) * 10 * time.Second).Truncate(time.Minute)
	day := at.Truncate(24 * time.Hour)
	c := &warehouse.Commit{Stream: stream, State: []byte(fmt.Sprint(n)), Positions: []warehouse.Position{{Identity: stream, Name: stream, Offset: int64(n)}},
		Ledger: warehouse.Ledger{Records: 100, Bytes: 10_000}}
	for i := range 500 {
		if id := fmt.Sprintf("%032x", i); n == 0 {
			c.Templates = append(c.Templates, warehouse.Template{ID: id, Text: "select c" + id[28:] + " from files where org_id = $1", Verb: "select", FirstSeen: at})
			c.Facts = append(c.Facts, warehouse.Fact{Template: id, Schema: "h", Version: 1})
		}
	}
	for i := range 60 {
		id := fmt.Sprintf("%032x", rng.IntN(500))
		c.Rollups = append(c.Rollups, warehouse.Rollup{Minute: at, Template: id, Database: "shop", User: "app", Application: fmt.Sprint("web", i%3), Team: "core", Calls: 5, Timed: 5,
			TimeUS: 700, Latency: warehouse.Histogram{30 + rng.IntN(20): 4, 60: 1}})
		c.Ledger.Executions += 5
		c.KeySlots = append(c.KeySlots, warehouse.KeySlot{Day: day, Table: "public.files", Column: "org_id", Slot: uint16(rng.IntN(65536)), Calls: 5})
	}
	c.Ledger.Saw(at)
	signature := fmt.Sprintf("%032x", rng.IntN(50))
	c.Signatures = []warehouse.SignatureRow{{Signature: signature, Position: -1}}
	c.Transactions = []warehouse.Transaction{{Day: day, Signature: signature, Explicit: true, Count: 30, Statements: 200}}
	return c
}

// BenchmarkSmallCommits measures opening and a report without caches, over many small commits: as they are without checkpoints, with them, and
// after compaction.
func BenchmarkSmallCommits(b *testing.B) {
	s := shipped(b)
	store := newObjects(time.Now)
	w, err := warehouse.Open(ctx, store, warehouse.Options{Create: true, Key: &hashKey})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range *commits {
		if err := w.Commit(ctx, planned(rng, n)); err != nil {
			b.Fatal(err)
		}
	}
	root := filepath.Join(b.TempDir(), "w")
	if err := store.dump(root); err != nil {
		b.Fatal(err)
	}
	aside := filepath.Join(b.TempDir(), "checkpoints")
	if err := os.Rename(filepath.Join(root, "checkpoints"), aside); err != nil && !os.IsNotExist(err) {
		b.Fatal(err)
	}
	measure := func(name string) {
		b.Run(name+"/open", func(b *testing.B) {
			for b.Loop() {
				openDir(b, root)
			}
			b.ReportMetric(float64(openDir(b, root).Snapshot().Head), "manifests")
		})
		b.Run(name+"/report", func(b *testing.B) {
			for b.Loop() {
				if err := os.RemoveAll(filepath.Join(root, "derived")); err != nil {
					b.Fatal(err)
				}
				s.report(b, root, analysis.ReportOptions{})
			}
		})
	}
	measure("manifests")
	if err := os.Rename(aside, filepath.Join(root, "checkpoints")); err != nil && !os.IsNotExist(err) {
		b.Fatal(err)
	}
	b.Run("checkpoints/open", func(b *testing.B) {
		for b.Loop() {
			openDir(b, root)
		}
	})
	start := time.Now()
	r := run(b, root, upkeep.Options{Now: time.Now, Grace: time.Hour, Compact: true, Full: true})
	b.Logf("compaction took %s: %s", time.Since(start).Round(time.Millisecond), r)
	measure("compacted")
}
