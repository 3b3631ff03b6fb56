package pglog

import (
	"bytes"
	"time"

	"github.com/foreshard/foreshard/capture/pglog/envelope"
)

// unwrapper turns a chunk of entries into records. What it puts together is as the server would have written it to a file, and is read by
// the parser of that format.
type unwrapper struct {
	arranger
	stderr stderrParser
	csv    csvParser
	json   jsonParser
	nested envelope.Scanner // of an envelope in an envelope
	text   []byte
	sizes  spans
	starts []origin
	recs   []record
	drop   func(reason string, bytes int)
	note   func(kind string)
}

// origin is where a record's text starts, and the group it was put together from.
type origin struct {
	start int
	group int32
	copy  bool // of a message that was repeated
	cut   bool
}

func newUnwrapper(zone *time.Location, drop func(string, int), note func(string)) *unwrapper {
	c := clock{zone: zone}
	u := &unwrapper{stderr: stderrParser{clock: c}, csv: csvParser{clock: c}, json: jsonParser{clock: c}, drop: drop, note: note}
	u.clock, u.scan.Zone = c, zone
	u.stderr.size, u.csv.size, u.json.size = &u.sizes, &u.sizes, &u.sizes
	return u
}

// take gets ready for a source.
func (u *unwrapper) take(s *source) {
	u.wrap, u.prefix, u.stderr.prefix = s.wrap, s.prefix, s.prefix
	u.scan.Kind, u.scan.Latest = s.wrap.kind, s.wrap.latest
}

// records reads a chunk. forced says that its end is not one of a record. The records' memory is that of the unwrapper.
func (u *unwrapper) records(b []byte, forced bool) []record {
	u.arrange(b)
	u.text, u.starts, u.recs = u.text[:0], u.starts[:0], u.recs[:0]
	u.sizes.reset()
	for _, g := range u.slots {
		r := &u.groups[g]
		cut := forced && !r.done && u.wrap.inner != Auto && len(u.entries)-int(r.last) <= windowEntries
		switch {
		case u.wrap.inner == Auto:
			u.fields(g, u.entries[r.head].Fields)
		case u.wrap.inner == CloudNativePG:
			u.inside(g)
		case u.wrap.native():
			u.join(g, cut)
		default:
			u.lines(g, cut)
		}
	}
	for i := range u.entries {
		if p := &u.entries[i]; p.drop != "" {
			u.drop(p.drop, p.End-p.Pos)
		}
	}
	if rest := len(b) - u.used; rest > 0 {
		u.drop(DropOversize, rest)
	}
	dropSpan := func(reason string, from, to int) { u.drop(reason, u.sizes.of(from, to)) }
	switch u.wrap.inner {
	case Stderr:
		u.recs = append(u.recs, u.stderr.parse(u.text, false, dropSpan, u.note)...)
	case CSV:
		u.recs = append(u.recs, u.csv.parse(u.text, false, dropSpan)...)
	case JSON:
		u.recs = append(u.recs, u.json.parse(u.text, false, dropSpan)...)
	default:
		return u.recs
	}
	at := 0
	for i := range u.recs {
		r := &u.recs[i]
		for at+1 < len(u.starts) && u.starts[at+1].start <= r.start {
			at++
		}
		u.attribute(r, &u.starts[at])
	}
	return u.recs
}

// bytes is what a group takes up of the chunk.
func (u *unwrapper) bytes(g int32) (n int) {
	for i := u.groups[g].head; i >= 0; i = u.entries[i].next {
		n += u.entries[i].End - u.entries[i].Pos
	}
	return n
}

// lines puts the lines of a group below one another.
func (u *unwrapper) lines(g int32, cut bool) {
	u.starts = append(u.starts, origin{start: len(u.text), group: g, cut: cut})
	u.sizes.add(len(u.text), u.bytes(g))
	for i := u.groups[g].head; i >= 0; i = u.entries[i].next {
		p := &u.entries[i]
		if p.glued && len(u.text) > 0 {
			u.text = u.text[:len(u.text)-1]
		}
		if p.tabless {
			u.text = append(u.text, '\t')
		}
		start := len(u.text)
		u.text = append(u.text, p.Text...)
		if u.wrap.kind == envelope.Syslog {
			u.text = u.decode(start, u.wrap.escapes)
		}
		u.text = append(u.text, '\n')
	}
}

// join puts the chunks of a record of syslog together: a chunk that starts with a TAB, or with a prefix and a label, follows a newline; what
// was cut because it was too long follows nothing.
func (u *unwrapper) join(g int32, cut bool) {
	r := &u.groups[g]
	if u.entries[r.head].Chunk > 1 { // its beginning is lost
		for i := r.head; i >= 0; i = u.entries[i].next {
			u.entries[i].drop = DropOrphan
		}
		return
	}
	escapes := u.wrap.escapes
	chunk := 0
	for i := r.head; i >= 0; i = u.entries[i].next {
		p := &u.entries[i]
		escapes = escapes || bytes.HasPrefix(p.Text, []byte("#011"))
		if p.Chunk > chunk+1 {
			cut = true
			u.note(NoteLostChunks)
		}
		chunk = max(chunk, p.Chunk)
	}
	start := len(u.text)
	u.starts = append(u.starts, origin{start: start, group: g, cut: cut})
	u.sizes.add(start, u.bytes(g))
	for i := r.head; i >= 0; i = u.entries[i].next {
		p := &u.entries[i]
		if p.again {
			continue
		}
		from := len(u.text)
		switch {
		case i == r.head:
		case len(p.Text) == 0: // a line of nothing but its TAB, which a daemon took for blanks at the end
			u.text = append(u.text, "\n\t"...)
			from = len(u.text)
		case u.newLine(p):
			u.text = append(u.text, '\n')
			from = len(u.text)
		}
		u.text = append(u.text, p.Text...)
		if escapes && bytes.HasPrefix(p.Text, []byte("#011")) && i != r.head {
			u.text = append(u.text[:from], '\t')
			u.text = append(u.text, p.Text[4:]...)
			from++
		}
		u.text = u.decode(from, escapes)
	}
	u.text = append(bytes.TrimSuffix(u.text, []byte("\n")), '\n')
	end := len(u.text)
	for range r.repeat {
		u.starts = append(u.starts, origin{start: len(u.text), group: g, cut: cut, copy: true})
		u.text = append(u.text, u.text[start:end]...)
	}
}

// newLine says that a chunk was cut off the one before at a newline.
func (u *unwrapper) newLine(p *placed) bool {
	if p.Class == envelope.Bare || p.Text[0] == '\t' || bytes.HasPrefix(p.Text, []byte("#011")) {
		return true
	}
	l := u.label(p, &record{})
	return l != labelNone && !l.primary()
}

// decode replaces the #ooo of control characters in the text from an offset on, if that is how the source writes them. It may be what a
// statement says, so it is noted.
func (u *unwrapper) decode(from int, escapes bool) []byte {
	b := u.text
	w := -1
	ambiguous := false
	for i := from; i < len(b); i++ {
		c, ok := octal(b[i:])
		if !ok {
			if w >= 0 {
				b[w] = b[i]
				w++
			}
			continue
		}
		// After the newline of a whole record in one message comes the TAB of its next line, or a prefix.
		newline := c == '\n' || c == '\t' && i > from && (w > 0 && b[w-1] == '\n' || w < 0 && b[i-1] == '\n')
		ambiguous = ambiguous || !newline
		if !escapes {
			continue
		}
		if w < 0 {
			w = i
		}
		b[w] = c
		w++
		i += 3
	}
	if ambiguous {
		u.note(NoteAmbiguousEscape)
	}
	if w >= 0 {
		b = b[:w]
	}
	return b
}

// octal reads "#011": the escape of a control character.
func octal(b []byte) (byte, bool) {
	if len(b) < 4 || b[0] != '#' || b[1] < '0' || b[1] > '1' || b[2] < '0' || b[2] > '7' || b[3] < '0' || b[3] > '7' {
		return 0, false
	}
	c := (b[1]-'0')<<6 | (b[2]-'0')<<3 | b[3] - '0'
	return c, c < ' ' || c == 0x7f
}

// inside reads an entry whose text is an envelope again: CloudNativePG's records in a container's log.
func (u *unwrapper) inside(g int32) {
	u.text = u.text[:0]
	for i := u.groups[g].head; i >= 0; i = u.entries[i].next {
		u.text = append(u.text, u.entries[i].Text...)
	}
	u.text = append(u.text, '\n')
	u.nested.Kind = envelope.CloudNativePG
	e, ok := u.nested.Next(bytes.Clone(u.text), 0)
	reason := DropMalformed
	if ok && e.Class == envelope.Wrapped {
		u.fields(g, e.Fields)
		return
	}
	if ok && e.Class != envelope.Malformed {
		reason = DropForeign
	}
	for i := u.groups[g].head; i >= 0; i = u.entries[i].next {
		u.entries[i].drop = reason
	}
}

// attribute tells a record what its envelope says of it.
func (u *unwrapper) attribute(r *record, o *origin) {
	g := &u.groups[o.group]
	p := &u.entries[g.head]
	r.cut = r.cut || o.cut
	if !r.hasTime && p.HasTime {
		r.time, r.hasTime, r.zoneUnknown = p.Time, true, p.Assumed
	}
	if u.wrap.kind == envelope.Syslog || u.wrap.kind == envelope.CloudSQL {
		r.host = p.Host
	}
	if len(r.pid) == 0 {
		r.pid = p.Pid
	}
	if !o.copy {
		r.number = g.number
	}
	if u.wrap.kind == envelope.CloudSQL {
		r.message, r.detail, r.context, r.query = unfile(r.message), unfile(r.detail), unfile(r.context), unfile(r.query)
	}
}

// unfile takes the file and line that AlloyDB puts in front of its messages off: "[postgres.c:123]  ".
func unfile(b []byte) []byte {
	if len(b) == 0 || b[0] != '[' {
		return b
	}
	i := bytes.IndexByte(b[:min(len(b), 128)], ']')
	if i < 0 || !bytes.HasPrefix(b[i:], []byte("]  ")) {
		return b
	}
	name, line, ok := bytes.Cut(b[1:i], []byte(":"))
	if !ok || !allDigits(line) || len(name) == 0 || bytes.ContainsAny(name, " []") {
		return b
	}
	return b[i+3:]
}

// fields makes a record of the fields of an entry.
func (u *unwrapper) fields(g int32, f *envelope.Fields) {
	p := &u.entries[u.groups[g].head]
	rec := record{
		user: f.User, database: f.Database, app: f.App, client: f.Client, session: f.Session, pid: f.Pid, tag: f.Tag, vxid: f.Vxid,
		state: f.State, message: f.Message, detail: f.Detail, context: f.Context, query: f.Query, bytes: u.bytes(g), host: p.Host,
		hasVxid: f.Vxid != nil, hasCtx: len(f.InternalQuery) > 0 || len(f.Context) > 0 || len(f.Query) > 0,
		worker: string(f.Backend) == "parallel worker" || len(f.Leader) > 0 && string(f.Leader) != "0",
	}
	if len(f.Detail) == 0 {
		rec.detail = nil
	}
	if t, n, ok := u.clock.read(f.Time); ok && n == len(f.Time) {
		rec.time, rec.hasTime, rec.zoneUnknown = t, true, u.clock.unknown
	} else if p.HasTime {
		rec.time, rec.hasTime = p.Time, true
	}
	if rec.severity = labelOf(f.Severity); rec.severity == labelNone {
		rec.severity = severityOf(f.Severity, f.State)
	}
	if u.wrap.kind == envelope.Azure {
		u.azure(&rec, f.Prefix)
	}
	if !rec.severity.primary() {
		for i := u.groups[g].head; i >= 0; i = u.entries[i].next {
			u.entries[i].drop = DropForeign
		}
		return
	}
	u.recs = append(u.recs, rec)
}

// azure takes the prefix and the label off the message of a flexible server, whose entries have no other place for them. A single server's
// message is bare.
func (u *unwrapper) azure(r *record, prefix []byte) {
	u.azurePrefix(r, prefix)
	l, start, ok := findLabel(r.message[:min(len(r.message), maxPrefix)])
	if !ok || r.severity.primary() && l != r.severity || timeShape(r.message) == 0 && len(prefix) > 0 {
		return
	}
	head, text := r.message[:start], r.message[start:]
	_, n := labelAt(text)
	if n == 0 {
		return
	}
	if r.severity == labelNone {
		r.severity = l
	}
	u.azurePrefix(r, head)
	r.message = text[n:]
	rec := record{message: r.message}
	u.stderr.verbose(&rec)
	if r.message = rec.message; rec.state != nil {
		r.state = rec.state
	}
}

// azurePrefix reads "%t-%c-", the prefix that Azure has unless it is changed: of another one the process says whose the record is.
func (u *unwrapper) azurePrefix(r *record, b []byte) {
	t, n, ok := u.clock.read(b)
	if !ok {
		return
	}
	if !r.hasTime {
		r.time, r.hasTime, r.zoneUnknown = t, true, u.clock.unknown
	}
	id := bytes.Trim(b[n:], "-")
	if k := sessionShape(id); k > 0 && k == len(id) {
		r.session = id
	}
}

// maxPrefix is how long what stands before the label of a message may be.
const maxPrefix = 1024
