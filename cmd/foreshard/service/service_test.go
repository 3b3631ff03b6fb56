package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/foreshard/foreshard/cmd/foreshard/metric"
	"github.com/foreshard/foreshard/cmd/foreshard/service"
)

// locked is a log that several goroutines may write.
type locked struct {
	bytes.Buffer
	turn chan struct{}
}

func newLocked() *locked { return &locked{turn: make(chan struct{}, 1)} }

func (l *locked) Write(p []byte) (int, error) {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return l.Buffer.Write(p)
}

func (l *locked) said() string {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return l.String()
}

func flags(t *testing.T, args ...string) *service.Flags {
	t.Helper()
	var f service.Flags
	set := pflag.NewFlagSet("verb", pflag.ContinueOnError)
	f.Register(set, "127.0.0.1:0")
	f.RegisterDrain(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &f
}

func start(t *testing.T, ctx context.Context, log io.Writer, args ...string) *service.Service {
	t.Helper()
	s, err := flags(t, args...).Start(ctx, log, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func get(t *testing.T, s *service.Service, path string) string {
	t.Helper()
	r, err := http.Get("http://" + s.Address() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(r.StatusCode, " ", string(body))
}

func TestAnswers(t *testing.T) {
	s := start(t, t.Context(), io.Discard)
	want := func(path, text string) {
		t.Helper()
		if got := get(t, s, path); !strings.Contains(got, text) {
			t.Errorf("%s answers\n%s\nwithout %q", path, got, text)
		}
	}
	want("/healthz", "200 ok")
	want("/readyz", "503 it is starting")
	s.Up()
	want("/readyz", "200 ready")
	want("/metrics", "foreshard_service_ready 1")
	why := "first\nreason"
	s.Check(func() string { return why })
	s.Check(func() string { return "second" })
	want("/readyz", "503 first\nreason\nsecond")
	why = ""
	want("/readyz", "503 second")
	want("/metrics", "foreshard_service_ready 0")
	if err := s.Watch(func(emit metric.Emit) { emit("capture_events_total", 3, "log") }); err != nil {
		t.Fatal(err)
	}
	want("/metrics", `foreshard_capture_events_total{source="log"} 3`)
	want("/metrics", `foreshard_build_info{go="go1.`)
	want("/metrics", "process_resident_memory_bytes")
	want("/debug/pprof/", "goroutine")
	want("/debug/pprof/cmdline", "404")
	want("/nothing", "404")
	if err := s.Watch(func(emit metric.Emit) { emit("nothing_total", 3) }); err != nil {
		t.Fatal(err)
	}
	want("/metrics", `metric "nothing_total" is not in the table`)
}

// Profiles are for the machine itself. A test binds to loopback only, so the other kind of address is made up of what loopback is not to a
// program that looks at the address it got: all of them.
func TestProfilesOnLoopbackOnly(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:1": true, "127.8.0.1:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true,
		"10.0.0.1:1": false, "0.0.0.0:1": false, "[::]:1": false, "[fe80::1]:1": false} {
		at, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		log := newLocked()
		s := start(t, t.Context(), log, "--listen", "")
		server := service.Handler(s, at)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/debug/pprof/", nil)
		if err != nil {
			t.Fatal(err)
		}
		w := &answer{header: http.Header{}}
		server.ServeHTTP(w, r)
		if got := w.code != http.StatusNotFound; got != want {
			t.Errorf("at %s profiles are there: %t, want %t", address, got, want)
		}
		if said := strings.Contains(log.said(), "no profiles"); said == want {
			t.Errorf("at %s it says %q", address, log.said())
		}
	}
}

type answer struct {
	header http.Header
	code   int
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
}
func (a *answer) Write(p []byte) (int, error) { a.WriteHeader(http.StatusOK); return len(p), nil }

// A default address that is taken is no reason not to run; one that was asked for is.
func TestAddressTaken(t *testing.T) {
	first := start(t, t.Context(), io.Discard)
	var f service.Flags
	set := pflag.NewFlagSet("verb", pflag.ContinueOnError)
	f.Register(set, first.Address())
	log := newLocked()
	second, err := f.Start(t.Context(), log, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	}()
	if second.Address() == first.Address() || !strings.Contains(log.said(), "metrics are at "+second.Address()) {
		t.Errorf("it is at %s and says %q", second.Address(), log.said())
	}
	if _, err := flags(t, "--listen", first.Address()).Start(t.Context(), io.Discard, "test"); err == nil || !strings.Contains(err.Error(), "give another --listen") {
		t.Errorf("an address that was asked for and is taken: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	for _, args := range [][]string{{"--log-format", "xml"}, {"--log-level", "loud"}, {"--drain-time", "0s"}, {"--listen", "nowhere"}} {
		if _, err := flags(t, args...).Start(t.Context(), io.Discard, "test"); err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestLog(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string // lines; a part of each
	}{
		{nil, []string{`foreshard: all well "x"`, "foreshard: warning: not; so ?[31mwell; set in?", "foreshard: error: broken"}},
		{[]string{"--log-level", "warn"}, []string{"foreshard: warning: not", "foreshard: error: broken"}},
		{[]string{"--quiet"}, []string{"foreshard: error: broken"}},
		{[]string{"--log-level", "debug"}, []string{"foreshard: little", "foreshard: all", "foreshard: warning", "foreshard: error"}},
		{[]string{"--log-format", "json"}, []string{`"level":"INFO","msg":"all well \"x\"","n":3}`, `"msg":"not\nso \u001b[31mwell\n\tset in`, `"level":"ERROR"`}},
		{[]string{"--log-format", "logfmt"}, []string{`level=INFO msg="all well \"x\"" n=3`, `msg="not\nso \x1b[31mwell\n\tset in\u009b"`, "level=ERROR"}},
	} {
		log := newLocked()
		s := start(t, t.Context(), log, append(c.args, "--listen", "")...)
		s.Log.Debug("little")
		s.Log.Info(`all well "x"`, "n", 3)
		s.Warn(errors.New("not\nso \x1b[31mwell\n\tset in\u009b"))
		s.Log.Error("broken")
		lines := strings.Split(strings.TrimSuffix(log.said(), "\n"), "\n")
		if len(lines) != len(c.want) {
			t.Errorf("%q: %d lines, want %d:\n%s", c.args, len(lines), len(c.want), log.said())
			continue
		}
		for i, line := range lines {
			if !strings.Contains(line, c.want[i]) {
				t.Errorf("%q: line %q, want %q", c.args, line, c.want[i])
			}
		}
	}
}

// What fails again and again is said once a minute, with how often it was; something else is said at once.
func TestRepeats(t *testing.T) {
	log := newLocked()
	s := start(t, t.Context(), log, "--listen", "")
	for range 5 {
		s.Warn(errors.New("no broker"))
	}
	s.Warn(errors.New("no disk"))
	if got, want := log.said(), "foreshard: warning: no broker\nforeshard: warning: no disk\n"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	now := time.Unix(0, 0)
	for i, step := range []struct {
		after  time.Duration
		hushed int
		say    bool
	}{{0, 0, true}, {30 * time.Second, 0, false}, {59 * time.Second, 0, false}, {60 * time.Second, 2, true}, {61 * time.Second, 0, false}, {200 * time.Second, 1, true}} {
		if hushed, say := service.Say(s, "text", now.Add(step.after)); hushed != step.hushed || say != step.say {
			t.Errorf("step %d: said %t after %d, want %t after %d", i, say, hushed, step.say, step.hushed)
		}
	}
}

// Work goes on after the signal, and no longer than --drain-time.
func TestDrain(t *testing.T) {
	ctx, signal := context.WithCancel(t.Context())
	s := start(t, ctx, io.Discard, "--listen", "", "--drain-time", "10ms")
	work, cancel := s.Drain(ctx)
	defer cancel()
	if work.Err() != nil {
		t.Fatal("the work is cancelled before the signal")
	}
	signal()
	<-work.Done()

	for range 100 {
		ctx, signal := context.WithCancel(t.Context())
		log := newLocked()
		s, err := flags(t, "--listen", "").Start(ctx, log, "test")
		if err != nil {
			t.Fatal(err)
		}
		signal()
		if err := s.Close(); err != nil || !strings.Contains(log.said(), "asked to end") {
			t.Fatalf("it ends without a word: %v, %q", err, log.said())
		}
	}

	ctx, signal = context.WithCancel(t.Context())
	s = start(t, ctx, io.Discard, "--listen", "", "--drain-time", "1h")
	work, cancel = s.Drain(ctx)
	defer cancel()
	signal()
	if work.Err() != nil {
		t.Error("the work is cancelled with the signal")
	}
}

// A job that fails is tried again; stop waits for one that is at work.
func TestJobs(t *testing.T) {
	log := newLocked()
	s := start(t, t.Context(), log)
	runs, entered := 0, make(chan struct{})
	stop := s.Repeat(t.Context(), service.Job{Name: "upkeep", Every: time.Millisecond, Run: func(ctx context.Context) error {
		switch runs++; runs {
		case 1:
			return errors.New("disk is gone")
		case 2:
			return nil
		}
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	}})
	<-entered
	stop()
	metrics := get(t, s, "/metrics")
	for _, want := range []string{`foreshard_job_runs_total{task="upkeep"} 3`, `foreshard_job_failures_total{task="upkeep"} 1`, `foreshard_job_last_success_timestamp_seconds{task="upkeep"}`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if want := "upkeep failed and is tried again in 1ms: disk is gone"; !strings.Contains(log.said(), want) {
		t.Errorf("it says %q, want %q", log.said(), want)
	}
}

// The service manager is told when the work has begun and when it is asked to end.
func TestNotify(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	ctx, signal := context.WithCancel(t.Context())
	s := start(t, ctx, io.Discard, "--listen", "")
	read := func() string {
		b := make([]byte, 100)
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	s.Up()
	if got := read(); got != "READY=1" {
		t.Errorf("told %q", got)
	}
	s.Tell("3 executions")
	s.Tell("3 executions") // which is nothing new
	if got := read(); got != "STATUS=3 executions" {
		t.Errorf("told %q", got)
	}
	signal()
	if got := read(); got != "STOPPING=1" {
		t.Errorf("told %q", got)
	}
}

func TestCancelled(t *testing.T) {
	other := errors.New("disk is gone")
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {other, false}, {context.Canceled, true}, {context.DeadlineExceeded, false}, {fmt.Errorf("read: %w", context.Canceled), true},
		{errors.Join(context.Canceled, fmt.Errorf("read: %w", context.Canceled)), true}, {errors.Join(context.Canceled, other), false},
		{fmt.Errorf("read: %w, %w", context.Canceled, other), false},
	} {
		if got := service.Cancelled(c.err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}
