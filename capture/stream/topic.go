package stream

import (
	"context"
	"errors"
	"hash/fnv"
)

// Topic is an ordered log of records in partitions that outlives its readers and writers. Kafka is one; Memory is one for a single process.
type Topic interface {
	// Name is what streams and messages call it.
	Name() string
	// Partitions is their number when the topic was opened.
	Partitions() int
	// Send returns nil when every record is stored as safely as the topic can. After an error any of them may be stored, now or later. One call
	// at a time: a record is not sent before those before it are stored.
	Send(ctx context.Context, records []Record) error
	// Read hands on the messages of a partition from an offset on, in order. An empty run says that there is nothing new. It ends without an
	// error at offset until, if that is not negative, and else with ctx's error or fn's.
	Read(ctx context.Context, partition int, from, until int64, fn func([]Message) error) error
	// Ends are the offsets that the next record of each partition will get.
	Ends(ctx context.Context) ([]int64, error)
	// SetAside keeps a message that cannot be read where it can be looked at; it returns when it is stored.
	SetAside(ctx context.Context, m Message, reason string) error
	// Join makes this process one of a group that shares the partitions out among its members, until ctx ends. run is called on a goroutine of its
	// own for each partition this member has; its context ends when the partition may be another's.
	Join(ctx context.Context, group string, run func(ctx context.Context, c Claim)) error
	// Close gives connections back.
	Close() error
}

// Record is what is sent.
type Record struct {
	Partition int
	Value     []byte
}

// Message is what is read. Value is valid until the callback returns.
type Message struct {
	Partition int
	Offset    int64
	Value     []byte
}

// Claim is one partition that a member of a group has for now.
type Claim struct {
	Partition int
	// Noted is how far the group says the partition was planned when it was shared out, by whomever; 0: it says nothing.
	Noted int64
	// Done tells the topic how far the partition was planned, for displays of lag. Nothing rests on it.
	Done func(offset int64) error
}

// ErrRecreated says that the topic ends before an offset that was read from it: it is another topic of the same name.
var ErrRecreated = errors.New("the topic ends before what was read of it: it was deleted and made again, or it is another cluster")

// PartitionOf is the partition of a session: transactions stay in order because they stay in one.
func PartitionOf(session string, partitions int) int {
	h := fnv.New64a()
	h.Write([]byte(session)) //nolint:errcheck // a hash never fails
	return int(h.Sum64() % uint64(partitions))
}
