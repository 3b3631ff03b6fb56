package impact

import (
	"fmt"
	"slices"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/reason"
)

// uniques checks the constraints that compare a sharded table's rows with each other: a shard sees its own rows only, so that the shard key
// has to be among the plain columns that must be equal.
func (c *checker) uniques(p *place) {
	parent := c.parent(p)
	for _, u := range p.rel.Uniques {
		inherited := parent != nil && slices.ContainsFunc(parent.Uniques, func(o *catalog.Constraint) bool {
			return slices.Equal(o.Columns, u.Columns) && o.Exprs == u.Exprs && o.Partial == u.Partial
		})
		if !inherited && !slices.Contains(u.Columns, p.Column) {
			c.add(p, c.uniqueFinding(p, u))
		}
	}
	for _, x := range p.rel.Exclusions {
		inherited := parent != nil && slices.ContainsFunc(parent.Exclusions, func(o *catalog.Constraint) bool { return slices.Equal(o.Columns, x.Columns) })
		if !inherited && !slices.Contains(x.Equal, p.Column) {
			c.add(p, Finding{Code: reason.UniqueOffKey, Severity: Breaks, Object: x.Name, Kind: "exclusion constraint", Line: x.Line,
				Why:    fmt.Sprintf("it does not compare %s with =, so rows that exclude each other can be on different shards", ident(p.Column)),
				Repair: fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s, ADD CONSTRAINT %s EXCLUDE USING gist (%s WITH =, ...); a gist index on it needs the extension btree_gist", table(p.rel), ident(x.Name), ident(x.Name), ident(p.Column))})
		}
	}
}

func (c *checker) uniqueFinding(p *place, u *catalog.Constraint) Finding {
	f := Finding{Code: reason.UniqueOffKey, Severity: Breaks, Object: u.Name, Kind: uniqueKind(u), Line: u.Line}
	over := "(" + columns(u.Columns) + ")"
	switch {
	case u.Exprs > 0 && len(u.Columns) == 0:
		over = "its expression"
	case u.Exprs > 0:
		over = "(" + columns(u.Columns) + ") and an expression"
	}
	f.Why = fmt.Sprintf("%s is unique among the rows of one shard only, because %s is not a plain column of it", over, ident(p.Column))
	if c.generatedUUID(p.rel, u) {
		f.Severity = Weakens
		f.Why += "; the values are generated, so a duplicate is not to be expected, but no shard would notice one"
	}
	f.Repair = c.uniqueRepair(p, u)
	return f
}

func uniqueKind(u *catalog.Constraint) string {
	switch {
	case u.Primary:
		return "primary key"
	case u.Index:
		return "unique index"
	}
	return "unique constraint"
}

func (c *checker) uniqueRepair(p *place, u *catalog.Constraint) string {
	wider := columns(withFirst(p.Column, u.Columns))
	var sql string
	switch {
	case u.Index && (u.Exprs > 0 || u.Partial):
		sql = fmt.Sprintf("make the index anew with %s as its first column", ident(p.Column))
	case u.Index:
		sql = fmt.Sprintf("DROP INDEX %s; CREATE UNIQUE INDEX %s ON %s (%s)", index(p.rel, u.Name), ident(u.Name), table(p.rel), wider)
	default:
		kind := "UNIQUE"
		if u.Primary {
			kind = "PRIMARY KEY"
		}
		sql = fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s, ADD CONSTRAINT %s %s (%s)", table(p.rel), ident(u.Name), ident(u.Name), kind, wider)
	}
	if from := c.referrers(p.rel, u); len(from) > 0 {
		sql += "; the foreign keys of " + names(from) + " refer to it and need " + ident(p.Column) + " too"
	}
	if u.Primary || u.Exprs > 0 || c.generatedUUID(p.rel, u) {
		return sql
	}
	return sql + "; if it must hold over all shards, keep " + columns(u.Columns) + " in a table sharded by it"
}

// index writes an index's name as SQL: it lives in its table's schema.
func index(r *catalog.Relation, name string) string {
	if r.Schema == "public" {
		return ident(name)
	}
	return ident(r.Schema) + "." + ident(name)
}

// generatedUUID tells a constraint with a uuid column that gets its values from a default of its own.
func (c *checker) generatedUUID(r *catalog.Relation, u *catalog.Constraint) bool {
	return slices.ContainsFunc(u.Columns, func(n string) bool {
		i := r.Column(n)
		return i >= 0 && c.base(r.Columns[i].Type) == "uuid" && r.Columns[i].DefaultVolatile
	})
}

// base follows the domains of the schema.
func (c *checker) base(typ string) string {
	for range 16 {
		d := c.cat.Types[typ]
		if d == nil || d.Kind != 'd' {
			break
		}
		typ = d.Base
	}
	return typ
}

// reference is a foreign key to a table.
type reference struct {
	from    string
	columns []string // of the referenced table
}

// findReferences notes who refers to whom, partitions left out.
func (c *checker) findReferences() {
	for _, key := range sortedKeys(c.cat.Relations) {
		if from := c.cat.Relations[key]; !from.Partition {
			for _, fk := range from.ForeignKeys {
				c.referred[fk.RefTable] = append(c.referred[fk.RefTable], reference{key, fk.RefColumns})
			}
		}
	}
}

// referrers are the tables with a foreign key to a constraint's columns.
func (c *checker) referrers(r *catalog.Relation, u *catalog.Constraint) []string {
	var out []string
	for _, ref := range c.referred[r.Key()] {
		if u.Exprs == 0 && sameSet(ref.columns, u.Columns) {
			out = append(out, ref.from)
		}
	}
	return slices.Compact(out)
}

func sameSet(a, b []string) bool {
	x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(x, y)
}
