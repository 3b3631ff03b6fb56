package resolve

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// tableUtility resolves what concerns tables as objects.
func (r *resolver) tableUtility(n *sqlast.Node, u *facts.Utility) bool {
	switch s := n.GetNode().(type) {
	case *sqlast.Node_CreateStmt:
		r.createTable(s.CreateStmt, u)
	case *sqlast.Node_CreateForeignTableStmt:
		r.createTable(s.CreateForeignTableStmt.GetBaseStmt(), u)
		u.Verb = "create_foreign_table"
		flag(u, true, "foreign")
	case *sqlast.Node_AlterTableStmt:
		r.alterTable(s.AlterTableStmt, u)
	case *sqlast.Node_RenameStmt:
		r.rename(s.RenameStmt, u)
	case *sqlast.Node_AlterObjectSchemaStmt:
		a := s.AlterObjectSchemaStmt
		u.Kind, u.Verb = facts.UtilDDL, "set_schema"
		if a.GetObjectType() == sqlast.ObjectType_OBJECT_TABLE {
			u.Kind = facts.UtilAlterTable
			u.Actions = []facts.Action{{Kind: "set_schema", Table: catalog.Key(a.GetNewschema(), a.GetRelation().GetRelname()), Pos: -1}}
		}
		r.mention(u, a.GetRelation())
	case *sqlast.Node_IndexStmt:
		r.createIndex(s.IndexStmt, u)
	case *sqlast.Node_DropStmt:
		r.drop(s.DropStmt, u)
	case *sqlast.Node_TruncateStmt:
		t := s.TruncateStmt
		u.Kind, u.Verb = facts.UtilTruncate, "truncate"
		for _, v := range t.GetRelations() {
			r.mention(u, v.GetRangeVar())
		}
		flag(u, t.GetBehavior() == sqlast.DropBehavior_DROP_CASCADE, "cascade")
		flag(u, t.GetRestartSeqs(), "restart_identity")
	case *sqlast.Node_LockStmt:
		u.Kind, u.Verb = facts.UtilLockTable, "lock_table"
		for _, v := range s.LockStmt.GetRelations() {
			r.mention(u, v.GetRangeVar())
		}
		flag(u, s.LockStmt.GetNowait(), "nowait")
	case *sqlast.Node_CreateSeqStmt:
		u.Kind, u.Verb, u.Name = facts.UtilSequence, "create_sequence", r.newKey(s.CreateSeqStmt.GetSequence())
		u.Temp = isTemp(s.CreateSeqStmt.GetSequence())
	case *sqlast.Node_AlterSeqStmt:
		u.Kind, u.Verb, u.Name = facts.UtilSequence, "alter_sequence", r.newKey(s.AlterSeqStmt.GetSequence())
	case *sqlast.Node_CreateTrigStmt:
		t := s.CreateTrigStmt
		u.Kind, u.Verb, u.Name = facts.UtilTrigger, "create_trigger", t.GetTrigname()
		r.mention(u, t.GetRelation())
		flag(u, t.GetRow(), "row")
		flag(u, t.GetReplace(), "or_replace")
	case *sqlast.Node_RuleStmt:
		u.Kind, u.Verb, u.Name = facts.UtilTrigger, "create_rule", s.RuleStmt.GetRulename()
		r.mention(u, s.RuleStmt.GetRelation())
	case *sqlast.Node_CreateEventTrigStmt:
		u.Kind, u.Verb, u.Name = facts.UtilTrigger, "create_event_trigger", s.CreateEventTrigStmt.GetTrigname()
	case *sqlast.Node_CreateFunctionStmt:
		u.Kind, u.Verb = facts.UtilDDL, "create_function"
		if s.CreateFunctionStmt.GetIsProcedure() {
			u.Verb = "create_procedure"
		}
		u.Name = strings.Join(names(s.CreateFunctionStmt.GetFuncname()), ".")
	case *sqlast.Node_CommentStmt:
		u.Kind, u.Verb = facts.UtilDDL, "comment"
		r.namedObject(s.CommentStmt.GetObjtype(), s.CommentStmt.GetObject(), u)
	case *sqlast.Node_GrantStmt:
		u.Kind, u.Verb = facts.UtilDDL, "grant"
		if !s.GrantStmt.GetIsGrant() {
			u.Verb = "revoke"
		}
		for _, o := range s.GrantStmt.GetObjects() {
			r.mention(u, o.GetRangeVar())
		}
	default:
		return r.maintenance(n, u)
	}
	return true
}

func (r *resolver) maintenance(n *sqlast.Node, u *facts.Utility) bool {
	switch s := n.GetNode().(type) {
	case *sqlast.Node_VacuumStmt:
		u.Verb = "analyze"
		if s.VacuumStmt.GetIsVacuumcmd() {
			u.Verb = "vacuum"
		}
		for _, v := range s.VacuumStmt.GetRels() {
			r.mention(u, v.GetVacuumRelation().GetRelation())
		}
		for _, o := range s.VacuumStmt.GetOptions() {
			flag(u, optionOn(o.GetDefElem()), o.GetDefElem().GetDefname())
		}
	case *sqlast.Node_ReindexStmt:
		u.Verb = "reindex"
		for _, o := range s.ReindexStmt.GetParams() {
			flag(u, optionOn(o.GetDefElem()), o.GetDefElem().GetDefname())
		}
		if s.ReindexStmt.GetKind() == sqlast.ReindexObjectType_REINDEX_OBJECT_INDEX {
			u.Name = s.ReindexStmt.GetRelation().GetRelname()
			flag(u, true, "index")
			r.indexTable(s.ReindexStmt.GetRelation().GetSchemaname(), u.Name, u)
			break
		}
		r.mention(u, s.ReindexStmt.GetRelation())
		flag(u, s.ReindexStmt.GetRelation() == nil, "database")
	case *sqlast.Node_ClusterStmt:
		u.Verb = "cluster"
		r.mention(u, s.ClusterStmt.GetRelation())
	case *sqlast.Node_RefreshMatViewStmt:
		u.Verb = "refresh_materialized_view"
		r.mention(u, s.RefreshMatViewStmt.GetRelation())
		flag(u, s.RefreshMatViewStmt.GetConcurrent(), "concurrently")
		flag(u, s.RefreshMatViewStmt.GetSkipData(), "with_no_data")
	case *sqlast.Node_CheckPointStmt:
		u.Verb = "checkpoint"
	default:
		return false
	}
	u.Kind = facts.UtilMaintenance
	return true
}

// indexTable names the table of an index that backs a constraint; of other indexes the catalog knows nothing.
func (r *resolver) indexTable(schema, name string, u *facts.Utility) {
	var keys []string
	for key := range r.cat.Relations {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		rel := r.cat.Relations[key]
		if schema != "" && rel.Schema != schema {
			continue
		}
		if findConstraint(rel, name) != nil {
			r.add(u, key, true)
			return
		}
	}
}

func (r *resolver) createTable(c *sqlast.CreateStmt, u *facts.Utility) {
	u.Kind, u.Verb, u.Name = facts.UtilCreateTable, "create_table", r.newKey(c.GetRelation())
	u.Temp = isTemp(c.GetRelation())
	flag(u, c.GetIfNotExists(), "if_not_exists")
	flag(u, c.GetRelation().GetRelpersistence() == "u", "unlogged")
	flag(u, c.GetPartspec() != nil, "partitioned")
	r.add(u, u.Name, r.cat.Relations[u.Name] != nil)
	for _, n := range c.GetInhRelations() {
		parent, _ := r.relationKey(n.GetRangeVar().GetSchemaname(), n.GetRangeVar().GetRelname())
		kind := "inherit"
		if c.GetPartbound() != nil {
			kind = "partition_of"
		}
		flag(u, true, kind)
		u.Actions = append(u.Actions, facts.Action{Kind: kind, Table: parent, Pos: -1})
	}
	for _, n := range c.GetTableElts() {
		switch e := n.GetNode().(type) {
		case *sqlast.Node_ColumnDef:
			u.Actions = append(u.Actions, r.columnActions(e.ColumnDef)...)
		case *sqlast.Node_Constraint:
			u.Actions = append(u.Actions, r.constraint(e.Constraint, nil)...)
		case *sqlast.Node_TableLikeClause:
			like, _ := r.relationKey(e.TableLikeClause.GetRelation().GetSchemaname(), e.TableLikeClause.GetRelation().GetRelname())
			flag(u, true, "like")
			u.Actions = append(u.Actions, facts.Action{Kind: "like", Table: like, Pos: -1})
		}
	}
	for _, n := range c.GetConstraints() {
		u.Actions = append(u.Actions, r.constraint(n.GetConstraint(), nil)...)
	}
}

// columnActions gives a column and the constraints written beside it.
func (r *resolver) columnActions(d *sqlast.ColumnDef) []facts.Action {
	typ, _ := r.typeName(d.GetTypeName())
	out := []facts.Action{{Kind: "add_column", Column: d.GetColname(), Type: typ, Pos: r.pos(int(d.GetLocation()))}}
	for _, n := range d.GetConstraints() {
		out = append(out, r.constraint(n.GetConstraint(), []string{d.GetColname()})...)
	}
	return out
}

// constraint turns a constraint into actions; column is set for one written beside a column.
func (r *resolver) constraint(c *sqlast.Constraint, column []string) []facts.Action {
	a := facts.Action{Pos: r.pos(int(c.GetLocation()))}
	cols := func(list []*sqlast.Node) []string {
		if len(list) == 0 {
			return column
		}
		return names(list)
	}
	switch c.GetContype() {
	case sqlast.ConstrType_CONSTR_PRIMARY:
		a.Kind, a.Columns = "add_primary_key", cols(c.GetKeys())
	case sqlast.ConstrType_CONSTR_UNIQUE:
		a.Kind, a.Columns = "add_unique", cols(c.GetKeys())
	case sqlast.ConstrType_CONSTR_CHECK:
		a.Kind = "add_check"
	case sqlast.ConstrType_CONSTR_EXCLUSION:
		a.Kind = "add_exclude"
		for _, n := range c.GetExclusions() {
			pair := n.GetList().GetItems()
			if len(pair) != 2 {
				continue
			}
			name := pair[0].GetIndexElem().GetName()
			if name == "" {
				a.Exprs++
				continue
			}
			a.Columns = append(a.Columns, name)
			if op := names(pair[1].GetList().GetItems()); len(op) > 0 && op[len(op)-1] == "=" {
				a.Equal = append(a.Equal, name)
			}
		}
		a.Partial = c.GetWhereClause() != nil
	case sqlast.ConstrType_CONSTR_FOREIGN:
		a.Kind, a.Columns = "add_foreign_key", cols(c.GetFkAttrs())
		r.reference(c, &a)
	case sqlast.ConstrType_CONSTR_NOTNULL:
		if column == nil {
			return nil
		}
		a.Kind, a.Column = "set_not_null", column[0]
	case sqlast.ConstrType_CONSTR_DEFAULT, sqlast.ConstrType_CONSTR_IDENTITY, sqlast.ConstrType_CONSTR_GENERATED:
		if column == nil {
			return nil
		}
		a.Kind, a.Column = "set_default", column[0]
	default:
		return nil
	}
	if c.GetIndexname() != "" {
		a.Kind += "_using_index"
	}
	return []facts.Action{a}
}

func (r *resolver) reference(c *sqlast.Constraint, a *facts.Action) {
	v := c.GetPktable()
	key, _ := r.relationKey(v.GetSchemaname(), v.GetRelname())
	a.RefTable, a.RefColumns = key, names(c.GetPkAttrs())
	if rel := r.cat.Relations[key]; rel != nil && len(a.RefColumns) == 0 && rel.Primary != nil {
		a.RefColumns = rel.Primary.Columns
	}
	a.OnDelete, a.OnUpdate, a.SetColumns = fkAction(c.GetFkDelAction()), fkAction(c.GetFkUpdAction()), names(c.GetFkDelSetCols())
}

func fkAction(code string) string {
	switch code {
	case "r":
		return "restrict"
	case "c":
		return "cascade"
	case "n":
		return "set null"
	case "d":
		return "set default"
	}
	return "no action"
}

func (r *resolver) createIndex(i *sqlast.IndexStmt, u *facts.Utility) {
	u.Kind, u.Verb, u.Name = facts.UtilCreateIndex, "create_index", i.GetIdxname()
	r.mention(u, i.GetRelation())
	flag(u, i.GetConcurrent(), "concurrently")
	flag(u, i.GetUnique(), "unique")
	flag(u, i.GetIfNotExists(), "if_not_exists")
	a := facts.Action{Kind: "add_index", Partial: i.GetWhereClause() != nil, Pos: -1}
	if i.GetUnique() {
		a.Kind = "add_unique"
	}
	for _, n := range i.GetIndexParams() {
		if name := n.GetIndexElem().GetName(); name != "" {
			a.Columns = append(a.Columns, name)
		} else {
			a.Exprs++
		}
	}
	u.Actions = []facts.Action{a}
}

func (r *resolver) drop(d *sqlast.DropStmt, u *facts.Utility) {
	what := strings.ToLower(strings.TrimPrefix(d.GetRemoveType().String(), "OBJECT_"))
	if what == "matview" {
		what = "materialized_view"
	}
	u.Kind, u.Verb = facts.UtilDrop, "drop_"+what
	flag(u, d.GetBehavior() == sqlast.DropBehavior_DROP_CASCADE, "cascade")
	flag(u, d.GetMissingOk(), "if_exists")
	flag(u, d.GetConcurrent(), "concurrently")
	for _, o := range d.GetObjects() {
		parts := objectNames(o)
		switch d.GetRemoveType() {
		case sqlast.ObjectType_OBJECT_TABLE, sqlast.ObjectType_OBJECT_VIEW, sqlast.ObjectType_OBJECT_MATVIEW, sqlast.ObjectType_OBJECT_FOREIGN_TABLE:
			r.addNamed(parts, u)
		case sqlast.ObjectType_OBJECT_INDEX:
			u.Name = parts[len(parts)-1]
			r.indexTable(schemaOf(parts), u.Name, u)
		case sqlast.ObjectType_OBJECT_TRIGGER, sqlast.ObjectType_OBJECT_RULE, sqlast.ObjectType_OBJECT_POLICY:
			u.Name = parts[len(parts)-1]
			r.addNamed(parts[:len(parts)-1], u)
		case sqlast.ObjectType_OBJECT_SCHEMA:
			u.Name = strings.Join(parts, ".")
			r.schemaTables(u.Name, u)
		default:
			u.Name = strings.Join(parts, ".")
		}
	}
}

// schemaTables names all relations of a schema.
func (r *resolver) schemaTables(schema string, u *facts.Utility) {
	var keys []string
	for key, rel := range r.cat.Relations {
		if rel.Schema == schema {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		r.add(u, key, true)
	}
}

func objectNames(o *sqlast.Node) []string {
	switch x := o.GetNode().(type) {
	case *sqlast.Node_List:
		return names(x.List.GetItems())
	case *sqlast.Node_ObjectWithArgs:
		return names(x.ObjectWithArgs.GetObjname())
	case *sqlast.Node_TypeName:
		return names(x.TypeName.GetNames())
	case *sqlast.Node_String_:
		return []string{x.String_.GetSval()}
	}
	return []string{""}
}

func schemaOf(parts []string) string {
	if len(parts) > 1 {
		return parts[len(parts)-2]
	}
	return ""
}

func (r *resolver) addNamed(parts []string, u *facts.Utility) {
	if len(parts) == 0 {
		return
	}
	key, known := r.relationKey(schemaOf(parts), parts[len(parts)-1])
	r.add(u, key, known)
	if rel := r.cat.Relations[key]; rel != nil && rel.Temp || strings.HasPrefix(schemaOf(parts), "pg_temp") {
		u.Temp = true
	}
}

// namedObject names the relation that COMMENT ON speaks of.
func (r *resolver) namedObject(kind sqlast.ObjectType, o *sqlast.Node, u *facts.Utility) {
	parts := objectNames(o)
	switch kind {
	case sqlast.ObjectType_OBJECT_TABLE, sqlast.ObjectType_OBJECT_VIEW, sqlast.ObjectType_OBJECT_MATVIEW, sqlast.ObjectType_OBJECT_FOREIGN_TABLE:
		r.addNamed(parts, u)
	case sqlast.ObjectType_OBJECT_COLUMN, sqlast.ObjectType_OBJECT_TABCONSTRAINT, sqlast.ObjectType_OBJECT_TRIGGER, sqlast.ObjectType_OBJECT_POLICY, sqlast.ObjectType_OBJECT_RULE:
		r.addNamed(parts[:len(parts)-1], u)
	case sqlast.ObjectType_OBJECT_INDEX:
		r.indexTable(schemaOf(parts), parts[len(parts)-1], u)
	}
}
