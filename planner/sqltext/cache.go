package sqltext

import "sync"

// shards of a Cache: enough that workers on a few cores rarely meet.
const shards = 16

// Cache finds the template of a statement. It is safe for use by several goroutines, and its memory is bounded: each shard has two
// generations, and the older one is dropped when the younger is full; a template that is used again moves to the younger one. A template that was
// dropped is made anew, equal and with the same ID, but not the same pointer.
type Cache struct {
	limit  int // bytes in one generation of one shard
	shards [shards]shard
}

type shard struct {
	mu         sync.RWMutex
	young, old map[string]*Template
	bytes      int
	made       uint64
	dropped    uint64
}

// entryOverhead is about what a template costs beside its text, in bytes.
const entryOverhead = 256

// NewCache makes a cache that holds about bytes bytes of templates; 64 MiB are about 100,000 templates.
func NewCache(bytes int) *Cache {
	return &Cache{limit: max(bytes/shards/2, 1)}
}

// CacheStats counts what a cache did.
type CacheStats struct {
	Templates int    // held now
	Made      uint64 // templates made: misses
	Dropped   uint64 // templates dropped for want of room
}

// Stats gives the counts.
func (c *Cache) Stats() CacheStats {
	var st CacheStats
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.RLock()
		st.Templates += len(s.young) + len(s.old)
		st.Made += s.made
		st.Dropped += s.dropped
		s.mu.RUnlock()
	}
	return st
}

// Template gives the template of a statement that a Scanner yielded, or nil if it is Unlexable.
func (c *Cache) Template(st *Statement) *Template {
	if st.Bound == Unlexable {
		return nil
	}
	s := &c.shards[spread(st.key)]
	s.mu.RLock()
	t := s.young[string(st.key)]
	s.mu.RUnlock()
	if t != nil {
		return t
	}
	return s.fetch(st, c.limit)
}

// spread picks a shard from the length and some bytes of a key.
func spread(key []byte) uint32 {
	h := uint32(len(key))
	for i := 0; i < len(key); i += len(key)/8 + 1 {
		h = h*31 + uint32(key[i])
	}
	return h * 0x9E3779B1 >> 28 // 2^32 / golden ratio; the top four bits
}

// fetch moves a template from the old generation to the young one, or makes it.
func (s *shard) fetch(st *Statement, limit int) *Template {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.young[string(st.key)]; t != nil {
		return t
	}
	key := string(st.key)
	t := s.old[key]
	if t == nil {
		t = NewTemplate(key[:len(st.Text)], append([]Slot(nil), st.Slots...))
		s.made++
	} else {
		delete(s.old, key)
	}
	size := len(key) + entryOverhead + 24*len(t.Slots)
	if s.young == nil || s.bytes+size > limit {
		s.dropped += uint64(len(s.old))
		s.old, s.young, s.bytes = s.young, map[string]*Template{}, 0
	}
	s.young[key] = t
	s.bytes += size
	return t
}
