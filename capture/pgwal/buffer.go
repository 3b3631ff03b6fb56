package pgwal

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/foreshard/foreshard/capture"
)

// transaction is one that is open: its changes by subtransaction, as far as they are in memory, and a file of those that were too much for it.
type transaction struct {
	xid       uint32
	streamed  bool
	sets      map[uint32]*changes // by subtransaction; of one that is not streamed, all are under 0
	last      *changes
	lastSub   uint32
	aborted   map[uint32]bool // subtransactions that have something in the file and are rolled back
	file      *os.File
	out       *bufio.Writer
	written   int64
	relations map[uint32]*relation // described inside the stream, for this transaction only
}

// abortedSize is the memory of a rolled-back subtransaction whose changes lie in the file.
const abortedSize = 16

func (t *transaction) set(sub uint32) *changes {
	if t.last != nil && t.lastSub == sub {
		return t.last
	}
	if t.sets == nil {
		t.sets = map[uint32]*changes{}
	}
	c := t.sets[sub]
	if c == nil {
		c = &changes{size: 100}
		t.sets[sub] = c
	}
	t.last, t.lastSub = c, sub
	return c
}

// size is its memory, about.
func (t *transaction) size() int {
	n := abortedSize * len(t.aborted)
	for _, c := range t.sets {
		n += c.size
	}
	return n
}

// abort drops one subtransaction.
func (t *transaction) abort(sub uint32) {
	delete(t.sets, sub)
	t.last = nil
	if t.file != nil {
		if t.aborted == nil {
			t.aborted = map[uint32]bool{}
		}
		t.aborted[sub] = true
	}
}

// frame is what lies in the file: the changes of one subtransaction up to some moment.
type frame struct {
	Sub    uint32               `cbor:"1,keyasint"`
	Writes []capture.TableWrite `cbor:"2,keyasint"`
}

// store keeps open transactions inside the bounds of memory and disk.
type store struct {
	dir       string
	maxDisk   int64
	disk      int64
	maxMemory int
	counts    *Counts
}

// pattern names the files of open transactions.
const pattern = "wal-transaction-*"

// openStore removes what an earlier process left: its transactions are sent again.
func openStore(cfg *Config, counts *Counts) (*store, error) {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of open transactions: %w", err)
	}
	old, err := filepath.Glob(filepath.Join(cfg.Dir, pattern))
	if err != nil {
		return nil, fmt.Errorf("find files of open transactions: %w", err)
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return nil, fmt.Errorf("remove file of an open transaction: %w", err)
		}
	}
	return &store{dir: cfg.Dir, maxDisk: cfg.MaxSpill, maxMemory: cfg.MaxMemory, counts: counts}, nil
}

// bound moves the changes of the largest transaction to its file if all together are too much for memory.
func (s *store) bound(open []*transaction) error {
	total := 0
	var largest *transaction
	most := -1
	for _, t := range open {
		n := t.size()
		total += n
		if n > most {
			largest, most = t, n
		}
	}
	if total <= s.maxMemory || largest == nil {
		return nil
	}
	return s.spill(largest)
}

func (s *store) spill(t *transaction) error {
	if t.file == nil {
		f, err := os.CreateTemp(s.dir, pattern)
		if err != nil {
			return fmt.Errorf("make file of an open transaction: %w", err)
		}
		t.file, t.out = f, bufio.NewWriterSize(f, 1<<16)
	}
	for _, sub := range sortedKeys(t.sets) {
		c := t.sets[sub]
		data, err := cbor.Marshal(frame{sub, c.writes()})
		if err != nil {
			return fmt.Errorf("encode changes of an open transaction: %w", err)
		}
		if s.disk+int64(len(data))+4 > s.maxDisk {
			lost := int64(0)
			for _, w := range c.tables {
				lost += w.rows
			}
			s.counts.Dropped[DropSpill] += lost
			t.sets[sub] = &changes{size: 100, unknown: c.unknown + lost}
			continue
		}
		if _, err := t.out.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)); err != nil {
			return fmt.Errorf("write file of an open transaction: %w", err)
		}
		s.disk += int64(len(data)) + 4
		t.written += int64(len(data)) + 4
		delete(t.sets, sub)
	}
	t.last = nil
	return nil
}

func sortedKeys[V any](m map[uint32]V) []uint32 { return slices.Sorted(maps.Keys(m)) }

// free gives up a transaction's file.
func (s *store) free(t *transaction) error {
	if t.file == nil {
		return nil
	}
	s.disk -= t.written
	err := errors.Join(t.file.Close(), os.Remove(t.file.Name()))
	t.file = nil
	if err != nil {
		return fmt.Errorf("remove file of an open transaction: %w", err)
	}
	return nil
}

// each calls fn with all changes that were not rolled back, set by set.
func (t *transaction) each(fn func([]capture.TableWrite) error) error {
	if t.file != nil {
		if err := t.out.Flush(); err != nil {
			return fmt.Errorf("write file of an open transaction: %w", err)
		}
		if _, err := t.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read file of an open transaction: %w", err)
		}
		r := bufio.NewReaderSize(t.file, 1<<16)
		for {
			f, err := readFrame(r)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("read file of an open transaction: %w", err)
			}
			if t.aborted[f.Sub] {
				continue
			}
			if err := fn(f.Writes); err != nil {
				return err
			}
		}
	}
	for _, sub := range sortedKeys(t.sets) {
		if err := fn(t.sets[sub].writes()); err != nil {
			return err
		}
	}
	return nil
}

func readFrame(r io.Reader) (f frame, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, err
	}
	data := make([]byte, binary.LittleEndian.Uint32(head[:]))
	if _, err := io.ReadFull(r, data); err != nil {
		return f, errors.Join(errors.New("it is cut"), err)
	}
	return f, cbor.Unmarshal(data, &f)
}

// shape adds up the changes without their hash slots, which is what the first part of an event has, and how many slots each column has at most.
func (t *transaction) shape() ([]capture.TableWrite, map[cell]int, error) {
	at, cells := map[tableOp]*capture.TableWrite{}, map[cell]int{}
	err := t.each(func(writes []capture.TableWrite) error {
		for i := range writes {
			w := &writes[i]
			k := tableOp{w.Table, w.Op}
			if at[k] == nil {
				at[k] = &capture.TableWrite{Table: w.Table, Op: w.Op}
			}
			addShape(at[k], w)
			for _, c := range w.Columns {
				if len(c.Slots) > 0 {
					cells[cell{k, c.Column, c.Class}] = min(cells[cell{k, c.Column, c.Class}]+len(c.Slots), 1<<16)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var out []capture.TableWrite
	for _, w := range at {
		for i := range w.Columns {
			w.Columns[i].Slots = nil
		}
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b capture.TableWrite) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), cmp.Compare(a.Op, b.Op))
	})
	return out, cells, nil
}

// addShape adds the counts of b to a. Rows of a that were counted before a column of b was there have an unknown value of it, and the other way round.
func addShape(a, b *capture.TableWrite) {
	for i := range b.Columns {
		from := &b.Columns[i]
		j := slices.IndexFunc(a.Columns, func(c capture.ColumnWrite) bool { return c.Column == from.Column && c.Class == from.Class })
		if j < 0 {
			j = len(a.Columns)
			a.Columns = append(a.Columns, capture.ColumnWrite{Column: from.Column, Class: from.Class, Unknown: a.Rows})
		}
		addColumn(&a.Columns[j], from)
	}
	for j := range a.Columns {
		if c := &a.Columns[j]; !slices.ContainsFunc(b.Columns, func(o capture.ColumnWrite) bool { return o.Column == c.Column && o.Class == c.Class }) {
			c.Unknown += b.Rows
		}
	}
	a.Rows += b.Rows
	a.Bytes += b.Bytes
	slices.SortFunc(a.Columns, func(x, y capture.ColumnWrite) int {
		return cmp.Or(strings.Compare(x.Column, y.Column), cmp.Compare(x.Class, y.Class))
	})
}

// addColumn adds counts, and says whether all values are still one. One slot stands for "there are values".
func addColumn(a, b *capture.ColumnWrite) {
	a.Null += b.Null
	a.Unknown += b.Unknown
	a.Moved += b.Moved
	a.Blind += b.Blind
	switch hasA, hasB := a.One || len(a.Slots) > 0, b.One || len(b.Slots) > 0; {
	case !hasB:
	case !hasA:
		a.One, a.Eq = b.One, b.Eq
	case !a.One || !b.One || a.Eq != b.Eq:
		a.One, a.Eq = false, 0
	}
	if len(b.Slots) > 0 {
		a.Slots = b.Slots[:1:1]
	}
}
