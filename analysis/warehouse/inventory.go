package warehouse

import (
	"context"
	"fmt"
	"strings"
)

// Inventory is what lies in the store, beside what the snapshot counts.
type Inventory struct {
	Manifests   Amount `json:"manifests"`
	Checkpoints Amount `json:"checkpoints"`
	States      Amount `json:"states"`
	Data        Amount `json:"data"`    // that count
	Waiting     Amount `json:"waiting"` // removed, deleted after the grace
	Orphans     Amount `json:"orphans"` // that no manifest names: of commits at work, or left by crashed runs
	Derived     Amount `json:"derived"` // caches
	Checkpoint  int    `json:"checkpoint"`
	Follows     int    `json:"follows"` // manifests that Open reads after the newest checkpoint
}

// Amount is files and their bytes.
type Amount struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

func (a *Amount) add(e Entry) {
	a.Files++
	a.Bytes += e.Size
}

// Inventory lists the store.
func (w *Warehouse) Inventory(ctx context.Context) (Inventory, error) {
	var inv Inventory
	entries, err := w.store.List(ctx, "")
	if err == nil {
		inv.Checkpoint, err = w.newestCheckpoint(ctx)
	}
	if err != nil {
		return inv, fmt.Errorf("list warehouse %q: %w", w.store.Place(), err)
	}
	inv.Follows = w.snap.Head - max(inv.Checkpoint, 0)
	keep, waiting := w.snap.kept(), map[string]bool{}
	for _, r := range w.snap.gone {
		for _, p := range r.Paths {
			waiting[p] = true
		}
	}
	for _, e := range entries {
		top, _, nested := strings.Cut(e.Name, "/")
		switch {
		case top == "derived":
			inv.Derived.add(e)
		case !nested || !ownFolder(top) || top == leaseFolder:
		case top == "manifests":
			inv.Manifests.add(e)
		case top == checkpointFolder:
			inv.Checkpoints.add(e)
		case waiting[e.Name]:
			inv.Waiting.add(e)
		case !keep[e.Name]:
			inv.Orphans.add(e)
		case top == "state":
			inv.States.add(e)
		default:
			inv.Data.add(e)
		}
	}
	return inv, nil
}

// VerifyChain follows the manifests from the oldest checkpoint on, from number 0 if all are there, and compares each checkpoint on the way with
// what they come to. It returns how many manifests and checkpoints it read.
func (w *Warehouse) VerifyChain(ctx context.Context) (manifests, checkpoints int, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("check warehouse %q: %w", w.store.Place(), err)
		}
	}()
	names, err := w.checkpoints(ctx)
	if err != nil {
		return 0, 0, err
	}
	expect := map[int][]string{}
	for _, n := range names {
		expect[n.number] = append(expect[n.number], n.name)
	}
	s := &Snapshot{store: w.store, Head: -1, Streams: map[string]*Stream{}, files: map[string][]File{}}
	if _, err := w.store.Size(ctx, manifestName(1)); absent(err) != nil {
		return 0, 0, err
	} else if err != nil && len(names) > 0 {
		if s, err = w.readCheckpoint(ctx, names[len(names)-1]); err != nil {
			return 0, 0, err
		}
		checkpoints++
		delete(expect, s.Head)
	}
	var failed error
	err = w.follow(ctx, s, func(*manifest) {
		manifests++
		if len(expect[s.Head]) == 0 || failed != nil {
			return
		}
		data, err := s.encode()
		for _, name := range expect[s.Head] {
			if err == nil && nameOfCheckpoint(s.Head, data) != name {
				err = fmt.Errorf("%q is not what the manifests come to: delete it: %w", name, ErrCorrupt)
			}
			if err == nil {
				_, err = w.readCheckpoint(ctx, checkpointName{s.Head, name})
			}
			checkpoints++
		}
		delete(expect, s.Head)
		failed = err
	})
	if err == nil {
		err = failed
	}
	if err == nil && s.Head < w.snap.Head {
		err = fmt.Errorf("%q is missing: restore it: %w", manifestName(s.Head+1), ErrCorrupt)
	}
	return manifests, checkpoints, err
}
