package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/foreshard/foreshard/fixtures/pgserver"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// TestServerAgrees prepares every statement of the golden cases and the oracle on a real PostgreSQL 17: what the server rejects has a
// problem, what it accepts is not called invalid, and both find the same names and types of outputs and parameters.
func TestServerAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a PostgreSQL server")
	}
	srv := pgserver.New(t, pgserver.Options{Major: 17})
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ddl := oracleSchema(t)
		for _, f := range ar.Files {
			switch f.Name {
			case "schema.sql":
				ddl = f.Data
			case "more.sql":
				ddl = append(ddl, f.Data...)
			}
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if name == "utility" {
			continue // the server does not analyse them when it prepares
		}
		s := newServerSchema(t, srv, "golden_"+name, ddl)
		for _, f := range ar.Files {
			if base, ok := strings.CutSuffix(f.Name, ".sql"); ok && base != "schema" && base != "more" {
				s.compare(name+"/"+base, string(f.Data), caseOptions(string(f.Data)))
			}
		}
	}
	s := newServerSchema(t, srv, "oracle", oracleSchema(t))
	for _, c := range oracle(t) {
		s.compare(c.ID, c.SQL, c.options())
	}
	s.operators()
	app := newServerSchema(t, srv, "app", readFile(t, "../../fixtures/app/schema.sql"))
	for _, sql := range appQueries(t) {
		app.compare("app", sql, appOptions)
	}
}

// operators compares the choice of operators and functions over random pairs of types.
func (s *serverSchema) operators() {
	rnd := rand.New(rand.NewPCG(1, 2))
	types := strings.Fields("int2 int4 int8 numeric float4 float8 text varchar bpchar name uuid bool date timestamp timestamptz time interval jsonb json oid regclass int4[] int8[] text[] bytea bit int4range inet")
	names := strings.Fields("= <> < <= > >= + - * / % || && @> <@ ~~ ~ ^ & | # << -> ->> ?")
	funcs := strings.Fields("abs lower length greatest coalesce nullif date_trunc to_char round mod concat substring replace age date_part array_append array_cat jsonb_set max sum avg min string_agg array_agg percentile_disc count left extract width_bucket generate_series timezone")
	value := func() string {
		if rnd.IntN(4) == 0 {
			return "NULL"
		}
		return "NULL::" + types[rnd.IntN(len(types))]
	}
	for i := range 1500 {
		var sql string
		switch rnd.IntN(4) {
		case 0:
			sql = fmt.Sprintf("SELECT %s(%s)", funcs[rnd.IntN(len(funcs))], value())
		case 1:
			sql = fmt.Sprintf("SELECT %s(%s, %s)", funcs[rnd.IntN(len(funcs))], value(), value())
		default:
			sql = fmt.Sprintf("SELECT %s %s %s", value(), names[rnd.IntN(len(names))], value())
		}
		s.compare(fmt.Sprintf("random %d", i), sql, resolve.Options{})
	}
}

type serverSchema struct {
	t     *testing.T
	conn  *pgx.Conn
	types map[uint32]string
	cat   *catalog.Catalog
}

func newServerSchema(t *testing.T, srv *pgserver.Server, name string, ddl []byte) *serverSchema {
	t.Helper()
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, srv.DSN(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	for _, stmt := range templatesSource(string(ddl)) { // one by one: an extension the server lacks takes only itself away
		if _, err := conn.Exec(ctx, stmt); err != nil {
			t.Logf("%s: %v", name, err)
		}
	}
	s := &serverSchema{t: t, conn: conn, types: map[uint32]string{}, cat: loadSchema(t, ddl)}
	rows, err := conn.Query(ctx, `SELECT t.oid, CASE WHEN n.nspname IN ('pg_catalog','information_schema') THEN t.typname ELSE n.nspname || '.' || t.typname END
		FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var oid uint32
		var name string
		if err := rows.Scan(&oid, &name); err != nil {
			t.Fatal(err)
		}
		s.types[oid] = name
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return s
}

func templatesSource(text string) (out []string) {
	var sc sqltext.Scanner
	sc.Reset([]byte(text))
	for sc.Next() {
		sp := sc.Statement().Span
		out = append(out, text[sp.Start:sp.End])
	}
	return out
}

func (s *serverSchema) compare(id, sql string, opt resolve.Options) {
	ctx := context.Background()
	tmpls := templates(sql)
	if len(tmpls) != 1 {
		return
	}
	st := resolve.Statement(tmpls[0], s.cat, opt)
	if st.Utility != nil {
		return
	}
	path := "public"
	if opt.SearchPath != nil {
		path = strings.Join(opt.SearchPath, ",")
	}
	if _, err := s.conn.Exec(ctx, "SET search_path = "+path); err != nil {
		s.t.Fatal(err)
	}
	sd, err := s.conn.PgConn().Prepare(ctx, "", sql, s.paramOIDs(opt))
	if err != nil {
		if len(st.Problems) == 0 && !s.excused(st, tmpls[0], err) {
			s.t.Errorf("%s: the server says %v\n%s\n%s", id, err, sql, facts.String(st))
		}
		return
	}
	for _, p := range st.Problems {
		if p.Invalid {
			s.t.Errorf("%s: the server takes what is called invalid\n%s\n%s", id, sql, facts.String(st))
		}
	}
	if len(st.Problems) == 0 {
		s.outputs(id, sql, st, sd)
		s.params(id, sql, st, sd, tmpls[0])
	}
}

// excused tells a rejection that the resolver need not see: a value of the wrong form, a column outside GROUP BY, a parameter whose type
// nothing tells, a part of a type without parts; and a function that only an extension may have, whose volatility is not known then.
func (s *serverSchema) excused(st *facts.Statement, tmpl *sqltext.Template, err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch {
	case strings.HasPrefix(pg.Code, "22"), pg.Code == "42803", pg.Code == "42846", pg.Code == "42704", pg.Code == "42P08", pg.Code == "42P18":
		return true
	case pg.Code == "42804" && strings.Contains(pg.Message, "subscript"):
		return true
	case pg.Code == "42725": // ambiguous: the worst candidate is taken
		return true
	case pg.Code == "42703", pg.Code == "42P01": // a column or view of the system that this server does not have
		loose := false
		facts.Walk(st.Query, func(*facts.Source) bool { return true }, func(e *facts.Expr) bool {
			loose = loose || e.Op == facts.Column && e.Col < 0 && !e.System
			return true
		})
		return loose
	case pg.Code != "42883" && pg.Code != "42809":
		return false
	}
	foreign := false // a function or operator that an extension may have, or ARRAY[$1] whose type a log does not tell
	facts.Walk(st.Query, func(*facts.Source) bool { return true }, func(e *facts.Expr) bool {
		foreign = foreign || e.Volatility == facts.VolUnknown || strings.HasPrefix(e.Name, "uuid_") || e.Op == facts.Aggregate && pg.Code == "42809" ||
			e.Op == facts.Operator && e.Name == "%" || e.Op == facts.Array && e.Args[0].Op == facts.Slot && tmpl.Slots[e.Args[0].Slot-1].Bind > 0
		return true
	})
	return foreign
}

func (s *serverSchema) paramOIDs(opt resolve.Options) (oids []uint32) {
	for i := 1; opt.ParamTypes[i] != ""; i++ {
		var oid uint32
		if err := s.conn.QueryRow(context.Background(), "SELECT $1::text::regtype::oid", opt.ParamTypes[i]).Scan(&oid); err != nil {
			s.t.Fatal(err)
		}
		oids = append(oids, oid)
	}
	return oids
}

// base strips a domain as the server does in a row description.
func (s *serverSchema) base(typ string) string {
	for s.cat.Types[typ] != nil && s.cat.Types[typ].Kind == 'd' {
		typ = s.cat.Types[typ].Base
	}
	switch typ {
	case "sql_identifier":
		return "name"
	case "":
		return "?"
	}
	return typ
}

func (s *serverSchema) outputs(id, sql string, st *facts.Statement, sd *pgconn.StatementDescription) {
	var got, want []string
	for _, o := range st.Query.Outputs {
		got = append(got, o.Name+" "+s.base(o.Expr.Type))
	}
	for _, f := range sd.Fields {
		want = append(want, f.Name+" "+s.types[f.DataTypeOID])
	}
	for i := range got {
		if i < len(want) && strings.HasSuffix(got[i], " ?") {
			got[i] = want[i] // a type that is not known is no error
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("%s: outputs\n got  %v\n want %v\n%s", id, got, want, sql)
	}
}

func (s *serverSchema) params(id, sql string, st *facts.Statement, sd *pgconn.StatementDescription, tmpl *sqltext.Template) {
	numbers := map[int]int{} // the client's number by slot
	var sc sqltext.Scanner
	for sc.Reset([]byte(sql)); sc.Next(); {
		for _, v := range sc.Statement().Values {
			if v.Kind == sqltext.Bind {
				numbers[v.Slot] = v.Bind
			}
		}
	}
	facts.Walk(st.Query, func(*facts.Source) bool { return true }, func(e *facts.Expr) bool {
		if e.Op != facts.Slot || e.Slot > len(tmpl.Slots) {
			return true
		}
		n, ok := numbers[e.Slot]
		if ok && e.Type != s.types[sd.ParamOIDs[n-1]] {
			s.t.Errorf("%s: parameter %d is %s, not %s\n%s", id, n, s.types[sd.ParamOIDs[n-1]], e.Type, sql)
		}
		return true
	})
}
