package resolve

import (
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// target is the relation a statement writes to: a table, or the one below a simple updatable view.
type target struct {
	item  *item
	rel   *catalog.Relation // nil if the catalog does not have it
	view  string
	where *facts.Expr // the view's own
}

// target resolves the relation after INSERT INTO, UPDATE, DELETE FROM or MERGE INTO. A CTE's name does not hide it.
func (r *resolver) target(v *sqlast.RangeVar) *target {
	t := &target{item: r.table(v)}
	src := t.item.source
	t.rel = r.cat.Relations[src.Table]
	switch {
	case t.rel == nil:
	case t.rel.Kind == catalog.View:
		r.writableView(t)
	case t.rel.Kind == catalog.MaterializedView:
		r.invalid("invalid_statement", src.Pos, "materialized view %q cannot be written", src.Table)
	}
	r.alias(t.item, v.GetAlias())
	return t
}

// column finds the base column that a name of the target means; "" after a problem.
func (r *resolver) targetColumn(t *target, name string, pos int) (base, typ string) {
	for k := range t.item.cols {
		if t.item.cols[k].name != name {
			continue
		}
		e := t.item.cols[k].expr
		if e.Op != facts.Column || e.System || e.Source != t.item.source.ID {
			r.invalid("invalid_statement", pos, "column %q of the view cannot be written", name)
			return name, ""
		}
		return e.Name, e.Type
	}
	if !t.item.open {
		r.invalid("unknown_column", pos, "%q has no column %q", t.item.source.Table, name)
	}
	return name, ""
}

func (r *resolver) insert(st *sqlast.InsertStmt, parent *scope) *facts.Query {
	q := &facts.Query{}
	s := newScope(parent, q)
	r.with(st.GetWithClause(), s)
	t := r.target(st.GetRelation())
	w := &facts.Write{Op: "insert", Target: t.item.source, View: t.view}
	q.Write = w
	switch st.GetOverride() {
	case sqlast.OverridingKind_OVERRIDING_USER_VALUE:
		w.Overriding = "user"
	case sqlast.OverridingKind_OVERRIDING_SYSTEM_VALUE:
		w.Overriding = "system"
	}
	cols, types := r.insertColumns(t, st.GetCols())
	given := len(st.GetCols()) > 0
	if sel := st.GetSelectStmt().GetSelectStmt(); sel != nil {
		width := 0
		w.Source, width = r.insertSource(sel, s, types)
		switch {
		case width > len(cols) && !t.item.open, given && width != len(cols) && width >= 0:
			r.invalid("invalid_statement", t.item.source.Pos, "INSERT has %d columns and %d values", len(cols), width)
		case !given && width >= 0 && width < len(cols):
			cols = cols[:width]
		}
		w.Columns = cols
	}
	s.items = []*item{t.item}
	if c := st.GetOnConflictClause(); c != nil {
		w.Conflict = r.conflict(c, t, s)
	}
	r.returning(st.GetReturningList(), s)
	return q
}

// insertColumns gives the target's columns in the order the values come.
func (r *resolver) insertColumns(t *target, list []*sqlast.Node) (cols, types []string) {
	add := func(name string, pos int) {
		base, typ := r.targetColumn(t, name, pos)
		cols, types = append(cols, base), append(types, typ)
	}
	for _, n := range list {
		c := n.GetResTarget()
		pos := r.pos(int(c.GetLocation()))
		if len(c.GetIndirection()) > 0 {
			r.problem("unsupported_syntax", pos, "INSERT into a part of column %q", c.GetName())
		}
		add(c.GetName(), pos)
	}
	if len(list) == 0 {
		for k := range t.item.cols {
			add(t.item.cols[k].name, t.item.source.Pos)
		}
	}
	return cols, types
}

// insertSource resolves VALUES or SELECT; width is -1 if it is not known.
func (r *resolver) insertSource(sel *sqlast.SelectStmt, s *scope, types []string) (*facts.Query, int) {
	plainValues := len(sel.GetValuesLists()) > 0 && sel.GetSortClause() == nil && sel.GetLimitCount() == nil && sel.GetLimitOffset() == nil
	if plainValues {
		return r.insertValues(sel, s, types)
	}
	r.untypedOutputs = true
	q := r.selectStmt(sel, s)
	r.untypedOutputs = false
	for i := range q.Outputs {
		if o := &q.Outputs[i]; isLiteral(o.Expr) && i < len(types) {
			o.Expr = r.coerce(o.Expr, types[i])
		}
		q.Outputs[i].Expr = r.settle(q.Outputs[i].Expr)
	}
	if openQuery(q) {
		return q, -1
	}
	return q, len(q.Outputs)
}

func (r *resolver) insertValues(sel *sqlast.SelectStmt, parent *scope, types []string) (*facts.Query, int) {
	q := &facts.Query{}
	s := newScope(parent, q)
	r.with(sel.GetWithClause(), s)
	width := -1
	for _, row := range sel.GetValuesLists() {
		items := row.GetList().GetItems()
		if width >= 0 && width != len(items) {
			r.invalid("invalid_statement", -1, "rows of VALUES differ in length")
		}
		width = len(items)
		vals := make([]*facts.Expr, 0, width)
		for i, n := range items {
			typ := ""
			if i < len(types) {
				typ = types[i]
			}
			v := r.assigned(r.expr(n, s), typ)
			q.Folded = q.Folded || holdsList(v)
			vals = append(vals, v)
		}
		q.Values = append(q.Values, vals)
	}
	for i := range q.Values[0] {
		name := "column" + itoa(i+1)
		q.Outputs = append(q.Outputs, facts.Output{Name: name, Expr: own(i, name, q.Values[0][i].Type)})
	}
	return q, width
}

func holdsList(e *facts.Expr) bool {
	found := false
	walk(e, func(x *facts.Expr) { found = found || x.Op == facts.Slot && x.List })
	return found
}

// assigned converts a value to its column's type by an assignment cast.
func (r *resolver) assigned(e *facts.Expr, typ string) *facts.Expr {
	if e.Op == facts.Default {
		return e
	}
	return r.settle(r.coerce(e, typ))
}

// conflict resolves ON CONFLICT.
func (r *resolver) conflict(c *sqlast.OnConflictClause, t *target, s *scope) *facts.Conflict {
	f := &facts.Conflict{Nothing: c.GetAction() == sqlast.OnConflictAction_ONCONFLICT_NOTHING, Pos: r.pos(int(c.GetLocation())), Excluded: -1}
	if i := c.GetInfer(); i != nil {
		r.arbiter(i, f, t, s)
	}
	if f.Nothing {
		return f
	}
	f.Excluded = r.newSource(&facts.Source{}).ID
	ex := &item{name: "excluded", source: &facts.Source{ID: f.Excluded, Kind: facts.FromTable}, relVisible: true, open: t.item.open, rowType: t.item.rowType}
	for _, m := range t.item.cols {
		e := shift(m.expr, 0)
		if e.Op == facts.Column && e.Source == t.item.source.ID {
			e.Source = f.Excluded
		}
		ex.cols = append(ex.cols, member{m.name, e})
	}
	s.items = append(s.items, ex)
	f.Set = r.assignments(c.GetTargetList(), t, s)
	f.Where = r.condition(c.GetWhereClause(), s, "WHERE")
	s.items = s.items[:len(s.items)-1]
	return f
}

func (r *resolver) arbiter(i *sqlast.InferClause, f *facts.Conflict, t *target, s *scope) {
	if name := i.GetConname(); name != "" {
		f.Constraint = name
		con := findConstraint(t.rel, name)
		if con == nil {
			r.problem("unknown_constraint", f.Pos, "the schema has no constraint %q on %q", name, t.item.source.Table)
			return
		}
		f.Columns, f.Exprs = con.Columns, con.Exprs
		return
	}
	for _, n := range i.GetIndexElems() {
		e := n.GetIndexElem()
		if e.GetName() != "" {
			base, _ := r.targetColumn(t, e.GetName(), f.Pos)
			f.Columns = append(f.Columns, base)
			continue
		}
		x := r.expr(e.GetExpr(), s)
		if x.Op == facts.Column && !x.System && x.Levels == 0 {
			f.Columns = append(f.Columns, x.Name)
			continue
		}
		f.Exprs++
	}
	if w := i.GetWhereClause(); w != nil {
		r.condition(w, s, "ON CONFLICT")
	}
}

func findConstraint(rel *catalog.Relation, name string) *catalog.Constraint {
	if rel == nil {
		return nil
	}
	for _, list := range [][]*catalog.Constraint{{rel.Primary}, rel.Uniques, rel.Exclusions} {
		for _, c := range list {
			if c != nil && c.Name == name {
				return c
			}
		}
	}
	if rel.Primary != nil && rel.Primary.Name == "" && name == rel.Name+"_pkey" {
		return rel.Primary
	}
	return nil
}

// assignments resolves a SET list.
func (r *resolver) assignments(list []*sqlast.Node, t *target, s *scope) []facts.Assign {
	var out []facts.Assign
	var row *facts.Expr // the sublink of a row assignment, shared by its columns
	for _, n := range list {
		res := n.GetResTarget()
		pos := r.pos(int(res.GetLocation()))
		base, typ := r.targetColumn(t, res.GetName(), pos)
		var v *facts.Expr
		if m := res.GetVal().GetMultiAssignRef(); m != nil {
			v, row = r.multiAssign(m, row, s)
		} else {
			v = r.expr(res.GetVal(), s)
		}
		if len(res.GetIndirection()) > 0 {
			part := &facts.Expr{Op: facts.Opaque, Name: "assign_part", Args: []*facts.Expr{r.settle(v)}, Type: typ, Pos: pos}
			v = r.indirection(part, res.GetIndirection(), s)
			v.Type = typ
		}
		out = append(out, facts.Assign{Column: base, Value: r.assigned(v, typ), Pos: pos})
	}
	return out
}

// multiAssign is one column of (a, b) = row or sublink.
func (r *resolver) multiAssign(m *sqlast.MultiAssignRef, row *facts.Expr, s *scope) (v, keep *facts.Expr) {
	col := int(m.GetColno()) - 1
	if e := m.GetSource().GetRowExpr(); e != nil {
		if col < len(e.GetArgs()) {
			return r.expr(e.GetArgs()[col], s), nil
		}
		r.invalid("invalid_statement", r.pos(int(e.GetLocation())), "a row assignment has more columns than values")
		return r.opaque("row", -1), nil
	}
	if col == 0 || row == nil {
		if l := m.GetSource().GetSubLink(); l != nil {
			q := r.sub(l, s)
			row = &facts.Expr{Op: facts.Sublink, Sub: facts.SubMulti, Query: q, Type: "record", Pos: r.pos(int(l.GetLocation()))}
			if len(q.Outputs) != int(m.GetNcolumns()) && !openQuery(q) {
				r.invalid("invalid_statement", row.Pos, "a row assignment has %d columns and %d values", m.GetNcolumns(), len(q.Outputs))
			}
		} else {
			row = r.expr(m.GetSource(), s)
		}
	}
	v = &facts.Expr{Op: facts.Opaque, Name: "row_column", Col: col, Args: []*facts.Expr{row}, Pos: row.Pos}
	if row.Query != nil && col < len(row.Query.Outputs) {
		v.Type = row.Query.Outputs[col].Expr.Type
	}
	return v, row
}

func (r *resolver) returning(list []*sqlast.Node, s *scope) {
	s.query.Outputs = r.targets(list, s)
	for i := range s.query.Outputs {
		s.query.Outputs[i].Expr = r.settle(s.query.Outputs[i].Expr)
	}
	if s.agg {
		r.invalid("invalid_statement", -1, "an aggregate stands in RETURNING or SET")
	}
}

func (r *resolver) update(st *sqlast.UpdateStmt, parent *scope) *facts.Query {
	q := &facts.Query{}
	s := newScope(parent, q)
	r.with(st.GetWithClause(), s)
	t := r.target(st.GetRelation())
	q.Write = &facts.Write{Op: "update", Target: t.item.source, View: t.view}
	r.targetAndFrom(t, st.GetFromClause(), s)
	q.Write.Set = r.assignments(st.GetTargetList(), t, s)
	q.Where = and(r.condition(st.GetWhereClause(), s, "WHERE"), t.where)
	r.returning(st.GetReturningList(), s)
	return q
}

func (r *resolver) delete(st *sqlast.DeleteStmt, parent *scope) *facts.Query {
	q := &facts.Query{}
	s := newScope(parent, q)
	r.with(st.GetWithClause(), s)
	t := r.target(st.GetRelation())
	q.Write = &facts.Write{Op: "delete", Target: t.item.source, View: t.view}
	r.targetAndFrom(t, st.GetUsingClause(), s)
	q.Where = and(r.condition(st.GetWhereClause(), s, "WHERE"), t.where)
	r.returning(st.GetReturningList(), s)
	return q
}

// targetAndFrom puts the target first; FROM items do not see it while they are resolved.
func (r *resolver) targetAndFrom(t *target, list []*sqlast.Node, s *scope) {
	more := r.from(list, s)
	r.clash([]*item{t.item}, s.items)
	s.items = append([]*item{t.item}, s.items...)
	s.query.From = append([]*facts.Source{t.item.source}, more...)
}

func (r *resolver) merge(st *sqlast.MergeStmt, parent *scope) *facts.Query {
	q := &facts.Query{}
	s := newScope(parent, q)
	r.with(st.GetWithClause(), s)
	t := r.target(st.GetRelation())
	w := &facts.Write{Op: "merge", Target: t.item.source, View: t.view}
	q.Write = w
	src, items := r.fromItem(st.GetSourceRelation(), s)
	r.clash([]*item{t.item}, items)
	w.Using = src
	q.From = []*facts.Source{t.item.source}
	if src != nil {
		q.From = append(q.From, src)
	}
	both := append([]*item{}, items...) // MERGE's * gives the source's columns first
	both = append(both, t.item)
	s.items = both
	w.On = r.condition(st.GetJoinCondition(), s, "ON")
	q.Where = t.where
	for _, n := range st.GetMergeWhenClauses() {
		w.Actions = append(w.Actions, r.mergeAction(n.GetMergeWhenClause(), t, s, items))
	}
	s.items = both
	r.returning(st.GetReturningList(), s)
	return q
}

func (r *resolver) mergeAction(c *sqlast.MergeWhenClause, t *target, s *scope, source []*item) facts.MergeAction {
	a := facts.MergeAction{Pos: -1}
	both := s.items
	defer func() { s.items = both }()
	switch c.GetMatchKind() {
	case sqlast.MergeMatchKind_MERGE_WHEN_MATCHED:
		a.Matched = 'm'
	case sqlast.MergeMatchKind_MERGE_WHEN_NOT_MATCHED_BY_SOURCE:
		a.Matched = 's'
		s.items = []*item{t.item}
	default:
		a.Matched = 'n'
		s.items = source
	}
	a.When = r.condition(c.GetCondition(), s, "WHEN")
	switch c.GetCommandType() {
	case sqlast.CmdType_CMD_UPDATE:
		a.Do = "update"
		a.Set = r.assignments(c.GetTargetList(), t, s)
	case sqlast.CmdType_CMD_DELETE:
		a.Do = "delete"
	case sqlast.CmdType_CMD_INSERT:
		a.Do = "insert"
		var types []string
		a.Columns, types = r.insertColumns(t, c.GetTargetList())
		if len(c.GetValues()) == 0 {
			a.Columns = nil
		}
		for i, n := range c.GetValues() {
			typ := ""
			if i < len(types) {
				typ = types[i]
			}
			a.Values = append(a.Values, r.assigned(r.expr(n, s), typ))
		}
		if len(a.Values) > len(a.Columns) && !t.item.open || len(c.GetTargetList()) > 0 && len(a.Values) != len(c.GetTargetList()) {
			r.invalid("invalid_statement", -1, "INSERT of MERGE has %d columns and %d values", len(a.Columns), len(a.Values))
		} else if len(a.Values) < len(a.Columns) {
			a.Columns = a.Columns[:len(a.Values)]
		}
	default:
		a.Do = "nothing"
	}
	return a
}
