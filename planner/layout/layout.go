// Package layout turns a shard key value into the logical shard that holds it: PostgreSQL's own 32-bit hash of the key, then a slot, then a
// shard. It is a pure leaf and imports nothing of the project; capture uses it as well, so that values need not leave their source.
//
// The same in SQL, for a bigint key and n shards: ((((hashint8(k)::bigint & 4294967295) # 2147483648) >> 16) * n) / 65536.
package layout

// Slots is the number of hash slots; a layout is a split of them into logical shards.
const Slots = 65536

// MaxShards is the largest number of logical shards: one slot each.
const MaxShards = Slots

// Slot returns the hash slot, 0..65535, of a PostgreSQL hash. Slots are in the order of the hash as a signed number, so that equal ranges of
// slots are equal ranges of PostgreSQL's int4 hash values.
func Slot(h uint32) uint16 { return uint16((h ^ 0x80000000) >> 16) }

// Shard returns the logical shard, 0..shards-1, of a slot. shards is 1..65536.
func Shard(slot uint16, shards int) int { return int(slot) * shards / Slots }

// Range returns the first and the last slot of a logical shard; it is the inverse of Shard.
func Range(shard, shards int) (first, last uint16) {
	return uint16((shard*Slots + shards - 1) / shards), uint16(((shard+1)*Slots+shards-1)/shards - 1)
}
