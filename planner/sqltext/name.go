package sqltext

import "strings"

// plainKeywords are unreserved keywords that common columns are called by and that name a column or a table in a query without quotes just as
// well as with them: the grammar of queries gives them no other meaning in any place where a name may stand.
const plainKeywords = `action attribute comment content data domain enum event header index input key label language level location mode name object option
options owner parameter password policy priority procedure program role rule schema server source statistics storage system target template text trigger
type types value version view`

var plainKeyword = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(plainKeywords) {
		m[w] = true
	}
	return m
}()

// writeName writes a quoted name, without quotes where they change nothing, and gives the last token it took.
func (s *Scanner) writeName(i int) int {
	if i > 0 && i == len(s.tokens)-1 && s.writeLabel(i) {
		return i
	}
	t, last := &s.tokens[i], i
	s.blank(kWord)
	s.prev, s.prevID = kQuoted, kwNone
	if t.kind == kQuoted && t.flags&tEscape == 0 {
		if name := s.src[t.start+1 : t.end-1]; s.needsNoQuotes(name) {
			s.out = append(s.out, name...)
		} else {
			s.out = append(s.out, s.src[t.start:t.end]...)
		}
		return last
	}
	esc := byte(0)
	if t.kind == kUQuoted {
		esc, last = s.escapeAfter(i)
	}
	name, ok := appendString(s.scratch[:0], t.kind, s.src[t.start:t.end], esc)
	s.scratch = name
	s.bad = s.bad || !ok
	if s.needsNoQuotes(name) {
		s.out = append(s.out, name...)
		return last
	}
	s.out = append(s.out, '"')
	for _, b := range name {
		if b == '"' {
			s.out = append(s.out, '"')
		}
		s.out = append(s.out, b)
	}
	s.out = append(s.out, '"')
	return last
}

// needsNoQuotes says whether a name reads the same without quotes.
func (s *Scanner) needsNoQuotes(name []byte) bool {
	if len(name) == 0 || classes[name[0]]&cStart == 0 {
		return false
	}
	acc := uint8(0)
	for _, b := range name {
		c := classes[b]
		if c&cCont == 0 || c&cUpper != 0 {
			return false
		}
		acc |= c
	}
	if acc&cHigh != 0 {
		return true
	}
	e := keywordsByHash.find(name, 0, len(name))
	return e == nil || e.cat == catUnreserved && s.dml && plainKeyword[e.word]
}
