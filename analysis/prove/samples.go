package prove

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/analysis/prove/sqlgen"
	"github.com/foreshard/foreshard/planner/catalog"
)

// maxSamples bounds the values taken of a column.
const maxSamples = 9

// Samples gives values that occur in the whole data, a few per column, the most frequent first, for statements that are meant to match
// something. A table or column that does not exist has none.
func (l *Lab) Samples(ctx context.Context) func(table, column string) []string {
	cache := map[string][]string{}
	return func(table, column string) []string {
		key := table + "." + column
		if texts, ok := cache[key]; ok {
			return texts
		}
		var texts []string
		if r := l.cfg.Catalog.Relations[table]; r != nil {
			col := pgx.Identifier{column}.Sanitize()
			res := l.whole.conn.ExecParams(ctx, fmt.Sprintf("SELECT %s::text FROM %s WHERE %s IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT %d",
				col, tableName(r), col, maxSamples), nil, nil, nil, nil).Read()
			for _, row := range res.Rows {
				texts = append(texts, string(row[0]))
			}
		}
		cache[key] = texts
		return texts
	}
}

// Views lists the views of the schema with their columns, which the catalog does not hold.
func (l *Lab) Views(ctx context.Context) ([]sqlgen.View, error) {
	res := l.whole.conn.ExecParams(ctx, `SELECT n.nspname, c.relname, a.attname, t.typname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 JOIN pg_type t ON t.oid = a.atttypid WHERE c.relkind = 'v' ORDER BY 1, 2, a.attnum`,
		nil, nil, nil, nil).Read()
	if res.Err != nil {
		return nil, fmt.Errorf("read the columns of views: %w", res.Err)
	}
	var views []sqlgen.View
	for _, row := range res.Rows {
		schema, name := string(row[0]), string(row[1])
		if r := l.cfg.Catalog.Relations[catalog.Key(schema, name)]; r == nil || r.Kind != catalog.View {
			continue
		}
		if n := len(views); n == 0 || views[n-1].Schema != schema || views[n-1].Name != name {
			views = append(views, sqlgen.View{Schema: schema, Name: name})
		}
		v := &views[len(views)-1]
		v.Columns = append(v.Columns, sqlgen.ViewColumn{Name: string(row[2]), Type: string(row[3])})
	}
	return views, nil
}

// Generator writes statements over the laboratory's schema and data, by seed.
func (l *Lab) Generator(ctx context.Context, seed uint64) (*sqlgen.Generator, error) {
	views, err := l.Views(ctx)
	if err != nil {
		return nil, err
	}
	return sqlgen.New(seed, l.cfg.Catalog, l.cfg.Candidate, l.Samples(ctx), views), nil
}
