package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foreshard/foreshard/capture/tail"
	"github.com/foreshard/foreshard/cmd/foreshard/metric"
	"github.com/foreshard/foreshard/reports"
)

// sourceLog is the label of what comes from followed or read log files.
const sourceLog = "log"

// reading is what was read of a source so far, by this process.
type reading struct {
	events, bytes, records, statements int64
	dropped, droppedBytes              map[string]int64
}

// emit gives the metrics that every source has.
func (r *reading) emit(emit metric.Emit, source string) {
	emit("capture_events_total", float64(r.events), source)
	emit("capture_read_bytes_total", float64(r.bytes), source)
	emit("capture_records_total", float64(r.records), source)
	for _, cause := range keysOf(r.dropped) {
		emit("capture_dropped_total", float64(r.dropped[cause]), source, cause)
	}
	for _, cause := range keysOf(r.droppedBytes) {
		emit("capture_dropped_bytes_total", float64(r.droppedBytes[cause]), source, cause)
	}
}

// look is where following a log stands after a look at its files.
type look struct {
	read     reading
	files    tail.Counts
	unread   int64     // bytes
	last     time.Time // of the last record
	problems []error
}

// logStatus is what a verb that follows a log tells of the log. It is safe for concurrent use.
type logStatus struct {
	source string
	poll   time.Duration

	mu       sync.Mutex
	now      look
	looked   time.Time
	problems []string
	mark     reading // as of the last judgement of what was read
	foreign  string  // that judgement, "" well
}

// look takes in a look at the files and returns the problems that are new since the last one.
func (s *logStatus) look(l look, at time.Time) (fresh []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.looked = l, at
	var problems []string
	for _, err := range l.problems {
		problems = append(problems, err.Error())
	}
	if l.files.Files == 0 && len(problems) == 0 {
		why := "no log file is found, or none has a whole line yet"
		if s.source != sourceLog {
			why = "nothing was received yet, or no whole line"
		}
		problems = append(problems, why)
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
func (s *logStatus) understood() string {
	r := &s.now.read
	if r.records >= judgeRecords && r.statements == 0 {
		return fmt.Sprintf("%s records were read and no statement is in them: ask foreshard doctor what the server must log", reports.Count(r.records))
	}
	if bytes := r.bytes - s.mark.bytes; bytes >= judgeBytes {
		s.foreign = ""
		if dropped := sum(r.droppedBytes) - sum(s.mark.droppedBytes); dropped > bytes/2 {
			s.foreign = fmt.Sprintf("%s of the last %s of log were not understood: log_line_prefix may have been changed, or another program writes to the file", reports.Size(dropped), reports.Size(bytes))
		}
		s.mark = *r
	}
	return s.foreign
}

// unready says why the log cannot be relied on, "" if it can.
func (s *logStatus) unready(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.looked.IsZero():
		return "the files have not been looked at yet"
	case now.Sub(s.looked) > 10*s.poll+time.Minute:
		return "the last look at the files was long ago: " + s.looked.UTC().Format(time.RFC3339)
	}
	return strings.Join(s.problems, "\n")
}

// lag is the age of the last record read in seconds, 0 if all of the log is read. A reader that is held up does not look either: then nobody knows
// what was written since.
func (s *logStatus) lag(now time.Time) float64 {
	if s.now.unread == 0 && now.Sub(s.looked) <= 10*s.poll+10*time.Second {
		return 0
	}
	return max(0, now.Sub(s.now.last).Seconds())
}

// emit gives the metrics of the files as of the last look.
func (s *logStatus) emit(emit metric.Emit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	emit("capture_lost_bytes_total", float64(s.now.files.Lost), s.source)
	emit("capture_truncated_total", float64(s.now.files.Truncated), s.source)
	emit("capture_files", float64(s.now.files.Files), s.source)
	emit("capture_unread_bytes", float64(s.now.unread), s.source)
	emit("capture_problems", float64(len(s.problems)), s.source)
	if !s.now.last.IsZero() {
		emit("capture_lag_seconds", s.lag(time.Now()), s.source)
	}
}

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func sum(m map[string]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}
