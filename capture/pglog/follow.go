package pglog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Follow makes a Reader of one log that is still being written, in one file or many. The caller hands it the files part by part with Next
// and calls Run after each; sessions, counts and templates go on from part to part. Config.Known is not looked at, Config.Hold is set.
func Follow(cfg Config) (*Reader, error) {
	defaults(&cfg)
	cfg.Hold = true
	r := &Reader{cfg: cfg, counts: newTally()}
	m, err := newMachine(&r.cfg, r.counts)
	if err != nil {
		return nil, err
	}
	r.machine = m
	return r, nil
}

// Part is what a file of a followed log has to give at a time.
type Part struct {
	Name    string
	Content io.ReadSeeker // from the file's first byte; its end is where reading stops for now
	Offset  int64         // of decompressed content, consumed by earlier parts
	Whole   bool          // nothing will be added to the last record that is there
	Written time.Time     // when it was last written to; zero: now. It gives times of syslog without a year theirs
}

// ErrUnrecognised says that the beginning of a file is not, or not yet, that of a log in the format and with the prefix given.
var ErrUnrecognised = errors.New("not recognised as a server log")

// Next takes up a part. What Positions, Prefix and Format say afterwards is of this part's file alone.
func (r *Reader) Next(p Part) error {
	s := &source{name: p.Name, known: Position{Offset: p.Offset}, closed: p.Whole, latest: p.Written}
	if err := s.begin(r.cfg.HashKey, p.Content); err != nil {
		return err
	}
	s.pos = Position{Name: p.Name, Identity: Identity(r.cfg.HashKey, s.head), Offset: p.Offset}
	if !r.recognisedBefore(s) {
		if err := s.recognise(&r.cfg); err != nil {
			return fmt.Errorf("%w: %w", ErrUnrecognised, err)
		}
		if s.format == SQL || s.format == Auto {
			return fmt.Errorf("%w: follow log %q: it is no server log", ErrUnrecognised, s.name)
		}
		r.followed = append(r.followed, s)
		if len(r.followed) > maxFollowed {
			r.followed = slices.Delete(r.followed, 0, 1)
		}
	}
	s.pos.Format = s.format
	s.window = r.machine.windowOf(s)
	r.sources, r.err = []*source{s}, nil
	r.counts.Unread, r.counts.Skipped = 0, 0
	return nil
}

// maxFollowed files are remembered with their format and prefix, which take a look at a thousand lines to find out.
const maxFollowed = 16

// recognisedBefore takes format and prefix over from an earlier part of the same file.
func (r *Reader) recognisedBefore(s *source) bool {
	for i := len(r.followed) - 1; i >= 0; i-- {
		if old := r.followed[i]; Identifies(r.cfg.HashKey, old.pos.Identity, s.head) {
			s.format, s.prefix, s.wrap, s.first = old.format, old.prefix, old.wrap, old.first
			old.pos.Identity = s.pos.Identity
			return true
		}
	}
	return false
}

// begin reads the head. Content that is not compressed is read from the file itself later on, so that skipping is a seek.
func (s *source) begin(key [16]byte, content io.ReadSeeker) error {
	magic := make([]byte, 4)
	n, err := io.ReadFull(content, magic)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("read log %q: %w", s.name, err)
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read log %q: %w", s.name, err)
	}
	if Compressed(magic[:n]) {
		if err := s.open(content); err != nil {
			return err
		}
		return s.peek(key)
	}
	s.plain, s.rd, s.once = content, content, true
	return s.peek(key)
}

// Compressed says that content begins as gzip or zstd do.
func Compressed(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// Decompress reads gzip and zstd by their content, and anything else as it is. The caller calls done at the end.
func Decompress(in io.Reader) (out io.Reader, done func(), err error) { return decompress(in) }

// HeadBytes is how much of a log's content names it.
const HeadBytes = identityBytes

// Identity names a log by the first bytes of its decompressed content; more than HeadBytes do not matter.
func Identity(key [16]byte, head []byte) string { return identity(key, head, identityBytes) }

// Identifies says that content with this head is, or has grown out of, what the identity names.
func Identifies(key [16]byte, id string, head []byte) bool {
	size, _, ok := strings.Cut(id, ":")
	n, err := strconv.Atoi(size)
	return ok && err == nil && n >= 1 && n <= len(head) && identity(key, head, n) == id
}

// Guessed says that the part taken up last is read with a log_line_prefix that was made from its first lines, and not given.
func (r *Reader) Guessed() bool {
	n := len(r.sources)
	return n > 0 && r.cfg.Prefix == "" && r.sources[n-1].prefix != nil
}

// Format is the format of the part taken up last.
func (r *Reader) Format() Format {
	if len(r.sources) == 0 {
		return r.cfg.Format
	}
	return r.sources[len(r.sources)-1].format
}
