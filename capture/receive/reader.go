package receive

import (
	"bytes"
	"context"
	"io"
	"slices"
)

// Reader reads a log from its beginning to its end and waits for what is still to come. Bytes that were released, which nobody looks at again,
// are zeros.
func (l *Log) Reader(ctx context.Context) io.Reader { return &reader{ctx: ctx, l: l} }

type reader struct {
	ctx context.Context
	l   *Log
	at  int64
}

func (r *reader) Read(p []byte) (int, error) {
	size, err := r.l.Wait(r.ctx, r.at+1)
	if err != nil {
		return 0, err
	}
	if size <= r.at {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), size-r.at)]
	if gap := r.l.gap(r.at); gap > 0 {
		p = p[:min(int64(len(p)), gap)]
		clear(p)
		r.at += int64(len(p))
		return len(p), nil
	}
	n, err := r.l.ReadAt(p, r.at)
	r.at += int64(n)
	if n > 0 {
		return n, nil // what stopped it comes again
	}
	return 0, err
}

// gap is how many bytes from an offset on were released.
func (l *Log) gap(at int64) int64 {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	i := slices.IndexFunc(l.segments, func(g *segment) bool { return g.last() > at })
	if i < 0 {
		return 0
	}
	return max(0, l.segments[i].start-at)
}

// Wait waits until a log has so many bytes, or has ended, and returns how many it has.
func (l *Log) Wait(ctx context.Context, size int64) (int64, error) {
	defer context.AfterFunc(ctx, l.s.wake)()
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	for l.durable < size && (l.end == open || l.durable < l.written) && l.s.broken == nil {
		if err := ctx.Err(); err != nil {
			return l.durable, err
		}
		l.s.changed.Wait()
	}
	return l.durable, l.s.broken
}

// Head is the beginning of a log, at most n bytes of it.
func (l *Log) Head(n int) ([]byte, error) {
	size, _ := l.Stat()
	b := make([]byte, min(int64(n), size))
	if _, err := l.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// Repeats says that a log begins as an earlier one does, as far as the n bytes go by which logs are known.
func (l *Log) Repeats(earlier *Log, n int) (bool, error) {
	a, err := l.Head(n)
	if err != nil {
		return false, err
	}
	b, err := earlier.Head(n)
	if err != nil {
		return false, err
	}
	k := min(len(a), len(b))
	return k > 0 && bytes.Equal(a[:k], b[:k]), nil
}
