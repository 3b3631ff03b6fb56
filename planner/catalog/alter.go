package catalog

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// alterTable applies ALTER TABLE, ALTER FOREIGN TABLE and ALTER TYPE of a composite type, command by command.
func (l *loader) alterTable(n *sqlast.AlterTableStmt) {
	switch n.GetObjtype() {
	case sqlast.ObjectType_OBJECT_INDEX, sqlast.ObjectType_OBJECT_SEQUENCE:
		l.skip("alter " + strings.ToLower(strings.TrimPrefix(n.GetObjtype().String(), "OBJECT_")))
		return
	case sqlast.ObjectType_OBJECT_TYPE:
		l.alterComposite(n)
		return
	}
	for _, c := range n.GetCmds() {
		cmd := c.GetAlterTableCmd()
		change := l.alteration(cmd.GetSubtype())
		if change == nil {
			l.skip("alter table " + spaced(strings.TrimPrefix(cmd.GetSubtype().String(), "AT_")))
			continue
		}
		r := l.find(n.GetRelation())
		if r == nil {
			if !n.GetMissingOk() {
				l.must("alter table", n.GetRelation())
			}
			return
		}
		change(r, cmd, n.GetRelation().GetInh())
	}
}

type alteration func(r *Relation, cmd *sqlast.AlterTableCmd, recurse bool)

// alteration returns what applies a subcommand, nil for one that changes no name, type, constraint or code.
func (l *loader) alteration(t sqlast.AlterTableType) alteration {
	switch t {
	case sqlast.AlterTableType_AT_AddColumn:
		return l.atAddColumn
	case sqlast.AlterTableType_AT_DropColumn:
		return l.atDropColumn
	case sqlast.AlterTableType_AT_AlterColumnType:
		return l.atColumn(func(c *Column, cmd *sqlast.AlterTableCmd) {
			changed := l.column(cmd.GetDef().GetColumnDef())
			c.Type, c.TypeMod, c.Collation, c.NonDeterministic = changed.Type, changed.TypeMod, changed.Collation, changed.NonDeterministic
		})
	case sqlast.AlterTableType_AT_ColumnDefault:
		return l.atColumn(func(c *Column, cmd *sqlast.AlterTableCmd) {
			c.Default, c.DefaultVolatile = l.defaultOf(cmd.GetDef(), -1)
		})
	case sqlast.AlterTableType_AT_SetExpression:
		return l.atColumn(func(c *Column, cmd *sqlast.AlterTableCmd) {
			c.Default, c.DefaultVolatile = l.defaultOf(cmd.GetDef(), -1)
		})
	case sqlast.AlterTableType_AT_DropExpression:
		return l.atColumn(func(c *Column, _ *sqlast.AlterTableCmd) { c.Generated, c.Default, c.DefaultVolatile = false, "", false })
	case sqlast.AlterTableType_AT_SetNotNull:
		return l.atColumn(func(c *Column, _ *sqlast.AlterTableCmd) { c.NotNull = true })
	case sqlast.AlterTableType_AT_DropNotNull:
		return l.atColumn(func(c *Column, _ *sqlast.AlterTableCmd) { c.NotNull = false })
	case sqlast.AlterTableType_AT_AddIdentity:
		return func(r *Relation, cmd *sqlast.AlterTableCmd, _ bool) {
			l.eachColumn(r, cmd.GetName(), func(c *Column) { c.Identity, c.NotNull = true, true })
			l.identitySequence(r, cmd)
		}
	case sqlast.AlterTableType_AT_DropIdentity:
		return l.atColumn(func(c *Column, _ *sqlast.AlterTableCmd) { c.Identity = false })
	case sqlast.AlterTableType_AT_AddConstraint:
		return l.atAddConstraint
	case sqlast.AlterTableType_AT_DropConstraint:
		return l.atDropConstraint
	case sqlast.AlterTableType_AT_AttachPartition:
		return l.atAttach
	case sqlast.AlterTableType_AT_DetachPartition:
		return l.atDetach
	case sqlast.AlterTableType_AT_AddInherit:
		return func(r *Relation, cmd *sqlast.AlterTableCmd, _ bool) {
			if parent := l.must("inherit", cmd.GetDef().GetRangeVar()); parent != nil {
				l.adopt(parent, r, false)
			}
		}
	case sqlast.AlterTableType_AT_DropInherit:
		return func(r *Relation, cmd *sqlast.AlterTableCmd, _ bool) {
			if parent := l.must("no inherit", cmd.GetDef().GetRangeVar()); parent != nil {
				disown(parent, r)
			}
		}
	case sqlast.AlterTableType_AT_EnableRowSecurity, sqlast.AlterTableType_AT_ForceRowSecurity:
		return func(r *Relation, _ *sqlast.AlterTableCmd, _ bool) { r.RowSecurity = true }
	case sqlast.AlterTableType_AT_DisableRowSecurity:
		return func(r *Relation, _ *sqlast.AlterTableCmd, _ bool) { r.RowSecurity = false }
	}
	return nil
}

// atColumn makes an alteration of one column and, unless ONLY is given, of the children's column of that name. Views may have defaults; their
// columns are not known here, so those are skipped.
func (l *loader) atColumn(change func(*Column, *sqlast.AlterTableCmd)) alteration {
	return func(r *Relation, cmd *sqlast.AlterTableCmd, recurse bool) {
		if r.Kind == View {
			l.skip("alter view column")
			return
		}
		l.eachColumn(r, cmd.GetName(), func(c *Column) { change(c, cmd) })
		if !recurse {
			return
		}
		l.eachChild(r, func(child *Relation) {
			if i := child.Column(cmd.GetName()); i >= 0 {
				change(&child.Columns[i], cmd)
			}
		})
	}
}

func (l *loader) atAddColumn(r *Relation, cmd *sqlast.AlterTableCmd, recurse bool) {
	def := cmd.GetDef().GetColumnDef()
	if r.Column(def.GetColname()) >= 0 {
		if !cmd.GetMissingOk() {
			l.fail("add column: %q has a column %q already", r.Key(), def.GetColname())
		}
		return
	}
	l.addColumn(r, def)
	i := r.Column(def.GetColname())
	if !recurse || i < 0 {
		return
	}
	col := r.Columns[i]
	l.eachChild(r, func(child *Relation) {
		if child.Column(col.Name) < 0 {
			child.Columns = append(child.Columns, col)
		}
	})
}

func (l *loader) atDropColumn(r *Relation, cmd *sqlast.AlterTableCmd, recurse bool) {
	name := cmd.GetName()
	if r.Column(name) < 0 {
		if !cmd.GetMissingOk() {
			l.fail("drop column: there is no column %q in %q", name, r.Key())
		}
		return
	}
	l.dropColumn(r, name)
	if recurse {
		l.eachChild(r, func(child *Relation) { l.dropColumn(child, name) })
	}
}

// dropColumn removes a column and what PostgreSQL removes with it: its indexes and constraints.
func (l *loader) dropColumn(r *Relation, name string) {
	if i := r.Column(name); i >= 0 {
		r.Columns = slices.Delete(r.Columns, i, i+1)
	}
	for _, u := range slices.Clone(r.Uniques) {
		if slices.Contains(u.Columns, name) {
			l.removeUnique(r, u.Name)
		}
	}
	r.Exclusions = slices.DeleteFunc(r.Exclusions, func(c *Constraint) bool { return slices.Contains(c.Columns, name) })
	r.ForeignKeys = slices.DeleteFunc(r.ForeignKeys, func(fk *ForeignKey) bool { return slices.Contains(fk.Columns, name) })
}

func (l *loader) identitySequence(r *Relation, cmd *sqlast.AlterTableCmd) {
	for _, o := range cmd.GetDef().GetConstraint().GetOptions() {
		if o.GetDefElem().GetDefname() == "sequence_name" {
			if names := strs(o.GetDefElem().GetArg().GetList().GetItems()); len(names) == 2 {
				l.c.Sequences[Key(names[0], names[1])] = true
				return
			}
		}
	}
	l.ownedSequence(r, cmd.GetName())
}

func (l *loader) atAddConstraint(r *Relation, cmd *sqlast.AlterTableCmd, recurse bool) {
	n := cmd.GetDef().GetConstraint()
	before := len(r.Uniques)
	l.constraint(r, n, "")
	if !recurse {
		return
	}
	if len(r.Uniques) > before {
		added := r.Uniques[len(r.Uniques)-1]
		l.eachPartition(r, func(child *Relation) { l.inheritUnique(child, added) })
	}
	if n.GetContype() == sqlast.ConstrType_CONSTR_FOREIGN {
		fk := r.ForeignKeys[len(r.ForeignKeys)-1]
		l.eachPartition(r, func(child *Relation) {
			copied := *fk
			child.ForeignKeys = append(child.ForeignKeys, &copied)
		})
	}
}

func (l *loader) atDropConstraint(r *Relation, cmd *sqlast.AlterTableCmd, _ bool) {
	name := cmd.GetName()
	if u := r.ConstraintByName(name); u != nil && l.removeUnique(r, name) {
		l.eachPartition(r, func(child *Relation) { // its counterparts go with it
			for _, c := range slices.Clone(child.Uniques) {
				if c.kind() == u.kind() && slices.Equal(c.Columns, u.Columns) {
					l.removeUnique(child, c.Name)
				}
			}
		})
		return
	}
	before := len(r.Exclusions) + len(r.ForeignKeys)
	r.Exclusions = slices.DeleteFunc(r.Exclusions, func(c *Constraint) bool { return c.Name == name })
	r.ForeignKeys = slices.DeleteFunc(r.ForeignKeys, func(fk *ForeignKey) bool { return fk.Name == name })
	if len(r.Exclusions)+len(r.ForeignKeys) == before {
		l.skip("drop check or not null constraint") // CHECK constraints are not kept
	}
}

func (l *loader) atAttach(r *Relation, cmd *sqlast.AlterTableCmd, _ bool) {
	child := l.must("attach partition", cmd.GetDef().GetPartitionCmd().GetName())
	if child == nil {
		return
	}
	if len(child.Parents) > 0 {
		l.fail("attach partition: %q is below %q already", child.Key(), child.Parents[0])
		return
	}
	l.adopt(r, child, true)
}

// below reports whether r is low or stands below it.
func (l *loader) below(r, low *Relation) bool {
	if r == low {
		return true
	}
	return slices.ContainsFunc(r.Parents, func(key string) bool {
		up := l.c.Relations[key]
		return up != nil && l.below(up, low)
	})
}

func (l *loader) atDetach(r *Relation, cmd *sqlast.AlterTableCmd, _ bool) {
	if child := l.must("detach partition", cmd.GetDef().GetPartitionCmd().GetName()); child != nil {
		disown(r, child)
	}
}

func disown(parent, child *Relation) {
	parent.Children = slices.DeleteFunc(parent.Children, func(k string) bool { return k == child.Key() })
	child.Parents = slices.DeleteFunc(child.Parents, func(k string) bool { return k == parent.Key() })
	child.Partition = false
}

func (l *loader) alterComposite(n *sqlast.AlterTableStmt) {
	key := l.baseType(qualified(n.GetRelation()))
	t := l.c.Types[key]
	for _, c := range n.GetCmds() {
		cmd := c.GetAlterTableCmd()
		if t == nil {
			l.skip("alter type")
			continue
		}
		name := cmd.GetName()
		i := slices.IndexFunc(t.Fields, func(f Column) bool { return f.Name == name })
		switch cmd.GetSubtype() {
		case sqlast.AlterTableType_AT_AddColumn:
			t.Fields = append(t.Fields, l.column(cmd.GetDef().GetColumnDef()))
		case sqlast.AlterTableType_AT_DropColumn:
			if i >= 0 {
				t.Fields = slices.Delete(t.Fields, i, i+1)
			}
		case sqlast.AlterTableType_AT_AlterColumnType:
			if i >= 0 {
				t.Fields[i].Type = l.column(cmd.GetDef().GetColumnDef()).Type
			}
		default:
			l.skip("alter type")
		}
	}
}

func qualified(rv *sqlast.RangeVar) []string {
	if rv.GetSchemaname() == "" {
		return []string{rv.GetRelname()}
	}
	return []string{rv.GetSchemaname(), rv.GetRelname()}
}
