// Package pgstat turns pg_stat_statements of live servers (PostgreSQL 12 and later) into events that say how often each template ran between two
// looks, and what that number is worth: resets, restarts and evictions are seen as far as the server tells them, and make it a lower bound. Values
// are taken out of the texts here. It imports capture and planner/sqltext, nothing else of the project.
//
// Times are the server's own, so that they compare with those of its log. Where this package and the log would call one execution by two texts,
// the template is made the same: a PREPARE that stands for its EXECUTEs is the statement that it names.
package pgstat

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// What the notes of the ledger call what makes statistics worth less.
const (
	NoteLooks     = "statistics_looks"       // looks at a server
	NoteFailed    = "statistics_failed"      // looks that failed; the next one covers their time too
	NoteEvictions = "statistics_evictions"   // passes in which the server dropped rows with their counts
	NoteReset     = "statistics_reset"       // intervals in which counts were reset
	NoteHidden    = "statistics_hidden_rows" // rows of other roles that this one may not see
	NoteOpaque    = "statistics_opaque"      // calls of rows whose text cannot be read
	NoteOther     = "statistics_incomparable"
)

// Why a row has no text.
const (
	reasonLost      = "lost_text" // the server has dropped it, or the row was gone before its text was asked for
	reasonUnlexable = "unlexable"
	reasonEncoding  = "encoding"
)

// lookTime is how long one look may take, connecting included.
const lookTime = time.Minute

// poller looks at one server. It is not safe for concurrent use.
type poller struct {
	dsn     string
	name    string // of the server in messages
	key     hashKey
	cache   *sqltext.Cache
	scanner sqltext.Scanner
	looks   looks // of earlier processes, by source

	conn    *pgx.Conn
	source  string // system identifier and host
	process string // tells two names of one server
	role    string

	schema  string // of the extension, quoted
	columns map[string]bool
	version int
	nested  bool // before 14, with track = all
	max     int64
	texts   map[row]text
	before  *look
}

// row is a row of the view.
type row struct {
	user, database uint32
	query          int64
}

// text is what there is of a row's text: a template, or why there is none.
type text struct {
	template *sqltext.Template
	utility  bool
	opaque   capture.Opaque
}

// Delta is what ran on one server between two looks.
type Delta struct {
	Source   string    // system identifier of the cluster and the server's address
	From, To time.Time // of the server's clock; equal at a look that has none before it to compare with
	// Events are of kind Statistics: the look itself first, without template and calls, then the templates by database, role and text.
	Events []capture.Event
	// Evictions are passes in which rows were dropped; -1: the server does not tell (before 14). Each drops about 5 % of the rows.
	Evictions    int64
	Reset        bool  // the statistics were reset, or the server started anew without them: what ran before that is not in here
	Vanished     int   // rows that were there at From and are gone
	Hidden       int   // rows of other roles that this one may not see
	NewlyHidden  int   // of Hidden, what no look before has told
	Nested       bool  // calls from inside functions are counted too and cannot be told apart
	Incomparable bool  // another server answers under this name: its counts begin here
	Opaque       int64 // calls without a text
	Rows, Max    int64 // of the view, and pg_stat_statements.max
}

// Notes is what the ledger says of a delta.
func (d *Delta) Notes() map[string]int64 {
	notes := map[string]int64{NoteLooks: 1, NoteEvictions: max(d.Evictions, 0), NoteHidden: int64(d.NewlyHidden), NoteOpaque: d.Opaque}
	if d.Reset {
		notes[NoteReset] = 1
	}
	if d.Incomparable {
		notes[NoteOther] = 1
	}
	for k, n := range notes {
		if n == 0 {
			delete(notes, k)
		}
	}
	return notes
}

func newPoller(dsn string, key hashKey, before looks) (*poller, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("read connection string: %w", err)
	}
	return &poller{dsn: dsn, name: address(cfg), key: key, looks: before, texts: map[row]text{}, cache: sqltext.NewCache(64 << 20)}, nil
}

// address is the server of a connection string.
func address(cfg *pgx.ConnConfig) string {
	return net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port)))
}

func (p *poller) connect(ctx context.Context) error {
	cfg, err := pgx.ParseConfig(p.dsn)
	if err != nil {
		return err
	}
	cfg.ConnectTimeout = 10 * time.Second
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing is prepared: utility statements aside, it would be counted
	cfg.RuntimeParams["application_name"] = "foreshard statistics"
	cfg.RuntimeParams["default_transaction_read_only"] = "on"
	cfg.RuntimeParams["statement_timeout"] = "30s"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	p.conn = conn
	if err := errors.Join(p.identify(ctx, cfg), p.prepare(ctx, cfg.Database)); err != nil {
		return errors.Join(err, p.close(context.WithoutCancel(ctx)))
	}
	return nil
}

// identify names the server. A replica has its primary's system identifier, so the address is part of the name.
func (p *poller) identify(ctx context.Context, cfg *pgx.ConnConfig) error {
	var port, started string
	if err := p.conn.QueryRow(ctx, `select current_setting('port'), pg_postmaster_start_time()::text, current_user`).Scan(&port, &started, &p.role); err != nil {
		return err
	}
	system := "unknown" // some managed servers do not tell
	var pg *pgconn.PgError
	var number int64
	switch err := p.conn.QueryRow(ctx, `select system_identifier from pg_control_system()`).Scan(&number); {
	case err == nil:
		system = strconv.FormatUint(uint64(number), 10)
	case !errors.As(err, &pg):
		return err
	}
	where := address(cfg)
	for _, f := range cfg.Fallbacks {
		if f.Host != cfg.Host || f.Port != cfg.Port { // which of them answered
			where = p.conn.PgConn().Conn().RemoteAddr().String()
		}
	}
	p.process = system + " " + port + " " + started
	source := system + "@" + where
	if source != p.source {
		p.source, p.before = source, p.looks[source]
	}
	return nil
}

// prepare finds the extension and its columns, which its installed version decides, not the server's.
func (p *poller) prepare(ctx context.Context, database string) error {
	if database == "" {
		database = p.role
	}
	err := p.conn.QueryRow(ctx, `select quote_ident(n.nspname), current_setting('server_version_num')::int from pg_extension e join pg_namespace n on n.oid = e.extnamespace
		where e.extname = 'pg_stat_statements'`).Scan(&p.schema, &p.version)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("database %q has no extension pg_stat_statements: CREATE EXTENSION pg_stat_statements, with the library in shared_preload_libraries; foreshard doctor tells more", database)
	}
	if err != nil {
		return err
	}
	p.columns = map[string]bool{}
	rows, err := p.conn.Query(ctx, `select * from `+p.schema+`.pg_stat_statements(false) limit 0`)
	if err != nil {
		return err
	}
	for _, f := range rows.FieldDescriptions() {
		p.columns[f.Name] = true
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%w: pg_stat_statements must be in shared_preload_libraries; foreshard doctor tells more", err)
	}
	var track string
	if err := p.conn.QueryRow(ctx, `select current_setting('pg_stat_statements.max')::bigint, current_setting('pg_stat_statements.track')`).Scan(&p.max, &track); err != nil {
		return err
	}
	p.nested = track == "all" && !p.columns["toplevel"]
	return nil
}

func (p *poller) close(ctx context.Context) error {
	if p.conn == nil {
		return nil
	}
	conn := p.conn
	p.conn = nil
	return conn.Close(ctx)
}

// poll looks at the server. After an error the next poll connects again, and compares with the last look that succeeded.
func (p *poller) poll(ctx context.Context) (*Delta, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	d, err := p.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("read pg_stat_statements of %s: %w", p.name, errors.Join(err, p.close(context.WithoutCancel(ctx))))
	}
	return d, nil
}

func (p *poller) look(ctx context.Context) (*Delta, error) {
	if p.conn == nil {
		if err := p.connect(ctx); err != nil {
			return nil, err
		}
	}
	before, rows, hidden, after, err := p.view(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.learn(ctx, rows); err != nil {
		return nil, err
	}
	now := &look{Source: p.source, info: before, Hidden: hidden, Told: hidden, rows: make(map[uint64]counters, len(rows))}
	for r, c := range rows {
		now.rows[p.key.row(r)] = c
	}
	d := &Delta{Source: p.source, From: before.At, To: before.At, Evictions: -1, Hidden: hidden, NewlyHidden: hidden, Nested: p.nested, Rows: int64(len(rows)), Max: p.max}
	if p.before != nil {
		now.Told = max(p.before.Told, hidden)
		d.NewlyHidden = now.Told - p.before.Told
	}
	if err := p.delta(ctx, d, rows, now, after); err != nil {
		return nil, err
	}
	p.before = now
	for r := range p.texts {
		if _, ok := rows[r]; !ok {
			delete(p.texts, r)
		}
	}
	return d, nil
}

// view reads the rows, and the state of the view before and after. An eviction meanwhile counts for both intervals. After a reset meanwhile it is not
// known on which side of it the rows are, and what they count would be counted again: they are read anew.
func (p *poller) view(ctx context.Context) (before info, rows map[row]counters, hidden int, after info, err error) {
	const tries = 3
	if after, err = p.info(ctx); err != nil {
		return before, nil, 0, after, err
	}
	for range tries {
		before = after
		if rows, hidden, err = p.counters(ctx); err != nil {
			return before, nil, 0, after, err
		}
		if after, err = p.info(ctx); err != nil || after.Reset.Equal(before.Reset) {
			return before, rows, hidden, after, err
		}
	}
	return before, nil, 0, after, errors.New("the statistics are reset while they are read, again and again")
}

func (p *poller) info(ctx context.Context) (info, error) {
	i := info{Dealloc: -1}
	if err := p.conn.QueryRow(ctx, `select clock_timestamp(), pg_postmaster_start_time()`).Scan(&i.At, &i.Started); err != nil {
		return i, err
	}
	if p.columns["toplevel"] { // came with pg_stat_statements_info, in 1.9
		if err := p.conn.QueryRow(ctx, `select dealloc, stats_reset from `+p.schema+`.pg_stat_statements_info`).Scan(&i.Dealloc, &i.Reset); err != nil {
			return i, err
		}
	}
	i.At, i.Started, i.Reset = i.At.UTC(), i.Started.UTC(), i.Reset.UTC()
	return i, nil
}

// either is a column, or what stands in for it where the installed version lacks it.
func (p *poller) either(name, otherwise string) string {
	if p.columns[name] {
		return name
	}
	return otherwise
}

// counters reads the rows without their texts. Rows of statements inside functions are left out where the server tells them.
func (p *poller) counters(ctx context.Context) (map[row]counters, int, error) {
	rows, err := p.conn.Query(ctx, `select userid, dbid, queryid, `+p.either("toplevel", "true")+`, calls, rows, `+p.either("total_exec_time", "total_time")+`, `+
		p.either("stats_since", "null::timestamptz")+` from `+p.schema+`.pg_stat_statements(false)`)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	out, hidden := map[row]counters{}, 0
	for rows.Next() {
		var r row
		var query *int64
		var top bool
		var c counters
		var ms float64
		var since *time.Time
		if err := rows.Scan(&r.user, &r.database, &query, &top, &c.Calls, &c.Rows, &ms, &since); err != nil {
			return nil, 0, err
		}
		if query == nil {
			hidden++ // of one another they cannot be told apart
			continue
		}
		if !top {
			continue
		}
		if since != nil {
			c.Since = since.UnixMicro()
		}
		r.query, c.NS = *query, int64(ms*float64(time.Millisecond))
		out[r] = c
	}
	return out, hidden, rows.Err()
}

// names are those of databases and roles by oid; they can be renamed.
func (p *poller) names(ctx context.Context) (databases, users map[uint32]string, err error) {
	databases, users = map[uint32]string{}, map[uint32]string{}
	rows, err := p.conn.Query(ctx, `select true, oid, datname from pg_database union all select false, oid, rolname from pg_roles`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var database bool
		var oid uint32
		var name string
		if err := rows.Scan(&database, &oid, &name); err != nil {
			return nil, nil, err
		}
		if database {
			databases[oid] = name
		} else {
			users[oid] = name
		}
	}
	return databases, users, rows.Err()
}
