// Package metric names what foreshard measures of itself: it turns numbers into Prometheus metrics by one table, of which that of
// docs/operations.md is made, so that a metric without a help text, with a label that is not declared, or in two meanings cannot be. It imports
// nothing of foreshard.
package metric

import (
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Kind is how a metric behaves.
type Kind uint8

// The kinds: a counter never falls while the process lives.
const (
	Counter Kind = iota + 1
	Gauge
)

// Metric is one line of the table. Labels come from closed sets: never a text of SQL, a user, an address of a client.
type Metric struct {
	Name   string // without the prefix foreshard_
	Kind   Kind
	Help   string
	Labels []string
}

// Table lists the metrics, sorted by what they are about.
func Table() []Metric {
	source, partition := []string{"source"}, []string{"partition"}
	return []Metric{
		{"capture_events_total", Counter, "Executions and other events read.", source},
		{"capture_read_bytes_total", Counter, "Bytes consumed.", source},
		{"capture_records_total", Counter, "Records read.", source},
		{"capture_dropped_total", Counter, "Records and events that are no evidence, by cause.", []string{"source", "cause"}},
		{"capture_dropped_bytes_total", Counter, "Bytes outside records, by cause.", []string{"source", "cause"}},
		{"capture_lost_bytes_total", Counter, "Bytes seen in files that were cut or deleted before they could be read.", source},
		{"capture_truncated_total", Counter, "Files cut in place.", source},
		{"capture_files", Gauge, "Files followed.", source},
		{"capture_unread_bytes", Gauge, "Bytes that are there and not consumed.", source},
		{"capture_problems", Gauge, "Reasons why what is read cannot be relied on, as /readyz lists them.", source},
		{"capture_lag_seconds", Gauge, "Age of the last record read; 0 if all of the log is read.", source},
		{"capture_spool_bytes", Gauge, "Bytes in the state directory that wait to be sent.", source},
		{"capture_spool_max_bytes", Gauge, "Bytes that may wait there.", source},
		{"capture_batches_sent_total", Counter, "Batches stored in the topic.", source},
		{"capture_records_sent_total", Counter, "Kafka records stored in the topic.", source},
		{"capture_send_failures_total", Counter, "Tries to send that failed and were made again.", source},
		{"capture_last_send_timestamp_seconds", Gauge, "When a batch was last stored.", source},
		{"capture_broker_up", Gauge, "1 if the last try to send succeeded, 0 if it failed; absent before the first.", source},

		{"plan_executions_total", Counter, "Executions committed.", nil},
		{"plan_commits_total", Counter, "Commits to the warehouse.", nil},
		{"plan_last_commit_timestamp_seconds", Gauge, "When the last commit was made.", nil},
		{"plan_claimed_partitions", Gauge, "Partitions that this planner has now.", nil},
		{"plan_broker_up", Gauge, "1 if the brokers answered when they were last asked, else 0; absent before the first time.", nil},
		{"plan_partition_offset", Gauge, "Offset up to which a partition is committed.", partition},
		{"plan_partition_lag", Gauge, "Kafka records that are in the topic and not committed, of a partition this planner has.", partition},
		{"plan_partition_executions_total", Counter, "Executions committed, by partition.", partition},
		{"plan_partition_commits_total", Counter, "Commits, by partition.", partition},
		{"plan_partition_last_commit_timestamp_seconds", Gauge, "When a partition was last committed.", partition},
		{"plan_missing_total", Counter, "Events that were sent and are not in the topic any more: retention was faster.", partition},
		{"plan_unreadable_total", Counter, "Kafka records set aside because they cannot be read.", partition},
		{"plan_repeated_total", Counter, "Kafka records sent again and counted once.", partition},
		{"plan_conflicts_total", Counter, "Commits refused because another planner had committed the partition.", partition},
		{"plan_failures_total", Counter, "Failures after which a partition was begun again from its last commit.", partition},

		{"ready_ratio", Gauge, "Share of calls that are ready, of the last report.", []string{"candidate"}},

		{"service_ready", Gauge, "1 if /readyz says so, else 0.", nil},
		{"job_runs_total", Counter, "Times a background job was begun.", []string{"task"}},
		{"job_failures_total", Counter, "Times it failed.", []string{"task"}},
		{"job_last_success_timestamp_seconds", Gauge, "When it last succeeded.", []string{"task"}},
		{"build_info", Gauge, "1, with the versions of the program and of Go.", []string{"version", "go"}},
	}
}

// Meter emits metrics of the table. It is a prometheus.Collector of a function that is called at each scrape.
type Meter func(emit Emit)

// Emit gives one metric's value, with the values of its labels in the table's order.
type Emit func(name string, value float64, labels ...string)

var _ prometheus.Collector = Meter(nil)

type described struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

var byName = sync.OnceValue(func() map[string]described {
	all := map[string]described{}
	for _, m := range Table() {
		if _, twice := all[m.Name]; twice {
			panic(fmt.Sprintf("metric %q is in the table twice", m.Name))
		}
		kind := prometheus.GaugeValue
		if m.Kind == Counter {
			kind = prometheus.CounterValue
		}
		all[m.Name] = described{prometheus.NewDesc("foreshard_"+m.Name, m.Help, m.Labels, nil), kind}
	}
	return all
})

// Describe describes nothing: which label values there are shows with time.
func (m Meter) Describe(chan<- *prometheus.Desc) {}

// Collect emits the metrics. One that is not in the table is an error of the scrape.
func (m Meter) Collect(out chan<- prometheus.Metric) {
	m(func(name string, value float64, labels ...string) {
		d, ok := byName()[name]
		if !ok {
			out <- prometheus.NewInvalidMetric(prometheus.NewDesc("foreshard_"+name, "", nil, nil), fmt.Errorf("metric %q is not in the table", name))
			return
		}
		made, err := prometheus.NewConstMetric(d.desc, d.kind, value, labels...)
		if err != nil {
			made = prometheus.NewInvalidMetric(d.desc, err)
		}
		out <- made
	})
}
