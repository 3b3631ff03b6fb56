package stream

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pgwal"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

// refusing is a topic that stores nothing while it is away.
type refusing struct {
	*Memory
	mu   sync.Mutex
	away bool
}

func (r *refusing) Send(ctx context.Context, records []Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return context.DeadlineExceeded
	}
	return r.Memory.Send(ctx, records)
}

func (r *refusing) set(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
}

// What was written gets to the topic once, over agents that end and begin, and a topic that is away.
func TestFollowWAL(t *testing.T) {
	srv := pgserver.New(t, pgserver.Options{Major: 17, Settings: map[string]string{"wal_level": "logical"}})
	conn, err := pgx.Connect(t.Context(), srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("create table t (id int primary key)")
	topic, dir, id := &refusing{Memory: NewMemory("t", 3)}, t.TempDir(), 0
	write := func(n int) {
		for range n {
			id++
			exec(fmt.Sprintf("insert into t values (%d)", id))
		}
	}
	follow := func(during func()) {
		t.Helper()
		a, err := OpenAgent(AgentConfig{Name: "a/wal", Dir: dir, BatchTime: 10 * time.Millisecond, Pause: time.Millisecond}, topic)
		if err != nil {
			t.Fatal(err)
		}
		stop, reading := make(chan struct{}), make(chan bool, 10)
		go func() {
			<-reading
			during()
			close(stop)
		}()
		cfg := pgwal.Config{DSN: srv.DSN("postgres"), Dir: filepath.Join(dir, "open"), Create: true, Slot: "lasting", Tick: 10 * time.Millisecond, Reading: func(on bool) { reading <- on },
			Problem: func(err error) { t.Error(err) }}
		if err := FollowWAL(t.Context(), a, cfg, stop); err != nil {
			t.Fatal(err)
		}
		topic.set(false)
		if err := a.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	follow(func() { write(50) })
	write(20)
	follow(func() {
		write(50)
		topic.set(true)
		write(50)
	})
	follow(func() {})
	d, err := NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, records := int64(0), int64(0)
	var at Position
	for _, part := range topic.parts {
		for _, value := range part {
			b, err := d.Decode(value)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range b.Events {
				if e.Kind != capture.Write || e.Written.LSN != e.TxnID || e.Database != "postgres" {
					t.Errorf("%+v", e)
				}
				rows += e.Written.Tables[0].Rows
			}
			if b.Report != nil {
				records += b.Report.Ledger.Buckets["wal_insert"]
				if n := b.Report.Ledger.Notes; len(n) > 0 {
					t.Errorf("notes %v", n)
				}
				for _, p := range b.Report.Positions {
					if p.Offset <= at.Offset {
						t.Errorf("position %+v after %+v", p, at)
					}
					at = p
				}
			}
		}
	}
	if rows != int64(id) || records < rows || id != 170 {
		t.Errorf("%d rows in events, %d in ledgers, %d were written", rows, records, id)
	}
}
