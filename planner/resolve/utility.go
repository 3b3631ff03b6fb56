package resolve

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// utility resolves a statement that is no query.
func (r *resolver) utility(n *sqlast.Node) {
	u := &facts.Utility{Pos: -1}
	r.st.Utility = u
	if r.sessionUtility(n, u) || r.wrapper(n, u) || r.tableUtility(n, u) {
		return
	}
	name := nodeName(n)
	for _, prefix := range []string{"create_", "alter_", "drop_", "define", "comment", "grant", "rename", "sec_label", "reassign_", "composite_", "import_"} {
		if strings.HasPrefix(name, prefix) {
			u.Kind, u.Verb = facts.UtilDDL, name
			r.mention(u, rangeVars(n)...)
			return
		}
	}
	u.Kind, u.Verb = facts.UtilOther, name
	r.problem("unsupported_syntax", -1, "a statement of kind %q is not known", name)
}

// nodeName turns CreatePolicyStmt into create_policy.
func nodeName(n *sqlast.Node) string {
	m := n.ProtoReflect()
	f := m.WhichOneof(m.Descriptor().Oneofs().ByName("node"))
	if f == nil {
		return ""
	}
	name := strings.TrimSuffix(string(f.Message().Name()), "Stmt")
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// rangeVars finds every relation named below a node, in order.
func rangeVars(n *sqlast.Node) (out []*sqlast.RangeVar) {
	var visit func(m protoreflect.Message)
	visit = func(m protoreflect.Message) {
		if v, ok := m.Interface().(*sqlast.RangeVar); ok {
			out = append(out, v)
			return
		}
		fields := m.Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			if f.Kind() != protoreflect.MessageKind || !m.Has(f) {
				continue
			}
			if !f.IsList() {
				visit(m.Get(f).Message())
				continue
			}
			list := m.Get(f).List()
			for k := range list.Len() {
				visit(list.Get(k).Message())
			}
		}
	}
	if n != nil {
		visit(n.ProtoReflect())
	}
	return out
}

// mention adds relations to the statement's tables; what the catalog lacks is also in Missing.
func (r *resolver) mention(u *facts.Utility, list ...*sqlast.RangeVar) {
	for _, v := range list {
		if v == nil {
			continue
		}
		key, known := r.relationKey(v.GetSchemaname(), v.GetRelname())
		r.add(u, key, known)
		if rel := r.cat.Relations[key]; rel != nil && rel.Temp || v.GetSchemaname() == "pg_temp" {
			u.Temp = true
		}
	}
}

func (r *resolver) add(u *facts.Utility, key string, known bool) {
	if !slices.Contains(u.Tables, key) {
		u.Tables = append(u.Tables, key)
		if !known {
			u.Missing = append(u.Missing, key)
		}
	}
}

// relationKey gives a relation's catalog key, or the name as written.
func (r *resolver) relationKey(schema, name string) (string, bool) {
	if key, cols := r.systemRelation(schema, name); cols != nil {
		return key, true
	}
	if rel := r.cat.Relation(r.path, schema, name); rel != nil {
		return rel.Key(), true
	}
	if schema != "" {
		return catalog.Key(schema, name), false
	}
	return name, false
}

// newKey is the key a relation to be created gets: its schema, or the first one of the path.
func (r *resolver) newKey(v *sqlast.RangeVar) string {
	if s := v.GetSchemaname(); s != "" {
		return catalog.Key(s, v.GetRelname())
	}
	for _, s := range r.path {
		if s != "$user" && s != "pg_catalog" {
			return catalog.Key(s, v.GetRelname())
		}
	}
	return v.GetRelname()
}

func isTemp(v *sqlast.RangeVar) bool {
	return v.GetRelpersistence() == "t" || strings.HasPrefix(v.GetSchemaname(), "pg_temp")
}

func flag(u *facts.Utility, on bool, name string) {
	if on && !slices.Contains(u.Flags, name) {
		u.Flags = append(u.Flags, name)
	}
}

// writes tells whether a query changes rows, in any of its parts.
func writes(q *facts.Query) bool {
	if q == nil {
		return false
	}
	if q.Write != nil {
		return true
	}
	for i := range q.CTEs {
		if writes(q.CTEs[i].Query) {
			return true
		}
	}
	return false
}

// wrapper resolves what stands around a query: EXPLAIN, DECLARE, PREPARE, COPY, CREATE TABLE AS, CREATE VIEW; and EXECUTE, CALL, DO.
func (r *resolver) wrapper(n *sqlast.Node, u *facts.Utility) bool {
	switch s := n.GetNode().(type) {
	case *sqlast.Node_ExplainStmt:
		r.explain(s.ExplainStmt, u)
	case *sqlast.Node_DeclareCursorStmt:
		d := s.DeclareCursorStmt
		u.Kind, u.Verb, u.Name = facts.UtilDeclare, "declare", d.GetPortalname()
		for _, o := range []struct {
			bit  int32
			name string
		}{{0x1, "binary"}, {0x2, "scroll"}, {0x4, "no_scroll"}, {0x8, "insensitive"}, {0x10, "asensitive"}, {0x20, "with_hold"}} { // CURSOR_OPT_* of parsenodes.h
			flag(u, d.GetOptions()&o.bit != 0, o.name)
		}
		r.inner(d.GetQuery())
	case *sqlast.Node_PrepareStmt:
		p := s.PrepareStmt
		u.Kind, u.Verb, u.Name = facts.UtilPrepare, "prepare", p.GetName()
		for i, t := range p.GetArgtypes() {
			if name, _ := r.typeName(t.GetTypeName()); name != untyped && name != "" {
				r.binds[i+1] = name
			}
		}
		r.inner(p.GetQuery())
	case *sqlast.Node_ExecuteStmt:
		u.Kind, u.Verb, u.Name = facts.UtilExecute, "execute", s.ExecuteStmt.GetName()
		u.Args = r.utilityArgs(s.ExecuteStmt.GetParams())
	case *sqlast.Node_CopyStmt:
		r.copyStmt(s.CopyStmt, u)
	case *sqlast.Node_CreateTableAsStmt:
		c := s.CreateTableAsStmt
		u.Kind, u.Verb = facts.UtilCreateTableAs, "create_table_as"
		if c.GetObjtype() == sqlast.ObjectType_OBJECT_MATVIEW {
			u.Verb = "create_materialized_view"
		}
		flag(u, c.GetIfNotExists(), "if_not_exists")
		flag(u, c.GetInto().GetSkipData(), "with_no_data")
		r.into(c.GetInto(), u)
		r.inner(c.GetQuery())
	case *sqlast.Node_ViewStmt:
		v := s.ViewStmt
		u.Kind, u.Verb, u.Name = facts.UtilDDL, "create_view", r.newKey(v.GetView())
		u.Temp = isTemp(v.GetView())
		flag(u, v.GetReplace(), "or_replace")
		r.viewTables(v.GetQuery(), u)
	case *sqlast.Node_CallStmt:
		r.callStmt(s.CallStmt, u)
	case *sqlast.Node_DoStmt:
		u.Kind, u.Verb = facts.UtilDo, "do"
	default:
		return false
	}
	return true
}

// inner resolves the query inside a wrapper.
func (r *resolver) inner(n *sqlast.Node) {
	if q := r.queryNode(n, nil, ""); q != nil {
		r.st.Query = q
		return
	}
	if e := n.GetExecuteStmt(); e != nil {
		r.st.Utility.Flags = append(r.st.Utility.Flags, "execute")
		r.st.Utility.Args = r.utilityArgs(e.GetParams())
		r.problem("prepared_unknown", -1, "the statement executes prepared statement %q", e.GetName())
		return
	}
	if c := n.GetCreateTableAsStmt(); c != nil {
		r.st.Utility.Flags = append(r.st.Utility.Flags, "create_table_as")
		r.inner(c.GetQuery())
		return
	}
	if d := n.GetDeclareCursorStmt(); d != nil {
		r.inner(d.GetQuery())
		return
	}
	r.problem("unsupported_syntax", -1, "the statement inside is no query")
}

func (r *resolver) utilityArgs(list []*sqlast.Node) []*facts.Expr {
	s := newScope(nil, &facts.Query{})
	var out []*facts.Expr
	for _, n := range list {
		out = append(out, r.later(r.expr(n, s)))
	}
	return out
}

func (r *resolver) explain(e *sqlast.ExplainStmt, u *facts.Utility) {
	u.Kind, u.Verb = facts.UtilExplain, "explain"
	for _, n := range e.GetOptions() {
		d := n.GetDefElem()
		flag(u, optionOn(d), d.GetDefname())
	}
	r.inner(e.GetQuery())
	if slices.Contains(u.Flags, "analyze") {
		u.Write = writes(r.st.Query) || e.GetQuery().GetCreateTableAsStmt() != nil
	}
}

// optionOn reads a boolean option: no value, true, on and 1 are on.
func optionOn(d *sqlast.DefElem) bool {
	switch a := d.GetArg().GetNode().(type) {
	case nil:
		return true
	case *sqlast.Node_String_:
		return a.String_.GetSval() != "false" && a.String_.GetSval() != "off"
	case *sqlast.Node_Integer:
		return a.Integer.GetIval() != 0
	case *sqlast.Node_Boolean:
		return a.Boolean.GetBoolval()
	}
	return true
}

func (r *resolver) copyStmt(c *sqlast.CopyStmt, u *facts.Utility) {
	u.Kind, u.Verb, u.Write, u.Columns = facts.UtilCopy, "copy_to", c.GetIsFrom(), names(c.GetAttlist())
	if c.GetIsFrom() {
		u.Verb = "copy_from"
	}
	flag(u, c.GetIsProgram(), "program")
	flag(u, c.GetFilename() != "", "file")
	if c.GetQuery() != nil {
		r.inner(c.GetQuery())
		return
	}
	v := c.GetRelation()
	r.mention(u, v)
	if rel := r.cat.Relation(r.path, v.GetSchemaname(), v.GetRelname()); rel != nil {
		for _, col := range u.Columns {
			if rel.Column(col) < 0 {
				r.invalid("unknown_column", int(v.GetLocation()), "%q has no column %q", rel.Key(), col)
			}
		}
		if len(u.Columns) == 0 {
			for _, col := range rel.Columns {
				if !col.Generated {
					u.Columns = append(u.Columns, col.Name)
				}
			}
		}
	}
	if c.GetWhereClause() != nil {
		s := newScope(nil, &facts.Query{})
		s.items = []*item{r.table(v)}
		u.Args = append(u.Args, r.condition(c.GetWhereClause(), s, "WHERE"))
		flag(u, true, "where")
	}
}

// into names the table a query's rows go to.
func (r *resolver) into(i *sqlast.IntoClause, u *facts.Utility) {
	u.Name = r.newKey(i.GetRel())
	u.Temp = isTemp(i.GetRel())
	flag(u, i.GetRel().GetRelpersistence() == "u", "unlogged")
	r.add(u, u.Name, r.cat.Relations[u.Name] != nil)
	u.Columns = names(i.GetColNames())
}

func (r *resolver) selectInto(st *sqlast.SelectStmt) {
	u := r.st.Utility
	if u == nil {
		u = &facts.Utility{Kind: facts.UtilCreateTableAs, Verb: "select_into", Pos: -1}
		r.st.Utility = u
	}
	r.into(st.GetIntoClause(), u)
}

// viewTables names the tables a view to be created reads. The query itself is not run, so it is not the statement's.
func (r *resolver) viewTables(n *sqlast.Node, u *facts.Utility) {
	q := r.queryNode(n, nil, "")
	if q == nil {
		r.problem("unsupported_syntax", -1, "a view's definition is no query")
		return
	}
	facts.Sources(q, func(s *facts.Source) {
		switch {
		case s.Kind == facts.FromTable && !s.System:
			r.add(u, s.Table, r.cat.Relations[s.Table] != nil)
		case s.View != "":
			r.add(u, s.View, true)
		}
	})
}

func (r *resolver) callStmt(c *sqlast.CallStmt, u *facts.Utility) {
	f := c.GetFunccall()
	u.Kind, u.Verb = facts.UtilCall, "call"
	u.Pos = int(f.GetLocation())
	parts := names(f.GetFuncname())
	schema, name := "", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	u.Args = r.utilityArgs(f.GetArgs())
	u.Name = r.resolveCall(schema, name, u.Args).name
}
