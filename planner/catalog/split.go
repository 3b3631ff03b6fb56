package catalog

import (
	"bytes"
	"fmt"
	"strings"
)

// piece is one statement of a script, without the semicolon.
type piece struct {
	text string
	line int    // of its first token, from 1
	verb string // first word in lower case
}

// splitter cuts a script into statements as psql does: it knows strings, quoted names, dollar quotes, nested comments, parentheses, BEGIN
// ATOMIC bodies, backslash commands and the data lines after COPY ... FROM STDIN.
type splitter struct {
	src     string
	pos     int
	line    int // at pos
	skipped map[string]int
}

// next returns the next statement; ok is false at the end of the script.
func (s *splitter) next() (p piece, ok bool, err error) {
	for {
		s.blanks()
		if s.pos >= len(s.src) {
			return piece{}, false, nil
		}
		switch s.src[s.pos] {
		case '\\':
			s.meta()
			continue
		case ';':
			s.pos++
			continue
		}
		p, err = s.statement()
		if err != nil {
			return piece{}, false, err
		}
		if p.verb == "copy" && fromStdin(p.text) {
			if err := s.copyData(p.line); err != nil {
				return piece{}, false, err
			}
		}
		return p, true, nil
	}
}

// blanks skips white space and comments.
func (s *splitter) blanks() {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			s.advance(1)
		case strings.HasPrefix(s.src[s.pos:], "--"):
			s.skipLine()
		case strings.HasPrefix(s.src[s.pos:], "/*"):
			s.comment()
		default:
			return
		}
	}
}

func (s *splitter) advance(n int) {
	s.line += strings.Count(s.src[s.pos:s.pos+n], "\n")
	s.pos += n
}

func (s *splitter) skipLine() {
	if i := strings.IndexByte(s.src[s.pos:], '\n'); i >= 0 {
		s.advance(i)
	} else {
		s.pos = len(s.src)
	}
}

// meta skips a backslash command of psql, up to the end of its line.
func (s *splitter) meta() {
	s.skipped["psql command"]++
	s.skipLine()
}

// comment skips a comment; they nest. An open one ends at the end of the script.
func (s *splitter) comment() {
	depth := 0
	for i := s.pos; i < len(s.src); i++ {
		switch {
		case strings.HasPrefix(s.src[i:], "/*"):
			depth++
			i++
		case strings.HasPrefix(s.src[i:], "*/"):
			depth--
			i++
			if depth == 0 {
				s.advance(i + 1 - s.pos)
				return
			}
		}
	}
	s.advance(len(s.src) - s.pos)
}

// statement reads up to the semicolon that ends it, which it consumes.
func (s *splitter) statement() (piece, error) {
	p := piece{line: s.line}
	start, parens, words, atomic := s.pos, 0, 0, 0
	routine := false // CREATE FUNCTION or PROCEDURE: its body may hold semicolons between BEGIN and END
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		switch c := rest[0]; {
		case c == ';' && parens <= 0 && atomic == 0:
			p.text = s.src[start:s.pos]
			s.pos++
			return p, nil
		case c == '\\': // a backslash command inside a statement: \g and its kin end it
			p.text = s.src[start:s.pos]
			ends := strings.HasPrefix(rest, `\g`) || strings.HasPrefix(rest, `\crosstabview`)
			s.meta()
			if ends {
				return p, nil
			}
			return s.rejoin(p, start)
		case c == '(' || c == '[':
			parens++
			s.pos++
		case c == ')' || c == ']':
			parens--
			s.pos++
		case c == '\'' || c == '"' || c == '$' || c == '-' || c == '/':
			if err := s.quoted(start); err != nil {
				return p, err
			}
		case wordStart(c):
			n := 1
			for n < len(rest) && wordPart(rest[n]) {
				n++
			}
			w := strings.ToLower(rest[:n])
			if words++; words == 1 {
				p.verb = w
			}
			if (w == "e" || w == "E") && n < len(rest) && rest[n] == '\'' {
				s.pos += n
				if err := s.escaped(start); err != nil {
					return p, err
				}
				continue
			}
			if p.verb == "create" && words <= 4 && (w == "function" || w == "procedure") {
				routine = true
			}
			if routine {
				atomic = bodyDepth(atomic, w)
			}
			s.pos += n
		default:
			s.advance(1)
		}
	}
	p.text = s.src[start:]
	return p, nil
}

// bodyDepth counts BEGIN and CASE against END, as psql does inside the body of a routine.
func bodyDepth(depth int, word string) int {
	switch {
	case word == "begin", word == "case" && depth > 0:
		return depth + 1
	case word == "end" && depth > 0:
		return depth - 1
	}
	return depth
}

// rejoin continues a statement after a backslash command that does not end it.
func (s *splitter) rejoin(p piece, start int) (piece, error) {
	more, err := s.statement()
	if err != nil {
		return p, fmt.Errorf("%w, after the statement of byte %d", err, start)
	}
	p.text += more.text
	return p, nil
}

// quoted skips a string, a quoted name, a dollar-quoted string or a comment; or one byte if it is none of them.
func (s *splitter) quoted(start int) error {
	rest := s.src[s.pos:]
	switch {
	case rest[0] == '\'' || rest[0] == '"':
		n := strings.IndexByte(rest[1:], rest[0])
		if n < 0 {
			return s.unterminated(start, "quote")
		}
		s.advance(n + 2) // a doubled quote reads as two strings in a row, which ends at the same byte
	case rest[0] == '$':
		tag := dollarTag(rest)
		if tag == "" {
			s.pos++
			return nil
		}
		n := strings.Index(rest[len(tag):], tag)
		if n < 0 {
			return s.unterminated(start, "dollar quote "+tag)
		}
		s.advance(n + 2*len(tag))
	case strings.HasPrefix(rest, "--"):
		s.skipLine()
	case strings.HasPrefix(rest, "/*"):
		s.comment()
	default:
		s.pos++
	}
	return nil
}

// escaped skips E'...', where a backslash hides the next byte.
func (s *splitter) escaped(start int) error {
	for i := s.pos + 1; i < len(s.src); i++ {
		switch s.src[i] {
		case '\\':
			i++
		case '\'':
			s.advance(i + 1 - s.pos)
			return nil
		}
	}
	return s.unterminated(start, "quote")
}

func (s *splitter) unterminated(start int, what string) error {
	line := strings.Count(s.src[:start], "\n") + 1
	return fmt.Errorf("line %d: split statement: the %s that opens on line %d is never closed", line, what, s.line)
}

// copyData skips the data lines of COPY ... FROM STDIN, up to \. on a line of its own.
func (s *splitter) copyData(line int) error {
	s.skipLine()
	s.advance(min(1, len(s.src)-s.pos))
	for s.pos < len(s.src) {
		start := s.pos
		s.skipLine()
		row := strings.TrimSuffix(s.src[start:s.pos], "\r")
		s.advance(min(1, len(s.src)-s.pos))
		if row == `\.` {
			return nil
		}
		s.skipped["copy row"]++
	}
	return fmt.Errorf(`line %d: copy: its data does not end with \. on a line of its own`, line)
}

func fromStdin(text string) bool {
	fields := strings.Fields(strings.ToLower(text))
	for i := 1; i < len(fields); i++ {
		if fields[i-1] == "from" && strings.TrimRight(fields[i], "(") == "stdin" {
			return true
		}
	}
	return false
}

func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$':
			return s[:i+1]
		case i == 1 && !wordStart(c), !wordPart(c):
			return ""
		}
	}
	return ""
}

func wordStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }

// wordPart holds $ as well: a$b$c is one name, not a dollar quote.
func wordPart(c byte) bool { return wordStart(c) || c >= '0' && c <= '9' || c == '$' }

// notText says why bytes are no script, "" if they may be one.
func notText(ddl []byte) string {
	switch {
	case bytes.HasPrefix(ddl, []byte("PGDMP")):
		return "this is an archive of pg_dump; turn it into a script with: pg_restore --schema-only -f schema.sql"
	case bytes.HasPrefix(ddl, []byte{0x1f, 0x8b}), bytes.HasPrefix(ddl, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "this is a compressed file; decompress it first"
	case bytes.HasPrefix(ddl, []byte{0xff, 0xfe}), bytes.HasPrefix(ddl, []byte{0xfe, 0xff}):
		return "this is UTF-16 text; save it as UTF-8"
	case bytes.IndexByte(ddl, 0) >= 0:
		return "this is not text: it holds a NUL byte"
	}
	return ""
}
