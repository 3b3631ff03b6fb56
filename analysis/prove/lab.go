package prove

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// Config says what a laboratory is made of.
type Config struct {
	Server    string // connection string of a PostgreSQL where databases may be created; its databases named Prefix_* are replaced
	Prefix    string // of database names; "foreshard_lab" if empty
	Schema    string // DDL
	Load      func(ctx context.Context, conn *pgconn.PgConn) error
	Catalog   *catalog.Catalog
	Candidate *candidate.Candidate
	Progress  func(done, total int) // may be nil
	Timeout   time.Duration         // of a statement in one database; 5 s if zero
}

// Lab is a set of databases that hold one data set whole and cut up.
type Lab struct {
	cfg    Config
	admin  *pgconn.PgConn
	names  []string // databases made, to be dropped
	whole  *site
	twin   *site              // the whole data again, rows stored in another order
	home   *site              // unsharded and reference tables
	refs   *site              // reference tables only
	shards map[string][]*site // by colo
	types  sync.Map           // oid by type name

	planner *planner.Planner // judges the rows of an INSERT one by one
}

// site is one database of the laboratory.
type site struct {
	name  string
	conn  *pgconn.PgConn
	colo  string // of a shard
	shard int
	rows  map[string][]string // tables' rows before any statement, read once
}

// Build makes the databases. On an error it leaves none behind.
func Build(ctx context.Context, cfg Config) (*Lab, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = "foreshard_lab"
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	admin, err := pgconn.Connect(ctx, cfg.Server)
	if err != nil {
		return nil, fmt.Errorf("connect to laboratory server: %w", err)
	}
	l := &Lab{cfg: cfg, admin: admin, shards: map[string][]*site{}, planner: planner.New(cfg.Catalog, cfg.Candidate)}
	if err := l.build(ctx); err != nil {
		return nil, errors.Join(err, l.Close(context.WithoutCancel(ctx)))
	}
	return l, nil
}

func (l *Lab) build(ctx context.Context) error {
	total := 4
	for _, c := range l.cfg.Candidate.Colos {
		total += c.Shards
	}
	done := 0
	step := func() {
		done++
		if l.cfg.Progress != nil {
			l.cfg.Progress(done, total)
		}
	}
	whole, err := l.create(ctx, "whole", "template0")
	if err != nil {
		return err
	}
	if err := l.fill(ctx, whole); err != nil {
		return err
	}
	// A database can be a template only while nobody is connected to it.
	if err := whole.close(ctx); err != nil {
		return err
	}
	step()
	made := []struct {
		site **site
		name string
		keep func(t *candidate.Table) string
	}{
		{&l.twin, "twin", nil},
		{&l.home, "home", func(t *candidate.Table) string { return keepIf(t.Placement != candidate.Sharded) }},
		{&l.refs, "refs", func(t *candidate.Table) string { return keepIf(t.Placement == candidate.Reference) }},
	}
	for _, m := range made {
		s, err := l.create(ctx, m.name, whole.name)
		if err != nil {
			return err
		}
		*m.site = s
		if m.keep == nil {
			err = l.shuffle(ctx, s)
		} else {
			err = l.cut(ctx, s, m.keep)
		}
		if err != nil {
			return err
		}
		step()
	}
	for _, colo := range l.cfg.Candidate.Colos {
		for shard := range colo.Shards {
			s, err := l.create(ctx, fmt.Sprintf("%s_%d", colo.Name, shard), whole.name)
			if err != nil {
				return err
			}
			s.colo, s.shard = colo.Name, shard
			l.shards[colo.Name] = append(l.shards[colo.Name], s)
			err = l.cut(ctx, s, func(t *candidate.Table) string {
				switch {
				case t.Placement == candidate.Reference:
					return "true"
				case t.Placement == candidate.Sharded && t.Colo == colo:
					return fmt.Sprintf("%s = %d", shardOf(t), shard)
				}
				return "false"
			})
			if err != nil {
				return err
			}
			step()
		}
	}
	l.whole, err = l.open(ctx, whole.name)
	return err
}

func keepIf(keep bool) string {
	if keep {
		return "true"
	}
	return "false"
}

// keyHash is PostgreSQL's own 32-bit hash of a row's shard key: what the planner computed is checked against it, not against the planner.
func keyHash(t *candidate.Table) string {
	col := pgx.Identifier{t.Column}.Sanitize()
	switch t.Colo.KeyType {
	case "int2", "int4", "int8":
		return "hashint8(" + col + "::int8)"
	case "uuid":
		return "uuid_hash(" + col + ")"
	}
	return "hashtext(" + col + "::text)"
}

// shardOf is the SQL expression for the logical shard of a row.
func shardOf(t *candidate.Table) string {
	return fmt.Sprintf("((((%s::bigint & 4294967295) # 2147483648) >> 16) * %d / 65536)", keyHash(t), t.Colo.Shards)
}

func (l *Lab) create(ctx context.Context, suffix, template string) (*site, error) {
	name := l.cfg.Prefix + "_" + suffix
	quoted := pgx.Identifier{name}.Sanitize()
	if err := run(ctx, l.admin, "DROP DATABASE IF EXISTS "+quoted); err != nil {
		return nil, fmt.Errorf("drop old laboratory database %q: %w", name, err)
	}
	if err := run(ctx, l.admin, "CREATE DATABASE "+quoted+" TEMPLATE "+pgx.Identifier{template}.Sanitize()); err != nil {
		return nil, fmt.Errorf("create laboratory database %q: %w", name, err)
	}
	l.names = append(l.names, name)
	return l.open(ctx, name)
}

func (l *Lab) open(ctx context.Context, name string) (*site, error) {
	cfg, err := pgconn.ParseConfig(l.cfg.Server)
	if err != nil {
		return nil, fmt.Errorf("read laboratory server address: %w", err)
	}
	cfg.Database = name
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to laboratory database %q: %w", name, err)
	}
	if err := run(ctx, conn, "SET statement_timeout = '"+l.cfg.Timeout.String()+"'; SET timezone = 'UTC'; SET jit = off; SET max_parallel_workers_per_gather = 0"); err != nil {
		return nil, fmt.Errorf("prepare laboratory database %q: %w", name, err)
	}
	return &site{name: name, conn: conn, rows: map[string][]string{}}, nil
}

func (l *Lab) fill(ctx context.Context, s *site) error {
	if err := run(ctx, s.conn, l.cfg.Schema); err != nil {
		return fmt.Errorf("load schema into laboratory: %w", err)
	}
	if err := run(ctx, s.conn, "RESET search_path"); err != nil {
		return err
	}
	if l.cfg.Load == nil {
		return nil
	}
	if err := l.cfg.Load(ctx, s.conn); err != nil {
		return fmt.Errorf("load data into laboratory: %w", err)
	}
	return nil
}

// cut deletes the rows that a database does not hold. Foreign keys and triggers are off meanwhile: half of the data is meant to be missing.
func (l *Lab) cut(ctx context.Context, s *site, keep func(*candidate.Table) string) error {
	var b strings.Builder
	b.WriteString("SET session_replication_role = replica;")
	for _, t := range l.tables() {
		fmt.Fprintf(&b, "DELETE FROM %s WHERE (%s) IS NOT TRUE;", tableName(l.cfg.Catalog.Relations[t.Key]), keep(t))
	}
	b.WriteString(l.lostForeignKeys())
	b.WriteString("SET session_replication_role = origin")
	if err := run(ctx, s.conn, b.String()); err != nil {
		return fmt.Errorf("cut rows of %q: %w", s.name, err)
	}
	return nil
}

// lostForeignKeys drops the foreign keys that no shard can hold, because they point out of the table's colo: the candidate gives them up, and
// that is reported elsewhere.
func (l *Lab) lostForeignKeys() string {
	var b strings.Builder
	for _, t := range l.tables() {
		r := l.cfg.Catalog.Relations[t.Key]
		for _, fk := range r.ForeignKeys {
			to := l.cfg.Candidate.Table(fk.RefTable)
			kept := to.Placement == candidate.Reference || to.Placement == t.Placement && to.Colo == t.Colo
			if !kept && fk.Name != "" {
				fmt.Fprintf(&b, "ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s;", tableName(r), pgx.Identifier{fk.Name}.Sanitize())
			}
		}
	}
	return b.String()
}

// shuffle stores the rows of each table in another order, so that an answer that rests on the order of rows gives itself away.
func (l *Lab) shuffle(ctx context.Context, s *site) error {
	var b strings.Builder
	b.WriteString("SET session_replication_role = replica;")
	for i, t := range l.tables() {
		r := l.cfg.Catalog.Relations[t.Key]
		cols := storedColumns(r)
		fmt.Fprintf(&b, "CREATE TEMP TABLE lab_%d AS SELECT * FROM %s; DELETE FROM %s; INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM lab_%d ORDER BY md5(lab_%d::text) DESC; DROP TABLE lab_%d;",
			i, tableName(r), tableName(r), tableName(r), cols, cols, i, i, i)
	}
	b.WriteString("SET session_replication_role = origin")
	if err := run(ctx, s.conn, b.String()); err != nil {
		return fmt.Errorf("shuffle rows of %q: %w", s.name, err)
	}
	return nil
}

func (l *Lab) tables() []*candidate.Table { return storedTables(l.cfg.Catalog, l.cfg.Candidate) }

// storedTables are the tables that hold rows, each once: partitions are emptied and filled through their root.
func storedTables(cat *catalog.Catalog, cand *candidate.Candidate) []*candidate.Table {
	var keys []string
	for key, r := range cat.Relations {
		if (r.Kind == catalog.Table || r.Kind == catalog.PartitionedTable) && len(r.Parents) == 0 && !r.Temp {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	tables := make([]*candidate.Table, len(keys))
	for i, key := range keys {
		tables[i] = cand.Table(key)
	}
	return tables
}

func tableName(r *catalog.Relation) string { return pgx.Identifier{r.Schema, r.Name}.Sanitize() }

func storedColumns(r *catalog.Relation) string {
	var cols []string
	for _, c := range r.Columns {
		if !c.Generated {
			cols = append(cols, pgx.Identifier{c.Name}.Sanitize())
		}
	}
	return strings.Join(cols, ", ")
}

// Close drops the databases.
func (l *Lab) Close(ctx context.Context) error {
	var errs []error
	sites := []*site{l.whole, l.twin, l.home, l.refs}
	for _, list := range l.shards {
		sites = append(sites, list...)
	}
	for _, s := range sites {
		if s != nil {
			errs = append(errs, s.close(ctx))
		}
	}
	for _, name := range l.names {
		errs = append(errs, run(ctx, l.admin, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)"))
	}
	errs = append(errs, l.admin.Close(ctx))
	return errors.Join(errs...)
}

func (s *site) close(ctx context.Context) error {
	if s.conn == nil {
		return nil
	}
	return s.conn.Close(ctx)
}

// run executes a string of statements and drops their results.
func run(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	_, err := conn.Exec(ctx, sql).ReadAll()
	return err
}
