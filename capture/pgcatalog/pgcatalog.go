// Package pgcatalog turns a live database's schema (PostgreSQL 12 and later) into the DDL that planner/catalog reads: what pg_dump
// --schema-only would write of names, types, constraints and code, without needing pg_dump. It only reads, in one read-only transaction, and
// imports nothing of the project.
package pgcatalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Snapshot reads the schema of a database. dsn is a connection string as libpq reads it; any role that may connect sees all of it. The same
// schema gives the same text.
func Snapshot(ctx context.Context, dsn string) (_ []byte, err error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	cfg.ConnectTimeout = 10 * time.Second
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // nothing is prepared, so a pooler does not matter
	cfg.RuntimeParams["application_name"] = "foreshard schema"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Rollback(context.WithoutCancel(ctx))) }()
	ddl, err := read(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("read schema of database %q: %w", cfg.Database, err)
	}
	return ddl, nil
}

func read(ctx context.Context, tx pgx.Tx) ([]byte, error) {
	var version, database string
	// With an empty search_path the server writes every name in full; strings must be written for standard_conforming_strings.
	err := tx.QueryRow(ctx, `select current_setting('server_version'), current_database(), set_config('search_path', '', true), set_config('standard_conforming_strings', 'on', true),
		set_config('statement_timeout', '60s', true), set_config('lock_timeout', '2s', true)`).Scan(&version, &database, nil, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-- schema of PostgreSQL %s, read by foreshard\n\nSELECT pg_catalog.set_config('search_path', '', false);\n", version)
	for _, p := range parts {
		if err := part(ctx, tx, &b, p); err != nil {
			return nil, fmt.Errorf("read %s: %w", p.name, err)
		}
	}
	return []byte(b.String()), nil
}

func part(ctx context.Context, tx pgx.Tx, b *strings.Builder, p partOf) error {
	rows, err := tx.Query(ctx, p.sql())
	if err != nil {
		return err
	}
	defer rows.Close()
	first := true
	for rows.Next() {
		var name string
		var text *string
		if err := rows.Scan(&name, &text); err != nil {
			return err
		}
		if text == nil {
			return fmt.Errorf("%s was changed while it was read: run again", name)
		}
		if first {
			fmt.Fprintf(b, "\n-- %s\n", p.name)
			first = false
		}
		b.WriteString(strings.TrimRight(strings.TrimSpace(*text), ";"))
		b.WriteString(";\n")
	}
	return rows.Err()
}
