// Package envelope turns what log shippers write around the lines and records of a PostgreSQL server log (syslog, container runtimes, cloud
// services) into entries: which bytes, whose, when, and the text inside. It knows nothing of what the text says and imports nothing of the
// project.
package envelope

import (
	"bytes"
	"time"
)

// Kind is a kind of envelope.
type Kind string

// The kinds. CloudSQL is that of AlloyDB too.
const (
	None          Kind = ""
	Syslog        Kind = "syslog"      // RFC 3164 or RFC 5424 lines, or octet-counted frames of them
	Docker        Kind = "docker"      // json-file: {"log","stream","time"}
	CRI           Kind = "cri"         // time, stream, F or P, text
	CloudWatch    Kind = "cloudwatch"  // a time in front of each event, as exports of RDS logs have it
	CloudSQL      Kind = "cloudsql"    // JSON entries with textPayload, one for each line of the server's log
	Azure         Kind = "azure"       // JSON records with properties, or exported with flat keys
	CloudNativePG Kind = "cnpg"        // JSON with the columns of csvlog in record
	Supabase      Kind = "supabase"    // JSON with event_message and the columns of csvlog in metadata
	PlanetScale   Kind = "planetscale" // JSON with the server's line in _msg
)

// kinds are all but None.
var kinds = [...]Kind{Syslog, Docker, CRI, CloudWatch, CloudSQL, Azure, CloudNativePG, Supabase, PlanetScale}

// Kinds lists every kind but None.
func Kinds() []Kind { return kinds[:] }

// JSON says that the entries are JSON objects, in lines, in an array or one after the other.
func (k Kind) JSON() bool {
	switch k {
	case Docker, CloudSQL, Azure, CloudNativePG, Supabase, PlanetScale:
		return true
	}
	return false
}

// Structured says that an entry is a whole record with its fields apart.
func (k Kind) Structured() bool { return k == Azure || k == CloudNativePG || k == Supabase }

// Sorted says that entries come in any order and are to be ordered by their time and ID.
func (k Kind) Sorted() bool { return k == CloudSQL || k == Azure || k == Supabase }

// Class says what an entry is.
type Class uint8

// The classes.
const (
	Wrapped   Class = iota
	Bare            // a line without an envelope among others that have one
	Frame           // brackets, commas and blanks between JSON objects
	Foreign         // not of PostgreSQL: a JSON object without the fields that its kind has
	Malformed       // breaks the grammar of its kind
)

// Entry is one entry. Its slices are valid until the scanner is reset or the content changes.
type Entry struct {
	Pos, End int // its bytes in the content
	Class    Class
	Time     int64 // Unix nanoseconds, of the envelope
	HasTime  bool
	Assumed  bool   // Time has no year or zone of its own
	Host     []byte // host, instance, or stream of a container
	Ident    []byte // program of a syslog line
	Pid      []byte // digits
	Number   uint64 // of syslog: "[7-2]" is number 7, chunk 2; "[7]" is number 7, chunk 0
	Numbered bool
	Chunk    int
	ID       []byte // orders entries of the same time
	Text     []byte // what is wrapped, without the newline at its end
	Open     bool   // the line goes on in the next entry of the stream
	Repeat   int    // the message before was written so many times more
	Fields   *Fields
}

// Fields are those of a structured entry; nil where there is none.
type Fields struct {
	Time, User, Database, Pid, Client, Session, Tag, Vxid, Severity, State, Number, Message, Detail, InternalQuery, Context, Query, App, Backend, Leader, Prefix []byte
}

// Scanner cuts content into entries.
type Scanner struct {
	Kind   Kind
	Zone   *time.Location // of times without a zone; nil: UTC
	Latest time.Time      // no entry is later than a day after it: gives times without a year theirs; zero: they are no times

	arena  []byte
	fields []*Fields
	used   int
	found  found
}

// Reset frees the memory of the entries so far for the next ones.
func (s *Scanner) Reset() { s.arena, s.used = s.arena[:0], 0 }

// Next reads the entry at pos. ok is false if content ends before it is whole. Each byte of the content up to there is of one entry.
func (s *Scanner) Next(b []byte, pos int) (e Entry, ok bool) {
	if pos >= len(b) {
		return e, false
	}
	if s.Kind.JSON() {
		return s.object(b, pos)
	}
	if s.Kind == Syslog {
		if e, ok, counted := s.frame(b, pos); counted {
			return e, ok
		}
	}
	i := bytes.IndexByte(b[pos:], '\n')
	if i < 0 {
		return e, false
	}
	e = Entry{Pos: pos, End: pos + i + 1, Class: Bare}
	line := b[pos : pos+i]
	e.Text = line
	switch s.Kind {
	case Syslog:
		s.syslog(line, &e)
	case CRI:
		s.cri(line, &e)
	case CloudWatch:
		s.cloudWatch(line, &e)
	}
	return e, true
}

// cri reads "time stream F|P text".
func (s *Scanner) cri(line []byte, e *Entry) {
	t, n := isoTime(line)
	if n == 0 {
		return
	}
	rest := line[n:]
	for _, stream := range [...]string{" stderr ", " stdout "} {
		tags, ok := bytes.CutPrefix(rest, []byte(stream))
		if !ok || len(tags) == 0 {
			continue
		}
		n := bytes.IndexByte(tags, ' ')
		if n < 0 { // an empty text may have lost its blank
			n = len(tags)
		}
		if tag := tags[0]; tag != 'F' && tag != 'P' || n > 1 && tags[1] != ':' {
			continue
		}
		e.Class, e.Time, e.HasTime, e.Open, e.Host = Wrapped, t, true, tags[0] == 'P', rest[1:len(stream)-1]
		e.Text = tags[min(n+1, len(tags)):]
		return
	}
}

// cloudWatch takes the time of the event off. An event of several lines has it on the first one only, or on each.
func (s *Scanner) cloudWatch(line []byte, e *Entry) {
	t, n := isoTime(line)
	if n > 0 && n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		e.Class, e.Time, e.HasTime, e.Text = Wrapped, t, true, line[n+1:]
		return
	}
	e.Class = Wrapped
}

// isoTime reads an RFC 3339 time and reports its length, 0 if it is not there.
func isoTime(b []byte) (nanos int64, n int) {
	if len(b) < 20 || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return 0, 0
	}
	n = 19
	if b[n] == '.' {
		for n++; n < len(b) && n < 32 && isDigit(b[n]); n++ {
		}
	}
	switch {
	case n < len(b) && b[n] == 'Z':
		n++
	case n+6 <= len(b) && (b[n] == '+' || b[n] == '-'):
		n += 6
	default:
		return 0, 0
	}
	t, err := time.Parse(time.RFC3339Nano, string(b[:n]))
	if err != nil {
		return 0, 0
	}
	return t.UnixNano(), n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
