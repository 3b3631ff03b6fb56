package warehouse

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// every is how many manifests are followed until the next commit writes a checkpoint first; and one for as many files as filesPer, so that a
// warehouse that nobody compacts does not write its list of files again and again.
const (
	every    = 100
	filesPer = 100
)

const checkpointFolder = "checkpoints"

// checkpoint is a snapshot as a file. The same snapshot gives the same bytes.
type checkpoint struct {
	Format  int                `json:"format"`
	Number  int                `json:"number"`
	Head    string             `json:"head"` // SHA-256 of manifest Number
	Key     string             `json:"key"`
	Ledger  Ledger             `json:"ledger"`
	Streams []checkpointStream `json:"streams"`
	Files   []File             `json:"files"`
	Gone    []removal          `json:"gone,omitempty"`
}

type checkpointStream struct {
	Name      string     `json:"name"`
	Positions []Position `json:"positions"`
	State     *File      `json:"state,omitempty"`
	Commit    int        `json:"commit"`
	Manifest  string     `json:"manifest"`
}

// checkpointName is the name of a checkpoint, which holds its number and a hash of its content.
type checkpointName struct {
	number int
	name   string
}

func (s *Snapshot) encode() ([]byte, error) {
	c := checkpoint{Format: Format, Number: s.Head, Head: s.head, Key: s.key, Ledger: s.Ledger, Gone: s.gone, Files: []File{}, Streams: []checkpointStream{}}
	for _, name := range slices.Sorted(maps.Keys(s.Streams)) {
		st := s.Streams[name]
		cs := checkpointStream{Name: name, State: st.State, Commit: st.commit, Manifest: st.manifest, Positions: []Position{}}
		for _, id := range slices.Sorted(maps.Keys(st.Positions)) {
			cs.Positions = append(cs.Positions, st.Positions[id])
		}
		c.Streams = append(c.Streams, cs)
	}
	for _, t := range slices.Sorted(maps.Keys(s.files)) {
		c.Files = append(c.Files, s.files[t]...)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&c); err != nil {
		return nil, fmt.Errorf("encode checkpoint %d: %w", s.Head, err)
	}
	return pack(b.Bytes()), nil
}

func (w *Warehouse) decodeCheckpoint(name string, data []byte) (*Snapshot, error) {
	plain, err := unpack(data)
	if err != nil {
		return nil, fmt.Errorf("%q does not read (%v): %w", name, err, ErrCorrupt)
	}
	if err := readable(name, "checkpoint", plain); err != nil {
		return nil, err
	}
	var c checkpoint
	if err := json.Unmarshal(plain, &c); err != nil {
		return nil, fmt.Errorf("%q does not read as a checkpoint (%v): %w", name, err, ErrCorrupt)
	}
	s := &Snapshot{store: w.store, Head: c.Number, head: c.Head, key: c.Key, Ledger: c.Ledger, gone: c.Gone, Streams: map[string]*Stream{}, files: map[string][]File{}}
	for _, cs := range c.Streams {
		st := &Stream{State: cs.State, commit: cs.Commit, manifest: cs.Manifest, Positions: map[string]Position{}}
		for _, p := range cs.Positions {
			st.Positions[p.Identity] = p
		}
		s.Streams[cs.Name] = st
	}
	for _, f := range c.Files {
		s.files[f.Table] = append(s.files[f.Table], f)
	}
	return s, nil
}

// readCheckpoint reads a checkpoint and compares it with its name and with the manifest that it stands for.
func (w *Warehouse) readCheckpoint(ctx context.Context, n checkpointName) (*Snapshot, error) {
	data, err := w.store.Read(ctx, n.name)
	if err != nil {
		return nil, err
	}
	if nameOfCheckpoint(n.number, data) != n.name {
		return nil, fmt.Errorf("%q is not what was written: %w", n.name, ErrCorrupt)
	}
	s, err := w.decodeCheckpoint(n.name, data)
	if err != nil {
		return nil, err
	}
	manifest, err := w.store.Read(ctx, manifestName(n.number))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%q stands for %q, which is missing: %w", n.name, manifestName(n.number), ErrCorrupt)
	case err != nil:
		return nil, err
	case s.Head != n.number || digest(manifest) != s.head:
		return nil, fmt.Errorf("%q does not stand for %q: %w", n.name, manifestName(n.number), ErrCorrupt)
	}
	return s, nil
}

func nameOfCheckpoint(number int, data []byte) string {
	return fmt.Sprintf("%s/%010d-%s.json.zst", checkpointFolder, number, digest(data)[:16])
}

// checkpoints lists the checkpoints, newest first.
func (w *Warehouse) checkpoints(ctx context.Context) ([]checkpointName, error) {
	entries, err := w.store.List(ctx, checkpointFolder)
	if err != nil {
		return nil, err
	}
	var out []checkpointName
	for _, e := range entries {
		if n, ok := numberOf(e.Name); ok {
			out = append(out, checkpointName{n, e.Name})
		}
	}
	slices.SortFunc(out, func(a, b checkpointName) int {
		return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.name, b.name))
	})
	return out, nil
}

// numberOf is the number in the name of a manifest or checkpoint.
func numberOf(name string) (int, bool) {
	_, base, ok := strings.Cut(name, "/")
	if !ok || len(base) < 10 {
		return 0, false
	}
	n, err := strconv.Atoi(base[:10])
	return n, err == nil && n >= 0
}

// newestCheckpoint is the number of the newest checkpoint, -1 if there is none.
func (w *Warehouse) newestCheckpoint(ctx context.Context) (int, error) {
	names, err := w.checkpoints(ctx)
	if err != nil || len(names) == 0 {
		return -1, err
	}
	w.checkpoint = max(w.checkpoint, names[0].number)
	return names[0].number, nil
}

// checkpointIfDue writes a checkpoint of the snapshot if many manifests have come since the newest one that was seen.
func (w *Warehouse) checkpointIfDue(ctx context.Context) error {
	files := 0
	for _, list := range w.snap.files {
		files += len(list)
	}
	if w.snap.Head-w.checkpoint < max(every, files/filesPer) {
		return nil
	}
	return w.Checkpoint(ctx)
}

// Checkpoint writes the snapshot as a file, from which the next Open begins.
func (w *Warehouse) Checkpoint(ctx context.Context) error {
	if w.snap.Head <= w.checkpoint {
		return nil
	}
	data, err := w.snap.encode()
	if err == nil {
		err = w.store.Create(ctx, nameOfCheckpoint(w.snap.Head, data), data)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write checkpoint of warehouse %q: %w", w.store.Place(), err)
	}
	w.checkpoint = w.snap.Head
	return nil
}
