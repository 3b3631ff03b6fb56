package candidate

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/layout"
)

// colo reads one colocation group.
func (r *reader) colo(e entry) {
	c := &Colo{Name: e.key, Shards: r.shards}
	es := r.entries(e.value, "colo "+quote(e.key))
	var tables *entry
	own, key := false, false
	for i, f := range es {
		switch f.key {
		case "shards":
			own = true
			c.Shards = r.shardCount(f.value, f.at)
		case "key":
			key = true
			r.key(c, f)
		case "tables":
			tables = &es[i]
		default:
			r.unknown(f, "colo "+quote(e.key), "shards", "key", "tables")
		}
	}
	if !key {
		r.fail(e.at, "colo "+quote(e.key)+" has no key; add key: {name: ..., type: ...}")
	}
	if c.Shards == 0 && !own && r.shards == 0 {
		r.fail(e.at, "colo "+quote(e.key)+" has no number of shards; add shards: to it or to the candidate")
	}
	if tables == nil || absent(tables.value) {
		r.warn(e.at, "colo "+quote(e.key)+" has no tables")
	} else {
		r.tables(c, *tables)
	}
	r.c.Colos = append(r.c.Colos, c)
}

func (r *reader) key(c *Colo, e entry) {
	for _, f := range r.entries(e.value, "key") {
		switch f.key {
		case "name":
			if s, ok := r.text(f.value, f.at, "the key's name"); ok {
				if parts, ok := r.names(s, f.value.GetToken(), "the key's name"); ok {
					c.KeyName = parts[len(parts)-1]
				}
			}
		case "type":
			if s, ok := r.text(f.value, f.at, "the key's type"); ok {
				typ, why := r.keyType(s)
				if why != "" {
					r.fail(f.value.GetToken(), "type "+quote(s)+" cannot be a shard key: "+why)
				}
				c.KeyType = typ
			}
		default:
			r.unknown(f, "key", "name", "type")
		}
	}
	if c.KeyType == "" && !r.failedAt(e) {
		r.fail(e.at, "the key of colo "+quote(c.Name)+" has no type; add type: bigint, uuid, text or bytea")
	}
}

// failedAt reports whether an error was found inside an entry, so that no second one is made of it.
func (r *reader) failedAt(e entry) bool {
	for _, p := range r.errs {
		if p.line >= e.at.Position.Line {
			return true
		}
	}
	return false
}

// tables reads "table: column" entries, or a list of tables whose key column has the key's name.
func (r *reader) tables(c *Colo, e entry) {
	if list, ok := e.value.(*ast.SequenceNode); ok {
		for _, item := range list.Values {
			if s, ok := r.text(item, item.GetToken(), "a table"); ok {
				r.sharded(c, s, item.GetToken(), "", nil)
			}
		}
		return
	}
	for _, t := range r.entries(e.value, "tables") {
		if absent(t.value) {
			r.sharded(c, t.key, t.at, "", nil)
			continue
		}
		if col, ok := r.text(t.value, t.at, "the key column of "+quote(t.key)); ok {
			r.sharded(c, t.key, t.at, col, t.value.GetToken())
		}
	}
}

// sharded places a table in a colo. column is written as in SQL, "" for the key's name.
func (r *reader) sharded(c *Colo, table string, at *token.Token, column string, columnAt *token.Token) {
	rel := r.relation(table, at)
	if rel == nil || !r.placeable(rel, at, Sharded) || !r.claim(rel.Key(), at) {
		return
	}
	name := c.KeyName
	if column != "" {
		parts, ok := r.names(column, columnAt, "the key column")
		if !ok {
			return
		}
		if len(parts) != 1 {
			r.fail(columnAt, "the key column "+quote(column)+" must be a column name without a table")
			return
		}
		name = parts[0]
	} else {
		columnAt = at
	}
	i := rel.Column(name)
	if i < 0 {
		var known []string
		for _, col := range rel.Columns {
			known = append(known, writtenName(col.Name))
		}
		r.fail(columnAt, "table "+quote(table)+" has no column "+quote(name)+meant(name, known)+"; its columns are "+strings.Join(known, ", "))
		return
	}
	col := rel.Columns[i]
	if why := unfit(col, c.KeyType, r.cat); why != "" {
		r.fail(columnAt, "column "+quote(name)+" of table "+quote(table)+" cannot be the shard key of colo "+quote(c.Name)+": "+why)
		return
	}
	if !col.NotNull {
		r.warn(columnAt, "column "+quote(name)+" of table "+quote(table)+" is the shard key but may be NULL; a row with NULL has no shard, so declare it NOT NULL")
	}
	if col.Generated {
		r.warn(columnAt, "column "+quote(name)+" of table "+quote(table)+" is generated, so an INSERT cannot name its shard; shard by the column it is made of")
	}
	r.c.Tables[rel.Key()] = &Table{Key: rel.Key(), Placement: Sharded, Colo: c, Column: name, Col: i}
}

// listed reads the tables of reference: or unsharded:.
func (r *reader) listed(e entry, p Placement) {
	for _, item := range r.items(e.value, e.key) {
		s, ok := r.text(item, item.GetToken(), "a table of "+e.key)
		if !ok {
			continue
		}
		rel := r.relation(s, item.GetToken())
		if rel == nil || !r.placeable(rel, item.GetToken(), p) || !r.claim(rel.Key(), item.GetToken()) {
			continue
		}
		r.c.Tables[rel.Key()] = &Table{Key: rel.Key(), Placement: p}
	}
}

// claim notes that a table is placed; a second place is an error.
func (r *reader) claim(key string, at *token.Token) bool {
	if first := r.placed[key]; first != nil {
		r.fail(at, "table "+quote(key)+" is placed twice, first on line "+itoa(first.Position.Line)+"; a table has one place, so remove one")
		return false
	}
	r.placed[key] = at
	return true
}

// placeable refuses relations that have no rows of their own to place, or whose place another table decides.
func (r *reader) placeable(rel *catalog.Relation, at *token.Token, p Placement) bool {
	name := quote(rel.Key())
	switch {
	case rel.Kind == catalog.View:
		r.fail(at, name+" is a view; place the tables that it reads instead")
	case rel.Kind == catalog.MaterializedView && p == Sharded:
		r.fail(at, name+" is a materialized view, which cannot be sharded; place the tables that it reads, and itself under unsharded: if it stays")
	case rel.Kind == catalog.ForeignTable && p != Unsharded:
		r.fail(at, name+" is a foreign table, whose rows are elsewhere; it can only be under unsharded:")
	case rel.Partition:
		r.fail(at, name+" is a partition; place its table "+quote(r.cat.Root(rel.Key()).Key())+" instead, its partitions follow")
	case len(rel.Parents) > 0:
		r.fail(at, name+" inherits from another table; place "+quote(r.cat.Root(rel.Key()).Key())+" instead, its children follow")
	case rel.Temp:
		r.fail(at, name+" is a temporary table, which lives in a session; remove it from the candidate")
	default:
		return true
	}
	return false
}

// inherit gives partitions and inheritance children the entry of their root.
func (r *reader) inherit() {
	for _, key := range sortedKeys(r.cat.Relations) {
		rel := r.cat.Relations[key]
		if len(rel.Parents) == 0 {
			continue
		}
		roots := r.roots(key, map[string]bool{})
		if len(roots) == 0 {
			continue
		}
		from := r.c.Tables[roots[0]]
		for _, other := range roots[1:] {
			if !samePlace(from, r.c.Tables[other]) {
				at := r.placed[roots[0]]
				if at == nil {
					at = r.placed[other]
				}
				r.fail(at, "table "+quote(key)+" inherits from "+quote(roots[0])+" and "+quote(other)+", which are placed differently; place both alike")
				return
			}
		}
		if from == nil {
			continue
		}
		child := *from
		child.Key = key
		if child.Placement == Sharded {
			if child.Col = rel.Column(child.Column); child.Col < 0 {
				r.fail(r.placed[roots[0]], "table "+quote(key)+" inherits from "+quote(roots[0])+" but has no column "+quote(child.Column))
				continue
			}
		}
		r.c.Tables[key] = &child
	}
}

// roots returns the topmost ancestors of a relation, sorted by the order of inheritance.
func (r *reader) roots(key string, seen map[string]bool) []string {
	rel := r.cat.Relations[key]
	if rel == nil || seen[key] {
		return nil
	}
	seen[key] = true
	if len(rel.Parents) == 0 {
		return []string{key}
	}
	var out []string
	for _, p := range rel.Parents {
		out = append(out, r.roots(p, seen)...)
	}
	return out
}

func samePlace(a, b *Table) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Placement == b.Placement && a.Colo == b.Colo && a.Column == b.Column
}

// keyType turns the type of a key, as written, into its canonical name, a domain into the type below it; why says why it cannot be one.
func (r *reader) keyType(s string) (typ, why string) {
	typ, why = keyType(s)
	parts, bad := splitName(s)
	if why == "" || bad != "" {
		return typ, why
	}
	keys := []string{strings.Join(parts, ".")}
	if len(parts) == 1 {
		keys = nil
		for _, schema := range r.cat.SearchPath {
			keys = append(keys, catalog.Key(schema, parts[0]))
		}
	}
	for _, key := range keys {
		t := r.cat.Types[key]
		if t == nil {
			continue
		}
		base := baseType(key, r.cat)
		if layout.ClassOf(base) == layout.NoKey {
			return "", typeIs(key, r.cat) + refusal(base)
		}
		if base == "varchar" {
			base = "text"
		}
		return base, ""
	}
	return typ, why
}

// baseType follows the domains of the schema.
func baseType(typ string, cat *catalog.Catalog) string {
	for range 16 { // as deep as the planner looks
		t := cat.Types[typ]
		if t == nil || t.Kind != 'd' {
			return typ
		}
		typ = t.Base
	}
	return ""
}

// typeIs begins the refusal of a type.
func typeIs(typ string, cat *catalog.Catalog) string {
	t := cat.Types[typ]
	if t == nil || t.Kind != 'd' {
		return "its type is " + typ + ", and "
	}
	return "its type " + typ + " is a domain over " + baseType(typ, cat) + ", and "
}

func keyType(s string) (typ, why string) {
	s = strings.Join(strings.Fields(strings.ToLower(s)), " ")
	base, _, _ := strings.Cut(s, "(")
	switch base = strings.TrimSpace(base); base {
	case "bigint", "int8", "bigserial", "serial8":
		return "int8", ""
	case "integer", "int", "int4", "serial", "serial4":
		return "int4", ""
	case "smallint", "int2", "smallserial", "serial2":
		return "int2", ""
	case "text", "varchar", "character varying":
		return "text", ""
	case "uuid", "bytea":
		return base, ""
	case "boolean":
		base = "bool"
	case "timestamp", "timestamp without time zone":
		base = "timestamp"
	case "timestamp with time zone":
		base = "timestamptz"
	case "character", "char":
		base = "bpchar"
	case "decimal":
		base = "numeric"
	case "double precision", "float", "real":
		base = "float8"
	}
	return "", refusal(base)
}

// refusal says why a canonical type cannot be a shard key, and what can.
func refusal(typ string) string {
	const use = "; use an integer, text, varchar, uuid or bytea column"
	switch {
	case typ == "bool":
		return "a boolean has two values, so two shards would hold everything" + use
	case typ == "date", typ == "timestamp", typ == "timestamptz", typ == "time", typ == "timetz":
		return "what a text means as a date or time depends on DateStyle, TimeZone and the clock, so a statement does not tell its shard" + use
	case typ == "float4", typ == "float8":
		return "floating point values that are equal can be written in many ways, and comparisons with integers convert the column" + use
	case typ == "numeric":
		return "numeric keys are not supported: 5 and 5.00 are equal" + use
	case typ == "json", typ == "jsonb", typ == "xml":
		return "documents are not supported as keys; copy the key into a column of its own" + use
	case typ == "bpchar":
		return "char(n) ignores blanks at the end when it compares" + use
	case typ == "citext":
		return "citext ignores case when it compares, and its hash belongs to an extension" + use
	case strings.HasPrefix(typ, "_"):
		return "an array is not a single value" + use
	case strings.Contains(typ, "."):
		return "it is a type of the schema" + use
	}
	return "its hash is not among the supported ones" + use
}

// unfit says why a column cannot hold the key of a colo, "" if it can.
func unfit(col catalog.Column, keyType string, cat *catalog.Catalog) string {
	if keyType == "" {
		return "" // reported at the key
	}
	base := baseType(col.Type, cat)
	class := layout.ClassOf(base)
	switch {
	case class == layout.NoKey:
		return typeIs(col.Type, cat) + refusal(base)
	case class != layout.ClassOf(keyType):
		return "its type is " + col.Type + ", the colo's key is " + keyType + "; equal values would hash differently, so give both one type"
	case class == layout.IntKey && width(base) > width(keyType):
		return "its type " + col.Type + " is wider than the colo's key type " + keyType + "; give the key the type " + base
	case col.NonDeterministic:
		return "its collation " + col.Collation + " is not deterministic, so values that are equal hash differently; use a deterministic collation"
	}
	return ""
}

func width(typ string) int {
	switch typ {
	case "int2":
		return 2
	case "int4":
		return 4
	}
	return 8
}
