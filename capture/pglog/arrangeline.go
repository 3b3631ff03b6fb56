package pglog

import (
	"bytes"

	"github.com/foreshard/foreshard/capture/pglog/envelope"
)

// line places a line that a shipper took from a file or a pipe: in its stream, lines follow one another as they were written.
func (a *arranger) line(i int32) {
	p := &a.entries[i]
	l := a.lane(p)
	goesOn := l.open
	l.open = p.Open
	switch {
	case goesOn && l.last >= 0 && a.near(l.entry, i):
		p.glued = true
		a.groups[l.last].odd = a.groups[l.last].odd != oddQuotes(p.Text)
		a.attach(l.last, l, i)
	case goesOn:
		p.drop = DropOrphan
	case len(p.Text) == 0 && a.wrap.inner != CSV:
		p.drop = DropBlank
	case a.wrap.inner == Stderr:
		a.stderrLine(i, l)
	case a.wrap.inner == CSV:
		a.csvLine(i, l)
	default:
		a.add(i, l)
	}
	if g := l.last; g >= 0 && p.drop == "" && !l.open && a.wrap.inner != Stderr && !a.windowed() {
		a.groups[g].done = a.wrap.inner != CSV || !a.groups[g].odd
	}
	if p.drop != "" && p.Open {
		l.last, l.entry = -1, -1 // what it goes on with goes with it
	}
}

func oddQuotes(text []byte) bool { return bytes.Count(text, quote)%2 == 1 }

func (a *arranger) stderrLine(i int32, l *lane) {
	p := &a.entries[i]
	var rec record
	switch lb := a.label(p, &rec); {
	case lb.primary():
		g := a.add(i, l)
		g.pid, g.session = rec.pid, rec.session
	case lb != labelNone:
		for k := len(l.recent) - 1; k >= 0; k-- {
			g := l.recent[k]
			r := &a.groups[g]
			if bytes.Equal(r.pid, rec.pid) && bytes.Equal(r.session, rec.session) && a.near(r.last, i) {
				a.attach(g, l, i)
				return
			}
		}
		p.drop = DropOrphan
	case p.Text[0] == '\t':
		if l.last < 0 || !a.continues(l.entry, i) {
			p.drop = DropOrphan
			return
		}
		a.attach(l.last, l, i)
	default: // not of the server, whose own line would start with a TAB
		p.drop = DropForeign
		if a.wrap.kind == envelope.CloudSQL && l.last >= 0 && a.continues(l.entry, i) {
			a.groups[l.last].doubt = true // or its TAB was lost on the way, and the text goes on with it
		}
	}
}

// continues says that a line without a prefix may belong to the one before.
func (a *arranger) continues(before, i int32) bool {
	if !a.near(before, i) {
		return false
	}
	if !a.wrap.kind.Sorted() {
		return true
	}
	p, q := &a.entries[before], &a.entries[i]
	return !q.late() && q.when()-p.when() <= int64(continueTime)
}

func (a *arranger) csvLine(i int32, l *lane) {
	p := &a.entries[i]
	open := l.last >= 0 && a.groups[l.last].odd && a.near(l.entry, i)
	border := bordersCSV(p.Text)
	if border && open { // in a quoted field the quote of the user would be doubled
		n := timeShape(p.Text)
		border = p.Text[n+1] == '"'
	}
	switch {
	case border:
		a.add(i, l).odd = oddQuotes(p.Text)
	case open:
		a.groups[l.last].odd = !oddQuotes(p.Text)
		a.attach(l.last, l, i)
	case len(p.Text) == 0:
		p.drop = DropBlank
	default:
		p.drop = DropForeign
	}
}

// message places a message that the server sent to syslog itself: a record is cut at its newlines and after 900 bytes, and its chunks are
// numbered.
func (a *arranger) message(i int32) {
	p := &a.entries[i]
	l := a.lane(p)
	if !p.Numbered {
		a.renumber(p)
	}
	switch {
	case p.Numbered && p.Chunk > 0:
		a.chunk(i, l, p.Number)
	case p.Numbered && !a.newRecord(p):
		p.Chunk = int(min(p.Number, 1<<30))
		if l.last >= 0 && a.near(l.entry, i) && a.entries[a.groups[l.last].tail].Chunk > 0 {
			a.chunkOf(l.last, l, i)
		} else {
			p.drop = DropOrphan
		}
	case p.Numbered:
		r := a.add(i, l)
		p.Chunk, r.number = 1, p.Number
		a.settle(l)
	default:
		a.plain(i, l)
	}
}

// renumber takes a number off that happens to be the pid: the scanner leaves "[71]" of the process 71, because it may be of the prefix.
func (a *arranger) renumber(p *placed) {
	if len(p.Pid) == 0 || len(a.prefix.text) > 0 && a.prefix.text[0] == '[' {
		return
	}
	text, ok := bytes.CutPrefix(p.Text, append(append(append(a.key[:0], '['), p.Pid...), "] "...))
	if !ok {
		return
	}
	if n := numberOf(p.Pid); n > 0 {
		p.Text, p.Number, p.Numbered = text, n, true
	}
}

// newRecord says that "[7]" numbers a record, or the first chunk of one. Where the log has shown that it counts chunks only 1 does: a client
// can make a later chunk look like a record.
func (a *arranger) newRecord(p *placed) bool {
	return p.Number == 1 || !a.wrap.chunks && a.label(p, &record{}).primary()
}

// chunk puts a chunk into the record with its number.
func (a *arranger) chunk(i int32, l *lane, number uint64) {
	for k := len(l.recent) - 1; k >= 0; k-- {
		g := l.recent[k]
		if r := &a.groups[g]; r.number == number && a.near(r.last, i) {
			a.chunkOf(g, l, i)
			return
		}
	}
	a.add(i, l).number = number
	a.settle(l)
}

// chunkOf puts a chunk where its number says.
func (a *arranger) chunkOf(g int32, l *lane, i int32) {
	chunk := a.entries[i].Chunk
	after := int32(-1)
	if tail := a.groups[g].tail; a.entries[tail].Chunk < chunk {
		after = tail
	} else {
		for k := a.groups[g].head; k >= 0 && a.entries[k].Chunk <= chunk; k = a.entries[k].next {
			if a.entries[k].Chunk == chunk {
				a.entries[i].drop = DropDuplicate
				return
			}
			after = k
		}
	}
	a.insert(g, after, i)
	l.last, l.entry = g, i
}

// settle moves the newest record of a stream before those with higher numbers that have come too early. Records of other streams stay.
func (a *arranger) settle(l *lane) {
	for k := len(l.recent) - 1; k > 0; k-- {
		x, y := &a.groups[l.recent[k-1]], &a.groups[l.recent[k]]
		if y.number == 0 || x.number <= y.number || !a.near(x.last, y.first) {
			return
		}
		a.slots[x.slot], a.slots[y.slot] = l.recent[k], l.recent[k-1]
		x.slot, y.slot = y.slot, x.slot
		l.recent[k-1], l.recent[k] = l.recent[k], l.recent[k-1]
	}
}

// plain places a message without the number of a chunk: syslog_split_messages is off, or it is of another program.
func (a *arranger) plain(i int32, l *lane) {
	p := &a.entries[i]
	if len(p.Text) == 0 {
		p.drop = DropBlank
		return
	}
	goesOn := p.Text[0] == '\t' || bytes.HasPrefix(p.Text, []byte("#011"))
	lb := labelNone
	if !goesOn {
		lb = a.label(p, &record{})
	}
	switch {
	case lb.primary():
		a.add(i, l).number = p.Number
		a.settle(l)
	case goesOn || lb != labelNone:
		if l.last < 0 || !a.near(l.entry, i) {
			p.drop = DropOrphan
			return
		}
		a.attach(l.last, l, i)
	default:
		p.drop = DropForeign
	}
}
