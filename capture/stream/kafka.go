package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
)

// KafkaConfig says where a topic is. Brokers and Topic are required.
type KafkaConfig struct {
	Brokers []string // host:port, any of the cluster
	Topic   string
	TLS     *tls.Config
	SASL    sasl.Mechanism // see Login

	// Create makes the topic, and the one for records set aside, where they are absent.
	Create      bool
	Partitions  int // of a topic that is made; 0: 8
	Replication int // of a topic that is made; 0: the broker's default

	// Later opens the topic even if no broker can be reached now: Partitions is 0 then, which is enough for an agent that was there before.
	Later bool

	// Session is how long a member of a group may be silent until its partitions go to others; 0: 10 s. That it comes back and commits is not
	// wrong, only work done twice.
	Session time.Duration

	// Note is called with what went wrong and is being tried again.
	Note func(error)
}

// Kafka is a Topic of Apache Kafka.
//
// It sends with acks=all and without the library's writer, whose queue goes on sending after the call that filled it has failed: here a call is
// a request, and nothing is in flight after it returned but what a broken connection may still deliver, which is a repetition.
type Kafka struct {
	cfg       KafkaConfig
	transport *kafka.Transport
	client    *kafka.Client
	parts     int
}

var _ Topic = (*Kafka)(nil)

// Limits of requests.
const (
	requestBytes = 900 << 10 // records of one request: below max.message.bytes, which bounds what a request stores at once
	fetchBytes   = 4 << 20
	fetchWait    = 500 * time.Millisecond
	requestTime  = 15 * time.Second // until a request counts as failed; its broker may be gone
	metadataTime = time.Second      // how long a leader that is gone is asked
	electTime    = 10 * time.Second // until a partition should have a leader
)

// OpenKafka connects and finds the topic's partitions.
func OpenKafka(ctx context.Context, cfg KafkaConfig) (*Kafka, error) {
	if len(cfg.Brokers) == 0 || cfg.Topic == "" {
		return nil, errors.New("open kafka: name brokers and a topic")
	}
	if err := hosts(cfg.Brokers); err != nil {
		return nil, fmt.Errorf("open kafka: %w", err)
	}
	if cfg.Note == nil {
		cfg.Note = func(error) {}
	}
	if cfg.Session <= 0 {
		cfg.Session = sessionTime
	}
	if cfg.Partitions <= 0 {
		cfg.Partitions = 8
	}
	if cfg.Replication <= 0 {
		cfg.Replication = -1
	}
	k := &Kafka{cfg: cfg}
	k.transport = &kafka.Transport{TLS: cfg.TLS, SASL: cfg.SASL, MetadataTTL: metadataTime, DialTimeout: 5 * time.Second, ClientID: "foreshard"}
	k.client = &kafka.Client{Addr: kafka.TCP(cfg.Brokers...), Transport: k.transport, Timeout: requestTime}
	n, err := k.find(ctx, cfg.Topic)
	if errors.Is(err, kafka.UnknownTopicOrPartition) && cfg.Create {
		if err = k.create(ctx, cfg.Topic, cfg.Partitions); err == nil {
			n, err = k.await(ctx, cfg.Topic)
		}
	}
	if err != nil {
		err = fmt.Errorf("open topic %q at %s: %w", cfg.Topic, strings.Join(cfg.Brokers, ","), missing(err, cfg.Create))
		var answer kafka.Error
		if !cfg.Later || errors.As(err, &answer) || ctx.Err() != nil {
			return nil, errors.Join(err, k.Close())
		}
		cfg.Note(err)
	}
	k.parts = n
	return k, nil
}

// find asks how many partitions a topic has.
func (k *Kafka) find(ctx context.Context, topic string) (int, error) {
	meta, err := k.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return 0, brief(err)
	}
	for _, t := range meta.Topics {
		if t.Name == topic {
			if t.Error != nil {
				return 0, brief(t.Error)
			}
			return len(t.Partitions), nil
		}
	}
	return 0, brief(kafka.UnknownTopicOrPartition)
}

func (k *Kafka) create(ctx context.Context, topic string, partitions int) error {
	res, err := k.client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions,
		ReplicationFactor: k.cfg.Replication, ConfigEntries: []kafka.ConfigEntry{{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(1 << 20)}}}}})
	if err == nil {
		err = res.Errors[topic]
	}
	if errors.Is(err, kafka.TopicAlreadyExists) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create topic %q: %w", topic, brief(err))
	}
	return nil
}

// await waits until every broker knows of a topic that was made.
func (k *Kafka) await(ctx context.Context, topic string) (int, error) {
	for range 600 {
		n, err := k.find(ctx, topic)
		if err == nil && n > 0 {
			return n, nil
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("create topic %q: it does not show up", topic)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Name returns the topic's name.
func (k *Kafka) Name() string { return k.cfg.Topic }

// Partitions returns their number when the topic was opened.
func (k *Kafka) Partitions() int { return k.parts }

// Close closes idle connections.
func (k *Kafka) Close() error {
	k.transport.CloseIdleConnections()
	return nil
}

// Send sends the records of each partition in order, the partitions side by side.
func (k *Kafka) Send(ctx context.Context, records []Record) error {
	by := map[int][][]byte{}
	for _, r := range records {
		by[r.Partition] = append(by[r.Partition], r.Value)
	}
	type result struct {
		partition int
		err       error
	}
	done := make(chan result, len(by))
	for p, values := range by {
		go func() { done <- result{p, k.sendTo(ctx, p, values)} }()
	}
	errs := map[int]error{}
	for range by {
		r := <-done
		errs[r.partition] = r.err
	}
	return sendErrors(k.cfg.Topic, errs)
}

func (k *Kafka) sendTo(ctx context.Context, partition int, values [][]byte) error {
	for len(values) > 0 {
		n, size := 0, 0
		for n < len(values) && (n == 0 || size+len(values[n]) <= requestBytes) {
			size += len(values[n])
			n++
		}
		if err := k.produce(ctx, k.cfg.Topic, partition, values[:n]); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

func (k *Kafka) produce(ctx context.Context, topic string, partition int, values [][]byte, headers ...kafka.Header) error {
	records := make([]kafka.Record, len(values))
	for i, v := range values {
		records[i] = kafka.Record{Value: kafka.NewBytes(v), Headers: headers}
	}
	res, err := k.client.Produce(ctx, &kafka.ProduceRequest{Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll,
		Records: kafka.NewRecordReader(records...)})
	if err == nil {
		err = res.Error
	}
	if errors.Is(err, kafka.MessageSizeTooLarge) {
		return fmt.Errorf("%w: set max.message.bytes of topic %q to 1048576 or more", brief(err), topic)
	}
	return brief(err)
}

// Ends asks for the end of every partition. One that has no leader yet, because it was made a moment ago, or none at the moment is asked again for
// a while.
func (k *Kafka) Ends(ctx context.Context) ([]int64, error) {
	for pause, waited := firstPause, time.Duration(0); ; pause = min(2*pause, lastPause) {
		ends, err := k.ends(ctx)
		var answer kafka.Error
		if !errors.As(err, &answer) || !answer.Temporary() || waited >= electTime {
			return ends, err
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		waited += pause
	}
}

func (k *Kafka) ends(ctx context.Context) ([]int64, error) {
	var requests []kafka.OffsetRequest
	for p := range k.parts {
		requests = append(requests, kafka.LastOffsetOf(p))
	}
	res, err := k.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{k.cfg.Topic: requests}})
	if err != nil {
		return nil, fmt.Errorf("ask for the end of topic %q: %w", k.cfg.Topic, brief(err))
	}
	out, seen := make([]int64, k.parts), 0
	for _, o := range res.Topics[k.cfg.Topic] {
		if o.Error != nil {
			return nil, fmt.Errorf("ask for the end of topic %q, partition %d: %w", k.cfg.Topic, o.Partition, brief(o.Error))
		}
		if o.Partition >= 0 && o.Partition < len(out) {
			out[o.Partition] = o.LastOffset
			seen++
		}
	}
	if seen != k.parts {
		return nil, fmt.Errorf("ask for the end of topic %q: %d of %d partitions answered", k.cfg.Topic, seen, k.parts)
	}
	return out, nil
}

// Read fetches from the partition's leader. A broker that does not answer is asked again until ctx ends; what retention has removed is skipped.
func (k *Kafka) Read(ctx context.Context, partition int, from, until int64, fn func([]Message) error) error {
	pause := firstPause
	for until < 0 || from < until {
		run, start, err := k.fetch(ctx, partition, from)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, ErrRecreated) {
			return err
		}
		if err != nil {
			if !Settling(err, pause) {
				k.cfg.Note(fmt.Errorf("read topic %q partition %d at %d: %w", k.cfg.Topic, partition, from, brief(err)))
			}
			if err := sleep(ctx, pause); err != nil {
				return err
			}
			pause = min(2*pause, lastPause)
			run = nil
		} else {
			pause = firstPause
		}
		from = max(from, start)
		if len(run) > 0 {
			from = run[len(run)-1].Offset + 1
		}
		if err := fn(run); err != nil {
			return err
		}
	}
	return nil
}

// fetch asks once. start is where the partition begins, if that is beyond the offset.
func (k *Kafka) fetch(ctx context.Context, partition int, from int64) (run []Message, start int64, err error) {
	res, err := k.client.Fetch(ctx, &kafka.FetchRequest{Topic: k.cfg.Topic, Partition: partition, Offset: from, MinBytes: 1, MaxBytes: fetchBytes, MaxWait: fetchWait})
	if err != nil {
		return nil, 0, err
	}
	if errors.Is(res.Error, kafka.OffsetOutOfRange) {
		return nil, 0, k.outOfRange(ctx, partition, from, &start)
	}
	if res.Error != nil {
		return nil, 0, res.Error
	}
	for {
		r, err := res.Records.ReadRecord()
		if err == io.EOF {
			return run, 0, nil
		}
		if err != nil {
			if len(run) > 0 { // what is whole comes first; the rest is asked for again
				return run, 0, nil
			}
			return nil, 0, fmt.Errorf("read records: %w", err)
		}
		if r.Offset < from { // a batch comes whole
			continue
		}
		var value []byte
		if r.Value != nil {
			value, err = kafka.ReadAll(r.Value)
			if err := errors.Join(err, r.Value.Close()); err != nil {
				return nil, 0, fmt.Errorf("read record: %w", err)
			}
		}
		run = append(run, Message{partition, r.Offset, value})
	}
}

// outOfRange finds out on which side an offset is outside.
func (k *Kafka) outOfRange(ctx context.Context, partition int, from int64, start *int64) error {
	res, err := k.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		k.cfg.Topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)}}})
	if err != nil {
		return err
	}
	for _, o := range res.Topics[k.cfg.Topic] {
		switch {
		case o.Partition != partition:
		case o.Error != nil:
			return o.Error
		case from < o.FirstOffset:
			*start = o.FirstOffset
			return nil
		case from > o.LastOffset:
			return fmt.Errorf("read topic %q partition %d from %d, it ends at %d: %w", k.cfg.Topic, partition, from, o.LastOffset, ErrRecreated)
		}
	}
	return kafka.OffsetOutOfRange
}

// asideTopic is where records go that cannot be read.
func (k *Kafka) asideTopic() string { return k.cfg.Topic + ".unreadable" }

// SetAside copies a message to the topic for unreadable records, with where it was and why in its headers.
func (k *Kafka) SetAside(ctx context.Context, m Message, reason string) error {
	topic := k.asideTopic()
	if _, err := k.find(ctx, topic); err != nil {
		if !errors.Is(err, kafka.UnknownTopicOrPartition) || !k.cfg.Create {
			return fmt.Errorf("set a record aside: topic %q: %w", topic, err)
		}
		if err := k.create(ctx, topic, 1); err != nil {
			return fmt.Errorf("set a record aside: %w", err)
		}
		if _, err := k.await(ctx, topic); err != nil {
			return fmt.Errorf("set a record aside: %w", err)
		}
	}
	err := k.produce(ctx, topic, 0, [][]byte{m.Value}, kafka.Header{Key: "partition", Value: []byte(strconv.Itoa(m.Partition))},
		kafka.Header{Key: "offset", Value: []byte(strconv.FormatInt(m.Offset, 10))}, kafka.Header{Key: "reason", Value: []byte(reason)})
	if err != nil {
		return fmt.Errorf("set a record aside: send to topic %q: %w", topic, err)
	}
	return nil
}

// Times of group membership.
const (
	sessionTime = 10 * time.Second
	beats       = 5 // in a session
	joinTime    = 30 * time.Second
	joinPause   = 200 * time.Millisecond
)

// Join is a consumer group. The group's offsets are hints. Partitions that are added to the topic are shared out, too.
func (k *Kafka) Join(ctx context.Context, group string, run func(ctx context.Context, c Claim)) error {
	dialer := &kafka.Dialer{Timeout: 5 * time.Second, DualStack: true, TLS: k.cfg.TLS, SASLMechanism: k.cfg.SASL, ClientID: "foreshard"}
	g, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: group, Brokers: k.cfg.Brokers, Topics: []string{k.cfg.Topic}, Dialer: dialer,
		HeartbeatInterval: k.cfg.Session / beats, SessionTimeout: k.cfg.Session, RebalanceTimeout: joinTime, JoinGroupBackoff: joinPause,
		StartOffset: kafka.FirstOffset})
	if err != nil {
		return fmt.Errorf("join group %q: %w", group, err)
	}
	w := partitionWatch{k: k, known: k.parts}
	for tries := 0; ; tries++ {
		gen, err := g.Next(ctx)
		if ctx.Err() != nil {
			return g.Close()
		}
		if err != nil {
			k.joinNote(ctx, group, err, tries)
			if sleep(ctx, time.Second) != nil {
				return g.Close()
			}
			continue
		}
		tries = 0
		gen.Start(w.run)
		for _, a := range gen.Assignments[k.cfg.Topic] {
			gen.Start(func(held context.Context) {
				// The library's context ends with an error of its own; run's is a plain one.
				own, stop := context.WithCancel(ctx)
				defer stop()
				defer context.AfterFunc(held, stop)()
				run(own, Claim{Partition: a.ID, Noted: max(a.Offset, 0), Done: func(offset int64) error {
					return gen.CommitOffsets(map[string]map[int]int64{k.cfg.Topic: {a.ID: offset}})
				}})
				<-own.Done() // a function that returns ends the generation for all partitions
			})
		}
	}
}

// partitionWatch ends a generation of a group when the topic has another number of partitions, so that they are shared out anew. It remembers the
// number from generation to generation, which the library's own watch does not: a partition that is added between the assignment and the watch's
// first look would be nobody's.
type partitionWatch struct {
	k     *Kafka
	known int
}

// run returns when the number has changed and was seen twice: by then every broker knows of it, also the one whose answer the new assignment rests on.
func (w *partitionWatch) run(ctx context.Context) {
	seen := w.known
	for sleep(ctx, w.k.cfg.Session/2) == nil {
		n, err := w.k.find(ctx, w.k.cfg.Topic)
		if err != nil || n == 0 {
			continue // those who read and send say so
		}
		if n == seen && n != w.known {
			w.k.cfg.Note(fmt.Errorf("topic %q has %d partitions now, and had %d: they are shared out anew", w.k.cfg.Topic, n, w.known))
			w.known = n
			return
		}
		seen = n
	}
}

// hosts checks the addresses of brokers.
func hosts(list []string) error {
	for _, b := range list {
		if _, _, err := net.SplitHostPort(b); err != nil {
			return fmt.Errorf("broker %q: write host:port", b)
		}
	}
	return nil
}
