package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Swept is what a sweep did.
type Swept struct {
	Condemned   int   // files that no manifest names: what crashed runs left, and states that later ones replaced; deleted by a later sweep
	Deleted     int   // files that were removed or condemned longer ago than the grace
	Bytes       int64 // of them
	Manifests   int   // deleted, because a checkpoint stands for them
	Checkpoints int   // deleted, because later ones are there
}

// keepCheckpoints is how many checkpoints are kept at least: if the newest is damaged, those before it and the manifests since still tell all.
const keepCheckpoints = 3

// writing is how long the temporary file of one write may take, however short the grace.
const writing = 10 * time.Minute

// Sweep deletes what is no longer needed and older than the grace: readers that began before may still want what is younger. It may run beside
// readers, writers and other sweeps: nothing is deleted but what a manifest has removed, and a writer whose files a manifest condemned
// before its own could name them writes them again. at is now, by the same clock as the store's to within a fraction of the grace.
func (w *Warehouse) Sweep(ctx context.Context, at time.Time, grace time.Duration) (s Swept, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("sweep warehouse %q: %w", w.store.Place(), err)
		}
	}()
	entries, err := w.store.List(ctx, "") // before the refresh, so that the files of commits meanwhile are known
	if err != nil {
		return s, err
	}
	if _, err := w.Refresh(ctx); err != nil {
		return s, err
	}
	m := manifest{Format: Format, Stream: UpkeepStream, At: at.UTC()}
	if err := w.deleteRemoved(ctx, entries, &m, at.Add(-grace), &s); err != nil {
		return s, err
	}
	if err := w.condemn(ctx, entries, &m, at, at.Add(-grace), &s); err != nil {
		return s, err
	}
	if len(m.Removed) > 0 || len(m.Deleted) > 0 {
		if err := w.publishUpkeep(ctx, &m); err != nil {
			return s, err
		}
	}
	return s, w.prune(ctx, entries, at.Add(-grace), &s)
}

// publishUpkeep is publish for a manifest of upkeep, whose files stay where they are if it loses.
func (w *Warehouse) publishUpkeep(ctx context.Context, m *manifest) error {
	err := w.publish(ctx, m)
	if errors.Is(err, errRewrite) {
		return fmt.Errorf("%w (%w)", ErrConflict, err)
	}
	return err
}

// deleteRemoved deletes the files of the removals before a time, and notes them in the manifest. A crash in between does no harm: they are
// deleted again.
func (w *Warehouse) deleteRemoved(ctx context.Context, entries []Entry, m *manifest, before time.Time, s *Swept) error {
	keep := w.snap.kept()
	sizes := make(map[string]int64, len(entries))
	for _, e := range entries {
		sizes[e.Name] = e.Size
	}
	for _, r := range w.snap.gone {
		if r.At.After(before) {
			continue
		}
		for _, p := range r.Paths {
			if keep[p] {
				continue
			}
			if err := w.store.Remove(ctx, p); err != nil {
				return err
			}
			if n, was := sizes[p]; was {
				s.Deleted++
				s.Bytes += n
			}
		}
		m.Deleted = append(m.Deleted, r.Number)
	}
	return nil
}

// condemn puts the files that no manifest names and that are older than a time on the manifest's list. Temporary files never get a name, and
// are deleted at once.
func (w *Warehouse) condemn(ctx context.Context, entries []Entry, m *manifest, at, before time.Time, s *Swept) error {
	keep, waiting := w.snap.kept(), w.snap.waiting()
	for _, e := range entries {
		top, _, nested := strings.Cut(e.Name, "/")
		switch {
		case !nested || e.Modified.After(before) || !ownFolder(top):
		case strings.HasPrefix(path.Base(e.Name), ".new-") && e.Modified.After(at.Add(-writing)):
		case top == leaseFolder || strings.HasPrefix(path.Base(e.Name), ".new-"):
			if err := w.store.Remove(ctx, e.Name); err != nil {
				return err
			}
		case top == "manifests" || top == checkpointFolder || keep[e.Name] || waiting[e.Name]:
		default:
			m.Removed = append(m.Removed, e.Name)
			s.Condemned++
		}
	}
	slices.Sort(m.Removed)
	return nil
}

// ownFolder says whether a folder is the warehouse's, so that nothing else is ever swept. Caches are kept.
func ownFolder(name string) bool {
	switch name {
	case "state", "manifests", checkpointFolder, leaseFolder:
		return true
	}
	_, err := TableNamed(name)
	return err == nil
}

// prune deletes old checkpoints, and the manifests before the oldest that is kept; of both what is younger than a time stays. Manifest 0 stays.
func (w *Warehouse) prune(ctx context.Context, entries []Entry, before time.Time, s *Swept) error {
	modified := map[string]time.Time{}
	for _, e := range entries {
		modified[e.Name] = e.Modified
	}
	old := func(name string) bool { t, ok := modified[name]; return ok && !t.After(before) }
	names, err := w.checkpoints(ctx)
	if err != nil {
		return err
	}
	whole := 0
	oldest := -1 // of the kept
	for _, n := range names {
		if whole >= keepCheckpoints {
			if !old(n.name) { // kept for its age, and not read: upkeep may leave one each minute
				oldest = n.number
				continue
			}
			if err := w.store.Remove(ctx, n.name); err != nil {
				return err
			}
			s.Checkpoints++
			continue
		}
		_, err := w.readCheckpoint(ctx, n)
		switch {
		case err == nil:
			whole++
			oldest = n.number
		case errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist): // it protects nothing
		default:
			return err
		}
	}
	if whole < keepCheckpoints {
		return nil
	}
	return w.pruneManifests(ctx, entries, oldest, old, s)
}

func (w *Warehouse) pruneManifests(ctx context.Context, entries []Entry, oldest int, old func(string) bool, s *Swept) error {
	var names []string
	for _, e := range entries {
		n, ok := numberOf(e.Name)
		if ok && n > 0 && n < oldest && e.Name == manifestName(n) && old(e.Name) {
			names = append(names, e.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	if err := w.raiseFormat(ctx); err != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range names {
		if err := w.store.Remove(ctx, n); err != nil {
			return err
		}
		s.Manifests++
	}
	return nil
}

// raiseFormat makes manifest 0 one that programs which know no checkpoints refuse: to them a warehouse without its first manifests is empty.
func (w *Warehouse) raiseFormat(ctx context.Context) error {
	data, err := w.store.Read(ctx, manifestName(0))
	if err != nil {
		return err
	}
	m, err := readManifest(manifestName(0), data)
	if err != nil || m.Format == Format {
		return err
	}
	if m.Was == "" {
		m.Was = digest(data)
	}
	m.Format = Format
	if data, err = m.encode(); err != nil {
		return err
	}
	return w.store.Replace(ctx, manifestName(0), data)
}
