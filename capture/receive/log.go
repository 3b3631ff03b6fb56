package receive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ending says what became of a log's receiver.
type ending string

const (
	open   ending = ""       // it may go on, in this process or a later one
	whole  ending = "whole"  // it came to its end
	broken ending = "broken" // it is gone; the last record may lack its end
)

// Log is one run of received bytes, by offset. What lies before its last released offset may be gone, except its head.
type Log struct {
	s      *Store
	serial int64
	origin string
	end    ending

	// All of it is guarded by the store's lock; only the receiver writes.
	segments []*segment
	written  int64
	durable  int64
	grown    time.Time // when durable grew last
	quiet    time.Time // since when its receiver of this process has had nothing to read; zero: it has, or there is none
}

// segment is a file with the bytes from start on.
type segment struct {
	start, size int64
	path        string
	file        *os.File // of the last one, while it is written
}

func (g *segment) last() int64 { return g.start + g.size }

// findSegments hands the files of the directory to their logs.
func (s *Store) findSegments() error {
	names, err := filepath.Glob(filepath.Join(s.dir, "*.log"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, path := range names {
		var serial, start int64
		if _, err := fmt.Sscanf(filepath.Base(path), "%d-%d.log", &serial, &start); err != nil {
			return fmt.Errorf("%q is no file of received logs: remove it", path)
		}
		i := slices.IndexFunc(s.logs, func(l *Log) bool { return l.serial == serial })
		if i < 0 { // it was being removed, or it was made and never named
			if err := os.Remove(path); err != nil {
				return err
			}
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		l := s.logs[i]
		l.segments = append(l.segments, &segment{start: start, size: info.Size(), path: path})
		l.grown = info.ModTime()
	}
	return nil
}

// recover checks the segments and makes durable what a process that was killed left in the system's memory. Half a syslog message at the end
// was never received.
func (l *Log) recover() error {
	for i, g := range l.segments {
		if i > 1 && g.start != l.segments[i-1].last() || i == 0 && g.start != 0 {
			return fmt.Errorf("bytes before %q are missing: restore them, or start over with another directory", g.path)
		}
	}
	if len(l.segments) == 0 {
		return nil
	}
	g := l.segments[len(l.segments)-1]
	f, err := os.OpenFile(g.path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if l.origin == syslogOrigin {
		if err := cutToLine(f, g); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	l.written, l.durable = g.last(), g.last()
	return nil
}

// cutToLine cuts a segment after its last newline.
func cutToLine(f *os.File, g *segment) error {
	buf := make([]byte, 64<<10)
	for end := g.size; end > 0; {
		start := max(0, end-int64(len(buf)))
		n, err := f.ReadAt(buf[:end-start], start)
		if err != nil && err != io.EOF {
			return err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			g.size = start + int64(i) + 1
			return f.Truncate(g.size)
		}
		end = start
	}
	g.size = 0
	return f.Truncate(0)
}

func (l *Log) bytes() (n int64) {
	for _, g := range l.segments {
		n += g.size
	}
	return n
}

// room returns the segment to write to and how much of it is left.
func (l *Log) room() (*segment, int64, error) {
	l.s.mu.Lock()
	n := len(l.segments)
	var g *segment
	if n > 0 {
		g = l.segments[n-1]
	}
	l.s.mu.Unlock()
	limit := func(n int) int64 {
		if n == 0 {
			return headSize
		}
		return l.s.o.Segment
	}
	if g != nil {
		if left := limit(n-1) - g.size; left > 0 {
			return g, left, g.open()
		}
	}
	g, err := l.rotate(g)
	return g, limit(n), err
}

func (g *segment) open() error {
	if g.file != nil {
		return nil
	}
	f, err := os.OpenFile(g.path, os.O_RDWR|os.O_CREATE, 0o600)
	g.file = f
	return err
}

// rotate makes the newest segment durable, if there is one, and begins another.
func (l *Log) rotate(old *segment) (*segment, error) {
	s := l.s
	if old != nil {
		if err := old.open(); err != nil {
			return nil, err
		}
		if err := old.file.Sync(); err != nil {
			return nil, fmt.Errorf("flush %q: %w", old.path, err)
		}
	}
	g := &segment{start: l.written, path: filepath.Join(s.dir, fmt.Sprintf("%06d-%019d.log", l.serial, l.written))}
	if err := g.open(); err != nil {
		return nil, err
	}
	if err := syncDir(s.dir); err != nil {
		return nil, errors.Join(err, g.file.Close(), os.Remove(g.path))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.segments = append(l.segments, g)
	if old == nil {
		return g, nil
	}
	l.publish(old.last())
	err := old.file.Close()
	old.file = nil
	return g, err
}

// appendLines writes the lines that the segment has room for, or one, and returns their bytes.
func (l *Log) appendLines(lines []byte) (int, error) {
	_, left, err := l.room()
	if err != nil {
		return 0, err
	}
	n := 1 + bytes.LastIndexByte(lines[:min(left, int64(len(lines)))], '\n')
	if n == 0 {
		n = 1 + bytes.IndexByte(lines, '\n')
	}
	return n, l.append(lines[:n])
}

// append writes whole messages. After an error nothing of them is there.
func (l *Log) append(p []byte) error {
	g, _, err := l.room()
	if err != nil {
		return err
	}
	if _, err := g.file.WriteAt(p, g.size); err != nil {
		if cut := g.file.Truncate(g.size); cut != nil {
			return l.s.fail(errors.Join(err, cut)) // a torn message must not be followed
		}
		return err
	}
	l.wrote(g, int64(len(p)))
	return nil
}

// fail ends the store: what follows would not be what was received.
func (s *Store) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
	s.changed.Broadcast()
	return err
}

func (l *Log) wrote(g *segment, n int64) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	g.size += n
	l.written += n
	l.s.used += n
	l.quiet = time.Time{}
	l.s.changed.Broadcast()
}

// sync makes durable what was written. The lock is held, and let go of meanwhile.
func (l *Log) sync() error {
	g, target := l.segments[len(l.segments)-1], l.written
	f := g.file
	l.s.mu.Unlock()
	err := f.Sync()
	l.s.mu.Lock()
	if errors.Is(err, os.ErrClosed) { // it was rotated, which has made it durable
		return nil
	}
	if err != nil {
		return fmt.Errorf("flush %q: %w", g.path, err)
	}
	l.publish(target)
	return nil
}

func (l *Log) publish(size int64) {
	if size > l.durable {
		l.durable, l.grown = size, l.s.o.Now()
	}
	l.s.changed.Broadcast()
}

// finish says that the receiver came to the end of what it received.
func (l *Log) finish() error {
	if b := make([]byte, 1); l.written > 0 {
		if _, err := l.ReadAt(b, l.written-1); err != nil {
			return err
		}
		if b[0] != '\n' { // or its last line would never be taken for whole
			if err := l.append([]byte("\n")); err != nil {
				return err
			}
		}
	}
	if err := l.s.Sync(); err != nil {
		return err
	}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.end = whole
	defer l.s.changed.Broadcast()
	return l.s.save()
}

// idle says that its receiver has nothing to read at the moment.
func (l *Log) idle() {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.quiet.IsZero() {
		l.quiet = l.s.o.Now()
	}
}

// busy says that its receiver has something to read.
func (l *Log) busy() {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.quiet = time.Time{}
}

// Name is what positions and messages call it.
func (l *Log) Name() string {
	if l.origin == syslogOrigin {
		return "syslog"
	}
	return "-"
}

// Serial tells logs of a store apart; a later one has a greater one.
func (l *Log) Serial() int64 { return l.serial }

// Stat returns how many bytes were received, and when the last of them were.
func (l *Log) Stat() (size int64, grown time.Time) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.durable, l.grown
}

// Ended says that nothing will be added.
func (l *Log) Ended() bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.end != open && l.durable == l.written
}

// Whole says that nothing will be added to the last record that is there: the receiver came to its end, or it has waited so long in vain, at the
// end of a line. That a process has just started, or that a full store keeps it from reading, says nothing.
func (l *Log) Whole(now time.Time, idle time.Duration) bool {
	l.s.mu.Lock()
	end, quiet, size, flushed := l.end, l.quiet, l.durable, l.durable == l.written
	l.s.mu.Unlock()
	if end != open || !flushed {
		return end == whole && flushed
	}
	if quiet.IsZero() || now.Sub(quiet) < idle || size == 0 {
		return false
	}
	b := make([]byte, 1)
	_, err := l.ReadAt(b, size-1)
	return err == nil && b[0] == '\n'
}

// ReadAt reads what was written. What was released reads as the end of the log.
func (l *Log) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		l.s.mu.Lock()
		i := slices.IndexFunc(l.segments, func(g *segment) bool { return off >= g.start && off < g.last() })
		if i < 0 {
			l.s.mu.Unlock()
			return n, io.EOF
		}
		path, start, last := l.segments[i].path, l.segments[i].start, l.segments[i].last()
		l.s.mu.Unlock()
		f, err := os.Open(path)
		if err != nil {
			return n, fmt.Errorf("read received log: %w", err)
		}
		want := min(int64(len(p)-n), last-off)
		k, err := f.ReadAt(p[n:n+int(want)], off-start)
		cerr := f.Close()
		n, off = n+k, off+int64(k)
		if err != nil && err != io.EOF || k == 0 {
			return n, fmt.Errorf("read received log %q: %w", path, err)
		}
		if cerr != nil {
			return n, cerr
		}
	}
	return n, nil
}

// Release says that what lies before an offset will not be read again.
func (l *Log) Release(offset int64) error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	for len(l.segments) > 2 && l.segments[1].last() <= offset {
		g := l.segments[1]
		if err := os.Remove(g.path); err != nil {
			return fmt.Errorf("remove received bytes: %w", err)
		}
		l.segments = slices.Delete(l.segments, 1, 2)
		l.s.used -= g.size
		l.s.changed.Broadcast()
	}
	return nil
}

// Done removes the log. lost bytes at its end are of a record that never came whole.
func (l *Log) Done(lost int64) error {
	s := l.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = slices.DeleteFunc(s.logs, func(x *Log) bool { return x == l })
	if lost > 0 {
		s.add(DropCut, 1, lost)
	}
	if err := s.save(); err != nil {
		return err
	}
	s.used -= l.bytes()
	s.changed.Broadcast()
	err := l.close()
	for _, g := range l.segments {
		err = errors.Join(err, os.Remove(g.path))
	}
	return err
}

func (l *Log) close() error {
	if n := len(l.segments); n > 0 && l.segments[n-1].file != nil {
		f := l.segments[n-1].file
		l.segments[n-1].file = nil
		return f.Close()
	}
	return nil
}
