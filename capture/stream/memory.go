package stream

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Memory is a Topic inside one process: nothing outlives it, everything else is as with a broker.
type Memory struct {
	name  string
	mu    sync.Mutex
	fresh *sync.Cond
	parts [][][]byte
	aside []Message
}

var _ Topic = (*Memory)(nil)

// NewMemory makes an empty topic.
func NewMemory(name string, partitions int) *Memory {
	m := &Memory{name: name, parts: make([][][]byte, partitions)}
	m.fresh = sync.NewCond(&m.mu)
	return m
}

// Name returns the name it was made with.
func (m *Memory) Name() string { return m.name }

// Partitions returns their number.
func (m *Memory) Partitions() int { return len(m.parts) }

// Send stores copies.
func (m *Memory) Send(_ context.Context, records []Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range records {
		if r.Partition < 0 || r.Partition >= len(m.parts) {
			return fmt.Errorf("send to topic %q: no partition %d", m.name, r.Partition)
		}
		m.parts[r.Partition] = append(m.parts[r.Partition], slices.Clone(r.Value))
	}
	m.fresh.Broadcast()
	return nil
}

// Read waits for what is not there yet.
func (m *Memory) Read(ctx context.Context, partition int, from, until int64, fn func([]Message) error) error {
	defer context.AfterFunc(ctx, func() {
		m.mu.Lock() // not between a reader's look at ctx and its wait
		defer m.mu.Unlock()
		m.fresh.Broadcast()
	})()
	if end := m.end(partition); from > end {
		return fmt.Errorf("read topic %q partition %d from %d, it ends at %d: %w", m.name, partition, from, end, ErrRecreated)
	}
	for until < 0 || from < until {
		m.mu.Lock()
		for int64(len(m.parts[partition])) <= from && ctx.Err() == nil {
			m.fresh.Wait()
		}
		var run []Message
		for i, v := range m.parts[partition][min(from, int64(len(m.parts[partition]))):] {
			run = append(run, Message{partition, from + int64(i), v})
		}
		m.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
		from += int64(len(run))
		if err := fn(run); err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) end(partition int) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.parts[partition]))
}

// Ends returns the lengths.
func (m *Memory) Ends(context.Context) ([]int64, error) {
	out := make([]int64, len(m.parts))
	for i := range out {
		out[i] = m.end(i)
	}
	return out, nil
}

// SetAside keeps a copy.
func (m *Memory) SetAside(_ context.Context, msg Message, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	msg.Value = slices.Clone(msg.Value)
	m.aside = append(m.aside, msg)
	return nil
}

// Aside returns what was set aside.
func (m *Memory) Aside() []Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.aside)
}

// Join gives every partition to the one member there is.
func (m *Memory) Join(ctx context.Context, _ string, run func(ctx context.Context, c Claim)) error {
	var wg sync.WaitGroup
	for p := range m.parts {
		wg.Go(func() { run(ctx, Claim{Partition: p, Done: func(int64) error { return nil }}) })
	}
	<-ctx.Done()
	wg.Wait()
	return ctx.Err()
}

// Close does nothing: there is nothing to give back.
func (m *Memory) Close() error { return nil }
