package partition

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/stream"
)

// crowd is agents that send to one partition, and what a source that remembers three of them made of it.
type crowd struct {
	t       testing.TB
	dir     func() string
	topic   *stream.Memory
	agents  []*stream.Agent
	sent    map[string]int64 // events by session, which is one per record
	counted map[string]int64
	source  *Source
}

func newCrowd(t testing.TB, dir func() string) *crowd {
	c := &crowd{t: t, dir: dir, topic: stream.NewMemory("t", 1), sent: map[string]int64{}, counted: map[string]int64{}}
	c.restart()
	return c
}

// restart goes on from what would have been committed.
func (c *crowd) restart() {
	var state []byte
	if c.source != nil {
		p, err := c.source.Progress()
		if err != nil {
			c.t.Fatal(err)
		}
		state = p.State
		c.source.Close()
	}
	s, err := NewSource(c.topic, 0, -1, state)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.source != nil {
		s.ledger = c.source.ledger // a stream's ledger goes on in the warehouse
	}
	s.most = 3
	c.source = s
}

func (c *crowd) join() int {
	a, err := stream.OpenAgent(stream.AgentConfig{Name: "a", Dir: c.dir()}, c.topic)
	if err != nil {
		c.t.Fatal(err)
	}
	c.agents = append(c.agents, a)
	return len(c.agents) - 1
}

// send makes an agent send a record of n events.
func (c *crowd) send(agent, n int) {
	session := fmt.Sprint(agent, "-", len(c.sent))
	c.sent[session] = int64(n)
	a, ctx := c.agents[agent], context.Background()
	for _, f := range []func() error{
		func() error {
			return a.Add(slices.Repeat([]capture.Event{{Session: session, Kind: capture.Execution}}, n))
		},
		func() error { return a.Flush(ctx, stream.Checkpoint{State: []byte{1}}, stream.Ledger{}) },
		func() error { return a.Drain(ctx) },
	} {
		if err := f(); err != nil {
			c.t.Fatal(err)
		}
	}
}

// repeat stores the i-th record once more, as an agent does whose answer was lost, or whose directory was restored from a copy.
func (c *crowd) repeat(i int) {
	if err := c.topic.Read(context.Background(), 0, int64(i), int64(i)+1, func(run []stream.Message) error {
		return c.topic.Send(context.Background(), []stream.Record{{Value: run[0].Value}})
	}); err != nil {
		c.t.Fatal(err)
	}
}

// plan reads what is there.
func (c *crowd) plan() {
	ends, err := c.topic.Ends(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	c.source.until = ends[0]
	if err := c.source.Run(context.Background(), func(events []capture.Event, _ int) error {
		for i := range events {
			_, session, _ := cutLast(events[i].Session)
			c.counted[session]++
		}
		return nil
	}); err != nil {
		c.t.Fatal(err)
	}
}

func cutLast(s string) (before, after string, ok bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func (c *crowd) total(m map[string]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}

func TestForgottenAgent(t *testing.T) {
	c := newCrowd(t, t.TempDir)
	for i := range 4 { // the first one is forgotten
		c.send(c.join(), 10+i)
	}
	c.plan()
	if n := c.total(c.counted); n != 10+11+12+13 || len(c.source.agents) != 3 || c.source.horizon != 1 {
		t.Fatalf("%d events are counted, %d agents remembered, the horizon is %d", n, len(c.source.agents), c.source.horizon)
	}
	c.restart()
	c.repeat(0)        // what it sent comes again
	c.send(0, 100)     // it goes on
	late := c.join()   // it is new, and says so
	c.send(late, 1000) // the second agent is forgotten
	c.repeat(2)        // of one that is remembered
	c.send(3, 10000)   // another one
	c.plan()
	want := int64(10 + 11 + 12 + 13 + 1000 + 10000)
	l := c.source.ledger
	if n := c.total(c.counted); n != want || l.Dropped[DropForgotten] != 110 || l.Notes[NoteRepeated] != 1 || len(l.Dropped) != 1 {
		t.Errorf("%d events are counted, want %d; dropped %v, notes %v", n, want, l.Dropped, l.Notes)
	}
	if aside := c.topic.Aside(); len(aside) != 2 || aside[0].Offset != 4 || aside[1].Offset != 5 {
		t.Errorf("%d records are set aside", len(aside))
	}
}

// Whatever agents come, go, go on and repeat: nothing counts twice, and what is not counted is in the ledger.
func TestForgettingNeverCountsTwice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := newCrowd(t, t.TempDir)
		c.send(c.join(), 1)
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"join", "join", "send", "repeat", "plan", "restart"}).Draw(r, "step") {
			case "join":
				c.send(c.join(), rapid.IntRange(1, 5).Draw(r, "events"))
			case "send":
				c.send(rapid.IntRange(0, len(c.agents)-1).Draw(r, "agent"), rapid.IntRange(1, 5).Draw(r, "events"))
			case "repeat":
				if ends, err := c.topic.Ends(context.Background()); err != nil {
					r.Fatal(err)
				} else if ends[0] > 0 {
					c.repeat(rapid.IntRange(0, int(ends[0])-1).Draw(r, "record"))
				}
			case "plan":
				c.plan()
			case "restart":
				c.plan()
				c.restart()
			}
		}
		c.plan()
		lost := int64(0)
		for session, n := range c.sent {
			if got := c.counted[session]; got > n || got != 0 && got != n {
				r.Fatalf("%d events were sent, %d are counted", n, got)
			} else if got == 0 {
				lost += n
			}
		}
		if said := c.source.ledger.Dropped[DropForgotten]; said < lost || lost == 0 && len(c.source.agents) < 3 && said > 0 {
			r.Fatalf("%d events are not counted, the ledger says %d", lost, said)
		}
		if len(c.source.agents) > 3 {
			r.Fatalf("%d agents are remembered", len(c.source.agents))
		}
		for _, a := range c.agents {
			if err := a.Close(); err != nil {
				r.Fatal(err)
			}
		}
		c.source.Close()
	})
}
