package prove_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/analysis/prove"
	"github.com/foreshard/foreshard/fixtures/pgserver"
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/fix"
)

// fixCase is a statement whose fix claims the same result, and how an application would run the fix.
type fixCase struct {
	sql    string
	params []string
	kind   string
	runs   [][]string // parameters of each run of a fix of one statement; nil: once, with params
	feed   bool       // the second statement gets the first one's rows as an array
}

var fixCases = []fixCase{
	{sql: `SELECT f.title, u.name FROM files f JOIN users u ON u.user_id = f.owner_id WHERE f.org_id = 2`, kind: fix.JoinKey},
	{sql: `SELECT f.title, c.body FROM files f LEFT JOIN comments c ON c.file_id = f.file_id WHERE f.org_id = $1`, params: []string{"3"}, kind: fix.JoinKey},
	{sql: `SELECT f.title, u.name, c.body FROM files f JOIN users u ON u.user_id = f.owner_id JOIN comments c ON c.file_id = f.file_id WHERE f.org_id = 1`, kind: fix.JoinKey},
	{sql: `SELECT u.name FROM users u WHERE u.org_id = 2 AND EXISTS (SELECT 1 FROM files f WHERE f.owner_id = u.user_id)`, kind: fix.JoinKey},
	{sql: `SELECT f.title FROM files f LEFT JOIN comments c ON c.file_id = f.file_id WHERE c.file_id IS NULL`, kind: fix.JoinKey},
	{sql: `SELECT u.user_id, count(f.file_id) FROM users u LEFT JOIN files f ON f.owner_id = u.user_id GROUP BY u.user_id`, kind: fix.JoinKey},
	{sql: `SELECT f.title, c.body FROM files f LEFT JOIN comments c ON c.file_id = f.file_id WHERE f.org_id = 3`, kind: fix.Predicate},
	{sql: `UPDATE comments c SET body = f.title FROM files f WHERE f.file_id = c.file_id AND f.org_id = 2`, kind: fix.JoinKey},
	{sql: `SELECT name FROM users WHERE email = 'u7@example.org'`, kind: fix.Lookup, runs: [][]string{{"3"}}},
	{sql: `SELECT title FROM files WHERE org_id IN (1, 3, 4)`, kind: fix.Split, runs: [][]string{{"1"}, {"3"}, {"4"}}},
	{sql: `SELECT f.title, u.name FROM files f JOIN users u ON u.org_id = f.org_id AND u.user_id = f.owner_id AND f.org_id IN (2, 4)`, kind: fix.Split, runs: [][]string{{"2"}, {"4"}}},
	{sql: `DELETE FROM comments WHERE org_id = ANY ('{1,2}') AND body LIKE '%3%'`, kind: fix.Split, runs: [][]string{{"1"}, {"2"}}},
	{sql: `UPDATE files SET title = title || '!' WHERE org_id IN (1, 2)`, kind: fix.Split, runs: [][]string{{"1"}, {"2"}}},
	{sql: `SELECT title FROM files WHERE org_id = 1 UNION ALL SELECT name FROM users WHERE org_id = 2 UNION ALL SELECT flag FROM flags`, kind: fix.Split},
	{sql: `SELECT body FROM comments WHERE org_id = 2 AND file_id IN (SELECT x.file_id FROM stars x)`, kind: fix.Split, feed: true},
	{sql: `UPDATE files SET org_id = $1, title = $2 WHERE org_id = $3 AND file_id = $4`, params: []string{"2", "new", "2", "18"}, kind: fix.SetKey, runs: [][]string{{"new", "2", "18"}}},
	{sql: `INSERT INTO users (org_id, user_id, email, name) VALUES ($1, $2, $3, 'twice') ON CONFLICT (user_id) DO UPDATE SET name = EXCLUDED.name`, params: []string{"3", "7", "u7@example.org"}, kind: fix.ConflictTarget},
	{sql: `INSERT INTO users (org_id, user_id, email, name) VALUES ($1, $2, $3, 'twice') ON CONFLICT DO NOTHING`, params: []string{"3", "99", "other@example.org"}, kind: fix.ConflictTarget},
}

// TestFixesKeepTheResult runs statements and their fixes on a real server, over data that meets what the fix asks for, and compares rows and
// effects; the verdict on what a fix makes of a statement is proved on shards.
func TestFixesKeepTheResult(t *testing.T) {
	srv := pgserver.New(t, pgserver.Options{Major: 17, Settings: map[string]string{"max_connections": "60", "fsync": "off"}})
	file := func(name string) string {
		data, err := os.ReadFile("testdata/fix/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	ddl, data := file("schema.sql"), file("data.sql")
	cat, err := catalog.Load("schema.sql", []byte(ddl))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("candidate.yaml", []byte(file("candidate.yaml")), cat)
	if err != nil {
		t.Fatal(err)
	}
	p := planner.New(cat, cand)
	lab, err := prove.Build(t.Context(), prove.Config{
		Server: srv.DSN("postgres"), Schema: ddl, Catalog: cat, Candidate: cand, Load: prove.LoadSQL("data.sql", strings.NewReader(data)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	conn := database(t, srv.DSN, ddl+"\n"+data)
	for _, c := range fixCases {
		q := planner.Question{SQL: c.sql}
		a := p.Explain(q)
		fixes := fix.Explain(p, q, a)
		i := slices.IndexFunc(fixes, func(f planner.Fix) bool { return f.Kind == c.kind })
		if i < 0 {
			t.Errorf("%s: no %s among %+v", c.sql, c.kind, fixes)
			continue
		}
		f := fixes[i]
		before := outcome(t, conn, []step{{c.sql, c.params}})
		if before.rows+fmt.Sprint(before.count) == "0" {
			t.Errorf("%s: the data shows nothing", c.sql)
		}
		after := outcome(t, conn, c.steps(t, conn, f))
		if before != after {
			t.Errorf("%s\n%s: %s\n%s\nbefore: %+v\nafter: %+v", c.sql, c.kind, f.Semantics, f.SQL, before, after)
		}
		if c.kind == fix.Split {
			continue
		}
		run := planner.Question{SQL: f.SQL}
		for _, v := range slices.Concat(c.runs, [][]string{c.params})[0] {
			run.Params = append(run.Params, planner.Param{Text: v})
		}
		r, err := lab.Prove(t.Context(), prove.Statement{ID: c.kind, Question: run}, p.Explain(run).Verdict)
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != prove.Confirmed && r.Outcome != prove.NotDiscriminated {
			t.Errorf("%s: %s %s: %s", f.SQL, r.Class, r.Outcome, r.Detail)
		}
	}
}

// database makes a database of its own.
func database(t *testing.T, dsn func(string) string, sql string) *pgconn.PgConn {
	t.Helper()
	home, err := pgconn.Connect(t.Context(), dsn("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close(context.WithoutCancel(t.Context()))
	if err := home.Exec(t.Context(), "CREATE DATABASE fixes").Close(); err != nil {
		t.Fatal(err)
	}
	conn, err := pgconn.Connect(t.Context(), dsn("fixes"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
	if err := conn.Exec(t.Context(), sql).Close(); err != nil {
		t.Fatal(err)
	}
	return conn
}

type step struct {
	sql    string
	params []string
}

// steps are what an application runs for a fix.
func (c fixCase) steps(t *testing.T, conn *pgconn.PgConn, f planner.Fix) []step {
	t.Helper()
	parts := strings.Split(f.SQL, ";\n")
	if c.feed {
		res := conn.ExecParams(t.Context(), parts[0], nil, nil, nil, nil).Read()
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		var list []string
		for _, row := range res.Rows {
			list = append(list, string(row[0]))
		}
		return []step{{parts[1], []string{"{" + strings.Join(list, ",") + "}"}}}
	}
	var out []step
	for _, sql := range parts {
		for _, params := range c.runs {
			out = append(out, step{sql, params})
		}
		if len(c.runs) == 0 {
			out = append(out, step{sql, c.params})
		}
	}
	return out
}

// effect is what statements did: their rows, the rows they changed, and the tables after them.
type effect struct {
	rows  string
	count int64
	state string
}

// outcome runs statements in one transaction that is rolled back.
func outcome(t *testing.T, conn *pgconn.PgConn, steps []step) effect {
	t.Helper()
	run := func(sql string, params []string) *pgconn.Result {
		values := make([][]byte, len(params))
		for i, v := range params {
			values[i] = []byte(v)
		}
		res := conn.ExecParams(t.Context(), sql, values, nil, nil, nil).Read()
		if res.Err != nil {
			t.Fatalf("%s: %v", sql, res.Err)
		}
		return res
	}
	run("BEGIN", nil)
	defer run("ROLLBACK", nil)
	var e effect
	var rows []string
	for _, s := range steps {
		res := run(s.sql, s.params)
		e.count += res.CommandTag.RowsAffected()
		for _, row := range res.Rows {
			rows = append(rows, fmt.Sprintf("%q", row))
		}
	}
	sort.Strings(rows)
	e.rows = strings.Join(rows, "\n")
	for _, table := range []string{"users", "files", "comments"} {
		for _, row := range run("SELECT x::text FROM "+table+" x ORDER BY 1", nil).Rows {
			e.state += string(row[0]) + "\n"
		}
	}
	return e
}
