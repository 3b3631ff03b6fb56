// Package partition plans a topic's partitions: it turns each into a stream of the warehouse, whose offset, agents and open transactions are
// committed with the rows they led to. What is committed counts once, whoever sends or plans it again. It may import analysis, its pipeline and
// warehouse, and capture/stream.
package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/fxamacker/cbor/v2"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/stream"
)

// What the ledger of a planned stream says beside the agents' own.
const (
	DropMissing    = "stream_missing"    // events that an agent sent and that are not in the topic: retention was faster
	DropForgotten  = "stream_forgotten"  // events of a generation that is so old that it may have been forgotten; they were set aside, because they may have been counted
	DropUnreadable = "stream_unreadable" // records that cannot be read; they were set aside, how many events they held is among the missing
	NoteRepeated   = "stream_repeated"   // records that were there before; an agent sent them again
	NoteSameName   = "stream_same_name"  // state directories, times the partitions they reached, of a name that another one had used: if both read one log, it is counted twice
)

// StreamName is the warehouse's name of a partition's stream.
func StreamName(topic string, partition int) string {
	return "kafka/" + topic + "/" + strconv.Itoa(partition)
}

// Source is one partition of a topic as the pipeline sees it.
type Source struct {
	topic     stream.Topic
	partition int
	until     int64 // offset to end at; negative: never
	most      int   // agents that are remembered
	decoder   *stream.Decoder

	start   int64 // offset of the first message of this run
	offset  int64 // of the next message
	records int64
	agents  map[agentKey]seen
	horizon int64 // generations that began before this offset may be among those that were forgotten
	ledger  warehouse.Ledger
	failed  error
}

var _ pipeline.Source = (*Source)(nil)

type agentKey struct {
	name       string
	generation uint64
}

func (k agentKey) before(other agentKey) bool {
	return cmp.Or(cmp.Compare(k.name, other.name), cmp.Compare(k.generation, other.generation)) < 0
}

// seen is how far an agent's records were taken up in this partition, and the offset of the last one.
type seen struct{ number, events, offset int64 }

// mostAgents are the generations of agents that are remembered. An agent has one for as long as its directory lives, so that this is far more than
// the servers behind a topic; but where directories are thrown away at each start they would become more for ever.
const mostAgents = 10_000

// saved is the state beside the offset. Kafka's offset is the warehouse's position.
type saved struct {
	Version int          `cbor:"1,keyasint"`
	Offset  int64        `cbor:"2,keyasint"`
	Records int64        `cbor:"3,keyasint"`
	Agents  []savedAgent `cbor:"4,keyasint"`
	Horizon int64        `cbor:"5,keyasint,omitempty"`
}

type savedAgent struct {
	Name       string `cbor:"1,keyasint"`
	Generation uint64 `cbor:"2,keyasint"`
	Number     int64  `cbor:"3,keyasint"`
	Events     int64  `cbor:"4,keyasint"`
	Offset     int64  `cbor:"5,keyasint,omitempty"`
}

const savedVersion = 2 // version 1 forgot no agent

// NewSource continues a partition from the state that a warehouse has of its stream; nil begins. The caller closes it.
func NewSource(topic stream.Topic, partition int, until int64, state []byte) (*Source, error) {
	s := &Source{topic: topic, partition: partition, until: until, most: mostAgents, agents: map[agentKey]seen{}}
	if state != nil {
		var in saved
		if err := cbor.Unmarshal(state, &in); err != nil {
			return nil, fmt.Errorf("read state of partition %d: %w", partition, err)
		}
		if in.Version < 1 || in.Version > savedVersion {
			return nil, fmt.Errorf("read state of partition %d: it has version %d, this program reads 1 to %d", partition, in.Version, savedVersion)
		}
		s.offset, s.records, s.horizon = in.Offset, in.Records, in.Horizon
		for _, a := range in.Agents {
			if in.Version == 1 {
				a.Offset = in.Offset - 1 // it did not say
			}
			s.agents[agentKey{a.Name, a.Generation}] = seen{a.Number, a.Events, a.Offset}
		}
	}
	s.start = s.offset
	d, err := stream.NewDecoder()
	if err != nil {
		return nil, err
	}
	s.decoder = d
	return s, nil
}

// Close frees the decoder.
func (s *Source) Close() { s.decoder.Close() }

// Offset is that of the next message.
func (s *Source) Offset() int64 { return s.offset }

// Run hands on one batch per record, and an empty one when there is nothing new, so that what is due gets committed.
func (s *Source) Run(ctx context.Context, fn func([]capture.Event, int) error) error {
	return s.topic.Read(ctx, s.partition, s.offset, s.until, func(run []stream.Message) error {
		if len(run) == 0 {
			return s.hand(nil, fn)
		}
		for i := range run {
			if err := s.message(ctx, &run[i], fn); err != nil {
				return err
			}
		}
		return nil
	})
}

// hand keeps an error of the pipeline: what it holds after one is not to be committed, because a commit that failed has taken rows with it.
func (s *Source) hand(events []capture.Event, fn func([]capture.Event, int) error) error {
	err := fn(events, 0)
	if err != nil {
		s.failed = err
	}
	return err
}

func (s *Source) message(ctx context.Context, m *stream.Message, fn func([]capture.Event, int) error) error {
	b, err := s.decoder.Decode(m.Value)
	if err != nil {
		if !errors.Is(err, stream.ErrRecord) {
			return err
		}
		return s.unreadable(ctx, m, err)
	}
	key := agentKey{b.Agent, b.Generation}
	before, known := s.agents[key]
	if !known && b.Born < s.horizon {
		return s.forgotten(ctx, m, b)
	}
	if b.Number <= before.number {
		s.offset = m.Offset + 1
		s.count(&s.ledger.Notes, NoteRepeated, 1)
		return nil
	}
	if b.Before < before.events {
		return s.unreadable(ctx, m, fmt.Errorf("record %d of agent %q says %d events came before it, and there were %d", b.Number, b.Agent, b.Before, before.events))
	}
	if !known && s.named(b.Agent) {
		s.count(&s.ledger.Notes, NoteSameName, 1)
	}
	if lost := b.Before - before.events; lost > 0 {
		s.count(&s.ledger.Dropped, DropMissing, lost)
	}
	s.offset = m.Offset + 1
	s.records++
	s.remember(key, seen{b.Number, b.Before + int64(len(b.Events)), m.Offset})
	if b.Report != nil {
		s.ledger.Add(reported(b.Report.Ledger), 1)
	}
	prefix := b.Agent + "/" + strconv.FormatUint(b.Generation, 36) + "/"
	for i := range b.Events { // one server's process 71 is not another's
		b.Events[i].Session = prefix + b.Events[i].Session
	}
	return s.hand(b.Events, fn)
}

// named says whether a state directory of this name was seen.
func (s *Source) named(agent string) bool {
	for k := range s.agents {
		if k.name == agent {
			return true
		}
	}
	return false
}

// remember notes how far an agent is. When there are too many the one that has been silent for most records is forgotten: all that it ever sent lies
// before the horizon then, so that a generation that began there may be it, and one that began later cannot.
func (s *Source) remember(key agentKey, now seen) {
	s.agents[key] = now
	if len(s.agents) <= s.most {
		return
	}
	var oldest agentKey
	least := int64(math.MaxInt64)
	for k, v := range s.agents {
		if v.offset < least || v.offset == least && k.before(oldest) {
			oldest, least = k, v.offset
		}
	}
	delete(s.agents, oldest)
	s.horizon = max(s.horizon, least+1)
}

// forgotten sets a record aside of which nobody can say whether it was counted: twice would be wrong, and so would be not to say that it is missing.
func (s *Source) forgotten(ctx context.Context, m *stream.Message, b *stream.Batch) error {
	if err := s.topic.SetAside(ctx, *m, fmt.Sprintf("agent %q was silent here while more than %d others sent, and may have sent this before: give it a new --state directory", b.Agent, s.most)); err != nil {
		return err
	}
	s.offset = m.Offset + 1
	s.count(&s.ledger.Dropped, DropForgotten, int64(len(b.Events)))
	return nil
}

// unreadable sets a message aside and goes on; it is stored there before it counts as read here.
func (s *Source) unreadable(ctx context.Context, m *stream.Message, why error) error {
	if err := s.topic.SetAside(ctx, *m, why.Error()); err != nil {
		return err
	}
	s.offset = m.Offset + 1
	s.count(&s.ledger.Dropped, DropUnreadable, 1)
	s.count(&s.ledger.DroppedBytes, DropUnreadable, int64(len(m.Value)))
	return nil
}

func (s *Source) count(m *map[string]int64, reason string, n int64) {
	if *m == nil {
		*m = map[string]int64{}
	}
	(*m)[reason] += n
}

// reported is an agent's ledger in the warehouse's terms.
func reported(l stream.Ledger) warehouse.Ledger {
	return warehouse.Ledger{Bytes: l.Bytes, Records: l.Records, Statements: l.Statements, Dropped: l.Dropped, DroppedBytes: l.DroppedBytes,
		Buckets: l.Buckets, Notes: l.Notes}
}

// Progress is the partition's offset, and the agents seen in it.
func (s *Source) Progress() (pipeline.Progress, error) {
	if s.failed != nil {
		return pipeline.Progress{}, fmt.Errorf("begin again from the warehouse after: %w", s.failed)
	}
	out := saved{Version: savedVersion, Offset: s.offset, Records: s.records, Horizon: s.horizon}
	for k, v := range s.agents {
		out.Agents = append(out.Agents, savedAgent{k.name, k.generation, v.number, v.events, v.offset})
	}
	sortAgents(out.Agents)
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return pipeline.Progress{}, err
	}
	state, err := mode.Marshal(&out)
	if err != nil {
		return pipeline.Progress{}, fmt.Errorf("save state of partition %d: %w", s.partition, err)
	}
	p := pipeline.Progress{State: state}
	p.Ledger.Add(s.ledger, 1)
	if s.offset > s.start || s.start > 0 {
		name := s.topic.Name() + "/" + strconv.Itoa(s.partition)
		p.Positions = []warehouse.Position{{Identity: "kafka:" + name, Name: name, Format: "kafka", Offset: s.offset, Records: s.records}}
	}
	return p, nil
}
