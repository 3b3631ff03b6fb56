package candidate

import (
	"maps"
	"slices"

	"github.com/foreshard/foreshard/planner/catalog"
)

// Place returns a copy of the candidate in which one table, and its partitions and children with it, lives elsewhere. to.Key is not looked
// at; a sharded table needs Colo and Column. ok is false where the relations cannot be placed like that.
func (c *Candidate) Place(cat *catalog.Catalog, key string, to Table) (_ *Candidate, ok bool) {
	root := cat.Root(key)
	if root == nil || root.Temp || len(root.Parents) > 0 {
		return nil, false
	}
	switch root.Kind {
	case catalog.Table, catalog.PartitionedTable:
	case catalog.MaterializedView:
		if to.Placement == Sharded {
			return nil, false
		}
	default:
		return nil, false
	}
	out := *c
	out.Tables = maps.Clone(c.Tables)
	if out.Tables == nil {
		out.Tables = map[string]*Table{}
	}
	for _, k := range family(cat, root.Key(), nil) {
		t := to
		t.Key = k
		if t.Placement == Sharded {
			if t.Colo == nil || !slices.Contains(c.Colos, t.Colo) {
				return nil, false
			}
			rel := cat.Relations[k]
			if t.Col = rel.Column(t.Column); t.Col < 0 || Unfit(rel.Columns[t.Col], t.Colo.KeyType, cat) != "" {
				return nil, false
			}
		}
		out.Tables[k] = &t
	}
	out.Hash = out.hash()
	return &out, true
}

// Annotate returns a copy of the candidate that says more about one function.
func (c *Candidate) Annotate(name string, f Function) *Candidate {
	out := *c
	out.Functions = maps.Clone(c.Functions)
	if out.Functions == nil {
		out.Functions = map[string]Function{}
	}
	out.Functions[name] = f
	out.Hash = out.hash()
	return &out
}

// Speak returns a copy of the candidate with another dialect.
func (c *Candidate) Speak(d Dialect) *Candidate {
	out := *c
	out.Dialect = d
	out.Hash = out.hash()
	return &out
}

// Unfit says why a column cannot hold keys of a type, "" if it can.
func Unfit(col catalog.Column, keyType string, cat *catalog.Catalog) string {
	return unfit(col, keyType, cat)
}

// Written is a catalog key as a candidate and SQL write it: without the schema public, quoted where needed.
func Written(rel *catalog.Relation) string {
	if rel.Schema == "public" {
		return writtenName(rel.Name)
	}
	return written(rel)
}

// WrittenName is one name as a candidate and SQL write it.
func WrittenName(s string) string { return writtenName(s) }

// family lists a relation and everything that inherits from it.
func family(cat *catalog.Catalog, key string, seen []string) []string {
	if cat.Relations[key] == nil || slices.Contains(seen, key) {
		return seen
	}
	seen = append(seen, key)
	for _, child := range cat.Relations[key].Children {
		seen = family(cat, child, seen)
	}
	return seen
}
