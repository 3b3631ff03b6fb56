package pgdoctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Facts are what was read of a server. What the role may not see is missing, and Hidden says so.
type Facts struct {
	Version   int               `json:"version"` // server_version_num
	Text      string            `json:"version_text"`
	Replica   bool              `json:"replica"`
	Database  string            `json:"database"`
	Role      Role              `json:"role"`
	Settings  map[string]string `json:"settings"`     // in the unit of pg_settings; of the server, not of this session
	Own       []string          `json:"own_settings"` // of Settings, those that this role or database overrides for this session
	Overrides []Override        `json:"overrides"`    // ALTER ROLE ... SET and ALTER DATABASE ... SET of settings that hide traffic
	Databases []Database        `json:"databases"`
	Available string            `json:"pg_stat_statements_available"` // version that the server's files would install
	Stats     *Stats            `json:"statistics"`                   // nil: pg_stat_statements cannot be read from here
	StatsWhy  string            `json:"statistics_unreadable,omitempty"`
	Tables    int               `json:"tables"`       // of this database
	Nokey     []string          `json:"tables_nokey"` // tables whose updates and deletes logical replication cannot identify
	WAL       WAL               `json:"wal"`
	Hidden    []string          `json:"hidden_settings"` // names that the role may not read
}

// Role is who asks.
type Role struct {
	Name         string `json:"name"`
	Superuser    bool   `json:"superuser"`
	Replication  bool   `json:"replication"`
	ReadAllStats bool   `json:"pg_read_all_stats"`
	Monitor      bool   `json:"pg_monitor"`
	ReadSettings bool   `json:"pg_read_all_settings"`
}

// Override is a setting of one role, of one database, or of both.
type Override struct {
	Role, Database, Name, Value string
}

// Database is one database and its pg_stat_statements.
type Database struct {
	Name      string `json:"name"`
	Extension string `json:"pg_stat_statements"` // installed version; "" none
	Error     string `json:"error,omitempty"`    // it could not be asked
}

// Stats is the state of pg_stat_statements.
type Stats struct {
	Entries int64 `json:"entries"`
	Unnamed int64 `json:"unreadable_entries"` // texts of other users that the role may not see
	Dealloc int64 `json:"dealloc"`            // eviction passes since the reset; -1: before PostgreSQL 14 it is not told
}

// settings are read by name; one that the server lacks is missing in Facts.
var settingNames = [...]string{
	"auto_explain.log_min_duration", "compute_query_id", "data_directory", "lc_messages", "log_destination", "log_directory", "log_duration", "log_error_verbosity",
	"log_filename", "log_line_prefix", "log_min_duration_sample", "log_min_duration_statement", "log_min_error_statement", "log_min_messages",
	"log_parameter_max_length", "log_parameter_max_length_on_error", "log_rotation_age", "log_rotation_size", "log_statement", "log_statement_sample_rate",
	"log_timezone", "log_transaction_sample_rate", "log_truncate_on_rotation", "logging_collector", "max_replication_slots", "max_slot_wal_keep_size",
	"max_wal_senders", "pg_stat_statements.max", "pg_stat_statements.save", "pg_stat_statements.track", "pg_stat_statements.track_utility",
	"session_preload_libraries", "shared_preload_libraries", "wal_level",
}

// superuserOnly are hidden from roles without pg_read_all_settings.
var superuserOnly = [...]string{"data_directory", "log_directory", "log_filename", "shared_preload_libraries", "session_preload_libraries"}

// maxDatabases are asked for their extension, maxTables listed by name.
const (
	maxDatabases = 100
	maxTables    = 20
)

// Read asks the server. dsn is a connection string as libpq reads it; a password is better in PGPASSWORD or the password file.
func Read(ctx context.Context, dsn string) (f *Facts, err error) {
	cfg, err := configure(dsn)
	if err != nil {
		return nil, fmt.Errorf("read server: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("read server: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	r := reader{ctx: ctx, conn: conn, f: &Facts{Settings: map[string]string{}, Own: []string{}, Overrides: []Override{}, Databases: []Database{}, Nokey: []string{}, Hidden: []string{}}}
	for _, step := range []func() error{r.server, r.settings, r.overrides, r.statistics, r.tables} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("read server: %w", err)
		}
	}
	if err := r.wal(dsn); err != nil {
		return nil, fmt.Errorf("read server: %w", err)
	}
	if err := r.databases(cfg); err != nil {
		return nil, fmt.Errorf("read server: %w", err)
	}
	return r.f, nil
}

// configure makes sessions that cannot write, wait for locks or run for long.
func configure(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = 10 * time.Second
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing is prepared, so a pooler does not matter
	for name, value := range map[string]string{
		"application_name": "foreshard doctor", "default_transaction_read_only": "on", "statement_timeout": "10s", "lock_timeout": "1s",
	} {
		cfg.RuntimeParams[name] = value
	}
	return cfg, nil
}

type reader struct {
	ctx  context.Context
	conn *pgx.Conn
	f    *Facts
}

// each runs a query and scans every row.
func (r *reader) each(sql string, row func(scan func(...any) error) error, args ...any) error {
	rows, err := r.conn.Query(r.ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (r *reader) server() error {
	f := r.f
	var version string
	err := r.conn.QueryRow(r.ctx, `select current_setting('server_version_num'), current_setting('server_version'), pg_is_in_recovery(), current_database(),
		r.rolname, r.rolsuper, r.rolreplication, pg_has_role('pg_read_all_stats', 'usage'), pg_has_role('pg_monitor', 'usage'), pg_has_role('pg_read_all_settings', 'usage')
		from pg_roles r where r.rolname = current_user`).Scan(&version, &f.Text, &f.Replica, &f.Database,
		&f.Role.Name, &f.Role.Superuser, &f.Role.Replication, &f.Role.ReadAllStats, &f.Role.Monitor, &f.Role.ReadSettings)
	if err != nil {
		return fmt.Errorf("ask who is there: %w", err)
	}
	if f.Version, err = strconv.Atoi(version); err != nil {
		return fmt.Errorf("read server_version_num: %w", err)
	}
	return nil
}

// settings reads what the server gives this session, and which of it comes from the role or the database, not from the server: what others
// get cannot be told then.
func (r *reader) settings() error {
	err := r.each(`select name, setting, source in ('database', 'user', 'database user', 'client', 'session') from pg_settings where name = any($1) order by 1`, func(scan func(...any) error) error {
		var name, value string
		var own bool
		if err := scan(&name, &value, &own); err != nil {
			return err
		}
		if r.f.Settings[name] = value; own {
			r.f.Own = append(r.f.Own, name)
		}
		return nil
	}, settingNames[:])
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	for _, name := range superuserOnly {
		if _, ok := r.f.Settings[name]; !ok {
			r.f.Hidden = append(r.f.Hidden, name)
		}
	}
	return nil
}

func (r *reader) overrides() error {
	err := r.each(`select coalesce(r.rolname, ''), coalesce(d.datname, ''), split_part(c, '=', 1), substr(c, strpos(c, '=') + 1)
		from pg_db_role_setting s left join pg_roles r on r.oid = s.setrole left join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) c
		where split_part(c, '=', 1) = any($1) order by 1, 2, 3`, func(scan func(...any) error) error {
		var o Override
		if err := scan(&o.Role, &o.Database, &o.Name, &o.Value); err != nil {
			return err
		}
		r.f.Overrides = append(r.f.Overrides, o)
		return nil
	}, []string{"log_min_duration_statement", "log_statement", "log_duration", "log_min_error_statement", "log_min_messages", "log_parameter_max_length",
		"log_error_verbosity", "lc_messages", "log_min_duration_sample", "log_statement_sample_rate", "log_transaction_sample_rate", "pg_stat_statements.track"})
	if err != nil {
		return fmt.Errorf("read settings of roles and databases: %w", err)
	}
	return nil
}

// statistics asks pg_stat_statements in this database, wherever its schema is.
func (r *reader) statistics() error {
	var schema string
	err := r.conn.QueryRow(r.ctx, `select coalesce(max(default_version), '') from pg_available_extensions where name = 'pg_stat_statements'`).Scan(&r.f.Available)
	if err != nil {
		return fmt.Errorf("read available extensions: %w", err)
	}
	err = r.conn.QueryRow(r.ctx, `select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_stat_statements'`).Scan(&schema)
	if errors.Is(err, pgx.ErrNoRows) {
		r.f.StatsWhy = "the extension is not in this database"
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for pg_stat_statements: %w", err)
	}
	s := Stats{Dealloc: -1}
	err = r.conn.QueryRow(r.ctx, `select count(*), count(*) filter (where queryid is null or query = '<insufficient privilege>') from `+schema+`.pg_stat_statements`).Scan(&s.Entries, &s.Unnamed)
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		r.f.StatsWhy = refused.Message
		return nil
	}
	if err != nil {
		return fmt.Errorf("read pg_stat_statements: %w", err)
	}
	var info bool
	if err := r.conn.QueryRow(r.ctx, `select to_regclass($1) is not null`, schema+".pg_stat_statements_info").Scan(&info); err != nil {
		return fmt.Errorf("look for pg_stat_statements_info: %w", err)
	}
	if info {
		if err := r.conn.QueryRow(r.ctx, `select dealloc from `+schema+`.pg_stat_statements_info`).Scan(&s.Dealloc); err != nil {
			return fmt.Errorf("read pg_stat_statements_info: %w", err)
		}
	}
	r.f.Stats = &s
	return nil
}

func (r *reader) tables() error {
	err := r.conn.QueryRow(r.ctx, `select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`).Scan(&r.f.Tables)
	if err != nil {
		return fmt.Errorf("count tables: %w", err)
	}
	err = r.each(`select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
		and (c.relreplident = 'n' or c.relreplident = 'd' and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary))
		order by 1`, func(scan func(...any) error) error {
		var name string
		if err := scan(&name); err != nil {
			return err
		}
		r.f.Nokey = append(r.f.Nokey, name)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read replica identities: %w", err)
	}
	return nil
}

// databases asks each database which pg_stat_statements it has. One that refuses says why and fails nothing.
func (r *reader) databases(cfg *pgx.ConnConfig) error {
	err := r.each(`select datname from pg_database where datallowconn and not datistemplate order by datname limit $1`, func(scan func(...any) error) error {
		var d Database
		if err := scan(&d.Name); err != nil {
			return err
		}
		r.f.Databases = append(r.f.Databases, d)
		return nil
	}, maxDatabases)
	if err != nil {
		return fmt.Errorf("list databases: %w", err)
	}
	for i := range r.f.Databases {
		d := &r.f.Databases[i]
		var err error
		if d.Name == r.f.Database {
			d.Extension, err = extension(r.ctx, r.conn)
		} else {
			d.Extension, err = r.elsewhere(cfg, d.Name)
		}
		if err != nil {
			if r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			d.Error = reason(err)
		}
	}
	return nil
}

// reason is what the server said, without the address that the connection's own error names.
func reason(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Message
	}
	return err.Error()
}

func (r *reader) elsewhere(cfg *pgx.ConnConfig, database string) (version string, err error) {
	other := cfg.Copy()
	other.Database = database
	conn, err := pgx.ConnectConfig(r.ctx, other)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(r.ctx))) }()
	return extension(r.ctx, conn)
}

func extension(ctx context.Context, conn *pgx.Conn) (string, error) {
	var version string
	err := conn.QueryRow(ctx, `select extversion from pg_extension where extname = 'pg_stat_statements'`).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return version, err
}
