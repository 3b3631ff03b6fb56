// Package upkeep keeps a warehouse small and quick to open while others write and read it: it turns many small files into few, drops the days
// that nobody wants to keep, and deletes what is no longer needed. It decides what; package warehouse, the only one of the project it imports,
// does it safely.
package upkeep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// DefaultGrace is how long files stay after they stopped to count: longer than any report takes.
const DefaultGrace = time.Hour

// Options says what upkeep does. Now is required.
type Options struct {
	Now     func() time.Time
	Grace   time.Duration // how long what is not needed stays, for readers that began before
	Retain  Retention     // what is dropped; nil: nothing
	Compact bool          // merge small files
	Full    bool          // merge all of them, not only where it pays at once
	Lease   time.Duration // do it only if no other process did in this span of time; 0: in any case
}

// Result is what upkeep did.
type Result struct {
	Idle    bool             // nothing, because another process does it
	Lost    bool             // another process was faster in between; nothing is lost but work
	Inputs  int              // files that were merged
	Outputs int              // into so many
	Before  int64            // bytes of them
	After   int64            // bytes
	Dropped int              // files of days that are over
	Retired map[string]int64 // what their rows counted, by table
	Swept   warehouse.Swept
}

// Run does upkeep once. What was done before an error stays done.
func Run(ctx context.Context, w *warehouse.Warehouse, o Options) (r Result, err error) {
	if o.Lease > 0 {
		first, err := w.Lease(ctx, o.Now(), o.Lease)
		if err != nil || !first {
			return Result{Idle: true}, err
		}
	}
	if _, err := w.Refresh(ctx); err != nil {
		return r, err
	}
	for _, step := range []func(context.Context, *warehouse.Warehouse, Options, *Result) error{retire, compact, sweep} {
		if err := step(ctx, w, o, &r); errors.Is(err, warehouse.ErrConflict) {
			r.Lost = true
			return r, nil
		} else if err != nil {
			return r, err
		}
	}
	return r, w.Checkpoint(ctx)
}

func retire(ctx context.Context, w *warehouse.Warehouse, o Options, r *Result) error {
	files := o.Retain.over(w.Snapshot(), o.Now())
	if len(files) == 0 {
		return nil
	}
	retired, err := w.Retire(ctx, o.Now(), files)
	if err == nil {
		r.Dropped, r.Retired = len(files), retired
	}
	return err
}

// commitFiles is how many files are merged until a commit: what is merged and not committed is lost work.
const commitFiles = 2000

func compact(ctx context.Context, w *warehouse.Warehouse, o Options, r *Result) error {
	if !o.Compact {
		return nil
	}
	for {
		var merged []warehouse.Merged
		inputs := 0
		for _, unit := range units(w.Snapshot(), o.Now(), o.Full) {
			m, err := w.Merge(ctx, unit)
			if err != nil {
				return err
			}
			merged = append(merged, m)
			if inputs += len(unit); inputs >= commitFiles {
				break
			}
		}
		if len(merged) == 0 {
			return nil
		}
		if err := w.Replace(ctx, o.Now(), merged); err != nil {
			return err
		}
		for _, m := range merged {
			r.add(m)
		}
	}
}

func (r *Result) add(m warehouse.Merged) {
	r.Inputs += len(m.Inputs)
	r.Outputs++
	r.After += m.File.Bytes
	for _, f := range m.Inputs {
		r.Before += f.Bytes
	}
}

func sweep(ctx context.Context, w *warehouse.Warehouse, o Options, r *Result) (err error) {
	r.Swept, err = w.Sweep(ctx, o.Now(), o.Grace)
	return err
}

// String says in a line what was done; "" if there was nothing to do.
func (r Result) String() string {
	var s string
	add := func(format string, args ...any) {
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf(format, args...)
	}
	if r.Dropped > 0 {
		add("%d files of days that are over dropped", r.Dropped)
		for _, t := range slices.Sorted(maps.Keys(r.Retired)) {
			add("%s: %d retired", t, r.Retired[t])
		}
	}
	if r.Inputs > 0 {
		add("%d files (%d bytes) merged into %d (%d bytes)", r.Inputs, r.Before, r.Outputs, r.After)
	}
	if r.Swept.Deleted+r.Swept.Manifests > 0 {
		add("%d files (%d bytes) and %d manifests deleted", r.Swept.Deleted, r.Swept.Bytes, r.Swept.Manifests)
	}
	if r.Swept.Condemned > 0 {
		add("%d files that nobody needs found", r.Swept.Condemned)
	}
	if r.Lost {
		add("another process does upkeep too and was faster")
	}
	return s
}
