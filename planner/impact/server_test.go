package impact

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/fixtures/pgserver"
)

// TestRepairsOnServer runs every repair that is SQL on a real PostgreSQL: each in a transaction of its own, which is undone. The server may
// refuse one only for what the repair itself says has to come first.
func TestRepairsOnServer(t *testing.T) {
	srv := pgserver.New(t, pgserver.Options{Major: 17})
	for i, c := range []struct{ schema, candidate string }{
		{"app/schema.sql", "app/candidates/by-org.yaml"}, {"app/schema.sql", "app/candidates/by-user.yaml"}, {"pgbench/schema.sql", "pgbench/candidate.yaml"},
	} {
		schema, cand := fixture(t, c.schema), fixture(t, c.candidate)
		ctx := t.Context()
		conn := database(t, srv, fmt.Sprintf("repairs%d", i), string(schema))
		ran := 0
		for _, f := range check(t, schema, cand) {
			sql := repairSQL(f)
			if sql == "" {
				continue
			}
			tx, err := conn.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tx.Exec(ctx, sql)
			var refused *pgconn.PgError
			switch {
			case err == nil:
				ran++
			case errors.As(err, &refused) && refused.Code == "2BP01" && strings.Contains(f.Repair, "refer to it and need"): // dependent_objects_still_exist
			case errors.As(err, &refused) && refused.Code == "42830" && strings.Contains(f.Repair, "needs UNIQUE"): // invalid_foreign_key
			default:
				t.Errorf("%s of %s: %s: %v", f.Object, f.Table, sql, err)
			}
			if err := tx.Rollback(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if ran == 0 {
			t.Errorf("%s: no repair ran", c.candidate)
		}
	}
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// database makes a database with a schema and connects to it.
func database(t *testing.T, srv *pgserver.Server, name, schema string) *pgx.Conn {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	if _, err := admin.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), srv.DSN(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if _, err := conn.PgConn().Exec(t.Context(), schema).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return conn
}
