package pglog

import "bytes"

// cutter finds where a buffer may be cut so that both parts start at a record. It only reads.
type cutter interface {
	// lastBorder is the offset > 0 of the last record that starts in b, -1 if there is none.
	lastBorder(b []byte) int
	// firstBorder is the offset of the first record that starts at a line of b after the first one, -1 if there is none.
	firstBorder(b []byte) int
	// complete is the length of what may be consumed of the last record, which nothing follows: all of b, or 0 if it is half written.
	complete(b []byte) int
}

type stderrCutter struct{ p stderrParser }

func (c *stderrCutter) lastBorder(b []byte) int {
	for end := len(b); ; {
		i := bytes.LastIndexByte(b[:end], '\n')
		if i < 0 {
			return -1
		}
		if i+1 < len(b) && c.p.isBorder(b[i+1:]) {
			return i + 1
		}
		end = i
	}
}

func (c *stderrCutter) firstBorder(b []byte) int {
	for pos := 0; ; {
		i := bytes.IndexByte(b[pos:], '\n')
		if i < 0 {
			return -1
		}
		pos += i + 1
		if c.p.isBorder(b[pos:]) {
			return pos
		}
	}
}

// complete takes whole lines: a record is written at once, so a missing newline is the sign of a half-written one.
func (c *stderrCutter) complete(b []byte) int { return wholeLines(b) }

func wholeLines(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

type csvCutter struct{}

// lastBorder wants an even number of quotes before the border. If no border has one there is a bad record, and the last border by form is taken.
func (csvCutter) lastBorder(b []byte) int {
	quotes := bytes.Count(b, quote)
	fallback := -1
	for end := len(b); ; {
		i := bytes.LastIndexByte(b[:end], '\n')
		if i < 0 {
			return fallback
		}
		quotes -= bytes.Count(b[i+1:end], quote)
		if bordersCSV(b[i+1:]) {
			if quotes%2 == 0 {
				return i + 1
			}
			if fallback < 0 {
				fallback = i + 1
			}
		}
		end = i
	}
}

var quote = []byte{'"'}

func (csvCutter) firstBorder(b []byte) int {
	if n := resyncCSV(b, 0); n < len(b) {
		return n
	}
	return -1
}

// complete follows the quotes of one record. A record that breaks the grammar is complete: waiting would not mend it.
func (csvCutter) complete(b []byte) int {
	quoted := false
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"' && !quoted:
			if i > 0 && b[i-1] != ',' {
				return wholeLines(b)
			}
			quoted = true
		case b[i] == '"' && i+1 < len(b) && b[i+1] == '"':
			i++
		case b[i] == '"':
			if quoted = false; i+1 < len(b) && b[i+1] != ',' && b[i+1] != '\n' && b[i+1] != '\r' {
				return wholeLines(b)
			}
		case b[i] == '\n' && !quoted:
			return wholeLines(b)
		}
	}
	return 0
}

type jsonCutter struct{}

func (jsonCutter) lastBorder(b []byte) int {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return -1
}

func (jsonCutter) firstBorder(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return -1
}

func (jsonCutter) complete(b []byte) int { return wholeLines(b) }
