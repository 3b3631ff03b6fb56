package pgstat

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dchest/siphash"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// learn reads the texts of rows that are new, and takes their values out.
func (p *poller) learn(ctx context.Context, rows map[row]counters) error {
	var missing []int64
	for r := range rows {
		if _, ok := p.texts[r]; !ok {
			missing = append(missing, r.query)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	list, err := p.conn.Query(ctx, `select userid, dbid, queryid, `+p.either("toplevel", "true")+`, query from `+p.schema+`.pg_stat_statements(true) where queryid = any($1)`, slices.Compact(missing))
	if err != nil {
		return err
	}
	err = p.readTexts(list, rows)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && strings.HasPrefix(pg.Code, "22") {
		return nil // one text of a database in another encoding keeps the server from giving any; the counts are still told
	}
	return err
}

func (p *poller) readTexts(list pgx.Rows, rows map[row]counters) error {
	defer list.Close()
	for list.Next() {
		var r row
		var top bool
		var query *string
		if err := list.Scan(&r.user, &r.database, &r.query, &top, &query); err != nil {
			return err
		}
		if _, ok := rows[r]; ok && top {
			p.texts[r] = p.read(query)
		}
	}
	return list.Err()
}

// read makes the template of a row's text.
func (p *poller) read(query *string) text {
	if query == nil {
		return text{opaque: capture.Opaque{Reason: reasonLost}}
	}
	src := []byte(*query)
	opaque := func(reason string) text {
		return text{opaque: capture.Opaque{Bytes: len(src), Hash: fmt.Sprintf("%016x", siphash.Hash(p.key.k0, p.key.k1, src)), Reason: reason}}
	}
	if !utf8.Valid(src) {
		return opaque(reasonEncoding)
	}
	st, ok := p.statement(src)
	if !ok {
		return opaque(reasonUnlexable)
	}
	if body, ok := p.scanner.Prepared(); ok { // the row counts what EXECUTE runs; PREPARE itself is not counted
		if st, ok = p.statement(src[body.Query.Start:body.Query.End]); !ok {
			return opaque(reasonUnlexable)
		}
	}
	return text{template: p.cache.Template(st), utility: utility(st.Verb)}
}

// statement scans a text that holds one statement, as every row's does.
func (p *poller) statement(src []byte) (*sqltext.Statement, bool) {
	p.scanner.Reset(src)
	if !p.scanner.Next() || p.scanner.Statement().Bound == sqltext.Unlexable {
		return nil, false
	}
	if end := p.scanner.Statement().Span.End; end < len(src) && strings.Trim(string(src[end:]), "; \t\r\n") != "" {
		return nil, false
	}
	return p.scanner.Statement(), true
}

// utility says that a statement is none of those that are planned. From 14 on the server counts a utility statement that was prepared by name
// once per session, however often it ran: measured on 14 to 18.
func utility(v sqltext.Verb) bool {
	switch v {
	case sqltext.VerbSelect, sqltext.VerbInsert, sqltext.VerbUpdate, sqltext.VerbDelete, sqltext.VerbMerge, sqltext.VerbWith, sqltext.VerbValues, sqltext.VerbTable:
		return false
	}
	return true
}

// hashKey hashes what must be compared and not be read.
type hashKey struct{ k0, k1 uint64 }

func newHashKey(key [16]byte) hashKey {
	return hashKey{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])}
}

// row names a row in saved state. The server's own number of a utility statement is a hash of its text, password and all, that anybody can compute.
func (k hashKey) row(r row) uint64 {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 16), r.user)
	b = binary.LittleEndian.AppendUint32(b, r.database)
	return siphash.Hash(k.k0, k.k1, binary.LittleEndian.AppendUint64(b, uint64(r.query)))
}
