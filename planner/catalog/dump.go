package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

func (c *Catalog) hash() string {
	sum := sha256.Sum256([]byte(c.Dump()))
	return hex.EncodeToString(sum[:16])
}

// Dump writes everything that facts and verdicts can depend on, one object a line block, in an order that does not depend on the DDL's.
func (c *Catalog) Dump() string {
	var b strings.Builder
	fmt.Fprintf(&b, "search_path %s\n", strings.Join(c.SearchPath, ", "))
	for _, key := range sorted(c.Relations) {
		c.Relations[key].dump(&b)
	}
	for _, key := range sorted(c.Functions) {
		var lines []string
		for _, f := range c.Functions[key] {
			lines = append(lines, f.line())
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
	}
	for _, key := range sorted(c.Types) {
		t := c.Types[key]
		fmt.Fprintf(&b, "type %s %c%s%s\n", key, t.Kind, word(" over ", t.Base), when(t.NotNull, " not null"))
		for _, f := range t.Fields {
			f.dump(&b)
		}
	}
	for _, key := range sorted(c.Sequences) {
		fmt.Fprintf(&b, "sequence %s\n", key)
	}
	return b.String()
}

var kindNames = [...]string{Table: "table", PartitionedTable: "partitioned table", View: "view", MaterializedView: "materialized view", ForeignTable: "foreign table"}

// String names the kind as SQL does.
func (k RelationKind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "relation"
}

func (r *Relation) dump(b *strings.Builder) {
	fmt.Fprintf(b, "%s%s %s", when(r.Temp, "temporary "), r.Kind, r.Key())
	b.WriteString(list(" (", r.ViewColumns, ")"))
	b.WriteString(list(" partition by (", r.PartitionKey, ")"))
	b.WriteString(list(when(r.Partition, " partition of ")+when(!r.Partition, " inherits "), r.Parents, ""))
	b.WriteString(list(" above ", r.Children, ""))
	b.WriteString(when(r.RowSecurity, " row security"))
	b.WriteString("\n")
	if r.ViewSQL != "" {
		fmt.Fprintf(b, "  as %s\n", strings.ReplaceAll(r.ViewSQL, "\n", " "))
		b.WriteString(list("  path ", r.ViewPath, "\n"))
	}
	for _, c := range r.Columns {
		c.dump(b)
	}
	var lines []string
	for _, c := range r.Uniques {
		lines = append(lines, c.line(c.kind()))
	}
	for _, c := range r.Exclusions {
		lines = append(lines, c.line("exclude"))
	}
	for _, fk := range r.ForeignKeys {
		lines = append(lines, fk.line())
	}
	for _, t := range r.Triggers {
		lines = append(lines, fmt.Sprintf("  trigger %s on %s calls %s%s\n", t.Name, strings.Join(t.Events, ", "), t.Function, when(t.Row, " for each row")))
	}
	for _, name := range r.Rules {
		lines = append(lines, fmt.Sprintf("  rule %s\n", name))
	}
	for _, name := range r.Policies {
		lines = append(lines, fmt.Sprintf("  policy %s\n", name))
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}

func (c *Column) dump(b *strings.Builder) {
	fmt.Fprintf(b, "  %s %s%s%s%s%s%s%s%s\n", c.Name, c.Type, c.TypeMod, when(c.NotNull, " not null"), when(c.Identity, " identity"),
		word(when(c.Generated, " generated ")+when(!c.Generated, " default "), strings.ReplaceAll(c.Default, "\n", " ")),
		when(c.DefaultVolatile, " (volatile)"), word(" collate ", c.Collation), when(c.NonDeterministic, " (non-deterministic)"))
}

func (c *Constraint) kind() string {
	switch {
	case c.Primary:
		return "primary key"
	case c.Index:
		return "unique index"
	}
	return "unique"
}

func (c *Constraint) line(kind string) string {
	return fmt.Sprintf("  %s %s (%s)%s%s%s\n", kind, c.Name, strings.Join(c.Columns, ", "), when(c.Exprs > 0, fmt.Sprintf(" and %d expressions", c.Exprs)),
		when(c.Partial, " where"), list(" equal (", c.Equal, ")"))
}

func (fk *ForeignKey) line() string {
	return fmt.Sprintf("  foreign key %s (%s) to %s (%s)%s%s%s\n", fk.Name, strings.Join(fk.Columns, ", "), fk.RefTable, strings.Join(fk.RefColumns, ", "),
		when(fk.OnDelete != "no action", " on delete "+fk.OnDelete), list(" (", fk.SetColumns, ")"), when(fk.OnUpdate != "no action", " on update "+fk.OnUpdate))
}

func (f *Function) line() string {
	kind := "function"
	switch {
	case f.Procedure:
		kind = "procedure"
	case f.Aggregate:
		kind = "aggregate"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s(%s)%s%s%s %s %c%s%s%s\n", kind, Key(f.Schema, f.Name), strings.Join(f.Args, ", "), when(f.Variadic, " variadic"),
		when(f.Defaults > 0, fmt.Sprintf(" %d defaults", f.Defaults)), word(" returns ", when(f.ReturnsSet, "setof ")+f.Returns), f.Language, f.Volatility,
		when(f.Strict, " strict"), list(" path ", f.Path, ""), word(" body ", strings.ReplaceAll(f.Body, "\n", " ")))
	for _, c := range f.Columns {
		c.dump(&b)
	}
	return b.String()
}

func when(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

func word(before, text string) string { return when(text != "", before+text) }

func list(before string, items []string, after string) string {
	return when(len(items) > 0, before+strings.Join(items, ", ")+after)
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
