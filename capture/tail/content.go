package tail

import (
	"errors"
	"io"
	"math"
	"time"
)

// Content is a log that is no file: it was received from somewhere that cannot be read twice. What lies before a released offset may be gone
// from it, its first pglog.HeadBytes excepted. It is a carrier like a file: another Content that begins with the same bytes is a copy.
type Content interface {
	io.ReaderAt
	Name() string
	Serial() int64 // a later one has a greater one
	Stat() (size int64, grown time.Time)
	Ended() bool                                  // nothing will be added
	Whole(now time.Time, idle time.Duration) bool // nothing will be added to the last record that is there
	Release(offset int64) error                   // what lies before will not be read again
	Done(lost int64) error                        // it will not be read again; lost bytes at its end are of a record that is not whole
}

// noDevice is the device of contents' inodes.
const noDevice = math.MaxUint64

// meetContents takes note of the contents that there are now.
func (t *Tail) meetContents(seen map[inode]bool) {
	if t.o.Contents == nil {
		return
	}
	for _, content := range t.o.Contents() {
		id := inode{noDevice, uint64(content.Serial())}
		seen[id] = true
		if t.carriers[id] == nil {
			t.carriers[id] = &carrier{id: id, path: content.Name(), content: content}
		}
	}
}

// statContent is stat of a content.
func (c *carrier) statContent() (changed bool) {
	size, grown := c.content.Stat()
	changed = size != c.size || !grown.Equal(c.mtime)
	c.size, c.mtime = size, grown
	return changed
}

// reader reads what the carrier held when it was looked at.
func (c *carrier) reader() io.ReaderAt {
	if c.content != nil {
		return io.NewSectionReader(c.content, 0, c.size)
	}
	return c.file
}

// Release tells contents how far they were read, and which of them are done with. It is called when all positions that were committed are durable.
func (t *Tail) Release() error {
	var err error
	for _, c := range t.carriers {
		if c.content == nil {
			continue
		}
		if c.of != nil {
			err = errors.Join(err, c.content.Release(min(c.of.keptAt, c.size)))
		}
		if lost, done := t.done(c); done {
			t.drop(c)
			err = errors.Join(err, c.content.Done(lost))
		}
	}
	return err
}

// done says that a content will not be read again, and how many bytes at its end never became a record. The newest one stays: it tells whether
// the next one repeats it.
func (t *Tail) done(c *carrier) (lost int64, done bool) {
	f := c.of
	newest, repeats := true, false
	for _, other := range t.carriers {
		if other.content == nil || other == c {
			continue
		}
		if f != nil && other.of == f && other.size >= c.size && (other.size > c.size || other.id.ino > c.id.ino) {
			return 0, c.content.Ended() // all of it is in the other one
		}
		if other.id.ino > c.id.ino {
			newest = newest && other.of == nil
			repeats = repeats || other.of == f
		}
	}
	if f == nil { // it has no line
		return c.size, !newest && c.content.Ended()
	}
	read := f.offset >= c.size || f.tried == c.size && (f.triedWhole || !c.content.Whole(t.o.Now(), t.o.Idle))
	if newest || repeats || !read || f.keptAt != f.offset || !c.content.Ended() {
		return 0, false
	}
	return max(0, c.size-f.offset), true
}
