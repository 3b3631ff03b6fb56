package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/foreshard/foreshard/fixtures/kafka"
)

// logLines are executions as a stderr log has them.
func logLines(first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "2026-01-02 10:00:00.%03d UTC [71] LOG:  duration: 1.000 ms  statement: select * from accounts where org_id = 918273645 and note = 'c4n4ry%d'\n", (first+i)%1000, first+i)
	}
	return b.String()
}

func appendFile(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// capture and plan answer for themselves while brokers are there, away and back, and end when they are asked to, with nothing lost and nothing
// of a statement's values in what they say.
func TestCaptureAndPlanInOperation(t *testing.T) {
	var way gate
	cluster := kafka.New(t, kafka.Options{Front: way.front})
	t.Cleanup(way.shut)
	dir := t.TempDir()
	log, traffic := filepath.Join(dir, "postgresql.log"), filepath.Join(dir, "traffic")
	broker := strings.Join(cluster.Brokers(), ",")
	captureAt, planAt := freeAddress(t), freeAddress(t)
	capture := newProcess(t, dir, "capture", "--brokers", broker, "--create-topic", "--partitions", "2", "--state", filepath.Join(dir, "state"), "--name", "a",
		"--follow", "--log", log, "--log-line-prefix", "%m [%p] ", "--poll", "20ms", "--idle", "50ms", "--batch-time", "50ms", "--listen", captureAt, "--drain-time", "2s", "--log-format", "json", "--log-level", "debug")
	plan := newProcess(t, dir, "plan", "--brokers", broker, "--create-topic", "--partitions", "2", "--schema", filepath.Join(dir, "schema.sql"), "--warehouse", traffic,
		"--commit-every", "100ms", "--session-timeout", "6s", "--listen", planAt, "--log-format", "logfmt")

	// All is there.
	capture.start()
	comesToSay(t, captureAt, "/readyz", "503 no log file is found")
	appendFile(t, log, logLines(0, 50)+"foreign c4n4ry\n"+logLines(50, 1))
	comesToSay(t, captureAt, "/readyz", "200 ready")
	comesToSay(t, captureAt, "/metrics", `foreshard_capture_broker_up{source="log"} 1`)
	comesToSay(t, captureAt, "/metrics", `foreshard_capture_spool_bytes{source="log"} 0`)
	comesToSay(t, captureAt, "/metrics", `foreshard_capture_dropped_total{cause="foreign",source="log"} 1`)
	comesToSay(t, captureAt, "/metrics", `foreshard_capture_events_total{source="log"} 51`)
	plan.start()
	comesToSay(t, planAt, "/metrics", "foreshard_plan_executions_total 51")
	comesToSay(t, planAt, "/metrics", "foreshard_plan_claimed_partitions 2")
	comesToSay(t, planAt, "/metrics", `foreshard_plan_partition_lag{partition="1"} 0`)
	comesToSay(t, planAt, "/readyz", "200 ready")

	// The broker is away: capture goes on reading, and ends well with what it has on disk.
	way.shut()
	appendFile(t, log, logLines(100, 50))
	comesToSay(t, captureAt, "/metrics", `foreshard_capture_broker_up{source="log"} 0`)
	comesToSay(t, captureAt, "/metrics", `foreshard_capture_events_total{source="log"} 101`)
	comesToSay(t, captureAt, "/healthz", "200 ok")
	capture.drain()
	if !strings.Contains(capture.said(), "go out at the next start") {
		t.Errorf("it does not say that something waits:\n%s", capture.said())
	}
	way.open(t)

	// It is back, and away again: a second signal ends a drain at once that would last.
	capture.args[slices.Index(capture.args, "--drain-time")+1] = "10m"
	capture.start()
	comesToSay(t, planAt, "/metrics", "foreshard_plan_executions_total 101")
	way.shut()
	appendFile(t, log, logLines(200, 1))
	comesToSay(t, captureAt, "/metrics", `foreshard_capture_events_total{source="log"} 1`)
	capture.twice()
	way.open(t)
	capture.start()
	comesToSay(t, planAt, "/metrics", "foreshard_plan_executions_total 102")
	capture.drain()
	plan.drain()
	if got := plan.counts().selects; got != 102 {
		t.Errorf("%d statements were planned, want 102", got)
	}
	for name, said := range map[string]string{"capture": capture.said(), "plan": plan.said()} {
		if len(said) == 0 || strings.Contains(said, "c4n4ry") || strings.Contains(said, "918273645") {
			t.Errorf("%s says nothing, or a value of a statement:\n%s", name, said)
		}
	}
}

// gate is the way to a broker, which can be shut: connections end and new ones are refused.
type gate struct {
	address, broker string
	mu              sync.Mutex
	listener        net.Listener
	conns           []net.Conn
}

// front is for kafka.Options.
func (g *gate) front(broker string) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	g.address, g.broker, g.listener = l.Addr().String(), broker, l
	go g.accept(l)
	return g.address, nil
}

func (g *gate) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", g.broker)
		if err != nil {
			client.Close() // the broker is starting
			continue
		}
		g.mu.Lock()
		g.conns = append(g.conns, client, server)
		g.mu.Unlock()
		for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
			go func() {
				io.Copy(to, from) //nolint:errcheck // a connection that is cut is what this is for
				to.Close()
			}()
		}
	}
}

func (g *gate) shut() {
	g.listener.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		c.Close()
	}
	g.conns = nil
}

func (g *gate) open(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", g.address)
	if err != nil {
		t.Fatal(err)
	}
	g.listener = l
	go g.accept(l)
}

// twice asks a process to end and then again, and fails if the second time does not end it.
func (a *testAgent) twice() {
	a.t.Helper()
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		a.t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		a.t.Fatalf("the first signal ended it: %v\n%s", err, &a.log)
	}
	var exit *exec.ExitError
	done := make(chan error, 1)
	go func() { done <- a.cmd.Wait() }()
	select {
	case err := <-done:
		if exit, _ = err.(*exec.ExitError); exit == nil || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
			a.t.Fatalf("it ended with %v\n%s", err, &a.log)
		}
	case <-time.After(30 * time.Second):
		a.t.Fatalf("it goes on\n%s", &a.log)
	}
}

// A drain that comes to its limit ends well, and the next start goes on from there: nothing is lost and nothing counted twice.
func TestDrainLimit(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "postgresql.log")
	const lines = 60_000
	appendFile(t, log, logLines(0, lines))
	past := time.Now().Add(-time.Hour) // its last record is whole: nothing came after it for long
	if err := os.Chtimes(log, past, past); err != nil {
		t.Fatal(err)
	}
	a := newAgent(t, dir, "--log", log, "--log-line-prefix", "%m [%p] ")
	for _, limit := range []string{"1ms", "1m"} {
		ctx, cancel := context.WithCancel(t.Context())
		said := &untilSaid{text: "executions committed", then: cancel}
		if code := run(ctx, append(slices.Clone(a.args), "--commit-every", "1ms", "--drain-time", limit), nil, said, said); code != exitDone {
			t.Fatalf("exit code %d\n%s", code, said.all())
		}
		cancel()
		if cut := strings.Contains(string(said.all()), "not all of the log was read in --drain-time"); cut != (limit == "1ms") {
			t.Errorf("with a limit of %s it says\n%s", limit, said.all())
		}
	}
	if got := a.counts().selects; got != lines {
		t.Errorf("%d statements are counted, want %d", got, lines)
	}
}
