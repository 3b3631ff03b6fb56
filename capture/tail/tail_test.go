package tail

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pglog"
)

var testKey = [16]byte{7}

// world is a directory with a log, its writer, and an agent that follows it.
type world struct {
	t       fataler
	dir     string
	written int // statements
	log     *os.File
	rotated int
	old     []string // rotated files
	half    string   // rest of a line of which the beginning is written
	ahead   time.Duration
	ticks   time.Duration // of the file system's clock, which is too coarse for a test that hurries
	base    time.Time

	tail   *Tail
	reader *pglog.Reader
	start  Start
	seen   []string // statements since the last commit
	// What was committed: it survives a crash.
	kept      []string
	positions []pglog.Position
	state     []byte
}

type fataler interface {
	Fatalf(format string, args ...any)
	Helper()
}

func newWorld(t fataler, dir string) *world {
	w := &world{t: t, dir: dir, base: time.Now()}
	w.create("postgresql.log")
	w.agent()
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) check(err error) {
	if err != nil {
		w.t.Helper()
		w.t.Fatalf("%v", err)
	}
}

// touch gives a file that was changed a time of its own.
func (w *world) touch(path string) {
	w.ticks += time.Millisecond
	at := w.base.Add(w.ahead + w.ticks)
	if w.log != nil && path == w.log.Name() { // it may have no name any more
		tv := syscall.NsecToTimeval(at.UnixNano())
		w.check(syscall.Futimes(int(w.log.Fd()), []syscall.Timeval{tv, tv}))
		return
	}
	w.check(os.Chtimes(path, at, at))
}

// append writes to the log.
func (w *world) append(text string) {
	if text == "" {
		return
	}
	_, err := w.log.WriteString(text)
	w.check(err)
	w.touch(w.log.Name())
}

func (w *world) create(name string) {
	if w.log != nil {
		w.check(w.log.Close())
	}
	f, err := os.OpenFile(w.path(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	w.check(err)
	w.log = f
	w.touch(f.Name())
}

// agent starts anew from what was committed.
func (w *world) agent() {
	if w.tail != nil {
		w.check(w.tail.Close())
	}
	var err error
	w.tail, err = New(Options{Patterns: []string{w.path("postgresql*.log*")}, HashKey: testKey, Known: w.positions, Start: w.start, Idle: time.Second,
		Now: func() time.Time { return w.base.Add(w.ahead + w.ticks) }})
	w.check(err)
	w.reader, err = pglog.Follow(pglog.Config{HashKey: testKey, Prefix: "%m [%p] ", Format: pglog.Stderr, State: w.state, Workers: 1, ChunkSize: 4 << 10})
	w.check(err)
	w.seen = nil
}

func (w *world) record() string {
	w.written++
	at := time.Date(2026, 1, 2, 10, 0, 0, w.written*1e6, time.UTC).Format("2006-01-02 15:04:05.000 UTC")
	switch w.written % 3 {
	case 0:
		return fmt.Sprintf("%s [71] LOG:  duration: 1.000 ms  statement: select *\n\tfrom t%d\n", at, w.written)
	case 1:
		return fmt.Sprintf("%s [71] LOG:  duration: 1.000 ms  execute <unnamed>: select * from t%d where a = $1\n%s [71] DETAIL:  parameters: $1 = 'x\n\ty'\n", at, w.written, at)
	}
	return fmt.Sprintf("%s [71] LOG:  duration: 1.000 ms  statement: select * from t%d -- %s\n", at, w.written, strings.Repeat("x", w.written%700))
}

func (w *world) write(n int) {
	w.finishLine()
	for range n {
		w.append(w.record())
	}
}

// writeHalf writes a record up to the middle of a line.
func (w *world) writeHalf() {
	w.finishLine()
	r := w.record()
	cut := len(r) / 2
	w.append(r[:cut])
	w.half = r[cut:]
}

func (w *world) finishLine() {
	w.append(w.half)
	w.half = ""
}

func (w *world) oldName() string {
	w.rotated++
	name := fmt.Sprintf("postgresql.log.%d", w.rotated)
	w.old = append(w.old, name)
	return name
}

func (w *world) rotateByRename() {
	w.finishLine()
	name := w.log.Name()
	w.check(os.Rename(name, w.path(w.oldName())))
	w.create(filepath.Base(name))
}

func (w *world) rotateByName() {
	w.finishLine()
	w.old = append(w.old, filepath.Base(w.log.Name()))
	w.rotated++
	w.create(fmt.Sprintf("postgresql-%03d.log", w.rotated))
}

func (w *world) copyTruncate() {
	w.finishLine()
	data, err := os.ReadFile(w.log.Name())
	w.check(err)
	old := w.path(w.oldName())
	w.check(os.WriteFile(old, data, 0o644))
	w.touch(old)
	w.check(w.log.Truncate(0))
	w.touch(w.log.Name())
}

func (w *world) compress() {
	if len(w.old) == 0 || strings.HasSuffix(w.old[0], ".gz") {
		return
	}
	data, err := os.ReadFile(w.path(w.old[0]))
	w.check(err)
	info, err := os.Stat(w.path(w.old[0]))
	w.check(err)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(data)
	w.check(err)
	w.check(z.Close())
	w.check(os.WriteFile(w.path(w.old[0]+".gz"), b.Bytes(), 0o644))
	w.check(os.Chtimes(w.path(w.old[0]+".gz"), info.ModTime(), info.ModTime()))
	w.check(os.Remove(w.path(w.old[0])))
	w.old[0] += ".gz"
}

// remove deletes the oldest file that is not written any more, once it is read and committed.
func (w *world) remove() {
	if len(w.old) == 0 {
		return
	}
	w.settle()
	w.check(os.Remove(w.path(w.old[0])))
	w.old = w.old[1:]
}

// cutInPlace is log_truncate_on_rotation.
func (w *world) cutInPlace() {
	w.finishLine()
	w.settle()
	w.check(w.log.Truncate(0))
	w.touch(w.log.Name())
}

func (w *world) poll() {
	_, err := w.tail.Read(context.Background(), w.reader, func(_ *File, b pglog.Batch) error {
		for i := range b.Events {
			if e := &b.Events[i]; e.Kind == capture.Execution {
				w.seen = append(w.seen, statementOf(e))
			}
		}
		return nil
	})
	w.check(err)
}

func statementOf(e *capture.Event) string {
	if e.Template == nil {
		return "opaque"
	}
	text := e.Template.Text
	text = text[strings.Index(text, " from t")+len(" from t"):]
	return strings.TrimSuffix(text, " where a = $1")
}

// settle reads everything there is.
func (w *world) settle() {
	for range 3 {
		w.poll()
		w.ahead += 2 * time.Second
	}
	w.commit()
}

func (w *world) commit() {
	w.kept, w.seen = append(w.kept, w.seen...), nil
	var err error
	w.state, err = w.reader.State()
	w.check(err)
	for _, f := range w.tail.Files() {
		p := pglog.Position{Name: f.Name(), Identity: f.Identity(), Offset: f.Offset(), Unread: f.Unread()}
		w.positions = slices.DeleteFunc(w.positions, func(old pglog.Position) bool { return old.Identity == p.Identity || old.Identity == f.Committed() })
		if p.Offset > 0 {
			w.positions = append(w.positions, p)
			f.SetCommitted(p.Identity)
		}
	}
}

// verify compares what was captured with what was written.
func (w *world) verify() {
	w.t.Helper()
	w.finishLine()
	w.settle()
	w.settle()
	var want []string
	for i := range w.written {
		want = append(want, fmt.Sprint(i+1))
	}
	if !slices.Equal(w.kept, want) {
		w.t.Fatalf("%d statements written, %d captured\n%s", len(want), len(w.kept), difference(want, w.kept))
	}
	if c := w.reader.Counts(); len(c.Dropped) > 0 {
		w.t.Fatalf("dropped %v", c.Dropped)
	}
}

func difference(want, got []string) string {
	count := map[string]int{}
	for _, s := range got {
		count[s]++
	}
	for _, s := range want {
		count[s]--
	}
	var b strings.Builder
	for s, n := range count {
		if n != 0 {
			fmt.Fprintf(&b, "%q: %+d\n", s, n)
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "another order: %v", got)
	}
	return b.String()
}

// Whatever is done to the files, each statement counts once and in order. An agent that dies goes on from what it committed.
func TestNothingLostNothingTwice(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o755); err != nil {
			rt.Fatalf("%v", err)
		}
		w := newWorld(rt, dir)
		steps := map[string]func(){
			"write":        func() { w.write(rapid.IntRange(1, 30).Draw(rt, "records")) },
			"half a line":  w.writeHalf,
			"rename":       w.rotateByRename,
			"new name":     w.rotateByName,
			"copytruncate": w.copyTruncate,
			"compress":     w.compress,
			"remove":       w.remove,
			"truncate":     w.cutInPlace,
			"poll":         w.poll,
			"wait":         func() { w.ahead += time.Duration(rapid.IntRange(0, 3000).Draw(rt, "ms")) * time.Millisecond; w.poll() },
			"long wait":    func() { w.poll(); w.ahead += 20 * time.Minute; w.poll() },
			"commit":       w.commit,
			"kill":         w.agent,
		}
		names := []string{"write", "half a line", "rename", "new name", "copytruncate", "compress", "remove", "truncate", "poll", "wait", "long wait", "commit", "kill", "write", "poll", "commit"}
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			steps[rapid.SampledFrom(names).Draw(rt, "step")]()
		}
		w.verify()
		if err := errors.Join(w.tail.Close(), w.log.Close(), os.RemoveAll(dir)); err != nil {
			rt.Fatalf("%v", err)
		}
	})
}
