package pgwal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// madeBy is the comment of publications that this program made, and that it therefore may change and drop.
const madeBy = "made by foreshard"

// publication is one that there should be.
type publication struct {
	name   string
	tables []*table
	all    bool // updates and deletes too
}

// plan says what should be published: of every table that was asked for its inserts, and its updates and deletes unless these would fail then.
func (c *Config) plan(t *tables, version int) (full, inserts publication, err error) {
	full, inserts = publication{name: c.Publication, all: true}, publication{name: c.Publication + insertsSuffix}
	found := map[string]bool{}
	for _, tab := range t.all {
		if !c.wants(tab, found) {
			continue
		}
		if version < 130000 {
			if tab.partitioned { // before 13 only its partitions can be published, each as a table
				continue
			}
		} else if tab.leaf {
			continue
		}
		if t.safe(tab) {
			full.tables = append(full.tables, tab)
		} else {
			inserts.tables = append(inserts.tables, tab)
		}
	}
	for _, name := range c.Tables {
		if !found[name] {
			return full, inserts, fmt.Errorf("%w: table %q: there is no such table", ErrSetup, name)
		}
	}
	if len(full.tables)+len(inserts.tables) == 0 {
		return full, inserts, fmt.Errorf("%w: there is no table to read", ErrSetup)
	}
	return full, inserts, nil
}

func (c *Config) wants(tab *table, found map[string]bool) bool {
	dot := strings.IndexByte(tab.root, '.')
	if len(c.Tables) == 0 {
		return len(c.Schemas) == 0 || slices.Contains(c.Schemas, tab.root[:dot])
	}
	wanted := false
	for _, given := range c.Tables {
		if named(given, tab.root, tab.root[dot+1:]) {
			found[given], wanted = true, true
		}
	}
	return wanted
}

// safe says whether a table's updates and deletes may be published. Without a replica identity they would fail. A partition that is made later
// inherits a primary key and no other identity, so a partitioned table needs one, and all its partitions must have theirs.
func (t *tables) safe(tab *table) bool {
	if !tab.partitioned {
		return tab.identified
	}
	if !tab.primary {
		return false
	}
	for _, p := range t.all {
		if p.root == tab.root && !p.partitioned && !p.identified {
			return false
		}
	}
	return true
}

func quote(parts ...string) string { return pgx.Identifier(parts).Sanitize() }

func (p *publication) list() string {
	names := make([]string, len(p.tables))
	for i, t := range p.tables {
		names[i] = quote(t.schema, t.name)
	}
	return strings.Join(names, ", ")
}

// sql are the statements that make it; none if it would be empty.
func (p *publication) sql(version int) []string {
	if len(p.tables) == 0 {
		return nil
	}
	what := "insert, truncate"
	if p.all {
		what = "insert, update, delete, truncate"
	}
	with := "publish = '" + what + "'"
	if version >= 130000 {
		with += ", publish_via_partition_root = true"
	}
	return []string{"CREATE PUBLICATION " + quote(p.name) + " FOR TABLE " + p.list() + " WITH (" + with + ");",
		"COMMENT ON PUBLICATION " + quote(p.name) + " IS '" + madeBy + "';"}
}

// SQL is what a role that owns the tables runs where Config.Create is not set. It only reads.
func SQL(ctx context.Context, cfg Config) (_ []string, err error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	conn, err := connect(ctx, cfg.DSN)
	if err != nil {
		return nil, fmt.Errorf("plan publications: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, "set default_transaction_read_only = on"); err != nil {
		return nil, fmt.Errorf("plan publications: %w", err)
	}
	s, err := ask(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("plan publications: %w", err)
	}
	t, err := readTables(ctx, conn, cfg.Keys)
	if err != nil {
		return nil, fmt.Errorf("plan publications: %w", err)
	}
	full, inserts, err := cfg.plan(t, s.version)
	if err != nil {
		return nil, fmt.Errorf("plan publications: %w", err)
	}
	return append(full.sql(s.version), inserts.sql(s.version)...), nil
}

// found is a publication that there is.
type found struct {
	ours, everything, updates bool
	filtered                  int64    // tables with a row filter
	tables                    []string // schema.table, sorted
}

func lookUp(ctx context.Context, conn *pgx.Conn, name string, version int) (*found, error) {
	filters := "0::bigint"
	if version >= 150000 {
		filters = "(select count(*) from pg_publication_rel r where r.prpubid = p.oid and r.prqual is not null)"
	}
	var f found
	err := conn.QueryRow(ctx, `select coalesce(obj_description(p.oid, 'pg_publication'), '') = '`+madeBy+`', p.puballtables, p.pubupdate or p.pubdelete, `+filters+`,
		array(select t.schemaname || '.' || t.tablename from pg_publication_tables t where t.pubname = p.pubname)
		from pg_publication p where p.pubname = $1`, name).Scan(&f.ours, &f.everything, &f.updates, &f.filtered, &f.tables)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up publication %q: %w", name, err)
	}
	slices.Sort(f.tables)
	return &f, nil
}

// publish sees to it that there are publications and returns the names of those to read.
func (c *Config) publish(ctx context.Context, conn *pgx.Conn, s *server, t *tables) ([]string, error) {
	full, inserts, err := c.plan(t, s.version)
	if err != nil {
		return nil, err
	}
	var names []string
	published := map[string]bool{}
	for _, p := range []*publication{&full, &inserts} {
		f, err := lookUp(ctx, conn, p.name, s.version)
		if err != nil {
			return nil, err
		}
		if c.Create && (f == nil || f.ours) {
			if f, err = c.make(ctx, conn, s, p, f); err != nil {
				return nil, err
			}
		}
		if f == nil {
			continue
		}
		if f.filtered > 0 {
			return nil, fmt.Errorf("%w: publication %q leaves rows out (a row filter): give another with --wal-publication", ErrSetup, p.name)
		}
		names = append(names, p.name)
		for _, key := range f.tables {
			published[key] = true
		}
		c.warn(t, p.name, f)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: there is no publication %q: give --wal-create-publication, or let a role that owns the tables run\n%s", ErrSetup, c.Publication,
			strings.Join(append(full.sql(s.version), inserts.sql(s.version)...), "\n"))
	}
	var missing []string
	for _, tab := range append(full.tables, inserts.tables...) {
		if !published[tab.key()] && !published[tab.root] && !t.leaves(tab, published) {
			missing = append(missing, tab.key())
		}
	}
	if len(missing) > 0 {
		c.Problem(fmt.Errorf("writes to %s are not seen: the publication does not have them", some(missing)))
	}
	return names, nil
}

// leaves says whether a partition of a partitioned table is published: as the server lists one that is not published via its root.
func (t *tables) leaves(tab *table, published map[string]bool) bool {
	return tab.partitioned && slices.ContainsFunc(t.all, func(p *table) bool { return p.root == tab.root && p.leaf && published[p.key()] })
}

// some lists a few names.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// make makes a publication, or brings one of ours up to date.
func (c *Config) make(ctx context.Context, conn *pgx.Conn, s *server, p *publication, have *found) (*found, error) {
	var statements []string
	want := make([]string, len(p.tables))
	for i, t := range p.tables {
		want[i] = t.key()
	}
	slices.Sort(want)
	switch {
	case have == nil:
		statements = p.sql(s.version)
	case len(want) == 0:
		statements = []string{"DROP PUBLICATION " + quote(p.name)}
	case !slices.Equal(want, have.tables):
		statements = []string{"ALTER PUBLICATION " + quote(p.name) + " SET TABLE " + p.list()}
	}
	if len(statements) == 0 {
		return have, nil
	}
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return nil, fmt.Errorf("%w: publication %q cannot be made: %w: a role that owns the tables can run\n%s", ErrSetup, p.name, err, strings.Join(p.sql(s.version), "\n"))
		}
	}
	return lookUp(ctx, conn, p.name, s.version)
}

// warn says which tables a publication breaks. It is said and not mended unless the publication is ours: plan has then taken them out.
func (c *Config) warn(t *tables, name string, f *found) {
	if !f.updates {
		return
	}
	var unsafe []string
	for _, tab := range t.all {
		if slices.Contains(f.tables, tab.key()) && !t.safe(tab) {
			unsafe = append(unsafe, tab.key())
		}
	}
	if len(unsafe) > 0 {
		fix := "take them out: ALTER PUBLICATION " + quote(name) + " DROP TABLE ..."
		if f.everything {
			fix = "publish a list of tables, not all"
		}
		c.Problem(fmt.Errorf("UPDATE and DELETE of %s FAIL, or will for new partitions, because publication %q publishes them and they have no replica identity: %s", some(unsafe), name, fix))
	}
}

// Drop removes the slot, if one is named, and the publications that this program made. It returns what it did, in sentences.
func Drop(ctx context.Context, cfg Config) (did []string, err error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	conn, err := connect(ctx, cfg.DSN)
	if err != nil {
		return nil, fmt.Errorf("drop slot and publications: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	s, err := ask(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("drop slot and publications: %w", err)
	}
	if cfg.Slot != "" {
		gone, err := dropSlot(ctx, conn, cfg.Slot)
		if err != nil {
			return nil, err
		}
		if gone {
			did = append(did, fmt.Sprintf("slot %q is dropped", cfg.Slot))
		} else {
			did = append(did, fmt.Sprintf("slot %q is not there", cfg.Slot))
		}
	}
	for _, name := range []string{cfg.Publication, cfg.Publication + insertsSuffix} {
		f, err := lookUp(ctx, conn, name, s.version)
		switch {
		case err != nil:
			return did, err
		case f == nil:
			did = append(did, fmt.Sprintf("publication %q is not there", name))
		case !f.ours:
			did = append(did, fmt.Sprintf("publication %q stays: foreshard did not make it", name))
		default:
			if _, err := conn.Exec(ctx, "DROP PUBLICATION "+quote(name)); err != nil {
				return did, fmt.Errorf("drop publication %q: %w", name, err)
			}
			did = append(did, fmt.Sprintf("publication %q is dropped", name))
		}
	}
	return did, nil
}
