package pglog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// chunk is a run of whole records of one source on its way through the pipeline.
type chunk struct {
	src    *source
	index  int        // of the source
	data   []byte     // starts at a record
	buf    []byte     // its memory
	cut    bool       // the last record was longer than Config.MaxRecord
	un     unwrapped  // of a source with envelopes; data is its text
	size   int        // bytes of the source
	taken  [][2]int64 // offsets after next that were consumed too
	over   int        // bytes of it that were thrown away
	inCopy bool       // of a .sql file: it starts among the rows of a COPY
	final  bool       // of a .sql file: its end is the end of the file
	next   int64      // offset after it
	unread int64      // bytes left at the end of the source
	last   bool       // of its source
	err    error      // of the source; the chunk may hold data
	out    result
	done   chan struct{}
}

// feed reads the sources one after the other and cuts them into chunks. It runs in one goroutine and never looks into a record.
func (r *Reader) feed(ctx context.Context, work, order chan<- *chunk, free <-chan *chunk) error {
	for i, s := range r.sources {
		if err := r.feedSource(ctx, i, s, work, order, free); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) feedSource(ctx context.Context, index int, s *source, work, order chan<- *chunk, free <-chan *chunk) error {
	next := func() (*chunk, error) {
		select {
		case c := <-free:
			*c = chunk{src: s, index: index, buf: c.buf[:0], out: c.out, un: c.un, done: c.done}
			return c, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	send := func(c *chunk) error {
		for _, ch := range [...]chan<- *chunk{order, work} {
			select {
			case ch <- c:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	c, err := next()
	if err != nil {
		return err
	}
	rd, err := s.rewind()
	if err != nil {
		c.err, c.last = err, true
		return send(c)
	}
	f := feeder{r: r, s: s, rd: rd, offset: s.pos.Offset}
	if s.wrap != nil {
		f.wrapped = newWrapFeeder(s, &r.cfg, rd)
	}
	for {
		f.fill(c, index == len(r.sources)-1)
		rest := f.rest
		if c.last {
			if err := s.close(); err != nil && c.err == nil {
				c.err = fmt.Errorf("close log %q: %w", s.name, err)
			}
			return send(c)
		}
		after, err := next()
		if err != nil {
			return err
		}
		after.buf = append(after.buf, rest...) // before c is handed on: rest is in its memory
		if err := send(c); err != nil {
			return err
		}
		c = after
	}
}

// feeder cuts one source.
type feeder struct {
	r      *Reader
	s      *source
	rd     io.Reader
	offset int64 // of the first byte of the chunk
	rest   []byte
	inCopy bool
	skip   bool // the rest of an oversize record is being thrown away

	wrapped *wrapFeeder // of a source with envelopes: does all of it
}

// fill reads until the chunk can be cut. c.buf holds what the chunk before left over.
func (f *feeder) fill(c *chunk, newest bool) {
	if f.wrapped != nil {
		f.wrapped.fill(c, newest)
		return
	}
	cut := f.r.cutterOf(f.s)
	want := f.r.cfg.ChunkSize
	eof := false
	for {
		for len(c.buf) < want && !eof {
			c.buf = grow(c.buf, want)
			n, err := f.rd.Read(c.buf[len(c.buf):want])
			c.buf = c.buf[:len(c.buf)+n]
			if err == io.EOF {
				eof = true
			} else if err != nil {
				eof = true
				c.err = fmt.Errorf("read log %q: broken after %d bytes of content; what was whole before is kept: %w", f.s.name, f.offset+int64(c.over+len(c.buf)), err)
			}
		}
		if f.skip {
			f.skipOversize(c, cut, eof)
			if f.skip && !eof {
				continue
			}
		}
		if f.s.format == SQL {
			if f.fillSQL(c, eof) {
				return
			}
		} else if eof {
			f.finish(c, cut, newest)
			return
		} else if n := cut.lastBorder(c.buf); n > 0 {
			f.emit(c, n)
			return
		}
		if len(c.buf) >= f.r.cfg.MaxRecord {
			c.cut, f.skip = true, true
			f.emit(c, len(c.buf))
			return
		}
		want = min(2*want, f.r.cfg.MaxRecord)
	}
}

func grow(b []byte, size int) []byte {
	if cap(b) >= size {
		return b
	}
	out := make([]byte, len(b), size)
	copy(out, b)
	return out
}

// emit cuts the chunk after n bytes.
func (f *feeder) emit(c *chunk, n int) {
	c.data, f.rest = c.buf[:n], c.buf[n:]
	c.size = n
	f.offset += int64(n + c.over)
	c.next = f.offset
}

// skipOversize throws away what an oversize record has beyond the limit, up to the next record.
func (f *feeder) skipOversize(c *chunk, cut cutter, eof bool) {
	n := -1
	if f.s.format == SQL { // there is no telling where in a statement this is; what follows the next line that ends in a semicolon is read again
		if i := bytes.Index(c.buf, []byte(";\n")); i >= 0 {
			n = i + 2
		}
	} else {
		n = cut.firstBorder(c.buf)
	}
	if n >= 0 {
		f.skip = false
	} else if eof {
		n = len(c.buf)
	} else {
		n = max(0, bytes.LastIndexByte(c.buf, '\n')) // a border is found by the newline before it
		if n == 0 {
			n = max(0, len(c.buf)-1)
		}
	}
	c.over += n
	c.buf = c.buf[:copy(c.buf, c.buf[n:])]
}

// finish cuts the last chunk of a log: without the half-written record at its end.
func (f *feeder) finish(c *chunk, cut cutter, newest bool) {
	c.last = true
	start := max(0, cut.lastBorder(c.buf))
	n := start + cut.complete(c.buf[start:])
	if newest && f.r.cfg.Hold && !f.s.closed && f.s.format == Stderr {
		n = start
	}
	if f.skip { // all of it belonged to an oversize record
		n = len(c.buf)
	}
	c.unread = int64(len(c.buf) - n)
	f.emit(c, n)
}

// fillSQL cuts after the last whole statement. It reports whether the chunk is ready.
func (f *feeder) fillSQL(c *chunk, eof bool) bool {
	sp := splitter{inCopy: f.inCopy}
	n := sp.split(c.buf, eof, func(piece, []byte) {})
	if n == 0 && !eof {
		return false
	}
	c.inCopy, f.inCopy = f.inCopy, sp.inCopy
	c.final, c.last = eof, eof
	f.emit(c, n)
	return true
}

var errStopped = errors.New("stopped")
