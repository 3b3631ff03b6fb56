package sqltext

// level is an open parenthesis, bracket or CASE.
type level struct {
	base   int32 // depth of the tree outside it
	chain  int32 // operators in the chain being read
	joins  int32 // joins and set operations so far
	slot   int32 // number of slots when it was opened
	token  int32
	kind   kind
	items  bool // in the item list of ORDER BY, GROUP BY or DISTINCT ON, where a bare integer is a position
	typmod bool // holds type modifiers that are integers, or the bounds of an array type
	ofType bool // holds type modifiers of any form
	strict bool // JSON_TABLE: a string is a constant, never an expression
	query  bool // COPY (query): utility statement outside
}

// kCase is the kind of a level that CASE opened, and kValue that of a written $n.
const (
	kCase  kind = 100
	kValue kind = 101
)

// tracePoint ties a position in the written text to one in the source.
type tracePoint struct{ out, src int32 }

// write turns the tokens into canonical text, slots and values. It is false if a literal cannot be decoded.
func (s *Scanner) write() bool {
	s.out, s.slots, s.slotAt, s.values = s.out[:0], s.slots[:0], s.slotAt[:0], s.values[:0]
	s.levels, s.cur, s.prev, s.prevID = s.levels[:0], level{}, kNone, kwNone
	s.typeEnd, s.deep, s.bad, s.longest = false, false, false, 0
	s.rows, s.rowEnd = s.rows[:0], -1
	s.trace = s.trace[:0]
	s.dml = startsQuery(s.tokens)
	settings := s.settingAt()
	for i := 0; i < len(s.tokens); i++ {
		t := &s.tokens[i]
		if s.tracing {
			s.trace = append(s.trace, tracePoint{int32(len(s.out)), t.start})
		}
		if i >= settings && isName(t.kind) && t.id != kwDefault {
			i = s.writeSlot(i, t, true)
			continue
		}
		switch t.kind {
		case kWord:
			if t.id != kwNone && t.id < kwLast {
				s.keyword(i, t.id)
			}
			s.writeWord(i, t)
		case kParam, kInt, kNumber, kString, kEString, kUString, kDollar, kBits:
			i = s.writeValue(i)
		case kLParen, kLBracket:
			s.open(i, t.kind)
		case kRParen, kRBracket:
			i = s.close(i, t.kind)
		case kComma:
			s.cur.chain = 0
			if last := s.foldCasts(i); last > i {
				i = last
				continue
			}
			s.glue(',', kComma)
		case kDot:
			if s.prev == kDot || s.prev == kDotDot || s.prev == kInt {
				s.out = append(s.out, ' ')
			}
			s.glue('.', kDot)
		case kQuoted, kUQuoted:
			i = s.writeName(i)
		default:
			s.writeOther(t)
		}
	}
	return !s.bad
}

// glue writes a byte that no blank goes before.
func (s *Scanner) glue(b byte, k kind) {
	s.out = append(s.out, b)
	s.prev, s.prevID = k, kwNone
}

// blank writes the blank before a token of kind k where one belongs.
func (s *Scanner) blank(k kind) {
	switch s.prev {
	case kNone, kLParen, kLBracket:
		return
	case kDot, kCast:
		if k == kWord {
			return
		}
	}
	s.out = append(s.out, ' ')
}

func (s *Scanner) writeWord(i int, t *token) {
	if i > 0 && i == len(s.tokens)-1 && s.writeLabel(i) {
		return
	}
	s.blank(kWord)
	word := s.src[t.start:t.end]
	if t.id == kwNchar {
		word = []byte("nchar") // N'x' is read as the word and a string
	}
	if t.flags&tUpper != 0 {
		s.out = appendLower(s.out, word)
	} else {
		s.out = append(s.out, word...)
	}
	s.prev, s.prevID = kWord, t.id
}

func appendLower(dst, word []byte) []byte {
	for _, b := range word {
		if b >= 'A' && b <= 'Z' {
			b |= 0x20
		}
		dst = append(dst, b)
	}
	return dst
}

// writeLabel writes the name of a savepoint: clients count them up, and PostgreSQL 17 takes them for constants too.
func (s *Scanner) writeLabel(i int) bool {
	before := s.tokens[i-1].id
	switch s.tokens[0].id {
	case kwSavepoint:
		if i != 1 {
			return false
		}
	case kwRelease:
		if i > 2 || i == 2 && before != kwSavepoint {
			return false
		}
	case kwRollback:
		if before != kwTo && (before != kwSavepoint || i < 2 || s.tokens[i-2].id != kwTo) {
			return false
		}
	default:
		return false
	}
	switch s.tokens[i].kind {
	case kWord, kQuoted, kUQuoted, kParam:
		s.blank(kWord)
		s.out = append(s.out, "sp"...)
		s.prev, s.prevID = kWord, kwNone
		return true
	}
	return false
}

// writeOther writes operators and punctuation that stand alone.
func (s *Scanner) writeOther(t *token) {
	text := s.src[t.start:t.end]
	switch t.kind {
	case kOther: // in no statement: the text may be cut, or its strings written for other settings, so nothing outside a string is sure to be none
		s.bad = true
		return
	case kCast:
		s.deepen()
		if s.prev == kColon || s.prev == kCast {
			s.out = append(s.out, ' ')
		}
		s.out = append(s.out, "::"...)
		s.prev, s.prevID = kCast, kwNone
		return
	case kOp:
		s.deepen()
		if string(text) == "!=" {
			text = []byte("<>")
		}
		if string(text) == "*" && s.prev == kDot {
			s.glue('*', kOp)
			return
		}
	}
	s.blank(t.kind)
	s.out = append(s.out, text...)
	s.prev, s.prevID = t.kind, kwNone
}

// open writes an opening parenthesis or bracket.
func (s *Scanner) open(i int, k kind) {
	next := level{kind: k, slot: int32(len(s.slots)), token: int32(i), strict: s.cur.strict}
	spaced := s.prev != kNone
	switch s.prev {
	case kWord:
		spaced = s.prevID != kwNone && s.prevID < kwLast && keywordFlags[s.prevID]&fSpace != 0
	case kQuoted, kLParen, kLBracket:
		spaced = false
	case kRParen, kRBracket, kValue:
		spaced = k == kLParen
	}
	if spaced {
		s.out = append(s.out, ' ')
	}
	if k == kLParen {
		s.out = append(s.out, '(')
		next.items = s.itemsHere(i)
		next.strict = next.strict || s.prevID == kwJsonTable
		next.typmod = s.typmodHere(i)
		next.ofType = i > 0 && (s.prev == kWord || s.prev == kQuoted) && s.castBefore(i-1)
		if i == 1 && s.prevID == kwCopy {
			s.dml, next.query = true, true
		}
	} else {
		s.out = append(s.out, '[')
		next.typmod = s.boundsHere(i)
	}
	s.enter(next)
	s.prev, s.prevID = k, kwNone
}
