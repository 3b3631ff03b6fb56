package pgstat

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// delta compares the rows with those of the look before. The rule for a row: what it counts is new if the row is, if it says so itself (17 and
// later), if the whole view was reset, or if any of its counters fell; else it is the difference. Where rows were evicted in between, a row may
// have gone and come again, so every number is a lower bound.
func (p *Poller) delta(ctx context.Context, rows map[key]counters, now info) (*Delta, error) {
	d := &Delta{Evictions: -1, Statements: []Statement{}}
	d.Reset = !now.reset.Equal(p.lastInfo.reset)
	if now.dealloc >= 0 {
		d.Evictions = now.dealloc - p.lastInfo.dealloc
		if d.Evictions < 0 || d.Reset {
			d.Evictions = now.dealloc // it counts from the reset
		}
	}
	for k := range p.before {
		if _, ok := rows[k]; !ok {
			d.Vanished++
		}
	}
	databases, users, err := p.names(ctx)
	if err != nil {
		return nil, err
	}
	restarted := !now.started.Equal(p.lastInfo.started)
	fell := false
	type group struct{ database, user, text, opaque string }
	sums := map[group]*Statement{}
	for k, c := range rows {
		old, known := p.before[k]
		calls, ms := c.calls, c.ms
		switch {
		case !known, d.Reset:
		case c.calls < old.calls, c.rows < old.rows, c.ms < old.ms, !c.since.Equal(old.since):
			fell = true
		default:
			calls, ms = c.calls-old.calls, c.ms-old.ms
		}
		if calls == 0 {
			continue
		}
		t, ok := p.texts[k]
		if !ok {
			t = text{opaque: "the row was gone when its text was asked for"}
		}
		g := group{databases[k.database], users[k.user], t.template, t.opaque}
		s := sums[g]
		if s == nil {
			s = &Statement{Database: g.database, User: g.user, Text: g.text, Opaque: g.opaque}
			sums[g] = s
		}
		s.Calls += calls
		s.Time += time.Duration(ms * float64(time.Millisecond))
	}
	// Before 14 evictions are not told: rows that are gone, or a view that is nearly full, are their sign. A row that fell was reset by itself. A
	// restart loses what came after the last time the file was written, unless the server was shut down.
	bound := d.Reset || fell || restarted || d.Vanished > 0 || d.Evictions > 0 || d.Evictions < 0 && int64(len(rows))*10 >= p.max*9
	for _, s := range sums {
		switch {
		case p.nested:
			s.Evidence = Unclear
		case bound, p.version >= 140000 && utility(s.Text):
			s.Evidence = AtLeast
		}
		d.Statements = append(d.Statements, *s)
	}
	d.Reset = d.Reset || fell
	slices.SortFunc(d.Statements, func(a, b Statement) int {
		return cmp.Or(cmp.Compare(a.Database, b.Database), cmp.Compare(a.User, b.User), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Opaque, b.Opaque))
	})
	return d, nil
}

// utility says that a statement is none of those that are planned. From 14 on the server counts a utility statement that was prepared by name
// once per session, however often it ran: measured on 14 to 18.
func utility(text string) bool {
	verb, _, _ := strings.Cut(text, " ")
	switch strings.TrimLeft(verb, "(") {
	case "select", "insert", "update", "delete", "merge", "with", "values", "table":
		return false
	}
	return true
}

// names are those of databases and roles by oid; they can be renamed.
func (p *Poller) names(ctx context.Context) (databases, users map[uint32]string, err error) {
	databases, users = map[uint32]string{}, map[uint32]string{}
	rows, err := p.conn.Query(ctx, `select true, oid, datname from pg_database union all select false, oid, rolname from pg_roles`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var database bool
		var oid uint32
		var name string
		if err := rows.Scan(&database, &oid, &name); err != nil {
			return nil, nil, err
		}
		if database {
			databases[oid] = name
		} else {
			users[oid] = name
		}
	}
	return databases, users, rows.Err()
}
