package layout

import (
	"encoding/binary"
	"math/bits"
)

// The hash functions below are PostgreSQL's (src/common/hashfn.c, src/backend/access/hash/hashfunc.c): Bob Jenkins' lookup3 with the initial
// value 0x9e3779b9 + length + 3923095. PostgreSQL keeps them stable, because hash partitioning and hash indexes on disk rest on them.
const seed uint32 = 0x9e3779b9 + 3923095

// HashInt8 is hashint8(v). hashint2 and hashint4 give the same for the values in their range, so one hash serves every integer key.
func HashInt8(v int64) uint32 {
	lo, hi := uint32(v), uint32(uint64(v)>>32)
	if v >= 0 {
		lo ^= hi
	} else {
		lo ^= ^hi
	}
	return hashUint32(lo)
}

// HashUUID is uuid_hash: the hash of the 16 bytes in network order.
func HashUUID(u [16]byte) uint32 { return HashBytes(u[:]) }

// HashBytes is hash_any, which is hashtext and hashvarlena under a deterministic collation: text, varchar and bytea keys.
func HashBytes(k []byte) uint32 { return hashAny(k) }

// HashString is HashBytes of a string, without a copy.
func HashString(s string) uint32 { return hashAny(s) }

// HashBool is the hash of a bool: hashchar, from PostgreSQL 18 on hashbool, which give the same.
func HashBool(v bool) uint32 {
	if v {
		return hashUint32(1)
	}
	return hashUint32(0)
}

// HashDate is the hash of a date, given in days since 2000-01-01: hashint4, from PostgreSQL 18 on hashdate. infinity is the largest int32,
// -infinity the smallest.
func HashDate(days int32) uint32 { return hashUint32(uint32(days)) }

// HashTimestamp is timestamp_hash, also of timestamptz: the value is in microseconds since 2000-01-01, of timestamptz in UTC. infinity is the
// largest int64, -infinity the smallest.
func HashTimestamp(micros int64) uint32 { return HashInt8(micros) }

func hashUint32(k uint32) uint32 {
	const init uint32 = seed + 4
	return final(init+k, init, init)
}

func hashAny[T []byte | string](k T) uint32 {
	a := seed + uint32(len(k))
	b, c := a, a
	for len(k) >= 12 {
		a += word(k, 0)
		b += word(k, 4)
		c += word(k, 8)
		a, b, c = mix(a, b, c)
		k = k[12:]
	}
	var tail [12]byte
	copy(tail[:], k)
	a += binary.LittleEndian.Uint32(tail[0:])
	b += binary.LittleEndian.Uint32(tail[4:])
	c += binary.LittleEndian.Uint32(tail[8:]) << 8 // the lowest byte of c is reserved for the length
	return final(a, b, c)
}

func word[T []byte | string](k T, i int) uint32 {
	return uint32(k[i]) | uint32(k[i+1])<<8 | uint32(k[i+2])<<16 | uint32(k[i+3])<<24
}

func mix(a, b, c uint32) (uint32, uint32, uint32) {
	a -= c
	a ^= bits.RotateLeft32(c, 4)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 6)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 8)
	b += a
	a -= c
	a ^= bits.RotateLeft32(c, 16)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 19)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

func final(a, b, c uint32) uint32 {
	c ^= b
	c -= bits.RotateLeft32(b, 14)
	a ^= c
	a -= bits.RotateLeft32(c, 11)
	b ^= a
	b -= bits.RotateLeft32(a, 25)
	c ^= b
	c -= bits.RotateLeft32(b, 16)
	a ^= c
	a -= bits.RotateLeft32(c, 4)
	b ^= a
	b -= bits.RotateLeft32(a, 14)
	c ^= b
	c -= bits.RotateLeft32(b, 24)
	return c
}
