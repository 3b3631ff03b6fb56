package pgwal_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pgwal"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// majors are the servers that the tests run against: the oldest, the first that streams, and the last two.
var majors = []int{12, 14, 17, 18}

// settings make a server that can be read, and that streams transactions of more than 64 kB.
func settings(major int) map[string]string {
	out := map[string]string{"wal_level": "logical", "max_replication_slots": "10", "max_wal_senders": "10"}
	if major >= 13 {
		out["logical_decoding_work_mem"] = "64kB"
	}
	return out
}

// lab is a server, a session on it, and a reader of its WAL.
type lab struct {
	*testing.T
	srv  *pgserver.Server
	conn *pgx.Conn
	cfg  pgwal.Config

	mu       sync.Mutex
	events   []capture.Event
	problems []string
	at       pgwal.Position // kept with events
	counts   pgwal.Counts
	stop     chan struct{}
	done     chan error
	held     bool // nothing is made durable
	up       bool // WAL is being read
}

func newLab(t *testing.T, major int, more map[string]string, ddl string) *lab {
	t.Helper()
	set := settings(major)
	maps.Copy(set, more)
	l := &lab{T: t, srv: pgserver.New(t, pgserver.Options{Major: major, Settings: set})}
	l.cfg = pgwal.Config{DSN: l.srv.DSN("postgres"), HashKey: [16]byte{1, 2, 3}, Dir: t.TempDir(), Create: true, Poll: 200 * time.Millisecond, Tick: 20 * time.Millisecond, Pause: 50 * time.Millisecond,
		Problem: func(err error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.problems = append(l.problems, err.Error())
			t.Log("problem:", err)
		}}
	l.cfg.Reading = func(on bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.up = on
	}
	l.conn = l.connect("postgres")
	l.exec(ddl)
	return l
}

func (l *lab) connect(database string) *pgx.Conn {
	l.Helper()
	conn, err := pgx.Connect(context.Background(), l.srv.DSN(database))
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server may be gone
	return conn
}

// exec runs each statement by itself, so that each is a transaction of its own.
func (l *lab) exec(statements ...string) {
	l.Helper()
	for _, sql := range statements {
		if _, err := l.conn.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			l.Fatalf("%s: %v", sql, err)
		}
	}
}

// read starts a reader at where the one before left off, and waits until it reads.
func (l *lab) read() {
	l.Helper()
	l.stop, l.done = make(chan struct{}), make(chan error, 1)
	r, err := pgwal.Open(l.cfg, l.at)
	if err != nil {
		l.Fatal(err)
	}
	reading := make(chan struct{}, 1)
	stop := l.stop
	go func() {
		err := r.Run(l.Context(), stop, func(events []capture.Event) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.events = append(l.events, events...)
			if len(events) == 0 && !l.held {
				l.at = r.Position()
				l.counts = r.Counts()
				if l.at.System != "" {
					r.Durable(l.at)
					select {
					case reading <- struct{}{}:
					default:
					}
				}
			}
			return nil
		})
		l.mu.Lock()
		defer l.mu.Unlock()
		l.at, l.counts = r.Position(), r.Counts()
		l.done <- err
	}()
	select {
	case <-reading:
	case err := <-l.done:
		l.Fatalf("the reader ended: %v", err)
	case <-time.After(patience):
		l.Fatal("the reader does not read")
	}
}

// end stops the reader when it has read what was written.
func (l *lab) end() []capture.Event {
	l.Helper()
	close(l.stop)
	select {
	case err := <-l.done:
		if err != nil {
			l.Fatal(err)
		}
	case <-time.After(patience):
		l.Fatal("the reader does not end")
	}
	return l.events
}

// until waits for something.
func (l *lab) until(what string, fn func() bool) {
	l.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		l.mu.Lock()
		ok := fn()
		l.mu.Unlock()
		if ok {
			return
		}
	}
	l.Fatalf("waited in vain until %s", what)
}

// said says whether a problem with a word in it was told.
func (l *lab) said(word string) bool {
	return slices.ContainsFunc(l.problems, func(p string) bool { return strings.Contains(p, word) })
}

// rows sums up events: rows by table and operation.
func rows(events []capture.Event) map[string]int64 {
	out := map[string]int64{}
	for i := range events {
		for _, t := range events[i].Written.Tables {
			if t.Rows > 0 {
				out[t.Table+" "+t.Op.String()] += t.Rows
			}
		}
	}
	return out
}

// shapes are the transactions in a readable form, one line each. Values are numbered in the order in which they were met, over all events.
func shapes(events []capture.Event) string {
	var b strings.Builder
	values := map[[2]uint64]int{}
	for i := range events {
		w := events[i].Written
		if w.Part > 0 {
			continue
		}
		var parts []string
		for _, t := range w.Tables {
			s := fmt.Sprintf("%s %s %d", t.Op, t.Table, t.Rows)
			for _, c := range t.Columns {
				s += " " + c.Column
				switch {
				case c.One:
					k := [2]uint64{uint64(c.Class), c.Eq}
					if values[k] == 0 {
						values[k] = len(values) + 1
					}
					s += fmt.Sprintf("=v%d", values[k])
				case len(c.Slots) > 0:
					s += "=many"
				}
				for _, n := range []struct {
					name string
					n    int64
				}{{"null", c.Null}, {"unknown", c.Unknown}, {"moved", c.Moved}, {"blind", c.Blind}} {
					if n.n > 0 {
						s += fmt.Sprintf(",%s:%d", n.name, n.n)
					}
				}
			}
			parts = append(parts, s)
		}
		fmt.Fprintln(&b, strings.Join(parts, "; "))
	}
	return b.String()
}

// sound checks what every event must hold: rows of a column are its slots', NULL and unknown ones; events are in order.
func sound(t *testing.T, events []capture.Event) {
	t.Helper()
	type column struct {
		lsn    uint64
		table  string
		op     capture.WriteOp
		column string
	}
	want, got := map[column]int64{}, map[column]int64{}
	last := uint64(0)
	for i := range events {
		e := &events[i]
		if e.Kind != capture.Write || e.Session != "wal" || e.Time.IsZero() || e.Database == "" {
			t.Errorf("event %d: %+v", i, e)
		}
		if e.Written.Part == 0 && e.TxnID <= last || e.Written.Part > 0 && e.TxnID != last {
			t.Errorf("event %d of transaction %d, part %d, follows transaction %d", i, e.TxnID, e.Written.Part, last)
		}
		last = e.TxnID
		for _, w := range e.Written.Tables {
			for _, c := range w.Columns {
				k := column{e.TxnID, w.Table, w.Op, c.Column}
				if e.Written.Part == 0 {
					want[k] = w.Rows - c.Null - c.Unknown
				}
				for _, s := range c.Slots {
					got[k] += s.Rows
				}
			}
		}
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%+v: %d rows in hash slots, want %d", k, got[k], n)
		}
	}
}

// Every way to write a row, as each server tells it.
func TestShapes(t *testing.T) {
	for _, major := range majors {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, major, nil, `
				create domain org_id as bigint;
				create table orgs (org_id org_id primary key, name text);
				create table files (org_id bigint references orgs, file_id int, body text, primary key (org_id, file_id));
				create table notes (id uuid primary key, org_id bigint, t text);
				create index on notes (org_id);
				create table whole (a int, b text, c text); alter table whole replica identity full; create index on whole (a); create index on whole using hash (b);
				create table nokey (a bigint references orgs, b text);
				create table part (org_id bigint, day int, primary key (org_id, day)) partition by range (day);
				create table part_1 partition of part for values from (0) to (10);
				create table part_2 partition of part for values from (10) to (20);
				create table bits (b bit(3) primary key, c char(3), v varchar(20) unique);
				alter table files alter body set storage external; alter table whole alter b set storage external;`)
			l.read()
			l.exec("insert into orgs values (1, 'a'), (2, 'b')",
				"insert into orgs values (3, null)",
				"begin; insert into files values (1, 1, 'x'), (1, 2, repeat('y', 9000)); update orgs set name = 'c' where org_id = 1; commit",
				"update files set body = body where file_id = 1",
				"update files set file_id = 3 where file_id = 2",
				"update files set org_id = 2 where file_id = 3",
				"delete from files",
				"insert into notes values ('00000000-0000-0000-0000-000000000001', 1, 'n'), ('00000000-0000-0000-0000-000000000002', null, 'n')",
				"update notes set org_id = 2 where org_id = 1",
				"delete from notes",
				"insert into whole values (1, repeat('k', 9000), 'c')",
				"update whole set c = 'd'",
				"update whole set a = 2",
				"delete from whole",
				"insert into nokey values (1, 'x'), (2, 'y')",
				"update nokey set b = 'z'",
				"delete from nokey",
				"insert into part values (1, 1), (1, 11)",
				"update part set day = 12 where day = 1", // to another partition
				"truncate part",
				"insert into bits values ('101', 'c', 'v')",
				"begin; insert into orgs values (4); savepoint a; insert into orgs values (5); rollback to a; insert into orgs values (6); commit",
				"begin; insert into orgs values (7); rollback",
				"begin; alter table orgs add more int; insert into orgs values (8, 'e', 1); alter table orgs drop name; update orgs set more = 2 where org_id = 8; commit",
				"create table late (id int primary key)",
				"truncate nokey, whole")
			events := l.end()
			sound(t, events)
			want := `insert public.orgs 2 org_id=many
insert public.orgs 1 org_id=v1
insert public.files 2 file_id=many org_id=v2; update public.orgs 1 org_id=v2
update public.files 1 file_id=v2 org_id=v2
update public.files 1 file_id=many,moved:1 org_id=v2
update public.files 1 file_id=v1 org_id=many,moved:1
delete public.files 2 file_id=many org_id=many
insert public.notes 2 id=many org_id=v2,null:1
update public.notes 1 id=v3 org_id=v4,blind:1
delete public.notes 2 id=many org_id,unknown:2
insert public.whole 1 a=v2 b=v5
update public.whole 1 a=v2 b=v5
update public.whole 1 a=many,moved:1 b=v5
delete public.whole 1 a=v4 b=v5
insert public.nokey 2 a=many
insert public.part 2 day=many org_id=v2
insert public.part 1 day=v6 org_id=v2; delete public.part 1 day=v2 org_id=v2
truncate public.part 1
insert public.bits 1 v=v7
insert public.orgs 2 org_id=many
insert public.orgs 1 org_id=v8; update public.orgs 1 org_id=v8
truncate public.nokey 1; truncate public.whole 1
`
			if major == 12 { // its partitions are tables, and each says so itself
				want = strings.Replace(want, "truncate public.part 1\n", "truncate public.part 2\n", 1)
			}
			if got := shapes(events); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if c := l.counts; c.Notes[pgwal.NoteGap] != 0 || len(c.Dropped) != 0 || c.Bytes == 0 {
				t.Errorf("%+v", c)
			}
			sum := int64(0)
			for _, n := range l.counts.Buckets {
				sum += n
			}
			if sum != l.counts.Records {
				t.Errorf("%d records, %d in buckets", l.counts.Records, sum)
			}
		})
	}
}
