package pglog

import (
	"bytes"

	"github.com/foreshard/foreshard/capture/pglog/envelope"
)

// unwrapped is what a chunk holds without its envelopes: text as the server would have written it to a file, and what the envelopes say.
type unwrapped struct {
	text   []byte
	sizes  spans
	starts []origin
	drops  map[string]Drop
	notes  map[string]int64
}

// origin is what the envelope says of the records from an offset of the text on.
type origin struct {
	start   int
	host    string
	process string
	time    int64
	hasTime bool
	assumed bool
	number  uint64
	cut     bool
}

func (u *unwrapped) reset() {
	if u.drops == nil {
		u.drops, u.notes = map[string]Drop{}, map[string]int64{}
	}
	clear(u.drops)
	clear(u.notes)
	u.text, u.starts = u.text[:0], u.starts[:0]
	u.sizes.reset()
}

func (u *unwrapped) lost(records int) {
	if records > 0 {
		u.notes[NoteLostRecords] += int64(records)
	}
}

func (u *unwrapped) drop(reason string, bytes int) {
	d := u.drops[reason]
	u.drops[reason] = Drop{Count: d.Count + 1, Bytes: d.Bytes + int64(bytes)}
}

// builder writes the records that an arranger has put together.
type builder struct {
	arranger
	out   *unwrapped
	names [2]interner
}

func newBuilder(s *source, cfg *Config) *builder {
	b := &builder{arranger: arranger{wrap: s.wrap, prefix: s.prefix, clock: clock{zone: cfg.Zone}}}
	b.scan.Kind, b.scan.Zone, b.scan.Latest = s.wrap.kind, cfg.Zone, s.wrap.latest
	return b
}

// write writes one group. cut says that its end is not known.
func (b *builder) write(g int32, cut bool) {
	if b.wrap.native() {
		b.join(g, cut)
	} else {
		b.lines(g, cut)
	}
	for i := b.groups[g].head; i >= 0; i = b.entries[i].next {
		b.entries[i].taken = true
	}
}

// size is how many bytes a group takes up.
func (b *builder) size(g int32) (n int) {
	for i := b.groups[g].head; i >= 0; i = b.entries[i].next {
		n += b.entries[i].End - b.entries[i].Pos
	}
	return n
}

// start notes where a group's text starts.
func (b *builder) start(g int32, cut bool) *origin {
	u, r := b.out, &b.groups[g]
	p := &b.entries[r.head]
	u.sizes.add(len(u.text), b.size(g))
	o := origin{start: len(u.text), process: b.names[1].get(p.Pid), time: p.Time, hasTime: p.HasTime, assumed: p.Assumed, number: r.number, cut: cut}
	if b.wrap.kind == envelope.Syslog || b.wrap.kind.Sorted() {
		o.host = b.names[0].get(p.Host)
	}
	u.starts = append(u.starts, o)
	return &u.starts[len(u.starts)-1]
}

// lines puts the lines of a group below one another.
func (b *builder) lines(g int32, cut bool) {
	u := b.out
	b.start(g, cut || b.groups[g].doubt)
	for i := b.groups[g].head; i >= 0; i = b.entries[i].next {
		p := &b.entries[i]
		if p.glued && len(u.text) > 0 {
			u.text = u.text[:len(u.text)-1]
		}
		start := len(u.text)
		u.text = append(u.text, p.Text...)
		if b.wrap.kind == envelope.Syslog {
			b.decode(start, b.wrap.escapes)
		}
		u.text = append(u.text, '\n')
	}
}

// join puts the chunks of a record of syslog together: a chunk that starts with a TAB, or with a prefix and a label, follows a newline; what
// was cut because it was too long follows nothing.
func (b *builder) join(g int32, cut bool) {
	u, r := b.out, &b.groups[g]
	if b.entries[r.head].Chunk > 1 { // its beginning is lost
		for i := r.head; i >= 0; i = b.entries[i].next {
			u.drop(DropOrphan, b.entries[i].End-b.entries[i].Pos)
		}
		return
	}
	escapes, gap := b.escapes(r)
	if gap {
		u.notes[NoteLostChunks]++
	}
	o := *b.start(g, cut || gap)
	for i := r.head; i >= 0; i = b.entries[i].next {
		if p := &b.entries[i]; !p.again {
			b.piece(p, i == r.head, escapes)
		}
	}
	if len(u.text) == o.start || u.text[len(u.text)-1] != '\n' { // a record of nothing must not share the newline of the one before
		u.text = append(u.text, '\n')
	}
	end := len(u.text)
	text := u.text[o.start:end]
	n := min(r.repeat, maxRepeated/len(text))
	b.out.lost(r.repeat - n)
	for range n {
		o.start, o.number = len(u.text), 0
		u.starts = append(u.starts, o)
		u.text = append(u.text, text...)
	}
}

// maxRepeated is how many bytes of repeated messages are written: a damaged number must not make traffic up.
const maxRepeated = 1 << 20

// escapes says that control characters of a record are escaped, and that one of its chunks is missing.
func (b *builder) escapes(r *group) (escapes, gap bool) {
	escapes = b.wrap.escapes
	chunk := 0
	for i := r.head; i >= 0; i = b.entries[i].next {
		p := &b.entries[i]
		escapes = escapes || bytes.HasPrefix(p.Text, []byte("#011"))
		gap = gap || p.Chunk > chunk+1
		chunk = max(chunk, p.Chunk)
	}
	return escapes, gap
}

// piece writes one chunk of a record of syslog.
func (b *builder) piece(p *placed, first, escapes bool) {
	u := b.out
	text := p.Text
	switch {
	case first:
	case len(text) == 0: // a line of nothing but its TAB, which a daemon took for blanks at the end
		u.text = append(u.text, "\n\t"...)
	case escapes && bytes.HasPrefix(text, []byte("#011")):
		u.text = append(u.text, "\n\t"...)
		text = text[4:]
	case b.newLine(p):
		u.text = append(u.text, '\n')
	}
	from := len(u.text)
	u.text = append(u.text, text...)
	b.decode(from, escapes)
}

// newLine says that a chunk was cut off the one before at a newline.
func (b *builder) newLine(p *placed) bool {
	if p.Class == envelope.Bare || p.Text[0] == '\t' || bytes.HasPrefix(p.Text, []byte("#011")) {
		return true
	}
	l := b.label(p, &record{})
	return l != labelNone && !l.primary()
}

// decode replaces the #ooo of control characters in the text from an offset on, if that is how the source writes them. At the start of a line
// a TAB is indentation; elsewhere it may be what a statement says, so it is noted, and what has the form of a color is left.
func (b *builder) decode(from int, escapes bool) {
	text := b.out.text
	w := from
	indent, ambiguous := true, false
	for i := from; i < len(text); i++ {
		c, ok := octal(text[i:])
		if ok && c != '\n' && (c != '\t' || !indent) {
			ambiguous = true
			ok = !color(text[i:])
		}
		if ok && escapes {
			text[w] = c
			i += 3
		} else {
			text[w] = text[i]
		}
		indent = text[w] == '\n' || indent && text[w] == '\t'
		w++
	}
	if ambiguous {
		b.out.notes[NoteAmbiguousEscape]++
	}
	b.out.text = text[:w]
}

// octal reads "#011": the escape of a control character. PostgreSQL has no text with a NUL.
func octal(b []byte) (byte, bool) {
	if len(b) < 4 || b[0] != '#' || b[1] < '0' || b[1] > '1' || b[2] < '0' || b[2] > '7' || b[3] < '0' || b[3] > '7' {
		return 0, false
	}
	c := (b[1]-'0')<<6 | (b[2]-'0')<<3 | b[3] - '0'
	return c, c > 0 && c < ' ' || c == 0x7f
}

// color says that b starts with "#0123ab" and no more letters or digits.
func color(b []byte) bool {
	n := 1 + span(b[1:], isHex)
	return n == 7 && (len(b) == n || !isLetter(b[n]))
}
