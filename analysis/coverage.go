package analysis

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// Coverage compares the log with what servers counted themselves, over the time that both cover: planned statements that did not fail, of which
// the server misses none. Utility statements are the log's alone: from 14 on a server counts those that are prepared by name once a session.
type Coverage struct {
	Sources      []StatisticsSource `json:"sources"`
	From         time.Time          `json:"from"`          // of what is compared
	To           time.Time          `json:"to"`            //
	Seconds      float64            `json:"seconds"`       // that are compared
	WindowShare  float64            `json:"window_share"`  // of the log's window
	Calls        int64              `json:"calls"`         // that the servers counted
	Logged       int64              `json:"logged"`        // of Calls, those that the log has
	Share        float64            `json:"share"`         // Logged of Calls
	AtLeast      bool               `json:"at_least"`      // Calls is a lower bound, so that Share is an upper one: rows were evicted, reset or hidden
	Unclear      bool               `json:"unclear"`       // calls inside functions are among what the servers counted, so that nothing is compared
	Unlogged     int64              `json:"unlogged"`      // calls that the servers counted and the log does not have, but for LoggedOpaque of them
	Extra        int64              `json:"extra"`         // calls that the log has beyond the servers': of other time, or other servers
	InFunctions  int64              `json:"in_functions"`  // calls with the text of a SQL function's body, which a server may count as a client's
	OpaqueCalls  int64              `json:"opaque_calls"`  // calls that the servers counted and whose text cannot be read; they are not in Calls
	LoggedOpaque int64              `json:"logged_opaque"` // calls of the log whose text cannot be read: as many of Unlogged may be these
	Databases    []DatabaseCoverage `json:"databases"`     // by name
	UnloggedFrom []UnloggedQuery    `json:"unlogged_from"` // templates with unlogged calls, most first
}

// StatisticsSource is one server that was looked at.
type StatisticsSource struct {
	Name    string    `json:"name"` // system identifier of its cluster, and address
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Looks   int64     `json:"looks"` // intervals between two looks
	AtLeast bool      `json:"at_least"`
	Unclear bool      `json:"unclear"`
}

// DatabaseCoverage is Coverage's numbers of one database.
type DatabaseCoverage struct {
	Database string  `json:"database"` // "" if the log does not tell databases, or it was dropped
	Calls    int64   `json:"calls"`
	Logged   int64   `json:"logged"`
	Unlogged int64   `json:"unlogged"`
	Extra    int64   `json:"extra"`
	Share    float64 `json:"share"`
}

// UnloggedQuery is a template with calls that the log does not have.
type UnloggedQuery struct {
	ID        string            `json:"id"`
	Text      string            `json:"text"`
	Databases []string          `json:"databases"`
	Calls     int64             `json:"calls"`    // that the servers counted
	Unlogged  int64             `json:"unlogged"` // of Calls
	TimeMS    float64           `json:"time_ms"`  // of Unlogged, in the server's executor
	Readiness map[string]string `json:"readiness"`
	Class     map[string]string `json:"class"` // by candidate
}

// Unlogged is what one candidate makes of the calls that the log does not have. It is beside the candidate's other numbers, never in them.
type Unlogged struct {
	Calls     Share `json:"calls"`
	TimeMS    Share `json:"time_ms"`
	Templates Share `json:"templates"`
}

// cover compares, if the warehouse holds statistics and a log.
func (b *builder) cover(ctx context.Context, log Window) (*Coverage, error) {
	all, err := b.loadLooks(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	c := &Coverage{Sources: statisticsSources(all), Databases: []DatabaseCoverage{}, UnloggedFrom: []UnloggedQuery{}}
	pieces := stretches(within(all, log))
	var looks []lookInterval
	for _, s := range pieces {
		looks = append(looks, s.looks...)
	}
	for _, l := range looks {
		c.AtLeast, c.Unclear = c.AtLeast || l.bound, c.Unclear || l.unclear
		if c.From.IsZero() || l.from.Before(c.From) {
			c.From = l.from
		}
		if l.to.After(c.To) {
			c.To = l.to
		}
	}
	c.Seconds = covered(looks).Seconds()
	if whole := log.To.Sub(log.From); whole > 0 {
		c.WindowShare = min(1, c.Seconds/whole.Seconds())
	}
	if c.Unclear {
		return c, nil
	}
	groups, err := b.compare(ctx, pieces, looks, c)
	if err != nil {
		return nil, err
	}
	b.tally(c, groups)
	return c, nil
}

func statisticsSources(looks []lookInterval) []StatisticsSource {
	out := []StatisticsSource{}
	for _, l := range looks {
		if n := len(out); n == 0 || out[n-1].Name != l.source {
			out = append(out, StatisticsSource{Name: l.source, From: l.from})
		}
		s := &out[len(out)-1]
		s.To, s.AtLeast, s.Unclear = l.to, s.AtLeast || l.bound, s.Unclear || l.unclear
		s.Looks++
	}
	return out
}

// groups are the statements of both sides.
type groups map[groupKey]*group

func (all groups) at(database, key string) *group {
	k := groupKey{database, key}
	g := all[k]
	if g == nil {
		g = &group{}
		all[k] = g
	}
	return g
}

// groupKey is what both sides call one statement.
type groupKey struct{ database, key string }

// group is the calls of one statement on both sides.
type group struct {
	counted        []countedTemplate // sorted by template
	calls          int64
	logged, nearby int64 // in the minutes compared; and in those beside them too
}

type countedTemplate struct {
	id        string
	calls, us int64
}

func (g *group) count(id string, calls, us int64) {
	g.calls += calls
	if n := len(g.counted); n > 0 && g.counted[n-1].id == id { // of another server
		g.counted[n-1].calls += calls
		g.counted[n-1].us += us
		return
	}
	g.counted = append(g.counted, countedTemplate{id, calls, us})
}

// comparison reads both sides.
type comparison struct {
	b     *builder
	c     *Coverage
	both  groups
	texts map[string]*stored
	keys  map[string]string // by template
	named bool              // the log tells databases
}

func (b *builder) compare(ctx context.Context, pieces []stretch, looks []lookInterval, c *Coverage) (groups, error) {
	if err := b.atLooks(ctx, looks); err != nil {
		return nil, err
	}
	x := comparison{b: b, c: c, both: groups{}, texts: make(map[string]*stored, len(b.templates)), keys: map[string]string{}}
	for _, t := range b.templates {
		x.texts[t.id] = t
	}
	var err error
	if x.named, err = b.logNamesDatabases(ctx); err != nil {
		return nil, err
	}
	databases, err := x.counted(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.atMinutes(ctx, pieces, databases); err != nil {
		return nil, err
	}
	return x.both, x.logged(ctx)
}

// key is what both sides call a template; ok is false for what a server's count is not exact of.
func (x *comparison) key(id string) (key string, ok bool, err error) {
	t := x.texts[id]
	if t == nil {
		return "", false, fmt.Errorf("template %s was counted and has no text: %w", id, warehouse.ErrCorrupt)
	}
	if !plannedText(t.text) {
		return "", false, nil
	}
	key, ok = x.keys[id]
	if !ok {
		key = joinKey(t.text)
		x.keys[id] = key
	}
	return key, true, nil
}

// counted takes up what servers counted, and returns the databases of each.
func (x *comparison) counted(ctx context.Context) (map[string]map[string]bool, error) {
	databases := map[string]map[string]bool{}
	return databases, x.b.db.Each(ctx, query("counted.sql"), func(scan func(...any) error) error {
		var id, database, source string
		var calls, us int64
		if err := scan(&id, &database, &source, &calls, &us); err != nil {
			return err
		}
		if !x.named {
			database = ""
		}
		if databases[source] == nil {
			databases[source] = map[string]bool{}
		}
		databases[source][database] = true
		if strings.HasPrefix(id, hiddenPrefix) {
			x.c.OpaqueCalls += calls
			return nil
		}
		k, ok, err := x.key(id)
		if ok {
			x.both.at(database, k).count(id, calls, us)
		}
		return err
	})
}

// logged takes up what the log has in the minutes that are compared.
func (x *comparison) logged(ctx context.Context) error {
	err := x.b.db.Each(ctx, query("logged.sql"), func(scan func(...any) error) error {
		var id, database string
		var core *int64
		var all int64
		if err := scan(&id, &database, &core, &all); err != nil {
			return err
		}
		k, ok, err := x.key(id)
		if !ok {
			return err
		}
		g := x.both.at(database, k)
		g.nearby += all
		if core != nil {
			g.logged += *core
		}
		return nil
	}, x.named)
	if err != nil {
		return err
	}
	return x.b.db.Each(ctx, query("logged_opaque.sql"), func(scan func(...any) error) error { return scan(&x.c.LoggedOpaque) }, x.named)
}

// logNamesDatabases says whether the log tells databases. A prefix without %d leaves nothing to compare by but the whole; if only one of several
// logs has it, its calls may be any database's, and would be missing from each.
func (b *builder) logNamesDatabases(ctx context.Context) (named bool, err error) {
	err = b.db.Each(ctx, `SELECT coalesce(bool_and(database <> ''), false) FROM rollups WHERE calls > errors`, func(scan func(...any) error) error { return scan(&named) })
	return named, err
}

// atMinutes makes the table of the minutes of the log, by database: those of the servers that have it.
func (b *builder) atMinutes(ctx context.Context, pieces []stretch, databases map[string]map[string]bool) error {
	core, edge := map[string]map[int64]bool{}, map[string]map[int64]bool{}
	add := func(all map[string]map[int64]bool, database string, t time.Time) {
		if all[database] == nil {
			all[database] = map[int64]bool{}
		}
		all[database][t.Unix()] = true
	}
	for _, p := range pieces {
		for database := range databases[p.looks[0].source] {
			for t := p.core.first; !t.After(p.core.last); t = t.Add(time.Minute) {
				add(core, database, t)
			}
			for _, t := range p.edges {
				add(edge, database, t)
			}
		}
	}
	if err := b.db.Exec(ctx, `CREATE OR REPLACE TEMP TABLE at_minutes (database VARCHAR, minute TIMESTAMPTZ, edge BOOLEAN)`); err != nil {
		return err
	}
	return b.db.Append(ctx, "at_minutes", func(row func(...driver.Value) error) error {
		for _, part := range []struct {
			all  map[string]map[int64]bool
			edge bool
		}{{core, false}, {edge, true}} {
			for _, database := range slices.Sorted(maps.Keys(part.all)) {
				for _, at := range slices.Sorted(maps.Keys(part.all[database])) {
					if part.edge && core[database][at] {
						continue
					}
					if err := row(database, time.Unix(at, 0).UTC(), part.edge); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// tally adds the groups up.
func (b *builder) tally(c *Coverage, both groups) {
	bodies := functionBodies(b.cat)
	databases := map[string]*DatabaseCoverage{}
	missing := map[string]*UnloggedQuery{}
	us := map[string]int64{}
	for k, g := range both {
		if inner := g.calls - g.nearby; inner > 0 && bodies[k.key] {
			c.InFunctions += inner
			g.drop(inner)
		}
		d := databases[k.database]
		if d == nil {
			d = &DatabaseCoverage{Database: k.database}
			databases[k.database] = d
		}
		unlogged := max(0, g.calls-g.nearby)
		d.Calls += g.calls
		d.Logged += min(g.logged, g.calls)
		d.Extra += max(0, g.logged-g.calls)
		d.Unlogged += unlogged
		for i, n := range g.split(unlogged) {
			t := g.counted[i]
			if n == 0 {
				continue
			}
			q := missing[t.id]
			if q == nil {
				q = &UnloggedQuery{ID: t.id, Readiness: map[string]string{}, Class: map[string]string{}}
				missing[t.id] = q
			}
			q.Databases = append(q.Databases, k.database)
			q.Calls += t.calls
			q.Unlogged += n
			us[t.id] += int64(float64(t.us) * float64(n) / float64(t.calls))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(databases)) {
		d := databases[name]
		d.Share = shareOf(d.Logged, d.Calls)
		c.Databases = append(c.Databases, *d)
		c.Calls, c.Logged, c.Unlogged, c.Extra = c.Calls+d.Calls, c.Logged+d.Logged, c.Unlogged+d.Unlogged, c.Extra+d.Extra
	}
	c.Share = shareOf(c.Logged, c.Calls)
	for _, t := range b.templates {
		if q := missing[t.id]; q != nil {
			slices.Sort(q.Databases)
			q.Text, q.TimeMS = t.shown(), ms(us[t.id])
			c.UnloggedFrom = append(c.UnloggedFrom, *q)
		}
	}
	slices.SortFunc(c.UnloggedFrom, func(x, y UnloggedQuery) int {
		return cmp.Or(cmp.Compare(y.Unlogged, x.Unlogged), cmp.Compare(x.ID, y.ID))
	})
}

func shareOf(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// drop takes calls off a group.
func (g *group) drop(n int64) {
	for i, k := range g.split(n) {
		t := &g.counted[i]
		t.us -= int64(float64(t.us) * float64(k) / float64(max(t.calls, 1)))
		t.calls -= k
	}
	g.calls -= n
}

// split shares n calls out among the templates that the server counted, by their calls.
func (g *group) split(n int64) []int64 {
	out := make([]int64, len(g.counted))
	left, rest := n, g.calls
	for i, t := range g.counted {
		if rest > 0 {
			out[i] = min(t.calls, left, int64(math.Ceil(float64(left)*float64(t.calls)/float64(rest))))
		}
		left -= out[i]
		rest -= t.calls
	}
	return out
}

// functionBodies are the keys of the statements inside SQL functions. Before 17 a server counts one that it runs while it plans, to fold a
// constant, as if a client had sent it.
func functionBodies(cat *catalog.Catalog) map[string]bool {
	out := map[string]bool{}
	var s sqltext.Scanner
	for _, list := range cat.Functions {
		for _, f := range list {
			if f.Language != "sql" {
				continue
			}
			s.Reset([]byte(f.Body))
			for s.Next() {
				if st := s.Statement(); st.Bound == sqltext.WithinBounds {
					out[joinKey(string(st.Text))] = true
				}
			}
		}
	}
	return out
}

// judgeUnlogged says what a candidate makes of the calls that the log does not have.
func (b *builder) judgeUnlogged(c *Coverage, cand *candidate.Candidate, verdicts []*judged) *Unlogged {
	if c == nil {
		return nil
	}
	byID := make(map[string]*judged, len(verdicts))
	for _, v := range verdicts {
		byID[v.Template] = v
	}
	out := &Unlogged{Calls: newShare(), TimeMS: newShare(), Templates: newShare()}
	for i := range c.UnloggedFrom {
		q := &c.UnloggedFrom[i]
		v := b.countedVerdict(byID[q.ID])
		class, readiness := v.Class, v.Readiness
		q.Class[cand.Name], q.Readiness[cand.Name] = class, readiness
		out.Calls.add(class, readiness, float64(q.Unlogged))
		out.TimeMS.add(class, readiness, q.TimeMS)
		out.Templates.add(class, readiness, 1)
	}
	return out
}

// countedVerdict is the verdict on a template that statistics have seen. They do not tell the search_path, and from PostgreSQL 18 on have one row,
// with the first one's text, for all tables of a name: one that the schema has twice may be either, and is not guessed.
func (b *builder) countedVerdict(v *judged) *judged {
	i := slices.IndexFunc(v.Tables, b.ambiguous)
	if i < 0 {
		return v
	}
	r := reason.New(reason.UnknownTable, -1, reason.Args{Table: b.cat.Relations[v.Tables[i]].Name,
		Detail: "several schemas have one of this name, and statistics do not tell the search_path"})
	return &judged{Template: v.Template, Class: string(planner.Unknown), Readiness: string(planner.UnknownReadiness), Tables: v.Tables,
		Reasons: []QueryReason{{Code: r.Code, Message: r.Message, Hint: r.Hint, Position: r.Position}}}
}

// countedVerdicts are those of a report that has nothing but statistics.
func (b *builder) countedVerdicts(all [][]*judged) {
	for i := range all {
		for j, v := range all[i] {
			all[i][j] = b.countedVerdict(v)
		}
	}
}

// ambiguous says whether another schema has a relation of a table's name.
func (b *builder) ambiguous(table string) bool {
	if b.homonyms == nil {
		b.homonyms = map[string]int{}
		for _, r := range b.cat.Relations {
			b.homonyms[r.Name]++
		}
	}
	r := b.cat.Relations[table]
	return r != nil && b.homonyms[r.Name] > 1
}
