package tail

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/foreshard/foreshard/capture/pglog"
)

// inode names a file of the file system for as long as it is held open.
type inode struct{ dev, ino uint64 }

func inodeOf(info os.FileInfo) inode {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}
	}
	return inode{uint64(st.Dev), st.Ino}
}

// carrier is a file of the file system that holds the content of a File. While it is open its inode cannot become another file's.
type carrier struct {
	id         inode
	path       string // the last one seen
	file       *os.File
	of         *File
	size       int64
	mtime      time.Time
	head       []byte
	compressed bool
	missing    bool    // no pattern finds it
	cut        bool    // it was truncated
	content    Content // in place of a file, nil: it is one
}

func (c *carrier) open() error {
	if c.file != nil || c.content != nil {
		return nil
	}
	f, err := os.Open(c.path)
	if err != nil {
		return fmt.Errorf("follow log: %w", err)
	}
	c.file = f
	return nil
}

func (c *carrier) close() error {
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	c.file = nil
	return err
}

// stat reads size and time; changed says that they are new. A file that is not held open is opened if they are, or if it is another one.
func (c *carrier) stat() (changed bool, err error) {
	if c.content != nil {
		return c.statContent(), nil
	}
	var info os.FileInfo
	if c.file != nil {
		info, err = c.file.Stat()
	} else {
		info, err = os.Stat(c.path)
	}
	if err != nil {
		return false, fmt.Errorf("follow log: %w", err)
	}
	if inodeOf(info) != c.id {
		return false, fmt.Errorf("follow log: %q has just become another file", c.path)
	}
	changed = info.Size() != c.size || !info.ModTime().Equal(c.mtime)
	if !changed {
		return false, nil
	}
	if c.file == nil {
		if err := c.open(); err != nil {
			return false, err
		}
		if info, err = c.file.Stat(); err != nil {
			return false, fmt.Errorf("follow log: %w", err)
		}
		if inodeOf(info) != c.id {
			return false, errors.Join(fmt.Errorf("follow log: %q has just become another file", c.path), c.close())
		}
	}
	c.size, c.mtime = info.Size(), info.ModTime()
	return true, nil
}

// readHead reads the first bytes of the content.
func (c *carrier) readHead() ([]byte, error) {
	if c.file == nil && c.content == nil {
		return c.head, nil
	}
	buf := make([]byte, pglog.HeadBytes)
	n, err := c.reader().ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("follow log: %w", err)
	}
	if c.compressed = c.content == nil && pglog.Compressed(buf[:n]); !c.compressed {
		return buf[:n], nil
	}
	rd, done, err := pglog.Decompress(io.NewSectionReader(c.file, 0, c.size))
	if err != nil {
		return nil, nil // its first block is not there yet
	}
	defer done()
	n, err = io.ReadFull(rd, buf)
	if err != nil && n < pglog.HeadBytes && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("follow log: %q: %w", c.path, err)
	}
	return buf[:n], nil
}

// end is the offset after the last whole line.
func (c *carrier) end() (int64, error) {
	if c.compressed {
		return c.length()
	}
	buf := make([]byte, 64<<10)
	for end := c.size; end > 0; {
		start := max(0, end-int64(len(buf)))
		n, err := c.file.ReadAt(buf[:end-start], start)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("find end of log: %w", err)
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// length decompresses everything to count it.
func (c *carrier) length() (int64, error) {
	rd, done, err := pglog.Decompress(io.NewSectionReader(c.file, 0, c.size))
	if err != nil {
		return 0, fmt.Errorf("find end of log %q: %w", c.path, err)
	}
	defer done()
	n, err := io.Copy(io.Discard, rd)
	if err != nil {
		return 0, fmt.Errorf("find end of log %q: %w", c.path, err)
	}
	return n, nil
}

// endsAt says that a compressed file tells its length, and the offset is that. gzip tells the length of its last member modulo 2^32, zstd may
// tell that of its first frame; if it is not the offset the file is read to find out.
func (c *carrier) endsAt(offset int64) bool {
	if offset == 0 || c.open() != nil {
		return false
	}
	var tail [4]byte
	head := make([]byte, 32)
	n, err := c.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		_, err := c.file.ReadAt(tail[:], c.size-4)
		return err == nil && binary.LittleEndian.Uint32(tail[:]) == uint32(offset)
	}
	var h zstd.Header
	return h.Decode(head[:n]) == nil && h.HasFCS && h.FrameContentSize == uint64(offset)
}
