package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/capture/pgcatalog"
	"github.com/foreshard/foreshard/planner/catalog"
)

// schemaFromUsage is the help of --schema-from, the same for every verb that has it.
const schemaFromUsage = "connection string of a database to read the schema from, in place of --schema; it is only read. A password is better in PGPASSWORD or the password file"

// catalogFrom reads the schema from a file or from a live database, whichever is named.
func catalogFrom(ctx context.Context, file, dsn string) (*catalog.Catalog, error) {
	switch {
	case dsn == "":
		return loadCatalog(file)
	case file != "":
		return nil, errors.New("--schema and --schema-from: give one of them")
	}
	ddl, err := pgcatalog.Snapshot(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return catalog.Load(schemaName(file, dsn), ddl)
}

// schemaName is what a schema is called in messages and in the warehouse: its file, or the server and database without a password.
func schemaName(file, dsn string) string {
	if dsn == "" {
		return file
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "server"
	}
	return fmt.Sprintf("%s:%d/%s", cfg.Host, cfg.Port, cfg.Database)
}
