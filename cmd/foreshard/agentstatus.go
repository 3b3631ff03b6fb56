package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/cmd/foreshard/metric"
	"github.com/foreshard/foreshard/reports"
)

// unreachableTime is how long the brokers may fail until a capture is not ready: an election of a leader takes less.
const unreachableTime = 30 * time.Second

// tellEvery is how often the verbs that have nothing else to say tell how things are.
const tellEvery = time.Minute

// agentStatus is what a capturing agent tells of what it read and sent. It is safe for concurrent use.
type agentStatus struct {
	source string
	full   int64 // bytes that may wait
	drop   bool  // what happens then

	mu       sync.Mutex
	waiting  func() int64 // nil before the agent is open
	ledger   stream.Ledger
	events   int64
	batches  int64
	records  int64
	failures int64
	sentAt   time.Time
	failing  time.Time // since when the brokers fail; zero: they do not
	failure  string
}

func (s *agentStatus) opened(a *stream.Agent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = a.Waiting
}

func (s *agentStatus) flushed(events int64, grown stream.Ledger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events += events
	s.ledger.Add(grown, 1)
}

func (s *agentStatus) sent(records int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches++
	s.records += int64(records)
	s.sentAt, s.failing, s.failure = at, time.Time{}, ""
}

func (s *agentStatus) failed(err error, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	if s.failing.IsZero() {
		s.failing = at
	}
	s.failure = err.Error()
}

// read is what was read and made durable.
func (s *agentStatus) read() reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	var l stream.Ledger
	l.Add(s.ledger, 1)
	return reading{events: s.events, bytes: l.Bytes, records: l.Records, statements: l.Statements, dropped: l.Dropped, droppedBytes: l.DroppedBytes}
}

// unready says why what is read does not get to the topic, "" if it does.
func (s *agentStatus) unready(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.waiting != nil && s.waiting() >= s.full && s.drop:
		return fmt.Sprintf("the state directory holds its %s, and events are given up and counted", reports.Size(s.full))
	case s.waiting != nil && s.waiting() >= s.full:
		return fmt.Sprintf("the state directory holds its %s, and reading waits", reports.Size(s.full))
	case !s.failing.IsZero() && now.Sub(s.failing) >= unreachableTime:
		return fmt.Sprintf("nothing could be sent for %s: %s", now.Sub(s.failing).Round(time.Second), s.failure)
	}
	return ""
}

// emit gives the metrics.
func (s *agentStatus) emit(emit metric.Emit) {
	read := s.read()
	read.emit(emit, s.source)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting != nil {
		emit("capture_spool_bytes", float64(s.waiting()), s.source)
	}
	emit("capture_spool_max_bytes", float64(s.full), s.source)
	emit("capture_batches_sent_total", float64(s.batches), s.source)
	emit("capture_records_sent_total", float64(s.records), s.source)
	emit("capture_send_failures_total", float64(s.failures), s.source)
	switch {
	case !s.failing.IsZero():
		emit("capture_broker_up", 0, s.source)
	case !s.sentAt.IsZero():
		emit("capture_broker_up", 1, s.source)
	}
	if !s.sentAt.IsZero() {
		emit("capture_last_send_timestamp_seconds", float64(s.sentAt.UnixMilli())/1000, s.source)
	}
}

// line says how things are since the process began, for people.
func (s *agentStatus) line() (line string, numbers []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var waiting int64
	if s.waiting != nil {
		waiting = s.waiting()
	}
	line = fmt.Sprintf("%s: %s events read (%s), %s records sent, %s wait to be sent", s.source, reports.Count(s.events), reports.Size(s.ledger.Bytes),
		reports.Count(s.records), reports.Size(waiting))
	numbers = []any{"events", s.events, "bytes", s.ledger.Bytes, "records_sent", s.records, "spool_bytes", waiting}
	if n := s.ledger.Dropped[stream.DropFull]; n > 0 {
		line += fmt.Sprintf(", %s events given up", reports.Count(n))
		numbers = append(numbers, "given_up", n)
	}
	return line, numbers
}
