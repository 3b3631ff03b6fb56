package pgwal

import (
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/jackc/pglogrepl"

	"github.com/foreshard/foreshard/planner/layout"
)

// The key type classes, indexes into capture.Value.Slots.
const (
	intClass = iota
	textClass
	uuidClass
	noClass = 255
)

// classOf is the class of a built-in type by its fixed OID (src/include/catalog/pg_type.dat). bytea has a hash and no class here; bpchar, whose
// blanks do not count, has neither.
func classOf(oid uint32) uint8 {
	const int8OID, int2OID, int4OID, textOID, varcharOID, uuidOID = 20, 21, 23, 25, 1043, 2950
	switch oid {
	case int2OID, int4OID, int8OID:
		return intClass
	case textOID, varcharOID:
		return textClass
	case uuidOID:
		return uuidClass
	}
	return noClass
}

// hasher turns values into what may leave: hash slots and keyed equality hashes. They are those of capture/pglog for the same key.
type hasher struct{ k0, k1 uint64 }

func newHasher(key [16]byte) hasher {
	return hasher{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])}
}

// hash is of a value in text form; ok is false if it is none of its class.
func (h hasher) hash(class uint8, raw []byte) (slot uint16, eq uint64, ok bool) {
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // read only, and not kept
	switch class {
	case textClass:
		return layout.Slot(layout.HashBytes(raw)), siphash.Hash(h.k0, h.k1, raw), true
	case intClass:
		n, err := layout.ParseInt8(text)
		if err != nil {
			return 0, 0, false
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		return layout.Slot(layout.HashInt8(n)), siphash.Hash(h.k0, h.k1, b[:]), true
	case uuidClass:
		u, err := layout.ParseUUID(text)
		if err != nil {
			return 0, 0, false
		}
		return layout.Slot(layout.HashUUID(u)), siphash.Hash(h.k0, h.k1, u[:]), true
	}
	return 0, 0, false
}

// relation is a table as the server described it for the changes that follow.
type relation struct {
	table string // of a partition its table's
	names []string
	keys  []keyColumn // sorted by name
	seq   uint64      // when it was described
}

// keyColumn is a column that is looked at.
type keyColumn struct {
	name     string
	class    uint8
	at       int  // in the tuple
	identity bool // part of the replica identity
}

// maxKeyColumns bounds what is kept of a table with an index on everything.
const maxKeyColumns = 32

// describe turns a Relation message into a relation. Columns that the catalog names are looked at; of a table that it does not know, those of the
// replica identity.
func (t *tables) describe(m *pglogrepl.RelationMessage) *relation {
	r := &relation{table: m.Namespace + "." + m.RelationName}
	known := t.byOID[m.RelationID]
	if known != nil {
		r.table = known.root
	}
	for i, c := range m.Columns {
		r.names = append(r.names, c.Name)
		class := classOf(c.DataType)
		if base, ok := t.domains[c.DataType]; ok {
			class = classOf(base)
		}
		wanted := c.Flags&1 != 0 && m.ReplicaIdentity != identityFull
		if known != nil {
			wanted = slices.Contains(known.keys, c.Name) || wanted
			if slices.Contains(known.foreign, c.Name) { // its order of equality is not that of bytes
				wanted = false
			}
		}
		if class != noClass && wanted {
			r.keys = append(r.keys, keyColumn{name: c.Name, class: class, at: i, identity: c.Flags&1 != 0})
		}
	}
	slices.SortFunc(r.keys, func(a, b keyColumn) int { return strings.Compare(a.name, b.name) })
	r.keys = r.keys[:min(len(r.keys), maxKeyColumns)]
	return r
}

// knows says whether the catalog had a table with these columns when it was read.
func (t *tables) knows(m *pglogrepl.RelationMessage) bool {
	known := t.byOID[m.RelationID]
	if known == nil || known.name != m.RelationName || known.schema != m.Namespace {
		return false
	}
	for _, c := range m.Columns {
		if !slices.Contains(known.columns, c.Name) {
			return false
		}
	}
	return true
}
