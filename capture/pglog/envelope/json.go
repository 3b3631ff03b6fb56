package envelope

import (
	"bytes"
	"strconv"
	"time"
)

// slot is a value of an object that means something to its kind.
type slot uint8

const (
	slotNone slot = iota
	slotText
	slotStamp // of the envelope
	slotID
	slotHost
	slotLogger
	slotTime // from here on: the fields of a record
	slotUser
	slotDatabase
	slotPid
	slotClient
	slotSession
	slotNumber
	slotTag
	slotVxid
	slotSeverity
	slotState
	slotMessage
	slotDetail
	slotInternalQuery
	slotContext
	slotQuery
	slotApp
	slotBackend
	slotLeader
	slotPrefix
	slots
)

// value is a JSON value as it stands in the content: without its quotes if it is a string.
type value struct {
	raw  []byte
	text bool
	set  bool
}

// found are the values of one object.
type found [slots]value

// object reads the JSON object at pos, or what stands between two of them.
func (s *Scanner) object(b []byte, pos int) (e Entry, ok bool) {
	if n := s.framing(b[pos:]); n > 0 {
		return Entry{Pos: pos, End: pos + n, Class: Frame}, true
	}
	e = Entry{Pos: pos, Class: Malformed}
	if b[pos] != '{' {
		i := bytes.IndexByte(b[pos:], '\n')
		if i < 0 {
			return e, false
		}
		e.End, e.Class = pos+i+1, Foreign
		return e, true
	}
	s.found = found{}
	w := walker{b: b, pos: pos, leaf: s.leaf}
	if w.value("", "", 0) {
		e.End = w.pos
		if e.End < len(b) && b[e.End] == '\n' {
			e.End++
		}
		s.fill(&e)
		return e, true
	}
	if !w.bad {
		return e, false
	}
	// Up to the line that breaks the grammar, if there are lines before it, or else with it.
	i := bytes.LastIndexByte(b[pos:w.pos], '\n')
	if i < 0 {
		if i = bytes.IndexByte(b[w.pos:], '\n'); i < 0 {
			return e, false
		}
		i += w.pos - pos
	}
	e.End = pos + i + 1
	return e, true
}

// framing is the length of what opens, separates and closes objects: blanks, commas, brackets, and the outer object of Azure's {"records":[.
func (s *Scanner) framing(b []byte) int {
	n := 0
	for n < len(b) {
		switch b[n] {
		case ' ', '\t', '\r', '\n', ',', '[', ']', '}', 0:
			n++
			continue
		case 0xef:
			if bytes.HasPrefix(b[n:], []byte("\xef\xbb\xbf")) {
				n += 3
				continue
			}
		case '{':
			if s.Kind == Azure {
				if k := recordsHead(b[n:]); k > 0 {
					n += k
					continue
				}
			}
		}
		break
	}
	return n
}

// recordsHead is the length of `{"records":[` at the start of b, with simple members before it if there are any; 0 if it is not there.
func recordsHead(b []byte) int {
	w := walker{b: b, pos: 1}
	for {
		w.space()
		key, ok := w.string()
		if w.space(); !ok || !w.take(':') {
			return 0
		}
		w.space()
		if w.pos >= len(b) {
			return 0
		}
		switch c := b[w.pos]; {
		case c == '[' && key == "records":
			return w.pos + 1
		case c == '[' || c == '{':
			return 0
		}
		if !w.value("", "", maxDepth) {
			return 0
		}
		if w.space(); !w.take(',') {
			return 0
		}
	}
}

// maxDepth is how deeply values may be nested.
const maxDepth = 64

// walker reads one JSON value and hands on the simple ones in it with the names of their members.
type walker struct {
	b    []byte
	pos  int
	leaf func(parent, key string, v value)
	bad  bool // the grammar is broken at pos; else the content ended
}

func (w *walker) space() {
	for w.pos < len(w.b) && (w.b[w.pos] == ' ' || w.b[w.pos] == '\t' || w.b[w.pos] == '\r' || w.b[w.pos] == '\n') {
		w.pos++
	}
}

// take reads one byte; another one than c breaks the grammar.
func (w *walker) take(c byte) bool {
	if w.pos >= len(w.b) {
		return false
	}
	if w.b[w.pos] != c {
		w.bad = true
		return false
	}
	w.pos++
	return true
}

// string reads a string and gives what stands between its quotes. A raw newline breaks the grammar.
func (w *walker) string() (string, bool) {
	raw, ok := w.raw()
	return string(raw), ok
}

func (w *walker) raw() ([]byte, bool) {
	if !w.take('"') {
		return nil, false
	}
	for start := w.pos; ; w.pos++ {
		i := bytes.IndexAny(w.b[w.pos:], "\"\\\n")
		if i < 0 {
			w.pos = len(w.b)
			return nil, false
		}
		w.pos += i
		switch w.b[w.pos] {
		case '"':
			w.pos++
			return w.b[start : w.pos-1], true
		case '\n':
			w.bad = true
			return nil, false
		}
		if w.pos++; w.pos < len(w.b) && w.b[w.pos] == '\n' {
			w.bad = true
			return nil, false
		}
		if w.pos >= len(w.b) {
			return nil, false
		}
	}
}

// value reads a value. parent is the name of the member that holds the object that holds the value.
func (w *walker) value(parent, key string, depth int) bool {
	if w.space(); w.pos >= len(w.b) {
		return false
	}
	switch c := w.b[w.pos]; c {
	case '{', '[':
		if depth >= maxDepth {
			w.bad = true
			return false
		}
		w.pos++
		return w.nested(parent, key, depth+1, c+2) // '}' and ']' are two after their partners
	case '"':
		raw, ok := w.raw()
		if ok && w.leaf != nil {
			w.leaf(parent, key, value{raw: raw, text: true, set: true})
		}
		return ok
	}
	start := w.pos
	for w.pos < len(w.b) && (isDigit(w.b[w.pos]) || w.b[w.pos]|0x20 >= 'a' && w.b[w.pos]|0x20 <= 'z' || w.b[w.pos] == '-' || w.b[w.pos] == '+' || w.b[w.pos] == '.') {
		w.pos++
	}
	if w.pos >= len(w.b) {
		return false
	}
	if w.pos == start {
		w.bad = true
		return false
	}
	if raw := w.b[start:w.pos]; w.leaf != nil && string(raw) != "null" {
		w.leaf(parent, key, value{raw: raw, set: true})
	}
	return true
}

// nested reads the members of an object or the elements of an array up to its end.
func (w *walker) nested(parent, key string, depth int, end byte) bool {
	if w.space(); w.pos < len(w.b) && w.b[w.pos] == end {
		w.pos++
		return true
	}
	for {
		member, outer := key, parent
		if end == '}' {
			w.space()
			name, ok := w.string()
			if w.space(); !ok || !w.take(':') {
				return false
			}
			member, outer = name, key
		}
		if !w.value(outer, member, depth) {
			return false
		}
		if w.space(); w.pos >= len(w.b) {
			return false
		}
		if w.b[w.pos] == end {
			w.pos++
			return true
		}
		if !w.take(',') {
			return false
		}
	}
}

func (s *Scanner) leaf(parent, key string, v value) {
	at := slotNone
	switch s.Kind {
	case Docker:
		at = dockerSlot(parent, key)
	case CloudSQL:
		at = cloudSlot(parent, key)
	case PlanetScale:
		at = messageSlot(parent, key)
	case Azure:
		at = azureSlot(key)
	case CloudNativePG:
		at = cnpgSlot(parent, key)
	case Supabase:
		at = supabaseSlot(parent, key)
	}
	if at != slotNone && !s.found[at].set {
		s.found[at] = v
	}
}

// get decodes a value; nil if there is none or it cannot be decoded. What an empty string is depends on the reader.
func (s *Scanner) get(at slot) []byte {
	v := s.found[at]
	if !v.set {
		return nil
	}
	if !v.text || bytes.IndexByte(v.raw, '\\') < 0 {
		return v.raw
	}
	start := len(s.arena)
	s.arena = append(append(s.arena, v.raw...), '"')
	text, _, ok := Unquote(s.arena[start:])
	if !ok {
		return v.raw // a bad escape: the bytes as they are
	}
	return text
}

// fill makes an entry of the values of an object.
func (s *Scanner) fill(e *Entry) {
	e.Class = Foreign
	e.Host, e.ID = s.get(slotHost), s.get(slotID)
	if stamp := s.get(slotStamp); stamp != nil {
		if t, n := isoTime(stamp); n > 0 {
			e.Time, e.HasTime = t, true
		} else if us, err := strconv.ParseInt(string(stamp), 10, 64); err == nil && us > 1e15 && us < 1e16 {
			e.Time, e.HasTime = us*int64(time.Microsecond), true
		}
	}
	if !s.Kind.Structured() {
		if !s.found[slotText].set {
			return
		}
		e.Class, e.Text = Wrapped, s.get(slotText)
		if n := len(e.Text); n > 0 && e.Text[n-1] == '\n' {
			e.Text = e.Text[:n-1]
		} else if s.Kind == Docker {
			e.Open = true
		}
		return
	}
	if !s.found[slotMessage].set || s.Kind == CloudNativePG && string(s.found[slotLogger].raw) != "postgres" {
		return
	}
	e.Class, e.Fields = Wrapped, s.record()
	e.Pid = e.Fields.Pid
}

// record takes a free one and fills it.
func (s *Scanner) record() *Fields {
	if s.used == len(s.fields) {
		s.fields = append(s.fields, new(Fields))
	}
	f := s.fields[s.used]
	s.used++
	*f = Fields{
		Time: s.get(slotTime), User: s.get(slotUser), Database: s.get(slotDatabase), Pid: s.get(slotPid), Client: s.get(slotClient),
		Session: s.get(slotSession), Number: s.get(slotNumber), Tag: s.get(slotTag), Vxid: s.get(slotVxid), Severity: s.get(slotSeverity), State: s.get(slotState),
		Message: s.get(slotMessage), Detail: s.get(slotDetail), InternalQuery: s.get(slotInternalQuery), Context: s.get(slotContext),
		Query: s.get(slotQuery), App: s.get(slotApp), Backend: s.get(slotBackend), Leader: s.get(slotLeader), Prefix: s.get(slotPrefix),
	}
	return f
}
