package pglog

import "github.com/foreshard/foreshard/capture/pglog/envelope"

// jsonParser cuts a chunk of jsonlog into records, one object per line. It reads bytes, not runes: a database in LATIN1 or SQL_ASCII
// gives lines that are not valid UTF-8. Strings are unescaped in place.
type jsonParser struct {
	clock clock
	size  *spans
	recs  []record
}

func (p *jsonParser) parse(b []byte, cut bool, drop func(reason string, from, to int)) []record {
	p.recs = p.recs[:0]
	for pos := 0; pos < len(b); {
		if n := leadingNUL(b[pos:]); n > 0 {
			drop(DropBlank, pos, pos+n)
			pos += n
			continue
		}
		end := lineEnd(b, pos)
		line := trimBlank(b[pos:end])
		if len(line) == 0 {
			drop(DropBlank, pos, end)
			pos = end
			continue
		}
		var rec record
		whole := p.object(line, &rec)
		last := cut && end == len(b)
		switch {
		case line[0] != '{':
			drop(DropForeign, pos, end)
		case (whole || last) && rec.hasTime && rec.severity.primary():
			rec.start, rec.bytes, rec.cut, rec.hasVxid = pos, p.size.of(pos, end), last, true
			p.recs = append(p.recs, rec)
		default:
			drop(DropMalformed, pos, end)
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
		key, rest, ok := envelope.Unquote(b[1:])
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
			value, rest, ok = envelope.Unquote(b[1:])
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
	case "line_num":
		rec.number = numberOf(v)
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
