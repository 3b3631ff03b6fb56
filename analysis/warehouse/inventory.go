package warehouse

import (
	"cmp"
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
	keep, waiting := w.snap.kept(), w.snap.waiting()
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

// VerifyChain follows the manifests, from number 0 if they are all there and else from the oldest checkpoint, and compares each checkpoint on the
// way with what they come to. It returns how many manifests and checkpoints it read.
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
	c := chainCheck{w: w, expect: map[int][]string{}}
	for _, n := range names {
		c.expect[n.number] = append(c.expect[n.number], n.name)
	}
	last, err := w.lastManifest(ctx)
	if err != nil {
		return 0, 0, err
	}
	s := &Snapshot{store: w.store, Head: -1, Streams: map[string]*Stream{}, files: map[string][]File{}}
	err = c.follow(ctx, s)
	if n := len(names) - 1; n >= 0 && s.Head < names[n].number {
		if s, err = w.readCheckpoint(ctx, names[n]); err != nil {
			return 0, 0, err
		}
		delete(c.expect, s.Head)
		c.manifests, c.checkpoints = 0, 1
		err = c.follow(ctx, s)
	}
	if err == nil && s.Head < max(last, w.snap.Head) {
		err = fmt.Errorf("%q is missing: restore it: %w", manifestName(s.Head+1), ErrCorrupt)
	}
	return c.manifests, c.checkpoints, err
}

// chainCheck compares checkpoints with the snapshots that manifests come to.
type chainCheck struct {
	w                      *Warehouse
	expect                 map[int][]string // names by number
	manifests, checkpoints int
}

func (c *chainCheck) follow(ctx context.Context, s *Snapshot) error {
	var failed error
	err := c.w.follow(ctx, s, func(*manifest) {
		c.manifests++
		if failed == nil {
			failed = c.compare(ctx, s)
		}
	})
	return cmp.Or(err, failed)
}

func (c *chainCheck) compare(ctx context.Context, s *Snapshot) error {
	names := c.expect[s.Head]
	if len(names) == 0 {
		return nil
	}
	delete(c.expect, s.Head)
	data, err := s.encode()
	if err != nil {
		return err
	}
	for _, name := range names {
		if nameOfCheckpoint(s.Head, data) != name {
			return fmt.Errorf("%q is not what the manifests come to: delete it: %w", name, ErrCorrupt)
		}
		if _, err := c.w.readCheckpoint(ctx, checkpointName{s.Head, name}); err != nil {
			return err
		}
		c.checkpoints++
	}
	return nil
}
