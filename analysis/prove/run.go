package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
)

// answer is what a statement did in one database: its result and the rows of the watched tables after it. Everything is rolled back.
type answer struct {
	rows   []string            // result rows as text, in order
	count  int64               // rows affected
	state  map[string][]string // watched table -> its rows after the statement, sorted
	strays []string            // rows that the statement left on a shard where they do not belong
	code   string              // SQLSTATE, "" success
	text   string              // error message
}

// cancelled is the SQLSTATE of a statement that ran into its time limit.
const cancelled = "57014"

const tooLong = "the statement takes too long on this data"

// Prove runs one statement as its verdict says and compares. An error means that the laboratory itself failed.
func (l *Lab) Prove(ctx context.Context, st Statement, v planner.Verdict) (Result, error) {
	r := Result{ID: st.ID, Class: v.Class}
	if sampled(st.SQL) {
		r.Outcome, r.Detail = NotDeterministic, "TABLESAMPLE without REPEATABLE takes other rows each time"
		return r, nil
	}
	plan, why := l.plan(st, v)
	if why != "" {
		r.Outcome, r.Cause, r.Detail = Refused, why, why
		return r, nil
	}
	whole, err := l.ask(ctx, l.whole, plan, plan.watch)
	if err != nil {
		return r, err
	}
	if v.Class == planner.Invalid {
		return proveInvalid(r, whole), nil
	}
	if whole.code != "" {
		r.Outcome, r.Cause, r.Detail = Refused, "fails on the whole data with SQLSTATE "+whole.code, fmt.Sprintf("the statement fails on the whole data: %s (%s)", whole.text, whole.code)
		if whole.code == cancelled {
			r.Cause, r.Detail = tooLong, tooLong
		}
		return r, nil
	}
	parts := make([]*answer, len(plan.sites))
	g, gctx := errgroup.WithContext(ctx)
	for i, s := range plan.sites {
		g.Go(func() (err error) {
			parts[i], err = l.ask(gctx, s, plan, plan.watch)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return r, err
	}
	if i := slices.IndexFunc(parts, func(a *answer) bool { return a.code == cancelled }); i >= 0 {
		r.Outcome, r.Cause, r.Detail = Refused, tooLong, tooLong
		return r, nil
	}
	diff, err := l.compare(ctx, plan, whole, parts)
	if err != nil {
		return r, err
	}
	if len(diff) > 0 {
		return l.doubt(ctx, r, plan, whole, diff)
	}
	r.Outcome = Confirmed
	sharp, err := l.discriminated(ctx, plan, whole, parts)
	if err != nil {
		return r, err
	}
	if !sharp {
		r.Outcome, r.Detail = NotDiscriminated, "too little data: another place would have given the same answer"
	}
	return r, nil
}

func proveInvalid(r Result, whole *answer) Result {
	switch {
	case whole.code == "":
		r.Outcome, r.Detail = Refuted, "PostgreSQL accepts the statement"
	case strings.HasPrefix(whole.code, "42"):
		r.Outcome = Confirmed
	default:
		r.Outcome, r.Cause, r.Detail = Refused, "invalid, but PostgreSQL's failure depends on data", fmt.Sprintf("PostgreSQL fails with %s, which depends on data", whole.code)
	}
	return r
}

// doubt decides what a difference means: a statement that answers differently over the same rows in another order proves nothing.
func (l *Lab) doubt(ctx context.Context, r Result, plan *plan, whole *answer, diff []string) (Result, error) {
	for _, s := range []*site{l.twin, l.whole} {
		again, err := l.ask(ctx, s, plan, plan.watch)
		if err != nil {
			return r, err
		}
		if again.code != "" || len(diffBags(whole.rows, again.rows)) > 0 || len(diffStates(whole.state, again.state)) > 0 {
			r.Outcome, r.Detail = NotDeterministic, "the whole database answers differently itself when its rows are stored in another order"
			return r, nil
		}
	}
	r.Outcome, r.Detail = Refuted, "the shards of the verdict answer otherwise than the whole database"
	if len(diff) > maxDiff {
		diff = append(diff[:maxDiff:maxDiff], fmt.Sprintf("... and %d more", len(diff)-maxDiff))
	}
	r.Diff = diff
	return r, nil
}

// ask runs the plan's text in one database, inside a transaction that is rolled back: one round trip.
func (l *Lab) ask(ctx context.Context, s *site, p *plan, watch []*candidate.Table) (*answer, error) {
	a := &answer{}
	sql := p.sql
	if text, ok := p.texts[s]; ok {
		sql = text
	}
	oids, err := l.paramTypes(ctx, s, p.params)
	if err != nil {
		return a, a.fail(s, err)
	}
	texts := make([][]byte, len(p.params))
	for i, param := range p.params {
		if !param.Null {
			texts[i] = []byte(param.Text)
		}
	}
	if p.readOnly {
		res := s.conn.ExecParams(ctx, sql, texts, oids, nil, nil).Read()
		if res.Err != nil {
			return a, a.fail(s, res.Err)
		}
		a.take(res)
		return a, nil
	}
	err = l.execute(ctx, s, p, sql, watch, texts, oids, a)
	if rerr := run(ctx, s.conn, "ROLLBACK; RESET search_path"); rerr != nil {
		return nil, errors.Join(err, fmt.Errorf("roll back in %q: %w", s.name, rerr))
	}
	return a, err
}

func (l *Lab) execute(ctx context.Context, s *site, p *plan, sql string, watch []*candidate.Table, texts [][]byte, oids []uint32, a *answer) error {
	if p.setup != "" {
		if err := run(ctx, s.conn, "BEGIN; "+p.setup); err != nil {
			return a.fail(s, err)
		}
	}
	batch := &pgconn.Batch{}
	if p.setup == "" {
		batch.ExecParams("BEGIN", nil, nil, nil, nil)
	}
	batch.ExecParams(sql, texts, oids, nil, nil)
	for _, t := range watch {
		batch.ExecParams(l.stateQuery(s, t), nil, nil, nil, nil)
	}
	results, err := s.conn.ExecBatch(ctx, batch).ReadAll()
	if err != nil {
		return a.fail(s, err)
	}
	results = results[len(results)-1-len(watch):]
	a.take(results[0])
	if len(watch) > 0 {
		a.state = map[string][]string{}
	}
	for i, t := range watch {
		var rows []string
		for _, row := range results[1+i].Rows {
			rows = append(rows, string(row[0]))
			if string(row[1]) == "t" {
				a.strays = append(a.strays, fmt.Sprintf("row of %s on a wrong shard: %s", t.Key, row[0]))
			}
		}
		sort.Strings(rows)
		a.state[t.Key] = rows
	}
	return nil
}

// stateQuery reads a table's rows, and of each whether PostgreSQL's own hash sends it to another shard than the one it is on.
func (l *Lab) stateQuery(s *site, t *candidate.Table) string {
	stray := "false"
	if s.colo != "" && t.Placement == candidate.Sharded && t.Colo.Name == s.colo {
		stray = fmt.Sprintf("%s IS DISTINCT FROM %d", shardOf(t), s.shard)
	}
	return fmt.Sprintf("SELECT x::text, %s FROM %s x", stray, tableName(l.cfg.Catalog.Relations[t.Key]))
}

func (a *answer) take(res *pgconn.Result) {
	for _, row := range res.Rows {
		a.rows = append(a.rows, rowText(row))
	}
	a.count = res.CommandTag.RowsAffected()
}

// fail keeps an error that the server gave as part of the answer; any other one is the laboratory's.
func (a *answer) fail(s *site, err error) error {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		a.code, a.text = pgErr.Code, pgErr.Message
		return nil
	}
	return fmt.Errorf("run statement in %q: %w", s.name, err)
}

// paramTypes gives the oids of the parameters' types, 0 for one that is not declared.
func (l *Lab) paramTypes(ctx context.Context, s *site, params []planner.Param) ([]uint32, error) {
	oids := make([]uint32, len(params))
	for i, p := range params {
		if p.Type == "" {
			continue
		}
		if oid, ok := l.types.Load(p.Type); ok {
			oids[i] = oid.(uint32)
			continue
		}
		res := s.conn.ExecParams(ctx, "SELECT $1::regtype::oid", [][]byte{[]byte(p.Type)}, nil, nil, nil).Read()
		if res.Err != nil {
			return nil, res.Err
		}
		if _, err := fmt.Sscan(string(res.Rows[0][0]), &oids[i]); err != nil {
			return nil, fmt.Errorf("read type of parameter %d: %w", i+1, err)
		}
		l.types.Store(p.Type, oids[i])
	}
	return oids, nil
}

func rowText(row [][]byte) string {
	var b strings.Builder
	for i, v := range row {
		if i > 0 {
			b.WriteString(" | ")
		}
		if v == nil {
			b.WriteString("NULL")
			continue
		}
		fmt.Fprintf(&b, "%q", v)
	}
	return b.String()
}

// tableRows reads a whole table, sorted.
func (l *Lab) tableRows(ctx context.Context, s *site, t *candidate.Table) ([]string, error) {
	res := s.conn.ExecParams(ctx, "SELECT x::text FROM "+tableName(l.cfg.Catalog.Relations[t.Key])+" x", nil, nil, nil, nil).Read()
	if res.Err != nil {
		return nil, fmt.Errorf("read table %q of %q: %w", t.Key, s.name, res.Err)
	}
	rows := make([]string, 0, len(res.Rows))
	for _, r := range res.Rows {
		rows = append(rows, string(r[0]))
	}
	sort.Strings(rows)
	return rows, nil
}

// before gives a table's rows in a database that no statement has touched.
func (l *Lab) before(ctx context.Context, s *site, t *candidate.Table) ([]string, error) {
	if rows, ok := s.rows[t.Key]; ok {
		return rows, nil
	}
	rows, err := l.tableRows(ctx, s, t)
	if err == nil {
		s.rows[t.Key] = rows
	}
	return rows, err
}

// diffBags gives the lines that one bag has more often than the other.
func diffBags(whole, parts []string) []string {
	n := map[string]int{}
	for _, r := range whole {
		n[r]++
	}
	for _, r := range parts {
		n[r]--
	}
	var lines []string
	for r, d := range n {
		for ; d > 0; d-- {
			lines = append(lines, "- "+r)
		}
		for ; d < 0; d++ {
			lines = append(lines, "+ "+r)
		}
	}
	sort.Strings(lines)
	return lines
}

func diffStates(whole, parts map[string][]string) []string {
	var lines []string
	for key, rows := range whole {
		for _, line := range diffBags(rows, parts[key]) {
			lines = append(lines, line[:2]+key+": "+line[2:])
		}
	}
	sort.Strings(lines)
	return lines
}

// asSet drops doubles.
func asSet(rows []string) []string {
	seen := map[string]bool{}
	var set []string
	for _, r := range rows {
		if !seen[r] {
			seen[r] = true
			set = append(set, r)
		}
	}
	return set
}
