package sqltext

import "unicode/utf8"

// token is a token of PostgreSQL's lexer: src[start:end].
type token struct {
	start, end int32
	id         kw
	kind       kind
	flags      tokenFlags
}

type kind uint8

// The kinds of tokens.
const (
	kNone    kind = iota
	kWord         // unquoted identifier or keyword
	kQuoted       // "x"
	kUQuoted      // U&"x"
	kInt          // digits, 0x, 0o, 0b
	kNumber       // with a point or an exponent
	kString       // 'x'
	kEString      // E'x'
	kUString      // U&'x'
	kDollar       // $$x$$
	kBits         // B'x' or X'x'
	kParam        // $1
	kOp           // operator
	kCast         // ::
	kDotDot       // ..
	kAssign       // :=
	kLParen
	kRParen
	kLBracket
	kRBracket
	kComma
	kDot
	kColon
	kSemi
	kOther // a byte that begins no token
)

type tokenFlags uint8

const (
	tEscape tokenFlags = 1 << iota // a string with doubled quotes, backslashes or a continuation; a quoted name with doubled quotes
	tUpper                         // a word with upper-case letters; the same bit as cUpper
	tSigned                        // a number with a minus sign before it
	tMark                          // PostgreSQL 18's list marker follows
)

const (
	cCont  = 1 << iota // may continue an identifier
	cUpper             // A-Z
	cHigh              // 0x80 and above
	cOp                // operator character
	cSpace
	cDigit
	cStart // may begin an identifier
	cLoose // ~!@#^&|`?% : an operator that holds one may end in + or -
)

// classes gives the lexical classes of a byte (scan.l of PostgreSQL 17).
var classes = func() (c [256]uint8) {
	for b := range 256 {
		switch {
		case b >= 'A' && b <= 'Z':
			c[b] = cCont | cUpper | cStart
		case b >= 'a' && b <= 'z', b == '_':
			c[b] = cCont | cStart
		case b >= 0x80:
			c[b] = cCont | cHigh | cStart
		case b >= '0' && b <= '9':
			c[b] = cCont | cDigit
		case b == '$':
			c[b] = cCont
		case b == ' ' || b >= '\t' && b <= '\r':
			c[b] = cSpace
		}
	}
	for _, b := range []byte("~!@#^&|`?+-*/%<>=") {
		c[b] |= cOp
	}
	for _, b := range []byte("~!@#^&|`?%") {
		c[b] |= cLoose
	}
	return c
}()

// kinds gives the kind of a token that is one byte and nothing else.
var kinds = [256]kind{'(': kLParen, ')': kRParen, '[': kLBracket, ']': kRBracket, ',': kComma, ';': kSemi}

// lex reads the tokens of one statement from src[i:] into s.tokens and its comments into s.comments. It stops after the semicolon that ends
// the statement, or at the end of src, and gives the position; ok is false where no token border can be trusted.
func (s *Scanner) lex(i int) (end int, ok bool) {
	src := s.src
	for i < len(src) {
		b := src[i]
		c := classes[b]
		switch {
		case c&cSpace != 0:
			i++
			continue
		case c&cStart != 0:
			i, ok = s.word(i)
		case kinds[b] != kNone:
			if s.punct(kinds[b], i) {
				return i + 1, true
			}
			i++
			continue
		case c&cDigit != 0:
			i, ok = s.number(i)
		case c&cOp != 0:
			i, ok = s.operator(i)
		default:
			i, ok = s.special(b, i)
		}
		if !ok {
			return len(src), false
		}
	}
	return i, true
}

func (s *Scanner) push(k kind, start, end int, flags tokenFlags) {
	s.tokens = append(s.tokens, token{start: int32(start), end: int32(end), kind: k, flags: flags})
}

// punct takes a one-byte token; it says whether the statement ends here.
func (s *Scanner) punct(k kind, i int) bool {
	switch k {
	case kSemi:
		if s.parens <= 0 && s.atomic == 0 {
			return true
		}
	case kLParen:
		s.parens++
	case kRParen:
		s.parens--
	case kLBracket:
		s.unsign()
	}
	s.push(k, i, i+1, 0)
	return false
}

func (s *Scanner) word(i int) (int, bool) {
	src := s.src
	if i+1 < len(src) && (src[i+1] == '\'' || src[i+1] == '&') {
		if end, ok, taken := s.prefixed(i); taken {
			return end, ok
		}
	}
	start, acc, b := i, uint8(0), byte(0)
	for i < len(src) {
		b = src[i]
		c := classes[b]
		if c&cCont == 0 {
			break
		}
		acc |= c
		i++
	}
	t := token{start: int32(start), end: int32(i), kind: kWord, flags: tokenFlags(acc & cUpper)}
	if acc&cHigh != 0 && !utf8.Valid(src[start:i]) {
		return i, false
	}
	n := len(s.tokens)
	if acc&(cHigh|cDigit) == 0 && (b != '.' || !s.dotAt(i)) && (n == 0 || s.tokens[n-1].kind != kDot) {
		// neither part of a qualified name nor spelled as no keyword is
		if e := keywordsByHash.find(src, start, i); e != nil {
			t.id = s.keywordHere(e)
		}
	}
	s.tokens = append(s.tokens, t)
	return i, true
}

// dotAt says whether the point at i is the one of a qualified name, and not the first byte of a number.
func (s *Scanner) dotAt(i int) bool {
	return i < len(s.src) && (i+1 == len(s.src) || classes[s.src[i+1]]&cDigit == 0)
}

// keywordHere says whether a keyword's spelling is one at this place: after a dot it names an attribute, after AS mostly a label.
func (s *Scanner) keywordHere(e *entry) kw {
	n := len(s.tokens)
	if n == 0 {
		s.create = e.id == kwCreate
		return e.id
	}
	prev := &s.tokens[n-1]
	switch prev.id {
	case kwAs:
		switch e.id {
		case kwSelect, kwWith, kwTable, kwNot:
		default:
			if e.cat == catReserved {
				return kwNone
			}
		}
	}
	if s.create {
		s.routine(n, prev.id, e.id)
	}
	return e.id
}

// routine counts the blocks of a CREATE FUNCTION ... BEGIN ATOMIC, whose semicolons do not end the statement.
func (s *Scanner) routine(n int, prev, id kw) {
	switch id {
	case kwFunction, kwProcedure:
		if n == 1 || n == 3 && prev == kwReplace {
			s.isRoutine = true
		}
	case kwAtomic:
		if s.isRoutine && prev == kwBegin {
			s.atomic++
		}
	case kwCase:
		if s.atomic > 0 {
			s.atomic++
		}
	case kwEnd:
		if s.atomic > 0 {
			s.atomic--
		}
	}
}

// prefixed takes the strings that begin with a letter: E”, B”, X”, U&”, U&"". N” is the word nchar and a string.
func (s *Scanner) prefixed(i int) (end int, ok, taken bool) {
	src := s.src
	switch src[i] | 0x20 {
	case 'e':
		if src[i+1] == '\'' {
			end, ok = s.quoted(kEString, i, i+1)
			return end, ok, true
		}
	case 'b', 'x':
		if src[i+1] == '\'' {
			end, ok = s.quoted(kBits, i, i+1)
			return end, ok, true
		}
	case 'n':
		if src[i+1] == '\'' {
			s.tokens = append(s.tokens, token{start: int32(i), end: int32(i + 1), kind: kWord, id: kwNchar, flags: tUpper})
			return i + 1, true, true
		}
	case 'u':
		if i+2 < len(src) && src[i+1] == '&' {
			switch src[i+2] {
			case '\'':
				end, ok = s.quoted(kUString, i, i+2)
				return end, ok, true
			case '"':
				end, ok = s.identifier(kUQuoted, i, i+2)
				return end, ok, true
			}
		}
	}
	return i, false, false
}

// special takes what is left: quotes, dollars, dots, colons, and bytes that begin nothing.
func (s *Scanner) special(b byte, i int) (int, bool) {
	src := s.src
	var next byte
	if i+1 < len(src) {
		next = src[i+1]
	}
	switch b {
	case '\'':
		return s.quoted(kString, i, i)
	case '"':
		return s.identifier(kQuoted, i, i)
	case '$':
		return s.dollar(i)
	case '.':
		if classes[next]&cDigit != 0 {
			return s.number(i)
		}
		if next == '.' {
			s.push(kDotDot, i, i+2, 0)
			return i + 2, true
		}
		s.push(kDot, i, i+1, 0)
		return i + 1, true
	case ':':
		if next == ':' {
			s.unsign()
			s.push(kCast, i, i+2, 0)
			return i + 2, true
		}
		if next == '=' {
			s.push(kAssign, i, i+2, 0)
			return i + 2, true
		}
		s.push(kColon, i, i+1, 0)
		return i + 1, true
	case 0:
		return i, false
	}
	s.push(kOther, i, i+1, 0)
	return i + 1, true
}

// operator takes an operator or a comment.
func (s *Scanner) operator(i int) (int, bool) {
	src := s.src
	if i+1 < len(src) {
		if src[i] == '-' && src[i+1] == '-' {
			return s.lineComment(i), true
		}
		if src[i] == '/' && src[i+1] == '*' {
			return s.blockComment(i)
		}
		if classes[src[i+1]]&cOp == 0 {
			s.push(kOp, i, i+1, 0)
			return i + 1, true
		}
	}
	if i < s.run.start || i >= s.run.end {
		s.run = operatorRun(src, i)
	}
	end := s.run.end
	// a trailing + or - belongs to the next token unless a loose character comes before it
	if s.run.loose < i {
		end = max(i, s.run.solid) + 1
	}
	if end-i >= maxName {
		return i, false
	}
	s.push(kOp, i, end, 0)
	return end, true
}

// run is a run of operator characters up to a comment: tokens that are cut from one run share it, so that a long run is read once.
type run struct {
	start, end int
	solid      int // last character that is neither + nor -
	loose      int // last character after which an operator may end in + or -
}

func operatorRun(src []byte, i int) run {
	r := run{start: i, end: i, solid: i - 1, loose: i - 1}
	for r.end < len(src) && classes[src[r.end]]&cOp != 0 {
		b := src[r.end]
		if r.end > i && r.end+1 < len(src) && (b == '-' && src[r.end+1] == '-' || b == '/' && src[r.end+1] == '*') {
			break
		}
		if b != '+' && b != '-' {
			r.solid = r.end
		}
		if classes[b]&cLoose != 0 {
			r.loose = r.end
		}
		r.end++
	}
	return r
}

// maxName is PostgreSQL's NAMEDATALEN: an operator of that length is an error.
const maxName = 64

func (s *Scanner) lineComment(i int) int {
	start := i
	for i < len(s.src) && s.src[i] != '\n' && s.src[i] != '\r' {
		i++
	}
	s.comments = append(s.comments, Span{start, i})
	return i
}

func (s *Scanner) blockComment(i int) (int, bool) {
	src, start, depth := s.src, i, 0
	for i+1 < len(src) {
		switch {
		case src[i] == '/' && src[i+1] == '*':
			depth++
			i += 2
		case src[i] == '*' && src[i+1] == '/':
			depth--
			i += 2
			if depth == 0 {
				s.comments = append(s.comments, Span{start, i})
				if string(src[start:i]) == listMarker && len(s.tokens) > 0 {
					s.tokens[len(s.tokens)-1].flags |= tMark
				}
				return i, true
			}
		default:
			i++
		}
	}
	return i, false
}

// listMarker is how PostgreSQL 18 writes a list of constants that it folded.
const listMarker = "/*, ... */"
