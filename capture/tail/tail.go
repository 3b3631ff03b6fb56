// Package tail turns patterns of file names into the parts of one log that is still being written, in order, each byte once. It follows
// rotation by rename or by new names, truncation in place, copy and truncate, deletion, reused inodes and compressed leftovers. A file is what
// it holds, not what it is called: its identity is a keyed hash of its first bytes. It imports capture/pglog, which reads the parts.
package tail

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/foreshard/foreshard/capture/pglog"
)

// Start says what becomes of files that are there before the first run.
type Start uint8

// The starts. Later runs go on where the earlier one left, and read what is new from its beginning.
const (
	Beginning Start = iota // they are read
	End                    // they are not; what is added to them is
)

// Options says what is followed. Patterns or Contents, HashKey and Now are required.
type Options struct {
	Patterns []string         // globs; strftime escapes of log_filename stand for anything
	Contents func() []Content // what was received, oldest first; read from the beginning whatever Start says. May be nil
	HashKey  [16]byte         // of the identities
	Known    []pglog.Position // where an earlier run left; none: this is the first one
	Start    Start            // of a first run
	Idle     time.Duration    // after which the last record of a silent file is taken for whole; 0: 2 s
	Now      func() time.Time
}

const (
	defaultIdle = 2 * time.Second
	linger      = time.Minute      // that a file without a name is held open after it grew last: its writer may not have noticed
	quiet       = 10 * time.Minute // after which a file that was read to its end is no longer held open
	maxLeftover = 8 << 20          // bytes of an unfinished record kept in case its file is truncated
)

// Tail follows a log. It is not safe for concurrent use.
type Tail struct {
	o        Options
	first    bool // no Poll yet
	files    []*File
	carriers map[inode]*carrier
	known    []pglog.Position // that no file has claimed
	counts   Counts
	format   pglog.Format // of all files, "" not known yet
	formatOf string
}

// Counts are what happened to files.
type Counts struct {
	Files     int   // followed now
	Rotated   int64 // files that were there before and have another name now, or none
	Truncated int64 // files cut in place
	Lost      int64 // bytes that were seen in a file and gone before they could be read
}

// New makes a Tail; nothing is looked at yet.
func New(o Options) (*Tail, error) {
	if len(o.Patterns) == 0 && o.Contents == nil {
		return nil, errors.New("follow log: no pattern of file names")
	}
	for _, p := range o.Patterns {
		if _, err := filepath.Match(glob(p), ""); err != nil {
			return nil, fmt.Errorf("follow log: pattern %q: %w", p, err)
		}
	}
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	return &Tail{o: o, first: true, carriers: map[inode]*carrier{}, known: slices.Clone(o.Known)}, nil
}

// glob replaces the strftime escapes of a pattern: %Y-%m-%d and %a are anything.
func glob(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] != '%' || i+1 == len(pattern):
			b.WriteByte(pattern[i])
		case pattern[i+1] == '%':
			b.WriteByte('%')
			i++
		default:
			b.WriteByte('*')
			i++
		}
	}
	return b.String()
}

// Poll looks at the files and returns those that have something to read, in the order they are to be read in. A file that cannot be looked at
// is in problems and tried again at the next Poll.
func (t *Tail) Poll() (ready []*File, problems []error) {
	now := t.o.Now()
	fresh, problems := t.list(now)
	for _, c := range fresh {
		if c.compressed && now.Sub(c.mtime) < t.o.Idle {
			break // it may still be written, and what is younger waits for it
		}
		if err := t.attach(c, now); err != nil {
			problems = append(problems, err)
		}
	}
	// A file that was rotated away got its last bytes before the new one appeared, and the new one has been seen: these sizes are final.
	for _, f := range t.files {
		for _, c := range slices.Clone(f.carriers) {
			if err := t.look(c, now); err != nil {
				problems = append(problems, err)
			}
		}
	}
	t.first = false
	for i, f := range t.files {
		if f.readable(now, t.superseded(i)) {
			ready = append(ready, f)
		}
	}
	t.retire(now)
	t.counts.Files = len(t.files)
	return ready, problems
}

// list finds what the patterns name, follows what is known already, and returns what is new or has new content, oldest first.
func (t *Tail) list(now time.Time) (fresh []*carrier, problems []error) {
	seen := map[inode]bool{}
	for _, pattern := range t.o.Patterns {
		paths, err := filepath.Glob(glob(pattern))
		if err != nil {
			problems = append(problems, fmt.Errorf("follow log: pattern %q: %w", pattern, err))
		}
		for _, path := range paths {
			info, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
				continue
			}
			if err != nil {
				problems = append(problems, fmt.Errorf("follow log: %w", err))
				continue
			}
			id := inodeOf(info)
			if seen[id] {
				continue
			}
			seen[id] = true
			t.meet(id, path)
		}
	}
	t.meetContents(seen)
	for id, c := range t.carriers {
		if c.content != nil && !seen[id] {
			t.drop(c)
			continue
		}
		if !seen[id] && !c.missing {
			c.missing = true
			t.counts.Rotated++
		}
		if err := t.look(c, now); err != nil {
			problems = append(problems, err)
		}
		if c.of == nil {
			fresh = append(fresh, c)
		}
	}
	slices.SortFunc(fresh, func(a, b *carrier) int {
		if n := a.mtime.Compare(b.mtime); n != 0 {
			return n
		}
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.id.ino, b.id.ino))
	})
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return fresh, problems
}

// meet takes note of a path.
func (t *Tail) meet(id inode, path string) {
	c := t.carriers[id]
	if c == nil {
		t.carriers[id] = &carrier{id: id, path: path}
		return
	}
	if c.path != path {
		t.counts.Rotated++
	}
	c.path, c.missing = path, false
}

// look brings a carrier up to date. One that was cut or holds something else now is taken from its file.
func (t *Tail) look(c *carrier, now time.Time) error {
	before := c.size
	changed, err := c.stat()
	if err != nil || !changed && c.of != nil {
		if err != nil && c.file == nil && c.missing {
			t.drop(c) // renamed or deleted while it was not held open: it is met again under its new name
			return nil
		}
		return err
	}
	head, err := c.readHead()
	if err != nil {
		return err
	}
	f := c.of
	if f == nil {
		c.head = head
		return nil
	}
	if !c.compressed && c.size < before || !compatible(f.head, head) {
		if c.content == nil { // else it began as a copy would, and is none
			t.counts.Truncated++
			f.lose(c, before, &t.counts)
		}
		f.remove(c)
		c.of, c.head = nil, head
		return nil
	}
	if len(head) > len(f.head) {
		f.head = head
	}
	if c.size > before {
		f.grown = now
	}
	c.head = head
	return nil
}

// compatible says that two heads are of one content, of which one may have grown further.
func compatible(a, b []byte) bool {
	n := min(len(a), len(b))
	return n > 0 && bytes.Equal(a[:n], b[:n])
}

// attach finds the file whose content a carrier holds, or makes one. A carrier without a whole line is left for later.
func (t *Tail) attach(c *carrier, now time.Time) error {
	if bytes.IndexByte(c.head, '\n') < 0 && len(c.head) < pglog.HeadBytes {
		if c.missing {
			t.drop(c)
		}
		return nil
	}
	for i := len(t.files) - 1; i >= 0; i-- {
		if f := t.files[i]; compatible(f.head, c.head) {
			f.add(c)
			if f.offset > c.size && !c.compressed && len(f.carriers) == 1 && f.carriers[0].cut {
				f.offset = c.size // cut in place, its beginning kept: what is left of it was read
			}
			return nil
		}
	}
	f := &File{tail: t, head: c.head, name: c.path, grown: c.mtime}
	switch at := t.claim(c.head); {
	case at >= 0:
		f.offset, f.keptAt, f.committed = t.known[at].Offset, t.known[at].Offset, t.known[at].Identity
		t.known = slices.Delete(t.known, at, at+1)
	case t.first && len(t.o.Known) == 0 && t.o.Start == End && c.content == nil:
		end, err := c.end()
		if err != nil {
			return err
		}
		f.offset = end
	}
	f.add(c)
	t.files = append(t.files, f)
	return nil
}

// claim finds the known position of a head: the identity that covers most bytes, then the one that was read furthest; -1 if there is none.
func (t *Tail) claim(head []byte) int {
	best, size := -1, 0
	for i, k := range t.known {
		n := identitySize(k.Identity)
		if n < size || n == size && best >= 0 && k.Offset <= t.known[best].Offset || !pglog.Identifies(t.o.HashKey, k.Identity, head) {
			continue
		}
		best, size = i, n
	}
	return best
}

func identitySize(id string) int {
	n := 0
	for i := 0; i < len(id) && id[i] >= '0' && id[i] <= '9'; i++ {
		n = n*10 + int(id[i]-'0')
	}
	return n
}

// superseded says that a later file has taken over from the i-th: nothing is added to it any more.
func (t *Tail) superseded(i int) bool {
	if c := t.files[i].best(); c != nil && c.content != nil {
		return c.content.Whole(t.o.Now(), t.o.Idle)
	}
	at := t.files[i].mtime()
	for _, later := range t.files[i+1:] {
		if m := later.mtime(); !m.Before(at) {
			return true
		}
	}
	return false
}

// retire forgets files that are gone, read, and kept, and closes those that have been silent for long.
func (t *Tail) retire(now time.Time) {
	for i, f := range t.files {
		for _, c := range slices.Clone(f.carriers) {
			done := c.compressed || f.offset >= c.size || f.tried == c.size && f.triedWhole
			silent := now.Sub(f.grown)
			switch {
			case c.missing && done && silent > linger && t.superseded(i):
				t.drop(c)
			case done && silent > quiet && !c.missing:
				c.close()
			}
		}
	}
	t.files = slices.DeleteFunc(t.files, func(f *File) bool {
		if len(f.carriers) > 0 || f.unfinished() || f.keptAt != f.offset {
			return false
		}
		t.counts.Lost += int64(len(f.leftover))
		if f.committed != "" { // a compressed copy may turn up
			t.known = append(t.known, pglog.Position{Name: f.name, Identity: f.committed, Offset: f.offset})
		}
		return true
	})
}

func (t *Tail) drop(c *carrier) {
	c.close()
	delete(t.carriers, c.id)
	if c.of != nil {
		c.of.remove(c)
	}
}

// Files are all files that are followed, in order.
func (t *Tail) Files() []*File { return t.files }

// Counts is what has happened so far.
func (t *Tail) Counts() Counts { return t.counts }

// Missing are known positions with an unfinished record whose files are nowhere to be found.
func (t *Tail) Missing() []pglog.Position {
	return slices.DeleteFunc(slices.Clone(t.known), func(p pglog.Position) bool { return p.Unread == 0 })
}

// Close lets go of all files.
func (t *Tail) Close() error {
	var err error
	for _, c := range t.carriers {
		err = errors.Join(err, c.close())
	}
	return err
}
