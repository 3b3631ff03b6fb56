package sqltext

import "sort"

// Origin maps a byte offset in the canonical text of the n-th statement of src, counted from 0, to the byte offset in src of the token it came
// from. It reads src again, so it is for messages, not for every statement. ok is false if there is no such statement or offset.
func Origin(src []byte, n, offset int) (at int, ok bool) {
	s := Scanner{tracing: true}
	s.Reset(src)
	for ; s.Next(); n-- {
		if n > 0 {
			continue
		}
		if s.stmt.Bound == Unlexable || offset < 0 || offset > len(s.stmt.Text) {
			return 0, false
		}
		k := sort.Search(len(s.trace), func(i int) bool { return s.startOf(s.trace[i]) > offset })
		if k == 0 {
			return int(s.trace[0].src), true
		}
		return int(s.trace[k-1].src), true
	}
	return 0, false
}

// startOf gives the position of a token in the text: the trace is taken before the blank.
func (s *Scanner) startOf(p tracePoint) int {
	at := int(p.out)
	if at < len(s.stmt.Text) && s.stmt.Text[at] == ' ' {
		at++
	}
	return at
}
