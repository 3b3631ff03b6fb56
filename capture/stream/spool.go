package stream

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// spool is a queue of frames on disk. A frame is there whole, and durable, or not at all; it leaves the disk when it and everything before it
// was acknowledged. The last frame stays: it holds where the reader goes on.
//
// Files: N.spool, frames of 4 bytes length, 4 bytes CRC-32C of the payload, payload; N counts up. `acked` holds the file and offset of the first
// frame that was not acknowledged; it may lag behind, because what is sent twice counts once.
type spool struct {
	dir  string
	lock *os.File

	mu      sync.Mutex
	changed *sync.Cond
	file    *os.File
	number  int64 // of the file that is written
	size    int64 // of it
	pending int64 // bytes that were not acknowledged
	sizes   map[int64]int64
	read    place // of the first frame that was not acknowledged
	closed  bool
	broken  error
}

type place struct{ number, offset int64 }

const (
	frameHead   = 8
	segmentSize = 8 << 20
	maxFrame    = 256 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openSpool opens or makes the spool of a directory and returns the payload of its last frame, nil if it never had one. What a crash left half
// written at the end is cut off: it was never handed on.
func openSpool(dir string) (s *spool, last []byte, err error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open spool: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open spool %q: another process uses it: %w", dir, err), lock.Close())
	}
	s = &spool{dir: dir, lock: lock, sizes: map[int64]int64{}}
	s.changed = sync.NewCond(&s.mu)
	if last, err = s.recover(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open spool %q: %w", dir, err), lock.Close())
	}
	return s, last, nil
}

func (s *spool) path(n int64) string { return filepath.Join(s.dir, fmt.Sprintf("%012d.spool", n)) }

func (s *spool) recover() (last []byte, err error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "*.spool"))
	if err != nil {
		return nil, err
	}
	var numbers []int64
	for _, name := range names {
		n, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".spool"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no file of a spool: remove it", name)
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	if err := s.acked(); err != nil {
		return nil, err
	}
	for i, n := range numbers {
		if i > 0 && n != numbers[i-1]+1 {
			return nil, fmt.Errorf("file %q is missing: restore it, or start over with another directory", s.path(numbers[i-1]+1))
		}
		end, payload, err := s.scan(n, i == len(numbers)-1)
		if err != nil {
			return nil, err
		}
		if payload != nil {
			last = payload
		}
		s.number, s.sizes[n] = n, end
	}
	if len(numbers) > 0 && s.read.number < numbers[0] {
		s.read = place{numbers[0], 0}
	}
	for n, size := range s.sizes {
		switch {
		case n > s.read.number:
			s.pending += size
		case n == s.read.number:
			s.pending += max(0, size-s.read.offset)
		}
	}
	return last, s.reopen()
}

// acked reads how far frames were acknowledged.
func (s *spool) acked() error {
	text, err := os.ReadFile(filepath.Join(s.dir, "acked"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if n, err := fmt.Sscanf(string(text), "%d %d\n", &s.read.number, &s.read.offset); n != 2 || err != nil {
		s.read = place{} // a crash of the machine can leave it empty; everything there is will be sent once more
	}
	return nil
}

// scan walks over the frames of a file and returns where they end and the last payload. Only the newest file may end in half a frame.
func (s *spool) scan(n int64, newest bool) (end int64, last []byte, err error) {
	f, err := os.Open(s.path(n))
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	rd := bufio.NewReaderSize(f, 1<<20)
	for {
		payload, err := readFrame(rd)
		switch {
		case err == io.EOF:
			return end, last, nil
		case errors.Is(err, errFrame) && newest && s.torn(n, end):
			return end, last, os.Truncate(s.path(n), end)
		case err != nil:
			return 0, nil, fmt.Errorf("read %q at byte %d: %w", s.path(n), end, err)
		}
		end += frameHead + int64(len(payload))
		last = payload
	}
}

// torn says whether what is at the end of a file is what a crash leaves of one frame: its beginning, or blocks that were never filled.
// Anything else was handed on before it was damaged, and to go on without it would send other records under its numbers.
func (s *spool) torn(n, end int64) bool {
	data, err := os.ReadFile(s.path(n))
	if err != nil || int64(len(data)) < end {
		return false
	}
	rest := data[end:]
	written := bytes.TrimRight(rest, "\x00")
	return len(rest) < frameHead || int64(len(written)) <= frameHead+int64(binary.LittleEndian.Uint32(rest))
}

var errFrame = errors.New("the frame is damaged")

func readFrame(rd io.Reader) ([]byte, error) {
	var head [frameHead]byte
	if n, err := io.ReadFull(rd, head[:]); err != nil {
		if n > 0 && err == io.ErrUnexpectedEOF {
			return nil, errFrame
		}
		return nil, err
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size == 0 || size > maxFrame {
		return nil, errFrame
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(rd, payload); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, errFrame
		}
		return nil, err
	}
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, errFrame
	}
	return payload, nil
}

// reopen opens the newest file for writing, or the first one.
func (s *spool) reopen() error {
	if s.number == 0 {
		s.number = max(s.read.number, 1)
		s.read = place{s.number, 0}
	}
	f, err := os.OpenFile(s.path(s.number), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	s.file, s.size = f, s.sizes[s.number]
	s.sizes[s.number] = s.size
	if s.read.number == s.number && s.read.offset > s.size || s.read.number > s.number {
		s.read = place{s.number, s.size}
	}
	// What a process that was killed left in the system's memory is about to be sent; it must not be lost afterwards.
	if err := f.Sync(); err != nil {
		return err
	}
	return syncDir(s.dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("flush directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("flush directory: %w", err)
	}
	return nil
}

// append adds a frame and returns when it is durable. After an error it is not there.
func (s *spool) append(payload []byte) error {
	if len(payload) == 0 || len(payload) > maxFrame {
		return fmt.Errorf("write spool: a frame of %d bytes", len(payload))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return fmt.Errorf("write spool: it is closed after: %w", s.broken)
	}
	if s.size >= segmentSize {
		if err := s.rotate(); err != nil {
			return fmt.Errorf("write spool: %w", err)
		}
	}
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, frameHead+len(payload)), uint32(len(payload)))
	frame = binary.LittleEndian.AppendUint32(frame, crc32.Checksum(payload, castagnoli))
	frame = append(frame, payload...)
	_, err := s.file.Write(frame)
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		if cut := s.file.Truncate(s.size); cut != nil { // nothing may follow half a frame
			s.broken = errors.Join(err, cut)
		}
		return fmt.Errorf("write spool: %w", err)
	}
	s.size += int64(len(frame))
	s.sizes[s.number] = s.size
	s.pending += int64(len(frame))
	s.changed.Broadcast()
	return nil
}

func (s *spool) rotate() error {
	f, err := os.OpenFile(s.path(s.number+1), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := syncDir(s.dir); err != nil {
		return errors.Join(err, f.Close())
	}
	err = s.file.Close()
	s.file, s.size, s.number = f, 0, s.number+1
	s.sizes[s.number] = 0
	return err
}

// next returns the first frame that was not acknowledged, waiting for one; ok is false after close.
func (s *spool) next() (payload []byte, ok bool, err error) {
	s.mu.Lock()
	for !s.closed && s.pending == 0 {
		s.changed.Wait()
	}
	if s.closed {
		s.mu.Unlock()
		return nil, false, nil
	}
	if s.read.offset >= s.sizes[s.read.number] && s.read.number < s.number {
		s.read = place{s.read.number + 1, 0} // the file was full when its last frame was acknowledged
	}
	at := s.read
	s.mu.Unlock()
	f, err := os.Open(s.path(at.number))
	if err != nil {
		return nil, false, fmt.Errorf("read spool: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(at.offset, io.SeekStart); err != nil {
		return nil, false, fmt.Errorf("read spool: %w", err)
	}
	payload, err = readFrame(f)
	if err != nil {
		return nil, false, fmt.Errorf("read spool %q at byte %d: %w", s.path(at.number), at.offset, err)
	}
	return payload, true, nil
}

// ack acknowledges the frame that next returned.
func (s *spool) ack(payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := frameHead + int64(len(payload))
	s.read.offset += n
	s.pending -= n
	s.changed.Broadcast()
	if s.read.offset >= s.sizes[s.read.number] && s.read.number < s.number {
		s.read = place{s.read.number + 1, 0}
	}
	for old := range s.sizes {
		if old >= s.read.number || old == s.number-1 && s.size == 0 { // a newest file without a frame: the one before has the last
			continue
		}
		if err := os.Remove(s.path(old)); err != nil {
			return fmt.Errorf("remove sent frames: %w", err)
		}
		delete(s.sizes, old)
	}
	temp := filepath.Join(s.dir, "acked.new")
	if err := os.WriteFile(temp, fmt.Appendf(nil, "%d %d\n", s.read.number, s.read.offset), 0o600); err != nil {
		return fmt.Errorf("note sent frames: %w", err)
	}
	if err := os.Rename(temp, filepath.Join(s.dir, "acked")); err != nil {
		return fmt.Errorf("note sent frames: %w", err)
	}
	return nil
}

// waiting is how many bytes were not acknowledged.
func (s *spool) waiting() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending
}

// wait returns when fewer than limit bytes wait, or when stop says so (wake makes it look again), or with the error that ended the sending.
func (s *spool) wait(limit int64, stop func() bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.pending >= limit && !s.closed && s.broken == nil && !stop() {
		s.changed.Wait()
	}
	return s.broken
}

// fail makes every later append and wait return an error.
func (s *spool) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
	s.changed.Broadcast()
}

func (s *spool) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// shut makes next return.
func (s *spool) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
}

func (s *spool) close() error {
	s.shut()
	return errors.Join(s.file.Close(), s.lock.Close())
}
