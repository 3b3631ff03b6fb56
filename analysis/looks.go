package analysis

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// lookInterval is the time between two looks at one server's statistics.
type lookInterval struct {
	source   string
	from, to time.Time
	bound    bool // what was counted in it is a lower bound
	unclear  bool // calls inside functions are in it
}

// A log is kept by the minute, looks fall where they do. Two seconds are more than a look is late; a stretch of ten minutes is long enough that
// what lies at its ends does not matter, and short enough to be found soon.
const (
	lookSlack   = 2 * time.Second
	longStretch = 10 * time.Minute
)

// loadLooks reads the looks of the report's window. Of looks that overlap the earlier ones count: two agents looked at one server. The first look
// of a chain has no interval.
func (b *builder) loadLooks(ctx context.Context) ([]lookInterval, error) {
	from, to := b.window()
	for name, at := range map[string]time.Time{"from_look": from, "to_look": to} {
		if err := b.db.Exec(ctx, fmt.Sprintf("SET VARIABLE %s = TIMESTAMPTZ '%s'", name, at.Format(time.RFC3339))); err != nil {
			return nil, err
		}
	}
	var out []lookInterval
	err := b.db.Each(ctx, query("looks.sql"), func(scan func(...any) error) error {
		var l lookInterval
		if err := scan(&l.source, &l.from, &l.to, &l.bound, &l.unclear); err != nil {
			return err
		}
		l.from, l.to = l.from.UTC(), l.to.UTC()
		n := len(out)
		overlaps := n > 0 && out[n-1].source == l.source && l.from.Before(out[n-1].to)
		if l.to.After(l.from) && !overlaps {
			out = append(out, l)
		}
		return nil
	})
	return out, err
}

// atLooks makes the table of the looks that queries are about.
func (b *builder) atLooks(ctx context.Context, looks []lookInterval) error {
	if err := b.db.Exec(ctx, `CREATE OR REPLACE TEMP TABLE at_looks (source VARCHAR, "from" TIMESTAMPTZ, "to" TIMESTAMPTZ)`); err != nil {
		return err
	}
	return b.db.Append(ctx, "at_looks", func(add func(...driver.Value) error) error {
		return addAll(looks, func(l lookInterval) error { return add(l.source, l.from, l.to) })
	})
}

// stretch is looks at one server without a gap, and the minutes of the log that they are compared with.
type stretch struct {
	looks []lookInterval
	core  minutes
	edges []time.Time // minutes beside them, in which a call may be that the other side has inside
}

// minutes are whole minutes: first to last, both in.
type minutes struct{ first, last time.Time }

// stretches cuts looks, sorted by source and time, where there is a gap, and finds the minutes of each.
func stretches(looks []lookInterval) []stretch {
	var out []stretch
	for from := 0; from < len(looks); {
		to := from + 1
		for to < len(looks) && looks[to].source == looks[from].source && looks[to].from.Equal(looks[to-1].to) {
			to++
		}
		out = append(out, newStretch(looks[from:to]))
		from = to
	}
	return out
}

// newStretch keeps of a long stretch what begins and ends with a minute, so that both sides mean the same time; of one that has no such part the
// minutes are those that it touches, and the log may have more in them.
func newStretch(looks []lookInterval) stretch {
	first, last := -1, -1
	for i, l := range looks {
		if _, ok := onMinute(l.from); ok && first < 0 {
			first = i
		}
		if _, ok := onMinute(l.to); ok {
			last = i
		}
	}
	if first >= 0 && last > first && looks[last].to.Sub(looks[first].from) >= longStretch {
		from, _ := onMinute(looks[first].from)
		to, _ := onMinute(looks[last].to)
		return stretch{looks: looks[first : last+1], core: minutes{from, to.Add(-time.Minute)}, edges: []time.Time{from.Add(-time.Minute), to}}
	}
	from, to := looks[0].from, looks[len(looks)-1].to
	return stretch{looks: looks, core: minutes{from.Truncate(time.Minute), to.Truncate(time.Minute)}}
}

// onMinute is the border of minutes that a time lies on.
func onMinute(t time.Time) (time.Time, bool) {
	m := t.Add(lookSlack).Truncate(time.Minute)
	d := t.Sub(m)
	return m, d >= -lookSlack && d <= lookSlack
}

// within keeps the looks that lie in the log's window, and the seconds that it is cut by.
func within(looks []lookInterval, log Window) []lookInterval {
	return slices.DeleteFunc(slices.Clone(looks), func(l lookInterval) bool {
		return l.from.Before(log.From.Add(-lookSlack)) || l.to.After(log.To.Add(lookSlack))
	})
}

// covered is the time that looks cover, each second once however many servers were looked at.
func covered(looks []lookInterval) time.Duration {
	sorted := slices.Clone(looks)
	slices.SortFunc(sorted, func(a, b lookInterval) int { return a.from.Compare(b.from) })
	var sum time.Duration
	var upto time.Time
	for _, l := range sorted {
		if l.from.After(upto) {
			upto = l.from
		}
		if l.to.After(upto) {
			sum += l.to.Sub(upto)
			upto = l.to
		}
	}
	return sum
}

// hasStatistics says whether the warehouse holds counts of servers.
func hasStatistics(s *warehouse.Snapshot) bool { return len(s.Files(warehouse.Statistics)) > 0 }
