package catalog

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// drop applies DROP. What PostgreSQL would drop by CASCADE beside the object itself is dropped where a verdict could see it.
func (l *loader) drop(n *sqlast.DropStmt) {
	for _, o := range n.GetObjects() {
		names := strs(o.GetList().GetItems())
		switch n.GetRemoveType() {
		case sqlast.ObjectType_OBJECT_TABLE, sqlast.ObjectType_OBJECT_VIEW, sqlast.ObjectType_OBJECT_MATVIEW, sqlast.ObjectType_OBJECT_FOREIGN_TABLE:
			r := l.find(rangeOf(names))
			if r == nil {
				if !n.GetMissingOk() {
					l.must("drop", rangeOf(names))
				}
				continue
			}
			l.dropRelation(r)
		case sqlast.ObjectType_OBJECT_TRIGGER, sqlast.ObjectType_OBJECT_RULE, sqlast.ObjectType_OBJECT_POLICY:
			if len(names) < 2 {
				continue
			}
			r := l.find(rangeOf(names[:len(names)-1]))
			if r == nil {
				continue
			}
			name := last(names)
			r.Triggers = slices.DeleteFunc(r.Triggers, func(t Trigger) bool {
				return n.GetRemoveType() == sqlast.ObjectType_OBJECT_TRIGGER && t.Name == name
			})
			switch n.GetRemoveType() {
			case sqlast.ObjectType_OBJECT_RULE:
				r.Rules = slices.DeleteFunc(r.Rules, func(s string) bool { return s == name })
			case sqlast.ObjectType_OBJECT_POLICY:
				r.Policies = slices.DeleteFunc(r.Policies, func(s string) bool { return s == name })
				delete(r.PolicySQL, name)
			}
		case sqlast.ObjectType_OBJECT_INDEX:
			key := l.along(names, func(key string) bool { return l.index[key] != "" })
			if r := l.c.Relations[l.index[key]]; r != nil {
				l.removeUnique(r, last(names))
			} else {
				l.skip("drop index")
			}
		case sqlast.ObjectType_OBJECT_SEQUENCE:
			delete(l.c.Sequences, l.along(names, func(key string) bool { return l.c.Sequences[key] }))
		case sqlast.ObjectType_OBJECT_TYPE, sqlast.ObjectType_OBJECT_DOMAIN:
			key := l.along(strs(o.GetTypeName().GetNames()), func(key string) bool { return l.c.Types[key] != nil })
			delete(l.c.Types, key)
			delete(l.domains, key)
		case sqlast.ObjectType_OBJECT_FUNCTION, sqlast.ObjectType_OBJECT_PROCEDURE, sqlast.ObjectType_OBJECT_ROUTINE, sqlast.ObjectType_OBJECT_AGGREGATE:
			for _, f := range l.functions(o.GetObjectWithArgs()) {
				key := Key(f.Schema, f.Name)
				l.c.Functions[key] = slices.DeleteFunc(l.c.Functions[key], func(g *Function) bool { return g == f })
				if len(l.c.Functions[key]) == 0 {
					delete(l.c.Functions, key)
				}
			}
		case sqlast.ObjectType_OBJECT_SCHEMA:
			l.dropSchema(o.GetString_().GetSval())
		case sqlast.ObjectType_OBJECT_EXTENSION:
			delete(l.c.Extensions, o.GetString_().GetSval())
			l.skip("drop extension")
		default:
			l.skip("drop " + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(n.GetRemoveType().String(), "OBJECT_"), "_", " ")))
		}
	}
}

func rangeOf(names []string) *sqlast.RangeVar {
	rv := &sqlast.RangeVar{Relname: last(names)}
	if len(names) > 1 {
		rv.Schemaname = names[len(names)-2]
	}
	return rv
}

// along returns the key that a name means: in its own schema, or in the first schema of the path that has such an object.
func (l *loader) along(names []string, has func(key string) bool) string {
	if len(names) > 1 {
		return Key(names[len(names)-2], last(names))
	}
	for _, schema := range l.path {
		if key := Key(schema, last(names)); has(key) {
			return key
		}
	}
	return Key(l.newSchema(), last(names))
}

// dropRelation removes a relation, its partitions, its children and every foreign key to it.
func (l *loader) dropRelation(r *Relation) {
	for _, key := range slices.Clone(r.Children) {
		if child := l.c.Relations[key]; child != nil {
			l.dropRelation(child)
		}
	}
	for _, key := range r.Parents {
		if parent := l.c.Relations[key]; parent != nil {
			parent.Children = slices.DeleteFunc(parent.Children, func(k string) bool { return k == r.Key() })
		}
	}
	for _, u := range r.Uniques {
		delete(l.index, Key(r.Schema, u.Name))
	}
	delete(l.c.Relations, r.Key())
	for _, other := range l.c.Relations {
		other.ForeignKeys = slices.DeleteFunc(other.ForeignKeys, func(fk *ForeignKey) bool { return fk.RefTable == r.Key() })
	}
}

func (l *loader) dropSchema(schema string) {
	for _, r := range l.c.Relations {
		if r.Schema == schema {
			l.dropRelation(r)
		}
	}
	for key, fs := range l.c.Functions {
		if fs[0].Schema == schema {
			delete(l.c.Functions, key)
		}
	}
	for key, t := range l.c.Types {
		if t.Schema == schema {
			delete(l.c.Types, key)
		}
	}
	for key := range l.c.Sequences {
		if strings.HasPrefix(key, schema+".") {
			delete(l.c.Sequences, key)
		}
	}
}

// rename applies ALTER ... RENAME.
func (l *loader) rename(n *sqlast.RenameStmt) {
	switch n.GetRenameType() {
	case sqlast.ObjectType_OBJECT_TABLE, sqlast.ObjectType_OBJECT_VIEW, sqlast.ObjectType_OBJECT_MATVIEW, sqlast.ObjectType_OBJECT_FOREIGN_TABLE:
		if r := l.renamed(n); r != nil {
			l.seen(r.Name)
			l.move(r, r.Schema, n.GetNewname())
		} else if key := l.sequence(n.GetRelation()); l.c.Sequences[key] {
			l.moveSequence(key, schemaPart(key), n.GetNewname())
		} else {
			l.renameIndex(n)
		}
	case sqlast.ObjectType_OBJECT_COLUMN:
		if r := l.renamed(n); r != nil {
			l.renameColumn(r, n.GetSubname(), n.GetNewname())
		} else if !n.GetMissingOk() {
			l.must("rename column", n.GetRelation())
		}
	case sqlast.ObjectType_OBJECT_TABCONSTRAINT:
		if r := l.renamed(n); r != nil {
			l.renameConstraint(r, n.GetSubname(), n.GetNewname())
		} else if !n.GetMissingOk() {
			l.must("rename constraint", n.GetRelation())
		}
	case sqlast.ObjectType_OBJECT_INDEX:
		l.renameIndex(n)
	case sqlast.ObjectType_OBJECT_SEQUENCE:
		key := l.sequence(n.GetRelation())
		l.moveSequence(key, schemaPart(key), n.GetNewname())
	case sqlast.ObjectType_OBJECT_TRIGGER, sqlast.ObjectType_OBJECT_RULE, sqlast.ObjectType_OBJECT_POLICY:
		l.renameAttached(n)
	case sqlast.ObjectType_OBJECT_DATABASE, sqlast.ObjectType_OBJECT_ROLE, sqlast.ObjectType_OBJECT_TABLESPACE, sqlast.ObjectType_OBJECT_DOMCONSTRAINT,
		sqlast.ObjectType_OBJECT_STATISTIC_EXT, sqlast.ObjectType_OBJECT_PUBLICATION, sqlast.ObjectType_OBJECT_SUBSCRIPTION:
		l.skip("rename")
	default:
		what := strings.ToLower(strings.TrimPrefix(n.GetRenameType().String(), "OBJECT_"))
		l.fail("rename %s: not understood; create it under its new name, or dump the schema after the change", what)
	}
}

func (l *loader) renamed(n *sqlast.RenameStmt) *Relation { return l.find(n.GetRelation()) }

// seen fails if a view may hold names that change: PostgreSQL's views follow a rename, their text here does not.
func (l *loader) seen(names ...string) {
	for _, key := range sorted(l.c.Relations) {
		v := l.c.Relations[key]
		if v.ViewSQL != "" && !slices.ContainsFunc(names, func(name string) bool { return !holdsWord(v.ViewSQL, name) }) {
			l.fail("rename: view %q may use %q under its old name; create the view after the rename, or dump the schema after both", key, strings.Join(names, "."))
			return
		}
	}
}

// holdsWord reports whether a text holds a name between other characters than those of names.
func holdsWord(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		if (start == 0 || !wordPart(text[start-1])) && (end == len(text) || !wordPart(text[end])) {
			return true
		}
		from = start + 1
	}
}

// move gives a relation another key and updates all that refer to it.
func (l *loader) move(r *Relation, schema, name string) {
	old := r.Key()
	key := Key(schema, name)
	if l.c.Relations[key] != nil {
		l.fail("rename: %q exists already", key)
		return
	}
	delete(l.c.Relations, old)
	for _, u := range r.Uniques {
		delete(l.index, Key(r.Schema, u.Name))
	}
	r.Schema, r.Name = schema, name
	for _, u := range r.Uniques {
		l.index[Key(schema, u.Name)] = key
	}
	l.c.Relations[key] = r
	replace := func(keys []string) {
		for i, k := range keys {
			if k == old {
				keys[i] = key
			}
		}
	}
	for _, other := range l.c.Relations {
		replace(other.Parents)
		replace(other.Children)
		for _, fk := range other.ForeignKeys {
			if fk.RefTable == old {
				fk.RefTable = key
			}
		}
		retypeAll(other.Columns, old, key)
	}
	for _, t := range l.c.Types {
		retypeAll(t.Fields, old, key)
	}
	for _, fs := range l.c.Functions {
		for _, f := range fs {
			f.Returns = retype(f.Returns, old, key)
			retypeAll(f.Columns, old, key)
			for i := range f.Args {
				f.Args[i] = retype(f.Args[i], old, key)
			}
		}
	}
}

func retypeAll(columns []Column, old, key string) {
	for i := range columns {
		columns[i].Type = retype(columns[i].Type, old, key)
	}
}

// retype follows a renamed row type.
func retype(typ, old, key string) string {
	switch typ {
	case old:
		return key
	case "_" + old:
		return "_" + key
	}
	return typ
}

func (l *loader) renameColumn(r *Relation, old, name string) {
	if r.Kind == View || r.Kind == MaterializedView {
		i := slices.Index(r.ViewColumns, old)
		if i < 0 {
			l.fail("rename column: the columns of view %q come from its query; create the view with a column list", r.Key())
			return
		}
		l.seen(r.Name, old)
		r.ViewColumns[i] = name
		return
	}
	i := r.Column(old)
	if i < 0 {
		l.fail("rename column: there is no column %q in %q", old, r.Key())
		return
	}
	if r.Column(name) >= 0 {
		l.fail("rename column: %q has a column %q already", r.Key(), name)
		return
	}
	l.seen(r.Name, old)
	change := func(r *Relation) {
		if i := r.Column(old); i >= 0 {
			r.Columns[i].Name = name
		}
		swap := func(columns []string) {
			for i := range columns {
				if columns[i] == old {
					columns[i] = name
				}
			}
		}
		swap(r.PartitionKey)
		for _, c := range append(slices.Clone(r.Uniques), r.Exclusions...) {
			c.Columns, c.Equal = slices.Clone(c.Columns), slices.Clone(c.Equal) // copies may share them
			swap(c.Columns)
			swap(c.Equal)
		}
		for _, fk := range r.ForeignKeys {
			fk.Columns, fk.SetColumns = slices.Clone(fk.Columns), slices.Clone(fk.SetColumns)
			swap(fk.Columns)
			swap(fk.SetColumns)
		}
		for _, other := range l.c.Relations {
			for _, fk := range other.ForeignKeys {
				if fk.RefTable == r.Key() {
					fk.RefColumns = slices.Clone(fk.RefColumns)
					swap(fk.RefColumns)
				}
			}
		}
	}
	change(r)
	l.eachChild(r, change)
}

func (l *loader) renameConstraint(r *Relation, old, name string) {
	for _, c := range append(slices.Clone(r.Uniques), r.Exclusions...) {
		if c.Name == old {
			delete(l.index, Key(r.Schema, old))
			c.Name = name
			l.index[Key(r.Schema, name)] = r.Key()
			return
		}
	}
	for _, fk := range r.ForeignKeys {
		if fk.Name == old {
			fk.Name = name
			return
		}
	}
	l.skip("rename constraint") // CHECK constraints are not kept
}

func (l *loader) renameIndex(n *sqlast.RenameStmt) {
	old := n.GetRelation().GetRelname()
	key := l.along(qualified(n.GetRelation()), func(key string) bool { return l.index[key] != "" })
	if r := l.c.Relations[l.index[key]]; r != nil {
		l.renameConstraint(r, old, n.GetNewname())
		return
	}
	if n.GetRenameType() == sqlast.ObjectType_OBJECT_INDEX || n.GetMissingOk() {
		l.skip("rename index")
		return
	}
	l.must("rename", n.GetRelation())
}

// sequence returns the key of the sequence that a statement names.
func (l *loader) sequence(rv *sqlast.RangeVar) string {
	return l.along(qualified(rv), func(key string) bool { return l.c.Sequences[key] })
}

func (l *loader) moveSequence(key, schema, name string) {
	delete(l.c.Sequences, key)
	l.c.Sequences[Key(schema, name)] = true
}

// schemaPart is the schema of a key whose schema holds no dot.
func schemaPart(key string) string {
	schema, _, _ := strings.Cut(key, ".")
	return schema
}

func (l *loader) renameAttached(n *sqlast.RenameStmt) {
	r := l.renamed(n)
	if r == nil {
		return
	}
	swap := func(names []string) {
		for i := range names {
			if names[i] == n.GetSubname() {
				names[i] = n.GetNewname()
			}
		}
	}
	switch n.GetRenameType() {
	case sqlast.ObjectType_OBJECT_RULE:
		swap(r.Rules)
	case sqlast.ObjectType_OBJECT_POLICY:
		swap(r.Policies)
	default:
		for i := range r.Triggers {
			if r.Triggers[i].Name == n.GetSubname() {
				r.Triggers[i].Name = n.GetNewname()
			}
		}
	}
}

// setSchema applies ALTER ... SET SCHEMA to relations, sequences and types.
func (l *loader) setSchema(n *sqlast.AlterObjectSchemaStmt) {
	switch n.GetObjectType() {
	case sqlast.ObjectType_OBJECT_TABLE, sqlast.ObjectType_OBJECT_VIEW, sqlast.ObjectType_OBJECT_MATVIEW, sqlast.ObjectType_OBJECT_FOREIGN_TABLE:
		r := l.find(n.GetRelation())
		switch {
		case r != nil:
			l.seen(r.Name)
			l.move(r, n.GetNewschema(), r.Name)
		case !n.GetMissingOk():
			l.must("set schema", n.GetRelation())
		}
	case sqlast.ObjectType_OBJECT_SEQUENCE:
		l.moveSequence(l.sequence(n.GetRelation()), n.GetNewschema(), n.GetRelation().GetRelname())
	case sqlast.ObjectType_OBJECT_EXTENSION:
		l.skip("alter extension")
	default:
		what := strings.ToLower(strings.TrimPrefix(n.GetObjectType().String(), "OBJECT_"))
		l.fail("set schema of %s: not understood; create it in its new schema, or dump the schema after the change", what)
	}
}
