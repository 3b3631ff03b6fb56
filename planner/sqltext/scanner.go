// Package sqltext turns the text of SQL statements into templates: it reads PostgreSQL's tokens, takes the values out and writes a canonical
// text, without the C parser and without allocating once it is warm. It is a pure leaf: it imports nothing of the project and does no I/O.
package sqltext

// Span is a part of a text: text[Start:End], in bytes.
type Span struct{ Start, End int }

// Value is one value that stood in a statement.
type Value struct {
	Slot int    // the template's slot it belongs to, from 1; the elements of a list share one, in order
	Kind Kind   // of this value; a list's slot has the widest of its elements'. Bind: the value is not in the text
	Bind int    // the client's parameter number
	Text []byte // decoded: a string without quotes and escapes, a number in decimal with its sign; nil for Bind. Valid until the next call of Reset
	Span Span   // where it stands in the source
}

// Statement is one statement of a source text.
type Statement struct {
	Span     Span    // in the source, without the semicolon; comments after the last semicolon belong to the last statement
	Text     []byte  // canonical text; nil if Unlexable. Valid until the next call of Next
	Slots    []Slot  // of Text. Valid until the next call of Next
	Values   []Value // in order of slots, list elements in order. Valid until the next call of Next
	Comments []Span  // in the source, in order. Valid until the next call of Next
	Bound    Bound
	Verb     Verb
	Elements int // elements of the longest list that was folded, 0 if none was

	key []byte
}

// Scanner yields the statements of source texts. It keeps its buffers, so that a warm scanner does not allocate. It is not safe for use by
// several goroutines; the zero value is ready.
type Scanner struct {
	src  []byte
	pos  int
	stmt Statement

	// of the lexer
	tokens    []token
	comments  []Span
	parens    int
	atomic    int
	create    bool
	isRoutine bool
	run       run // of operator characters, read last

	// of the writer
	out     []byte
	slots   []Slot
	slotAt  []int32 // token of each slot
	values  []Value
	arena   []byte // decoded strings that are not verbatim in src
	scratch []byte
	widest  []Kind
	binds   []int // the client's numbers by the template's; 0 of a list and of literals that are equal
	equals  []equal
	kinds   []Kind
	rows    []row // of the VALUES list being read
	rowEnd  int   // token that closed its last row
	levels  []level
	cur     level
	prev    kind // of what was written last
	prevID  kw
	dml     bool // expressions may hold parameters here
	typeEnd bool // the bracket closed last belongs to a type name
	deep    bool
	bad     bool
	longest int
	trace   []tracePoint
	tracing bool
}

// keepBuffers is the capacity, in elements, above which a buffer is not kept for the next text.
const keepBuffers = 1 << 16

// maxSource is the longest text that is read at all: positions are 32 bits wide.
const maxSource = 1 << 30

// Reset begins a new source text. src must not change until the last use of what Next gave.
func (s *Scanner) Reset(src []byte) {
	s.src, s.pos = src, 0
	s.arena, s.run = s.arena[:0], run{}
	if cap(s.tokens) > keepBuffers || cap(s.out)+cap(s.arena)+cap(s.scratch) > 64*keepBuffers {
		*s = Scanner{src: src, tracing: s.tracing}
	}
}

// Next moves to the next statement that is not empty and says whether there is one.
func (s *Scanner) Next() bool {
	for s.pos < len(s.src) {
		start := s.pos
		s.tokens, s.comments = s.tokens[:0], s.comments[:0]
		s.parens, s.atomic, s.create, s.isRoutine = 0, 0, false, false
		if len(s.src) > maxSource {
			s.pos = len(s.src)
			s.stmt = Statement{Span: Span{start, s.pos}, Bound: Unlexable}
			return true
		}
		end, ok := s.lex(start)
		if !ok {
			s.pos = len(s.src)
			s.stmt = Statement{Span: Span{start, s.pos}, Bound: Unlexable}
			return true
		}
		s.pos = end
		if len(s.tokens) == 0 {
			continue
		}
		s.finish(start, end)
		return true
	}
	return false
}

// Statement gives the current statement. It is valid until the next call of Next.
func (s *Scanner) Statement() *Statement { return &s.stmt }

// finish writes the statement that was read from src[start:end].
func (s *Scanner) finish(start, end int) {
	span := Span{start, end}
	if end > start && s.src[end-1] == ';' && int(s.tokens[len(s.tokens)-1].end) < end {
		span.End--
		s.trailing()
	}
	if first := int(s.tokens[0].start); len(s.comments) == 0 || s.comments[0].Start > first {
		span.Start = first
	} else {
		span.Start = s.comments[0].Start
	}
	if s.pos == len(s.src) && len(s.comments) > 0 {
		span.End = max(span.End, s.comments[len(s.comments)-1].End)
	}
	st := &s.stmt
	*st = Statement{Span: span, Comments: s.comments}
	if !s.write() {
		st.Bound = Unlexable
		return
	}
	st.Verb = verbOf(s.tokens)
	if st.Verb != VerbPrepare { // there the types before AS speak of the client's numbers
		s.renumber()
	}
	text := len(s.out)
	s.out = append(s.out, 0)
	s.out = appendSlots(s.out, s.slots)
	st.Text, st.key = s.out[:text:text], s.out
	st.Slots, st.Values, st.Elements = s.slots, s.values, s.longest
	switch {
	case s.deep:
		st.Bound = TooDeep
	case text > MaxBytes:
		st.Bound = TooLong
	}
}

// trailing looks past the semicolon: where nothing but comments and semicolons follow, they are the statement's.
func (s *Scanner) trailing() {
	mark, i := len(s.comments), s.pos
	for i < len(s.src) {
		i = s.skipBlank(i, true)
		if i < len(s.src) && s.src[i] == ';' {
			i++
			continue
		}
		break
	}
	if i < len(s.src) {
		s.comments = s.comments[:mark]
		return
	}
	s.pos = i
}
