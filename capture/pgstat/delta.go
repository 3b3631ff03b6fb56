package pgstat

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/foreshard/foreshard/capture"
)

// compared is what a look found out about the interval since the one before.
type compared struct {
	bound bool // every number is a lower bound
	fell  bool // a row was reset by itself
	// known says that rows which were not there before are new. Rows that were hidden before may be old.
	known bool
}

// delta compares the rows with those of the look before and writes events. The rule for a row: what it counts is new if the row is, if the whole
// view was reset since, or if any of its counters fell; else it is the difference. Where rows were evicted in between, a row may have gone and
// come again, so every number is a lower bound.
func (p *poller) delta(ctx context.Context, d *Delta, rows map[row]counters, now *look, after info) error {
	old := p.before
	if old != nil && old.another(after) {
		d.Incomparable, old = true, nil
	}
	if old == nil {
		d.Events = []capture.Event{p.event(d, p.evidence(d, true))}
		return nil
	}
	d.From = old.At
	d.Reset = !after.Reset.Equal(old.Reset)
	if after.Dealloc >= 0 {
		d.Evictions = after.Dealloc - old.Dealloc
		if d.Evictions < 0 || d.Reset {
			d.Evictions = after.Dealloc // it counts from the reset
		}
	}
	for r := range old.rows {
		if _, ok := now.rows[r]; !ok {
			d.Vanished++
		}
	}
	databases, users, err := p.names(ctx)
	if err != nil {
		return err
	}
	c := &compared{known: now.Hidden >= old.Hidden}
	sums := p.sum(d, old, rows, c, databases, users)
	// Before 14 evictions are not told: rows that are gone, or a view that is nearly full, are their sign. A row that fell was reset by itself. A
	// restart loses what came after the last time the file was written, unless the server was shut down.
	c.bound = d.Reset || c.fell || !c.known || !after.Started.Equal(old.Started) || d.Vanished > 0 || d.Evictions > 0 || d.Evictions < 0 && d.Rows*10 >= p.max*9
	d.Reset = d.Reset || c.fell
	d.Events = append(d.Events, p.event(d, p.evidence(d, c.bound || d.Hidden > 0)))
	for _, s := range sums {
		e := p.event(d, p.evidence(d, c.bound || p.version >= 140000 && s.text.utility))
		e.Database, e.User, e.Template = s.database, s.user, s.text.template
		e.Counted.Calls, e.Counted.Time = s.calls, s.time
		if e.Template == nil {
			e.Opaque = &s.text.opaque
			d.Opaque += s.calls
		}
		d.Events = append(d.Events, e)
	}
	return nil
}

func (p *poller) evidence(d *Delta, bound bool) capture.Evidence {
	switch {
	case d.Nested:
		return capture.Unclear
	case bound:
		return capture.AtLeast
	}
	return capture.Exact
}

// event is one of a delta. The session is the server, so that all of its events stay in order.
func (p *poller) event(d *Delta, e capture.Evidence) capture.Event {
	return capture.Event{Kind: capture.Statistics, Time: d.To, Session: d.Source, Client: d.Source, Counted: &capture.Counted{From: d.From, To: d.To, Evidence: e}}
}

// counted is the calls of one template.
type counted struct {
	database, user string
	text           text
	calls          int64
	time           time.Duration
}

// sum adds up the rows by database, role and template, sorted by those.
func (p *poller) sum(d *Delta, old *look, rows map[row]counters, c *compared, databases, users map[uint32]string) []*counted {
	type group struct {
		database, user string
		template       [16]byte
		opaque         capture.Opaque
	}
	sums := map[group]*counted{}
	for r, n := range rows {
		before, known := old.rows[p.key.row(r)]
		calls, ns := n.Calls, n.NS
		switch {
		case !known && !c.known && n.Since < old.At.UnixMicro():
			continue // it may have been there, hidden: what of it is new is not known
		case !known, d.Reset:
		case n.Calls < before.Calls, n.Rows < before.Rows, n.NS < before.NS, n.Since != before.Since:
			c.fell = true
		default:
			calls, ns = n.Calls-before.Calls, n.NS-before.NS
		}
		if calls == 0 {
			continue
		}
		t, ok := p.texts[r]
		if !ok {
			t = text{opaque: capture.Opaque{Reason: reasonLost}}
		}
		g := group{database: databases[r.database], user: users[r.user], opaque: t.opaque}
		if t.template != nil {
			g.template = t.template.ID
		}
		s := sums[g]
		if s == nil {
			s = &counted{database: g.database, user: g.user, text: t}
			sums[g] = s
		}
		s.calls += calls
		s.time += time.Duration(ns)
	}
	out := make([]*counted, 0, len(sums))
	for _, s := range sums {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *counted) int {
		return cmp.Or(cmp.Compare(a.database, b.database), cmp.Compare(a.user, b.user), a.text.compare(b.text))
	})
	return out
}

// compare puts texts first, then what has none.
func (t text) compare(o text) int {
	switch {
	case t.template == nil && o.template == nil:
		return cmp.Or(cmp.Compare(t.opaque.Reason, o.opaque.Reason), cmp.Compare(t.opaque.Hash, o.opaque.Hash), cmp.Compare(t.opaque.Bytes, o.opaque.Bytes))
	case t.template == nil:
		return 1
	case o.template == nil:
		return -1
	}
	return cmp.Or(cmp.Compare(t.template.Text, o.template.Text), bytes.Compare(t.template.ID[:], o.template.ID[:]))
}
