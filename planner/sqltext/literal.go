package sqltext

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// quoted takes a string whose opening quote is at src[q]; start is where its prefix begins. 'a' and 'b' with a newline between them are one string.
func (s *Scanner) quoted(k kind, start, q int) (int, bool) {
	src, i, flags := s.src, q+1, tokenFlags(0)
	for {
		n := bytes.IndexByte(src[i:], '\'')
		if n < 0 {
			return i, false
		}
		if k == kEString && bytes.IndexByte(src[i:i+n], '\\') >= 0 {
			flags |= tEscape
			end, ok := escapedEnd(src, i)
			if !ok {
				return i, false
			}
			i = end
		} else {
			i += n
		}
		i++ // after the quote
		if i < len(src) && src[i] == '\'' {
			flags |= tEscape
			i++
			continue
		}
		next, again := continued(src, i)
		if !again {
			break
		}
		flags |= tEscape
		i = next
	}
	if bytes.IndexByte(src[start:i], 0) >= 0 {
		return i, false
	}
	s.push(k, start, i, flags)
	if k == kEString && flags&tEscape != 0 {
		var ok bool
		if s.scratch, ok = appendString(s.scratch[:0], k, src[start:i], 0); !ok {
			return i, false
		}
	}
	return i, true
}

// escapedEnd finds the quote that ends this part of an E” string, from i on.
func escapedEnd(src []byte, i int) (int, bool) {
	for i < len(src) {
		switch src[i] {
		case '\\':
			i += 2
		case '\'':
			return i, true
		default:
			i++
		}
	}
	return i, false
}

// continued says whether the string that ended before src[i] goes on: white space with a newline in it, -- comments allowed, then a quote.
func continued(src []byte, i int) (int, bool) {
	newline := false
	for i < len(src) {
		switch b := src[i]; {
		case b == '\n' || b == '\r':
			newline = true
			i++
		case classes[b]&cSpace != 0:
			i++
		case b == '-' && i+1 < len(src) && src[i+1] == '-':
			for i < len(src) && src[i] != '\n' && src[i] != '\r' {
				i++
			}
		case b == '\'':
			return i + 1, newline
		default:
			return i, false
		}
	}
	return i, false
}

// identifier takes a quoted name whose opening quote is at src[q].
func (s *Scanner) identifier(k kind, start, q int) (int, bool) {
	src, i, flags := s.src, q+1, tokenFlags(0)
	for {
		n := bytes.IndexByte(src[i:], '"')
		if n < 0 {
			return i, false
		}
		i += n + 1
		if i < len(src) && src[i] == '"' {
			flags |= tEscape
			i++
			continue
		}
		break
	}
	name := src[q+1 : i-1]
	if len(name) == 0 || bytes.IndexByte(name, 0) >= 0 || !utf8.Valid(name) {
		return i, false
	}
	s.push(k, start, i, flags)
	return i, true
}

// dollar takes $1 or $tag$...$tag$.
func (s *Scanner) dollar(i int) (int, bool) {
	src := s.src
	j := i + 1
	if j < len(src) && classes[src[j]]&cDigit != 0 {
		for j < len(src) && classes[src[j]]&cDigit != 0 {
			j++
		}
		// a word may follow directly, as in pg_query: old servers' $1and
		if _, err := strconv.ParseInt(string(src[i+1:j]), 10, 32); err != nil {
			return i, false
		}
		s.push(kParam, i, j, 0)
		return j, true
	}
	if j < len(src) && classes[src[j]]&cStart != 0 {
		for j < len(src) && classes[src[j]]&cCont != 0 && src[j] != '$' {
			j++
		}
	}
	if j >= len(src) || src[j] != '$' {
		s.push(kOther, i, i+1, 0)
		return i + 1, true
	}
	tag := src[i : j+1]
	n := bytes.Index(src[j+1:], tag)
	if n < 0 {
		return i, false
	}
	end := j + 1 + n + len(tag)
	if bytes.IndexByte(src[i:end], 0) >= 0 {
		return i, false
	}
	s.push(kDollar, i, end, 0)
	return end, true
}

// number takes a number and, where it stands as an operand, the minus sign before it: the grammar folds the sign into the constant.
func (s *Scanner) number(i int) (int, bool) {
	end, k, ok := numberEnd(s.src, i)
	if !ok {
		return i, false
	}
	n := len(s.tokens)
	if n > 0 && s.tokens[n-1].kind == kOp {
		if t := &s.tokens[n-1]; t.end-t.start == 1 && s.src[t.start] == '-' && s.operandAt(n-1) {
			t.kind, t.end, t.flags = k, int32(end), tSigned
			return end, true
		}
	}
	s.push(k, i, end, 0)
	return end, true
}

// operandAt says whether the token before index i lets an operand begin at i.
func (s *Scanner) operandAt(i int) bool {
	if i == 0 {
		return true
	}
	switch t := &s.tokens[i-1]; t.kind {
	case kLParen, kLBracket, kComma, kOp, kColon, kAssign:
		return true
	case kWord:
		return t.id < kwLast && keywordFlags[t.id]&fExpr != 0 && (i < 2 || contextual(t.id, s.tokens[i-2].id))
	}
	return false
}

// contextual says whether an unreserved word, after the keyword before it, is the keyword that an expression may follow and not a name.
func contextual(id, before kw) bool {
	switch id {
	case kwFirst, kwNext:
		return before == kwFetch
	case kwBy:
		return before == kwOrder || before == kwGroup || before == kwPartition
	case kwRows, kwRange, kwGroups, kwPassing, kwEscape:
		return false
	}
	return true
}

// unsign gives the sign before a number back: a cast or a subscript binds tighter than the sign.
func (s *Scanner) unsign() {
	n := len(s.tokens)
	if n == 0 || s.tokens[n-1].flags&tSigned == 0 {
		return
	}
	t := s.tokens[n-1]
	digits := t
	digits.flags &^= tSigned
	digits.start = int32(s.skipBlank(int(t.start)+1, false))
	s.tokens[n-1] = token{start: t.start, end: t.start + 1, kind: kOp}
	s.tokens = append(s.tokens, digits)
}

// skipBlank gives the position of the first byte at or after i that is neither white space nor comment; note adds the comments to s.comments.
func (s *Scanner) skipBlank(i int, note bool) int {
	mark := len(s.comments)
	for i < len(s.src) {
		b := s.src[i]
		switch {
		case classes[b]&cSpace != 0:
			i++
			continue
		case b == '-' && i+1 < len(s.src) && s.src[i+1] == '-':
			i = s.lineComment(i)
			continue
		case b == '/' && i+1 < len(s.src) && s.src[i+1] == '*':
			if end, ok := s.blockComment(i); ok {
				i = end
				continue
			}
		}
		break
	}
	if !note {
		s.comments = s.comments[:mark]
	}
	return i
}

// numberEnd finds the end of the number at src[i], which begins with a digit or a point and a digit.
func numberEnd(src []byte, i int) (end int, k kind, ok bool) {
	k = kInt
	at := func(j int) byte {
		if j < len(src) {
			return src[j]
		}
		return 0
	}
	if src[i] == '0' {
		if bits := radix(at(i + 1)); bits != 0 {
			j := i + 2
			for {
				d := j
				if at(d) == '_' {
					d++
				}
				if !digitOf(at(d), bits) {
					break
				}
				j = d + 1
			}
			return j, kInt, j > i+2 && classes[at(j)]&cCont == 0
		}
	}
	j := decimals(src, i)
	if at(j) == '.' && (at(j+1) != '.' || j == i) {
		k = kNumber
		j = decimals(src, j+1)
	}
	if b := at(j); b == 'e' || b == 'E' {
		d := j + 1
		if at(d) == '+' || at(d) == '-' {
			d++
		}
		if classes[at(d)]&cDigit == 0 {
			return j, k, false
		}
		k = kNumber
		j = decimals(src, d)
	}
	return j, k, classes[at(j)]&cStart == 0
}

// decimals skips digits with single underscores between them.
func decimals(src []byte, j int) int {
	for j < len(src) {
		if classes[src[j]]&cDigit != 0 || src[j] == '_' && j+1 < len(src) && classes[src[j+1]]&cDigit != 0 && j > 0 && classes[src[j-1]]&cDigit != 0 {
			j++
			continue
		}
		break
	}
	return j
}

func radix(b byte) int {
	switch b {
	case 'x', 'X':
		return 16
	case 'o', 'O':
		return 8
	case 'b', 'B':
		return 2
	}
	return 0
}

func digitOf(b byte, base int) bool {
	switch base {
	case 2:
		return b == '0' || b == '1'
	case 8:
		return b >= '0' && b <= '7'
	}
	return classes[b]&cDigit != 0 || b|0x20 >= 'a' && b|0x20 <= 'f'
}
