// Package pgstat turns pg_stat_statements of a live server (PostgreSQL 12 and later) into how often each template ran between two looks, and
// what that number is worth: resets, restarts and evictions are seen as far as the server tells them, and make it a lower bound. Values are
// taken out of the texts here. It imports planner/sqltext, nothing else of the project.
package pgstat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/planner/sqltext"
)

// Evidence says what a number of calls is worth.
type Evidence uint8

// The kinds of evidence, best first. Before 17 a row that was reset by itself, and has counted further than before since, cannot be told.
const (
	Exact   Evidence = iota // the calls that there were
	AtLeast                 // the server may have counted fewer than there were: rows were evicted or reset, or a prepared utility statement
	Unclear                 // calls from inside functions are in it too, and cannot be told apart before PostgreSQL 14
)

// String names the kind.
func (e Evidence) String() string {
	return [...]string{Exact: "exact", AtLeast: "at least", Unclear: "unclear"}[e]
}

// Statement is the calls of one template by one role in one database.
type Statement struct {
	Database string // "" if it was dropped since
	User     string
	Text     string // canonical, see Key; "" if Opaque
	Opaque   string // why there is no text: unlexable, or the server has lost it
	Calls    int64
	Time     time.Duration
	Evidence Evidence
}

// Delta is what ran between two looks.
type Delta struct {
	From, To   time.Time
	Statements []Statement // sorted by database, user, text
	// Evictions are passes in which rows were dropped; -1: the server does not tell (before 14). Each drops about 5 % of the rows.
	Evictions int64
	Reset     bool  // the statistics were reset, or the server started anew without them: what ran before that is not in here
	Vanished  int   // rows that were there at From and are gone
	Hidden    int   // rows of other roles that this one may not see: grant pg_read_all_stats
	Nested    bool  // calls from inside functions are counted too and cannot be told apart
	Rows, Max int64 // of the view, and pg_stat_statements.max
}

// Poller looks at one server. It is not safe for concurrent use.
type Poller struct {
	dsn  string
	now  func() time.Time
	conn *pgx.Conn

	schema   string // of the extension, quoted
	columns  map[string]bool
	version  int
	nested   bool // before 14, with track = all
	max      int64
	texts    map[key]text
	before   map[key]counters
	lastInfo info
	at       time.Time
}

// key is a row of the view.
type key struct {
	user, database uint32
	query          int64
	top            bool
}

// counters of a row, and since when they count; since is zero before 17.
type counters struct {
	calls, rows int64
	ms          float64
	since       time.Time
}

// info is the state of the whole view.
type info struct {
	dealloc int64 // -1: not told
	reset   time.Time
	started time.Time // of the server
}

type text struct{ template, opaque string }

// Open connects, and explains what is missing if statistics cannot be read. The caller closes the Poller.
func Open(ctx context.Context, dsn string, now func() time.Time) (*Poller, error) {
	p := &Poller{dsn: dsn, now: now, texts: map[key]text{}}
	if err := p.connect(ctx); err != nil {
		return nil, fmt.Errorf("open pg_stat_statements: %w", err)
	}
	return p, nil
}

func (p *Poller) connect(ctx context.Context) error {
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
	if err := p.prepare(ctx, cfg.Database); err != nil {
		p.conn = nil
		return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	}
	return nil
}

// prepare finds the extension and its columns, which its installed version decides, not the server's.
func (p *Poller) prepare(ctx context.Context, database string) error {
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
	if err := rows.Err(); err != nil { // not in shared_preload_libraries
		return err
	}
	var track string
	if err := p.conn.QueryRow(ctx, `select current_setting('pg_stat_statements.max')::bigint, current_setting('pg_stat_statements.track')`).Scan(&p.max, &track); err != nil {
		return err
	}
	p.nested = track == "all" && !p.columns["toplevel"]
	return nil
}

// Close ends the connection.
func (p *Poller) Close(ctx context.Context) error {
	if p.conn == nil {
		return nil
	}
	conn := p.conn
	p.conn = nil
	return conn.Close(ctx)
}

// Poll looks at the server. The first look gives nil: there is nothing to compare with. After an error the next Poll connects again, and
// compares with the last look that succeeded.
func (p *Poller) Poll(ctx context.Context) (*Delta, error) {
	d, err := p.poll(ctx)
	if err != nil {
		err = errors.Join(err, p.Close(context.WithoutCancel(ctx)))
		return nil, fmt.Errorf("read pg_stat_statements: %w", err)
	}
	return d, nil
}

func (p *Poller) poll(ctx context.Context) (*Delta, error) {
	if p.conn == nil {
		if err := p.connect(ctx); err != nil {
			return nil, err
		}
	}
	at := p.now()
	before, err := p.info(ctx)
	if err != nil {
		return nil, err
	}
	rows, hidden, err := p.counters(ctx)
	if err != nil {
		return nil, err
	}
	after, err := p.info(ctx) // an eviction or reset while the rows were read counts for both intervals
	if err != nil {
		return nil, err
	}
	if err := p.learn(ctx, rows); err != nil {
		return nil, err
	}
	var d *Delta
	if p.before != nil {
		if d, err = p.delta(ctx, rows, after); err != nil {
			return nil, err
		}
		d.From, d.To, d.Hidden, d.Rows, d.Max, d.Nested = p.at, at, hidden, int64(len(rows)), p.max, p.nested
	}
	p.before, p.lastInfo, p.at = rows, before, at
	maps.DeleteFunc(p.texts, func(k key, _ text) bool { _, ok := rows[k]; return !ok })
	return d, nil
}

func (p *Poller) info(ctx context.Context) (info, error) {
	i := info{dealloc: -1}
	if err := p.conn.QueryRow(ctx, `select pg_postmaster_start_time()`).Scan(&i.started); err != nil {
		return i, err
	}
	if !p.columns["toplevel"] { // came with pg_stat_statements_info, in 1.9
		return i, nil
	}
	err := p.conn.QueryRow(ctx, `select dealloc, stats_reset from `+p.schema+`.pg_stat_statements_info`).Scan(&i.dealloc, &i.reset)
	return i, err
}

// either is a column, or what stands in for it where the installed version lacks it.
func (p *Poller) either(name, otherwise string) string {
	if p.columns[name] {
		return name
	}
	return otherwise
}

// counters reads the rows without their texts.
func (p *Poller) counters(ctx context.Context) (map[key]counters, int, error) {
	rows, err := p.conn.Query(ctx, `select userid, dbid, queryid, `+p.either("toplevel", "true")+`, calls, rows, `+p.either("total_exec_time", "total_time")+`, `+
		p.either("stats_since", "null::timestamptz")+` from `+p.schema+`.pg_stat_statements(false)`)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	out, hidden := map[key]counters{}, 0
	for rows.Next() {
		var k key
		var query *int64
		var c counters
		var since *time.Time
		if err := rows.Scan(&k.user, &k.database, &query, &k.top, &c.calls, &c.rows, &c.ms, &since); err != nil {
			return nil, 0, err
		}
		if query == nil {
			hidden++ // of one another they cannot be told apart
			continue
		}
		if !k.top {
			continue
		}
		if since != nil {
			c.since = *since
		}
		k.query = *query
		out[k] = c
	}
	return out, hidden, rows.Err()
}

// learn reads the texts of rows that are new, and takes their values out.
func (p *Poller) learn(ctx context.Context, rows map[key]counters) error {
	var missing []int64
	for k := range rows {
		if _, ok := p.texts[k]; !ok {
			missing = append(missing, k.query)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	list, err := p.conn.Query(ctx, `select userid, dbid, queryid, `+p.either("toplevel", "true")+`, query from `+p.schema+`.pg_stat_statements(true) where queryid = any($1)`, slices.Compact(missing))
	if err != nil {
		return err
	}
	defer list.Close()
	var scanner sqltext.Scanner
	for list.Next() {
		var k key
		var query *string
		if err := list.Scan(&k.user, &k.database, &k.query, &k.top, &query); err != nil {
			return err
		}
		if _, ok := rows[k]; ok {
			p.texts[k] = textOf(&scanner, query)
		}
	}
	return list.Err()
}

func textOf(scanner *sqltext.Scanner, query *string) text {
	if query == nil {
		return text{opaque: "the server has lost the text"}
	}
	scanner.Reset([]byte(*query))
	if !scanner.Next() {
		return text{opaque: "no statement"}
	}
	st := scanner.Statement()
	if st.Bound != sqltext.WithinBounds {
		return text{opaque: "unlexable"}
	}
	t := text{template: Key(string(st.Text))}
	if scanner.Next() {
		return text{opaque: "several statements"}
	}
	return t
}

// Key is a template's text as statistics and logs have it in common: where only a string may stand the server writes a bare $n, which no
// template does.
func Key(template string) string {
	if !strings.Contains(template, "'$") {
		return template
	}
	var b strings.Builder
	for i := 0; i < len(template); {
		if n := quotedParameter(template[i:]); n > 0 {
			b.WriteString(template[i+1 : i+n-1])
			i += n
			continue
		}
		b.WriteByte(template[i])
		i++
	}
	return b.String()
}

// quotedParameter is the length of '$12' at the beginning of s, 0 if it is something else.
func quotedParameter(s string) int {
	if !strings.HasPrefix(s, "'$") {
		return 0
	}
	n := 2
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 2 || n == len(s) || s[n] != '\'' {
		return 0
	}
	return n + 1
}
