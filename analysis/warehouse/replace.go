package warehouse

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Replace commits merged files in place of their inputs, which stay where they are until a Sweep. If one of the inputs counts no more, or other
// upkeep was faster, the error is ErrConflict and nothing changed.
func (w *Warehouse) Replace(ctx context.Context, at time.Time, merged []Merged) error {
	m := manifest{Format: Format, Stream: UpkeepStream, At: at.UTC()}
	for _, x := range merged {
		m.Files = append(m.Files, x.File)
		for _, f := range x.Inputs {
			m.Removed = append(m.Removed, f.Path)
		}
	}
	err := w.present(merged)
	if err == nil {
		err = w.publishUpkeep(ctx, &m)
	}
	if err != nil {
		return fmt.Errorf("replace files of warehouse %q: %w", w.store.Place(), err)
	}
	return nil
}

// present says whether the inputs are just what the snapshot holds under their names.
func (w *Warehouse) present(merged []Merged) error {
	count := map[string]int{}
	for _, files := range w.snap.files {
		for _, f := range files {
			count[f.Path]++
		}
	}
	for _, x := range merged {
		for _, f := range x.Inputs {
			count[f.Path]--
		}
	}
	for _, x := range merged {
		for _, f := range x.Inputs {
			if count[f.Path] != 0 {
				return fmt.Errorf("%q was removed by others: %w", f.Path, ErrConflict)
			}
		}
	}
	return nil
}

// Retire removes files of tables by day, and counts in the ledger what their rows counted, by table. Other upkeep that was faster is
// ErrConflict.
func (w *Warehouse) Retire(ctx context.Context, at time.Time, files []File) (map[string]int64, error) {
	m := manifest{Format: Format, Stream: UpkeepStream, At: at.UTC(), Ledger: Ledger{Retired: map[string]int64{}}}
	err := w.present([]Merged{{Inputs: files}})
	for _, f := range files {
		if err != nil {
			break
		}
		var n int64
		n, err = w.counted(ctx, f)
		m.Ledger.Retired[f.Table] += n
		m.Removed = append(m.Removed, f.Path)
	}
	if err == nil {
		number := attempt{w.snap.Head + 1, UpkeepStream}
		m.Files, err = writeTable(ctx, w, number, LedgerTable, m.Ledger.rows(UpkeepStream, UpkeepStream), compareLedger)
	}
	if err == nil {
		err = w.publishUpkeep(ctx, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("retire files of warehouse %q: %w", w.store.Place(), w.overtaken(ctx, err))
	}
	return m.Ledger.Retired, nil
}

// overtaken makes ErrConflict of a file that is gone because other upkeep was there since the snapshot.
func (w *Warehouse) overtaken(ctx context.Context, err error) error {
	if !errors.Is(err, errGone) {
		return err
	}
	now, nerr := w.newer(ctx, w.snap)
	if nerr != nil {
		return nerr
	}
	if cerr := conflict(now, UpkeepStream, commitOf(w.snap.Streams[UpkeepStream])); cerr != nil {
		return cerr
	}
	return err
}

// counted adds up what the rows of a file count.
func (w *Warehouse) counted(ctx context.Context, f File) (int64, error) {
	t, err := TableNamed(f.Table)
	if err != nil || t.Count == "" {
		return f.Rows, err
	}
	data, err := w.snap.readFile(ctx, f)
	if err != nil {
		return 0, err
	}
	g := merging{t: t}
	next, err := g.rows(ctx, f, data)
	if err != nil {
		return 0, err
	}
	column := t.columns([]string{t.Count})[0]
	var sum int64
	for {
		p, ok, err := next()
		if !ok || err != nil {
			return sum, err
		}
		n, err := number(p, column)
		if err != nil {
			return 0, err
		}
		sum += n
	}
}
