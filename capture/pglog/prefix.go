package pglog

import (
	"bytes"
	"fmt"
)

// prefix is a compiled log_line_prefix. It is not changed by matching, so workers share it.
type prefix struct {
	text  string
	steps []step
	free  bool // has a field that a client can fill with anything
	pid   bool // has %p, %c or another key of a session
	quit  int  // index of the step after %q; -1 none
}

type step struct {
	esc   byte   // 0: a literal
	lit   []byte // of a literal
	width int    // padding; 0 none
	clock bool   // the time of the record: of several the most precise one
}

// Longest texts of the fields that clients fill: names end after NAMEDATALEN-1 = 63 bytes; from PostgreSQL 16 on each byte of an
// application name that is not printable ASCII becomes \xNN.
const (
	maxName = 63
	maxApp  = 63 * 4
	maxHost = 255 + 8 // a DNS name and "(65535)"
	maxTag  = 64

	maxTries = 20_000 // readings of one line: names full of the prefix's own literals have no end of them
)

// compilePrefix reads a log_line_prefix as PostgreSQL does: %% is a percent sign, an unknown escape and a lone % at the end print nothing.
func compilePrefix(text string) (*prefix, error) {
	p := &prefix{text: text, quit: -1}
	var lit []byte
	flush := func() {
		if len(lit) > 0 {
			p.steps = append(p.steps, step{lit: bytes.Clone(lit)})
			lit = lit[:0]
		}
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			lit = append(lit, text[i])
			continue
		}
		if i++; i >= len(text) {
			break
		}
		if text[i] == '%' {
			lit = append(lit, '%')
			continue
		}
		width, left := 0, false
		if text[i] == '-' {
			left = true
			i++
		}
		for i < len(text) && isDigit(text[i]) && width < 1000 {
			width = width*10 + int(text[i]-'0')
			i++
		}
		if i >= len(text) {
			break
		}
		if width == 0 && left {
			width = 0
		}
		c := text[i]
		switch c {
		case 'q':
			flush()
			p.quit = len(p.steps)
		case 'a', 'u', 'd', 'r', 'h', 'i', 'b', 'L':
			p.free = true
			flush()
			p.steps = append(p.steps, step{esc: c, width: width})
		case 'p', 'P', 't', 'm', 'n', 's', 'c', 'l', 'e', 'v', 'x', 'Q':
			flush()
			p.steps = append(p.steps, step{esc: c, width: width})
		}
		if c == 'p' || c == 'c' {
			p.pid = true
		}
	}
	flush()
	p.chooseClock()
	for i := range p.steps {
		if p.steps[i].esc != 0 && p.steps[i].esc != 'P' {
			return p, nil
		}
	}
	return p, fmt.Errorf("read log_line_prefix %q: it has no escape, so records cannot be told apart; set at least %q", text, "%m [%p] ")
}

func (p *prefix) chooseClock() {
	for _, esc := range []byte("mnt") {
		for i := range p.steps {
			if p.steps[i].esc == esc {
				p.steps[i].clock = true
				return
			}
		}
	}
}

// match is where a line's prefix ends and what it says.
type match struct {
	label label
	label0,
	text int // offsets of the label and of the text after it
}

// match reads the prefix and the label of a line. rec keeps the fields; it is only valid if ok. ambiguous says that there was an earlier
// way to read the line: a client can put a whole prefix into its own name, so the last consistent reading is taken.
func (p *prefix) match(line []byte, c *clock, rec *record) (m match, ambiguous, ok bool) {
	m, ok = p.run(line, 0, 0, -1, c, rec)
	if !ok && p.quit >= 0 {
		m, ok = p.background(line, c, rec)
		return m, false, ok
	}
	if !ok || !p.free {
		return m, false, ok
	}
	// Look for a later label that the prefix may belong to.
	limit := min(len(line), m.text+2*maxName+maxApp)
	for from := m.text; from < limit; {
		i := bytes.Index(line[from:limit], []byte(":  "))
		if i < 0 {
			break
		}
		end := from + i
		from = end + 3
		word := end
		for word > m.text && end-word < 16 && (isLetter(line[word-1]) || line[word-1] >= 0x80) {
			word--
		}
		for ; word < end; word++ { // "xLOG:  " holds LOG
			if l := labelOf(line[word:end]); l != labelNone {
				other := record{tries: rec.tries}
				if m2, ok2 := p.run(line, 0, 0, word, c, &other); ok2 {
					keep := *rec
					*rec = other
					rec.start, rec.bytes = keep.start, keep.bytes
					m, ambiguous = m2, true
				}
				break
			}
		}
	}
	return m, ambiguous, true
}

// background reads a line of a process without a session: the prefix ends at %q.
func (p *prefix) background(line []byte, c *clock, rec *record) (match, bool) {
	q := prefix{steps: p.steps[:p.quit], quit: -1}
	return q.run(line, 0, 0, -1, c, rec)
}

// run matches steps[i:] at pos. With at >= 0 the label must start exactly there.
func (p *prefix) run(line []byte, i, pos, at int, c *clock, rec *record) (m match, ok bool) {
	for ; i < len(p.steps); i++ {
		s := &p.steps[i]
		if s.esc == 0 {
			if !bytes.HasPrefix(line[pos:], s.lit) {
				// Blanks at the end of a line may have been lost; blanks inside may not.
				return m, false
			}
			pos += len(s.lit)
			continue
		}
		if isFree(s.esc) {
			return p.runFree(line, i, pos, at, c, rec)
		}
		start := pos
		if s.width > 0 {
			for pos < len(line) && line[pos] == ' ' {
				pos++
			}
		}
		n, good := fixed(s, line[pos:], c, rec)
		if !good && s.width == 0 {
			return m, false
		}
		pos += n
		for s.width > 0 && pos < len(line) && pos-start < s.width && line[pos] == ' ' {
			pos++
		}
		if s.width > 0 && pos-start < s.width {
			return m, false
		}
	}
	if at >= 0 && pos != at {
		return m, false
	}
	l, n := labelAt(line[pos:])
	if l == labelNone {
		return m, false
	}
	return match{label: l, label0: pos, text: pos + n}, true
}

func isFree(esc byte) bool {
	switch esc {
	case 'a', 'u', 'd', 'r', 'h', 'i', 'b', 'L':
		return true
	}
	return false
}

// runFree tries the ends of a field that may hold anything, shortest first, each at the next literal (or, with none, where the rest fits).
func (p *prefix) runFree(line []byte, i, pos, at int, c *clock, rec *record) (m match, ok bool) {
	s := &p.steps[i]
	longest := maxName
	switch s.esc {
	case 'a':
		longest = maxApp
	case 'r', 'h', 'L':
		longest = maxHost
	case 'i', 'b':
		longest = maxTag
	}
	longest = max(longest, s.width)
	var next []byte
	if i+1 < len(p.steps) {
		next = p.steps[i+1].lit
	}
	for end := pos; end <= len(line) && end-pos <= longest; end++ {
		if len(next) > 0 {
			k := bytes.Index(line[end:min(len(line), pos+longest+len(next))], next)
			if k < 0 {
				return m, false
			}
			end += k
		}
		if rec.tries++; rec.tries > maxTries {
			return m, false
		}
		value := line[pos:end]
		if s.width > 0 {
			if len(value) < s.width {
				continue
			}
			value = bytes.Trim(value, " ")
		}
		if !plausible(s.esc, value) {
			continue
		}
		if m, ok = p.run(line, i+1, end, at, c, rec); ok {
			switch s.esc {
			case 'a':
				rec.app = value
			case 'u':
				rec.user = value
			case 'd':
				rec.database = value
			case 'r', 'h':
				rec.client = value
			case 'i':
				rec.tag = value
			case 'b':
				rec.worker = rec.worker || string(value) == "parallel worker"
			}
			return m, true
		}
	}
	return m, false
}

// plausible rules out readings of a field that PostgreSQL cannot have written.
func plausible(esc byte, v []byte) bool {
	switch esc {
	case 'r': // host(port), [local] or nothing
		if len(v) == 0 || string(v) == "[local]" {
			return true
		}
		if v[len(v)-1] != ')' {
			return false
		}
		open := bytes.LastIndexByte(v, '(')
		return open > 0 && allDigits(v[open+1:len(v)-1]) && bytes.IndexByte(v, ' ') < 0
	case 'h', 'L':
		return bytes.IndexByte(v, ' ') < 0
	case 'a':
		return len(v) <= maxName || bytes.Contains(v, []byte(`\x`))
	}
	return true
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return len(b) > 0
}

// fixed reads a field whose form is known and reports its length. Fields that background processes leave empty may be empty.
func fixed(s *step, b []byte, c *clock, rec *record) (n int, ok bool) {
	switch s.esc {
	case 't', 'm':
		t, n, ok := c.read(b)
		if ok && s.clock {
			rec.time, rec.hasTime = t, true
		}
		return n, ok
	case 's': // of the session's start: not used
		if n = dateSpan(b); n == 0 {
			return 0, len(b) == 0 || !isDigit(b[0])
		}
		return n, true
	case 'n':
		t, n, ok := epoch(b)
		if ok && s.clock {
			rec.time, rec.hasTime = t, true
		}
		return n, ok
	case 'p':
		n = span(b, isDigit)
		rec.pid = b[:n]
		return n, n > 0
	case 'P':
		n = span(b, isDigit)
		rec.worker = n > 0
		return n, true
	case 'l', 'x':
		return span(b, isDigit), true
	case 'Q':
		if n = 0; len(b) > 0 && b[0] == '-' {
			n = 1
		}
		return n + span(b[n:], isDigit), true
	case 'c':
		n = span(b, isHex)
		if n == 0 || n >= len(b) || b[n] != '.' {
			return 0, false
		}
		k := span(b[n+1:], isHex)
		rec.session = b[:n+1+k]
		return n + 1 + k, k > 0
	case 'e':
		for n < len(b) && n < 5 && (isDigit(b[n]) || b[n] >= 'A' && b[n] <= 'Z') {
			n++
		}
		if n == 5 {
			rec.state = b[:5]
		}
		return n, n == 5
	case 'v':
		rec.hasVxid = true
		n = span(b, isDigit)
		if n > 0 && n < len(b) && b[n] == '/' {
			n += 1 + span(b[n+1:], isDigit)
			rec.vxid = b[:n]
			return n, true
		}
		return 0, true
	}
	return 0, false
}

func dateSpan(b []byte) int {
	var c clock
	_, n, ok := c.read(b)
	if !ok {
		return 0
	}
	return n
}

func span(b []byte, is func(byte) bool) int {
	n := 0
	for n < len(b) && is(b[n]) {
		n++
	}
	return n
}
