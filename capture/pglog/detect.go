package pglog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foreshard/foreshard/capture/pglog/envelope"
)

// checkLines are the lines that a prefix is checked on.
const checkLines = 1000

// recognise settles the format of a source, its prefix if it is stderr, and the time of its first record.
func (s *source) recognise(cfg *Config) error {
	if len(s.head) == 0 {
		return nil // an empty file has nothing to recognise
	}
	s.format = cfg.Format
	if s.format == Auto {
		s.format = Format(envelope.Detect(s.head))
	}
	if s.format == Auto {
		f, err := detect(s.head, s.path)
		if err != nil {
			return fmt.Errorf("recognise log %q: %w", s.name, err)
		}
		s.format = f
	}
	switch {
	case s.format.wrapped():
		if err := s.recogniseWrapped(cfg); err != nil {
			return fmt.Errorf("read log %q: %w", s.name, err)
		}
	case s.format == Stderr:
		p, err := choosePrefix(cfg.Prefix, sampleLines(s.head, s.whole), false)
		if err != nil {
			return fmt.Errorf("read log %q: %w", s.name, err)
		}
		s.prefix = p
	case !slices.Contains(Formats(), s.format):
		return fmt.Errorf("read log %q: format %q is none of %v", s.name, string(s.format), Formats())
	}
	s.first = s.firstTime(cfg.Zone)
	return nil
}

func detect(head []byte, path string) (Format, error) {
	text := head
	if n := leadingNUL(text); n < len(text) {
		text = text[n:]
	}
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		text = text[3:]
	}
	if first := trimBlank(text); len(first) > 0 && first[0] == '{' {
		return JSON, nil
	}
	hasLabel := false
	for i, pos := 0, 0; pos < len(text) && i < checkLines; i++ {
		end := lineEnd(text, pos)
		line := chop(text[pos:end])
		if startsCSV(line) && bordersCSV(text[pos:]) {
			return CSV, nil
		}
		if len(line) > 0 && line[0] != '\t' && !hasLabel {
			_, _, hasLabel = findLabel(line)
		}
		pos = end
	}
	if hasLabel {
		return Stderr, nil
	}
	control := 0
	for _, c := range text[:min(len(text), 4096)] {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' {
			control++
		}
	}
	if control*50 > min(len(text), 4096) {
		return "", errors.New("it is binary: neither a server log nor SQL")
	}
	if looksLikeSQL(text) || bytes.HasSuffix([]byte(path), []byte(".sql")) {
		return SQL, nil
	}
	return "", errors.New("it is none of stderr, csvlog, jsonlog and SQL; name the format if it is one of them")
}

// findLabel finds the first severity or key of a line that ends in a colon and two blanks.
func findLabel(line []byte) (l label, start int, ok bool) {
	for from := 0; from < len(line); {
		i := bytes.Index(line[from:], []byte(":  "))
		if i < 0 {
			return labelNone, 0, false
		}
		end := from + i
		if end > 0 && line[end-1] == ' ' { // French
			end--
		}
		word := end
		for word > 0 && end-word < 16 && (isLetter(line[word-1]) || line[word-1] >= 0x80 || isDigit(line[word-1])) {
			word--
		}
		for ; word < end; word++ {
			if l := labelOf(line[word:end]); l != labelNone {
				return l, word, true
			}
		}
		from += i + 3
	}
	return labelNone, 0, false
}

func looksLikeSQL(b []byte) bool {
	for {
		b = trimLeft(b)
		if bytes.HasPrefix(b, []byte("--")) || bytes.HasPrefix(b, []byte("\\")) {
			b = b[lineEnd(b, 0):]
			continue
		}
		if bytes.HasPrefix(b, []byte("/*")) {
			i := bytes.Index(b, []byte("*/"))
			if i < 0 {
				return true
			}
			b = b[i+2:]
			continue
		}
		break
	}
	n := span(b, isLetter)
	if n == 0 {
		return len(b) > 0 && b[0] == '('
	}
	switch string(bytes.ToLower(b[:n])) {
	case "select", "insert", "update", "delete", "with", "begin", "start", "commit", "rollback", "set", "create", "alter", "drop", "copy",
		"truncate", "merge", "explain", "values", "table", "do", "call", "prepare", "execute", "declare", "fetch", "lock", "grant", "revoke",
		"vacuum", "analyze", "show", "reset", "comment", "savepoint", "end", "abort", "listen", "notify", "discard", "refresh":
		return true
	}
	return false
}

// choosePrefix checks the given prefix on the first lines, or infers one. With bare the lines have an envelope that tells records apart, so
// that the prefix may be empty.
func choosePrefix(given string, sample []sampleLine, bare bool) (*prefix, error) {
	guess, hits := inferPrefix(sample, bare)
	if given == "" {
		if guess == nil {
			return nil, errors.New("its log_line_prefix cannot be inferred; give it as SHOW log_line_prefix prints it")
		}
		return guess, nil
	}
	p, err := compilePrefix(given)
	if err != nil && !bare {
		return nil, err
	}
	score, miss := tryPrefix(p, sample)
	if score > 0 && (guess == nil || hits < 2*score) {
		return p, nil
	}
	msg := fmt.Sprintf("prefix mismatch: log_line_prefix %q fits %d of the first %d lines; line %d is the first that it does not fit", given, score, len(sample), miss)
	if guess != nil && hits > 0 {
		return nil, fmt.Errorf("%s; %q fits %d", msg, guess.text, hits)
	}
	return nil, errors.New(msg)
}

type sampleLine struct {
	number int
	text   []byte
}

// sampleLines are the lines of the head that are no continuations.
func sampleLines(head []byte, whole bool) []sampleLine {
	var out []sampleLine
	for pos, n := 0, 1; pos < len(head) && len(out) < checkLines; n++ {
		end := lineEnd(head, pos)
		line := head[pos:end]
		if end == len(head) && !whole && line[len(line)-1] != '\n' && len(out) > 0 {
			break // half of a line, and there are others
		}
		if line = line[leadingNUL(line):]; len(line) > 1 && line[0] != '\t' {
			out = append(out, sampleLine{n, chop(line)})
		}
		pos = end
	}
	return out
}

// tryPrefix counts the lines that fit and finds the number of the first that does not.
func tryPrefix(p *prefix, sample []sampleLine) (hits, miss int) {
	var c clock
	for _, l := range sample {
		var rec record
		if _, _, ok := p.match(l.text, &c, &rec); ok {
			hits++
		} else if miss == 0 {
			miss = l.number
		}
	}
	return hits, miss
}

// commonPrefixes are tried before a prefix is made from the lines: PostgreSQL's default, Debian's, pgBadger's advice, RDS and Aurora,
// Cloud SQL, Azure, and frequent others. With equal hits the earlier one wins, so those that say more stand first.
var commonPrefixes = [...]string{
	"%t:%r:%u@%d:[%p]:",
	"%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ",
	"%m [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ",
	"%t [%p]: user=%u,db=%d,app=%a,client=%h ",
	"%m [%p]: user=%u,db=%d,app=%a,client=%h ",
	"%t [%p]: [%l-1] user=%u,db=%d ",
	"%m [%p]: [%l-1] db=%d,user=%u ",
	"%m [%p] [user=%u,db=%d,app=%a] ",
	"%m [%p] user=%u,db=%d,app=%a,client=%h ",
	"%m [%p] %u@%d/%a %c %x ",
	"%m [%p] %u@%d/%a ",
	"%m [%p] %u@%d %a ",
	"%m [%p] %u@%d ",
	"%t [%p] %u@%d ",
	"%t-%c-",
	"%m [%p] %c ",
	"%m [%p] ",
	"%t [%p] ",
	"%t [%p]: ",
	"%m [%p]: ",
	"%m ",
	"%t ",
	"%m [%p] %q%u@%d/%a %c %x ",
	"%m [%p] %q%u@%d/%a ",
	"%m [%p] %q%u@%d ",
	"%m [%p] %q[user=%u,db=%d,app=%a] ",
}

// barePrefixes are tried where an envelope tells when and of which process a line is: Heroku's of now and of before, and frequent others.
var barePrefixes = [...]string{
	` sql_error_code = %e time_ms = "%m" pid="%p" proc_start_time="%s" session_id="%c" vtid="%v" tid="%x" log_line="%l" database="%d" connection_source="%r" user="%u" application_name="%a" `,
	" sql_error_code = %e ",
	"user=%u,db=%d,app=%a,client=%h ",
	"user=%u,db=%d ",
	"%q%u@%d ",
	"%q",
}

// inferPrefix finds the prefix that fits most lines of a sample, nil if none fits half of those that hold a label.
func inferPrefix(sample []sampleLine, bare bool) (best *prefix, hits int) {
	labelled := 0
	made := map[string]bool{}
	var candidates []string
	for _, l := range sample {
		_, start, ok := findLabel(l.text)
		if !ok {
			continue
		}
		labelled++
		if len(made) < 16 && start > 0 {
			if text := shapePrefix(l.text[:start]); !made[text] {
				made[text] = true
				candidates = append(candidates, text)
			}
		}
	}
	if bare {
		candidates = append(candidates, barePrefixes[:]...)
	}
	for _, text := range append(commonPrefixes[:len(commonPrefixes):len(commonPrefixes)], candidates...) {
		p, err := compilePrefix(text)
		if err != nil && !bare {
			continue
		}
		if n, _ := tryPrefix(p, sample); n > hits {
			best, hits = p, n
		}
	}
	if hits*2 < labelled {
		return nil, 0
	}
	return best, hits
}

// shapePrefix makes a prefix of what stands before a label: times, keys with an equals sign, numbers in brackets and session ids become escapes.
func shapePrefix(b []byte) string {
	var out []byte
	pid := false
	for i := 0; i < len(b); {
		if n := timeShape(append(bytes.Clone(b[i:]), "      "...)); n > 0 && n <= len(b)-i {
			if b[i+19] == '.' {
				out = append(out, "%m"...)
			} else {
				out = append(out, "%t"...)
			}
			i += n
			continue
		}
		if _, n, ok := epoch(append(bytes.Clone(b[i:]), ' ')); ok && (i == 0 || !isDigit(b[i-1])) {
			out = append(out, "%n"...)
			i += n
			continue
		}
		if n := sessionShape(b[i:]); n > 0 {
			out = append(out, "%c"...)
			i += n
			continue
		}
		if n := span(b[i:], isDigit); n > 0 {
			if !pid {
				out = append(out, "%p"...)
				pid = true
			} else {
				out = append(out, "%l"...)
			}
			i += n
			continue
		}
		if n := span(b[i:], isLetter); n > 0 {
			word := string(bytes.ToLower(b[i : i+n]))
			out = append(out, b[i:i+n]...)
			i += n
			if i < len(b) && b[i] == '=' {
				if esc := keyEscape(word); esc != "" {
					out = append(append(out, '='), esc...)
					for i++; i < len(b) && b[i] != ',' && b[i] != ' ' && b[i] != ']' && b[i] != ')' && b[i] != ':' && b[i] != ';' && b[i] != '>'; i++ {
					}
				}
			} else if i < len(b) && b[i] == '@' {
				out = append(out[:len(out)-n], "%u@%d"...)
				for i++; i < len(b) && b[i] != ',' && b[i] != ' ' && b[i] != ']' && b[i] != ':' && b[i] != '>' && b[i] != ')' && b[i] != '/'; i++ {
				}
				if i < len(b) && b[i] == '/' {
					out = append(out, "/%a"...)
					for i++; i < len(b) && b[i] != ',' && b[i] != ' ' && b[i] != ']' && b[i] != ':' && b[i] != '>' && b[i] != ')'; i++ {
					}
				}
			}
			continue
		}
		if out = append(out, b[i]); b[i] == '%' {
			out = append(out, '%')
		}
		i++
	}
	return string(out)
}

func sessionShape(b []byte) int {
	n := span(b, isHex)
	if n < 7 || n > 9 || n >= len(b) || b[n] != '.' {
		return 0
	}
	k := span(b[n+1:], isHex)
	if k == 0 || k > 8 {
		return 0
	}
	return n + 1 + k
}

func keyEscape(word string) string {
	switch word {
	case "user", "usr", "u":
		return "%u"
	case "db", "database", "dbname", "d":
		return "%d"
	case "app", "application", "a", "appname":
		return "%a"
	case "client", "host", "h", "remote":
		return "%h"
	case "rhost", "r":
		return "%r"
	case "pid", "p":
		return "%p"
	case "session", "sid", "sess":
		return "%c"
	case "line", "l":
		return "%l"
	case "cmd", "tag":
		return "%i"
	case "state", "sqlstate", "e":
		return "%e"
	case "xid", "txid":
		return "%x"
	case "vxid", "vtxid":
		return "%v"
	}
	return ""
}

// firstTime is the time of the first record in the head, 0 if it has none.
func (s *source) firstTime(zone *time.Location) int64 {
	head := bytes.Clone(s.head[:min(len(s.head), 64<<10)]) // parsers write
	nothing := func(string, int, int) {}
	var recs []record
	switch {
	case s.wrap != nil:
		recs = s.unwrapHead(head, zone)
	case s.format == Stderr:
		p := stderrParser{prefix: s.prefix, clock: clock{zone: zone}}
		recs = p.parse(head, false, nothing, func(string) {})
	case s.format == CSV:
		p := csvParser{clock: clock{zone: zone}}
		recs = p.parse(head, false, nothing)
	case s.format == JSON:
		p := jsonParser{clock: clock{zone: zone}}
		recs = p.parse(head, false, nothing)
	}
	for i := range recs {
		if recs[i].hasTime {
			return recs[i].time
		}
	}
	return 0
}
