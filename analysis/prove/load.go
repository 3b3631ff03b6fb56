package prove

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// LoadSQL runs a data file in the laboratory: statements, and COPY blocks as pg_dump writes them. psql's backslash commands are passed over.
func LoadSQL(name string, in io.Reader) func(context.Context, *pgconn.PgConn) error {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		if err := run(ctx, conn, "SET session_replication_role = replica"); err != nil {
			return err
		}
		r := bufio.NewReaderSize(in, 1<<20)
		var pending strings.Builder
		line, start := 0, 1
		flush := func() error {
			if strings.TrimSpace(pending.String()) == "" {
				pending.Reset()
				return nil
			}
			err := run(ctx, conn, pending.String())
			pending.Reset()
			if err != nil {
				return fmt.Errorf("%s: statements from line %d: %w", name, start, err)
			}
			return nil
		}
		for {
			text, err := r.ReadString('\n')
			line++
			switch {
			case strings.HasPrefix(text, `\`) && pending.Len() == 0:
			case isCopy(text):
				if err := flush(); err != nil {
					return err
				}
				n, err := copyBlock(ctx, conn, text, r)
				if err != nil {
					return fmt.Errorf("%s:%d: %w", name, line, err)
				}
				line += n
				start = line + 1
			default:
				pending.WriteString(text)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
		}
		if err := flush(); err != nil {
			return err
		}
		return run(ctx, conn, "RESET ALL; SET timezone = 'UTC'")
	}
}

func isCopy(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	return strings.HasPrefix(line, "copy ") && strings.HasSuffix(line, "from stdin;")
}

// copyBlock hands the lines up to \. to the server and says how many there were.
func copyBlock(ctx context.Context, conn *pgconn.PgConn, sql string, r *bufio.Reader) (lines int, err error) {
	var block bytes.Buffer
	for {
		text, err := r.ReadString('\n')
		lines++
		if strings.TrimRight(text, "\r\n") == `\.` {
			break
		}
		block.WriteString(text)
		if err != nil {
			return lines, fmt.Errorf("copy block has no end: %w", err)
		}
	}
	_, err = conn.CopyFrom(ctx, &block, sql)
	return lines, err
}

// CopySample copies rows from a running database, reading only: every row of tables up to limit rows, and of larger sharded tables the rows
// of some key values, the same ones in every table of a colo so that joins still find their partners.
func CopySample(source string, limit int, cat *catalog.Catalog, cand *candidate.Candidate) func(context.Context, *pgconn.PgConn) error {
	return func(ctx context.Context, to *pgconn.PgConn) error {
		from, err := pgconn.Connect(ctx, source)
		if err != nil {
			return fmt.Errorf("connect to the database to copy from: %w", err)
		}
		defer from.Close(context.WithoutCancel(ctx))
		if err := run(ctx, from, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
			return err
		}
		if err := run(ctx, to, "SET session_replication_role = replica"); err != nil {
			return err
		}
		for _, t := range storedTables(cat, cand) {
			if err := copyTable(ctx, from, to, t, tableName(cat.Relations[t.Key]), limit); err != nil {
				return fmt.Errorf("copy table %q: %w", t.Key, err)
			}
		}
		return errors.Join(run(ctx, from, "ROLLBACK"), run(ctx, to, "RESET session_replication_role"))
	}
}

func copyTable(ctx context.Context, from, to *pgconn.PgConn, t *candidate.Table, name string, limit int) error {
	where := ""
	if t.Placement == candidate.Sharded {
		res := from.ExecParams(ctx, "SELECT greatest(1, ceil(reltuples / "+fmt.Sprint(limit)+"))::int FROM pg_class WHERE oid = $1::regclass",
			[][]byte{[]byte(name)}, nil, nil, nil).Read()
		if res.Err != nil {
			return res.Err
		}
		where = fmt.Sprintf(" WHERE abs(%s) %% %s = 0", keyHash(t), res.Rows[0][0])
	}
	columns, err := insertable(ctx, from, name)
	if err != nil {
		return err
	}
	pr, pw := io.Pipe()
	go func() {
		_, err := from.CopyTo(ctx, pw, fmt.Sprintf("COPY (SELECT %s FROM %s%s LIMIT %d) TO STDOUT", columns, name, where, limit))
		pw.CloseWithError(err)
	}()
	_, err = to.CopyFrom(ctx, pr, fmt.Sprintf("COPY %s (%s) FROM STDIN", name, columns))
	pr.CloseWithError(err)
	return err
}

// insertable lists the columns that are not generated.
func insertable(ctx context.Context, conn *pgconn.PgConn, name string) (string, error) {
	res := conn.ExecParams(ctx, `SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
		AND attgenerated = '' ORDER BY attnum`, [][]byte{[]byte(name)}, nil, nil, nil).Read()
	if res.Err != nil {
		return "", res.Err
	}
	var cols []string
	for _, r := range res.Rows {
		cols = append(cols, pgx.Identifier{string(r[0])}.Sanitize())
	}
	return strings.Join(cols, ", "), nil
}

// Executable leaves psql's backslash commands out of a dump, which a server does not understand.
func Executable(ddl string) string {
	var b strings.Builder
	for line := range strings.Lines(ddl) {
		if !strings.HasPrefix(line, `\`) {
			b.WriteString(line)
		}
	}
	return b.String()
}
