package sqltext

import "slices"

// row is a row of VALUES that was written; the rows of its shape that follow are folded into it.
type row struct {
	from, to int // its tokens, parentheses included
	slot, n  int // its slots
	out      int // where its text ends
	count    int // rows of this shape
}

// maxShapes is how many shapes of rows one VALUES list may have before the others stay as they are: nullable columns make a few.
const maxShapes = 64

// valuesRow takes note of the row that token i closed, if it is one of VALUES, and skips the rows after it that have the shape of a row that was
// written: their values join its slots. It gives the last token taken.
func (s *Scanner) valuesRow(i int, closed level) (last int, isRow bool) {
	from := int(closed.token)
	switch {
	case from > 0 && s.tokens[from-1].id == kwValues:
		s.rows = s.rows[:0]
	case from > 1 && s.rowEnd > 0 && s.rowEnd == from-2 && s.tokens[from-1].kind == kComma:
	default:
		return i, false
	}
	r := row{from: from, to: i, slot: int(closed.slot), n: len(s.slots) - int(closed.slot), out: len(s.out), count: 1}
	if r.n > 0 && len(s.rows) < maxShapes && !s.holdsQuery(from, i) {
		s.rows = append(s.rows, r)
	}
	for i+2 < len(s.tokens) && s.tokens[i+1].kind == kComma && s.tokens[i+2].kind == kLParen {
		end := s.joinRow(i + 2)
		if end < 0 {
			break
		}
		i = end
	}
	s.rowEnd = i
	if i+1 == len(s.tokens) || s.tokens[i+1].kind != kComma {
		s.markRows()
	} else if s.queryInRow(i + 2) { // it may hold VALUES of its own
		s.markRows()
		s.rowEnd = -1
	}
	return i, true
}

// queryInRow says whether the row that begins at token i holds a query.
func (s *Scanner) queryInRow(i int) bool {
	depth := 0
	for ; i < len(s.tokens); i++ {
		switch s.tokens[i].kind {
		case kLParen:
			depth++
		case kRParen:
			if depth--; depth <= 0 {
				return false
			}
		case kWord:
			if s.holdsQuery(i, i+1) {
				return true
			}
		}
	}
	return false
}

func (s *Scanner) holdsQuery(from, to int) bool {
	for _, t := range s.tokens[from:to] {
		if t.id == kwSelect || t.id == kwWith || t.id == kwValues || t.id == kwTable {
			return true
		}
	}
	return false
}

// joinRow adds the values of the row that begins at token at to the written row of the same shape, and gives the row's last token, -1 if there is none.
func (s *Scanner) joinRow(at int) int {
	for k := range s.rows {
		r := &s.rows[k]
		width := r.to - r.from + 1
		if at+width > len(s.tokens) || !s.sameShape(r.from, at, width, r.slot, r.n) {
			continue
		}
		for n := range r.n {
			sl := &s.slots[r.slot+n]
			sl.Kind, sl.List = s.widest[n], true
			v := Value{Slot: r.slot + n + 1}
			s.readValue(at+int(s.slotAt[r.slot+n])-r.from, &v)
			s.values = append(s.values, v)
		}
		r.count++
		s.longest = max(s.longest, r.count)
		return at + width - 1
	}
	return -1
}

// markRows writes the list marker after each row that stands for several.
func (s *Scanner) markRows() {
	const marker = " " + listMarker
	for k := len(s.rows) - 1; k >= 0; k-- {
		r := &s.rows[k]
		if r.count == 1 {
			continue
		}
		if r.out == len(s.out) {
			s.out = append(s.out, marker...)
			continue
		}
		s.out = slices.Insert(s.out, r.out, []byte(marker)...)
		for n := range s.trace {
			if int(s.trace[n].out) >= r.out {
				s.trace[n].out += int32(len(marker))
			}
		}
	}
	s.rows = s.rows[:0]
}
