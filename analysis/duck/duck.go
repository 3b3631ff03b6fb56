// Package duck is the door to DuckDB: it opens an in-memory database over the Parquet files that a warehouse's snapshot lists, one view per
// table, and runs the queries of analysis. It imports analysis/warehouse and nothing else of the project.
package duck

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// settings keep DuckDB inside its bounds and off the network. What does not fit into memory spills
// into the temporary directory.
var settings = [...]string{
	"SET autoinstall_known_extensions = false",
	"SET autoload_known_extensions = false",
	"SET memory_limit = '1GB'",
	"SET threads = 2",
	"SET enable_progress_bar = false",
	"SET preserve_insertion_order = false", // no query relies on it, and it costs memory
}

// DB is a database over one snapshot.
type DB struct {
	connector *duckdb.Connector
	db        *sql.DB
	spill     string // directory
}

// Open opens a database with a view per table of the snapshot.
func Open(ctx context.Context, snap *warehouse.Snapshot) (*DB, error) {
	spill, err := os.MkdirTemp("", "foreshard-duck-")
	if err != nil {
		return nil, fmt.Errorf("open duckdb: %w", err)
	}
	connector, err := duckdb.NewConnector("", func(e driver.ExecerContext) error {
		for _, s := range append(slices.Clone(settings[:]), "SET temp_directory = "+Quote(spill)) {
			if _, err := e.ExecContext(context.Background(), s, nil); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open duckdb: %w", err), os.RemoveAll(spill))
	}
	d := &DB{connector: connector, db: sql.OpenDB(connector), spill: spill}
	d.db.SetMaxOpenConns(1) // temporary tables are the connection's
	for _, t := range warehouse.Tables() {
		if err := d.Exec(ctx, view(t, snap.URLs(t.Name))); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

// Table makes the view of a table anew, over these files only.
func (d *DB) Table(ctx context.Context, name string, urls []string) error {
	t, err := warehouse.TableNamed(name)
	if err != nil {
		return err
	}
	return d.Exec(ctx, view(t, urls))
}

// ViewOf makes a view of one Parquet file.
func (d *DB) ViewOf(ctx context.Context, name, url string) error {
	return d.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE TEMP VIEW %s AS SELECT * FROM read_parquet(%s)", ident(name), Quote(url)))
}

// Export writes a table as one Parquet file.
func (d *DB) Export(ctx context.Context, table, path string) error {
	return d.Exec(ctx, fmt.Sprintf("COPY (FROM %s) TO %s (FORMAT parquet, COMPRESSION zstd)", ident(table), Quote(path)))
}

// view is the statement that makes a view of a table's files, empty if there are none.
func view(t warehouse.Table, urls []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE OR REPLACE VIEW %s AS SELECT ", t.Name)
	if len(urls) > 0 {
		fmt.Fprintf(&b, "* FROM read_parquet([%s], hive_partitioning = %t, hive_types_autocast = true)", list(urls), t.ByDay)
		return b.String()
	}
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "NULL::%s AS %s, ", c.Type, ident(c.Name))
	}
	if t.ByDay {
		b.WriteString("NULL::DATE AS day, ")
	}
	return strings.TrimSuffix(b.String(), ", ") + " WHERE false"
}

func list(urls []string) string {
	quoted := make([]string, len(urls))
	for i, u := range urls {
		quoted[i] = Quote(u)
	}
	return strings.Join(quoted, ", ")
}

// Quote makes a SQL string literal.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func ident(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// Exec runs statements.
func (d *DB) Exec(ctx context.Context, query string, args ...any) error {
	if _, err := d.db.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("query warehouse: %w", err)
	}
	return nil
}

// Each runs a query and calls fn once per row with a function that scans it.
func (d *DB) Each(ctx context.Context, query string, fn func(scan func(...any) error) error, args ...any) (err error) {
	rows, err := d.db.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("query warehouse: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return fmt.Errorf("query warehouse: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("query warehouse: %w", err)
	}
	return nil
}

// Append fills a table from Go rows; each calls add once per row.
func (d *DB) Append(ctx context.Context, table string, each func(add func(...driver.Value) error) error) (err error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("fill table %q: %w", table, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	err = conn.Raw(func(c any) error {
		a, err := duckdb.NewAppenderFromConn(c.(driver.Conn), "", table)
		if err != nil {
			return err
		}
		return errors.Join(each(a.AppendRow), a.Close())
	})
	if err != nil {
		return fmt.Errorf("fill table %q: %w", table, err)
	}
	return nil
}

// Close frees the database.
func (d *DB) Close() error {
	return errors.Join(d.db.Close(), d.connector.Close(), os.RemoveAll(d.spill))
}
