package pglog

import "bytes"

// wrapCutter finds where wrapped content may be cut: where no record goes on on the other side.
type wrapCutter struct{ arranger }

func newWrapCutter(r *Reader, s *source) *wrapCutter {
	c := &wrapCutter{arranger{wrap: s.wrap, prefix: s.prefix, clock: clock{zone: r.cfg.Zone}}}
	c.scan.Kind, c.scan.Zone, c.scan.Latest = s.wrap.kind, r.cfg.Zone, s.wrap.latest
	return c
}

// clean is the largest offset > 0 that no record goes over, 0 if there is none. With whole nothing will follow.
func (c *wrapCutter) clean(b []byte, whole bool) int {
	c.arrange(b)
	n := len(c.entries)
	if n == 0 {
		return 0
	}
	if whole && !c.full {
		return c.used
	}
	far := make([]int32, n)
	unfinished := int32(n) // first piece of a record that may go on
	for i := range c.groups {
		g := &c.groups[i]
		far[g.first] = max(far[g.first], g.far)
		if !g.done && !c.past(g.last+1) {
			unfinished = min(unfinished, g.first)
		}
	}
	least := c.leastAfter()
	most, reach, best := int32(-1), int32(-1), 0
	for k := int32(1); k <= int32(n); k++ { // before piece k
		reach = max(reach, far[k-1])
		if most < 0 || least != nil && compareTimes(&c.entries[most], &c.entries[k-1]) < 0 {
			most = k - 1
		}
		ordered := least == nil || k == int32(n) || compareTimes(&c.entries[most], &c.entries[least[k]]) <= 0
		if reach < k && ordered && k <= unfinished && (!c.windowed() || c.past(k)) {
			best = int(k)
		}
	}
	switch best {
	case 0:
		return 0
	case n:
		return c.used
	}
	return c.entries[best].Pos
}

// windowed says that what comes late may belong before what has come.
func (c *wrapCutter) windowed() bool { return c.wrap.native() || c.wrap.kind.Sorted() }

// past says that so much follows before piece k that nothing of what is to come belongs before it.
func (c *wrapCutter) past(k int32) bool {
	n := int32(len(c.entries))
	return n-k >= windowEntries || c.entries[n-1].at-c.entries[k-1].at > int64(c.window())
}

// leastAfter is, for each piece, the one with the least time from there on; nil if the order of time does not matter.
func (c *wrapCutter) leastAfter() []int32 {
	if !c.wrap.kind.Sorted() {
		return nil
	}
	out := make([]int32, len(c.entries))
	for k := len(out) - 1; k >= 0; k-- {
		out[k] = int32(k)
		if k+1 < len(out) && compareTimes(&c.entries[out[k+1]], &c.entries[k]) < 0 {
			out[k] = out[k+1]
		}
	}
	return out
}

// firstBorder is the next line: what stands between it and here is not wrapped as it should be.
func (c *wrapCutter) firstBorder(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return -1
}

func (c *wrapCutter) lastBorder(b []byte) int { return c.clean(b, false) }

func (c *wrapCutter) complete(b []byte) int { return wholeLines(b) }

// fillWrapped cuts wrapped content. It reports whether the chunk is ready.
func (f *feeder) fillWrapped(c *chunk, cut *wrapCutter, eof, newest bool) bool {
	n := cut.clean(c.buf, eof && !(newest && f.r.cfg.Hold && !f.s.closed))
	switch {
	case eof && !cut.full:
		c.last = true
		if f.skip { // all of it belonged to an oversize entry
			n = len(c.buf)
		}
		c.unread = int64(len(c.buf) - n)
		f.emit(c, n)
	case n > 0:
		f.emit(c, n)
	case cut.full || len(c.buf) >= f.r.cfg.MaxRecord && cut.used > 0:
		c.forced = true
		f.emit(c, cut.used)
	default:
		return false
	}
	return true
}
