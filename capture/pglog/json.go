package pglog

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonParser cuts a chunk of jsonlog into records, one object per line. It reads bytes, not runes: a database in LATIN1 or SQL_ASCII
// gives lines that are not valid UTF-8. Strings are unescaped in place.
type jsonParser struct {
	clock clock
	recs  []record
}

func (p *jsonParser) parse(b []byte, cut bool, drop func(reason string, bytes int)) []record {
	p.recs = p.recs[:0]
	for pos := 0; pos < len(b); {
		if n := leadingNUL(b[pos:]); n > 0 {
			drop(DropBlank, n)
			pos += n
			continue
		}
		end := lineEnd(b, pos)
		line := trimBlank(b[pos:end])
		if len(line) == 0 {
			drop(DropBlank, end-pos)
			pos = end
			continue
		}
		var rec record
		whole := p.object(line, &rec)
		last := cut && end == len(b)
		switch {
		case line[0] != '{':
			drop(DropForeign, end-pos)
		case (whole || last) && rec.hasTime && rec.severity.primary():
			rec.start, rec.end, rec.cut, rec.hasVxid = pos, end, last, true
			p.recs = append(p.recs, rec)
		default:
			drop(DropMalformed, end-pos)
		}
		pos = end
	}
	return p.recs
}

// object reads one flat object. It stops at the first thing that is not one.
func (p *jsonParser) object(b []byte, rec *record) bool {
	if len(b) < 2 || b[0] != '{' {
		return false
	}
	b = trimLeft(b[1:])
	if len(b) == 1 && b[0] == '}' {
		return true
	}
	for {
		if len(b) == 0 || b[0] != '"' {
			return false
		}
		key, rest, ok := jsonString(b[1:])
		if !ok {
			return false
		}
		if b = trimLeft(rest); len(b) == 0 || b[0] != ':' {
			return false
		}
		b = trimLeft(b[1:])
		var value []byte
		null := false
		if len(b) > 0 && b[0] == '"' {
			value, rest, ok = jsonString(b[1:])
			if !ok { // a cut line: what there is of the string still says whose it is
				p.field(key, b[1:], rec)
				return false
			}
		} else {
			n := 0
			for n < len(b) && b[n] != ',' && b[n] != '}' && b[n] != ' ' && b[n] != '"' && b[n] != '{' && b[n] != '[' {
				n++
			}
			if n == 0 {
				return false
			}
			value, rest = b[:n], b[n:]
			null = string(value) == "null"
		}
		if !null && !p.field(key, value, rec) {
			return false
		}
		b = trimLeft(rest)
		if len(b) == 1 && b[0] == '}' {
			return true
		}
		if len(b) == 0 || b[0] != ',' {
			return false
		}
		b = trimLeft(b[1:])
	}
}

// field keeps the value of a key of write_jsonlog. Numbers may come as strings from a shipper; both are bytes here.
func (p *jsonParser) field(key, v []byte, rec *record) bool {
	switch string(key) {
	case "timestamp":
		t, n, ok := p.clock.read(v)
		if !ok || n != len(v) {
			return false
		}
		rec.time, rec.hasTime, rec.zoneUnknown = t, true, p.clock.unknown
	case "user":
		rec.user = v
	case "dbname":
		rec.database = v
	case "pid":
		rec.pid = v
	case "remote_host":
		rec.client = v
	case "session_id":
		rec.session = v
	case "ps":
		rec.tag = v
	case "vxid":
		rec.vxid = v
	case "error_severity":
		rec.severity = labelOf(v)
	case "state_code":
		rec.state = v
	case "message":
		rec.message = v
	case "detail":
		rec.detail = v
	case "internal_query":
		rec.hasCtx = true
	case "context":
		rec.context, rec.hasCtx = v, true
	case "statement":
		rec.query, rec.hasCtx = v, true
	case "backend_type":
		rec.worker = rec.worker || string(v) == "parallel worker"
	case "leader_pid":
		rec.worker = true
	case "application_name":
		rec.app = v
	}
	return true
}

func trimLeft(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

// jsonString reads from after the opening quote and unescapes in place.
func jsonString(b []byte) (s, rest []byte, ok bool) {
	i := 0
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	if i >= len(b) {
		return nil, nil, false
	}
	if b[i] == '"' {
		return b[:i], b[i+1:], true
	}
	if !closesJSON(b[i:]) {
		return nil, nil, false
	}
	w := i
	for i < len(b) {
		switch b[i] {
		case '"':
			return b[:w], b[i+1:], true
		case '\\':
			n, size := jsonEscape(b[i:], b[w:w])
			if size == 0 {
				return nil, nil, false
			}
			w += n
			i += size
		default:
			k := bytes.IndexAny(b[i:], "\"\\")
			if k < 0 {
				return nil, nil, false
			}
			copy(b[w:], b[i:i+k])
			w += k
			i += k
		}
	}
	return nil, nil, false
}

// closesJSON says that the string has an end, before anything of it is changed.
func closesJSON(b []byte) bool {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return true
		}
	}
	return false
}

// jsonEscape writes the escape at the start of b to out, which is never longer, and reports the bytes written and read.
func jsonEscape(b, out []byte) (n, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	c := b[1]
	switch c {
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case '"', '\\', '/':
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			return 0, 0
		}
		size = 6
		if utf16.IsSurrogate(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := hex4(b[8:]); ok {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					r, size = both, 12
				}
			}
		}
		return len(utf8.AppendRune(out, r)), size
	default:
		return 0, 0
	}
	_ = append(out, c)
	return 1, 2
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		if !isHex(c) {
			return 0, false
		}
		v := rune(c - '0')
		if c > '9' {
			v = rune(c|0x20-'a') + 10
		}
		r = r<<4 | v
	}
	return r, true
}
