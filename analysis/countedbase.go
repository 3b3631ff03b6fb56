package analysis

import (
	"context"
	"fmt"
)

// BasisStatistics is Report.Basis of a warehouse that holds no execution of a log.
const BasisStatistics = "statistics"

// countedBase makes the tables base_* of what servers counted, for want of a log.
func (b *builder) countedBase(ctx context.Context) error {
	looks, err := b.loadLooks(ctx)
	if err != nil {
		return err
	}
	if len(looks) == 0 && hasWrites(b.snap) {
		b.counted = false
		return b.sumBase(ctx, nil)
	}
	if len(looks) == 0 {
		return fmt.Errorf("one look at statistics is nothing to compare with: %w", ErrNoEvidence)
	}
	if err := b.atLooks(ctx, looks); err != nil {
		return err
	}
	return b.db.Exec(ctx, query("countedbase.sql"))
}

// addCoverage adds what the statistics of servers say.
func (b *builder) addCoverage(ctx context.Context, r *Report) (err error) {
	switch {
	case !hasStatistics(b.snap):
		return nil
	case !b.counted:
		r.Coverage, err = b.cover(ctx, r.Window)
		return err
	}
	looks, err := b.loadLooks(ctx)
	if err != nil {
		return err
	}
	r.Basis = BasisStatistics
	r.Coverage = &Coverage{Sources: statisticsSources(looks), Databases: []DatabaseCoverage{}, UnloggedFrom: []UnloggedQuery{}}
	c := r.Coverage
	for _, s := range c.Sources {
		c.AtLeast, c.Unclear = c.AtLeast || s.AtLeast, c.Unclear || s.Unclear
		if c.From.IsZero() || s.From.Before(c.From) {
			c.From = s.From
		}
		if s.To.After(c.To) {
			c.To = s.To
		}
	}
	c.Seconds = covered(looks).Seconds()
	for _, t := range b.totals {
		c.Calls += t.calls
	}
	r.Window = Window{From: c.From, To: c.To}
	return nil
}
