package catalog

import (
	"maps"
	"strings"
	"testing"
)

const querySchema = `CREATE SCHEMA app; SET search_path = app, public;
CREATE TABLE app.a (x int); CREATE TABLE public.a (x int); CREATE TABLE public.b (x int); CREATE TABLE app."Odd" (x int);
CREATE VIEW app.v AS SELECT * FROM a, public.b; CREATE VIEW app.w AS SELECT * FROM v; CREATE MATERIALIZED VIEW public.m AS SELECT 1;
CREATE FUNCTION app.f() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION app.s() RETURNS int STABLE LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION app.i() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE EXTENSION hstore; CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public; DROP EXTENSION hstore;
ALTER DATABASE d SET search_path = app, public;`

func queryCatalog(t *testing.T) *Catalog {
	t.Helper()
	c, err := Load("s.sql", []byte(querySchema))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTablesOf(t *testing.T) {
	c := queryCatalog(t)
	for _, q := range []struct {
		sql, path, want, missing string
	}{
		{"SELECT * FROM a JOIN b ON true", "app public", "app.a public.b", ""},
		{"SELECT * FROM a", "public", "public.a", ""},
		{"SELECT * FROM w", "app", "app.a public.b", ""},
		{"SELECT * FROM m", "public", "public.m", ""},
		{"INSERT INTO a SELECT * FROM b", "public", "public.a public.b", ""},
		{"UPDATE a SET x = (SELECT max(x) FROM b)", "public", "public.a public.b", ""},
		{"DELETE FROM a USING b", "public", "public.a public.b", ""},
		{"MERGE INTO a USING b ON a.x = b.x WHEN MATCHED THEN DELETE", "public", "public.a public.b", ""},
		{"WITH c AS (SELECT * FROM b) SELECT * FROM c; SELECT * FROM app.\"Odd\"", "public", "app.Odd public.b", ""},
		{"SELECT * FROM gone, pg_class, information_schema.tables, app.gone", "public", "", "app.gone gone"},
		{"SELECT 1", "", "", ""},
	} {
		tables, missing, err := c.TablesOf(q.sql, strings.Fields(q.path))
		if err != nil || strings.Join(tables, " ") != q.want || strings.Join(missing, " ") != q.missing {
			t.Errorf("%s: %v, missing %v, %v", q.sql, tables, missing, err)
		}
	}
	if _, _, err := c.TablesOf("SELEC", nil); err == nil {
		t.Error("no error of a text that is no SQL")
	}
}

func TestMentions(t *testing.T) {
	c := queryCatalog(t)
	for _, q := range []struct {
		body, want string
		dynamic    bool
	}{
		{"BEGIN DELETE FROM A; END", "app.a public.a", false},
		{"BEGIN DELETE FROM public.a; END", "public.a", false},
		{`BEGIN DELETE FROM "Odd"; DELETE FROM odd; END`, "app.Odd", false},
		{"BEGIN PERFORM x FROM v; END", "app.a public.b", false},
		{"BEGIN EXECUTE 'DELETE FROM a'; END", "", true},
		{"BEGIN -- a, b\n RETURN 'a'; END", "", false},
		{"DECLARE n b%ROWTYPE; BEGIN NEW.a := 1; END", "app.a public.a public.b", false},
	} {
		tables, dynamic, err := c.Words().Mentions(q.body)
		if err != nil || strings.Join(tables, " ") != q.want || dynamic != q.dynamic {
			t.Errorf("%s: %v, %v, %v", q.body, tables, dynamic, err)
		}
	}
	if _, _, err := c.Words().Mentions("'open"); err == nil {
		t.Error("no error of a body that is no text of tokens")
	}
}

func TestCalls(t *testing.T) {
	c := queryCatalog(t)
	for body, want := range map[string]string{"SELECT f(), lower('x')": "app.f public.f", "SELECT public.f()": "public.f", "SELECT f FROM s": "", "s ( )": "app.s"} {
		if got, err := c.Words().Calls(body); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
}

func TestVolatility(t *testing.T) {
	c := queryCatalog(t)
	for expr, want := range map[string]byte{
		"": 'i', "5": 'i', "'now'::text": 'i', "lower('X')": 'i', "now()": 's', "CURRENT_USER": 's', "current_setting('a')::int": 's', "now() + random() * '1 s'::interval": 'v',
		"nextval('s')": 'v', "clock_timestamp()": 'v', "app.f()": 'v', "s()": 's', "i()": 'i', "ext.unknown()": 'v', "pg_catalog.now()": 's', "a b c d": 'v', "1, (": 'v',
	} {
		if got := c.Volatility(expr); got != want {
			t.Errorf("volatility of %q is %c, want %c", expr, got, want)
		}
	}
}

func TestExtensions(t *testing.T) {
	if c := queryCatalog(t); len(c.Extensions) != 1 || c.Extensions["citext"] != 6 || c.Skipped["create extension"] != 2 {
		t.Errorf("%v, skipped %v", c.Extensions, c.Skipped)
	}
}

func TestPolicySQL(t *testing.T) {
	c, err := Load("s.sql", []byte(`CREATE TABLE t (x int); CREATE POLICY a ON t USING (x = 1) WITH CHECK (x IN (SELECT 2)); CREATE POLICY b ON t USING (true);
		CREATE POLICY c ON t; CREATE POLICY d ON t USING (false); DROP POLICY d ON t; ALTER POLICY b ON t USING (false);`))
	if err != nil {
		t.Fatal(err)
	}
	got := c.Relations["public.t"].PolicySQL
	if want := map[string]string{"a": "SELECT x = 1; SELECT x IN (SELECT 2)", "c": ""}; !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
