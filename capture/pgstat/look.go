package pgstat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// look is what is remembered of a look at a server: its counters, no text.
type look struct {
	Source string
	info
	Hidden int // rows that this role might not see
	Told   int // the most of them that any look had
	rows   map[uint64]counters
}

// looks are the last ones, by source.
type looks map[string]*look

// info is the state of the whole view at a look.
type info struct {
	At      time.Time // by the server's clock
	Dealloc int64     // -1: not told
	Reset   time.Time // zero: not told
	Started time.Time // of the server
}

// counters of a row, and since when they count.
type counters struct {
	Calls, Rows, NS int64
	Since           int64 // microseconds since 1970; 0: not told, before 17
}

// another says that what is seen now is not the server of the look before, but one that has counted under other eyes: a standby that took over,
// for instance. A server that started, or was reset, after that look counts from then; one that did so before it and is not the same is another.
func (l *look) another(now info) bool {
	return !now.Started.Equal(l.Started) && !now.Started.After(l.At) || !now.Reset.Equal(l.Reset) && !now.Reset.After(l.At)
}

// savedLooks is a Group's state.
type savedLooks struct {
	Version int         `cbor:"1,keyasint"`
	Looks   []savedLook `cbor:"2,keyasint"` // by source
}

type savedLook struct {
	Source  string   `cbor:"1,keyasint"`
	At      int64    `cbor:"2,keyasint"` // times are microseconds since 1970, as the server has them
	Dealloc int64    `cbor:"3,keyasint"`
	Reset   *int64   `cbor:"4,keyasint"`
	Started int64    `cbor:"5,keyasint"`
	Hidden  int      `cbor:"6,keyasint"`
	Told    int      `cbor:"7,keyasint"`
	Names   []uint64 `cbor:"8,keyasint"` // of rows, ascending
	Counts  []int64  `cbor:"9,keyasint"` // four of each: calls, rows, nanoseconds, since
}

const savedVersion = 1

// encode writes looks.
func (all looks) encode() ([]byte, error) {
	out := savedLooks{Version: savedVersion}
	for _, source := range slices.Sorted(maps.Keys(all)) {
		l := all[source]
		s := savedLook{Source: source, At: l.At.UnixMicro(), Dealloc: l.Dealloc, Started: l.Started.UnixMicro(), Hidden: l.Hidden, Told: l.Told,
			Names: slices.Sorted(maps.Keys(l.rows)), Counts: make([]int64, 0, 4*len(l.rows))}
		if !l.Reset.IsZero() {
			at := l.Reset.UnixMicro()
			s.Reset = &at
		}
		for _, name := range s.Names {
			c := l.rows[name]
			s.Counts = append(s.Counts, c.Calls, c.Rows, c.NS, c.Since)
		}
		out.Looks = append(out.Looks, s)
	}
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return nil, fmt.Errorf("encode looks at statistics: %w", err)
	}
	data, err := mode.Marshal(&out)
	if err != nil {
		return nil, fmt.Errorf("encode looks at statistics: %w", err)
	}
	return data, nil
}

// decodeLooks reads what encode wrote; nil is no look.
func decodeLooks(data []byte) (looks, error) {
	all := looks{}
	if data == nil {
		return all, nil
	}
	var in savedLooks
	if err := cbor.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("read looks at statistics: %w", err)
	}
	if in.Version != savedVersion {
		return nil, fmt.Errorf("read looks at statistics: they have version %d, this program reads %d", in.Version, savedVersion)
	}
	for _, s := range in.Looks {
		if len(s.Counts) != 4*len(s.Names) || !slices.IsSortedFunc(s.Names, cmp.Compare[uint64]) {
			return nil, fmt.Errorf("read looks at statistics: the look at %q is damaged", s.Source)
		}
		l := &look{Source: s.Source, Hidden: s.Hidden, Told: s.Told, rows: make(map[uint64]counters, len(s.Names)),
			info: info{At: time.UnixMicro(s.At).UTC(), Dealloc: s.Dealloc, Started: time.UnixMicro(s.Started).UTC()}}
		if s.Reset != nil {
			l.Reset = time.UnixMicro(*s.Reset).UTC()
		}
		for i, name := range s.Names {
			c := s.Counts[4*i:]
			l.rows[name] = counters{Calls: c[0], Rows: c[1], NS: c[2], Since: c[3]}
		}
		all[s.Source] = l
	}
	return all, nil
}
