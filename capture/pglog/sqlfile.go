package pglog

import "bytes"

// splitter walks over a .sql file as psql does: statements end at a semicolon outside quotes, comments, parentheses and the BEGIN ATOMIC
// body of a function; a backslash at the start of a line is a command; COPY … FROM stdin is followed by rows up to "\.".
type splitter struct {
	inCopy bool // at the start: the rows of a COPY go on
}

// piece is a part of a .sql file.
type piece uint8

const (
	pieceStatement piece = iota
	pieceCopyData
	pieceMeta
	pieceBlank
)

// split reports the pieces of b and how much of it they cover. With final the rest is a piece too; otherwise it waits for more bytes.
func (s *splitter) split(b []byte, final bool, emit func(p piece, text []byte)) (used int) {
	for used < len(b) {
		if s.inCopy {
			n, end := copyData(b[used:])
			if n == 0 && !final {
				return used
			}
			if n == 0 {
				n = len(b) - used
			}
			emit(pieceCopyData, b[used:used+n])
			s.inCopy = !end
			used += n
			continue
		}
		n := blankSpan(b[used:])
		if n > 0 {
			emit(pieceBlank, b[used:used+n])
			used += n
			continue
		}
		if n = skipComments(b[used:]); n > 0 && used+n < len(b) && b[used+n] == '\\' {
			emit(pieceBlank, b[used:used+n]) // comments of a command, not of a statement
			used += n
		}
		if b[used] == '\\' {
			n := bytes.IndexByte(b[used:], '\n') + 1
			if n == 0 {
				if !final {
					return used
				}
				n = len(b) - used
			}
			emit(pieceMeta, b[used:used+n])
			used += n
			continue
		}
		n = statementSpan(b[used:])
		if n == 0 {
			if !final {
				return used
			}
			n = len(b) - used
		}
		text := b[used : used+n]
		isCopy := copyFromStdin(text)
		if isCopy { // the rows start on the next line
			nl := bytes.IndexByte(b[used+n:], '\n')
			if nl < 0 && !final {
				return used
			}
			if nl < 0 {
				nl = len(b) - used - n - 1
			}
			emit(pieceStatement, text)
			emit(pieceBlank, b[used+n:used+n+nl+1])
			used += n + nl + 1
			s.inCopy = true
			continue
		}
		emit(pieceStatement, text)
		used += n
	}
	return used
}

// copyData is the length of whole rows, and whether the end mark is among them.
func copyData(b []byte) (n int, end bool) {
	for n < len(b) {
		i := bytes.IndexByte(b[n:], '\n')
		if i < 0 {
			return n, false
		}
		line := b[n : n+i]
		n += i + 1
		if string(line) == `\.` || string(line) == "\\.\r" {
			return n, true
		}
	}
	return n, false
}

// blankSpan is the length of blanks and stray semicolons at the start. Comments belong to the statement after them: they may hold its tags.
func blankSpan(b []byte) int {
	n := 0
	for n < len(b) && (b[n] == ' ' || b[n] == ';' || b[n] == 0 || b[n] >= '\t' && b[n] <= '\r') {
		n++
	}
	return n
}

// skipComments is the length of blanks and whole comments at the start.
func skipComments(b []byte) int {
	i := 0
	for i < len(b) {
		switch {
		case b[i] == ' ' || b[i] >= '\t' && b[i] <= '\r':
			i++
		case b[i] == '-' && i+1 < len(b) && b[i+1] == '-':
			i = lineEnd(b, i)
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '*':
			n := commentSpan(b[i:])
			if n == 0 {
				return i
			}
			i += n
		default:
			return i
		}
	}
	return i
}

// statementSpan is the length of the statement at the start, with its semicolon; 0 if its end is not in b. A comment after the last
// semicolon is a statement of its own without tokens.
func statementSpan(b []byte) int {
	depth, words, begins := 0, 0, 0
	create, routine := false, false
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case c == '\'':
			escapes := i > 0 && b[i-1]|0x20 == 'e' && (i < 2 || !identByte(b[i-2]))
			n := quotedSpan(b[i:], '\'', escapes)
			if n == 0 {
				return 0
			}
			i += n
		case c == '"':
			n := quotedSpan(b[i:], '"', false)
			if n == 0 {
				return 0
			}
			i += n
		case c == '-' && i+1 < len(b) && b[i+1] == '-':
			n := bytes.IndexByte(b[i:], '\n')
			if n < 0 {
				return 0
			}
			i += n + 1
		case c == '/' && i+1 < len(b) && b[i+1] == '*':
			n := commentSpan(b[i:])
			if n == 0 {
				return 0
			}
			i += n
		case c == '$':
			n, open := dollarSpan(b[i:])
			if open {
				return 0
			}
			i += max(n, 1)
		case c == '(' || c == '[':
			depth++
			i++
		case c == ')' || c == ']':
			depth = max(depth-1, 0)
			i++
		case c == '\\' && i+1 < len(b) && b[i+1] == ';':
			i += 2
		case c == '\\': // \g and its kin end the statement
			return i
		case c == ';':
			i++
			if depth == 0 && begins == 0 {
				return i
			}
		case identByte(c):
			n := i
			for i < len(b) && (identByte(b[i]) || b[i] == '$') {
				i++
			}
			word := b[n:i]
			if words++; words == 1 {
				create = is(word, "create")
			} else if create && words <= 4 && (is(word, "function") || is(word, "procedure")) {
				routine = true
			}
			if routine && depth == 0 {
				switch {
				case is(word, "begin"):
					begins++
				case is(word, "case") && begins > 0:
					begins++
				case is(word, "end") && begins > 0:
					begins--
				}
			}
		default:
			i++
		}
	}
	return 0
}

func is(word []byte, lower string) bool {
	if len(word) != len(lower) {
		return false
	}
	for i := range word {
		if word[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

func identByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c >= 0x80 }

func quotedSpan(b []byte, q byte, escapes bool) int {
	for i := 1; i < len(b); i++ {
		if escapes && b[i] == '\\' {
			i++
		} else if b[i] == q {
			if i+1 < len(b) && b[i+1] == q {
				i++
				continue
			}
			return i + 1
		}
	}
	return 0
}

func commentSpan(b []byte) int {
	depth := 0
	for i := 0; i+1 < len(b); i++ {
		if b[i] == '/' && b[i+1] == '*' {
			depth++
			i++
		} else if b[i] == '*' && b[i+1] == '/' {
			depth--
			if i++; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// dollarSpan is the length of a dollar-quoted string; open says that it starts one that does not end in b.
func dollarSpan(b []byte) (n int, open bool) {
	i := 1
	for i < len(b) && identByte(b[i]) && (i > 1 || !isDigit(b[i])) {
		i++
	}
	if i >= len(b) {
		return 0, true // the tag itself may go on
	}
	if b[i] != '$' {
		return i, false
	}
	tag := b[:i+1]
	k := bytes.Index(b[i+1:], tag)
	if k < 0 {
		return 0, true
	}
	return i + 1 + k + len(tag), false
}

// copyFromStdin says that rows follow the statement.
func copyFromStdin(b []byte) bool {
	var words [3][]byte // the last words seen, outside quotes and comments
	first := true
	found := false
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '-' && i+1 < len(b) && b[i+1] == '-':
			n := bytes.IndexByte(b[i:], '\n')
			if n < 0 {
				return found
			}
			i += n + 1
		case c == '/' && i+1 < len(b) && b[i+1] == '*':
			n := commentSpan(b[i:])
			if n == 0 {
				return found
			}
			i += n
		case c == '\'' || c == '"':
			n := quotedSpan(b[i:], c, false)
			if n == 0 {
				return found
			}
			words[0], words[1] = words[1], nil
			i += n
		case identByte(c):
			n := i
			for i < len(b) && identByte(b[i]) {
				i++
			}
			word := b[n:i]
			if first && !is(word, "copy") {
				return false
			}
			first = false
			words[0], words[1] = words[1], word
			if is(words[0], "from") && is(words[1], "stdin") {
				found = true
			}
		default:
			i++
		}
	}
	return found
}
