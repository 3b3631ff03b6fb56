package pgwal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// control is the connection beside the WAL's. It is made again when it is lost.
type control struct {
	dsn  string
	mu   sync.Mutex
	conn *pgx.Conn
}

// do runs something on the connection, one at a time.
func (c *control) do(ctx context.Context, fn func(conn *pgx.Conn) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil || c.conn.IsClosed() {
		conn, err := connect(ctx, c.dsn)
		if err != nil {
			return err
		}
		c.conn = conn
	}
	return fn(c.conn)
}

func (c *control) close(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil || c.conn.IsClosed() {
		return nil
	}
	return c.conn.Close(ctx)
}

// slot is what pg_replication_slots says of one.
type slot struct {
	exists              bool
	plugin, database    string
	active              bool
	pid                 int32
	confirmed, retained uint64 // retained: bytes of WAL that it holds
	lost                bool   // the server has removed WAL that it needs
}

// here is the end of the WAL, of a replica of what it has replayed.
const here = `case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end`

func lookAtSlot(ctx context.Context, conn *pgx.Conn, name string, version int) (s slot, err error) {
	lost := "false"
	if version >= 130000 {
		lost = "coalesce(wal_status = 'lost', false)"
	}
	var confirmed string
	err = conn.QueryRow(ctx, `select coalesce(plugin::text, ''), coalesce(database::text, ''), active, coalesce(active_pid, 0), coalesce(confirmed_flush_lsn, '0/0')::text,
		greatest(coalesce(pg_wal_lsn_diff(`+here+`, restart_lsn), 0), 0)::bigint, `+lost+` from pg_replication_slots where slot_name = $1`, name).
		Scan(&s.plugin, &s.database, &s.active, &s.pid, &confirmed, &s.retained, &s.lost)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("look at slot %q: %w", name, err)
	}
	lsn, err := pglogrepl.ParseLSN(confirmed)
	if err != nil {
		return s, fmt.Errorf("look at slot %q: %w", name, err)
	}
	s.exists, s.confirmed = true, uint64(lsn)
	return s, nil
}

// dropSlot ends the session that reads a slot and drops it; false: there is none.
func dropSlot(ctx context.Context, conn *pgx.Conn, name string) (bool, error) {
	const patience, pause, inUse = 100, 100 * time.Millisecond, "55006"
	was := false
	for try := 0; ; try++ {
		s, err := lookAtSlot(ctx, conn, name, 0)
		if err != nil || !s.exists {
			return was, err
		}
		was = true
		if s.active {
			if _, err := conn.Exec(ctx, "select pg_terminate_backend($1)", s.pid); err != nil {
				return was, fmt.Errorf("end the session that reads slot %q: %w", name, err)
			}
		} else {
			_, err := conn.Exec(ctx, "select pg_drop_replication_slot($1)", name)
			var refused *pgconn.PgError
			if err == nil || errors.As(err, &refused) && refused.Code == "42704" { // it is gone
				return was, nil
			}
			if refused == nil || refused.Code != inUse {
				return was, fmt.Errorf("drop slot %q: %w", name, err)
			}
		}
		if try == patience {
			return was, fmt.Errorf("drop slot %q: process %d still reads it", name, s.pid)
		}
		select {
		case <-ctx.Done():
			return was, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// watch looks at the slot until ctx ends, and drops it when it holds too much WAL: from here, because whoever reads may be held up. It keeps the
// publications from breaking tables, too.
func (s *session) watch(ctx context.Context) {
	const publications = time.Minute
	last := time.Now()
	said := map[string]bool{}
	problem := func(err error) {
		if err != nil && ctx.Err() == nil && !said[err.Error()] {
			said[err.Error()] = true
			s.r.cfg.Problem(fmt.Errorf("watch the slot: %w", err))
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.r.cfg.Poll):
		}
		problem(s.control.do(ctx, func(conn *pgx.Conn) error {
			at, err := lookAtSlot(ctx, conn, s.name, s.server.version)
			if err != nil {
				return err
			}
			if at.lost {
				s.lost.Store(true)
				return s.hangUp()
			}
			if at.retained > uint64(s.r.cfg.MaxRetained) {
				s.over.Store(true)
				_, err := dropSlot(ctx, conn, s.name)
				return errors.Join(err, s.hangUp())
			}
			return nil
		}))
		if time.Since(last) >= publications {
			last = time.Now()
			problem(s.control.do(ctx, func(conn *pgx.Conn) error {
				t, err := readTables(ctx, conn, s.r.cfg.Keys)
				if err == nil {
					_, err = s.r.cfg.publish(ctx, conn, &s.server, t)
				}
				return err
			}))
		}
	}
}
