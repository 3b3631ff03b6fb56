package tail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/foreshard/foreshard/capture/pglog"
)

// File is one log file: a content, whatever it is called, however often it is copied or compressed.
type File struct {
	tail     *Tail
	name     string // the first one it had
	head     []byte // its first bytes, at most pglog.HeadBytes
	offset   int64  // consumed
	carriers []*carrier
	grown    time.Time // when it was last seen to have grown

	// What the last read left: bytes from offset on of a record that is not whole. They are all there is if the file is truncated.
	leftover []byte

	tried      int64 // size up to which it was read
	triedWhole bool
	whole      bool // of the part that was handed out last
	part       int64

	triedPacked int64 // size of the compressed carrier that was read

	committed string // identity under which its position was kept
	keptAt    int64  // offset of it
}

// Name is the path it has now, or had last.
func (f *File) Name() string {
	if c := f.best(); c != nil {
		return c.path
	}
	return f.name
}

// Identity names the content by what is known of its head.
func (f *File) Identity() string { return pglog.Identity(f.tail.o.HashKey, f.head) }

// Offset is how far it was consumed.
func (f *File) Offset() int64 { return f.offset }

// Unread is how many bytes of it are there and not consumed; 0 of a compressed file.
func (f *File) Unread() int64 {
	if c := f.best(); c != nil {
		if c.compressed {
			return 0
		}
		return max(0, c.size-f.offset)
	}
	return int64(len(f.leftover))
}

// Committed is the identity under which the position was kept last, "" if it never was.
func (f *File) Committed() string { return f.committed }

// SetCommitted says that the position is kept as it is now, under an identity. Until then a file is not forgotten.
func (f *File) SetCommitted(id string) { f.committed, f.keptAt = id, f.offset }

func (f *File) add(c *carrier) {
	c.of = f
	f.carriers = append(f.carriers, c)
	if len(c.head) > len(f.head) {
		f.head = c.head
	}
}

func (f *File) remove(c *carrier) {
	f.name = c.path
	f.carriers = slices.DeleteFunc(f.carriers, func(x *carrier) bool { return x == c })
	c.of = nil
}

// best is the carrier to read from: the longest plain one, else a compressed one, nil if there is none.
func (f *File) best() *carrier {
	var best *carrier
	for _, c := range f.carriers {
		switch {
		case best == nil, best.compressed && !c.compressed, best.compressed == c.compressed && c.size > best.size:
			best = c
		}
	}
	return best
}

func (f *File) mtime() time.Time {
	if c := f.best(); c != nil {
		return c.mtime
	}
	return time.Time{}
}

// lose accounts for a carrier that was truncated. What was seen of it and is in no other place is lost.
func (f *File) lose(c *carrier, size int64, counts *Counts) {
	c.cut = true
	if c.compressed {
		return
	}
	end := f.offset + int64(len(f.leftover))
	for _, other := range f.carriers {
		if other != c {
			if other.compressed {
				return
			}
			end = max(end, other.size)
		}
	}
	counts.Lost += max(0, size-end)
}

// unfinished says that no carrier is left, and bytes that were read before are still to be consumed.
func (f *File) unfinished() bool {
	return len(f.carriers) == 0 && len(f.leftover) > 0 && !f.triedWhole
}

// readable settles whether there is something to read that was not tried in vain before, and whether its last record is whole.
func (f *File) readable(now time.Time, superseded bool) bool {
	c := f.best()
	if c == nil {
		f.whole, f.part = true, f.offset+int64(len(f.leftover))
		return f.unfinished()
	}
	f.part = c.size
	if c.compressed {
		f.whole = true
		if f.triedPacked == c.size {
			return false
		}
		if !c.endsAt(f.offset) {
			return true
		}
		f.triedPacked = c.size
		c.close()
		return false
	}
	f.whole = superseded || c.content == nil && now.Sub(f.grown) >= f.tail.o.Idle
	return c.size > f.offset && (c.size != f.tried || f.whole && !f.triedWhole)
}

// Part is what there is to read as of the last Poll.
func (f *File) Part() (pglog.Part, error) {
	p := pglog.Part{Name: f.Name(), Offset: f.offset, Whole: f.whole, Written: f.grown}
	c := f.best()
	if c == nil {
		p.Content = &splice{head: f.head, rest: f.leftover, at: f.offset}
		return p, nil
	}
	if err := c.open(); err != nil {
		return p, err
	}
	p.Content = io.NewSectionReader(c.reader(), 0, f.part)
	return p, nil
}

// Advance says that the file was consumed up to an offset.
func (f *File) Advance(offset int64) {
	if offset > f.offset {
		n := min(offset-f.offset, int64(len(f.leftover)))
		f.leftover = f.leftover[n:]
		f.offset = offset
	}
}

// Read says that the part was read to its end. What it left unconsumed is kept for the case that the file is truncated.
func (f *File) Read() error {
	c := f.best()
	if c != nil && c.compressed {
		f.triedPacked, f.leftover = c.size, nil
		return c.close()
	}
	f.tried, f.triedWhole = f.part, f.whole
	if c == nil || c.content != nil {
		f.leftover = nil
		return nil
	}
	n := f.part - f.offset
	if n <= 0 || n > maxLeftover {
		f.leftover = nil
		return nil
	}
	buf := make([]byte, n)
	k, err := c.file.ReadAt(buf, f.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read log %q: %w", c.path, err)
	}
	head := make([]byte, len(f.head))
	if _, err := c.file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read log %q: %w", c.path, err)
	}
	if bytes.Equal(head, f.head) { // else it was truncated by now, and these are bytes of something else
		f.leftover = buf[:k]
	}
	return nil
}

// Skip says that nothing of the part could be read; it is tried again when there is more.
func (f *File) Skip() {
	if c := f.best(); c != nil && c.compressed {
		f.triedPacked = c.size
		return
	}
	f.tried, f.triedWhole = f.part, f.whole
}

// splice is what is left of a file that is gone: its head and its last bytes.
type splice struct {
	head, rest []byte
	at, pos    int64
}

func (s *splice) Read(p []byte) (int, error) {
	var from []byte
	switch {
	case s.pos >= s.at:
		from = s.rest[min(s.pos-s.at, int64(len(s.rest))):]
	case s.pos < int64(len(s.head)):
		from = s.head[s.pos:]
	}
	if len(from) == 0 {
		return 0, io.EOF
	}
	n := copy(p, from)
	s.pos += int64(n)
	return n, nil
}

func (s *splice) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 {
		return 0, errors.New("seek: only from the start")
	}
	s.pos = offset
	return offset, nil
}
