package sqltext

// foldList folds IN ($1, ...) and ARRAY[$1, ...] whose first element is the value at token i, which has just been written. It gives the last
// token taken.
func (s *Scanner) foldList(i int) int {
	if i < 2 || i+2 >= len(s.tokens) || s.tokens[i+1].kind != kComma {
		return i
	}
	switch open := &s.tokens[i-1]; {
	case open.kind == kLParen && s.tokens[i-2].id == kwIn:
		return s.fold(i, i, len(s.slots)-1, kRParen)
	case open.kind == kLBracket && s.tokens[i-2].id == kwArray:
		return s.fold(i, i, len(s.slots)-1, kRBracket)
	}
	return i
}

// foldCasts folds IN ('x'::type, ...) and ARRAY['x'::type, ...] at the comma at token i, whose first element has just been written. Only strings and
// parameters with a type name are folded: the cast is what types them. A cast of a number, or with a type modifier, is an expression over its value.
// It gives the last token taken, i if there is no such list.
func (s *Scanner) foldCasts(i int) int {
	from := int(s.cur.token) + 1
	if !s.dml || from < 2 || i < from+3 || len(s.slots) != int(s.cur.slot)+1 || int(s.slotAt[s.cur.slot]) != from || s.tokens[from+1].kind != kCast {
		return i
	}
	if k := s.tokens[from].kind; !isString(k) && k != kParam {
		return i
	}
	for _, t := range s.tokens[from+2 : i] {
		if !isName(t.kind) && t.kind != kDot {
			return i
		}
	}
	last := i - 1
	switch open := s.tokens[from-2].id; {
	case s.cur.kind == kLParen && open == kwIn:
		last = s.fold(from, last, int(s.cur.slot), kRParen)
	case s.cur.kind == kLBracket && open == kwArray:
		last = s.fold(from, last, int(s.cur.slot), kRBracket)
	}
	if last == i-1 {
		return i
	}
	return last
}

// foldRows folds the rows of a row-valued IN list, whose first row, closed at token i, has just been written.
func (s *Scanner) foldRows(i int, first level) int {
	from := int(first.token)
	if from < 2 || int(first.slot) == len(s.slots) || i+2 >= len(s.tokens) || s.tokens[i+1].kind != kComma {
		return i
	}
	if s.tokens[from-1].kind == kLParen && s.tokens[from-2].id == kwIn && s.plainRow(from, i, len(s.slots)-int(first.slot)) {
		return s.fold(from, i, int(first.slot), kRParen)
	}
	return i
}

// plainRow says whether tokens[from:to+1] are a row of n values and nothing else.
func (s *Scanner) plainRow(from, to, n int) bool {
	if to-from != 2*n {
		return false
	}
	for k := from + 2; k < to; k += 2 {
		if s.tokens[k].kind != kComma {
			return false
		}
	}
	return true
}

// fold turns the list whose first element is tokens[from:to+1], with the slots from slot on, into that element alone, if all the others have
// its shape and the list ends with a token of kind end. It gives the last token taken.
func (s *Scanner) fold(from, to, slot int, end kind) int {
	width, slots := to-from+1, len(s.slots)-slot
	kinds := s.slots[slot:]
	first := s.kinds[:0]
	for _, sl := range kinds {
		first = append(first, sl.Kind)
	}
	s.kinds = first
	n, j := 1, to+1
	for j+width < len(s.tokens) && s.tokens[j].kind == kComma {
		if !s.sameShape(from, j+1, width, slot, slots) {
			break
		}
		for k := range kinds {
			kinds[k].Kind = s.widest[k]
		}
		j += width + 1
		n++
	}
	if n < 2 || j >= len(s.tokens) || s.tokens[j].kind != end {
		for k := range kinds {
			kinds[k].Kind = first[k]
		}
		return to
	}
	for k := range kinds {
		kinds[k].List = true
	}
	for at := to + 2; at < j; at += width + 1 {
		for k := range kinds {
			v := Value{Slot: slot + k + 1}
			s.readValue(at+int(s.slotAt[slot+k])-from, &v)
			s.values = append(s.values, v)
		}
	}
	s.longest = max(s.longest, n)
	s.out = append(s.out, " "+listMarker...)
	return j - 1
}

// sameShape says whether tokens[at:at+width] are tokens[from:from+width] up to the values of the n slots from slot on. It leaves the widest kinds of
// both in s.widest.
func (s *Scanner) sameShape(from, at, width, slot, n int) bool {
	s.widest = s.widest[:0]
	for _, sl := range s.slots[slot : slot+n] {
		s.widest = append(s.widest, sl.Kind)
	}
	next := 0
	for k := range width {
		a, b := &s.tokens[from+k], &s.tokens[at+k]
		if next < len(s.widest) && int(s.slotAt[slot+next]) == from+k {
			kind, ok := s.valueKind(b)
			if !ok {
				return false
			}
			switch widest := s.widest[next]; {
			case kind == widest:
			case kind == Int && widest == BigInt, kind == BigInt && widest == Int:
				s.widest[next] = BigInt
			default:
				return false
			}
			next++
			continue
		}
		if a.kind != b.kind || a.id != b.id || a.flags&tMark != b.flags&tMark || !s.sameText(a, b) {
			return false
		}
	}
	return next == len(s.widest)
}

// valueKind gives the kind of the value at a token, if it is one.
func (s *Scanner) valueKind(t *token) (Kind, bool) {
	switch t.kind {
	case kInt:
		digits, signed := s.digits(t)
		k, _ := s.integer(digits, signed)
		return k, true
	case kNumber:
		return Numeric, true
	case kParam:
		return Bind, true
	case kBits:
		return Bits, true
	}
	return String, isString(t.kind)
}

// sameText says whether two tokens of one kind are written alike, up to the case of unquoted words.
func (s *Scanner) sameText(a, b *token) bool {
	if a.end-a.start != b.end-b.start {
		return false
	}
	if a.kind == kWord && a.id != kwNone {
		return true
	}
	x, y := s.src[a.start:a.end], s.src[b.start:b.end]
	if a.kind != kWord {
		return string(x) == string(y)
	}
	for i := range x {
		l, r := x[i], y[i]
		if l != r && (l|0x20 != r|0x20 || l|0x20 < 'a' || l|0x20 > 'z') {
			return false
		}
	}
	return true
}
