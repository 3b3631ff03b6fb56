package stream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// dump writes all there is in an event.
func dump(e *capture.Event) string {
	var b strings.Builder
	c := *e
	c.Template, c.Opaque, c.Txn, c.Values, c.Counted, c.Written = nil, nil, nil, nil, nil, nil
	fmt.Fprintf(&b, "%+v time=%s", c, e.Time.Format(time.RFC3339Nano))
	if e.Template != nil {
		fmt.Fprintf(&b, " template=%x %q %+v %d", e.Template.ID, e.Template.Text, e.Template.Slots, e.Template.Bound)
	}
	if e.Opaque != nil {
		fmt.Fprintf(&b, " opaque=%+v", *e.Opaque)
	}
	if e.Txn != nil {
		fmt.Fprintf(&b, " txn=%+v", *e.Txn)
	}
	if e.Counted != nil {
		fmt.Fprintf(&b, " counted=%+v", *e.Counted)
	}
	if e.Written != nil {
		fmt.Fprintf(&b, " written=%+v", *e.Written)
	}
	for _, v := range e.Values {
		fmt.Fprintf(&b, " %+v", v)
	}
	return b.String()
}

// anEvent draws any event that shortening leaves alone.
func anEvent(t *rapid.T) capture.Event {
	name := rapid.StringMatching(`[a-z]{0,3}`)
	when := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "none") {
			return time.Time{}
		}
		return time.Unix(rapid.Int64Range(-9e9, 9e9).Draw(t, "s"), rapid.SampledFrom([]int64{0, 1, 1e3, 5e6}).Draw(t, "ns")).UTC()
	})
	e := capture.Event{Kind: capture.Kind(rapid.IntRange(1, 5).Draw(t, "kind")), Time: when.Draw(t, "time"), Session: name.Draw(t, "session"),
		User: name.Draw(t, "user"), Database: name.Draw(t, "db"), App: name.Draw(t, "app"), Team: name.Draw(t, "team"), Endpoint: name.Draw(t, "endpoint"),
		Client: name.Draw(t, "client"), Search: name.Draw(t, "search"), Share: rapid.IntRange(0, 3).Draw(t, "share"),
		SQLState: rapid.SampledFrom([]string{"", "00000", "23505", capture.StateUnknown}).Draw(t, "state"), Copy: rapid.Bool().Draw(t, "copy"),
		TxnID: rapid.Uint64().Draw(t, "txn"), Auto: rapid.Bool().Draw(t, "auto")}
	if e.Timed = rapid.Bool().Draw(t, "timed"); e.Timed {
		e.Duration = time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "duration"))
	}
	if rapid.Bool().Draw(t, "opaque") {
		e.Opaque = &capture.Opaque{Bytes: rapid.IntRange(0, 1e6).Draw(t, "bytes"), Hash: name.Draw(t, "hash"), Reason: name.Draw(t, "reason")}
	} else {
		text := rapid.SampledFrom([]string{"select $1", "select $1 from t where a in ($2)"}).Draw(t, "text")
		e.Template = sqltext.NewTemplate(text, []sqltext.Slot{{Kind: sqltext.Kind(rapid.IntRange(1, 6).Draw(t, "slot")), Bind: rapid.IntRange(1, 3).Draw(t, "bind"), List: rapid.Bool().Draw(t, "list")}})
	}
	if rapid.Bool().Draw(t, "ends") {
		e.Txn = &capture.Txn{Start: when.Draw(t, "start"), End: when.Draw(t, "end"), Statements: rapid.IntRange(0, 9).Draw(t, "statements"),
			Committed: rapid.Bool().Draw(t, "committed"), Partial: rapid.Bool().Draw(t, "partial"), Savepoints: rapid.IntRange(0, 3).Draw(t, "savepoints"), Serializable: rapid.Bool().Draw(t, "serializable")}
	}
	switch e.Kind {
	case capture.Statistics:
		from := time.Unix(rapid.Int64Range(0, 9e9).Draw(t, "from"), 0).UTC()
		e.Counted = &capture.Counted{From: from, To: from.Add(time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "to"))), Calls: rapid.Int64Range(0, 1e9).Draw(t, "calls"),
			Time: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "spent")), Evidence: capture.Evidence(rapid.IntRange(0, 2).Draw(t, "evidence"))}
	case capture.Write:
		e.Written = aWrite(t)
	}
	for range rapid.IntRange(0, 4).Draw(t, "values") {
		v := capture.Value{Slot: rapid.IntRange(1, 4).Draw(t, "at"), Null: rapid.Bool().Draw(t, "null"), Cut: rapid.Bool().Draw(t, "cut"), Has: capture.HashTypes(rapid.IntRange(0, 7).Draw(t, "has"))}
		for k := range v.Slots {
			if v.Has&(1<<k) != 0 {
				v.Slots[k], v.Eq[k] = rapid.Uint16().Draw(t, "hash slot"), rapid.Uint64Range(0, 3).Draw(t, "eq")
			}
		}
		e.Values = append(e.Values, v)
	}
	return e
}

// aWrite draws what a transaction wrote.
func aWrite(t *rapid.T) *capture.Written {
	n := rapid.Int64Range(0, 1<<40)
	w := &capture.Written{LSN: rapid.Uint64().Draw(t, "lsn"), Part: rapid.IntRange(0, 2).Draw(t, "part")}
	for range rapid.IntRange(0, 3).Draw(t, "tables") {
		x := capture.TableWrite{Table: rapid.SampledFrom([]string{"public.a", "s.b"}).Draw(t, "table"), Op: capture.WriteOp(rapid.IntRange(1, 4).Draw(t, "op")), Rows: n.Draw(t, "rows"), Bytes: n.Draw(t, "bytes")}
		for range rapid.IntRange(0, 2).Draw(t, "columns") {
			c := capture.ColumnWrite{Column: rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "column"), Class: uint8(rapid.IntRange(0, 2).Draw(t, "class")),
				Null: n.Draw(t, "nulls"), Unknown: n.Draw(t, "unknown"), Moved: n.Draw(t, "moved"), Blind: n.Draw(t, "blind")}
			if c.One = rapid.Bool().Draw(t, "one"); c.One {
				c.Eq = rapid.Uint64().Draw(t, "eq")
			}
			for range rapid.IntRange(0, 3).Draw(t, "slots") {
				c.Slots = append(c.Slots, capture.SlotRows{Slot: rapid.Uint16().Draw(t, "slot"), Rows: n.Draw(t, "slot rows")})
			}
			x.Columns = append(x.Columns, c)
		}
		w.Tables = append(w.Tables, x)
	}
	return w
}

// What comes out of a topic is what went into the agent, each session in order, and the report with it.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		topic := stream.NewMemory("t", 3)
		a := open(t, stream.AgentConfig{Name: "a", Dir: t.TempDir()}, topic)
		want := map[string][]string{}
		for range rapid.IntRange(1, 3).Draw(rt, "frames") {
			var events []capture.Event
			for range rapid.IntRange(0, 6).Draw(rt, "events") {
				e := anEvent(rt)
				events = append(events, e)
				want[e.Session] = append(want[e.Session], dump(&e))
			}
			if err := a.Add(events); err != nil {
				rt.Fatal(err)
			}
			if err := a.Flush(t.Context(), stream.Checkpoint{}, stream.Ledger{Bytes: 7}); err != nil {
				rt.Fatal(err)
			}
		}
		finish(t, a)
		got, _ := drain(t, topic)
		for session := range want {
			if strings.Join(got[session], "\n") != strings.Join(want[session], "\n") {
				rt.Fatalf("session %q:\n%s\nwant\n%s", session, strings.Join(got[session], "\n"), strings.Join(want[session], "\n"))
			}
		}
		if len(got) != len(want) {
			rt.Fatalf("%d sessions, want %d", len(got), len(want))
		}
	})
}

func open(t *testing.T, cfg stream.AgentConfig, topic stream.Topic) *stream.Agent {
	t.Helper()
	a, err := stream.OpenAgent(cfg, topic)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func finish(t *testing.T, a *stream.Agent) {
	t.Helper()
	if err := errors.Join(a.Drain(t.Context()), a.Close()); err != nil {
		t.Fatal(err)
	}
}

// drain reads a topic to its end as a planner does, repeated records left out, and returns what each session did and the agents' ledger.
func drain(t *testing.T, topic stream.Topic) (map[string][]string, stream.Ledger) {
	t.Helper()
	d, err := stream.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	out, ledger := map[string][]string{}, stream.Ledger{}
	ends, err := topic.Ends(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for p, end := range ends {
		number, events := int64(0), int64(0)
		err := topic.Read(t.Context(), p, 0, end, func(run []stream.Message) error {
			for _, m := range run {
				b, err := d.Decode(m.Value)
				if err != nil {
					return err
				}
				if b.Number <= number {
					continue
				}
				if b.Number != number+1 || b.Before != events {
					t.Fatalf("partition %d: record %d with %d events before it follows record %d with %d", p, b.Number, b.Before, number, events)
				}
				number, events = b.Number, events+int64(len(b.Events))
				if b.Report != nil {
					ledger.Add(b.Report.Ledger, 1)
				}
				for i := range b.Events {
					e := &b.Events[i]
					if stream.PartitionOf(e.Session, len(ends)) != p {
						t.Fatalf("session %q is in partition %d", e.Session, p)
					}
					out[e.Session] = append(out[e.Session], dump(e))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out, ledger
}

// Any bytes are a record or an error, never a panic; a record with a byte changed is not read as another one.
func FuzzDecode(f *testing.F) {
	topic := stream.NewMemory("t", 1)
	a, err := stream.OpenAgent(stream.AgentConfig{Name: "a", Dir: f.TempDir()}, topic)
	if err != nil {
		f.Fatal(err)
	}
	events := []capture.Event{{Kind: capture.Execution, Session: "s", Template: sqltext.NewTemplate("select $1", []sqltext.Slot{{Kind: sqltext.Int}}),
		Values: []capture.Value{{Slot: 1, Has: capture.IntHash, Slots: [3]uint16{7}, Eq: [3]uint64{8}}}}}
	if err := errors.Join(a.Add(events), a.Flush(context.Background(), stream.Checkpoint{}, stream.Ledger{Bytes: 9}), a.Drain(context.Background()), a.Close()); err != nil {
		f.Fatal(err)
	}
	if err := topic.Read(context.Background(), 0, 0, 1, func(run []stream.Message) error {
		for _, m := range run {
			f.Add(m.Value)
		}
		return nil
	}); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("fsh\x02"))
	f.Fuzz(func(t *testing.T, value []byte) {
		d, err := stream.NewDecoder()
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		b, err := d.Decode(value)
		if err != nil && !errors.Is(err, stream.ErrRecord) {
			t.Fatal(err)
		}
		if err == nil && b.Number < 1 {
			t.Fatalf("record number %d", b.Number)
		}
	})
}

// shaky is a topic whose answers get lost: what it stored or not, Send fails now and then, and a part of a call may be stored.
type shaky struct {
	*stream.Memory
	mu  sync.Mutex
	rng *rand.Rand
	off bool
}

var errShaky = errors.New("connection lost")

func (s *shaky) Send(ctx context.Context, records []stream.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off {
		return errShaky
	}
	if s.rng.IntN(3) > 0 {
		return s.Memory.Send(ctx, records)
	}
	if err := s.Memory.Send(ctx, records[:s.rng.IntN(len(records)+1)]); err != nil {
		return err
	}
	return errShaky
}

func (s *shaky) set(off bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = off
}

func execution(session string, n int) capture.Event {
	return capture.Event{Kind: capture.Execution, Time: time.Unix(int64(n), 0).UTC(), Session: session, TxnID: uint64(n),
		Template: sqltext.NewTemplate("select $1", []sqltext.Slot{{Kind: sqltext.Int}})}
}

// Whatever gets lost, whenever the agent stops and starts again: every event that was flushed is there once, in order, and the reader goes on
// after the last flush.
func TestAgentOverRestartsAndLostAnswers(t *testing.T) {
	topic := &shaky{Memory: stream.NewMemory("t", 4), rng: rand.New(rand.NewPCG(1, 2))}
	rng := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	const total = 3000
	starts := 0
	for n := 0; n < total; starts++ {
		a := open(t, stream.AgentConfig{Name: "a", Dir: dir, Pause: time.Millisecond}, topic)
		n = 0
		if p := a.Checkpoint().Positions; len(p) > 0 {
			n = int(p[0].Offset)
		}
		for stop := n + rng.IntN(200); n < min(stop, total); {
			var events []capture.Event
			for range 1 + rng.IntN(20) {
				if n < total {
					events = append(events, execution(fmt.Sprint("s", n%17), n))
					n++
				}
			}
			if err := a.Add(events); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(4) == 0 && n < total {
				continue // gathered, perhaps never flushed
			}
			c := stream.Checkpoint{Positions: []stream.Position{{Name: "log", Identity: "1:ab", Offset: int64(n)}}, State: []byte{byte(n)}}
			if err := a.Flush(t.Context(), c, stream.Ledger{}); err != nil {
				t.Fatal(err)
			}
		}
		if n >= total {
			finish(t, a)
		} else if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if starts < 5 {
		t.Fatalf("only %d starts", starts)
	}
	got, _ := drain(t, topic)
	events := 0
	for session, list := range got {
		for i, text := range list {
			var first int
			fmt.Sscanf(session, "s%d", &first) //nolint:errcheck // a wrong session fails below
			e := execution(session, first+17*i)
			if text != dump(&e) {
				t.Fatalf("session %s, event %d: %s, want %s", session, i, text, dump(&e))
			}
			events++
		}
	}
	if events != total {
		t.Errorf("%d events, want %d", events, total)
	}
}

// A topic that cannot be written to holds the reader back when the spool is full, and nothing is lost; with Drop the loss is counted.
func TestFullSpool(t *testing.T) {
	for _, drop := range []bool{false, true} {
		t.Run(fmt.Sprint("drop=", drop), func(t *testing.T) {
			topic := &shaky{Memory: stream.NewMemory("t", 1), rng: rand.New(rand.NewPCG(1, 2)), off: true}
			a := open(t, stream.AgentConfig{Name: "a", Dir: t.TempDir(), MaxSpool: 2000, Drop: drop}, topic)
			if err := a.Drain(t.Context()); err != nil { // its first frame, which holds no record
				t.Fatal(err)
			}
			flush := func(ctx context.Context, n int) error {
				if err := a.Add([]capture.Event{execution("s", n)}); err != nil {
					return err
				}
				return a.Flush(ctx, stream.Checkpoint{}, stream.Ledger{Statements: 1})
			}
			n := 0
			for ; a.Waiting() < 2000; n++ {
				if err := flush(t.Context(), n); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			err := flush(ctx, n)
			if drop == (err != nil) {
				t.Fatalf("a flush into a full spool returned %v", err)
			}
			if !drop {
				topic.set(false)
				if err := errors.Join(a.Drain(t.Context()), a.Close()); err != nil {
					t.Fatal(err)
				}
				got, _ := drain(t, topic)
				if len(got["s"]) != n {
					t.Errorf("%d events, want %d", len(got["s"]), n)
				}
				return
			}
			topic.set(false)
			if err := a.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := flush(t.Context(), n+1); err != nil {
				t.Fatal(err)
			}
			finish(t, a)
			got, ledger := drain(t, topic)
			if len(got["s"]) != n+1 || ledger.Dropped[stream.DropFull] != 1 || ledger.Statements != int64(n+2) {
				t.Errorf("%d events of %d, ledger %+v", len(got["s"]), n+2, ledger)
			}
		})
	}
}

// Over-size events travel shortened, and never say less shards than the truth.
func TestOversize(t *testing.T) {
	topic := stream.NewMemory("t", 1)
	a := open(t, stream.AgentConfig{Name: "a", Dir: t.TempDir()}, topic)
	long := execution("s", 1)
	long.Template = sqltext.NewTemplate("select "+strings.Repeat("a", 1<<20), nil)
	list := execution("s", 2)
	for range 5000 {
		list.Values = append(list.Values, capture.Value{Slot: 2, Has: capture.IntHash, Eq: [3]uint64{5}})
	}
	list.Values = append(list.Values, capture.Value{Slot: 3, Has: capture.IntHash, Eq: [3]uint64{6}})
	named := execution("s", 3)
	named.App, named.Search = strings.Repeat("ä", 5000), strings.Repeat("x", 5000)
	if err := errors.Join(a.Add([]capture.Event{long, list, named}), a.Flush(t.Context(), stream.Checkpoint{}, stream.Ledger{})); err != nil {
		t.Fatal(err)
	}
	finish(t, a)
	got, ledger := drain(t, topic)
	for i, want := range []string{"opaque={Bytes:1048583", " {Slot:2 Null:false Cut:true Has:0 Slots:[0 0 0] Eq:[0 0 0]} {Slot:3 Null:false Cut:false Has:1", "Search:? "} {
		if !strings.Contains(got["s"][i], want) {
			t.Errorf("event %d lacks %q: %.300s", i, want, got["s"][i])
		}
	}
	for _, note := range []string{stream.NoteLongText, stream.NoteLongValues, stream.NoteLongName} {
		if ledger.Notes[note] == 0 {
			t.Errorf("no note %s: %v", note, ledger.Notes)
		}
	}
	if len(list.Values) != 5001 {
		t.Error("the caller's values were changed")
	}
}

// An agent's directory belongs to one process, one name and one topic at a time.
func TestAgentDirectory(t *testing.T) {
	dir, topic := t.TempDir(), stream.NewMemory("t", 2)
	a := open(t, stream.AgentConfig{Name: "a", Dir: dir}, topic)
	for _, c := range []struct {
		name  string
		topic stream.Topic
		want  string
	}{
		{"a", topic, "another process"},
	} {
		if _, err := stream.OpenAgent(stream.AgentConfig{Name: c.name, Dir: dir}, c.topic); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %q", err, c.want)
		}
	}
	key := a.HashKey()
	finish(t, a)
	for _, c := range []struct {
		name  string
		topic stream.Topic
		want  string
	}{
		{"b", topic, `it belongs to agent "a"`},
		{"a", stream.NewMemory("other", 2), `it belongs to topic "t"`},
		{"a", stream.NewMemory("t", 1), "made again"},
	} {
		if _, err := stream.OpenAgent(stream.AgentConfig{Name: c.name, Dir: dir}, c.topic); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %q", err, c.want)
		}
	}
	a = open(t, stream.AgentConfig{Name: "a", Dir: dir}, stream.NewMemory("t", 5))
	if a.HashKey() != key {
		t.Error("the hash key changed")
	}
	finish(t, a)
}
