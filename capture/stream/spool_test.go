package stream

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A process that dies while it writes leaves the frames before, whole; the cut frame is not there, and writing goes on behind them.
func TestSpoolCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	s, _, err := openSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	frames := [][]byte{[]byte("one"), []byte("second"), bytes.Repeat([]byte("x"), 100)}
	ends := []int64{}
	for _, f := range frames {
		if err := s.append(f); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, s.size)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	name := s.path(1)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut <= len(whole); cut++ {
		for _, tail := range [][]byte{nil, make([]byte, 40)} { // blocks that were never filled
			if err := os.WriteFile(name, append(slices.Clone(whole[:cut]), tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			want := 0
			for want < len(ends) && ends[want] <= int64(cut) {
				want++
			}
			s, last, err := openSpool(dir)
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			if want == 0 && last != nil || want > 0 && !bytes.Equal(last, frames[want-1]) {
				t.Fatalf("cut at %d: last frame %q, want frame %d", cut, last, want)
			}
			if err := s.append([]byte("after")); err != nil {
				t.Fatal(err)
			}
			for i := 0; i <= want; i++ {
				f := []byte("after")
				if i < want {
					f = frames[i]
				}
				got, ok, err := s.next()
				if err != nil || !ok || !bytes.Equal(got, f) {
					t.Fatalf("cut at %d: frame %d is %q, %t, %v", cut, i, got, ok, err)
				}
				s.mu.Lock()
				s.read.offset += frameHead + int64(len(got)) // as ack, without the note on disk
				s.pending -= frameHead + int64(len(got))
				s.mu.Unlock()
			}
			if s.waiting() != 0 {
				t.Fatalf("cut at %d: %d bytes wait", cut, s.waiting())
			}
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What was durable and is damaged is an error: to go on without it would give its numbers to other records.
func TestSpoolDamaged(t *testing.T) {
	dir := t.TempDir()
	s, _, err := openSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"one", "two", "three"} {
		if err := s.append([]byte(f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.path(1))
	if err != nil {
		t.Fatal(err)
	}
	data[frameHead] ^= 1
	if err := os.WriteFile(s.path(1), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openSpool(dir); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error is %v", err)
	}
}

// Frames come out in order over many files and restarts, sent files go, and the last frame is always there for the next start.
func TestSpoolOverFilesAndRestarts(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	frame := func(i int) []byte { return append(bytes.Repeat([]byte{byte(i)}, 3<<20), byte(i)) } // three to a file
	s, last, err := openSpool(dir)
	if err != nil || last != nil {
		t.Fatal(last, err)
	}
	written, read := 0, 0
	for written < 40 || read < written {
		switch n := rng.IntN(10); {
		case n < 4 && written < 40:
			if err := s.append(frame(written)); err != nil {
				t.Fatal(err)
			}
			written++
		case n < 8 && read < written:
			got, ok, err := s.next()
			if err != nil || !ok || !bytes.Equal(got, frame(read)) {
				t.Fatalf("frame %d: %t %v, begins %v", read, ok, err, got[:min(1, len(got))])
			}
			if err := s.ack(got); err != nil {
				t.Fatal(err)
			}
			read++
		case n == 9:
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
			if s, last, err = openSpool(dir); err != nil {
				t.Fatal(err)
			}
			if written > 0 && !bytes.Equal(last, frame(written-1)) {
				t.Fatalf("the last of %d frames is not there", written)
			}
			if want := int64(written-read) * (frameHead + 3<<20 + 1); s.waiting() != want {
				t.Fatalf("%d bytes wait, want %d", s.waiting(), want)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.spool"))
	if err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

// A name goes into reports and logs for ever.
func TestNameIsPrintable(t *testing.T) {
	for _, name := range []string{"db1\nother", "\x1b[31mdb1", "db\xff"} {
		if a, err := OpenAgent(AgentConfig{Name: name, Dir: t.TempDir()}, NewMemory("t", 1)); err == nil {
			t.Log(a.Close())
			t.Errorf("%q is taken", name)
		}
	}
}
