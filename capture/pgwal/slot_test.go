package pgwal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pgwal"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

// slot is the number of slots, and the bytes of WAL that the one there is holds.
func (l *lab) slot() (n int, retained int64) {
	l.Helper()
	err := l.conn.QueryRow(context.Background(), `select count(*), coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint from pg_replication_slots`).Scan(&n, &retained)
	if err != nil {
		l.Fatal(err)
	}
	return n, retained
}

// A quiet database beside a busy one: the slot is acknowledged from keepalives and holds little WAL. (A17)
func TestQuietDatabase(t *testing.T) {
	for _, major := range []int{12, 18} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, major, nil, "create table q (id int primary key)")
			l.exec("create database busy")
			busy := l.connect("busy")
			if _, err := busy.Exec(l.Context(), "create table t (v text)"); err != nil {
				t.Fatal(err)
			}
			l.cfg.Slot = "quiet"
			l.read()
			written := 0
			for range 60 {
				if _, err := busy.Exec(l.Context(), "insert into t select repeat('x', 1000) from generate_series(1, 2000)"); err != nil {
					t.Fatal(err)
				}
				written += 2 << 20
			}
			const segments = 2 * (16 << 20)
			if written < 3*segments {
				t.Fatal("too little was written")
			}
			for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
				// What a slot holds ends at a record of the running transactions, which the server writes every 15 s, and each checkpoint does.
				l.exec("checkpoint")
				if _, held := l.slot(); held < segments {
					break
				} else if time.Now().After(end) {
					t.Fatalf("the slot holds %d bytes of WAL", held)
				}
			}
			l.exec("insert into q values (1)")
			if got := rows(l.end()); got["public.q insert"] != 1 {
				t.Errorf("%v", got)
			}
		})
	}
}

// A slot that holds more WAL than it may is dropped, though the reader is held up; it goes on with another one, or not, and says what is missing.
func TestCeiling(t *testing.T) {
	for _, c := range []struct {
		major int
		slot  string
		renew bool
	}{{12, "", true}, {14, "lasting", true}, {18, "lasting", false}} {
		t.Run(fmt.Sprintf("%d %q %t", c.major, c.slot, c.renew), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, c.major, nil, "create table t (id int primary key, v text)")
			l.cfg.Slot, l.cfg.Renew, l.cfg.MaxRetained = c.slot, c.renew, 8<<20
			l.read()
			l.mu.Lock()
			l.held = true // nothing is durable from here on
			l.mu.Unlock()
			l.exec("insert into t select i, repeat('x', 1000) from generate_series(1, 20000) i")
			l.until("the slot is dropped", func() bool { return l.said("more WAL than it may") })
			l.mu.Lock()
			l.held = false
			l.mu.Unlock()
			if !c.renew {
				if n, _ := l.slot(); n != 0 || !l.said("no more") {
					t.Errorf("%d slots; %q", n, l.problems)
				}
				l.end()
				if l.counts.Notes[pgwal.NoteCeiling] != 1 {
					t.Errorf("%+v", l.counts)
				}
				return
			}
			l.until("there is another slot", func() bool { n, _ := l.slot(); return n == 1 && l.counts.Notes[pgwal.NoteGap] > 0 })
			l.exec("delete from t where id = 1", "insert into t values (-1)")
			got := rows(l.end())
			if got["public.t delete"] != 1 || got["public.t insert"] != 1 && got["public.t insert"] != 20001 {
				t.Errorf("%v", got)
			}
			if l.counts.Notes[pgwal.NoteCeiling] < 1 || l.counts.Notes[pgwal.NoteGap] < 1 {
				t.Errorf("%+v", l.counts)
			}
		})
	}
}

// A slot that no session comes to read, because each fails before, is dropped beyond the ceiling all the same.
func TestCeilingWithoutASession(t *testing.T) {
	t.Parallel()
	l := newLab(t, 17, nil, "create table t (id int primary key, v text)")
	l.cfg.Slot, l.cfg.MaxRetained = "lasting", 8<<20
	l.read()
	l.end()
	l.exec("drop publication foreshard", "insert into t select i, repeat('x', 1000) from generate_series(1, 20000) i")
	l.cfg.Create = false
	r, err := pgwal.Open(l.cfg, l.at)
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- r.Run(t.Context(), stop, func([]capture.Event) error { return nil }) }()
	l.until("the slot is dropped", func() bool { n, _ := l.slot(); return n == 0 })
	close(stop)
	if err := <-done; err != nil || r.Counts().Notes[pgwal.NoteCeiling] != 1 {
		t.Errorf("%v, %+v", err, r.Counts())
	}
}

// A slot that is dropped underneath, and one whose WAL the server has removed, are made anew; what was not seen is counted.
func TestSlotGone(t *testing.T) {
	t.Run("dropped", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, 17, nil, "create table t (id int primary key)")
		l.cfg.Slot = "lasting"
		l.read()
		l.exec("insert into t values (1)")
		l.until("a row is seen", func() bool { return len(l.events) == 1 })
		l.exec("select pg_terminate_backend(active_pid) from pg_replication_slots; ")
		l.exec(`do $$ begin
			loop
				begin perform pg_drop_replication_slot('lasting'); return;
				exception when object_in_use then perform pg_terminate_backend(active_pid) from pg_replication_slots; perform pg_sleep(0.01);
					when undefined_object then return;
				end;
			end loop; end $$`)
		l.until("it is made anew", func() bool { return l.counts.Notes[pgwal.NoteGap] == 1 })
		l.exec("insert into t values (2)")
		if got := rows(l.end()); got["public.t insert"] != 2 {
			t.Errorf("%v", got)
		}
		if l.counts.Notes[pgwal.NoteReconnect] == 0 || l.counts.Notes[pgwal.NoteGapBytes] <= 0 {
			t.Errorf("%+v", l.counts)
		}
	})
	t.Run("lost", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, 14, map[string]string{"max_slot_wal_keep_size": "1MB", "max_wal_size": "32MB", "min_wal_size": "32MB"}, "create table t (id int primary key, v text)")
		l.cfg.Slot = "lasting"
		l.read()
		l.exec("insert into t values (1)")
		l.end()
		for range 5 { // beyond several segments, with nobody reading
			l.exec("insert into t select -1 - i - (select count(*) from t), repeat('x', 2000) from generate_series(1, 10000) i", "checkpoint")
		}
		var status string
		if err := l.conn.QueryRow(l.Context(), "select coalesce(wal_status, '') from pg_replication_slots").Scan(&status); err != nil || status != "lost" {
			t.Fatalf("the slot is %q, %v", status, err)
		}
		l.events = nil
		l.read()
		l.exec("insert into t values (2)")
		if got := rows(l.end()); got["public.t insert"] != 1 {
			t.Errorf("%v", got)
		}
		if l.counts.Notes[pgwal.NoteGap] != 1 || l.counts.Notes[pgwal.NoteGapBytes] < 32<<20 {
			t.Errorf("%+v", l.counts)
		}
	})
}

// A named slot loses nothing and doubles nothing over a server that is stopped, crashes, and readers that end at any moment.
func TestRestarts(t *testing.T) {
	for _, major := range []int{12, 17} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, major, map[string]string{"fsync": "off", "synchronous_commit": "on", "autovacuum": "off"}, "create table t (id int primary key)")
			l.cfg.Slot = "lasting"
			l.read()
			n := 0
			write := func(rows int) {
				for range rows {
					n++
					l.exec(fmt.Sprintf("insert into t values (%d)", n))
				}
			}
			for i, end := range []pgserver.End{pgserver.Fast, pgserver.Immediate, pgserver.Fast} {
				write(30)
				began := time.Now()
				if err := l.srv.Down(end); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("the server took %s to end: it waits for the reader", took)
				}
				if err := l.srv.Restart(l.Context()); err != nil {
					t.Fatal(err)
				}
				l.conn = l.connect("postgres")
				write(20)
				if i == 1 { // a reader that is given no time: what it was given is forgotten, its position too
					l.until("it reads again", func() bool { return l.up })
					l.end()
					l.read()
				}
			}
			l.until("it reads again", func() bool { return l.up })
			events := l.end()
			sound(t, events)
			if got := rows(events); got["public.t insert"] != int64(n) {
				t.Errorf("%v, %d were written", got, n)
			}
			if l.counts.Notes[pgwal.NoteGap] != 0 {
				t.Errorf("%+v", l.counts)
			}
		})
	}
}

// A temporary slot is gone with its session; what was written meanwhile is one gap.
func TestTemporaryGap(t *testing.T) {
	l := newLab(t, 18, nil, "create table t (id int primary key)")
	l.read()
	l.exec("insert into t values (1)")
	l.end()
	l.until("the slot is gone", func() bool { n, _ := l.slot(); return n == 0 })
	l.exec("insert into t values (2)")
	l.read()
	l.exec("insert into t values (3)")
	if got := rows(l.end()); got["public.t insert"] != 2 {
		t.Errorf("%v", got)
	}
	if l.counts.Notes[pgwal.NoteGap] != 1 || l.counts.Notes[pgwal.NoteGapBytes] <= 0 {
		t.Errorf("%+v", l.counts)
	}
}

// A replica that is promoted has another history: the position is taken back to where it begins, and that is said.
func TestFailover(t *testing.T) {
	l := newLab(t, 17, nil, "create table t (id int primary key)")
	l.cfg.Slot = "lasting"
	l.read()
	l.exec("insert into t values (1)")
	standby, err := l.srv.Standby(l.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Down(pgserver.Immediate) }) //nolint:errcheck // the test is over
	l.end()
	if err := l.srv.Down(pgserver.Fast); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(l.Context()); err != nil {
		t.Fatal(err)
	}
	l.srv, l.cfg.DSN = standby, standby.DSN("postgres")
	l.conn = l.connect("postgres")
	l.read()
	l.exec("insert into t values (2)")
	if got := rows(l.end()); got["public.t insert"] != 2 {
		t.Errorf("%v", got)
	}
	if l.counts.Notes[pgwal.NoteFailover] != 1 || l.at.Timeline != 2 {
		t.Errorf("%+v at %+v", l.counts, l.at)
	}
}

// A server that is not set up is refused with what to do; nothing on it is changed.
func TestSetup(t *testing.T) {
	open := func(l *lab) error {
		l.cfg.Strict = true
		r, err := pgwal.Open(l.cfg, pgwal.Position{})
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(l.Context(), patience)
		defer cancel()
		return r.Run(ctx, nil, func([]capture.Event) error { return nil })
	}
	refused := func(t *testing.T, err error, words ...string) {
		t.Helper()
		if !errors.Is(err, pgwal.ErrSetup) {
			t.Fatalf("%v", err)
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v: it does not say %q", err, w)
			}
		}
	}
	t.Run("wal_level", func(t *testing.T) {
		t.Parallel()
		refused(t, open(newLab(t, 17, map[string]string{"wal_level": "replica"}, "")), "ALTER SYSTEM SET wal_level")
	})
	t.Run("rest", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, 17, nil, `create table keyed (id int primary key); create table nokey (id int); create table late (id int primary key deferrable);
			create role plain login; create publication filtered for table keyed where (id > 1)`)
		l.cfg.Create = false
		refused(t, open(l), `CREATE PUBLICATION "foreshard" FOR TABLE "public"."keyed" WITH (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);`,
			`CREATE PUBLICATION "foreshard_inserts" FOR TABLE "public"."late", "public"."nokey" WITH (publish = 'insert, truncate', publish_via_partition_root = true);`)
		l.cfg.Tables = []string{"nowhere"}
		refused(t, open(l), "nowhere")
		l.cfg.Tables, l.cfg.Keys = nil, []string{"keyed.nothing"}
		refused(t, open(l), "keyed.nothing")
		l.cfg.Keys, l.cfg.Publication = nil, "filtered"
		refused(t, open(l), "row filter")
		l.cfg.DSN = strings.Replace(l.cfg.DSN, "postgres@", "plain@", 1)
		refused(t, open(l), "ALTER ROLE", "REPLICATION")
		l.cfg.DSN = l.srv.DSN("postgres")
		l.exec("alter system set synchronous_standby_names = 'first 1 (one, *)'", "select pg_reload_conf()")
		time.Sleep(200 * time.Millisecond)
		refused(t, open(l), "commits would wait")
		if n, _ := l.slot(); n != 0 {
			t.Errorf("%d slots", n)
		}
	})
}

// The publications do not break tables: neither those without replica identity, nor one that loses it, and dropping takes away what was made.
func TestPublications(t *testing.T) {
	l := newLab(t, 17, nil, `create table keyed (id int primary key, v int); create table nokey (id int); create table none (id int primary key); alter table none replica identity nothing;
		create table part (id int, d int) partition by range (d); create table part_1 partition of part for values from (0) to (10); alter table part_1 replica identity full`)
	l.read()
	update := []string{"update keyed set v = 1", "update nokey set id = 1", "update none set id = 1", "update part set id = 1", "delete from none"}
	l.exec("insert into keyed values (1)", "insert into nokey values (1)", "insert into none values (1)", "insert into part values (1, 1)")
	l.exec(update...)
	l.exec("create table part_2 partition of part for values from (10) to (20)", "insert into part values (1, 11)", "update part set id = 2 where d = 11")
	events := l.end()
	if got := rows(events); got["public.keyed insert"] != 1 || got["public.nokey insert"] != 1 || got["public.part insert"] != 2 || got["public.keyed update"] != 1 || got["public.none update"] != 0 {
		t.Errorf("%v", got)
	}
	l.exec("alter table keyed drop constraint keyed_pkey", "create table fresh (id int primary key)")
	l.read() // brings the publications up to date
	l.exec(update...)
	l.exec("insert into fresh values (1)", "update fresh set id = 2")
	if got := rows(l.end()); got["public.fresh update"] != 1 {
		t.Errorf("%v", got)
	}
	did, err := pgwal.Drop(t.Context(), l.cfg)
	if err != nil || len(did) != 2 {
		t.Fatal(did, err)
	}
	var left int
	if err := l.conn.QueryRow(t.Context(), "select count(*) from pg_publication").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d publications are left, %v", left, err)
	}
	if _, err := l.conn.Exec(t.Context(), "create publication foreshard for table fresh"); err != nil {
		t.Fatal(err)
	}
	if _, err := pgwal.Drop(t.Context(), l.cfg); err != nil {
		t.Fatal(err)
	}
	if err := l.conn.QueryRow(t.Context(), "select count(*) from pg_publication").Scan(&left); err != nil || left != 1 {
		t.Errorf("a publication of somebody else was dropped: %d are left, %v", left, err)
	}
}
