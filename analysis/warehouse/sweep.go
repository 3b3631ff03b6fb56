package warehouse

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Sweep removes files that no manifest names: what crashed runs left, and states that later ones replaced. It must not run while another
// process writes, whose files have no manifest yet. The names of what was removed are the result.
func (w *Warehouse) Sweep(ctx context.Context) ([]string, error) {
	snap, err := w.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	keep := map[string]bool{}
	for _, files := range snap.files {
		for _, f := range files {
			keep[f.Path] = true
		}
	}
	for _, st := range snap.Streams {
		if st.State != nil {
			keep[st.State.Path] = true
		}
	}
	names, err := w.store.List(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("sweep warehouse %q: %w", w.store.Place(), err)
	}
	slices.Sort(names)
	var removed []string
	for _, n := range names {
		top, _, nested := strings.Cut(n, "/")
		if !nested || keep[n] || !ownFolder(top) || top == "manifests" && !strings.Contains(n, "/.new-") {
			continue
		}
		if err := w.store.Remove(ctx, n); err != nil {
			return removed, fmt.Errorf("sweep warehouse %q: %w", w.store.Place(), err)
		}
		removed = append(removed, n)
	}
	return removed, nil
}

// ownFolder says whether a folder is the warehouse's, so that nothing else is ever swept. Caches are kept.
func ownFolder(name string) bool {
	if name == "state" || name == "manifests" {
		return true
	}
	_, err := TableNamed(name)
	return err == nil
}
