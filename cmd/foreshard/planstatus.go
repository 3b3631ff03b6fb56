package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/partition"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/cmd/foreshard/metric"
	"github.com/foreshard/foreshard/reports"
)

// idleTime is how long a planner may be without a partition until it is not ready: joining a group and sharing it out anew take less.
const idleTime = time.Minute

// planStatus is what a planner tells of its partitions. It is safe for concurrent use.
type planStatus struct {
	mu    sync.Mutex
	parts map[int]*planned
	idle  time.Time // since when there is no partition; zero: there is one

	asked   bool      // the brokers were asked where partitions end
	silent  time.Time // since when they do not answer; zero: they do
	silence string    // why
}

// planned is one partition as this process has had it.
type planned struct {
	claimed             bool
	offset              int64
	end                 int64 // of the topic, when it was last asked; -1: not yet
	committed           time.Time
	commits             int64
	conflicts, failures int64
	failure             string     // the last one, until a commit or nothing being left to commit says that it is over
	before, now         planCounts // of all times it was begun but the last; of that
}

// planCounts are the numbers of a ledger that are watched.
type planCounts struct{ executions, missing, unreadable, repeated int64 }

func (c planCounts) plus(o planCounts) planCounts {
	return planCounts{c.executions + o.executions, c.missing + o.missing, c.unreadable + o.unreadable, c.repeated + o.repeated}
}

func countsOf(l *analysis.Ledger) planCounts {
	return planCounts{l.Executions, l.Dropped[partition.DropMissing], l.Dropped[partition.DropUnreadable], l.Notes[partition.NoteRepeated]}
}

func newPlanStatus(now time.Time) *planStatus {
	return &planStatus{parts: map[int]*planned{}, idle: now}
}

// observe takes in what happened to a partition.
func (s *planStatus) observe(o partition.Observation, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[o.Partition]
	if p == nil {
		p = &planned{end: -1}
		s.parts[o.Partition] = p
	}
	switch o.What {
	case partition.Begun:
		p.claimed, p.offset = true, o.Offset
		p.before, p.now = p.before.plus(p.now), planCounts{}
	case partition.Committed:
		p.offset, p.committed, p.failure, p.now = o.Offset, at, "", countsOf(&o.Ledger)
		p.commits++
	case partition.Conflicted:
		p.conflicts++
	case partition.Failed:
		p.failures++
		p.failure = o.Err.Error()
	case partition.Released:
		p.claimed, p.failure = false, ""
	}
	switch {
	case s.claimed() > 0:
		s.idle = time.Time{}
	case s.idle.IsZero():
		s.idle = at
	}
}

func (s *planStatus) claimed() (n int) {
	for _, p := range s.parts {
		if p.claimed {
			n++
		}
	}
	return n
}

// askEnds asks the topic where its partitions end, for the lag, and by that whether the brokers answer.
func (s *planStatus) askEnds(ctx context.Context, topic stream.Topic) error {
	ends, err := topic.Ends(ctx)
	s.answered(ends, err, time.Now())
	return err
}

func (s *planStatus) answered(ends []int64, err error, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true
	if err != nil {
		if s.silence = err.Error(); s.silent.IsZero() {
			s.silent = at
		}
		return
	}
	s.silent, s.silence = time.Time{}, ""
	for i, p := range s.parts {
		if i >= len(ends) {
			continue
		}
		if p.end = ends[i]; p.offset >= p.end {
			p.failure = ""
		}
	}
}

// unready says why nothing is planned, "" if something is.
func (s *planStatus) unready(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.idle.IsZero() && now.Sub(s.idle) >= idleTime {
		return fmt.Sprintf("this planner has had no partition for %s: there are more planners than partitions, or the brokers do not let it join its group", now.Sub(s.idle).Round(time.Second))
	}
	if !s.silent.IsZero() && now.Sub(s.silent) >= unreachableTime {
		return fmt.Sprintf("the brokers have not answered for %s: %s", now.Sub(s.silent).Round(time.Second), s.silence)
	}
	var failing []string
	for _, i := range slices.Sorted(maps.Keys(s.parts)) {
		if p := s.parts[i]; p.failure != "" {
			failing = append(failing, fmt.Sprintf("partition %d fails and is begun again: %s", i, p.failure))
		}
	}
	return strings.Join(failing, "\n")
}

// emit gives the metrics. Numbers of a partition go on from where they were when it comes back.
func (s *planStatus) emit(emit metric.Emit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var executions, commits int64
	var last time.Time
	for _, i := range slices.Sorted(maps.Keys(s.parts)) {
		p, label := s.parts[i], strconv.Itoa(i)
		all := p.before.plus(p.now)
		executions += all.executions
		commits += p.commits
		if p.claimed {
			emit("plan_partition_offset", float64(p.offset), label)
			if p.end >= 0 {
				emit("plan_partition_lag", float64(max(0, p.end-p.offset)), label)
			}
		}
		emit("plan_partition_executions_total", float64(all.executions), label)
		emit("plan_partition_commits_total", float64(p.commits), label)
		if !p.committed.IsZero() {
			emit("plan_partition_last_commit_timestamp_seconds", float64(p.committed.UnixMilli())/1000, label)
			if p.committed.After(last) {
				last = p.committed
			}
		}
		emit("plan_missing_total", float64(all.missing), label)
		emit("plan_unreadable_total", float64(all.unreadable), label)
		emit("plan_repeated_total", float64(all.repeated), label)
		emit("plan_conflicts_total", float64(p.conflicts), label)
		emit("plan_failures_total", float64(p.failures), label)
	}
	emit("plan_executions_total", float64(executions))
	emit("plan_commits_total", float64(commits))
	emit("plan_claimed_partitions", float64(s.claimed()))
	switch {
	case !s.silent.IsZero():
		emit("plan_broker_up", 0)
	case s.asked:
		emit("plan_broker_up", 1)
	}
	if !last.IsZero() {
		emit("plan_last_commit_timestamp_seconds", float64(last.UnixMilli())/1000)
	}
}

// line says how things are since the process began, for people.
func (s *planStatus) line() (line string, numbers []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var executions, lag int64
	for _, p := range s.parts {
		executions += p.before.executions + p.now.executions
		if p.claimed && p.end > p.offset {
			lag += p.end - p.offset
		}
	}
	return fmt.Sprintf("%d partitions, %s executions committed, %s records behind", s.claimed(), reports.Count(executions), reports.Count(lag)),
		[]any{"partitions", s.claimed(), "executions", executions, "records_behind", lag}
}
