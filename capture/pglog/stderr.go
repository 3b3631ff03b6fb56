package pglog

import "bytes"

// stderrParser cuts a chunk of stderr into records. The chunk starts at a record.
type stderrParser struct {
	prefix *prefix
	clock  clock
	size   *spans
	recs   []record
}

// parse reads a whole chunk. Lines that belong to no record are reported to drop.
func (p *stderrParser) parse(b []byte, cut bool, drop func(reason string, from, to int), note func(string)) []record {
	p.recs = p.recs[:0]
	last := -1 // record of the line before
	for pos := 0; pos < len(b); {
		end := lineEnd(b, pos)
		line := b[pos:end]
		if len(line) > 0 && line[0] == '\t' { // continuation of nothing: the one of a record is taken with it
			drop(DropOrphan, pos, end)
			pos = end
			continue
		}
		first := chop(line)
		var rec record
		m, ambiguous, ok := p.prefix.match(first, &p.clock, &rec)
		if !ok {
			if n := leadingNUL(line); n > 0 && n < len(line) {
				drop(DropBlank, pos, pos+n)
				pos += n
				continue
			}
			drop(DropForeign, pos, end)
			pos = end
			continue
		}
		text := pos + m.text
		stop := end // of the record's lines
		for stop < len(b) && b[stop] == '\t' {
			stop = lineEnd(b, stop)
		}
		body := first[m.text:]
		if stop > end {
			body = untab(b[text:stop])
		}
		if ambiguous {
			note(NoteAmbiguousPrefix)
		}
		if m.label.primary() {
			rec.severity, rec.message, rec.start, rec.bytes = m.label, body, pos, p.size.of(pos, stop)
			rec.zoneUnknown = rec.hasTime && p.clock.unknown
			p.verbose(&rec)
			p.recs = append(p.recs, rec)
			last = len(p.recs) - 1
		} else if k := p.owner(last, &rec); k >= 0 {
			p.recs[k].add(m.label, body)
			p.recs[k].bytes += p.size.of(pos, stop) // the lines of two processes may alternate
		} else {
			drop(DropOrphan, pos, stop)
		}
		pos = stop
	}
	if cut && len(p.recs) > 0 {
		p.recs[len(p.recs)-1].cut = true
	}
	return p.recs
}

// owner finds the record that a DETAIL, CONTEXT, … line belongs to: the last one of the same process.
func (p *stderrParser) owner(last int, line *record) int {
	if line.pid == nil && line.session == nil {
		return last
	}
	for k := last; k >= 0 && k > last-64; k-- {
		if bytes.Equal(p.recs[k].pid, line.pid) && bytes.Equal(p.recs[k].session, line.session) {
			return k
		}
	}
	return -1
}

func (r *record) add(l label, text []byte) {
	switch l {
	case keyDetail:
		if r.detail == nil {
			r.detail = text
		}
	case keyContext:
		r.hasCtx = true
		if r.context == nil {
			r.context = text
		}
	case keyQuery:
		r.hasCtx = true
	case keyStatement:
		r.hasCtx = true
		r.query = text
	}
}

// verbose takes the SQLSTATE of log_error_verbosity=verbose off the message.
func (p *stderrParser) verbose(r *record) {
	m := r.message
	if len(m) < 7 || m[5] != ':' || m[6] != ' ' {
		return
	}
	for _, c := range m[:5] {
		if !isDigit(c) && (c < 'A' || c > 'Z') {
			return
		}
	}
	if !isDigit(m[0]) && !isDigit(m[1]) && !isDigit(m[2]) && !isDigit(m[3]) && !isDigit(m[4]) {
		return // a word of five letters
	}
	r.state, r.message = m[:5], m[7:]
}

// lineEnd is the offset after the newline of the line at pos.
func lineEnd(b []byte, pos int) int {
	if i := bytes.IndexByte(b[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(b)
}

// chop takes the newline off. A CR stays: it may be part of the statement.
func chop(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}

// untab joins the lines of a record in place: the server put one TAB after each newline.
func untab(b []byte) []byte {
	b = chop(b)
	w := -1
	for i := 0; ; {
		k := bytes.IndexByte(b[i:], '\n')
		if k < 0 || i+k+1 >= len(b) {
			if w < 0 {
				return b
			}
			w += copy(b[w:], b[i:])
			return b[:w]
		}
		if w < 0 {
			w = i + k + 1
		} else {
			w += copy(b[w:], b[i:i+k+1])
		}
		i += k + 1
		if b[i] == '\t' {
			i++
		}
	}
}

func leadingNUL(b []byte) int {
	n := 0
	for n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

// isBorder says that a record starts at b. Only its first line is looked at.
func (p *stderrParser) isBorder(b []byte) bool {
	if len(b) == 0 || b[0] == '\t' {
		return false
	}
	var rec record
	m, _, ok := p.prefix.match(chop(b[:lineEnd(b, 0)]), &p.clock, &rec)
	return ok && m.label.primary()
}
