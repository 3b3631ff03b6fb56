package pglog

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	identityBytes = 4096      // of decompressed content that name a file
	peekBytes     = 256 << 10 // looked at to recognise an input, and what names a .sql file: dumps start alike
)

// source is an input that was recognised.
type source struct {
	name   string
	path   string
	rd     io.Reader // decompressed, while it is open
	once   bool      // standard input or a pipe: it stays open, because what was read of it is gone
	closer func() error
	head   []byte    // its first bytes
	whole  bool      // head is all of it
	broken error     // of reading the head
	plain  io.Seeker // of Part.Content that is not compressed
	closed bool      // nothing will be added to its last record, though the log goes on
	format Format
	prefix *prefix
	wrap   *wrapping // of a format with envelopes
	window *window   // of an earlier run; nil none
	latest time.Time // when it was last written, zero: not known
	first  int64     // time of the first record, 0 unknown
	known  Position
	pos    Position
}

// open opens the input and decompresses it by its content.
func (s *source) open(in io.Reader) error {
	var file *os.File
	if in == nil {
		f, err := os.Open(s.path)
		if err != nil {
			return fmt.Errorf("open log: %w", err)
		}
		info, err := f.Stat()
		if err != nil {
			return errors.Join(fmt.Errorf("open log: %w", err), f.Close())
		}
		file, in = f, f
		if s.once = !info.Mode().IsRegular(); !s.once {
			s.latest = info.ModTime()
		}
	} else {
		s.once = true
	}
	rd, done, err := decompress(in)
	if err != nil {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
		return fmt.Errorf("read log %q: %w", s.name, err)
	}
	s.rd = rd
	s.closer = func() error {
		done()
		if file != nil {
			return file.Close()
		}
		return nil
	}
	return nil
}

func (s *source) close() error {
	if s.closer == nil {
		return nil
	}
	err := s.closer()
	s.closer, s.rd = nil, nil
	return err
}

// decompress looks for the magic numbers of gzip and zstd. Concatenated members and frames are read through.
func decompress(in io.Reader) (io.Reader, func(), error) {
	br := bufio.NewReaderSize(in, 64<<10)
	magic, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		zr, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, fmt.Errorf("decompress gzip: %w", err)
		}
		return zr, func() {}, nil
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		zr, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		if err != nil {
			return nil, nil, fmt.Errorf("decompress zstd: %w", err)
		}
		return zr, zr.Close, nil
	case bytes.HasPrefix(magic, []byte("BZh")), bytes.HasPrefix(magic, []byte{0xfd, '7', 'z', 'X'}), bytes.HasPrefix(magic, []byte{0x04, 0x22, 0x4d, 0x18}):
		return nil, nil, errors.New("bzip2, xz and lz4 are not read: decompress it into a pipe and read -")
	}
	return br, func() {}, nil
}

// peek reads the head. A broken compressed tail is left for the run to find.
func (s *source) peek(key [16]byte) error {
	s.head, s.broken = io.ReadAll(io.LimitReader(s.rd, peekBytes))
	n := len(s.head)
	s.head = s.head[:n:n]
	if s.broken != nil && n == 0 {
		return fmt.Errorf("read log %q: broken at its start: %w", s.name, s.broken)
	}
	s.whole = n < peekBytes
	s.pos = Position{Name: s.name, Identity: identity(key, s.head, identityBytes)}
	return nil
}

// identity names content by its first bytes. n is part of it, so that a file that was short is known again when it has grown. The hash is
// keyed: the content of a short file could be guessed from a plain one.
func identity(key [16]byte, head []byte, n int) string {
	n = min(n, len(head))
	mac := hmac.New(sha256.New, key[:])
	mac.Write(head[:n])
	return strconv.Itoa(n) + ":" + hex.EncodeToString(mac.Sum(nil))
}

// match looks the head up among known positions: the one that covers most bytes, then the one that was read furthest.
func (s *source) match(key [16]byte, known []Position) {
	best := 0
	for _, k := range known {
		size, _, ok := strings.Cut(k.Identity, ":")
		n, err := strconv.Atoi(size)
		if !ok || err != nil || n < 1 || n > len(s.head) || n < best || identity(key, s.head, n) != k.Identity {
			continue
		}
		if n == best && k.Offset <= s.known.Offset {
			continue
		}
		best, s.known = n, k
	}
	s.pos.Offset, s.pos.Unread = s.known.Offset, s.known.Unread
}

// rewind gets ready to read from the known offset.
func (s *source) rewind() (io.Reader, error) {
	if s.plain != nil {
		s.head = nil
		if _, err := s.plain.Seek(s.known.Offset, io.SeekStart); err != nil {
			return nil, fmt.Errorf("read log %q: %w", s.name, err)
		}
		return s.rd, nil
	}
	if !s.once {
		if err := s.open(nil); err != nil {
			return nil, err
		}
	}
	rd := s.rd
	if s.once {
		rd = io.MultiReader(bytes.NewReader(s.head), s.rd)
	}
	s.head = nil
	if s.known.Offset > 0 {
		n, err := io.CopyN(io.Discard, rd, s.known.Offset)
		if err == io.EOF {
			return nil, fmt.Errorf("read log %q: it has %d bytes, but %d of it were read before: it was cut in place or copied in part; leave it out, its traffic is in the warehouse", s.name, n, s.known.Offset)
		}
		if err != nil {
			return nil, fmt.Errorf("read log %q: %w", s.name, err)
		}
	}
	return rd, nil
}
