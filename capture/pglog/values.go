package pglog

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/layout"
)

// hasher turns raw values into what may leave: hash slots and keyed equality hashes.
type hasher struct{ k0, k1 uint64 }

func newHasher(key [16]byte) hasher {
	return hasher{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])}
}

// The indexes of capture.Value's arrays.
const (
	intIndex = iota
	textIndex
	uuidIndex
)

// fill hashes raw as every key type that its text can be read as.
func (h hasher) fill(v *capture.Value, raw []byte) {
	v.Has |= capture.TextHash
	v.Slots[textIndex] = layout.Slot(layout.HashBytes(raw))
	v.Eq[textIndex] = siphash.Hash(h.k0, h.k1, raw)
	if len(raw) == 0 || len(raw) > 128 {
		return
	}
	text := unsafe.String(&raw[0], len(raw)) // read only, and not kept
	if c := raw[0]; isDigit(c) || c == '-' || c == '+' || c == ' ' || c >= '\t' && c <= '\r' {
		if n, err := layout.ParseInt8(text); err == nil {
			v.Has |= capture.IntHash
			v.Slots[intIndex] = layout.Slot(layout.HashInt8(n))
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], uint64(n))
			v.Eq[intIndex] = siphash.Hash(h.k0, h.k1, b[:])
		}
	}
	if len(raw) >= 32 && len(raw) <= 41 {
		if u, err := layout.ParseUUID(text); err == nil {
			v.Has |= capture.UUIDHash
			v.Slots[uuidIndex] = layout.Slot(layout.HashUUID(u))
			v.Eq[uuidIndex] = siphash.Hash(h.k0, h.k1, u[:])
		}
	}
}

// opaque describes text that is treated as secret.
func (h hasher) opaque(text []byte, reason string) *capture.Opaque {
	return &capture.Opaque{Bytes: len(text), Hash: fmt.Sprintf("%016x", siphash.Hash(h.k0, h.k1, text)), Reason: reason}
}

// interner makes equal byte strings one string. It is emptied when it has grown too large, so hostile names cannot fill memory.
type interner struct {
	m    map[string]string
	last string
}

const maxInterned = 1 << 14

func (in *interner) get(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if in.last == string(b) {
		return in.last
	}
	if s, ok := in.m[string(b)]; ok {
		in.last = s
		return s
	}
	if in.m == nil || len(in.m) >= maxInterned {
		in.m = make(map[string]string)
	}
	s := string(b)
	in.m[s], in.last = s, s
	return s
}

// name is get for names that PostgreSQL prints as [unknown] where there is none.
func (in *interner) name(b []byte) string {
	if string(b) == "[unknown]" {
		return ""
	}
	return in.get(b)
}
