package partition_test

import (
	"context"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/analysis/partition"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/stream"
)

// noted is a topic whose group says that partitions were planned further than they are.
type noted struct {
	*stream.Memory
	ahead int64
}

func (n noted) Join(ctx context.Context, group string, run func(ctx context.Context, c stream.Claim)) error {
	return n.Memory.Join(ctx, group, func(ctx context.Context, c stream.Claim) {
		c.Noted = n.ahead
		run(ctx, c)
	})
}

// Two warehouses behind one group have half of the partitions each, and each looks whole: the planner must say so.
func TestGroupOfTwoWarehouses(t *testing.T) {
	for _, c := range []struct {
		ahead int64
		says  bool
	}{{0, false}, {7, true}} {
		var said []string
		p := planner(t, noted{stream.NewMemory("t", 1), c.ahead}, t.TempDir(), schema(t))
		p.Problem = func(err error) { said = append(said, err.Error()) }
		p.Drain = false
		ctx, cancel := context.WithCancel(t.Context())
		p.Observe = func(partition.Observation) { cancel() }
		if err := p.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(said, "\n"), "a --group of its own"); got != c.says {
			t.Errorf("the group is at %d and the warehouse at 0: the planner said %q", c.ahead, said)
		}
	}
}

// A second state directory under one name is an agent that reads its log again, or two agents on one log: it is counted, and the ledger says so.
func TestSecondDirectoryOfAName(t *testing.T) {
	topic := stream.NewMemory("t", 1)
	send := func(name, dir string) {
		a, err := stream.OpenAgent(stream.AgentConfig{Name: name, Dir: dir}, topic)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []func() error{
			func() error { return a.Add([]capture.Event{{Kind: capture.Execution, Session: "1"}}) },
			func() error { return a.Flush(t.Context(), stream.Checkpoint{State: []byte{1}}, stream.Ledger{}) },
			func() error { return a.Drain(t.Context()) }, a.Close,
		} {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, dir := t.TempDir(), t.TempDir()
	plan := func(want int64) {
		t.Helper()
		if err := planner(t, topic, dir, schema(t)).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l := open(t, dir).Snapshot().Ledger; l.Notes[partition.NoteSameName] != want || l.Dropped[partition.DropMissing] != 0 {
			t.Errorf("the ledger notes %v and drops %v, want %d directories of a name that was used", l.Notes, l.Dropped, want)
		}
	}
	send("a", one)
	send("a", one) // the same directory again is the same agent
	send("b", t.TempDir())
	plan(0)
	send("a", t.TempDir())
	plan(1)
}
