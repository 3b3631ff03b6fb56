package receive

import (
	"bytes"
	"context"
	"fmt"

	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// syslogStore listens with a store and returns the addresses by scheme, and what ends it.
func syslogStore(t *testing.T, dir string, o Options) (s *Store, at map[string]string, end func()) {
	t.Helper()
	s = openStore(t, dir, o)
	y, err := s.Listen([]string{"udp://127.0.0.1:0", "tcp://127.0.0.1:0", "unix://" + filepath.Join(dir, "socket")})
	if err != nil {
		t.Fatal(err)
	}
	at = map[string]string{}
	for _, a := range y.Addresses() {
		scheme, host, _ := strings.Cut(a, "://")
		at[scheme] = host
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- y.Run(ctx) }()
	var once sync.Once
	end = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(end)
	return s, at, end
}

func dial(t *testing.T, at map[string]string, scheme string) net.Conn {
	t.Helper()
	c, err := net.Dial(scheme, at[scheme])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for what is on its way.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it does not come to ", what)
}

func lineCount(t *testing.T, s *Store) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, line := range strings.SplitAfter(string(content(t, s.Logs()[0])), "\n") {
		if line != "" {
			out[line]++
		}
	}
	return out
}

// What is sent to any socket is in the log once, a line each, and what is not is counted.
func TestSyslogIsReceived(t *testing.T) {
	dir := t.TempDir()
	s, at, end := syslogStore(t, dir, Options{MaxMessage: 1000})
	const n = 500
	udp, unix := dial(t, at, "udp"), dial(t, at, "unixgram")
	lines, counted := dial(t, at, "tcp"), dial(t, at, "tcp")
	for i := range n {
		say(t, udp, fmt.Sprintf("<13>udp %d\n", i))
		say(t, unix, fmt.Sprintf("<13>unix %d\x00", i))
		say(t, lines, fmt.Sprintf("<13>tcp %d\n", i))
		m := fmt.Sprintf("<13>1 octets\n\t%d", i)
		say(t, counted, fmt.Sprintf("%d %s", len(m), m))
	}
	say(t, udp, strings.Repeat("x", 1001))
	say(t, lines, strings.Repeat("y", 2000)+"\n<13>half")
	say(t, counted, "20 <13>half")
	for _, c := range []net.Conn{udp, unix, lines, counted} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "count what broke", func() bool { return s.Dropped()[DropCut].Count == 2 && s.Dropped()[DropOversize].Count == 2 })
	end()
	got := lineCount(t, s)
	for i := range n {
		for _, want := range []string{fmt.Sprintf("<13>udp %d\n", i), fmt.Sprintf("<13>unix %d\n", i), fmt.Sprintf("<13>tcp %d\n", i), fmt.Sprintf("<13>1 octets#012\t%d\n", i)} {
			if got[want] != 1 {
				t.Errorf("%q is there %d times", want, got[want])
			}
			delete(got, want)
		}
	}
	want := map[string]Drop{DropOversize: {2, 1001 + 2001}, DropCut: {2, 8 + 3 + 8}}
	if dropped := s.Dropped(); len(got) > 0 || len(dropped) != 2 || dropped[DropOversize] != want[DropOversize] || dropped[DropCut] != want[DropCut] {
		t.Errorf("also %v, dropped %v, want %v", got, dropped, want)
	}
}

// A store that is full drops datagrams, counted, and lets a connection wait; when there is room again nothing else is missing.
func TestSyslogFull(t *testing.T) {
	s, at, end := syslogStore(t, t.TempDir(), Options{Max: 1 << 20, Segment: 64 << 10})
	message := "<13>" + strings.Repeat("x", 1000) + " "
	fill, sent, written := dial(t, at, "tcp"), 0, make(chan int, 1)
	stop := make(chan struct{})
	go func() {
		i := 0
		for ; ; i++ {
			select {
			case <-stop:
				written <- i
				return
			default:
			}
			fill.SetWriteDeadline(time.Now().Add(time.Second)) //nolint:errcheck // a write that waits for ever fails the test
			m := []byte(fmt.Sprintf("%stcp %d\n", message, i))
			for len(m) > 0 {
				k, err := fill.Write(m)
				if m = m[k:]; err != nil {
					fill.SetWriteDeadline(time.Now().Add(time.Second)) //nolint:errcheck // as above
				}
			}
		}
	}()
	udp := dial(t, at, "udp")
	eventually(t, "drop datagrams", func() bool {
		for range 20 {
			say(t, udp, fmt.Sprintf("%sudp %d", message, sent))
			sent++
		}
		return s.Dropped()[DropFull].Count > 100
	})
	eventually(t, "be full", func() bool { return s.Used() >= 1<<20 })
	close(stop)
	// Reading makes room.
	l := s.Logs()[0]
	got := map[string]int{}
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan struct{})
	go func() {
		defer close(read)
		var rest []byte
		rd, offset, buf := l.Reader(ctx), int64(0), make([]byte, 64<<10)
		for {
			n, err := rd.Read(buf)
			if err != nil {
				return
			}
			offset += int64(n)
			rest = append(rest, buf[:n]...)
			for {
				i := bytes.IndexByte(rest, '\n')
				if i < 0 {
					break
				}
				got[strings.TrimPrefix(string(rest[:i]), message)]++
				rest = rest[i+1:]
			}
			if err := l.Release(offset); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	tcp := <-written
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "receive all", func() bool {
		size, _ := l.Stat()
		time.Sleep(50 * time.Millisecond)
		again, _ := l.Stat()
		return size == again && s.Used() < 1<<20
	})
	end()
	size, _ := l.Stat()
	eventually(t, "read all", func() bool { k, err := l.Wait(ctx, size); return err == nil && k == size })
	time.Sleep(100 * time.Millisecond)
	cancel()
	<-read
	for i := range tcp {
		if got[fmt.Sprint("tcp ", i)] != 1 {
			t.Fatalf("message %d of the connection is there %d times", i, got[fmt.Sprint("tcp ", i)])
		}
	}
	datagrams := len(got) - tcp
	dropped := s.Dropped()
	if lost := dropped[DropFull].Count + dropped[DropKernel].Count; int64(datagrams)+lost != int64(sent) {
		t.Errorf("%d datagrams were sent, %d received, %d counted as lost: %v", sent, datagrams, lost, dropped)
	}
	t.Logf("%d messages by connection; %d datagrams, %v", tcp, sent, dropped)
}

// Half a message that a killed process left at the end was never received; a socket file it left is in nobody's way.
func TestSyslogAfterKill(t *testing.T) {
	dir := t.TempDir()
	s, at, end := syslogStore(t, dir, Options{})
	say(t, dial(t, at, "unixgram"), "<13>a")
	eventually(t, "receive it", func() bool { size, _ := s.Logs()[0].Stat(); return size == 6 })
	end()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l := s.Logs()[0]
	g := l.segments[len(l.segments)-1]
	if err := g.open(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.file.WriteAt([]byte("<13>torn"), 6); err != nil {
		t.Fatal(err)
	}
	if err := g.file.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "socket"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	if err := left.Close(); err != nil { // unlike a listener of streams this leaves the file
		t.Fatal(err)
	}
	s, at, end = syslogStore(t, dir, Options{})
	say(t, dial(t, at, "unixgram"), "<13>b")
	eventually(t, "receive it", func() bool { size, _ := s.Logs()[0].Stat(); return size == 12 })
	end()
	if got := content(t, s.Logs()[0]); string(got) != "<13>a\n<13>b\n" {
		t.Errorf("%q", got)
	}
}

// A message that is longer than what may wait for the disk is received all the same, if it may be so long.
func TestLongMessage(t *testing.T) {
	s, at, end := syslogStore(t, t.TempDir(), Options{MaxMessage: 2 * memoryBytes})
	c := dial(t, at, "tcp")
	say(t, c, "<134>"+strings.Repeat("x", memoryBytes)+"\n")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the message", func() bool { size, _ := s.Logs()[0].Stat(); return size == memoryBytes+6 })
	end()
	if d := s.Dropped(); len(d) > 0 {
		t.Errorf("dropped %v", d)
	}
}
