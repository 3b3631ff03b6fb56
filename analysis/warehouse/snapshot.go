package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// Snapshot is the content of a warehouse as of one manifest.
type Snapshot struct {
	Head    int // number of the last manifest
	Ledger  Ledger
	Streams map[string]*Stream

	store Storage
	head  string // SHA-256 of the last manifest
	key   string
	files map[string][]File // by table, in order of commit
	gone  []removal         // what may still be there, in order of commit
}

// Stream is how far one stream was read.
type Stream struct {
	Positions map[string]Position // by identity
	State     *File
	commit    int    // last manifest of the stream
	manifest  string // its SHA-256
}

// Commit is the number of the stream's last manifest.
func (s *Stream) Commit() int { return s.commit }

// removal is what one manifest of upkeep removed.
type removal struct {
	Number int       `json:"number"`
	At     time.Time `json:"at"`
	Paths  []string  `json:"paths"`
	Into   []merger  `json:"into,omitempty"`
}

// merger says that a file stands for so many of the paths beside it, from the first on.
type merger struct {
	Path string `json:"path"`
	Of   int    `json:"of"`
}

func (s *Snapshot) clone() *Snapshot {
	c := *s
	c.Streams = make(map[string]*Stream, len(s.Streams))
	for name, st := range s.Streams {
		d := *st
		d.Positions = maps.Clone(st.Positions)
		c.Streams[name] = &d
	}
	c.files = make(map[string][]File, len(s.files))
	for t, fs := range s.files {
		c.files[t] = slices.Clone(fs)
	}
	c.gone = slices.Clone(s.gone)
	c.Ledger = Ledger{}
	c.Ledger.Add(s.Ledger, 1)
	return &c
}

// add takes up a manifest, whose SHA-256 is given.
func (s *Snapshot) add(m *manifest, sum string) {
	s.Head, s.head = m.Number, sum
	if m.Number == 0 {
		s.key = m.Key
		if m.Was != "" {
			s.head = m.Was
		}
		return
	}
	for _, f := range m.Files {
		s.files[f.Table] = append(s.files[f.Table], f)
	}
	s.remove(m)
	st := s.Streams[m.Stream]
	if st == nil {
		st = &Stream{Positions: map[string]Position{}}
		s.Streams[m.Stream] = st
	}
	for _, p := range m.Positions {
		delete(st.Positions, p.Replaces)
		st.Positions[p.Identity] = p
	}
	if m.State != nil {
		st.State = m.State
	}
	st.commit, st.manifest = m.Number, sum
	s.Ledger.Add(m.Ledger, 1)
}

func (s *Snapshot) remove(m *manifest) {
	if len(m.Removed) > 0 {
		removed := make(map[string]bool, len(m.Removed))
		for _, p := range m.Removed {
			removed[p] = true
		}
		for t := range s.files {
			s.files[t] = slices.DeleteFunc(s.files[t], func(f File) bool { return removed[f.Path] })
		}
		r := removal{Number: m.Number, At: m.At, Paths: m.Removed}
		for _, f := range m.Files {
			if f.Replaces > 0 {
				r.Into = append(r.Into, merger{f.Path, f.Replaces})
			}
		}
		s.gone = append(s.gone, r)
	}
	if len(m.Deleted) > 0 {
		s.gone = slices.DeleteFunc(s.gone, func(r removal) bool { return slices.Contains(m.Deleted, r.Number) })
	}
}

// Version names the content: two snapshots with one version are equal.
func (s *Snapshot) Version() string { return s.head }

// Files returns the files of a table, in order of commit.
func (s *Snapshot) Files(table string) []File { return s.files[table] }

// Day is the day whose rows a file holds, as in its path; "" if its table has no days.
func (f *File) Day() string {
	_, rest, ok := strings.Cut(f.Path, "/day=")
	if !ok {
		return ""
	}
	day, _, _ := strings.Cut(rest, "/")
	return day
}

// URLs returns how a query engine names the files of a table.
func (s *Snapshot) URLs(table string) []string {
	var out []string
	for _, f := range s.files[table] {
		out = append(out, s.store.URL(f.Path))
	}
	return out
}

// Span is the window of the executions that are there: the ledger's, less the days that retention has removed. It is zero if nothing is left.
func (s *Snapshot) Span() (from, to time.Time) {
	from, to = s.Ledger.From, s.Ledger.To
	if s.Ledger.Retired[Rollups]+s.Ledger.Retired[Opaque] == 0 {
		return from, to
	}
	var first, last time.Time
	for _, t := range [...]string{Rollups, Opaque} {
		for _, f := range s.files[t] {
			if f.Day() == Day(time.Time{}) {
				continue // of sources without times
			}
			if first.IsZero() || f.From.Before(first) {
				first = f.From
			}
			if f.To.After(last) {
				last = f.To
			}
		}
	}
	if first.IsZero() {
		return first, last
	}
	if from.Before(first) {
		from = first
	}
	if end := last.Add(time.Minute - time.Microsecond); to.After(end) {
		to = end
	}
	return from, to
}

// Executions is how many executions the rollups and opaque tables hold: those of the ledger, less what retention has removed.
func (s *Snapshot) Executions() int64 {
	return s.Ledger.Executions - s.Ledger.Retired[Rollups] - s.Ledger.Retired[Opaque]
}

// Parts lists the files whose rows are those of a file that upkeep made, as long as these may still be there.
func (s *Snapshot) Parts() map[string][]string {
	parts := map[string][]string{}
	for _, r := range s.gone {
		i := 0
		for _, m := range r.Into {
			parts[m.Path] = r.Paths[i : i+m.Of]
			i += m.Of
		}
	}
	return parts
}

// check compares the length of every file with its manifest, so that a missing or cut file is one clear message and not a wrong number. Where a
// table has many files it lists them instead of asking for one after the other.
func (s *Snapshot) check(ctx context.Context) error {
	for _, t := range slices.Sorted(maps.Keys(s.files)) {
		if err := s.checkTable(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// many is the number of files from which a listing is cheaper than a question for each.
const many = 64

func (s *Snapshot) checkTable(ctx context.Context, table string) error {
	var sizes map[string]int64
	if len(s.files[table]) > many {
		entries, err := s.store.List(ctx, table)
		if err != nil {
			return err
		}
		sizes = make(map[string]int64, len(entries))
		for _, e := range entries {
			sizes[e.Name] = e.Size
		}
	}
	for _, f := range s.files[table] {
		n, listed := sizes[f.Path]
		if !listed {
			var err error
			if n, err = s.store.Size(ctx, f.Path); err != nil {
				return s.unreadable(f, err)
			}
		}
		if n != f.Bytes {
			return fmt.Errorf("file %q has %d bytes, not %d: restore it from a backup: %w", f.Path, n, f.Bytes, ErrCorrupt)
		}
	}
	return nil
}

func (s *Snapshot) unreadable(f File, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("file %q is missing: restore it from a backup: %w", f.Path, errGone)
	}
	return err
}

// Verify reads every file, the states of the streams included, and compares it with its manifest.
func (s *Snapshot) Verify(ctx context.Context) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	for _, t := range slices.Sorted(maps.Keys(s.files)) {
		for _, f := range s.files[t] {
			if _, err := s.readFile(ctx, f); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Streams)) {
		if st := s.Streams[name]; st.State != nil {
			if _, err := s.readFile(ctx, *st.State); err != nil {
				return fmt.Errorf("state of stream %q: %w", name, err)
			}
		}
	}
	return nil
}

// State returns what a stream needs to go on from its positions; nil if it never ran.
func (s *Snapshot) State(ctx context.Context, stream string) ([]byte, error) {
	st := s.Streams[stream]
	if st == nil || st.State == nil {
		return nil, nil
	}
	data, err := s.readFile(ctx, *st.State)
	if err != nil {
		return nil, fmt.Errorf("read state of stream %q: %w", stream, err)
	}
	return unpack(data)
}

func (s *Snapshot) readFile(ctx context.Context, f File) ([]byte, error) {
	data, err := s.store.Read(ctx, f.Path)
	if err != nil {
		return nil, s.unreadable(f, err)
	}
	if digest(data) != f.SHA256 {
		return nil, fmt.Errorf("file %q is not what was written: restore it from a backup: %w", f.Path, ErrCorrupt)
	}
	return data, nil
}

// kept is every file that the snapshot names.
func (s *Snapshot) kept() map[string]bool {
	keep := map[string]bool{}
	for _, files := range s.files {
		for _, f := range files {
			keep[f.Path] = true
		}
	}
	for _, st := range s.Streams {
		if st.State != nil {
			keep[st.State.Path] = true
		}
	}
	return keep
}

// waiting is every file that was removed and may still be there.
func (s *Snapshot) waiting() map[string]bool {
	waiting := map[string]bool{}
	for _, r := range s.gone {
		for _, p := range r.Paths {
			waiting[p] = true
		}
	}
	return waiting
}
