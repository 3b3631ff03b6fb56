package pglog

import (
	"bytes"
	"time"
)

// clock reads the time stamps of one worker. Neighbouring records share their second, so the last one is remembered.
type clock struct {
	zone    *time.Location
	day     [19]byte // "2026-01-02 10:00:00" in lastZone
	name    [8]byte
	nameLen int
	unix    int64 // seconds
	unknown bool  // the abbreviation of the last second is not known
	valid   bool
}

// read reads "2006-01-02 15:04:05[.000] ZONE" and reports its length in bytes. ok is false if b does not start so.
func (c *clock) read(b []byte) (nanos int64, n int, ok bool) {
	if len(b) < 21 || b[4] != '-' || b[7] != '-' || b[10] != ' ' || b[13] != ':' || b[16] != ':' {
		return 0, 0, false
	}
	i := 19
	if b[i] == '.' {
		i++
		unit := int64(100_000_000)
		for i < len(b) && isDigit(b[i]) && unit > 0 {
			nanos += int64(b[i]-'0') * unit
			unit /= 10
			i++
		}
	}
	if i >= len(b) || b[i] != ' ' {
		return 0, 0, false
	}
	i++
	z := i
	if i += zoneSpan(b[i:]); i == z {
		return 0, 0, false
	}
	if !c.valid || c.nameLen != i-z || !bytes.Equal(c.day[:], b[:19]) || !bytes.Equal(c.name[:c.nameLen], b[z:i]) {
		if !c.second(b[:19], b[z:i]) {
			return 0, 0, false
		}
	}
	return c.unix*1e9 + nanos, i, true
}

func (c *clock) second(day, zone []byte) bool {
	c.valid, c.unknown = false, false
	for i, ch := range day {
		if i != 4 && i != 7 && i != 10 && i != 13 && i != 16 && !isDigit(ch) {
			return false
		}
	}
	two := func(i int) int { return int(day[i]-'0')*10 + int(day[i+1]-'0') }
	year, month, d := two(0)*100+two(2), two(5), two(8)
	if month < 1 || month > 12 || d < 1 || d > 31 || two(11) > 24 || two(14) > 59 || two(17) > 60 {
		return false
	}
	offset, known := zoneOffset(zone)
	c.unknown = !known
	loc := time.UTC
	if !known && c.zone != nil {
		loc = c.zone
	}
	c.unix = time.Date(year, time.Month(month), d, two(11), two(14), two(17), 0, loc).Unix() - int64(offset)
	copy(c.day[:], day)
	c.nameLen = copy(c.name[:], zone)
	c.valid = true
	return true
}

// zoneSpan is the length of a zone abbreviation, 0 if there is none: letters, a sign and digits, or that in angle brackets. What follows
// may be any literal of a prefix, as in Azure's "%t-%c-".
func zoneSpan(b []byte) int {
	n := 0
	switch {
	case len(b) == 0:
	case isLetter(b[0]):
		n = span(b, isLetter)
	case (b[0] == '+' || b[0] == '-') && len(b) > 1 && isDigit(b[1]):
		n = 1 + span(b[1:], isDigit)
	case b[0] == '<':
		if n = bytes.IndexByte(b[:min(len(b), 8)], '>') + 1; n < 3 {
			return 0
		}
	}
	if n > 8 {
		return 0
	}
	return n
}

// zoneOffset is the offset of an abbreviation in seconds east of UTC. Those that several zones share (CST, IST, BST, AST …) are not known:
// the user says which zone is meant.
func zoneOffset(z []byte) (seconds int, known bool) {
	for len(z) > 0 && (z[0] == '<' || z[len(z)-1] == '>') {
		z = bytes.Trim(z, "<>")
	}
	if len(z) >= 3 && (z[0] == '+' || z[0] == '-') {
		v := 0
		for _, ch := range z[1:] {
			if !isDigit(ch) {
				return 0, false
			}
			v = v*10 + int(ch-'0')
		}
		h, m := v, 0
		if len(z) == 5 {
			h, m = v/100, v%100
		} else if len(z) != 3 {
			return 0, false
		}
		if seconds = h*3600 + m*60; z[0] == '-' {
			seconds = -seconds
		}
		return seconds, true
	}
	switch string(z) {
	case "UTC", "GMT", "Z", "UCT", "WET":
		return 0, true
	case "CET", "WEST", "MEZ", "WAT":
		return 3600, true
	case "CEST", "EET", "MESZ", "SAST", "CAT":
		return 2 * 3600, true
	case "EEST", "MSK", "EAT":
		return 3 * 3600, true
	case "PKT":
		return 5 * 3600, true
	case "WIB":
		return 7 * 3600, true
	case "HKT", "AWST", "SGT":
		return 8 * 3600, true
	case "JST", "KST":
		return 9 * 3600, true
	case "ACST":
		return 9*3600 + 1800, true
	case "AEST", "ChST":
		return 10 * 3600, true
	case "ACDT":
		return 10*3600 + 1800, true
	case "AEDT":
		return 11 * 3600, true
	case "NZST":
		return 12 * 3600, true
	case "NZDT":
		return 13 * 3600, true
	case "EDT":
		return -4 * 3600, true
	case "EST", "CDT":
		return -5 * 3600, true
	case "MDT":
		return -6 * 3600, true
	case "MST", "PDT":
		return -7 * 3600, true
	case "PST", "AKDT":
		return -8 * 3600, true
	case "AKST":
		return -9 * 3600, true
	case "HST":
		return -10 * 3600, true
	}
	return 0, false
}

// epoch reads %n: seconds and milliseconds since 1970.
func epoch(b []byte) (nanos int64, n int, ok bool) {
	for n < len(b) && n < 12 && isDigit(b[n]) {
		nanos = nanos*10 + int64(b[n]-'0')
		n++
	}
	if n == 0 || n+3 >= len(b) || b[n] != '.' || !isDigit(b[n+1]) || !isDigit(b[n+2]) || !isDigit(b[n+3]) {
		return 0, 0, false
	}
	ms := int64(b[n+1]-'0')*100 + int64(b[n+2]-'0')*10 + int64(b[n+3]-'0')
	return nanos*1e9 + ms*1e6, n + 4, true
}

func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func isHex(b byte) bool    { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }
