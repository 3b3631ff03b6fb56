package planner

import (
	"strconv"

	"github.com/foreshard/foreshard/planner/layout"
)

// key is one value that a shard key can have. Two keys are surely the same value iff same says so.
type key struct {
	id    string // identity of a symbol; "" of a known literal
	known bool   // k is the value
	null  bool   // the parameter is bound to NULL
	k     layout.Key
	from  keyOrigin
	slot  int  // the template slot whose bare value it is
	list  bool // a list of unknown length
	// values are the elements of a list of this execution.
	values []layout.Key
}

type keyOrigin uint8

const (
	fromConst keyOrigin = iota
	fromParam
	fromExpr
	fromGenerated
)

func (k *key) same(o *key) bool {
	return k.list == o.list && k.from != fromGenerated && k.id == o.id && (k.id != "" || k.k == o.k && !k.list)
}

// text shows the key in a binding.
func (k *key) text() string {
	switch {
	case k.known:
		return k.k.String()
	case k.slot > 0:
		return "$" + strconv.Itoa(k.slot)
	case k.from == fromGenerated:
		return "generated"
	}
	return "expression"
}

// keyset is a finite set of keys; a nil *keyset stands for all keys.
type keyset struct {
	keys  []key
	or    bool           // made of the branches of an OR
	index map[keyID]bool // of a large set
}

// keyID is what two keys that are surely the same value share.
type keyID struct {
	id   string
	k    layout.Key
	list bool
}

// indexed is the size from which a set keeps an index.
const indexed = 32

var emptySet = &keyset{}

// identity returns what the key has in common with those that are the same; false if none is.
func (k *key) identity() (keyID, bool) {
	switch {
	case k.from == fromGenerated, k.id == "" && k.list:
		return keyID{}, false
	case k.id != "":
		return keyID{id: k.id, list: k.list}, true
	}
	return keyID{k: k.k}, true
}

func (s *keyset) has(k *key) bool {
	id, ok := k.identity()
	if !ok {
		return false
	}
	if len(s.keys) >= indexed {
		s.build()
		return s.index[id]
	}
	for i := range s.keys {
		if s.keys[i].same(k) {
			return true
		}
	}
	return false
}

// build makes the index.
func (s *keyset) build() {
	if s.index != nil {
		return
	}
	s.index = make(map[keyID]bool, 2*len(s.keys))
	for i := range s.keys {
		if id, ok := s.keys[i].identity(); ok {
			s.index[id] = true
		}
	}
}

func (s *keyset) add(k key) {
	if s.has(&k) {
		return
	}
	s.keys = append(s.keys, k)
	if id, ok := k.identity(); ok && s.index != nil {
		s.index[id] = true
	}
}

// single tells whether the set is one value.
func (s *keyset) single() bool { return s != nil && len(s.keys) == 1 && !s.keys[0].list }

func (s *keyset) literal() bool {
	for i := range s.keys {
		if s.keys[i].id != "" || s.keys[i].list || s.keys[i].from == fromGenerated {
			return false
		}
	}
	return true
}

func (s *keyset) hasList() bool {
	for i := range s.keys {
		if s.keys[i].list {
			return true
		}
	}
	return false
}

// intersect returns what both sets allow. Symbols may or may not be equal, so that one of the two sets is kept: the smaller.
func intersect(a, b *keyset) *keyset {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case len(a.keys) == 0:
		return a
	case len(b.keys) == 0:
		return b
	}
	if a.literal() && b.literal() {
		out := &keyset{or: a.or || b.or}
		for i := range a.keys {
			if b.has(&a.keys[i]) {
				out.keys = append(out.keys, a.keys[i])
			}
		}
		return out
	}
	la, lb := a.hasList(), b.hasList()
	if la != lb {
		if la {
			return b
		}
		return a
	}
	if len(b.keys) < len(a.keys) {
		return b
	}
	return a
}

// unite returns what either set allows.
func unite(a, b *keyset) *keyset {
	if a == nil || b == nil {
		return nil
	}
	if len(a.keys) == 0 {
		return b
	}
	if len(b.keys) == 0 {
		return a
	}
	out := &keyset{keys: append(make([]key, 0, len(a.keys)+len(b.keys)), a.keys...), or: true}
	for i := range b.keys {
		out.add(b.keys[i])
	}
	return out
}

// within tells whether every key of a is surely in b.
func within(a, b *keyset) bool {
	if b == nil {
		return true
	}
	if a == nil {
		return false
	}
	for i := range a.keys {
		if !b.has(&a.keys[i]) {
			return false
		}
	}
	return true
}
