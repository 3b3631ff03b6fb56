package tail

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pglog"
)

// The last record of a file that is truncated was seen but could still have grown: it is not lost with the file.
func TestTruncatedWithARecordInHand(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.write(4)
	w.poll() // the fourth could grow
	w.check(w.log.Truncate(0))
	w.touch(w.log.Name())
	w.write(2)
	w.verify()
	if c := w.tail.Counts(); c.Truncated != 1 || c.Lost != 0 {
		t.Errorf("%+v", c)
	}
}

// What was written between two looks and truncated is gone; the bytes that were seen and not read are counted.
func TestTruncatedWithHalfALine(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.write(1)
	w.writeHalf()
	w.ahead += 2 * time.Second
	w.poll()
	half := w.tail.Files()[0].Unread()
	w.check(w.log.Truncate(0))
	w.touch(w.log.Name())
	w.half = ""
	w.write(1)
	w.settle()
	w.settle()
	if c := w.tail.Counts(); half == 0 || c.Lost != half || !slices.Equal(w.kept, []string{"1", "3"}) {
		t.Errorf("%+v, %d bytes of half a line, captured %v", c, half, w.kept)
	}
}

// A file that is deleted while it is written is read to its end; another one on the same inode is another file.
func TestDeletedAndInodeReused(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.write(3)
	w.poll()
	w.write(2)
	w.check(os.Remove(w.log.Name()))
	w.poll()
	w.write(1) // to the file without a name
	w.poll()
	w.create("postgresql.log")
	w.write(3)
	w.verify()
}

// A truncated file that has grown beyond where it was read is known by its first bytes.
func TestTruncatedAndLongerThanBefore(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.write(2)
	w.settle()
	w.check(w.log.Truncate(0))
	w.write(20)
	w.verify()
}

// An agent that starts at the end reads what is added, also after it was killed before anything came.
func TestStartAtTheEnd(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.write(5)
	w.start = End
	w.agent()
	w.poll()
	w.commit()
	w.agent()
	w.write(2)
	w.settle()
	if !slices.Equal(w.kept, []string{"6", "7"}) {
		t.Errorf("captured %v", w.kept)
	}
}

// A log whose writer pauses in the middle of a line is waited for, however long.
func TestSlowWriter(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.write(2)
	text := w.record() + w.record()
	for i := range len(text) {
		w.append(text[i : i+1])
		if i%7 == 0 {
			w.poll()
		}
		if text[i] != '\n' && i%31 == 0 && !strings.HasSuffix(text[:i+1], "\n") && strings.Count(text[:i+1], "\n") == 0 {
			w.ahead += 3 * time.Second // longer than Idle, but within the first line
		}
	}
	w.verify()
}

// Two formats of one server would count its traffic twice.
func TestTwoFormats(t *testing.T) {
	dir := t.TempDir()
	csv := `2026-01-02 10:00:00.001 UTC,"app","shop",71,"[local]",6a.47,1,"SELECT",2026-01-02 09:00:00 UTC,3/2,0,LOG,00000,"duration: 1.000 ms  statement: SELECT 2",,,,,,,,,"web"` + "\n"
	for name, text := range map[string]string{"a.log": "2026-01-02 10:00:00.001 UTC [71] LOG:  duration: 1.000 ms  statement: select 1\n", "a.csv": csv} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	follow, err := New(Options{Patterns: []string{dir + "/a.*"}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer follow.Close()
	r, err := pglog.Follow(pglog.Config{Prefix: "%m [%p] "})
	if err != nil {
		t.Fatal(err)
	}
	_, err = follow.Read(t.Context(), r, func(*File, pglog.Batch) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "would count the traffic twice") {
		t.Errorf("error is %v", err)
	}
}

func TestGlob(t *testing.T) {
	for pattern, want := range map[string]string{
		"/log/postgresql-%Y-%m-%d_%H%M%S.log": "/log/postgresql-*-*-*_***.log",
		"/log/postgresql-%a.csv":              "/log/postgresql-*.csv",
		"100%%.log":                           "100%.log",
		"/log/*.log":                          "/log/*.log",
	} {
		if got := glob(pattern); got != want {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
	if _, err := New(Options{Patterns: []string{"["}}); err == nil {
		t.Error("a bad pattern is taken")
	}
}

// A writer that rotates while it writes, and a reader that looks when it likes: nothing is lost, nothing comes twice.
func TestRotationUnderLoad(t *testing.T) {
	dir := t.TempDir()
	const statements, perFile = 20_000, 700
	var writing sync.WaitGroup
	failed := make(chan error, 1)
	writing.Add(1)
	go func() {
		defer writing.Done()
		if err := rotatingWriter(dir, statements, perFile); err != nil {
			failed <- err
		}
	}()
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()

	var ahead time.Duration
	follow, err := New(Options{Patterns: []string{dir + "/postgresql.log*"}, HashKey: testKey, Idle: time.Hour, Now: func() time.Time { return time.Now().Add(ahead) }})
	if err != nil {
		t.Fatal(err)
	}
	defer follow.Close()
	r, err := pglog.Follow(pglog.Config{HashKey: testKey, Prefix: "%m [%p] ", Format: pglog.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	calls := 0
	read := func() {
		_, err := follow.Read(t.Context(), r, func(_ *File, b pglog.Batch) error {
			for i := range b.Events {
				if e := &b.Events[i]; e.Kind == capture.Execution {
					got[statementOf(e)]++
					calls++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		read()
	}
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
	ahead = 2 * time.Hour
	read()
	read()
	if calls != statements || len(got) != statements {
		t.Errorf("%d statements written, %d captured, %d of them different", statements, calls, len(got))
	}
	if n := len(r.Counts().Dropped); n > 0 {
		t.Errorf("dropped %v", r.Counts().Dropped)
	}
}

func rotatingWriter(dir string, statements, perFile int) error {
	name := dir + "/postgresql.log"
	var f *os.File
	for i := range statements {
		if i%perFile == 0 {
			if f != nil {
				if err := f.Close(); err != nil {
					return err
				}
				if err := os.Rename(name, fmt.Sprintf("%s.%d", name, i)); err != nil {
					return err
				}
				time.Sleep(5 * time.Millisecond) // the grain of the file system's clock; a rotation takes longer than that
			}
			var err error
			if f, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
				return err
			}
		}
		at := time.Date(2026, 1, 2, 10, 0, 0, i*1e6, time.UTC).Format("2006-01-02 15:04:05.000 UTC")
		text := fmt.Sprintf("%s [71] LOG:  duration: 1.000 ms  statement: select *\n\tfrom t%d\n", at, i+1)
		half := len(text) / 2
		for _, part := range []string{text[:half], text[half:]} { // two writes: a reader sees half a record
			if _, err := f.WriteString(part); err != nil {
				return err
			}
		}
	}
	return f.Close()
}
