package stream

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/foreshard/foreshard/capture"
)

// DropFull is the reason of events given up because the spool was full, with AgentConfig.Drop.
const DropFull = "spool_full"

// AgentConfig says how an agent works. Name and Dir are required.
type AgentConfig struct {
	Name     string // of this capturing process; sessions of two agents are never mixed
	Dir      string // its own directory: spool, position, hash key. It must survive restarts; a new one starts a new generation
	MaxSpool int64  // bytes on disk that wait for the topic; 0: 1 GiB
	Drop     bool   // when the spool is full: count events as lost and go on. Without it the reader waits, which loses nothing while the log is kept
	// What a reader hands on is made durable and sent when it is so many bytes, before compression, or so old. Sooner is a waste of fsyncs and of
	// dictionaries, later is memory and delay. 0: 4 MiB, 1 s.
	BatchBytes int
	BatchTime  time.Duration
	Pause      time.Duration // before a failed request is tried again, doubled up to 5 s; 0: 100 ms
	// Retry is called when the topic cannot be written to; the agent tries again after the pause.
	Retry func(err error, pause time.Duration)
	// Sent is called when the records of a frame are stored in the topic. Flushed is called after each Flush with the events that were made durable
	// and what the ledger grew by, events given up included. Both may be nil.
	Sent    func(records int)
	Flushed func(events int64, grown Ledger)
}

// Agent takes events to a topic: Add gathers them, Flush makes them durable together with the position they came from, and a goroutine sends
// what is durable, in order, until it is stored. What was flushed counts once, whatever dies.
type Agent struct {
	cfg   AgentConfig
	topic Topic
	spool *spool
	z     *zstd.Encoder

	saved     saved
	base      []counter // saved.Counters when the frame was begun
	encoders  []*encoder
	records   []Record // sealed, of the frame that is being made
	events    int64    // of the frame
	gathered  int      // bytes of records
	ledger    Ledger   // that was not yet reported
	ahead     bool     // saved is not on disk
	kept      func(Checkpoint)
	cancel    context.CancelFunc
	sender    sync.WaitGroup
	sendError error // valid after sender
}

// saved is what every frame ends with: where everything goes on.
type saved struct {
	Version    int        `cbor:"1,keyasint"`
	Name       string     `cbor:"2,keyasint"`
	Generation uint64     `cbor:"3,keyasint"`
	Key        [16]byte   `cbor:"4,keyasint"`
	Topic      string     `cbor:"5,keyasint"`
	Counters   []counter  `cbor:"6,keyasint"` // by partition
	Positions  []Position `cbor:"7,keyasint"`
	State      []byte     `cbor:"8,keyasint"`
	Received   *Ledger    `cbor:"9,keyasint,omitempty"`
	Born       []int64    `cbor:"10,keyasint,omitempty"` // ends of the partitions when the generation began
}

type counter struct {
	Number int64 `cbor:"1,keyasint"` // of the last record
	Events int64 `cbor:"2,keyasint"` // in all records
}

// savedVersion is the version of saved.
const savedVersion = 1

// Checkpoint is how far a reader was when it had handed on its events.
type Checkpoint struct {
	Positions []Position
	State     []byte // what the reader needs beside the positions to go on
	// Received is what has been reported of a receiver's own counts, which go on from process to process; nil leaves it as it is.
	Received *Ledger
}

// OpenAgent opens an agent's directory, or makes it, and starts to send what is waiting there; the number of partitions an
// agent uses is that of its first start, so that a session's records never move.
func OpenAgent(cfg AgentConfig, topic Topic) (*Agent, error) {
	if cfg.Name == "" || cfg.Dir == "" {
		return nil, errors.New("open agent: it needs a name and a directory")
	}
	if strings.ContainsFunc(cfg.Name, unicode.IsControl) || !utf8.ValidString(cfg.Name) { // it is shown in reports and logs for ever
		return nil, fmt.Errorf("open agent: name %q has characters that cannot be printed: give another --name", cfg.Name)
	}
	if cfg.MaxSpool <= 0 {
		cfg.MaxSpool = 1 << 30
	}
	if cfg.BatchBytes <= 0 {
		cfg.BatchBytes = 4 << 20
	}
	if cfg.BatchTime <= 0 {
		cfg.BatchTime = time.Second
	}
	if cfg.Pause <= 0 {
		cfg.Pause = firstPause
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open agent: %w", err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("open agent: %w", err)
	}
	sp, last, err := openSpool(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open agent: %w", err)
	}
	a := &Agent{cfg: cfg, topic: topic, spool: sp, z: z}
	if err := a.restore(last); err != nil {
		return nil, errors.Join(fmt.Errorf("open agent in %q: %w", cfg.Dir, err), sp.close())
	}
	for range a.saved.Counters {
		a.encoders = append(a.encoders, &encoder{})
	}
	a.clear()
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	a.sender.Go(func() {
		if a.sendError = a.send(ctx); a.sendError != nil {
			sp.fail(a.sendError)
		}
	})
	return a, nil
}

// restore takes up the last frame, or begins a generation.
func (a *Agent) restore(last []byte) error {
	if last != nil {
		_, tail, err := openFrame(last)
		if err != nil {
			return err
		}
		if err := a.saved.unpack(tail); err != nil {
			return err
		}
		s := &a.saved
		switch {
		case s.Version != savedVersion:
			return fmt.Errorf("its position has version %d, this program reads %d", s.Version, savedVersion)
		case s.Name != a.cfg.Name:
			return fmt.Errorf("it belongs to agent %q: give --name %s, or another directory", s.Name, s.Name)
		case s.Topic != a.topic.Name():
			return fmt.Errorf("it belongs to topic %q: give that, or another directory", s.Topic)
		case a.topic.Partitions() > 0 && a.topic.Partitions() < len(s.Counters):
			return fmt.Errorf("topic %q has %d partitions and had %d: it was made again; start over with another directory", s.Topic, a.topic.Partitions(), len(s.Counters))
		}
		return nil
	}
	if a.topic.Partitions() < 1 {
		return fmt.Errorf("topic %q was not reached, and this state directory is new: begin once the brokers can be reached; from then on it does without them", a.topic.Name())
	}
	ends, err := a.topic.Ends(context.Background())
	if err != nil {
		return err
	}
	var random [24]byte
	if _, err := rand.Read(random[:]); err != nil {
		return fmt.Errorf("draw generation: %w", err)
	}
	a.saved = saved{Version: savedVersion, Name: a.cfg.Name, Topic: a.topic.Name(), Generation: binary.LittleEndian.Uint64(random[:8]),
		Counters: make([]counter, a.topic.Partitions()), Born: ends}
	copy(a.saved.Key[:], random[8:])
	// The generation must be on disk before anything is sent under it.
	frame, err := a.frame()
	if err != nil {
		return err
	}
	return a.spool.append(frame)
}

// Checkpoint is where the reader goes on: what the last Flush was given, in this process or one before.
func (a *Agent) Checkpoint() Checkpoint {
	return Checkpoint{a.saved.Positions, a.saved.State, a.saved.Received}
}

// Durable says that a start after a crash goes on from Checkpoint. After events were given up it goes on from before, until the next frame.
func (a *Agent) Durable() bool { return !a.ahead }

// Kept makes fn be called, within Flush, with each checkpoint that has become durable.
func (a *Agent) Kept(fn func(Checkpoint)) { a.kept = fn }

// Begun says that something was flushed before, in this process or another one.
func (a *Agent) Begun() bool { return a.saved.State != nil }

// HashKey is the key of this agent's equality hashes. Hashes are only compared within an agent.
func (a *Agent) HashKey() [16]byte { return a.saved.Key }

// Waiting is how many bytes on disk wait for the topic.
func (a *Agent) Waiting() int64 { return a.spool.waiting() }

// Size is about how many bytes were gathered since the last Flush, before compression.
func (a *Agent) Size() int {
	n := a.gathered
	for _, e := range a.encoders {
		n += e.size()
	}
	return n
}

// born is where a partition ended when the generation began.
func (a *Agent) born(p int) int64 {
	if p < len(a.saved.Born) {
		return a.saved.Born[p]
	}
	return 0 // of an older program's directory
}

// home is the partition that carries what an agent says of itself.
func (a *Agent) home() int { return PartitionOf(a.cfg.Name, len(a.encoders)) }

// Add gathers events. They are encoded before it returns.
func (a *Agent) Add(events []capture.Event) error {
	for i := range events {
		e := events[i] // a copy: shorten changes it
		shorten(&e, a.note)
		p := PartitionOf(e.Session, len(a.encoders))
		a.encoders[p].add(&e)
		if a.encoders[p].size() >= recordBytes {
			if err := a.seal(p, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Agent) note(kind string) { a.ledger.Add(Ledger{Notes: map[string]int64{kind: 1}}, 1) }

// seal ends the record of a partition.
func (a *Agent) seal(p int, r *Report) error {
	e, c := a.encoders[p], &a.saved.Counters[p]
	value, err := e.seal(a.z, &Batch{Agent: a.saved.Name, Generation: a.saved.Generation, Number: c.Number + 1, Before: c.Events, Born: a.born(p), Report: r})
	if err != nil {
		return err
	}
	a.gathered += e.size()
	a.events += int64(e.n)
	a.records = append(a.records, Record{p, value})
	c.Number++
	c.Events += int64(e.n)
	e.reset()
	return nil
}

// Flush makes what was gathered durable, together with the reader's checkpoint and what its ledger grew by. It waits while the spool is full.
// After an error nothing of it happened, and the agent must be closed: a new one goes on from the checkpoint before.
func (a *Agent) Flush(ctx context.Context, c Checkpoint, grown Ledger) error {
	full := a.spool.waiting() >= a.cfg.MaxSpool
	a.ledger.Add(grown, 1)
	if full && a.cfg.Drop {
		return a.discard(c, grown)
	}
	if full {
		defer context.AfterFunc(ctx, a.spool.wake)()
		if err := a.spool.wait(a.cfg.MaxSpool, func() bool { return ctx.Err() != nil }); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	report := Report{Ledger: a.ledger, Positions: moved(a.saved.Positions, c.Positions)}
	home := a.home()
	for p, e := range a.encoders {
		var r *Report
		if p == home && !(report.Ledger.empty() && len(report.Positions) == 0) {
			r = &report
		}
		if e.n > 0 || r != nil {
			if err := a.seal(p, r); err != nil {
				return err
			}
		}
	}
	before := a.ahead
	a.take(c)
	if len(a.records) == 0 { // nothing moved
		a.ahead = before
		return nil
	}
	frame, err := a.frame()
	if err != nil {
		return err
	}
	if err := a.spool.append(frame); err != nil {
		return err
	}
	a.ahead = false
	if a.kept != nil {
		a.kept(a.Checkpoint())
	}
	a.flushed(a.events, grown)
	a.ledger = Ledger{}
	a.clear()
	return nil
}

func (a *Agent) flushed(events int64, grown Ledger) {
	if a.cfg.Flushed != nil {
		a.cfg.Flushed(events, grown)
	}
}

// take makes a checkpoint the agent's own. It is on disk with the next frame.
func (a *Agent) take(c Checkpoint) {
	a.saved.Positions, a.saved.State, a.ahead = c.Positions, c.State, true
	if c.Received != nil {
		a.saved.Received = c.Received
	}
}

// clear begins a frame.
func (a *Agent) clear() {
	a.records, a.events, a.gathered = nil, 0, 0
	a.base = append(a.base[:0], a.saved.Counters...)
}

// discard gives up what was gathered, and remembers how much it was; the next frame reports it.
func (a *Agent) discard(c Checkpoint, grown Ledger) error {
	lost := a.events
	for _, e := range a.encoders {
		lost += int64(e.n)
		e.reset()
	}
	copy(a.saved.Counters, a.base) // their numbers go to other records
	dropped := Ledger{Dropped: map[string]int64{DropFull: lost}}
	a.ledger.Add(dropped, 1)
	dropped.Add(grown, 1)
	a.flushed(0, dropped)
	a.take(c)
	a.clear()
	return nil
}

// moved are the positions that differ from those before.
func moved(before, now []Position) []Position {
	old := map[Position]bool{}
	for _, p := range before {
		old[p] = true
	}
	var out []Position
	for _, p := range now {
		if !old[p] {
			out = append(out, p)
		}
	}
	return out
}

// frame writes the records of a frame and the agent's saved state after them.
func (a *Agent) frame() ([]byte, error) {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return nil, fmt.Errorf("encode position: %w", err)
	}
	tail, err := mode.Marshal(&a.saved)
	if err != nil {
		return nil, fmt.Errorf("encode position: %w", err)
	}
	out := binary.AppendUvarint(nil, uint64(len(a.records)))
	for _, r := range a.records {
		out = appendBytes(binary.AppendUvarint(out, uint64(r.Partition)), r.Value)
	}
	return a.z.EncodeAll(tail, out), nil
}

// openFrame returns the records of a frame and the compressed saved state after them.
func openFrame(payload []byte) (records []Record, tail []byte, err error) {
	r := reader{b: payload}
	for range r.uint() {
		p := int(r.uint())
		v := r.bytes()
		if r.bad {
			return nil, nil, errFrame
		}
		records = append(records, Record{p, v})
	}
	if r.bad {
		return nil, nil, errFrame
	}
	return records, r.b, nil
}

// unpack reads the saved state of a frame.
func (s *saved) unpack(tail []byte) error {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("read position: %w", err)
	}
	defer z.Close()
	data, err := z.DecodeAll(tail, nil)
	if err != nil {
		return fmt.Errorf("read position: %w", err)
	}
	if err := cbor.Unmarshal(data, s); err != nil {
		return fmt.Errorf("read position: %w", err)
	}
	return nil
}

// The pauses between tries.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// send takes frames to the topic, one after the other: a record that overtook another one would make it look like a repetition.
func (a *Agent) send(ctx context.Context) error {
	for {
		payload, ok, err := a.spool.next()
		if err != nil || !ok {
			return err
		}
		records, _, err := openFrame(payload)
		if err != nil {
			return err
		}
		for pause := a.cfg.Pause; len(records) > 0; pause = min(2*pause, lastPause) {
			err := a.topic.Send(ctx, records)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return nil // what was not sent waits for the next start
			}
			if a.cfg.Retry != nil {
				a.cfg.Retry(err, pause)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(pause):
			}
		}
		if a.cfg.Sent != nil && len(records) > 0 {
			a.cfg.Sent(len(records))
		}
		if err := a.spool.ack(payload); err != nil {
			return err
		}
	}
}

// Drain waits until everything that was flushed is stored in the topic.
func (a *Agent) Drain(ctx context.Context) error {
	defer context.AfterFunc(ctx, a.spool.wake)()
	if err := a.spool.wait(1, func() bool { return ctx.Err() != nil }); err != nil {
		return fmt.Errorf("send to topic %q: %w", a.topic.Name(), err)
	}
	if n := a.spool.waiting(); n > 0 {
		return fmt.Errorf("%d bytes wait in the spool and go out at the next start: %w", n, ctx.Err())
	}
	return nil
}

// Close stops sending. What was flushed and not sent waits in the directory.
func (a *Agent) Close() error {
	a.cancel()
	a.spool.shut()
	a.sender.Wait()
	return errors.Join(a.sendError, a.spool.close(), a.z.Close())
}
