package pgstat

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Config says which servers are looked at.
type Config struct {
	DSNs    []string // connection strings, one for each server
	HashKey [16]byte // of what is compared and never read
	State   []byte   // what an earlier Group's State gave; nil: none
}

// Group looks at servers and remembers the last look at each. It is not safe for concurrent use.
type Group struct {
	pollers []*poller
	looks   looks
	told    map[string]string // by server, the kind of problem that was told last
}

// Round is one look at every server of a Group.
type Round struct {
	Deltas   []*Delta // of the servers that answered, in the order of the connection strings
	Failed   int      // servers that did not
	Problems []error  // that no round before has told; a server that answers again tells anew
}

// Notes is what the ledger says of a round.
func (r *Round) Notes() map[string]int64 {
	notes := map[string]int64{}
	if r.Failed > 0 {
		notes[NoteFailed] = int64(r.Failed)
	}
	for _, d := range r.Deltas {
		for k, n := range d.Notes() {
			notes[k] += n
		}
	}
	return notes
}

// Open checks the connection strings and takes up the looks of an earlier Group. It connects to nothing: a server that cannot be reached, or shows
// no statistics, is a problem of a round and is tried again. The caller closes the Group.
func Open(cfg Config) (*Group, error) {
	g := &Group{told: map[string]string{}}
	if len(cfg.DSNs) == 0 {
		return nil, errors.New("open statistics: no connection string")
	}
	var err error
	if g.looks, err = decodeLooks(cfg.State); err != nil {
		return nil, fmt.Errorf("open statistics: %w", err)
	}
	key := newHashKey(cfg.HashKey)
	for _, dsn := range cfg.DSNs {
		p, err := newPoller(dsn, key, g.looks)
		if err != nil {
			return nil, fmt.Errorf("open statistics: %w", err)
		}
		g.pollers = append(g.pollers, p)
	}
	return g, nil
}

// Look looks at all servers, at the same time.
func (g *Group) Look(ctx context.Context) Round {
	deltas, errs := make([]*Delta, len(g.pollers)), make([]error, len(g.pollers))
	var wg sync.WaitGroup
	for i, p := range g.pollers {
		wg.Go(func() { deltas[i], errs[i] = p.poll(ctx) })
	}
	wg.Wait()
	var r Round
	names := map[string]string{}
	for i, p := range g.pollers {
		if errs[i] != nil {
			r.Failed++
			g.tell(&r, p.name, errs[i].Error(), explained(errs[i]))
			continue
		}
		if first, again := names[p.process]; again {
			r.Failed++
			g.tell(&r, p.name, "again", fmt.Errorf("%s and %s are one server: its statistics count once; give one of the two", first, p.name))
			continue
		}
		names[p.process] = p.name
		d := deltas[i]
		g.looks[p.source] = p.before
		r.Deltas = append(r.Deltas, d)
		switch {
		case d.Hidden > 0:
			g.tell(&r, p.name, "hidden", fmt.Errorf("%s hides %d rows of other roles: GRANT pg_read_all_stats TO %s", p.name, d.Hidden, pgx.Identifier{p.role}.Sanitize()))
		case d.Nested:
			g.tell(&r, p.name, "nested", fmt.Errorf("%s counts calls inside functions too, and before 14 does not tell them apart: ALTER SYSTEM SET pg_stat_statements.track = 'top'", p.name))
		default:
			delete(g.told, p.name)
		}
	}
	return r
}

// tell adds a problem of a server unless it is of the kind told last.
func (g *Group) tell(r *Round, name, kind string, problem error) {
	if g.told[name] != kind {
		g.told[name] = kind
		r.Problems = append(r.Problems, problem)
	}
}

// explained adds what to do about an error.
func explained(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42501" { // insufficient_privilege
		return fmt.Errorf("%w: grant the role pg_read_all_stats, and USAGE on the extension's schema; foreshard doctor tells more", err)
	}
	return err
}

// State is what a later Group needs to go on after the rounds so far, so that no interval is lost or counted twice.
func (g *Group) State() ([]byte, error) { return g.looks.encode() }

// Close ends the connections.
func (g *Group) Close(ctx context.Context) error {
	var errs []error
	for _, p := range g.pollers {
		errs = append(errs, p.close(ctx))
	}
	return errors.Join(errs...)
}
