package pgwal_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/layout"
)

// truth is what a client knows of a transaction that it committed: rows by table, operation, column and hash slot.
type truth map[string]int64

func (t truth) add(op capture.WriteOp, table string, keys map[string]int64) {
	t[fmt.Sprintf("%s %s rows", op, table)]++
	for column, v := range keys {
		t[fmt.Sprintf("%s %s.%s slot %d", op, table, column, layout.Slot(layout.HashInt8(v)))]++
	}
}

func (t truth) String() string {
	var lines []string
	for k, n := range t {
		lines = append(lines, fmt.Sprintf("%s: %d", k, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// told is the same of events: all parts of a transaction together.
func told(events []capture.Event) []string {
	var out []string
	var t truth
	flush := func() {
		if t != nil {
			out = append(out, t.String())
		}
	}
	for i := range events {
		if events[i].Written.Part == 0 {
			flush()
			t = truth{}
		}
		for _, w := range events[i].Written.Tables {
			name := strings.TrimPrefix(w.Table, "public.")
			if w.Rows > 0 {
				t[fmt.Sprintf("%s %s rows", w.Op, name)] += w.Rows
			}
			for _, c := range w.Columns {
				for _, s := range c.Slots {
					t[fmt.Sprintf("%s %s.%s slot %d", w.Op, name, c.Column, s.Slot)] += s.Rows
				}
			}
		}
	}
	flush()
	slices.Sort(out)
	return out
}

const truthSchema = `create table a (org bigint, id bigint, t text, primary key (org, id)); create table b (id bigint primary key, org bigint, t text); alter table b replica identity full; create index on b (org);`

// writer runs transactions at random, with savepoints that are rolled back, and remembers those that it committed.
type writer struct {
	conn *pgx.Conn
	rng  *rand.Rand
	base int64 // of its own ids
	next int64
	a, b [][2]int64 // org, id
}

// transaction runs one of about n statements.
func (w *writer) transaction(ctx context.Context, n int) (truth, error) {
	tx, err := w.conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	before := [2][][2]int64{slices.Clone(w.a), slices.Clone(w.b)}
	t := truth{}
	for range n {
		if w.rng.IntN(6) == 0 { // a savepoint, rolled back or kept
			sub, err := tx.Begin(ctx)
			if err != nil {
				return nil, err
			}
			inner, at := truth{}, [2][][2]int64{slices.Clone(w.a), slices.Clone(w.b)}
			for range w.rng.IntN(5) {
				if err := w.statement(ctx, sub, inner); err != nil {
					return nil, err
				}
			}
			if w.rng.IntN(2) == 0 {
				w.a, w.b = at[0], at[1]
				if err := sub.Rollback(ctx); err != nil {
					return nil, err
				}
				continue
			}
			if err := sub.Commit(ctx); err != nil {
				return nil, err
			}
			for k, n := range inner {
				t[k] += n
			}
			continue
		}
		if err := w.statement(ctx, tx, t); err != nil {
			return nil, err
		}
	}
	if w.rng.IntN(5) == 0 {
		w.a, w.b = before[0], before[1]
		return nil, tx.Rollback(ctx)
	}
	return t, tx.Commit(ctx)
}

func (w *writer) statement(ctx context.Context, tx pgx.Tx, t truth) error {
	text := strings.Repeat("x", w.rng.IntN(300))
	table, rows := "a", &w.a
	if w.rng.IntN(2) == 0 {
		table, rows = "b", &w.b
	}
	op := w.rng.IntN(5)
	if op < 2 || len(*rows) == 0 {
		w.next++
		row := [2]int64{w.rng.Int64N(20), w.base + w.next}
		*rows = append(*rows, row)
		t.add(capture.Insert, table, map[string]int64{"org": row[0], "id": row[1]})
		_, err := tx.Exec(ctx, "insert into "+table+" (org, id, t) values ($1, $2, $3)", row[0], row[1], text)
		return err
	}
	i := w.rng.IntN(len(*rows))
	row := (*rows)[i]
	switch op {
	case 2:
		t.add(capture.Update, table, map[string]int64{"org": row[0], "id": row[1]})
		_, err := tx.Exec(ctx, "update "+table+" set t = $3 where org = $1 and id = $2", row[0], row[1], text)
		return err
	case 3: // the key moves
		to := w.rng.Int64N(20)
		(*rows)[i][0] = to
		t.add(capture.Update, table, map[string]int64{"org": to, "id": row[1]})
		_, err := tx.Exec(ctx, "update "+table+" set org = $3 where org = $1 and id = $2", row[0], row[1], to)
		return err
	}
	*rows = slices.Delete(*rows, i, i+1)
	t.add(capture.Delete, table, map[string]int64{"org": row[0], "id": row[1]})
	_, err := tx.Exec(ctx, "delete from "+table+" where org = $1 and id = $2", row[0], row[1])
	return err
}

// clients run transactions side by side; the result is what they committed.
func (l *lab) clients(clients, transactions int, size func(*rand.Rand) int) []string {
	l.Helper()
	var mu sync.Mutex
	var all []string
	var wg sync.WaitGroup
	for c := range clients {
		w := &writer{conn: l.connect("postgres"), rng: rand.New(rand.NewPCG(uint64(c), 7)), base: int64(c+1) * 1_000_000}
		wg.Go(func() {
			for range transactions {
				t, err := w.transaction(l.Context(), size(w.rng))
				if err != nil {
					l.Error(err)
					return
				}
				if len(t) > 0 {
					mu.Lock()
					all = append(all, t.String())
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(all)
	return all
}

func (l *lab) compare(got, want []string) {
	l.Helper()
	if !slices.Equal(got, want) {
		l.Errorf("%d transactions, want %d", len(got), len(want))
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				l.Errorf("got\n%s\nwant\n%s", got[i], want[i])
				return
			}
		}
	}
	if len(want) < 10 {
		l.Errorf("only %d transactions: the test sees too little", len(want))
	}
}

// What clients committed side by side is told transaction by transaction: small ones, and large ones that servers from 14 on stream while they are
// open, whose counts do not fit into memory here.
func TestTruth(t *testing.T) {
	for _, major := range majors {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, major, nil, truthSchema)
			l.cfg.MaxMemory = 40_000
			l.read()
			want := l.clients(3, 25, func(r *rand.Rand) int {
				if r.IntN(8) == 0 {
					return 400
				}
				return 1 + r.IntN(6)
			})
			events := l.end()
			sound(t, events)
			l.compare(told(events), want)
			if n := l.counts.Buckets["wal_stream"]; (n > 0) != (major >= 14) {
				t.Errorf("%d chunks of streams", n)
			}
		})
	}
}

// A transaction of very many subtransactions, half of them rolled back, is one event or several, all of it told.
func TestSubtransactions(t *testing.T) {
	for _, major := range []int{14, 18} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, major, nil, truthSchema)
			l.cfg.MaxMemory = 100_000
			l.read()
			l.exec(`do $$ begin
				for i in 1..3000 loop
					begin
						insert into a values (i % 7, i, repeat('x', 100));
						if i % 2 = 0 then raise exception 'no'; end if;
					exception when raise_exception then null;
					end;
				end loop; end $$`, "insert into b select i, i % 5, 'y' from generate_series(1, 90000) i")
			events := l.end()
			sound(t, events)
			got := rows(events)
			if got["public.a insert"] != 1500 || got["public.b insert"] != 90000 {
				t.Errorf("%v", got)
			}
			if len(events) < 3 || events[len(events)-1].Written.Part == 0 {
				t.Errorf("%d events: the second transaction has more hash slots than fit into one", len(events))
			}
			if len(l.counts.Dropped) > 0 || len(l.counts.Notes) > 0 {
				t.Errorf("%+v", l.counts)
			}
		})
	}
}

// What fits neither into memory nor on disk is counted, and unknown.
func TestFullDisk(t *testing.T) {
	l := newLab(t, 17, nil, truthSchema)
	l.cfg.MaxMemory, l.cfg.MaxSpill = 20_000, 50_000
	l.read()
	l.exec("insert into b select i, i % 5, repeat('y', 50) from generate_series(1, 20000) i", "insert into a values (1, 1)")
	events := l.end()
	sound(t, events)
	got, lost := rows(events), l.counts.Dropped["wal_spill_full"]
	if lost == 0 || got[" unknown"] != lost || got["public.b insert"]+lost != 20000 || got["public.a insert"] != 1 {
		t.Errorf("%v, lost %d", got, lost)
	}
}
