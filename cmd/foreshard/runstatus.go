package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/cmd/foreshard/metric"
	"github.com/foreshard/foreshard/reports"
)

// runStatus is what run tells of itself, on standard error and over HTTP. It is safe for concurrent use.
type runStatus struct {
	log logStatus

	mu        sync.Mutex
	committed analysis.Ledger
	commitAt  time.Time
	commits   int64
	ready     map[string]float64 // share of calls by candidate, of the last report
}

func newRunStatus(poll time.Duration) *runStatus {
	return &runStatus{log: logStatus{source: sourceLog, poll: poll}, ready: map[string]float64{}}
}

// look takes in a look at the files and returns the problems that are new since the last one.
func (s *runStatus) look(st analysis.FollowStatus, at time.Time) (fresh []string) {
	l := st.Ledger
	return s.log.look(look{files: st.Files, unread: st.Unread, last: st.Last, problems: st.Problems,
		read: reading{events: st.Events, bytes: l.Bytes, records: l.Records, statements: l.Statements, dropped: l.Dropped, droppedBytes: l.DroppedBytes}}, at)
}

// commit takes in a commit and says how things are.
func (s *runStatus) commit(total analysis.Ledger, at time.Time) (line string, numbers []any) {
	s.log.mu.Lock()
	now := s.log.now
	s.log.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	added := total.Executions - s.committed.Executions
	s.committed, s.commitAt = total, at
	s.commits++
	line = fmt.Sprintf("%s executions committed (+%s) · %s read · %d files · %s behind", reports.Count(total.Executions), reports.Count(added), reports.Size(total.Bytes), now.files.Files, reports.Size(now.unread))
	numbers = []any{"executions", total.Executions, "added", added, "bytes", total.Bytes, "files", now.files.Files, "unread_bytes", now.unread}
	if n := sum(total.DroppedBytes); n > 0 {
		line += fmt.Sprintf(" · %s dropped (%s)", reports.Size(n), strings.Join(keysOf(total.DroppedBytes), ", "))
		numbers = append(numbers, "dropped_bytes", n)
	}
	if n := now.files.Lost; n > 0 {
		line += fmt.Sprintf(" · %s lost in files that were cut or deleted", reports.Size(n))
		numbers = append(numbers, "lost_bytes", n)
	}
	return line, numbers
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

// emit gives the metrics as of the last look at the files and the last commit.
func (s *runStatus) emit(emit metric.Emit) {
	s.log.mu.Lock()
	read := s.log.now.read
	s.log.mu.Unlock()
	read.emit(emit, s.log.source)
	s.log.emit(emit)
	s.mu.Lock()
	defer s.mu.Unlock()
	emit("plan_executions_total", float64(s.committed.Executions))
	emit("plan_commits_total", float64(s.commits))
	if !s.commitAt.IsZero() {
		emit("plan_last_commit_timestamp_seconds", float64(s.commitAt.UnixMilli())/1000)
	}
	for _, name := range keysOf(s.ready) {
		emit("ready_ratio", s.ready[name], name)
	}
}
