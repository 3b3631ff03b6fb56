package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

const leaseFolder = "leases"

// Lease says whether this process is the first to ask for the span of time that now lies in; spans of one length follow each other. It spares
// several processes the same work and protects nothing: two that do upkeep at once are told apart by their commits.
func (w *Warehouse) Lease(ctx context.Context, now time.Time, span time.Duration) (bool, error) {
	name := fmt.Sprintf("%s/%d-%d", leaseFolder, span/time.Millisecond, now.UnixMilli()/max(span.Milliseconds(), 1))
	err := w.store.Create(ctx, name, nil)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("take lease of warehouse %q: %w", w.store.Place(), err)
	}
	return err == nil, nil
}
