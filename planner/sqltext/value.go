package sqltext

import (
	"bytes"
	"slices"
	"strconv"
)

// form is how a value is written.
type form uint8

const (
	asParam form = iota // $n: an expression may stand here
	asConst             // '$n': only a string constant may stand here
	asText              // the integer itself: a position or a type modifier
	asDummy             // 1 or 1.0: only a number may stand here, and the value is dropped
)

// writeValue writes the value at token i and gives the last token it took.
func (s *Scanner) writeValue(i int) int {
	t := &s.tokens[i]
	if t.kind == kParam && i > 0 && i == len(s.tokens)-1 && s.writeLabel(i) {
		return i
	}
	switch f := s.formOf(i, t); f {
	case asText, asDummy:
		s.writeNumber(t, f)
		return i
	default:
		return s.writeSlot(i, t, f == asConst)
	}
}

func (s *Scanner) formOf(i int, t *token) form {
	switch t.kind {
	case kInt, kNumber:
		return s.numberForm(i, t)
	case kParam:
		if !s.dml || s.typeBefore(i) {
			return asConst
		}
		return asParam
	case kBits:
		if s.dml && !s.constantOnly(i) {
			return asParam
		}
		return asDummy
	}
	if !s.dml || s.cur.strict || !s.exprBefore(i) {
		return asConst
	}
	if s.cur.items && s.wholeItem(i) {
		return asConst
	}
	return asParam
}

// maxPosition is the number of digits of the highest position a target list can have: PostgreSQL allows 1,664 columns. A longer number is an
// error in the server, so it is taken out.
const maxPosition = 4

func (s *Scanner) numberForm(i int, t *token) form {
	if t.kind == kInt {
		if s.cur.typmod {
			return asText
		}
		if s.cur.items && s.wholeItem(i) {
			if digits, _ := s.digits(t); len(digits) <= maxPosition {
				return asText
			}
		}
	}
	if !s.dml || s.constantOnly(i) {
		return asDummy
	}
	return asParam
}

// constantOnly says whether a parameter may not stand at i: CYCLE ... TO constant DEFAULT constant.
func (s *Scanner) constantOnly(i int) bool {
	return s.prev == kWord && (s.prevID == kwDefault || s.prevID == kwTo && s.beforeWord(i) != kwSimilar)
}

// beforeWord gives the keyword two tokens before i.
func (s *Scanner) beforeWord(i int) kw {
	if i < 2 {
		return kwNone
	}
	return s.tokens[i-2].id
}

// exprBefore says whether the token before i lets an expression begin at i. A string anywhere else is the constant of a typed literal, or of
// some other place where the grammar wants a constant.
func (s *Scanner) exprBefore(i int) bool {
	switch s.prev {
	case kNone, kLBracket, kComma, kOp, kColon, kAssign:
		return true
	case kLParen:
		return s.beforeWord(i) != kwExtract
	case kWord:
		switch s.prevID {
		case kwZone:
			return i > 2 && s.tokens[i-2].id == kwTime && s.tokens[i-3].id == kwAt
		case kwDefault, kwTo:
			return !s.constantOnly(i)
		}
		return s.prevID != kwNone && s.prevID < kwLast && keywordFlags[s.prevID]&fExpr != 0
	}
	return false
}

// typeBefore says whether the parameter at i stands where pg_stat_statements put it in place of a typed literal's string.
func (s *Scanner) typeBefore(i int) bool {
	switch s.prev {
	case kQuoted:
		return true
	case kRParen:
		return s.typeEnd
	case kLParen:
		return s.beforeWord(i) == kwExtract
	case kWord:
		switch s.prevID {
		case kwNone, kwReal, kwBoolean, kwInt, kwInteger, kwSmallint, kwBigint, kwPrecision, kwVarying, kwText, kwJson, kwXml, kwName:
			return i > 0
		case kwZone:
			return s.beforeWord(i) == kwTime && (i < 3 || s.tokens[i-3].id != kwAt)
		}
		return s.prevID < kwLast && keywordFlags[s.prevID]&fType != 0
	}
	return false
}

// wholeItem says whether the constant at i is a whole item of ORDER BY, GROUP BY or DISTINCT ON.
func (s *Scanner) wholeItem(i int) bool {
	if i == 0 {
		return false
	}
	switch before := &s.tokens[i-1]; before.kind {
	case kComma, kLParen:
	case kWord:
		switch before.id {
		case kwBy, kwDistinct, kwAll:
		default:
			return false
		}
	default:
		return false
	}
	for i++; i < len(s.tokens) && s.tokens[i].kind == kRParen; i++ {
	}
	if i == len(s.tokens) {
		return true
	}
	switch after := &s.tokens[i]; after.kind {
	case kComma, kSemi:
		return true
	case kWord:
		switch after.id {
		case kwCollate, kwAt, kwIn, kwIs, kwIsnull, kwNotnull, kwLike, kwIlike, kwSimilar, kwBetween, kwNot, kwAnd, kwOr, kwOperator, kwOverlaps:
			return false
		}
		return true
	}
	return false
}

// writeNumber writes a number that takes no slot.
func (s *Scanner) writeNumber(t *token, f form) {
	s.blank(kInt)
	s.prev, s.prevID = kInt, kwNone
	switch {
	case t.kind == kBits:
		s.out = append(s.out, "b'1'"...)
	case f == asDummy && t.kind == kNumber:
		s.out = append(s.out, "1.0"...)
	case f == asDummy:
		s.out = append(s.out, '1')
	default:
		digits, signed := s.digits(t)
		if signed {
			s.out = append(s.out, '-')
		}
		_, text := s.integer(digits, signed)
		s.out = append(s.out, text...)
	}
}

// digits gives a number without its sign.
func (s *Scanner) digits(t *token) (digits []byte, signed bool) {
	if t.flags&tSigned == 0 {
		return s.src[t.start:t.end], false
	}
	return s.src[s.skipBlank(int(t.start)+1, false):t.end], true
}

// writeSlot writes the value at token i as the next slot and gives the last token it took.
func (s *Scanner) writeSlot(i int, t *token, constant bool) int {
	at := i
	v := Value{Slot: len(s.slots) + 1}
	last := s.readValue(i, &v)
	slot := Slot{Kind: v.Kind, Bind: v.Bind}
	if constant && slot.Kind == Bind {
		slot = Slot{Kind: String}
	}
	s.slots = append(s.slots, slot)
	s.slotAt = append(s.slotAt, int32(at))
	s.values = append(s.values, v)
	s.blank(kValue)
	if constant {
		s.out = append(s.out, '\'')
	}
	s.out = append(s.out, '$')
	if n := len(s.slots); n < 10 {
		s.out = append(s.out, byte('0'+n))
	} else {
		s.out = strconv.AppendInt(s.out, int64(n), 10)
	}
	if constant {
		s.out = append(s.out, '\'')
	}
	s.prev, s.prevID = kValue, kwNone
	if s.tokens[last].flags&tMark != 0 {
		s.slots[len(s.slots)-1].List = true
		s.out = append(s.out, " "+listMarker...)
		return last
	}
	if s.dml && last == i && !constant {
		return s.foldList(i)
	}
	return last
}

// readValue fills v from the value at token i and gives the last token of it: a U&” string takes UESCAPE and its character too.
func (s *Scanner) readValue(i int, v *Value) int {
	t := &s.tokens[i]
	v.Span = Span{int(t.start), int(t.end)}
	switch t.kind {
	case kInt:
		digits, signed := s.digits(t)
		k, text := s.integer(digits, signed)
		v.Kind, v.Text = k, s.signedText(t, text, signed, len(digits))
	case kNumber:
		digits, signed := s.digits(t)
		v.Kind, v.Text = Numeric, s.signedText(t, s.plain(digits), signed, len(digits))
	case kParam:
		v.Kind = Bind
		for _, b := range s.src[t.start+1 : t.end] {
			v.Bind = v.Bind*10 + int(b-'0')
		}
	case kBits:
		v.Kind, v.Text = Bits, s.decoded(t, 0)
	case kUString, kUQuoted:
		esc, last := s.escapeAfter(i)
		v.Kind, v.Text = String, s.decoded(t, esc)
		v.Span.End = int(s.tokens[last].end)
		return last
	case kDollar:
		tag := dollarTag(s.src[t.start:t.end])
		v.Kind, v.Text = String, s.src[int(t.start)+tag:int(t.end)-tag]
	case kWord:
		v.Kind, v.Text = String, s.src[t.start:t.end]
	default:
		v.Kind, v.Text = String, s.decoded(t, 0)
	}
	return i
}

// dollarTag gives the length of the delimiter that a dollar-quoted string begins with.
func dollarTag(lit []byte) int {
	for i := 1; i < len(lit); i++ {
		if lit[i] == '$' {
			return i + 1
		}
	}
	return len(lit)
}

// plain takes the underscores out of a number.
func (s *Scanner) plain(digits []byte) []byte {
	for _, b := range digits {
		if b == '_' {
			s.scratch = s.scratch[:0]
			for _, b := range digits {
				if b != '_' {
					s.scratch = append(s.scratch, b)
				}
			}
			return s.scratch
		}
	}
	return digits
}

// signedText gives a number's text with its sign: from the source where it stands there, else from the arena.
func (s *Scanner) signedText(t *token, text []byte, signed bool, width int) []byte {
	if len(text) == width && (!signed || int(t.end-t.start) == width+1) && sameBytes(text, s.src[int(t.end)-width:t.end]) {
		return s.src[t.start:t.end]
	}
	mark := len(s.arena)
	if signed && string(text) != "0" {
		s.arena = append(s.arena, '-')
	}
	s.arena = append(s.arena, text...)
	return s.arena[mark:len(s.arena):len(s.arena)]
}

func sameBytes(a, b []byte) bool { return len(a) == 0 || &a[0] == &b[0] || string(a) == string(b) }

// escapeAfter gives the escape character of the U& literal at token i, and its last token.
func (s *Scanner) escapeAfter(i int) (esc byte, last int) {
	if i+2 >= len(s.tokens) || s.tokens[i+1].id != kwUescape || s.tokens[i+2].kind != kString {
		return '\\', i
	}
	t := &s.tokens[i+2]
	esc, ok := escapeChar(s.src[t.start:t.end])
	s.bad = s.bad || !ok
	return esc, i + 2
}

// decoded gives the content of a string literal.
func (s *Scanner) decoded(t *token, esc byte) []byte {
	lit := s.src[t.start:t.end]
	if t.flags&tEscape == 0 && t.kind != kUString && t.kind != kUQuoted {
		begin := 1
		if t.kind != kString && t.kind != kQuoted {
			begin = 2
		}
		return lit[begin : len(lit)-1]
	}
	mark := len(s.arena)
	var ok bool
	s.arena, ok = appendString(s.arena, t.kind, lit, esc)
	s.bad = s.bad || !ok
	return s.arena[mark:len(s.arena):len(s.arena)]
}

// renumber gives the parameters the template's numbers: 1, 2, ... by first use, a list as one. The client's numbers behind a list depend on its
// length, and would make a template of every length. Equal literals that are compared with columns of one name share a number too: whoever writes
// o.org_id = 7 and i.org_id = 7 means one value, and a statement where the two differ is another template.
func (s *Scanner) renumber() {
	s.binds, s.equals = s.binds[:0], s.equals[:0]
	highest, value := 0, 0
	for i := range s.slots {
		for s.values[value].Slot <= i {
			value++
		}
		sl := &s.slots[i]
		if sl.Kind != Bind {
			if !sl.List {
				s.pair(i, value)
			}
			continue
		}
		client, at := sl.Bind, -1
		if !sl.List && client <= highest {
			at = slices.Index(s.binds, client)
		}
		if at < 0 {
			at = len(s.binds)
			if sl.List {
				client = 0 // the number of one of its elements says nothing of another slot
			}
			s.binds = append(s.binds, client)
			highest = max(highest, client)
		}
		sl.Bind = at + 1
	}
}

// maxEquals is how many literals of a statement are compared with later ones: the shard key comes early.
const maxEquals = 32

// equal is a literal that is compared with a column.
type equal struct{ column, slot, value int32 }

// pair looks for an earlier literal with the same kind, value and column name as slot i, and gives both one number.
func (s *Scanner) pair(i, value int) {
	at := int(s.slotAt[i])
	if at < 2 || s.values[value].Kind != s.slots[i].Kind {
		return
	}
	op, name := &s.tokens[at-1], &s.tokens[at-2]
	if op.kind != kOp || op.end != op.start+1 || s.src[op.start] != '=' || name.kind != kWord && name.kind != kQuoted {
		return
	}
	for _, e := range s.equals {
		other := &s.tokens[e.column]
		if other.kind != name.kind || other.id != name.id || !s.sameText(other, name) || s.slots[e.slot].Kind != s.slots[i].Kind ||
			!bytes.Equal(s.values[e.value].Text, s.values[value].Text) {
			continue
		}
		if s.slots[e.slot].Bind == 0 {
			s.binds = append(s.binds, 0)
			s.slots[e.slot].Bind = len(s.binds)
		}
		s.slots[i].Bind = s.slots[e.slot].Bind
		return
	}
	if len(s.equals) < maxEquals {
		s.equals = append(s.equals, equal{int32(at - 2), int32(i), int32(value)})
	}
}
