package pgwal

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Config says what is read and how. DSN, HashKey and Dir are required.
type Config struct {
	DSN     string // of the database whose tables are read; a logical slot sees one database
	HashKey [16]byte
	Dir     string // for what does not fit into memory; its files are removed at the start

	Schemas []string // whose tables are read, if Tables is empty; empty: all but the system's
	Tables  []string // table or schema.table; a partitioned table stands for its partitions
	Keys    []string // table.column or schema.table.column: columns that are looked at beside those in keys, indexes and foreign keys

	Publication string // its name; that of the tables without replica identity has "_inserts" after it. "": foreshard
	Create      bool   // make the publications, and keep them as the tables are
	Slot        string // a slot that outlives sessions; "": a temporary one

	MaxRetained int64 // bytes of WAL that the slot may hold; 0: 4 GiB
	Renew       bool  // after the slot was dropped for that, go on with a new one
	MaxSpill    int64 // bytes in Dir; 0: 1 GiB
	MaxMemory   int   // bytes of open transactions, about; 0: 64 MiB

	Poll  time.Duration // between looks at the slot; 0: 5 s
	Tick  time.Duration // longest silence after which the caller is called; 0: 250 ms
	Pause time.Duration // before a session that failed is tried again, doubled up to a minute; 0: 1 s
	// Strict ends Run if the first session finds that the server is not set up for it (ErrSetup). Without it that is tried again too.
	Strict bool
	// Reading is told when WAL is being read, and when it no longer is. Nil: nobody.
	Reading func(bool)
	// Problem is told what went wrong and is tried again, and what is left out. It may be called from several goroutines.
	Problem func(error)
}

// The defaults.
const (
	defaultPublication = "foreshard"
	defaultRetained    = 4 << 30
	defaultSpill       = 1 << 30
	defaultMemory      = 64 << 20
	lastPause          = time.Minute
	drainTime          = 10 * time.Second // how long a stopped reader goes on towards the end of the WAL
)

// insertsSuffix is added to the name of the publication for the one of tables without replica identity.
const insertsSuffix = "_inserts"

// slotName is what PostgreSQL accepts (src/backend/replication/slot.c, ReplicationSlotValidateName).
var slotName = regexp.MustCompile(`^[a-z0-9_]{1,63}$`)

// check fills in the defaults.
func (c *Config) check() error {
	if c.DSN == "" {
		return errors.New("read WAL: no server: a connection string is needed")
	}
	if c.Dir == "" {
		return errors.New("read WAL: no directory")
	}
	if c.Slot != "" && !slotName.MatchString(c.Slot) {
		return fmt.Errorf("read WAL: slot %q: give 1 to 63 lower-case letters, digits and underscores", c.Slot)
	}
	if c.Publication == "" {
		c.Publication = defaultPublication
	}
	if len(c.Publication)+len(insertsSuffix) > 63 || strings.ContainsAny(c.Publication, "\x00,") {
		return fmt.Errorf("read WAL: publication %q: give at most %d bytes, without a comma", c.Publication, 63-len(insertsSuffix))
	}
	for _, d := range []struct{ n, def *int64 }{{&c.MaxRetained, ptr(defaultRetained)}, {&c.MaxSpill, ptr(defaultSpill)}} {
		if *d.n <= 0 {
			*d.n = *d.def
		}
	}
	if c.MaxMemory <= 0 {
		c.MaxMemory = defaultMemory
	}
	for _, d := range []struct {
		n   *time.Duration
		def time.Duration
	}{{&c.Poll, 5 * time.Second}, {&c.Tick, 250 * time.Millisecond}, {&c.Pause, time.Second}} {
		if *d.n <= 0 {
			*d.n = d.def
		}
	}
	if c.Reading == nil {
		c.Reading = func(bool) {}
	}
	if c.Problem == nil {
		c.Problem = func(error) {}
	}
	return nil
}

func ptr(n int64) *int64 { return &n }
