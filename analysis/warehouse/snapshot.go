package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
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
}

// Stream is how far one stream was read.
type Stream struct {
	Positions map[string]Position // by identity
	State     *File
	commit    int // last manifest of the stream
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
	c.Ledger = Ledger{}
	c.Ledger.Add(s.Ledger, 1)
	return &c
}

func (s *Snapshot) add(m *manifest) {
	if m.Number == 0 {
		s.key = m.Key
		return
	}
	for _, f := range m.Files {
		s.files[f.Table] = append(s.files[f.Table], f)
	}
	for _, gone := range m.Removed {
		for t := range s.files {
			s.files[t] = slices.DeleteFunc(s.files[t], func(f File) bool { return f.Path == gone })
		}
	}
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
	st.commit = m.Number
	s.Ledger.Add(m.Ledger, 1)
}

// Version names the content: two snapshots with one version are equal.
func (s *Snapshot) Version() string { return s.head }

// Files returns the files of a table, in order of commit.
func (s *Snapshot) Files(table string) []File { return s.files[table] }

// URLs returns how a query engine names the files of a table.
func (s *Snapshot) URLs(table string) []string {
	var out []string
	for _, f := range s.files[table] {
		out = append(out, s.store.URL(f.Path))
	}
	return out
}

// check compares the length of every file with its manifest, so that a missing or cut file is one clear message and not a wrong number.
func (s *Snapshot) check(ctx context.Context) error {
	for _, t := range slices.Sorted(maps.Keys(s.files)) {
		for _, f := range s.files[t] {
			n, err := s.store.Size(ctx, f.Path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return fmt.Errorf("file %q is missing: restore it from a backup: %w", f.Path, ErrCorrupt)
			case err != nil:
				return err
			case n != f.Bytes:
				return fmt.Errorf("file %q has %d bytes, not %d: restore it from a backup: %w", f.Path, n, f.Bytes, ErrCorrupt)
			}
		}
	}
	return nil
}

// Verify reads every file and compares it with its manifest.
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
		return nil, err
	}
	if digest(data) != f.SHA256 {
		return nil, fmt.Errorf("file %q is not what was written: restore it from a backup: %w", f.Path, ErrCorrupt)
	}
	return data, nil
}
