package pipeline

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// aggregate holds the rows since the last commit, and what outlives commits: templates and open transactions.
type aggregate struct {
	schema string
	known  func(id string) bool
	key    [16]byte // of the hashes of templates that cannot be parsed

	templates map[templateKey]*template
	origins   map[origin]*origin
	columns   map[columnName]*column

	fresh    []*template // templates to write
	rollups  map[rollupKey]*rollup
	opaque   map[opaqueKey]*opaque
	counted  map[countedKey]*countedSums
	slots    map[slotKey]*slotCounts
	pages    []*slotPage // of zeros, for slots
	keyCells int         // counters in use in slots
	txns     transactions
	writes   writes
	ledger   warehouse.Ledger
}

// templateKey is what names a template to the analysis: one text under two search paths is two statements.
type templateKey struct {
	id     sqltext.ID
	search string
}

type template struct {
	id       string
	search   string
	source   *sqltext.Template
	seen     time.Time
	resolved Resolved
	secret   *capture.Opaque // what is kept of it if it cannot be parsed
	values   []value         // by slot, those that are compared with a column
	lists    []value         // of values, those that stand for several
}

// value is a slot that is compared with columns.
type value struct {
	slot    int
	class   int  // -1: none of the columns has a type that can be a shard key
	mixed   bool // the columns are of two classes: values that are equal in one may differ in the other
	list    bool
	columns []*column
}

type column struct {
	columnName
	// The counts of the day that was counted last; traffic seldom changes its day.
	day  int64
	last *slotCounts
}

type columnName struct{ table, name string }

// origin is where an execution came from.
type origin struct{ database, user, app, team, endpoint string }

type rollupKey struct {
	minute int64 // Unix minutes
	t      *template
	o      *origin
}

type rollup struct {
	calls, errors, timed, us int64
	latency                  warehouse.Histogram
	listMin, listMax         int64
}

type opaqueKey struct {
	minute       int64
	reason, hash string
	bytes        int
	o            *origin
}

type opaque struct{ calls, errors, us int64 }

type slotKey struct {
	day int64
	c   *column
}

// slotCounts is a sparse array of 65,536 counters.
type slotCounts [256]*slotPage

type slotPage [256]int64

// each calls fn for every counter that is not zero, in order.
func (c *slotCounts) each(fn func(slot uint16, n int64)) {
	for hi, page := range c {
		if page == nil {
			continue
		}
		for lo, n := range page {
			if n != 0 {
				fn(uint16(hi<<8|lo), n)
			}
		}
	}
}

// keptPages is how many pages of 2 KB wait for the next commit.
const keptPages = 4096

func newAggregate(schema string, known func(string) bool, key [16]byte) *aggregate {
	a := &aggregate{schema: schema, known: known, key: key, templates: map[templateKey]*template{}, origins: map[origin]*origin{}, columns: map[columnName]*column{}}
	a.txns.init()
	a.reset()
	return a
}

func (a *aggregate) reset() {
	a.fresh = nil
	a.rollups = map[rollupKey]*rollup{}
	a.opaque = map[opaqueKey]*opaque{}
	a.slots = map[slotKey]*slotCounts{}
	for _, c := range a.columns {
		c.last = nil
	}
	a.keyCells = 0
	a.ledger = warehouse.Ledger{}
	a.txns.reset()
}

// size is the number of rows held.
func (a *aggregate) size() int {
	return len(a.rollups) + len(a.opaque) + len(a.counted) + len(a.fresh) + a.txns.size() + a.writes.size()
}

// intern returns the event's template if it has to be resolved first, else nil.
func (a *aggregate) intern(e *capture.Event) *template {
	if e.Template == nil {
		return nil
	}
	k := templateKey{e.Template.ID, e.Search}
	if a.templates[k] != nil {
		return nil
	}
	k.search = strings.Clone(k.search)
	t := &template{id: templateID(k), search: k.search, source: e.Template, seen: e.Time.UTC()}
	a.templates[k] = t
	return t
}

// templateID is the template's own ID, or under a search path of its own a hash of both.
func templateID(k templateKey) string {
	if k.search == "" {
		return hex.EncodeToString(k.id[:])
	}
	sum := sha256.Sum256(append(k.id[:], k.search...))
	return hex.EncodeToString(sum[:16])
}

// add takes up a template that has been resolved. One that cannot be parsed stays out of the warehouse: any word of it may be a value, as in
// ALTER ROLE app PASSWORD secret.
func (a *aggregate) add(t *template) {
	if t.resolved.Unparsed != "" {
		mac := hmac.New(sha256.New, a.key[:])
		mac.Write(t.source.ID[:])
		t.secret = &capture.Opaque{Bytes: len(t.source.Text), Hash: hex.EncodeToString(mac.Sum(nil)[:8]), Reason: t.resolved.Unparsed}
		return
	}
	for _, v := range t.resolved.Values {
		i := 0
		for i < len(t.values) && t.values[i].slot != v.Slot {
			i++
		}
		if i == len(t.values) {
			t.values = append(t.values, value{slot: v.Slot, class: -1, list: v.List})
		}
		if v.Class < 0 {
			continue
		}
		if t.values[i].class < 0 {
			t.values[i].class = v.Class
		}
		if t.values[i].class != v.Class {
			t.values[i].mixed = true
			continue
		}
		t.values[i].columns = append(t.values[i].columns, a.column(v.Table, v.Column))
	}
	for _, v := range t.values {
		if v.list {
			t.lists = append(t.lists, v)
		}
	}
	if a.known == nil || !a.known(t.id) {
		a.fresh = append(a.fresh, t)
	}
}

func (a *aggregate) column(table, name string) *column {
	n := columnName{table, name}
	c := a.columns[n]
	if c == nil {
		c = &column{columnName: n}
		a.columns[n] = c
	}
	return c
}

func (a *aggregate) origin(e *capture.Event) *origin {
	o := origin{e.Database, e.User, e.App, e.Team, e.Endpoint}
	if p := a.origins[o]; p != nil {
		return p
	}
	o = origin{strings.Clone(o.database), strings.Clone(o.user), strings.Clone(o.app), strings.Clone(o.team), strings.Clone(o.endpoint)}
	a.origins[o] = &o
	return &o
}

// event counts one event whose template is resolved.
func (a *aggregate) event(e *capture.Event) {
	switch e.Kind {
	case capture.Execution:
		a.execution(e)
	case capture.Statistics:
		a.statistics(e)
	case capture.Write:
		a.writes.add(a, e)
	case capture.Transaction:
		if !e.Auto {
			a.txns.end(e)
		}
	}
}

func (a *aggregate) execution(e *capture.Event) {
	a.ledger.Executions++
	failed := e.SQLState != "" && e.SQLState != "00000"
	if failed {
		a.ledger.Errors++
	}
	a.ledger.Saw(e.Time.UTC())
	us := int64(0)
	if e.Timed {
		us = max(e.Duration.Microseconds(), 0)
	}
	secret := e.Opaque
	var t *template
	if e.Template != nil {
		t = a.templates[templateKey{e.Template.ID, e.Search}]
		secret = t.secret
	}
	if t == nil || secret != nil {
		a.hidden(e, secret, failed, us)
		a.txns.statement(e, nil, us)
		return
	}
	k := rollupKey{minute(e.Time), t, a.origin(e)}
	r := a.rollups[k]
	if r == nil {
		r = &rollup{latency: warehouse.Histogram{}}
		a.rollups[k] = r
	}
	r.calls++
	if failed {
		r.errors++
	}
	if e.Timed {
		r.timed++
		r.us += us
		r.latency.Add(us)
	}
	a.lists(r, t.source, e.Values)
	a.keySlots(t, e)
	a.txns.statement(e, t, us)
}

// lists keeps the bounds of the length of folded lists.
func (a *aggregate) lists(r *rollup, t *sqltext.Template, values []capture.Value) {
	for i := 0; i < len(values); {
		j := i + 1
		for j < len(values) && values[j].Slot == values[i].Slot {
			j++
		}
		if s := values[i].Slot - 1; s >= 0 && s < len(t.Slots) && t.Slots[s].List {
			n := int64(j - i)
			if r.listMin == 0 || n < r.listMin {
				r.listMin = n
			}
			r.listMax = max(r.listMax, n)
		}
		i = j
	}
}

// keySlots counts the hash slots of the values that are compared with a column.
func (a *aggregate) keySlots(t *template, e *capture.Event) {
	if len(t.values) == 0 || len(e.Values) == 0 {
		return
	}
	day := dayOf(e.Time)
	for i := range e.Values {
		v := &e.Values[i]
		w := t.value(v.Slot)
		if w == nil || !usable(v, w.class) {
			continue
		}
		slot := v.Slots[w.class]
		for _, c := range w.columns {
			if c.last == nil || c.day != day {
				c.day, c.last = day, a.slotCounts(day, c)
			}
			page := c.last[slot>>8]
			if page == nil {
				page = a.page()
				c.last[slot>>8] = page
			}
			if page[slot&255]++; page[slot&255] == 1 {
				a.keyCells++
			}
		}
	}
}

func (a *aggregate) slotCounts(day int64, c *column) *slotCounts {
	counts := a.slots[slotKey{day, c}]
	if counts == nil {
		counts = new(slotCounts)
		a.slots[slotKey{day, c}] = counts
	}
	return counts
}

// page is one of zeros, if there is one that a commit has left.
func (a *aggregate) page() *slotPage {
	n := len(a.pages)
	if n == 0 {
		return new(slotPage)
	}
	p := a.pages[n-1]
	a.pages = a.pages[:n-1]
	return p
}

// recycle keeps the pages of counts that are in a commit; the next one is likely to have as many.
func (a *aggregate) recycle(counts *slotCounts) {
	for _, page := range counts {
		if page != nil && len(a.pages) < keptPages {
			*page = slotPage{}
			a.pages = append(a.pages, page)
		}
	}
}

func (t *template) value(slot int) *value {
	for i := range t.values {
		if t.values[i].slot == slot {
			return &t.values[i]
		}
	}
	return nil
}

// usable says whether the hashes of a key class may be relied on.
func usable(v *capture.Value, class int) bool {
	return class >= 0 && !v.Null && !v.Cut && v.Has&(1<<class) != 0
}

// hidden counts an execution of which no text is kept.
func (a *aggregate) hidden(e *capture.Event, secret *capture.Opaque, failed bool, us int64) {
	k := opaqueKey{minute: minute(e.Time), reason: "unknown", o: a.origin(e)}
	if secret != nil {
		k.reason, k.hash, k.bytes = secret.Reason, secret.Hash, secret.Bytes
	}
	if a.ledger.Unparsed == nil {
		a.ledger.Unparsed = map[string]int64{}
	}
	a.ledger.Unparsed[k.reason]++
	o := a.opaque[k]
	if o == nil {
		k.reason, k.hash = strings.Clone(k.reason), strings.Clone(k.hash)
		o = &opaque{}
		a.opaque[k] = o
	}
	o.calls++
	if failed {
		o.errors++
	}
	o.us += us
}

// minute is Unix minutes, rounded down; the zero time is minute 0.
func minute(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return floor(t.Unix(), 60)
}

func dayOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return floor(t.Unix(), 86400)
}

func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
