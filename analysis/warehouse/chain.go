package warehouse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// The chain of manifests begins at number 0, or at a checkpoint if the first ones are gone. A name that was taken once and is free again would
// let a writer that slept commit into the past, where nobody looks. So no manifest is removed but below a checkpoint, the newest checkpoint
// never is, and who has followed to a head or has created a manifest looks for a checkpoint beyond: if there is one it begins anew from it.

// Refresh follows the manifests that others have added.
func (w *Warehouse) Refresh(ctx context.Context) (*Snapshot, error) {
	snap, err := w.newer(ctx, w.snap)
	if err != nil {
		return nil, fmt.Errorf("read warehouse %q: %w", w.store.Place(), err)
	}
	w.snap = snap
	return snap, nil
}

func (w *Warehouse) newer(ctx context.Context, from *Snapshot) (*Snapshot, error) {
	s, _, err := w.catchUp(ctx, from, func(*manifest) {})
	return s, err
}

// View runs a function that reads the files of the snapshot. If it fails and the warehouse has gone on without some of these files, which upkeep
// deletes a while after it has merged them, it is run once more with what the warehouse holds now.
func (w *Warehouse) View(ctx context.Context, fn func(*Snapshot) error) error {
	err := fn(w.snap)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if cerr := w.snap.check(ctx); !errors.Is(cerr, errGone) {
		return err
	}
	s, nerr := w.newer(ctx, w.snap)
	if nerr != nil {
		return errors.Join(err, nerr)
	}
	if s.head == w.snap.head {
		return err
	}
	if err := fn(s); err != nil {
		if cerr := s.check(ctx); errors.Is(cerr, errGone) {
			return fmt.Errorf("files were deleted while they were read, twice: let upkeep keep them longer than a report takes (--grace): %w", err)
		}
		return err
	}
	return nil
}

// catchUp follows manifests from a snapshot and hands each to fn. If manifests that it would have had to follow are gone it begins anew at a
// checkpoint, and skipped says so.
func (w *Warehouse) catchUp(ctx context.Context, from *Snapshot, fn func(*manifest)) (_ *Snapshot, skipped bool, err error) {
	s := from.clone()
	ferr := w.follow(ctx, s, fn)
	newest, err := w.newestCheckpoint(ctx)
	if err != nil {
		return nil, false, err
	}
	switch {
	case ferr == nil && newest <= s.Head:
		return s, false, nil
	case newest <= from.Head: // nothing is gone, so it is what it seems
		return nil, false, ferr
	}
	s, err = w.load(ctx)
	return s, true, err
}

// follow adds manifests to a snapshot until one is absent.
func (w *Warehouse) follow(ctx context.Context, s *Snapshot, fn func(*manifest)) error {
	for {
		name := manifestName(s.Head + 1)
		data, err := w.store.Read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) && s.Head >= 0 {
			return nil
		}
		if err != nil {
			return err
		}
		m, err := s.follow(name, data)
		if err != nil {
			return err
		}
		fn(m)
	}
}

// follow adds one manifest to the snapshot.
func (s *Snapshot) follow(name string, data []byte) (*manifest, error) {
	m, err := readManifest(name, data)
	if err != nil {
		return nil, err
	}
	if m.Number != s.Head+1 || m.Parent != s.head {
		return nil, fmt.Errorf("%q does not follow the manifest before it: restore the folder from one backup: %w", name, ErrCorrupt)
	}
	s.add(m, digest(data))
	return m, nil
}

func readManifest(name string, data []byte) (*manifest, error) {
	if err := readable(name, "manifest", data); err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%q does not read as a manifest (%v): restore it: %w", name, err, ErrCorrupt)
	}
	return &m, nil
}

// readable says whether JSON with a format is one that this program reads.
func readable(name, kind string, data []byte) error {
	var version struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(data, &version); err != nil || version.Format == nil {
		return fmt.Errorf("%q is not a %s: restore it, or name another directory: %w", name, kind, ErrCorrupt)
	}
	if *version.Format > Format {
		return fmt.Errorf("%q has format %d and this program reads up to %d: upgrade foreshard: %w", name, *version.Format, Format, ErrNewer)
	}
	return nil
}

// load reads the warehouse from its newest checkpoint on, or from what is there if that is damaged.
func (w *Warehouse) load(ctx context.Context) (*Snapshot, error) {
	for {
		names, err := w.checkpoints(ctx)
		if err != nil {
			return nil, err
		}
		s, err := w.loadFrom(ctx, names)
		newest, lerr := w.newestCheckpoint(ctx)
		switch {
		case lerr != nil:
			return nil, lerr
		case err == nil && newest <= s.Head:
			return s, nil
		case len(names) > 0 && newest <= names[0].number, newest < 0: // nobody has moved on meanwhile, so it is what it seems
			return nil, err
		}
	}
}

// loadFrom begins at the first checkpoint that is whole, newest first, and at manifest 0 if none is.
func (w *Warehouse) loadFrom(ctx context.Context, names []checkpointName) (*Snapshot, error) {
	var damaged error
	for _, n := range names {
		s, err := w.readCheckpoint(ctx, n)
		if err == nil {
			if err = w.follow(ctx, s, func(*manifest) {}); err == nil && s.Head >= names[0].number {
				return s, nil
			}
		}
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if damaged == nil {
			damaged = err
		}
	}
	last, err := w.lastManifest(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{store: w.store, Head: -1, Streams: map[string]*Stream{}, files: map[string][]File{}}
	if err := w.follow(ctx, s, func(*manifest) {}); err != nil {
		return nil, err
	}
	if len(names) > 0 {
		last = max(last, names[0].number)
	} else {
		damaged = errors.New("there is none")
	}
	if s.Head < last {
		return nil, fmt.Errorf("no checkpoint is whole (%v) and the manifests from %d on are gone: restore the folders \"checkpoints\" and \"manifests\" from one backup: %w",
			damaged, s.Head+1, ErrCorrupt)
	}
	return s, nil
}

// lastManifest is the highest number of a manifest. Where it is beyond what can be followed to, something between is missing: without this a
// warehouse that lost its checkpoints would look empty, and everything would be read and counted again.
func (w *Warehouse) lastManifest(ctx context.Context) (int, error) {
	entries, err := w.store.List(ctx, "manifests")
	if err != nil {
		return 0, err
	}
	last := -1
	for _, e := range entries {
		if n, ok := numberOf(e.Name); ok && e.Name == manifestName(n) {
			last = max(last, n)
		}
	}
	return last, nil
}
