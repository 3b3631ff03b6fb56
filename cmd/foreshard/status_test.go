package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/partition"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/cmd/foreshard/metric"
)

// compareMetrics fails if what a status emits is not exactly what is wanted, a line each.
func compareMetrics(t *testing.T, m metric.Meter, want string) {
	t.Helper()
	if got := scraped(t, m); strings.Join(got, "\n") != want {
		t.Errorf("the metrics are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// scraped is what a scrape sees, sorted by name and labels.
func scraped(t *testing.T, m metric.Meter) (lines []string) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func TestAgentStatus(t *testing.T) {
	s := &agentStatus{source: "log", full: 100}
	waiting := int64(40)
	s.waiting = func() int64 { return waiting }
	now := time.Unix(1000, 0)
	unready := func(at time.Time, want string) {
		t.Helper()
		if why := s.unready(at); (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("it is not ready because of %q, want %q", why, want)
		}
	}
	unready(now, "")
	s.flushed(3, stream.Ledger{Bytes: 50, Records: 4, Statements: 3, Dropped: map[string]int64{"foreign": 1}, DroppedBytes: map[string]int64{"foreign": 8}})
	s.flushed(0, stream.Ledger{Bytes: 10, Dropped: map[string]int64{stream.DropFull: 5}})
	s.failed(errors.New("no broker"), now)
	s.failed(errors.New("still no broker"), now.Add(20*time.Second))
	unready(now.Add(29*time.Second), "")
	unready(now.Add(30*time.Second), "nothing could be sent for 30s: still no broker")
	compareMetrics(t, s.emit, `foreshard_capture_batches_sent_total{source="log"} 0
foreshard_capture_broker_up{source="log"} 0
foreshard_capture_dropped_bytes_total{cause="foreign",source="log"} 8
foreshard_capture_dropped_total{cause="foreign",source="log"} 1
foreshard_capture_dropped_total{cause="spool_full",source="log"} 5
foreshard_capture_events_total{source="log"} 3
foreshard_capture_read_bytes_total{source="log"} 60
foreshard_capture_records_sent_total{source="log"} 0
foreshard_capture_records_total{source="log"} 4
foreshard_capture_send_failures_total{source="log"} 2
foreshard_capture_spool_bytes{source="log"} 40
foreshard_capture_spool_max_bytes{source="log"} 100`)
	s.sent(7, now.Add(40*time.Second))
	unready(now.Add(time.Hour), "")
	waiting = 100
	unready(now, "the state directory holds its 100 bytes, and reading waits")
	s.drop = true
	unready(now, "events are given up and counted")
	if got := scraped(t, s.emit); !slices.Contains(got, `foreshard_capture_broker_up{source="log"} 1`) || !slices.Contains(got, `foreshard_capture_last_send_timestamp_seconds{source="log"} 1040`) {
		t.Errorf("after a batch was sent the metrics are\n%s", strings.Join(got, "\n"))
	}
}

func TestPlanStatus(t *testing.T) {
	now := time.Unix(1000, 0)
	s := newPlanStatus(now)
	unready := func(at time.Time, want string) {
		t.Helper()
		if why := s.unready(at); (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("it is not ready because of %q, want %q", why, want)
		}
	}
	ledger := func(executions, missing int64) analysis.Ledger {
		return analysis.Ledger{Executions: executions, Dropped: map[string]int64{partition.DropMissing: missing, partition.DropUnreadable: 1}, Notes: map[string]int64{partition.NoteRepeated: 2}}
	}
	unready(now.Add(59*time.Second), "")
	unready(now.Add(time.Minute), "this planner has had no partition for 1m0s")
	for i, o := range []partition.Observation{
		{Partition: 4, What: partition.Begun, Offset: 10},
		{Partition: 4, What: partition.Committed, Offset: 12, Ledger: ledger(20, 0)},
		{Partition: 4, What: partition.Committed, Offset: 15, Ledger: ledger(30, 7)},
		{Partition: 4, What: partition.Failed, Err: errors.New("disk is full")},
		{Partition: 4, What: partition.Begun, Offset: 15},
		{Partition: 2, What: partition.Begun, Offset: 0},
		{Partition: 2, What: partition.Conflicted, Err: errors.New("conflict")},
	} {
		s.observe(o, now.Add(time.Duration(i)*time.Second))
	}
	unready(now.Add(time.Hour), "partition 4 fails and is begun again: disk is full")
	s.observe(partition.Observation{Partition: 4, What: partition.Committed, Offset: 16, Ledger: ledger(1, 0)}, now.Add(time.Minute))
	unready(now.Add(time.Hour), "")
	s.observe(partition.Observation{Partition: 2, What: partition.Released}, now.Add(time.Minute))
	topic := stream.NewMemory("t", 5)
	for range 3 {
		if err := topic.Send(t.Context(), []stream.Record{{Partition: 4, Value: []byte("x")}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.askEnds(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	s.parts[4].offset = 1 // the topic of this test is short
	compareMetrics(t, s.emit, `foreshard_plan_broker_up 1
foreshard_plan_claimed_partitions 1
foreshard_plan_commits_total 3
foreshard_plan_conflicts_total{partition="2"} 1
foreshard_plan_conflicts_total{partition="4"} 0
foreshard_plan_executions_total 31
foreshard_plan_failures_total{partition="2"} 0
foreshard_plan_failures_total{partition="4"} 1
foreshard_plan_last_commit_timestamp_seconds 1060
foreshard_plan_missing_total{partition="2"} 0
foreshard_plan_missing_total{partition="4"} 7
foreshard_plan_partition_commits_total{partition="2"} 0
foreshard_plan_partition_commits_total{partition="4"} 3
foreshard_plan_partition_executions_total{partition="2"} 0
foreshard_plan_partition_executions_total{partition="4"} 31
foreshard_plan_partition_lag{partition="4"} 2
foreshard_plan_partition_last_commit_timestamp_seconds{partition="4"} 1060
foreshard_plan_partition_offset{partition="4"} 1
foreshard_plan_repeated_total{partition="2"} 0
foreshard_plan_repeated_total{partition="4"} 4
foreshard_plan_unreadable_total{partition="2"} 0
foreshard_plan_unreadable_total{partition="4"} 2`)

	// A failure is over when nothing is left to commit.
	s.observe(partition.Observation{Partition: 4, What: partition.Failed, Err: errors.New("disk is full")}, now.Add(time.Minute))
	s.answered([]int64{0, 0, 0, 0, 5}, nil, now.Add(time.Minute))
	unready(now.Add(time.Minute), "disk is full")
	s.answered([]int64{0, 0, 0, 0, 1}, nil, now.Add(time.Minute))
	unready(now.Add(time.Minute), "")

	// Brokers that do not answer for a moment are no reason, and for long one.
	for i := range 3 {
		s.answered(nil, errors.New("connection refused"), now.Add(time.Minute+time.Duration(i)*time.Second))
	}
	unready(now.Add(time.Minute+29*time.Second), "")
	unready(now.Add(time.Minute+30*time.Second), "the brokers have not answered for 30s: connection refused")
	s.answered([]int64{0, 0, 0, 0, 1}, nil, now.Add(2*time.Minute))
	unready(now.Add(time.Hour), "")

	s.observe(partition.Observation{Partition: 4, What: partition.Released}, now.Add(time.Hour))
	unready(now.Add(time.Hour), "")
	unready(now.Add(2*time.Hour), "no partition for 1h0m0s")
}

// The table is what the README prints and the scrape checks against: every name is Prometheus's own way of naming.
func TestMetricNames(t *testing.T) {
	for _, m := range metric.Table() {
		if strings.HasSuffix(m.Name, "_total") != (m.Kind == metric.Counter) {
			t.Errorf("%s: a counter ends in _total and nothing else does", m.Name)
		}
		if !strings.HasSuffix(m.Help, ".") {
			t.Errorf("%s: its help is no sentence: %q", m.Name, m.Help)
		}
	}
}
