package receive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// receiverDir makes the test program a receiver of its standard input.
const receiverDir = "FORESHARD_TEST_RECEIVER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(receiverDir); dir != "" {
		s, err := Open(dir, Options{Now: time.Now, Segment: 64 << 10})
		if err == nil {
			err = errors.Join(s.Copy(context.Background(), os.Stdin, func(*Log) {}), s.Close())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func receiver(t *testing.T, dir string, in *os.File) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), receiverDir+"="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func openStore(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	o.Now = time.Now
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

func content(t *testing.T, l *Log) []byte {
	t.Helper()
	size, _ := l.Stat()
	b := make([]byte, size)
	if _, err := io.ReadFull(l.Reader(t.Context()), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// A receiver that is killed at any moment leaves each byte of a pipe in the log or in the pipe.
func TestKilledReceiverLosesNothing(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	keeper, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.OpenFile(fifo, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	var sent bytes.Buffer
	stop, written := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				written <- keeper.Close()
				return
			default:
			}
			line := fmt.Sprintf("%d %s\n", i, strings.Repeat("x", i%3000))
			sent.WriteString(line)
			if _, err := keeper.WriteString(line); err != nil {
				written <- err
				return
			}
		}
	}()
	store := filepath.Join(dir, "store")
	const kills = 15
	for range kills {
		cmd := receiver(t, store, in)
		before := stored(t, store)
		eventually(t, "receive", func() bool { return stored(t, store) > before+64<<10 })
		time.Sleep(time.Duration(rng.IntN(50)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("it ended by itself")
		}
	}
	cmd := receiver(t, store, in)
	close(stop)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, store, Options{})
	logs := s.Logs()
	if len(logs) != 1 || !logs[0].Ended() {
		t.Fatalf("%d logs", len(logs))
	}
	if got := content(t, logs[0]); !bytes.Equal(got, sent.Bytes()) || len(got) < kills*64<<10 {
		t.Errorf("%d bytes were received, %d sent; they are equal up to %d", len(got), sent.Len(), equal(got, sent.Bytes()))
	}
	t.Logf("%d bytes, %d kills, %d segments", sent.Len(), kills, len(logs[0].segments))
}

// stored is how many bytes a store has on disk.
func stored(t *testing.T, dir string) (n int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

func equal(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Another pipe is another log; the one before is broken, and keeps what it has.
func TestAnotherPipe(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	for _, text := range []string{"a\nb", "c\nd"} {
		rd, wr, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := wr.WriteString(text); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		var l *Log
		begun := make(chan struct{})
		go func() { done <- s.Copy(ctx, rd, func(x *Log) { l = x; close(begun) }) }()
		<-begun
		if n, err := l.Wait(t.Context(), int64(len(text))); err != nil || n != int64(len(text)) {
			t.Fatal(n, err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := errors.Join(rd.Close(), wr.Close()); err != nil {
			t.Fatal(err)
		}
	}
	logs := s.Logs()
	if len(logs) != 2 || logs[0].end != broken || logs[1].end != open {
		t.Fatalf("%d logs", len(logs))
	}
	if a, b := content(t, logs[0]), content(t, logs[1]); string(a) != "a\nb" || string(b) != "c\nd" {
		t.Errorf("%q, %q", a, b)
	}
	if logs[0].Whole(time.Now(), 0) || !logs[0].Ended() {
		t.Error("the end of a broken pipe is taken for whole")
	}
	if err := logs[0].Done(1); err != nil {
		t.Fatal(err)
	}
	if got := s.Dropped()[DropCut]; got != (Drop{1, 1}) || len(s.Logs()) != 1 {
		t.Errorf("%+v, %d logs", got, len(s.Logs()))
	}
}

// A store that is full is not written to; what is released makes room, and the head stays.
func TestFullStoreWaits(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Max: 1 << 20, Segment: 128 << 10})
	rd, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte("0123456789abcde\n"), 4096) // 64 KiB
	const blocks = 100
	go func() {
		for range blocks {
			wr.Write(block) //nolint:errcheck // what is missing is seen
		}
		wr.Close() //nolint:errcheck // so is the end
	}()
	begun, done := make(chan *Log, 1), make(chan error, 1)
	go func() { done <- s.Copy(t.Context(), rd, func(l *Log) { begun <- l }) }()
	l := <-begun
	if _, err := l.Wait(t.Context(), 1<<20); err != nil {
		t.Fatal(err)
	}
	out, at, most := l.Reader(t.Context()), int64(0), int64(0)
	buf := make([]byte, 48<<10)
	for {
		n, err := out.Read(buf)
		for i := range n {
			if buf[i] != block[(at+int64(i))%int64(len(block))] {
				t.Fatalf("byte %d is %q", at+int64(i), buf[i])
			}
		}
		at += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, s.Used())
		if err := l.Release(at); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if want := int64(blocks * len(block)); at != want || most > 1<<20+128<<10 {
		t.Errorf("read %d bytes of %d, at most %d were on disk", at, want, most)
	}
	if head, err := l.Head(headSize); err != nil || len(head) != headSize || !bytes.HasPrefix(head, block) {
		t.Errorf("the head has %d bytes, %v", len(head), err)
	}
	// Once more from the beginning: what was released is not there, its place is.
	again, err := io.ReadAll(l.Reader(t.Context()))
	if err != nil || int64(len(again)) != at || !bytes.Equal(again[:headSize], bytes.Repeat(block, 4)) {
		t.Errorf("read %d bytes, %v", len(again), err)
	}
}

// An end does not wait for a disk that has no room for the counts: it says so, and they are kept when there is room.
func TestCountsOfFullDisk(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	temp := s.statePath() + ".new"
	if err := os.Symlink("/dev/full", temp); err != nil {
		t.Fatal(err)
	}
	s.count(DropOversize, 1, 10)
	if err := s.Sync(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a full disk gives %v", err)
	}
	if len(s.Dropped()) != 0 {
		t.Error("counts are told that are not on disk")
	}
	if err := os.Remove(temp); err != nil {
		t.Fatal(err)
	}
	eventually(t, "counts on disk", func() bool { return s.Sync() == nil })
	if d := s.Dropped()[DropOversize]; d != (Drop{1, 10}) {
		t.Errorf("counted %v", d)
	}
}

// What an earlier process received is read while another one goes on in the same log.
func TestReadWhileGoingOn(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"first\n", "first\nsecond\n"} {
		s := openStore(t, dir, Options{})
		l, err := s.begin("one pipe")
		if err != nil {
			t.Fatal(err)
		}
		line := strings.SplitAfter(want, "\n")[strings.Count(want, "\n")-1]
		added := make(chan error)
		go func() { added <- l.append([]byte(line)) }()
		content(t, l)
		if err := errors.Join(<-added, s.Sync()); err != nil {
			t.Fatal(err)
		}
		if got := string(content(t, l)); got != want {
			t.Errorf("read %q", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
