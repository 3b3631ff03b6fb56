package pglog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/foreshard/foreshard/capture/pglog/envelope"
)

// The formats with an envelope around each line or record. What is inside is found out: stderr lines, csvlog, jsonlog.
const (
	Syslog        = Format(envelope.Syslog)
	Docker        = Format(envelope.Docker)
	CRI           = Format(envelope.CRI)
	CloudWatch    = Format(envelope.CloudWatch)
	CloudSQL      = Format(envelope.CloudSQL)
	Azure         = Format(envelope.Azure)
	CloudNativePG = Format(envelope.CloudNativePG)
	Supabase      = Format(envelope.Supabase)
	PlanetScale   = Format(envelope.PlanetScale)
)

// Formats are all that an input may be said to have.
func Formats() []Format {
	out := []Format{Stderr, CSV, JSON, SQL}
	for _, k := range envelope.Kinds() {
		out = append(out, Format(k))
	}
	return out
}

func (f Format) wrapped() bool { return slices.Contains(envelope.Kinds(), envelope.Kind(f)) }

// wrapping says how the records of a source are wrapped. It is settled when the source is recognised.
type wrapping struct {
	kind    envelope.Kind
	inner   Format    // of what is inside: Stderr, CSV, JSON, or a kind of JSON with the fields of a record
	chunks  bool      // of syslog: "[2]" is the second chunk of a record, not its second record
	escapes bool      // of syslog: control characters are written as #ooo
	latest  time.Time // no entry of the head is much later
}

// native says that the server itself wrote to syslog, in numbered chunks: not a shipper that sent lines of a file.
func (w *wrapping) native() bool { return w.kind == envelope.Syslog && w.inner == Stderr }

// recogniseWrapped settles what is inside the envelopes of a source.
func (s *source) recogniseWrapped(cfg *Config) error {
	w := &wrapping{kind: envelope.Kind(s.format), latest: s.newest(cfg), escapes: cfg.Escaped}
	texts, times := s.wrappedTexts(w, cfg.Zone)
	if w.kind.Sorted() && newestFirst(times) {
		return errNewestFirst
	}
	if times == nil {
		return fmt.Errorf("none of its first entries is one of a PostgreSQL server in %s", s.format)
	}
	s.wrap = w
	if w.inner = Format(w.kind); w.kind.Structured() {
		return nil
	}
	w.inner = innerFormat(texts)
	if w.inner != Stderr {
		return nil
	}
	var sample []sampleLine
	for i := range texts {
		if t := texts[i].text; len(t) > 0 && t[0] != '\t' && !bytes.HasPrefix(t, []byte("#011")) && len(sample) < checkLines {
			sample = append(sample, sampleLine{texts[i].number, t})
		}
	}
	p, err := choosePrefix(cfg.Prefix, sample, w.native())
	if err != nil {
		return err
	}
	s.prefix = p
	w.chunks = countsChunks(p, texts)
	return nil
}

// newest is what no entry that there is now is much later than; zero: not known.
func (s *source) newest(cfg *Config) time.Time {
	if s.latest.IsZero() && cfg.Now != nil {
		return cfg.Now()
	}
	return s.latest
}

// wrappedText is a line of the head without its envelope.
type wrappedText struct {
	number int // of the entry
	text   []byte
	single uint64 // of "[7]"
}

// wrappedTexts unwraps the beginnings of the head's lines. times are those of all entries of this kind.
func (s *source) wrappedTexts(w *wrapping, zone *time.Location) (texts []wrappedText, times []int64) {
	scan := envelope.Scanner{Kind: w.kind, Zone: zone, Latest: w.latest}
	open := false
	for pos, n := 0, 1; n <= 4*checkLines; n++ {
		e, ok := scan.Next(s.head, pos)
		if !ok {
			break
		}
		pos = e.End
		if e.Class != envelope.Wrapped || e.Repeat > 0 {
			continue
		}
		times = append(times, e.Time)
		part := open
		open = e.Open
		if w.kind == envelope.Syslog {
			w.escapes = w.escapes || escaped(e.Text)
		}
		if part || e.Chunk > 1 {
			continue
		}
		t := wrappedText{number: n, text: chop(e.Text[:lineEnd(e.Text, 0)])}
		if e.Numbered && e.Chunk == 0 {
			t.single = e.Number
		}
		texts = append(texts, t)
	}
	return texts, times
}

// escaped says that a text shows that its newlines and TABs are written as #012 and #011.
func escaped(text []byte) bool {
	return bytes.HasPrefix(text, []byte("#011")) || bytes.HasSuffix(text, []byte("#012")) || bytes.Contains(text, []byte("#012#011"))
}

// innerFormat recognises what is wrapped.
func innerFormat(texts []wrappedText) Format {
	for i := range texts {
		t := texts[i].text
		switch in := trimLeft(t); {
		case len(in) > 0 && in[0] == '{' && bytes.Contains(in, []byte(`"error_severity"`)):
			if bytes.Contains(in, []byte(`"logger"`)) {
				return CloudNativePG
			}
			return JSON
		case bordersCSV(t):
			return CSV
		}
		if _, _, ok := findLabel(t); ok {
			return Stderr
		}
	}
	return Stderr
}

// countsChunks settles what "[7]" counts: chunks, if it is 1 wherever a record starts and something else than that elsewhere.
func countsChunks(p *prefix, texts []wrappedText) (chunks bool) {
	var c clock
	for i := range texts {
		if texts[i].single > 1 {
			var rec record
			if m, _, ok := p.match(texts[i].text, &c, &rec); ok && m.label.primary() {
				return false
			}
			chunks = true
		}
	}
	return chunks
}

// unwrapHead reads the records of a head.
func (s *source) unwrapHead(head []byte, zone *time.Location) []record {
	b := newBuilder(s, &Config{Zone: zone})
	var un unwrapped
	un.reset()
	b.out = &un
	b.arrange(head)
	for _, g := range b.slots {
		b.write(g, false)
	}
	return newUnwrapParser(zone).parse(s, &un, func(string, int) {}, func(string) {})
}

// errNewestFirst is of an export in the wrong order.
var errNewestFirst = errors.New("its entries are in descending order of time: export them in ascending order (gcloud logging read --order=asc)")

// newestFirst says that the entries of a head go back in time further than entries are reordered.
func newestFirst(times []int64) bool {
	up, down := 0, 0
	for i := 1; i < len(times); i++ {
		if times[i] > times[i-1] {
			up++
		} else if times[i] < times[i-1] {
			down++
		}
	}
	return down > up && times[0]-times[len(times)-1] > int64(windowSorted)
}

// spans says how many bytes of a chunk what was unwrapped of it took up. Nil: nothing was wrapped.
type spans struct {
	starts []int // of pieces of the text
	outer  []int // bytes of the chunk up to the end of the piece
}

func (s *spans) reset() { s.starts, s.outer = s.starts[:0], s.outer[:0] }

// add says that the text from start on took so many bytes of the chunk.
func (s *spans) add(start, bytes int) {
	before := 0
	if n := len(s.outer); n > 0 {
		before = s.outer[n-1]
	}
	s.starts, s.outer = append(s.starts, start), append(s.outer, before+bytes)
}

// of is the size in the chunk of a span of the text: of the pieces that start in it. Sizes of spans that cover the text add up to all bytes.
func (s *spans) of(from, to int) int {
	if s == nil {
		return to - from
	}
	return s.upTo(to) - s.upTo(from)
}

func (s *spans) upTo(at int) int {
	i := sort.SearchInts(s.starts, at) // pieces that start before it
	if i == 0 {
		return 0
	}
	return s.outer[i-1]
}
