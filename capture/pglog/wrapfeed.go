package pglog

import (
	"bytes"
	"fmt"
	"io"
)

// stretch is where bytes of a buffer stand in their source.
type stretch struct {
	at     int   // in the buffer
	offset int64 // in the source
}

// window is what was consumed of a source beyond its position, because entries of records that are not whole yet stand before it. The state
// keeps it beside the position.
type window struct {
	Identity string     `cbor:"1,keyasint"` // as in Position
	Offset   int64      `cbor:"2,keyasint"`
	Taken    [][2]int64 `cbor:"3,keyasint"` // offsets: from, to
}

// wrapFeeder cuts a source with envelopes: it takes the records that are whole, wherever their entries stand, and keeps the rest.
type wrapFeeder struct {
	*builder
	s     *source
	cfg   *Config
	rd    io.Reader
	buf   []byte
	runs  []stretch
	next  int64      // offset of the next byte that is read
	taken [][2]int64 // of an earlier run, from there on
	skip  bool       // the rest of an oversize entry is being thrown away
	short bool       // there was no room for a whole window, so that lines of one record may have been taken for another's
	ended bool
	err   error
}

func newWrapFeeder(s *source, cfg *Config, rd io.Reader) *wrapFeeder {
	w := &wrapFeeder{builder: newBuilder(s, cfg), s: s, cfg: cfg, rd: rd, next: s.known.Offset}
	if s.window != nil {
		w.taken = s.window.Taken
	}
	return w
}

// read reads up to so many bytes more. What was taken before is skipped.
func (w *wrapFeeder) read(n int) {
	for n > 0 && !w.ended {
		if len(w.taken) > 0 && w.taken[0][0] <= w.next {
			k, err := io.CopyN(io.Discard, w.rd, w.taken[0][1]-w.next)
			w.next += k
			if err != nil {
				w.end(err)
				return
			}
			w.taken = w.taken[1:]
			continue
		}
		size := n
		if len(w.taken) > 0 {
			size = int(min(int64(n), w.taken[0][0]-w.next))
		}
		start := len(w.buf)
		w.buf = grow(w.buf, start+size)
		k, err := w.rd.Read(w.buf[start : start+size])
		w.buf = w.buf[:start+k]
		if r := len(w.runs); k > 0 && (r == 0 || w.runs[r-1].offset+int64(start-w.runs[r-1].at) != w.next) {
			w.runs = append(w.runs, stretch{start, w.next})
		}
		w.next += int64(k)
		n -= k
		if err != nil {
			w.end(err)
		}
	}
}

func (w *wrapFeeder) end(err error) {
	w.ended = true
	if err != io.EOF {
		w.err = fmt.Errorf("read log %q: broken after %d bytes of content; what was whole before is kept: %w", w.s.name, w.next, err)
	}
}

// offsetOf is where a byte of the buffer stands in the source.
func (w *wrapFeeder) offsetOf(at int) int64 {
	for i := len(w.runs) - 1; i >= 0; i-- {
		if r := w.runs[i]; r.at <= at {
			return r.offset + int64(at-r.at)
		}
	}
	return w.next
}

// fill reads until there are whole records, and puts them into the chunk.
func (w *wrapFeeder) fill(c *chunk, newest bool) {
	c.un.reset()
	w.out = &c.un
	hold := newest && w.cfg.Hold && !w.s.closed
	for more := max(w.cfg.ChunkSize, len(w.buf)); ; more = max(w.cfg.ChunkSize, len(w.buf)) {
		if len(w.buf) < w.cfg.MaxRecord { // else what is there must go first, be it by force
			w.read(min(more, max(w.cfg.ChunkSize, w.cfg.MaxRecord-len(w.buf))))
		}
		if w.skip {
			w.skipEntry(c)
			if w.skip && !w.ended {
				continue
			}
		}
		w.scan.Latest = w.s.newest(w.cfg) // a log goes on for longer than the day by which times without a year are told
		w.arrange(w.buf)
		last := w.ended && !w.full
		some := w.take(c, last && !hold, false)
		if !some && !last && (w.full || len(w.buf) >= w.cfg.MaxRecord) {
			if some = w.used > 0; some {
				w.take(c, true, true)
			} else { // an entry that is longer than a record may be
				w.skip = true
				w.skipEntry(c)
				some = true
			}
		}
		if !some && !last {
			continue
		}
		if c.last = last; last {
			c.unread, c.err = int64(len(w.buf)), w.err
		}
		c.data, c.next, c.taken = c.un.text, w.offsetOf(0), w.holes()
		return
	}
}

// skipEntry throws bytes away up to the next line.
func (w *wrapFeeder) skipEntry(c *chunk) {
	n := bytes.IndexByte(w.buf, '\n') + 1
	w.skip = n == 0
	if w.skip {
		n = len(w.buf)
	}
	c.over += n
	w.keepFrom(n)
}

// keepFrom throws the first n bytes of the buffer away.
func (w *wrapFeeder) keepFrom(n int) {
	if n == 0 {
		return
	}
	var kept []stretch
	if n < len(w.buf) {
		kept = append(kept, stretch{0, w.offsetOf(n)})
	}
	for _, r := range w.runs {
		if r.at > n {
			kept = append(kept, stretch{r.at - n, r.offset})
		}
	}
	w.runs = kept
	w.buf = w.buf[:copy(w.buf, w.buf[n:])]
}

// take hands the records that are whole on: those before the first one that is not. With whole nothing will follow; with forced there is no
// room to wait. It reports whether there was something to take.
func (w *wrapFeeder) take(c *chunk, whole, forced bool) bool {
	n := int32(len(w.entries))
	w.short = w.short || forced && w.wrap.kind.Sorted()
	for _, g := range w.slots {
		r := &w.groups[g]
		past := r.done || w.past(r.last+1)
		if !past && !whole {
			break
		}
		w.write(g, forced && !past && !r.followed || w.short && r.pieces > 1)
	}
	for i := range w.entries {
		p := &w.entries[i]
		if p.drop == "" || p.taken {
			continue
		}
		if p.taken = whole || !w.windowed() || p.drop == DropEnvelope || p.drop == DropMalformed || w.past(int32(i)+1); p.taken {
			c.un.drop(p.drop, p.End-p.Pos)
		}
	}
	kept, runs := 0, []stretch(nil)
	keep := func(from, to int) {
		at := w.offsetOf(from)
		if k := len(runs); k == 0 || runs[k-1].offset+int64(kept-runs[k-1].at) != at {
			runs = append(runs, stretch{kept, at})
		}
		kept += copy(w.buf[kept:], w.buf[from:to])
	}
	some := false
	for i := int32(0); i < n; i++ {
		p := &w.entries[i]
		if p.taken {
			c.size += p.End - p.Pos
			some = true
		} else {
			keep(p.Pos, p.End)
		}
	}
	if !some {
		return false
	}
	w.keepTail(keep)
	w.buf, w.runs = w.buf[:kept], append(w.runs[:0], runs...)
	return true
}

// keepTail keeps what is no whole entry yet; it may have been read in several runs.
func (w *wrapFeeder) keepTail(keep func(from, to int)) {
	from := w.used
	for _, r := range w.runs {
		if r.at > from && r.at < len(w.buf) {
			keep(from, r.at)
			from = r.at
		}
	}
	if from < len(w.buf) {
		keep(from, len(w.buf))
	}
}

// windowed says that what comes late may belong before what has come.
func (a *arranger) windowed() bool { return a.wrap.native() || a.wrap.kind.Sorted() }

// past says that so much follows before piece k that nothing of what is to come belongs before it.
func (a *arranger) past(k int32) bool {
	n := int32(len(a.entries))
	return n-k >= windowEntries || a.entries[n-1].at-a.entries[k-1].at > int64(a.window())
}

// holes are what was taken beyond the first byte that was not.
func (w *wrapFeeder) holes() (out [][2]int64) {
	for i, r := range w.runs {
		end, next := len(w.buf), w.next
		if i+1 < len(w.runs) {
			end, next = w.runs[i+1].at, w.runs[i+1].offset
		}
		if from := r.offset + int64(end-r.at); from < next {
			out = append(out, [2]int64{from, next})
		}
	}
	return append(out, w.taken...)
}
