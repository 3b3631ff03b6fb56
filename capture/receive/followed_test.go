package receive_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/receive"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/capture/tail"
)

// machine is a host with a directory, on which an agent receives and sends to a topic.
type machine struct {
	t     *testing.T
	dir   string
	topic *stream.Memory
	logs  pglog.Config
	max   int           // bytes of a message
	idle  time.Duration // after which the end of a log is whole
}

func newMachine(t *testing.T, logs pglog.Config) *machine {
	return &machine{t: t, dir: t.TempDir(), topic: stream.NewMemory("t", 1), logs: logs, max: 200, idle: time.Hour}
}

// run starts an agent, does what is to be done while it follows the store, and ends it as a signal does.
func (m *machine) run(while func(ctx context.Context, s *receive.Store) error) {
	m.t.Helper()
	agent, err := stream.OpenAgent(stream.AgentConfig{Name: "a", Dir: filepath.Join(m.dir, "agent"), BatchTime: time.Millisecond}, m.topic)
	if err != nil {
		m.t.Fatal(err)
	}
	store, err := receive.Open(filepath.Join(m.dir, "received"), receive.Options{Now: time.Now, Segment: 64 << 10, MaxMessage: m.max})
	if err != nil {
		m.t.Fatal(err)
	}
	stop, followed := make(chan struct{}), make(chan error, 1)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	go func() {
		followed <- stream.FollowLogs(context.Background(), agent, stream.FollowConfig{Logs: m.logs, Tick: tick.C, Stop: stop,
			Received: func() map[string]stream.Drop {
				out := map[string]stream.Drop{}
				for reason, d := range store.Dropped() {
					out[reason] = stream.Drop(d)
				}
				return out
			},
			Files: tail.Options{Idle: m.idle, Now: time.Now, Contents: func() (out []tail.Content) {
				for _, l := range store.Logs() {
					out = append(out, l)
				}
				return out
			}}})
	}()
	if err := while(context.Background(), store); err != nil {
		m.t.Fatal(err)
	}
	close(stop)
	for _, f := range []func() error{func() error { return <-followed }, func() error { return agent.Drain(context.Background()) }, agent.Close, store.Close} {
		if err := f(); err != nil {
			m.t.Fatal(err)
		}
	}
}

// pipe receives a text from a pipe of its own; the pipe breaks after it, or ends.
func (m *machine) pipe(text string, breaks bool) {
	m.t.Helper()
	m.run(func(ctx context.Context, s *receive.Store) error {
		rd, wr, err := os.Pipe()
		if err != nil {
			return err
		}
		defer rd.Close()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		begun, done := make(chan *receive.Log, 1), make(chan error, 1)
		go func() { done <- s.Copy(ctx, rd, func(l *receive.Log) { begun <- l }) }()
		l := <-begun
		if _, err := wr.WriteString(text); err != nil {
			return err
		}
		if breaks {
			if _, err := l.Wait(ctx, int64(len(text))); err != nil {
				return err
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				return err
			}
			return wr.Close()
		}
		return errors.Join(wr.Close(), <-done)
	})
}

// arrived is what the topic holds: executions, and the ledger that the agent reported.
func (m *machine) arrived() (executions int64, ledger stream.Ledger) {
	m.t.Helper()
	d, err := stream.NewDecoder()
	if err != nil {
		m.t.Fatal(err)
	}
	defer d.Close()
	ends, err := m.topic.Ends(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	if err := m.topic.Read(context.Background(), 0, 0, ends[0], func(run []stream.Message) error {
		for _, msg := range run {
			b, err := d.Decode(msg.Value)
			if err != nil {
				return err
			}
			for i := range b.Events {
				if b.Events[i].Kind == capture.Execution {
					executions++
				}
			}
			if b.Report != nil {
				ledger.Add(b.Report.Ledger, 1)
			}
		}
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	return executions, ledger
}

// want demands executions, and what was dropped, by reason; every byte is in the ledger.
func (m *machine) want(executions, bytes int64, dropped map[string]stream.Drop) {
	m.t.Helper()
	n, l := m.arrived()
	if n != executions || l.Bytes != bytes || len(l.Dropped) != len(dropped) {
		m.t.Errorf("%d executions, %d bytes, dropped %v; want %d, %d, %v", n, l.Bytes, l.Dropped, executions, bytes, dropped)
	}
	for reason, d := range dropped {
		if l.Dropped[reason] != d.Count || l.DroppedBytes[reason] != d.Bytes {
			m.t.Errorf("%s: %d of %d bytes, want %v", reason, l.Dropped[reason], l.DroppedBytes[reason], d)
		}
	}
}

// lines are the records of a stderr log from one number to another, of which the last has two lines.
func lines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "2026-01-02 10:00:%02d.%03d UTC [71] LOG:  duration: 1.000 ms  statement: select %d\n\tfrom t\n", i/1000, i%1000, i)
	}
	return b.String()
}

func TestPipesAreFollowed(t *testing.T) {
	stderr := pglog.Config{Prefix: "%m [%p] ", Format: pglog.Stderr}
	for _, c := range []struct {
		name       string
		texts      []string // of a pipe each; one that ends in "|" breaks there
		executions int64
		bytes      int
		cut        int64 // bytes, of one record each
		cuts       int64
	}{
		{"one", []string{lines(0, 3)}, 3, len(lines(0, 3)), 0, 0},
		{"without a newline at the end", []string{strings.TrimSuffix(lines(0, 3), "\n")}, 3, len(lines(0, 3)), 0, 0},
		{"two that end", []string{lines(0, 3), lines(3, 7)}, 7, len(lines(0, 7)), 0, 0},
		{"the same again", []string{lines(0, 3), lines(0, 3), lines(0, 3)}, 3, len(lines(0, 3)), 0, 0},
		{"again and more", []string{lines(0, 3), lines(0, 5), lines(0, 4), lines(0, 9)}, 9, len(lines(0, 9)), 0, 0},
		{"again after it broke", []string{lines(0, 300)[:5000] + "|", lines(0, 300)[:900] + "|", lines(0, 300)}, 300, len(lines(0, 300)), 0, 0},
		// Nobody knows whether the record at the end of a pipe that broke had a third line.
		{"another after it broke", []string{lines(0, 3) + "|", lines(3, 7)}, 6, len(lines(0, 7)), int64(len(lines(2, 3))), 1},
		{"broken in a line", []string{lines(0, 3)[:150] + "|", lines(3, 7)[:150] + "|", lines(7, 9)}, 4, 300 + len(lines(7, 9)), 2 * (150 - int64(len(lines(0, 1)))), 2},
		{"a banner that is always the same", []string{"listening\n" + lines(0, 3), "listening\n" + lines(3, 5), "listening\n" + lines(0, 3) + lines(5, 6)}, 6, -1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, stderr)
			for _, text := range c.texts {
				whole, breaks := strings.CutSuffix(text, "|")
				m.pipe(whole, breaks)
			}
			m.pipe("", false) // what is done with is done with at the latest at the next start
			defer func() {
				m.pipe(lines(900, 901), false)
				m.run(func(_ context.Context, s *receive.Store) error {
					for range 500 {
						if len(s.Logs()) == 1 {
							return nil
						}
						time.Sleep(5 * time.Millisecond)
					}
					return fmt.Errorf("%d logs are left", len(s.Logs()))
				})
			}()
			dropped := map[string]stream.Drop{}
			if c.cuts > 0 {
				dropped[receive.DropCut] = stream.Drop{Count: c.cuts, Bytes: c.cut}
			}
			if c.bytes < 0 {
				if n, _ := m.arrived(); n != c.executions {
					t.Errorf("%d executions, want %d", n, c.executions)
				}
				return
			}
			m.want(c.executions, int64(c.bytes), dropped)
		})
	}
}

// What was not received counts once, however often the agent starts again.
func TestReceiverCountsAreReportedOnce(t *testing.T) {
	m := newMachine(t, pglog.Config{Prefix: "%m [%p] ", Format: pglog.Syslog, Escaped: true, Now: time.Now})
	long := strings.Repeat("x", 300)
	bytes := int64(0)
	for i := range 4 {
		m.run(func(ctx context.Context, s *receive.Store) error {
			y, err := s.Listen([]string{"tcp://127.0.0.1:0"})
			if err != nil {
				return err
			}
			c, err := net.Dial("tcp", strings.TrimPrefix(y.Addresses()[0], "tcp://"))
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- y.Run(ctx) }()
			if i < 3 { // the last start receives nothing
				text := fmt.Sprintf("<134>Jan  2 10:00:0%d db1 postgres[71]: [%d-1] 2026-01-02 10:00:0%d.000 UTC [71] LOG:  duration: 1.000 ms  statement: select %d", i, i+1, i, i)
				bytes += int64(len(text)) + 1
				if _, err := fmt.Fprintf(c, "%s\n%s\n", text, long); err != nil {
					return err
				}
			}
			if err := c.Close(); err != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
			cancel()
			return <-done
		})
	}
	_, l := m.arrived()
	if l.Dropped[receive.DropOversize] != 3 || l.DroppedBytes[receive.DropOversize] != 3*301 || len(l.Dropped) != 1 {
		t.Errorf("dropped %v, %v", l.Dropped, l.DroppedBytes)
	}
}
