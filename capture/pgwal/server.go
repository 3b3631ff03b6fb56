package pgwal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is what a session needs to know of the server.
type server struct {
	version  int
	database string
	walLevel string
	replica  bool
	encoding string
	timeout  time.Duration // wal_sender_timeout; 0: none
	sync     string        // synchronous_standby_names
	may      bool          // the role may replicate
	role     string
}

// The names under which the connections show in pg_stat_activity.
const (
	walName   = "foreshard wal"
	watchName = "foreshard wal watch"
)

// connect opens the connection for everything but the WAL itself.
func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = 10 * time.Second
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing is prepared, so a pooler does not matter
	for name, value := range map[string]string{"application_name": watchName, "statement_timeout": "30s", "lock_timeout": "2s", "client_encoding": "UTF8"} {
		cfg.RuntimeParams[name] = value
	}
	return pgx.ConnectConfig(ctx, cfg)
}

func ask(ctx context.Context, conn *pgx.Conn) (server, error) {
	var s server
	var timeout string
	err := conn.QueryRow(ctx, `select current_setting('server_version_num')::int, current_database()::text, current_setting('wal_level'), pg_is_in_recovery(),
		current_setting('server_encoding'), (select setting from pg_settings where name = 'wal_sender_timeout'), current_setting('synchronous_standby_names'),
		coalesce((select rolsuper or rolreplication from pg_roles where rolname = current_user), false), current_user::text`).
		Scan(&s.version, &s.database, &s.walLevel, &s.replica, &s.encoding, &timeout, &s.sync, &s.may, &s.role)
	if err != nil {
		return s, fmt.Errorf("ask server: %w", err)
	}
	if s.timeout, err = time.ParseDuration(timeout + "ms"); err != nil {
		return s, fmt.Errorf("read wal_sender_timeout: %w", err)
	}
	return s, nil
}

// ErrSetup says that the server is not set up for reading its WAL; trying again does not help until it is.
var ErrSetup = errors.New("the server is not set up for it")

// ready says what keeps the WAL from being read.
func (s *server) ready() error {
	switch {
	case s.version < 120000:
		return fmt.Errorf("%w: it is older than PostgreSQL 12", ErrSetup)
	case s.walLevel != "logical":
		return fmt.Errorf("%w: wal_level is %s: ALTER SYSTEM SET wal_level = 'logical', and restart it", ErrSetup, s.walLevel)
	case s.replica && s.version < 160000:
		return fmt.Errorf("%w: it is a replica, and replicas decode WAL from 16 on: connect to the primary", ErrSetup)
	case !s.may:
		return fmt.Errorf("%w: role %q may not replicate: ALTER ROLE %s REPLICATION", ErrSetup, s.role, pgx.Identifier{s.role}.Sanitize())
	case TakesAnyStandby(s.sync):
		return fmt.Errorf("%w: synchronous_standby_names = %q takes any standby, this reader too, so commits would wait for it: name the standbys", ErrSetup, s.sync)
	}
	return nil
}

// TakesAnyStandby says whether synchronous_standby_names has the wildcard, or the name of the reader's own connection.
func TakesAnyStandby(names string) bool {
	for _, f := range strings.FieldsFunc(names, func(r rune) bool { return strings.ContainsRune("(),", r) }) {
		f = strings.TrimSpace(f)
		if i := strings.LastIndexByte(f, '*'); i >= 0 && strings.TrimSpace(f[i:]) == "*" {
			return true
		}
		if strings.EqualFold(strings.Trim(f, `"`), walName) {
			return true
		}
	}
	return false
}

// The replica identities, as pg_class.relreplident has them.
const (
	identityDefault = 'd'
	identityNothing = 'n'
	identityFull    = 'f'
	identityIndex   = 'i'
)

// table is what the catalog says of one.
type table struct {
	oid          uint32
	schema, name string
	root         string // schema.table of the partitioned table it belongs to, else its own
	partitioned  bool
	leaf         bool // a partition
	identified   bool // its updates and deletes can be published
	primary      bool // it has a primary key that identifies rows
	columns      []string
	keys         []string // of columns, those that are looked at
	foreign      []string // of columns, those whose values are compared by a collation and not by their bytes
}

func (t *table) key() string { return t.schema + "." + t.name }

// tables is the database's tables.
type tables struct {
	all     []*table // sorted by schema and name
	byOID   map[uint32]*table
	domains map[uint32]uint32 // OID of a domain -> of the type below
}

const tablesQuery = `select c.oid, n.nspname::text, c.relname::text, coalesce(rn.nspname || '.' || rc.relname, n.nspname || '.' || c.relname)::text, c.relkind = 'p', c.relispartition,
	c.relreplident = 'f' or c.relreplident = 'd' and p.usable or c.relreplident = 'i' and exists (select from pg_index i where i.indrelid = c.oid and i.indisreplident and i.indisvalid),
	p.usable,
	array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum),
	array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		and (exists (select from pg_index i where i.indrelid = c.oid and a.attnum = any (i.indkey::int2[])) or exists (select from pg_constraint k where k.conrelid = c.oid and a.attnum = any (k.conkey)))),
	array(select a.attname::text from pg_attribute a join pg_collation l on l.oid = a.attcollation where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and not l.collisdeterministic)
	from pg_class c join pg_namespace n on n.oid = c.relnamespace
	left join pg_class rc on c.relispartition and rc.oid = pg_partition_root(c.oid) left join pg_namespace rn on rn.oid = rc.relnamespace
	cross join lateral (select exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary and i.indisvalid and i.indimmediate) as usable) p
	where c.relkind in ('r', 'p') and c.relpersistence = 'p' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
	order by n.nspname collate "C", c.relname collate "C"`

const domainsQuery = `with recursive base (oid, base) as (select oid, oid from pg_type where typtype = 'b'
	union all select t.oid, b.base from pg_type t join base b on t.typbasetype = b.oid where t.typtype = 'd')
	select oid, base from base where oid <> base`

// readTables reads the catalog.
func readTables(ctx context.Context, conn *pgx.Conn, keys []string) (*tables, error) {
	t := &tables{byOID: map[uint32]*table{}, domains: map[uint32]uint32{}}
	rows, err := conn.Query(ctx, tablesQuery)
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	var r table
	_, err = pgx.ForEachRow(rows, []any{&r.oid, &r.schema, &r.name, &r.root, &r.partitioned, &r.leaf, &r.identified, &r.primary, &r.columns, &r.keys, &r.foreign}, func() error {
		c := r
		c.columns, c.keys, c.foreign = slices.Clone(r.columns), slices.Clone(r.keys), slices.Clone(r.foreign)
		t.all, t.byOID[c.oid] = append(t.all, &c), &c
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	if rows, err = conn.Query(ctx, domainsQuery); err != nil {
		return nil, fmt.Errorf("read domains: %w", err)
	}
	var domain, base uint32
	if _, err = pgx.ForEachRow(rows, []any{&domain, &base}, func() error { t.domains[domain] = base; return nil }); err != nil {
		return nil, fmt.Errorf("read domains: %w", err)
	}
	return t, t.addKeys(keys)
}

// addKeys adds the columns that were named to those that are looked at, of a partitioned table in its partitions too.
func (t *tables) addKeys(names []string) error {
	for _, name := range names {
		at := strings.LastIndexByte(name, '.')
		if at <= 0 {
			return fmt.Errorf("%w: key %q is no table.column", ErrSetup, name)
		}
		found := false
		for _, tab := range t.all {
			if named(name[:at], tab.key(), tab.name) || named(name[:at], tab.root, tab.root[strings.LastIndexByte(tab.root, '.')+1:]) {
				if slices.Contains(tab.columns, name[at+1:]) {
					tab.keys = append(tab.keys, name[at+1:])
					found = true
				}
			}
		}
		if !found {
			return fmt.Errorf("%w: key %q: no such table or column", ErrSetup, name)
		}
	}
	return nil
}

// named says whether a name that was given is that of a table: with its schema, or without in any.
func named(given, key, name string) bool { return given == key || given == name }
