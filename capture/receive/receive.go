// Package receive turns what cannot be read twice, standard input and syslog messages, into logs on disk that are read like files: at offsets,
// again after a crash, and by capture/tail. It imports nothing of the project.
//
// # What is received
//
// A Store is a directory of logs. A log is a run of bytes in segments; what of it was fsynced is received, nothing else is handed on. Segments
// whose content the reader has committed are deleted. A log's first 256 KiB stay while it is the newest one, because a log is known by its
// first bytes. The directory holds the log as it came, values of statements included, readable by its owner only.
//
// The store is bounded. When it is full a pipe and a TCP connection are not read, which loses nothing; a datagram is dropped and counted,
// because its sender may be a backend of the database that must not wait. The same happens while the disk is full.
//
// # Standard input
//
// A pipe's bytes are moved into the segment by splice(2): a process that is killed leaves each byte either in the pipe or in the log. The next
// one goes on in the same log if it has the same pipe (a FIFO that somebody else holds open, or one inherited from a supervisor). Another
// pipe is another log, and one that repeats an earlier one from its beginning (docker logs -f, a command that is run again) is known by its
// first 4 KiB as a copied file is: what was counted of it is not counted again. The unfinished record at the end of a pipe that broke is not
// used and counted (DropCut).
//
// # Syslog
//
// Listen takes RFC 3164 and RFC 5424 messages from UDP, TCP (RFC 6587: newline-framed or octet-counted, as the connection's first byte says) and
// unix datagram sockets. A message is a line of the log as it came, from "<" on; newlines and other control characters in it are written as
// rsyslog writes them, "#012". All of them go into one log without end.
package receive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// The reasons of what was received in part or not at all, with the bytes of it that were seen.
const (
	DropFull     = "receive_full"     // datagrams that came while the store was full or slower than they
	DropKernel   = "receive_kernel"   // datagrams that the kernel dropped before they were read; their bytes are not known
	DropOversize = "receive_oversize" // messages longer than Options.MaxMessage
	DropCut      = "receive_cut"      // datagrams cut by the kernel, messages whose connection broke, the record that was unfinished when a pipe broke
	DropFraming  = "receive_framing"  // what followed on a connection after a byte count that is none; the connection is closed
)

// Options says how a store works. Now is required.
type Options struct {
	Max        int64 // bytes on disk; 0: 1 GiB. A record and three segments must fit, or reading and receiving wait for each other
	Segment    int64 // bytes of a segment; 0: 8 MiB
	MaxMessage int   // bytes of a syslog message; 0: 1 MiB
	Now        func() time.Time
	Problem    func(error) // what is being tried again; may be nil
}

const (
	headSize     = 256 << 10 // of the first segment: what is looked at to recognise a log, and by which it is known
	pause        = time.Second
	stateVersion = 1
)

// Store is a directory of received logs. It is safe for concurrent use.
type Store struct {
	dir  string
	o    Options
	lock *os.File

	mu      sync.Mutex
	changed *sync.Cond
	logs    []*Log // oldest first
	next    int64
	counts  map[string]Drop
	kept    map[string]Drop // of them on disk
	used    int64
	full    error // the disk has no room for the counts; nil: it has
	broken  error
	closed  bool
	syncer  sync.WaitGroup
}

// Drop counts what was not received whole.
type Drop struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

// state is the file that says which logs there are. Removing one and counting what it lost is one write.
type state struct {
	Version int             `json:"version"`
	Next    int64           `json:"next"`
	Logs    []savedLog      `json:"logs"`
	Counts  map[string]Drop `json:"counts"`
}

type savedLog struct {
	Serial int64  `json:"serial"`
	Origin string `json:"origin"`
	End    ending `json:"end,omitempty"`
}

// Open opens a store or makes it. One process at a time has it.
func Open(dir string, o Options) (*Store, error) {
	if o.Max <= 0 {
		o.Max = 1 << 30
	}
	if o.Segment <= 0 {
		o.Segment = max(8<<20, o.Max/128)
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = 1 << 20
	}
	if o.Problem == nil {
		o.Problem = func(error) {}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open received logs: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open received logs: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("open received logs %q: another process uses them: %w", dir, err), lock.Close())
	}
	s := &Store{dir: dir, o: o, lock: lock, counts: map[string]Drop{}}
	s.changed = sync.NewCond(&s.mu)
	if err := s.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("open received logs %q: %w", dir, err), lock.Close())
	}
	s.syncer.Go(s.syncLoop)
	return s, nil
}

func (s *Store) statePath() string { return filepath.Join(s.dir, "state.json") }

// recover finds what is there. Segments of logs that the state does not name were being removed.
func (s *Store) recover() error {
	st := state{Version: stateVersion, Next: 1}
	text, err := os.ReadFile(s.statePath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(text, &st); err != nil {
			return fmt.Errorf("read %q: %w", s.statePath(), err)
		}
		if st.Version != stateVersion {
			return fmt.Errorf("%q has version %d, this program reads %d", s.statePath(), st.Version, stateVersion)
		}
	}
	s.next = st.Next
	maps.Copy(s.counts, st.Counts)
	s.kept = maps.Clone(s.counts)
	for _, saved := range st.Logs {
		l := &Log{s: s, serial: saved.Serial, origin: saved.Origin, end: saved.End}
		s.logs = append(s.logs, l)
	}
	if err := s.findSegments(); err != nil {
		return err
	}
	for _, l := range s.logs {
		if err := l.recover(); err != nil {
			return err
		}
		s.used += l.bytes()
	}
	return nil
}

// save writes the state. The lock is held.
func (s *Store) save() error {
	st := state{Version: stateVersion, Next: s.next, Counts: s.counts}
	for _, l := range s.logs {
		st.Logs = append(st.Logs, savedLog{l.serial, l.origin, l.end})
	}
	text, err := json.Marshal(&st)
	if err != nil {
		return fmt.Errorf("keep received logs: %w", err)
	}
	temp := s.statePath() + ".new"
	if err := writeSynced(temp, append(text, '\n')); err != nil {
		return fmt.Errorf("keep received logs: %w", err)
	}
	if err := errors.Join(os.Rename(temp, s.statePath()), syncDir(s.dir)); err != nil {
		return fmt.Errorf("keep received logs: %w", err)
	}
	s.kept, s.full = maps.Clone(s.counts), nil
	return nil
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Logs are the logs that are there, oldest first.
func (s *Store) Logs() []*Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.logs)
}

// begin returns the log that bytes of an origin go to: the newest one, if it has not ended and is of the same origin, else a new one. Origin "" is
// never the same. A log whose receiver is gone for good is broken: its last record may be cut.
func (s *Store) begin(origin string) (*Log, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.logs); n > 0 {
		l := s.logs[n-1]
		if l.end == open && (l.origin == origin && origin != "" || l.written == 0) {
			l.origin = origin
			return l, s.save()
		}
		if l.end == open {
			l.end = broken
		}
	}
	l := &Log{s: s, serial: s.next, origin: origin}
	s.next++
	s.logs = append(s.logs, l)
	return l, s.save()
}

// count adds to what was dropped. It is durable, and visible, after the next sync.
func (s *Store) count(reason string, n, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(reason, n, bytes)
}

func (s *Store) add(reason string, n, bytes int64) {
	d := s.counts[reason]
	s.counts[reason] = Drop{d.Count + n, d.Bytes + bytes}
	s.changed.Broadcast()
}

// Dropped is what was not received whole since the store was made, as far as that is durable.
func (s *Store) Dropped() map[string]Drop {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.kept)
}

// Used is how many bytes are on disk.
func (s *Store) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// wait returns when there is room for more, or with the error of the disk, or of ctx if there is none by then.
func (s *Store) wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.wake)()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.used >= s.o.Max && ctx.Err() == nil && s.broken == nil {
		s.changed.Wait()
	}
	if s.used < s.o.Max {
		return s.broken
	}
	return errors.Join(s.broken, ctx.Err())
}

func (s *Store) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// syncLoop makes durable what was written, and the counts, as fast as the disk does.
func (s *Store) syncLoop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		l := s.behind()
		counts := !maps.Equal(s.counts, s.kept)
		switch {
		case s.broken != nil, s.closed && l == nil && !counts:
			return
		case l == nil && !counts:
			s.changed.Wait()
			continue
		}
		var err error
		if l != nil {
			err = l.sync()
		}
		if err == nil && !maps.Equal(s.counts, s.kept) {
			if err = s.save(); noRoom(err) { // the counts stay in memory until there is room
				s.full = err
				s.changed.Broadcast()
				s.o.Problem(err)
				s.mu.Unlock()
				time.Sleep(pause)
				s.mu.Lock()
				if s.closed {
					return
				}
				err = nil
			}
		}
		if err != nil {
			s.broken = err
		}
		s.changed.Broadcast()
	}
}

// behind is the log that has bytes that are not durable.
func (s *Store) behind() *Log {
	for _, l := range s.logs {
		if l.durable < l.written {
			return l
		}
	}
	return nil
}

// Sync returns when everything that was written and counted so far is durable, or when the disk has no room for it: an end does not wait for that.
func (s *Store) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.broken == nil && !s.closed && (s.behind() != nil || s.full == nil && !maps.Equal(s.counts, s.kept)) {
		s.changed.Wait()
	}
	return errors.Join(s.broken, s.full)
}

// Close makes everything durable and lets go of the directory. What receives must have ended.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	s.syncer.Wait()
	err := errors.Join(s.broken, s.full)
	for _, l := range s.logs {
		err = errors.Join(err, l.close())
	}
	return errors.Join(err, s.lock.Close())
}
