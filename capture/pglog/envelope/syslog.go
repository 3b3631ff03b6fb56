package envelope

import (
	"bytes"
	"strconv"
	"time"
)

// maxFrame is the longest octet-counted frame that is believed: a number that merely looks like a count must not swallow the log.
const maxFrame = 1 << 20

// frame reads an octet-counted message, as RFC 6587 has it: a length, a blank, and so many bytes that start with a priority.
func (s *Scanner) frame(b []byte, pos int) (e Entry, ok, counted bool) {
	n := digits(b[pos:], 8)
	if !counts(b[pos:]) {
		return e, false, false
	}
	size, err := strconv.Atoi(string(b[pos : pos+n]))
	if err != nil || size < 3 || size > maxFrame {
		return e, false, false
	}
	start := pos + n + 1
	end := start + size
	if end > len(b) {
		return e, false, true
	}
	msg := b[start:end]
	if end < len(b) && b[end] == '\n' {
		end++
	}
	if next := b[end:min(len(b), end+10)]; len(next) == 10 && !counts(next) {
		return e, false, false // the count is wrong
	}
	e = Entry{Pos: pos, End: end, Class: Bare, Text: msg}
	s.syslog(bytes.TrimSuffix(msg, []byte("\n")), &e)
	return e, true, true
}

// counts says that b starts with a length and a priority.
func counts(b []byte) bool {
	n := digits(b, 8)
	return n > 0 && n+1 < len(b) && b[n] == ' ' && b[n+1] == '<'
}

// syslog reads one message of either RFC. What is none stays Bare.
func (s *Scanner) syslog(line []byte, e *Entry) {
	rest := line
	if n := priority(rest); n > 0 {
		rest = rest[n:]
	}
	out := *e
	ok := false
	if len(rest) > 2 && rest[0] == '1' && rest[1] == ' ' {
		ok = s.rfc5424(rest[2:], &out)
	}
	if !ok {
		ok = s.rfc3164(rest, &out)
	}
	if !ok {
		return
	}
	*e = out
	e.Class = Wrapped
	if repeated(e) {
		return
	}
	number(e)
}

// priority is the length of "<134>" at the start of b.
func priority(b []byte) int {
	if len(b) < 3 || b[0] != '<' {
		return 0
	}
	n := digits(b[1:], 3)
	if n == 0 || 1+n >= len(b) || b[1+n] != '>' {
		return 0
	}
	return n + 2
}

// rfc5424 reads "time host app procid msgid structured-data message".
func (s *Scanner) rfc5424(b []byte, e *Entry) bool {
	stamp, b, ok := word(b)
	if !ok {
		return false
	}
	if string(stamp) != "-" {
		t, n := isoTime(stamp)
		if n != len(stamp) {
			return false
		}
		e.Time, e.HasTime = t, true
	}
	var parts [4][]byte // host, app, procid, msgid
	for i := range parts {
		if parts[i], b, ok = word(b); !ok || len(parts[i]) == 0 {
			return false
		}
		if string(parts[i]) == "-" {
			parts[i] = nil
		}
	}
	e.Host, e.Ident, e.Pid = parts[0], parts[1], procID(parts[2])
	n := structuredData(b)
	if n == 0 {
		return false
	}
	b = b[n:]
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	e.Text = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	return true
}

func word(b []byte) (w, rest []byte, ok bool) {
	i := bytes.IndexByte(b, ' ')
	if i < 0 {
		return nil, nil, false
	}
	return b[:i], b[i+1:], true
}

// structuredData is the length of "-" or of elements in brackets, 0 if there is neither.
func structuredData(b []byte) int {
	if len(b) > 0 && b[0] == '-' && (len(b) == 1 || b[1] == ' ') {
		return 1
	}
	n := 0
	for n < len(b) && b[n] == '[' {
		quoted := false
		for n++; ; n++ {
			if n >= len(b) {
				return 0
			}
			if c := b[n]; c == '\\' && quoted {
				n++
			} else if c == '"' {
				quoted = !quoted
			} else if c == ']' && !quoted {
				break
			}
		}
		n++
	}
	return n
}

// procID keeps the digits of a process id: "71", Heroku's "postgres.71".
func procID(b []byte) []byte {
	i := len(b)
	for i > 0 && isDigit(b[i-1]) {
		i--
	}
	if i > 0 && b[i-1] != '.' {
		return nil
	}
	return b[i:]
}

// rfc3164 reads "time host ident[pid]: message"; the time is "Jan  2 10:00:00" or RFC 3339, and the host may be missing.
func (s *Scanner) rfc3164(b []byte, e *Entry) bool {
	t, n := isoTime(b)
	if n > 0 {
		e.Time, e.HasTime = t, true
	} else if n = s.bsdTime(b, e); n == 0 {
		return false
	}
	if n >= len(b) || b[n] != ' ' {
		return false
	}
	b = b[n+1:]
	first, rest, ok := word(b)
	if !ok {
		return false
	}
	if id, pid, ok := tag(first); ok { // no host
		e.Ident, e.Pid, e.Text = id, pid, rest
		return true
	}
	if len(first) == 0 || first[len(first)-1] == ':' || first[0] == '-' || first[0] == '+' {
		return false
	}
	e.Host = first
	if bytes.HasPrefix(rest, []byte("last message repeated ")) {
		e.Text = rest
		return true
	}
	second, text, ok := word(rest)
	if !ok {
		second, text = rest, nil
	}
	id, pid, ok := tag(second)
	if !ok {
		return false
	}
	e.Ident, e.Pid, e.Text = id, pid, text
	return true
}

// tag reads "ident[pid]:" or "ident:".
func tag(b []byte) (ident, pid []byte, ok bool) {
	n := len(b)
	if n < 2 || b[n-1] != ':' {
		return nil, nil, false
	}
	b = b[:n-1]
	if b[len(b)-1] == ']' {
		i := bytes.IndexByte(b, '[')
		if i < 1 {
			return nil, nil, false
		}
		b, pid = b[:i], procID(b[i+1:len(b)-1])
	}
	if bytes.ContainsAny(b, ":[]\"'(),=") || len(b) > 128 {
		return nil, nil, false
	}
	return b, pid, true
}

// bsdTime reads "Jan  2 10:00:00", with a year or a fraction in some daemons. The year, if it is not there, is the one that puts the time
// closest before Latest.
func (s *Scanner) bsdTime(b []byte, e *Entry) int {
	if len(b) < 15 || b[3] != ' ' || b[6] != ' ' {
		return 0
	}
	month := monthOf(b[:3])
	day, ok := two(b[4], b[5])
	if month == 0 || !ok || day < 1 || day > 31 {
		return 0
	}
	n, year := 7, 0
	if digits(b[n:], 4) == 4 && len(b) >= n+13 && b[n+4] == ' ' {
		year, _ = strconv.Atoi(string(b[n : n+4]))
		n += 5
	}
	if len(b) < n+8 || b[n+2] != ':' || b[n+5] != ':' {
		return 0
	}
	hour, ok1 := two(b[n], b[n+1])
	minute, ok2 := two(b[n+3], b[n+4])
	second, ok3 := two(b[n+6], b[n+7])
	if !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 60 {
		return 0
	}
	n += 8
	nanos := 0
	if n < len(b) && b[n] == '.' {
		unit := 100_000_000
		for n++; n < len(b) && isDigit(b[n]); n++ {
			nanos += int(b[n]-'0') * unit
			unit /= 10
		}
	}
	zone := s.Zone
	if zone == nil {
		zone = time.UTC
	}
	e.Assumed = true
	at := func(year int) time.Time {
		return time.Date(year, time.Month(month), day, hour, minute, second, nanos, zone)
	}
	switch {
	case year > 0:
		e.Time, e.HasTime = at(year).UnixNano(), true
	case !s.Latest.IsZero():
		latest := s.Latest.Add(24 * time.Hour)
		for y := latest.In(zone).Year(); y > latest.Year()-9; y-- { // 29 February may be eight years ago
			if t := at(y); !t.After(latest) && t.Day() == day {
				e.Time, e.HasTime = t.UnixNano(), true
				break
			}
		}
	}
	return n
}

func monthOf(b []byte) int {
	i := bytes.Index([]byte("JanFebMarAprMayJunJulAugSepOctNovDec"), b)
	if i < 0 || i%3 != 0 {
		return 0
	}
	return i/3 + 1
}

func two(a, b byte) (int, bool) {
	if a == ' ' {
		a = '0'
	}
	return int(a-'0')*10 + int(b-'0'), isDigit(a) && isDigit(b)
}

// digits is how many digits b starts with, 0 if there are more than limit.
func digits(b []byte, limit int) int {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	if n > limit {
		return 0
	}
	return n
}

// number takes "[7-2] " or "[7] " off the text, and the words in brackets that Heroku puts in front of it. "[71]" of the process 71 is left:
// it is of a log_line_prefix.
func number(e *Entry) {
	b := e.Text
	if len(b) > 1 && b[0] == '[' && b[1] >= 'A' && b[1] <= 'Z' {
		if i := bytes.IndexByte(b, ']'); i > 0 && i < 64 && i+2 < len(b) && b[i+1] == ' ' && b[i+2] == '[' && bytes.IndexByte(b[:i], ' ') < 0 {
			b = b[i+2:]
		}
	}
	if len(b) < 3 || b[0] != '[' {
		return
	}
	n := digits(b[1:], 19)
	if n == 0 || 1+n >= len(b) {
		return
	}
	first := b[1 : 1+n]
	value, err := strconv.ParseUint(string(first), 10, 64)
	if err != nil {
		return
	}
	chunk := 0
	n++
	if b[n] == '-' {
		k := digits(b[n+1:], 9)
		if k == 0 {
			return
		}
		if chunk, err = strconv.Atoi(string(b[n+1 : n+1+k])); err != nil || chunk == 0 {
			return
		}
		n += 1 + k
	} else if bytes.Equal(first, e.Pid) {
		return
	}
	if n >= len(b) || b[n] != ']' {
		return
	}
	if n++; n < len(b) {
		if b[n] != ' ' {
			return
		}
		n++
	}
	e.Number, e.Numbered, e.Chunk, e.Text = value, true, chunk, b[n:]
}

// repeated reads "last message repeated 3 times", and "message repeated 3 times: [ text]" of rsyslog.
func repeated(e *Entry) bool {
	b, last := bytes.CutPrefix(e.Text, []byte("last message repeated "))
	if !last {
		var ok bool
		if b, ok = bytes.CutPrefix(e.Text, []byte("message repeated ")); !ok {
			return false
		}
	}
	n := digits(b, 9)
	times, err := strconv.Atoi(string(b[:n]))
	if n == 0 || err != nil || !bytes.HasPrefix(b[n:], []byte(" times")) {
		return false
	}
	e.Repeat, e.Text = times, nil
	return true
}
