package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/reports"
)

// runStatus is what an agent tells of itself, on standard error and over HTTP. It is safe for concurrent use.
type runStatus struct {
	stream string
	poll   time.Duration

	mu        sync.Mutex
	now       analysis.FollowStatus
	looked    time.Time // last look at the files
	committed analysis.Ledger
	commitAt  time.Time
	commits   int64
	problems  []string
	mark      analysis.Ledger    // as of the last judgement of what was read
	foreign   string             // that judgement, "" well
	ready     map[string]float64 // share of calls by candidate, of the last report
}

func newRunStatus(stream string, poll time.Duration) *runStatus {
	return &runStatus{stream: stream, poll: poll, ready: map[string]float64{}}
}

// look takes in a look at the files and returns the problems that are new since the last one.
func (s *runStatus) look(st analysis.FollowStatus, at time.Time) (fresh []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.looked = st, at
	var problems []string
	for _, err := range st.Problems {
		problems = append(problems, err.Error())
	}
	if st.Files.Files == 0 && len(problems) == 0 {
		problems = append(problems, "no log file is found, or none has a whole line yet")
	}
	if why := s.understood(); why != "" {
		problems = append(problems, why)
	}
	for _, p := range problems {
		if !slices.Contains(s.problems, p) {
			fresh = append(fresh, p)
		}
	}
	s.problems = problems
	return fresh
}

// How much is read before it is judged whether it is understood.
const (
	judgeBytes   = 256 << 10
	judgeRecords = 1000
)

// understood says why what is read is hardly the traffic, "" if it is. An agent that reads and counts nothing would look like success.
func (s *runStatus) understood() string {
	l := s.now.Ledger
	if l.Records >= judgeRecords && l.Statements == 0 {
		return fmt.Sprintf("%s records were read and no statement is in them: ask foreshard doctor what the server must log", reports.Count(l.Records))
	}
	if bytes := l.Bytes - s.mark.Bytes; bytes >= judgeBytes {
		s.foreign = ""
		if dropped := sum(l.DroppedBytes) - sum(s.mark.DroppedBytes); dropped > bytes/2 {
			s.foreign = fmt.Sprintf("%s of the last %s of log were not understood: log_line_prefix may have been changed, or another program writes to the file", reports.Size(dropped), reports.Size(bytes))
		}
		s.mark = l
	}
	return s.foreign
}

// commit takes in a commit and says how things are.
func (s *runStatus) commit(total analysis.Ledger, at time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := total.Executions - s.committed.Executions
	s.committed, s.commitAt = total, at
	s.commits++
	line := fmt.Sprintf("%s executions committed (+%s) · %s read · %d files · %s behind", reports.Count(total.Executions), reports.Count(added), reports.Size(total.Bytes), s.now.Files.Files, reports.Size(s.now.Unread))
	if n := sum(total.DroppedBytes); n > 0 {
		line += fmt.Sprintf(" · %s dropped (%s)", reports.Size(n), strings.Join(keysOf(total.DroppedBytes), ", "))
	}
	if n := s.now.Files.Lost; n > 0 {
		line += fmt.Sprintf(" · %s lost in files that were cut or deleted", reports.Size(n))
	}
	return line
}

func (s *runStatus) report(r *analysis.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range r.Candidates {
		if c.Calls.Total > 0 {
			s.ready[c.Name] = c.Calls.ByReadiness["ready"] / c.Calls.Total
		}
	}
}

// unready says why the agent is not ready, "" if it is.
func (s *runStatus) unready(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.looked.IsZero():
		return "the files have not been looked at yet"
	case now.Sub(s.looked) > 10*s.poll+time.Minute:
		return "the last look at the files was long ago: " + s.looked.UTC().Format(time.RFC3339)
	case len(s.problems) > 0:
		return strings.Join(s.problems, "\n")
	}
	return ""
}

// serve answers on an address until stop is called. An empty address serves nothing.
func (s *runStatus) serve(address string) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(s); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := s.unready(time.Now()); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w: give another --listen, or an empty one for none", err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		err := server.Shutdown(ctx)
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("serve metrics: %w", served))
		}
		return err
	}, nil
}

// The metrics. Labels come from closed sets: the stream, reasons of the ledger, names of candidates.
var _ prometheus.Collector = (*runStatus)(nil)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("foreshard_"+name, help, labels, nil)
}

// Describe describes nothing: which reasons and candidates there are shows with time.
func (s *runStatus) Describe(chan<- *prometheus.Desc) {}

// Collect gives the metrics as of the last look at the files.
func (s *runStatus) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	source := []string{s.stream}
	counter(desc("capture_events_total", "Executions seen.", "source"), s.now.Events, source...)
	counter(desc("capture_read_bytes_total", "Bytes of log consumed.", "source"), s.now.Ledger.Bytes, source...)
	counter(desc("capture_records_total", "Records read.", "source"), s.now.Ledger.Records, source...)
	dropped := desc("capture_dropped_total", "What was not understood as a record, by cause.", "source", "cause")
	droppedBytes := desc("capture_dropped_bytes_total", "Bytes outside records, by cause.", "source", "cause")
	for _, cause := range keysOf(s.now.Ledger.DroppedBytes) {
		counter(dropped, s.now.Ledger.Dropped[cause], s.stream, cause)
		counter(droppedBytes, s.now.Ledger.DroppedBytes[cause], s.stream, cause)
	}
	counter(desc("capture_lost_bytes_total", "Bytes seen in files that were cut or deleted before they could be read.", "source"), s.now.Files.Lost, source...)
	counter(desc("capture_truncated_total", "Files cut in place.", "source"), s.now.Files.Truncated, source...)
	gauge(desc("capture_files", "Files followed.", "source"), float64(s.now.Files.Files), source...)
	gauge(desc("capture_unread_bytes", "Bytes that are there and not consumed.", "source"), float64(s.now.Unread), source...)
	gauge(desc("capture_problems", "Files that could not be read at the last look.", "source"), float64(len(s.problems)), source...)
	if !s.now.Last.IsZero() {
		lag := 0.0
		if s.now.Unread > 0 {
			lag = max(0, s.looked.Sub(s.now.Last).Seconds())
		}
		gauge(desc("capture_lag_seconds", "Age of the last record read, 0 if all of the log is read.", "source"), lag, source...)
	}
	counter(desc("plan_executions_total", "Executions committed."), s.committed.Executions)
	counter(desc("plan_commits_total", "Commits to the warehouse."), s.commits)
	if !s.commitAt.IsZero() {
		gauge(desc("plan_last_commit_timestamp_seconds", "When the last commit was made."), float64(s.commitAt.UnixMilli())/1000)
	}
	ready := desc("ready_ratio", "Share of calls that are ready, of the last report.", "candidate")
	for _, name := range keysOf(s.ready) {
		gauge(ready, s.ready[name], name)
	}
	gauge(desc("build_info", "1.", "version", "go"), 1, plannerVersion(), runtime.Version())
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sum(m map[string]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}
