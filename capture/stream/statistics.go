package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pgstat"
)

// StatisticsConfig says how an agent looks at the statistics of servers. DSNs and Tick are required.
type StatisticsConfig struct {
	DSNs    []string
	Tick    <-chan time.Time    // each is a look at the servers; there is one at the start, too
	Stop    <-chan struct{}     // closed: one more look, then return
	Observe func(*pgstat.Round) // after each look; nil: nobody
}

// FollowStatistics looks at servers until Stop is closed or ctx ends. Each look is made durable with what it counted since the one before, so that
// after any end the next look goes on from there: the servers go on counting meanwhile.
func FollowStatistics(ctx context.Context, a *Agent, cfg StatisticsConfig) (err error) {
	group, err := pgstat.Open(pgstat.Config{DSNs: cfg.DSNs, HashKey: a.HashKey(), State: a.Checkpoint().State})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, group.Close(context.WithoutCancel(ctx))) }()
	for stopped := false; ; {
		round := group.Look(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := keepRound(ctx, a, group, &round); err != nil {
			return err
		}
		if cfg.Observe != nil {
			cfg.Observe(&round)
		}
		if stopped {
			return nil
		}
		select {
		case <-cfg.Stop:
			stopped = true
		case <-cfg.Tick:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// keepRound makes a round durable with the look that the next one is compared with.
func keepRound(ctx context.Context, a *Agent, group *pgstat.Group, round *pgstat.Round) error {
	var events []capture.Event
	for _, d := range round.Deltas {
		events = append(events, d.Events...)
	}
	if err := a.Add(events); err != nil {
		return err
	}
	state, err := group.State()
	if err != nil {
		return err
	}
	if err := a.Flush(ctx, Checkpoint{State: state}, Ledger{Notes: round.Notes()}); err != nil {
		return fmt.Errorf("keep statistics: %w", err)
	}
	return nil
}
