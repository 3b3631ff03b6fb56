package sqltext

import (
	"encoding/binary"
	"strings"
)

// category is PostgreSQL's class of a keyword: what it may name without quotes.
type category uint8

const (
	catNone category = iota
	catUnreserved
	catColumnName
	catTypeName
	catReserved
)

const (
	tableBits  = 12
	longestKey = 17                  // current_timestamp
	foldCase   = 0x20202020_20202020 // maps A-Z to a-z and keeps different identifier bytes apart
	hashFactor = 0x9E3779B97F4A7C15  // 2^64 / golden ratio: Fibonacci hashing
)

type entry struct {
	head uint64 // first eight bytes, case folded
	word string
	id   kw
	cat  category
}

// keywordTable is an open hash table over a word's first eight bytes and its length. It is built once and never changed.
type keywordTable struct {
	slots   [1 << tableBits]uint16 // index in entries + 1
	entries []entry
}

var keywordsByHash = newKeywordTable()

func newKeywordTable() *keywordTable {
	t := &keywordTable{}
	ids := map[string]kw{}
	for i, w := range strings.Fields(specialWords) {
		ids[w] = kw(i + 1)
	}
	next := kwLast
	for cat, words := range []string{"", unreserved, columnNames, typeNames, reserved} {
		for _, w := range strings.Fields(words) {
			id, ok := ids[w]
			if !ok {
				id = next
				next++
			}
			t.add(entry{head: headOf([]byte(w), 0, len(w)), word: w, id: id, cat: category(cat)})
		}
	}
	return t
}

func (t *keywordTable) add(e entry) {
	t.entries = append(t.entries, e)
	for h := hashOf(e.head, len(e.word)); ; h = (h + 1) & (1<<tableBits - 1) {
		if t.slots[h] == 0 {
			t.slots[h] = uint16(len(t.entries))
			return
		}
	}
}

func hashOf(head uint64, n int) uint32 {
	return uint32((head + uint64(n)) * hashFactor >> (64 - tableBits))
}

// headOf packs up to eight bytes of src[start:end], case folded.
func headOf(src []byte, start, end int) uint64 {
	n := end - start
	if len(src)-start >= 8 {
		v := binary.LittleEndian.Uint64(src[start:])
		if n < 8 {
			v &= 1<<(8*uint(n)) - 1
			return (v | foldCase) & (1<<(8*uint(n)) - 1)
		}
		return v | foldCase
	}
	var v uint64
	for i := range min(n, 8) {
		v |= uint64(src[start+i]|0x20) << (8 * uint(i))
	}
	return v
}

// find gives the keyword that src[start:end] spells in any case, or nil.
func (t *keywordTable) find(src []byte, start, end int) *entry {
	n := end - start
	if n > longestKey {
		return nil
	}
	head := headOf(src, start, end)
	for h := hashOf(head, n); ; h = (h + 1) & (1<<tableBits - 1) {
		i := t.slots[h]
		if i == 0 {
			return nil
		}
		e := &t.entries[i-1]
		if e.head != head || len(e.word) != n {
			continue
		}
		if n > 8 && !equalTail(src[start+8:end], e.word[8:]) {
			continue
		}
		return e
	}
}

func equalTail(b []byte, w string) bool {
	for i := range b {
		if b[i]|0x20 != w[i]|0x20 {
			return false
		}
	}
	return true
}
