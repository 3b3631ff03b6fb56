package pglog

import "bytes"

// csvParser cuts a chunk of csvlog into records of 23 (PostgreSQL 12), 24 (13) or 26 columns (14 and later), which one file may mix.
// Fields are unescaped in place. The chunk starts at a record.
type csvParser struct {
	clock  clock
	size   *spans
	recs   []record
	fields [26][]byte
}

// parse reads a whole chunk. A record that does not follow the grammar is dropped up to the next line that starts like a record.
func (p *csvParser) parse(b []byte, cut bool, drop func(reason string, from, to int)) []record {
	p.recs = p.recs[:0]
	for pos := 0; pos < len(b); {
		n := leadingNUL(b[pos:])
		if n > 0 {
			drop(DropBlank, pos, pos+n)
			pos += n
			continue
		}
		count, end, ok := p.record(b, pos)
		if ok {
			if rec, good := p.build(count); good {
				rec.start, rec.bytes = pos, p.size.of(pos, end)
				p.recs = append(p.recs, rec)
				pos = end
				continue
			}
		}
		if cut && !ok {
			if rec, good := p.buildCut(b, pos, count); good {
				rec.start, rec.bytes, rec.cut = pos, p.size.of(pos, len(b)), true
				p.recs = append(p.recs, rec)
				break
			}
		}
		end = resyncCSV(b, pos)
		reason := DropMalformed
		if !startsCSV(b[pos:]) {
			reason = DropForeign
		}
		drop(reason, pos, end)
		pos = end
	}
	return p.recs
}

// record splits the record at pos. ok is false if it breaks the grammar: text after a closing quote, a quote in a bare field, no end.
func (p *csvParser) record(b []byte, pos int) (count, end int, ok bool) {
	for {
		if count == len(p.fields) {
			return count, pos, false
		}
		if pos < len(b) && b[pos] == '"' {
			field, next, closed := csvQuoted(b, pos+1)
			if !closed {
				return count, next, false
			}
			p.fields[count] = field
			pos = next
		} else {
			start := pos
			for pos < len(b) && b[pos] != ',' && b[pos] != '\n' {
				if b[pos] == '"' {
					return count, pos, false
				}
				pos++
			}
			p.fields[count] = nil
			if pos > start {
				p.fields[count] = b[start:pos]
			}
		}
		count++
		switch {
		case pos < len(b) && b[pos] == ',':
			pos++
		case pos < len(b) && b[pos] == '\n':
			return count, pos + 1, true
		case pos+1 < len(b) && b[pos] == '\r' && b[pos+1] == '\n':
			return count, pos + 2, true
		default:
			return count, pos, false
		}
	}
}

// csvQuoted reads from after the opening quote to after the closing one. A field is only written to once it is known to close, so that
// a bad record can be read again.
func csvQuoted(b []byte, pos int) (field []byte, next int, closed bool) {
	start, doubled := pos, 0
	for {
		i := bytes.IndexByte(b[pos:], '"')
		if i < 0 {
			return nil, len(b), false
		}
		pos += i + 1
		if pos < len(b) && b[pos] == '"' {
			pos++
			doubled++
			continue
		}
		break
	}
	field = b[start : pos-1]
	if doubled == 0 || pos < len(b) && b[pos] != ',' && b[pos] != '\n' && b[pos] != '\r' {
		return field, pos, true
	}
	return undouble(field), pos, true
}

func undouble(b []byte) []byte {
	r := bytes.IndexByte(b, '"')
	w := r
	for r < len(b) {
		k := bytes.IndexByte(b[r:], '"')
		if k < 0 {
			w += copy(b[w:], b[r:])
			break
		}
		w += copy(b[w:], b[r:r+k+1])
		r += k + 2
	}
	return b[:w]
}

// build makes a record of the split fields.
func (p *csvParser) build(count int) (rec record, ok bool) {
	if count != 23 && count != 24 && count != 26 {
		return rec, false
	}
	f := &p.fields
	t, n, good := p.clock.read(f[0])
	if !good || n != len(f[0]) {
		return rec, false
	}
	rec.time, rec.hasTime, rec.zoneUnknown = t, true, p.clock.unknown
	rec.user, rec.database, rec.pid, rec.client = f[1], f[2], f[3], f[4]
	rec.session, rec.number, rec.tag, rec.vxid, rec.hasVxid = f[5], numberOf(f[6]), f[7], f[9], true
	rec.severity, rec.state = labelOf(f[11]), f[12]
	rec.message, rec.detail, rec.context, rec.query, rec.app = f[13], f[14], f[18], f[19], f[22]
	rec.worker = count > 23 && string(f[23]) == "parallel worker" || count > 24 && f[24] != nil
	rec.hasCtx = f[16] != nil || f[18] != nil || f[19] != nil
	if rec.severity == labelNone {
		rec.severity = severityOf(f[11], f[12])
	}
	return rec, rec.severity.primary()
}

// numberOf reads the number of a record in its session, which counts what the server has written; 0 if it is none.
func numberOf(field []byte) (n uint64) {
	const most = 18 // digits that fit
	if len(field) > most {
		return 0
	}
	for _, c := range field {
		if !isDigit(c) {
			return 0
		}
		n = 10*n + uint64(c-'0')
	}
	return n
}

// severityOf guesses a translated severity from its SQLSTATE: class 00 is no error, 01 a warning.
func severityOf(word, state []byte) label {
	switch {
	case len(word) == 0 || len(state) != 5:
		return labelNone
	case state[0] == '0' && state[1] == '0':
		return sevLog
	case state[0] == '0' && state[1] <= '2':
		return sevWarning
	}
	return sevError
}

// buildCut makes what it can of a record whose end was cut off: the fields before the message, and what there is of the message.
func (p *csvParser) buildCut(b []byte, pos, count int) (rec record, ok bool) {
	if count < 13 {
		return rec, false
	}
	for i := count; i < len(p.fields); i++ {
		p.fields[i] = nil
	}
	if count == 13 {
		at := bytes.Index(b[pos:], []byte(",\"duration: "))
		if at < 0 {
			at = bytes.Index(b[pos:], []byte(",\"statement: "))
		}
		if at < 0 {
			at = bytes.Index(b[pos:], []byte(",\"execute "))
		}
		if at >= 0 {
			p.fields[13] = b[pos+at+2:]
		}
	}
	return p.build(26)
}

// startsCSV says that b starts with a time stamp and a comma.
func startsCSV(b []byte) bool {
	n := timeShape(b)
	return n > 0 && n < len(b) && b[n] == ','
}

// timeShape is the length of "2026-01-02 10:00:00.000 UTC" at the start of b, by its form alone; 0 if it is not there.
func timeShape(b []byte) int {
	if len(b) < 25 || b[4] != '-' || b[7] != '-' || b[10] != ' ' || b[13] != ':' || b[16] != ':' || !isDigit(b[0]) || !isDigit(b[18]) {
		return 0
	}
	n := 19
	if b[n] == '.' {
		for n++; n < len(b) && n < 30 && isDigit(b[n]); n++ {
		}
	}
	if n >= len(b) || b[n] != ' ' {
		return 0
	}
	z := n + 1
	if n = z + zoneSpan(b[z:]); n == z {
		return 0
	}
	return n
}

// resyncCSV finds the next record after a bad one: a newline, a time stamp and a comma, then a bare or a quoted user.
func resyncCSV(b []byte, pos int) int {
	for {
		i := bytes.IndexByte(b[pos:], '\n')
		if i < 0 {
			return len(b)
		}
		pos += i + 1
		if bordersCSV(b[pos:]) {
			return pos
		}
	}
}

// bordersCSV says that a record starts at b, as far as its first fields tell: inside a quoted field the quotes would be doubled.
func bordersCSV(b []byte) bool {
	n := timeShape(b)
	if n == 0 || n+2 >= len(b) || b[n] != ',' {
		return false
	}
	return b[n+1] == ',' || b[n+1] == '"' && b[n+2] != '"'
}
