package resolve

import (
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

func (r *resolver) alterTable(a *sqlast.AlterTableStmt, u *facts.Utility) {
	u.Kind, u.Verb = facts.UtilAlterTable, "alter_table"
	switch a.GetObjtype() {
	case sqlast.ObjectType_OBJECT_TABLE, sqlast.ObjectType_OBJECT_FOREIGN_TABLE, sqlast.ObjectType_OBJECT_MATVIEW:
	case sqlast.ObjectType_OBJECT_SEQUENCE:
		u.Kind, u.Verb, u.Name = facts.UtilSequence, "alter_sequence", r.newKey(a.GetRelation())
		return
	case sqlast.ObjectType_OBJECT_INDEX:
		u.Kind, u.Verb, u.Name = facts.UtilDDL, "alter_index", a.GetRelation().GetRelname()
		r.indexTable(a.GetRelation().GetSchemaname(), u.Name, u)
		return
	case sqlast.ObjectType_OBJECT_TYPE:
		u.Kind, u.Verb, u.Name = facts.UtilDDL, "alter_type", r.newKey(a.GetRelation())
		return
	default:
		u.Kind, u.Verb = facts.UtilDDL, "alter_"+strings.ToLower(strings.TrimPrefix(a.GetObjtype().String(), "OBJECT_"))
	}
	flag(u, a.GetMissingOk(), "if_exists")
	r.mention(u, a.GetRelation())
	rel := r.cat.Relation(r.path, a.GetRelation().GetSchemaname(), a.GetRelation().GetRelname())
	for _, n := range a.GetCmds() {
		u.Actions = append(u.Actions, r.alterCmd(n.GetAlterTableCmd(), rel, u)...)
	}
}

// alterCmd turns one subcommand into actions. Those that a verdict does not depend on are "other".
func (r *resolver) alterCmd(c *sqlast.AlterTableCmd, rel *catalog.Relation, u *facts.Utility) []facts.Action {
	a := facts.Action{Column: c.GetName(), Pos: -1}
	flag(u, c.GetBehavior() == sqlast.DropBehavior_DROP_CASCADE, "cascade")
	switch c.GetSubtype() {
	case sqlast.AlterTableType_AT_AddColumn:
		return r.columnActions(c.GetDef().GetColumnDef())
	case sqlast.AlterTableType_AT_DropColumn:
		a.Kind = "drop_column"
	case sqlast.AlterTableType_AT_AlterColumnType:
		a.Kind = "alter_type"
		d := c.GetDef().GetColumnDef()
		a.Type, _ = r.typeName(d.GetTypeName())
		flag(u, d.GetRawDefault() != nil, "using")
	case sqlast.AlterTableType_AT_ColumnDefault:
		a.Kind = "set_default"
		if c.GetDef() == nil {
			a.Kind = "drop_default"
		}
	case sqlast.AlterTableType_AT_SetNotNull:
		a.Kind = "set_not_null"
	case sqlast.AlterTableType_AT_DropNotNull:
		a.Kind = "drop_not_null"
	case sqlast.AlterTableType_AT_AddIdentity, sqlast.AlterTableType_AT_SetIdentity, sqlast.AlterTableType_AT_SetExpression:
		a.Kind = "set_default"
	case sqlast.AlterTableType_AT_DropIdentity, sqlast.AlterTableType_AT_DropExpression:
		a.Kind = "drop_default"
	case sqlast.AlterTableType_AT_AddConstraint:
		con := c.GetDef().GetConstraint()
		flag(u, con.GetSkipValidation(), "not_valid")
		acts := r.constraint(con, nil)
		for i := range acts {
			if con.GetIndexname() == "" {
				continue
			}
			acts[i].Kind = strings.TrimSuffix(acts[i].Kind, "_using_index")
			if idx := findConstraint(rel, con.GetIndexname()); idx != nil {
				acts[i].Columns, acts[i].Exprs = idx.Columns, idx.Exprs
			} else {
				r.problem("unknown_constraint", -1, "the schema has no unique index %q", con.GetIndexname())
			}
		}
		if len(acts) == 0 {
			a.Kind = "other"
			return []facts.Action{a}
		}
		return acts
	case sqlast.AlterTableType_AT_DropConstraint:
		a.Kind = "drop_constraint"
	case sqlast.AlterTableType_AT_ValidateConstraint:
		a.Kind = "validate_constraint"
	case sqlast.AlterTableType_AT_AttachPartition, sqlast.AlterTableType_AT_DetachPartition, sqlast.AlterTableType_AT_DetachPartitionFinalize:
		a.Kind = "attach_partition"
		if c.GetSubtype() != sqlast.AlterTableType_AT_AttachPartition {
			a.Kind = "detach_partition"
		}
		p := c.GetDef().GetPartitionCmd()
		a.Table, _ = r.relationKey(p.GetName().GetSchemaname(), p.GetName().GetRelname())
		r.mention(u, p.GetName())
	case sqlast.AlterTableType_AT_AddInherit, sqlast.AlterTableType_AT_DropInherit:
		a.Kind = "inherit"
		if c.GetSubtype() == sqlast.AlterTableType_AT_DropInherit {
			a.Kind = "no_inherit"
		}
		v := c.GetDef().GetRangeVar()
		a.Table, _ = r.relationKey(v.GetSchemaname(), v.GetRelname())
		r.mention(u, v)
	default:
		a.Kind = "other"
	}
	return []facts.Action{a}
}

func (r *resolver) rename(n *sqlast.RenameStmt, u *facts.Utility) {
	u.Kind, u.Verb = facts.UtilDDL, "rename"
	flag(u, n.GetMissingOk(), "if_exists")
	switch n.GetRenameType() {
	case sqlast.ObjectType_OBJECT_TABLE, sqlast.ObjectType_OBJECT_VIEW, sqlast.ObjectType_OBJECT_MATVIEW, sqlast.ObjectType_OBJECT_FOREIGN_TABLE:
		u.Kind = facts.UtilAlterTable
		r.mention(u, n.GetRelation())
		u.Actions = []facts.Action{{Kind: "rename_table", Table: n.GetNewname(), Pos: -1}}
	case sqlast.ObjectType_OBJECT_COLUMN:
		u.Kind = facts.UtilAlterTable
		r.mention(u, n.GetRelation())
		u.Actions = []facts.Action{{Kind: "rename_column", Column: n.GetSubname(), Table: n.GetNewname(), Pos: -1}}
	case sqlast.ObjectType_OBJECT_TABCONSTRAINT, sqlast.ObjectType_OBJECT_TRIGGER, sqlast.ObjectType_OBJECT_POLICY, sqlast.ObjectType_OBJECT_RULE:
		u.Kind = facts.UtilAlterTable
		r.mention(u, n.GetRelation())
		u.Actions = []facts.Action{{Kind: "other", Column: n.GetSubname(), Pos: -1}}
	case sqlast.ObjectType_OBJECT_INDEX:
		u.Name = n.GetRelation().GetRelname()
		r.indexTable(n.GetRelation().GetSchemaname(), u.Name, u)
	case sqlast.ObjectType_OBJECT_SEQUENCE:
		u.Kind, u.Name = facts.UtilSequence, r.newKey(n.GetRelation())
	}
}
