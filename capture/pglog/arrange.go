package pglog

import (
	"bytes"
	"slices"
	"time"

	"github.com/foreshard/foreshard/capture/pglog/envelope"
)

// Entries of one record come near each other. Those that are further apart, in lines or in time, are not put together: so memory is bounded,
// and a record is whole once so much has come after it.
const (
	windowEntries = 1000
	windowTime    = 5 * time.Second
	windowSorted  = 10 * time.Second // of sources that deliver in any order
	continueTime  = time.Second      // between the lines of one record of such a source
	maxEntries    = 100_000          // of a chunk
	recentGroups  = 64               // of a stream, that a DETAIL may belong to
)

// arranger puts the entries of a chunk together as records, in the order in which they were written.
type arranger struct {
	wrap    *wrapping
	prefix  *prefix
	clock   clock
	scan    envelope.Scanner
	entries []placed
	groups  []group
	slots   []int32 // groups in order of their records
	order   []int32 // entries in order of their time
	lanes   map[string]*lane
	unused  []*lane
	key     []byte
	content []byte
	used    int   // bytes of whole entries
	full    bool  // there are more entries than fit
	damaged int32 // the last malformed entry, -1 none: it may have been a line of a record
}

// placed is an entry in its place.
type placed struct {
	envelope.Entry
	at    int64 // latest time up to it
	next  int32 // piece of the same record; -1 none
	group int32 // that it is in; -1 none
	drop  string
	taken bool // handed on, or dropped
	glued bool // it goes on in the middle of a line
	again bool // says that the message was repeated
}

// group is the pieces of one record.
type group struct {
	head, tail  int32 // in order of their text
	first, last int32 // in order of the chunk
	slot        int32
	pieces      int
	number      uint64
	pid         []byte
	session     []byte
	odd         bool // of csv: a quote is open
	doubt       bool // something of its text may be missing
	done        bool // nothing can be added
	followed    bool // the next record of its stream has come
	repeat      int
}

// lane is a stream of lines that one record follows the other in: a process of a host, an output of a container.
type lane struct {
	recent []int32 // its last groups, in the order of their slots
	last   int32   // the group of its last piece; -1 none
	entry  int32   // its last piece; -1 none
	open   bool    // which goes on in the next one
}

func (a *arranger) window() time.Duration {
	if a.wrap.kind.Sorted() {
		return windowSorted
	}
	return windowTime
}

// arrange takes the content apart and puts its records together.
func (a *arranger) arrange(b []byte) {
	a.scan.Reset()
	a.entries, a.groups, a.slots, a.order = a.entries[:0], a.groups[:0], a.slots[:0], a.order[:0]
	for k, l := range a.lanes {
		*l = lane{recent: l.recent[:0], last: -1, entry: -1}
		a.unused = append(a.unused, l)
		delete(a.lanes, k)
	}
	if a.lanes == nil {
		a.lanes = map[string]*lane{}
	}
	a.content, a.used, a.full, a.damaged = b, 0, false, -1
	var at int64
	for {
		if len(a.entries) == maxEntries {
			a.full = true
			break
		}
		e, ok := a.scan.Next(b, a.used)
		if !ok {
			break
		}
		a.used = e.End
		if e.HasTime && e.Time > at {
			at = e.Time
		}
		if a.entries = append(a.entries, placed{Entry: e, at: at, next: -1, group: -1}); e.Class == envelope.Malformed && a.wrap.kind.Sorted() {
			a.damaged = int32(len(a.entries)) - 1
		}
	}
	for i := range a.entries {
		a.order = append(a.order, int32(i))
	}
	if a.wrap.kind.Sorted() {
		slices.SortStableFunc(a.order, func(x, y int32) int { return compareTimes(&a.entries[x], &a.entries[y]) })
	}
	for _, i := range a.order {
		a.place(i)
	}
}

// when is the time that orders an entry: one that comes too late is not put where it belongs.
func (p *placed) when() int64 {
	if !p.HasTime {
		return p.at
	}
	return max(p.Time, p.at-int64(windowSorted))
}

func (p *placed) late() bool { return p.HasTime && p.Time < p.at-int64(windowSorted) }

func compareTimes(x, y *placed) int {
	if a, b := x.when(), y.when(); a != b {
		if a < b {
			return -1
		}
		return 1
	}
	return bytes.Compare(x.ID, y.ID)
}

// place finds the record of a piece.
func (a *arranger) place(i int32) {
	p := &a.entries[i]
	switch p.Class {
	case envelope.Frame:
		p.drop = DropEnvelope
	case envelope.Foreign:
		p.drop = DropForeign
	case envelope.Malformed:
		p.drop, a.damaged = DropMalformed, i
	case envelope.Bare:
		a.bare(i)
	default:
		switch {
		case p.Fields != nil:
			p.Text = a.content[p.Pos:p.End]
			a.add(i, nil).done = !a.wrap.kind.Sorted()
		case p.Repeat > 0:
			a.repeated(i)
		case a.wrap.native():
			a.message(i)
		default:
			a.line(i)
		}
	}
}

// bare is a line without an envelope: of a message that a daemon wrote with its newlines, or of something else.
func (a *arranger) bare(i int32) {
	p := &a.entries[i]
	p.drop = DropForeign
	if leadingNUL(p.Text) == len(p.Text) {
		p.drop = DropBlank
		return
	}
	if !a.wrap.native() || i == 0 {
		return
	}
	g := a.entries[i-1].group
	if g < 0 {
		if p.Text[0] == '\t' {
			p.drop = DropOrphan
		}
		return
	}
	if l := a.label(p, &record{}); p.Text[0] == '\t' || l != labelNone && !l.primary() {
		p.drop = ""
		a.insert(g, i-1, i)
	}
}

// repeated says that the message before it was written again. That is a record only if it was one as a whole.
func (a *arranger) repeated(i int32) {
	p := &a.entries[i]
	p.drop = DropOrphan
	for k := i - 1; k >= 0 && k > i-recentGroups; k-- {
		q := &a.entries[k]
		if q.Class != envelope.Wrapped || !bytes.Equal(q.Host, p.Host) || p.Ident != nil && (!bytes.Equal(q.Ident, p.Ident) || !bytes.Equal(q.Pid, p.Pid)) {
			continue
		}
		if g := q.group; g >= 0 && a.near(k, i) && a.groups[g].pieces == 1 {
			p.drop, p.again = "", true
			a.groups[g].repeat += p.Repeat
			a.insert(g, k, i)
		}
		return
	}
}

// lane finds the stream of a piece.
func (a *arranger) lane(p *placed) *lane {
	a.key = append(append(append(append(append(a.key[:0], p.Host...), 0), p.Ident...), 0), p.Pid...)
	l, ok := a.lanes[string(a.key)]
	if !ok {
		if n := len(a.unused); n > 0 {
			l, a.unused = a.unused[n-1], a.unused[:n-1]
		} else {
			l = &lane{last: -1, entry: -1}
		}
		a.lanes[string(a.key)] = l
	}
	return l
}

// near says that two pieces are near enough to be of one record.
func (a *arranger) near(i, k int32) bool {
	if i < 0 || k < 0 {
		return false
	}
	gap := a.entries[k].at - a.entries[i].at
	return max(k-i, i-k) <= windowEntries && max(gap, -gap) <= int64(a.window())
}

// label reads the prefix of a stderr line.
func (a *arranger) label(p *placed, rec *record) label {
	m, _, ok := a.prefix.match(chop(p.Text[:lineEnd(p.Text, 0)]), &a.clock, rec)
	if !ok {
		return labelNone
	}
	return m.label
}

// add starts a record.
func (a *arranger) add(i int32, l *lane) *group {
	g := int32(len(a.groups))
	a.groups = append(a.groups, group{head: i, tail: i, first: i, last: i, slot: g, pieces: 1})
	a.slots = append(a.slots, g)
	a.entries[i].group = g
	if l != nil {
		if n := len(l.recent); n > 0 {
			r := &a.groups[l.recent[n-1]]
			r.done, r.followed = r.done || !a.windowed(), true
		}
		if len(l.recent) == recentGroups {
			l.recent = append(l.recent[:0], l.recent[1:]...)
		}
		l.recent, l.last, l.entry = append(l.recent, g), g, i
	}
	return &a.groups[g]
}

// insert puts a piece into a record, after another one.
func (a *arranger) insert(g, after, i int32) {
	r := &a.groups[g]
	p := &a.entries[i]
	p.group = g
	if after < 0 {
		p.next, r.head = r.head, i
	} else {
		p.next, a.entries[after].next = a.entries[after].next, i
	}
	if p.next < 0 {
		r.tail = i
	}
	r.first, r.last = min(r.first, i), max(r.last, i)
	r.pieces++
}

// attach puts a piece at the end of a record.
func (a *arranger) attach(g int32, l *lane, i int32) {
	r := &a.groups[g]
	if d := a.damaged; d >= 0 && (d > r.last || a.wrap.kind.Sorted() && a.near(d, i)) {
		r.doubt = true
	}
	a.insert(g, a.groups[g].tail, i)
	l.last, l.entry = g, i
}
