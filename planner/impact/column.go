package impact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/reason"
)

// keyColumn checks the column that decides a row's shard: it must be known before the row is.
func (c *checker) keyColumn(p *place) {
	k := p.key()
	if k == nil {
		return
	}
	t, col := table(p.rel), ident(k.Name)
	if !k.NotNull && !k.Identity {
		c.add(p, Finding{Code: reason.KeyNullable, Severity: Breaks, Object: k.Name, Kind: "column",
			Why:    "the shard key may be NULL, and a row with NULL has no shard",
			Repair: fmt.Sprintf("UPDATE %s SET %s = ... WHERE %s IS NULL; ALTER TABLE %s ALTER COLUMN %s SET NOT NULL", t, col, col, t, col)})
	}
	switch {
	case k.Generated:
		c.add(p, Finding{Code: KeyGenerated, Severity: Breaks, Object: k.Name, Kind: "generated column",
			Why:    "the shard key is computed by the database from " + k.Default + ", so no insert can name its shard",
			Repair: fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s DROP EXPRESSION, and write %s in the application; or shard by the column it is made of", t, col, col)})
	case sequenceColumn(k):
		c.add(p, Finding{Code: KeyDefault, Severity: Weakens, Object: k.Name, Kind: counterKind(k),
			Why:    "the shard key comes from a sequence, so the row's shard is known only after a number was taken from one place",
			Repair: "take the number before the insert, from one sequence on the original database with a large CACHE, or use uuid"})
	case k.DefaultVolatile || c.cat.Volatility(k.Default) != 'i':
		c.add(p, Finding{Code: KeyDefault, Severity: Weakens, Object: k.Name, Kind: "default",
			Why:    "the shard key defaults to " + k.Default + ", which has to be computed before the row is routed",
			Repair: fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s DROP DEFAULT, and pass the value in the insert", t, col)})
	case k.Default != "" && !strings.HasPrefix(strings.ToLower(k.Default), "null"):
		c.add(p, Finding{Code: KeyDefault, Severity: Weakens, Object: k.Name, Kind: "default",
			Why:    "an insert that leaves the shard key out goes to the shard of " + k.Default + ", all of them to the same",
			Repair: fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s DROP DEFAULT", t, col)})
	}
}

func sequenceColumn(k *catalog.Column) bool {
	return k.Identity || strings.Contains(strings.ToLower(k.Default), "nextval(")
}

func counterKind(k *catalog.Column) string {
	if k.Identity {
		return "identity column"
	}
	return "sequence"
}

// sequences checks the counters of a sharded table's other columns: each shard has its own, and they all begin alike.
func (c *checker) sequences(p *place) {
	for i := range p.rel.Columns {
		k := &p.rel.Columns[i]
		if k.Name == p.Column || !sequenceColumn(k) {
			continue
		}
		f := Finding{Code: reason.Sequence, Severity: Weakens, Object: k.Name, Kind: counterKind(k)}
		f.Why = fmt.Sprintf("each shard counts on its own, so values of %s repeat over shards", ident(k.Name))
		if slices.ContainsFunc(p.rel.Uniques, func(u *catalog.Constraint) bool {
			return u.Exprs == 0 && slices.Contains(u.Columns, k.Name) && slices.Contains(u.Columns, p.Column)
		}) && !slices.ContainsFunc(p.rel.Uniques, func(u *catalog.Constraint) bool {
			return slices.Contains(u.Columns, k.Name) && !slices.Contains(u.Columns, p.Column)
		}) {
			f.Severity = Info
			f.Why += fmt.Sprintf("; together with %s they stay unique", ident(p.Column))
		}
		f.Repair = counterRepair(p, k)
		c.add(p, f)
	}
}

// counterRepair gives each shard its own share of the numbers, above those that are taken.
func counterRepair(p *place, k *catalog.Column) string {
	n := p.Colo.Shards
	alter := fmt.Sprintf("ALTER SEQUENCE %s INCREMENT BY %d", sequenceOf(k.Default), n)
	if k.Identity {
		alter = fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s SET INCREMENT BY %d", table(p.rel), ident(k.Name), n)
	}
	return fmt.Sprintf("on shard s = 0..%d: %s RESTART WITH (next free number + s); or use uuid", n-1, alter)
}

// sequenceOf takes the sequence's name out of nextval('name'::regclass).
func sequenceOf(def string) string {
	if _, rest, ok := strings.Cut(def, "'"); ok {
		if s, _, ok := strings.Cut(rest, "'"); ok {
			return strings.TrimPrefix(s, "public.")
		}
	}
	return "..."
}

// partitionKey tells that a table's partitions are one thing and its shards another.
func (c *checker) partitionKey(p *place) {
	if p.rel.Kind != catalog.PartitionedTable || slices.Contains(p.rel.PartitionKey, p.Column) {
		return
	}
	by := "an expression"
	if len(p.rel.PartitionKey) > 0 {
		by = columns(p.rel.PartitionKey)
	}
	c.add(p, Finding{Code: reason.PartitionKey, Severity: Info, Object: p.rel.Key(), Kind: "partitioned table",
		Why:    fmt.Sprintf("it is partitioned by %s and sharded by %s, so every shard has every partition: %d times %d tables", by, ident(p.Column), p.Colo.Shards, c.partitions(p.rel)),
		Repair: "run what adds, detaches or drops partitions on every shard"})
}

// partitions is the number of tables below a partitioned table that hold rows.
func (c *checker) partitions(r *catalog.Relation) int {
	n := 0
	for _, key := range r.Children {
		child := c.cat.Relations[key]
		switch {
		case child == nil:
		case child.Kind == catalog.PartitionedTable:
			n += c.partitions(child)
		default:
			n++
		}
	}
	return n
}

// copies checks that a reference table's rows come out the same on every shard.
func (c *checker) copies(p *place) {
	for i := range p.rel.Columns {
		k := &p.rel.Columns[i]
		f := Finding{Code: CopiesDiffer, Severity: Weakens, Object: k.Name, Kind: "default"}
		set := fmt.Sprintf("pass %s in every insert into %s, and ALTER TABLE %s ALTER COLUMN %s DROP DEFAULT", ident(k.Name), table(p.rel), table(p.rel), ident(k.Name))
		switch volatility := c.cat.Volatility(k.Default); {
		case k.Identity:
			f.Kind, f.Why = "identity column", "every copy counts on its own, so copies of one row can get different numbers"
			set = fmt.Sprintf("pass %s in every insert into %s, and ALTER TABLE %s ALTER COLUMN %s DROP IDENTITY", ident(k.Name), table(p.rel), table(p.rel), ident(k.Name))
		case sequenceColumn(k):
			f.Kind, f.Why = "sequence", "every copy counts on its own, so copies of one row can get different numbers"
		case k.Generated && volatility != 'i':
			f.Kind, f.Why = "generated column", "it is computed on every copy from "+k.Default+", which is not the same everywhere"
			set = fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s DROP EXPRESSION, and write it in the application", table(p.rel), ident(k.Name))
		case k.Generated:
			continue
		case k.DefaultVolatile || volatility == 'v':
			f.Why = "every copy computes " + k.Default + " anew, so copies of one row differ"
		case volatility == 's':
			f.Why = "every copy computes " + k.Default + " in a transaction and session of its own, so copies of one row can differ"
		default:
			continue
		}
		f.Repair = set
		c.add(p, f)
	}
}

// largeObjects finds columns that can point at large objects, which belong to one database and do not move with a row.
func (c *checker) largeObjects(p *place) {
	if p.rel.Partition {
		return
	}
	for i := range p.rel.Columns {
		k := &p.rel.Columns[i]
		switch typ := c.base(k.Type); {
		case typ == "lo" || strings.HasSuffix(typ, ".lo"):
			c.add(p, Finding{Code: LargeObject, Severity: Breaks, Object: k.Name, Kind: "column",
				Why: "it refers to large objects, which stay behind when the row moves", Repair: "keep the content in a bytea column or in an object store"})
		case typ == "oid":
			c.add(p, Finding{Code: LargeObject, Severity: Weakens, Object: k.Name, Kind: "column",
				Why: "an oid means something in one database only: a large object or a catalog row of another shard", Repair: "if it names large objects, keep their content in a bytea column or in an object store"})
		}
	}
}
