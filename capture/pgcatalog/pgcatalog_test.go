package pgcatalog

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/foreshard/foreshard/fixtures/pgserver"
	"github.com/foreshard/foreshard/planner/catalog"
)

// What is read of a server is, to the planner, what pg_dump 15 wrote of the same schema: relations, keys, code, every name and type.
func TestLikeDump(t *testing.T) {
	for _, major := range []int{12, 14, 15, 17, 18} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			srv := pgserver.New(t, pgserver.Options{Major: major})
			for _, name := range []string{"app", "oracle", "objects"} {
				ddl, dump := fixture(t, name)
				if name == "objects" && major < 15 || name == "oracle" && major < 13 {
					continue // they use what those lack
				}
				dsn := database(t, srv, name, ddl)
				got, err := Snapshot(context.Background(), dsn)
				if err != nil {
					t.Fatal(err)
				}
				again, err := Snapshot(context.Background(), dsn)
				if err != nil || string(again) != string(got) {
					t.Errorf("%s: read again it differs, %v", name, err)
				}
				have, err := catalog.Load("snapshot", got)
				if err != nil {
					t.Fatalf("%s: %v\n%s", name, err, got)
				}
				want, err := catalog.Load("dump", dump)
				if err != nil {
					t.Fatal(err)
				}
				if d := difference(comparable(want, major), comparable(have, major)); d != "" {
					t.Errorf("%s: - pg_dump, + snapshot\n%s", name, d)
				}
			}
		})
	}
}

// comparable is what must be equal. From 16 on a server leaves the table's name away where there is but one.
func comparable(c *catalog.Catalog, major int) string {
	var b strings.Builder
	for _, l := range strings.SplitAfter(c.Dump(), "\n") {
		if major < 16 || !strings.HasPrefix(l, "  as ") {
			b.WriteString(l)
		}
	}
	return b.String()
}

// fixture is a schema as plain DDL, and as pg_dump 15 --schema-only wrote it.
func fixture(t *testing.T, name string) (ddl, dump []byte) {
	t.Helper()
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	switch name {
	case "app":
		return read("../../fixtures/app/schema.sql"), read("testdata/app.dump.sql")
	case "oracle":
		return append(read("../../fixtures/oracle/schema.sql"), read("../../fixtures/oracle/objects.sql")...), read("testdata/oracle.dump.sql")
	}
	first := func(path string) []byte { return txtar.Parse(read(path)).Files[0].Data }
	return first("../../planner/catalog/testdata/objects.txtar"), first("../../planner/catalog/testdata/pgdump.txtar")
}

func database(t *testing.T, srv *pgserver.Server, name string, ddl []byte) string {
	t.Helper()
	execute(t, srv.DSN("postgres"), "create database "+name)
	execute(t, srv.DSN(name), string(ddl))
	return srv.DSN(name)
}

func execute(t *testing.T, dsn, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// difference lists the lines that only one text has.
func difference(want, got string) string {
	count := map[string]int{}
	for _, l := range strings.Split(want, "\n") {
		count[l]--
	}
	for _, l := range strings.Split(got, "\n") {
		count[l]++
	}
	var b strings.Builder
	for _, text := range []string{want, got} {
		for _, l := range strings.Split(text, "\n") {
			switch n := count[l]; {
			case n < 0:
				fmt.Fprintf(&b, "- %s\n", l)
			case n > 0:
				fmt.Fprintf(&b, "+ %s\n", l)
			}
			count[l] = 0
		}
	}
	return b.String()
}

func TestNoServer(t *testing.T) {
	_, err := Snapshot(context.Background(), "postgres://u:secret@127.0.0.1:1/d")
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "read schema") {
		t.Errorf("error is %v", err)
	}
}

// What belongs to an extension comes with it; the search_path of the database is everybody's; temporary tables are nobody's.
func TestSurroundings(t *testing.T) {
	srv := pgserver.New(t, pgserver.Options{Major: 17})
	dsn := database(t, srv, "shop", []byte(`create schema app; create extension hstore schema app; create table app."t;x" (id int generated always as identity primary key, h app.hstore, s text default 'a;b');
		create temporary table gone (id int); alter database shop set search_path = app, public; alter database postgres set search_path = nowhere`))
	ddl, err := Snapshot(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load("snapshot", ddl)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Functions) > 0 || len(c.Types) > 0 || c.Extensions["hstore"] == 0 || len(c.Relations) != 1 || strings.Join(c.SearchPath, ",") != "app,public" {
		t.Errorf("%d functions, %d types, extensions %v, search_path %v\n%s", len(c.Functions), len(c.Types), c.Extensions, c.SearchPath, c.Dump())
	}
	if r := c.Relation(nil, "", "t;x"); r == nil || !r.Columns[0].Identity || r.Columns[2].Default == "" {
		t.Errorf("relation is %+v", r)
	}
}
