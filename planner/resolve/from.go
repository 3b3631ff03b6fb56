package resolve

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// from resolves a FROM list into the scope's items.
func (r *resolver) from(list []*sqlast.Node, s *scope) []*facts.Source {
	var out []*facts.Source
	for _, n := range list {
		src, items := r.fromItem(n, s)
		r.clash(s.items, items)
		for _, i := range items {
			i.lateralOnly = true
		}
		s.items = append(s.items, items...)
		if src != nil {
			out = append(out, src)
		}
	}
	for _, i := range s.items {
		i.lateralOnly = false
	}
	return out
}

// clash finds a table name that is given twice.
func (r *resolver) clash(have, more []*item) {
	for _, a := range more {
		for _, b := range have {
			if a.relVisible && b.relVisible && a.name != "" && a.name == b.name && (a.schema == b.schema || a.schema == "" || b.schema == "") {
				pos := -1
				if a.source != nil {
					pos = a.source.Pos
				}
				r.invalid("ambiguous_table", pos, "table name %q is given twice", a.name)
			}
		}
	}
}

func (r *resolver) fromItem(n *sqlast.Node, s *scope) (*facts.Source, []*item) {
	switch f := n.GetNode().(type) {
	case *sqlast.Node_RangeVar:
		return one(r.rangeVar(f.RangeVar, s))
	case *sqlast.Node_RangeSubselect:
		return one(r.subselect(f.RangeSubselect, s))
	case *sqlast.Node_RangeFunction:
		return one(r.rangeFunction(f.RangeFunction, s))
	case *sqlast.Node_JoinExpr:
		return r.join(f.JoinExpr, s)
	case *sqlast.Node_RangeTableSample:
		src, items := r.fromItem(f.RangeTableSample.GetRelation(), s)
		if src != nil {
			src.Sample = true
		}
		for _, a := range append(slices.Clone(f.RangeTableSample.GetArgs()), f.RangeTableSample.GetRepeatable()) {
			if a != nil {
				r.noSide(r.settle(r.expr(a, s)), int(f.RangeTableSample.GetLocation()))
			}
		}
		return src, items
	case *sqlast.Node_RangeTableFunc:
		return one(r.xmlTable(f.RangeTableFunc, s))
	case *sqlast.Node_JsonTable:
		return one(r.jsonTable(f.JsonTable, s))
	}
	r.problem("unsupported_syntax", -1, "a FROM item is of an unknown kind")
	return nil, []*item{{open: true, colVisible: true}}
}

func one(i *item) (*facts.Source, []*item) { return i.source, []*item{i} }

// noSide records what facts have no place for if it could hide a table or an effect.
func (r *resolver) noSide(e *facts.Expr, pos int) {
	if !harmless(e) {
		r.problem("unsupported_syntax", pos, "an argument of TABLESAMPLE is more than a plain value")
	}
}

// harmless tells an expression of slots, constants and immutable operations only.
func harmless(e *facts.Expr) bool {
	ok := true
	walk(e, func(x *facts.Expr) {
		switch x.Op {
		case facts.Slot, facts.Const, facts.Cast, facts.Operator, facts.Compare, facts.Array, facts.Coalesce, facts.Case, facts.Row:
		case facts.Call:
			ok = ok && !x.UDF
		default:
			ok = false
		}
		ok = ok && x.Volatility == 0
	})
	return ok
}

// maxRepeated is the size of an expression that BETWEEN and CASE repeat; a larger one could double at every level of nesting.
const maxRepeated = 16

// nodes counts an expression's nodes; a sublink counts as more than may be repeated.
func nodes(e *facts.Expr) (n int) {
	walk(e, func(x *facts.Expr) {
		n++
		if x.Query != nil {
			n += maxRepeated
		}
	})
	return n
}

// walk visits an expression and its parts, sublinks' queries excluded.
func walk(e *facts.Expr, f func(*facts.Expr)) {
	if e == nil {
		return
	}
	f(e)
	for _, l := range [][]*facts.Expr{e.Args, e.Partition, {e.Filter}} {
		for _, a := range l {
			walk(a, f)
		}
	}
	for _, k := range e.Order {
		walk(k.Expr, f)
	}
}

// rangeVar resolves a named relation: a CTE, a table, a view.
func (r *resolver) rangeVar(v *sqlast.RangeVar, s *scope) *item {
	if v.GetSchemaname() == "" {
		if c := s.findCTE(v.GetRelname()); c != nil {
			return r.cteRef(c, v)
		}
	}
	it := r.table(v)
	if rel := r.cat.Relations[it.source.Table]; rel != nil && rel.Kind == catalog.View {
		r.view(rel, it)
	}
	r.alias(it, v.GetAlias())
	return it
}

// table resolves a name to a relation of the catalog or of the system, a view not yet expanded.
func (r *resolver) table(v *sqlast.RangeVar) *item {
	pos := r.pos(int(v.GetLocation()))
	src := r.newSource(&facts.Source{Kind: facts.FromTable, Pos: pos, Only: !v.GetInh(), Alias: v.GetAlias().GetAliasname()})
	it := &item{name: v.GetRelname(), schema: v.GetSchemaname(), source: src, relVisible: true, colVisible: true, table: true}
	if src.Alias != "" {
		it.name, it.schema = src.Alias, ""
	}
	schema, name := v.GetSchemaname(), v.GetRelname()
	if key, cols := r.systemRelation(schema, name); cols != nil {
		src.Table, src.System, it.loose = key, true, true
		for i, c := range cols {
			it.cols = append(it.cols, member{c.name, &facts.Expr{Op: facts.Column, Source: src.ID, Col: i, Type: c.typ, Name: c.name}})
		}
		return it
	}
	rel := r.cat.Relation(r.path, schema, name)
	if rel == nil {
		src.Table = name
		if schema != "" {
			src.Table = catalog.Key(schema, name)
		}
		src.Temp = strings.HasPrefix(schema, "pg_temp")
		src.System = schema == "pg_catalog" || schema == "information_schema" || schema == "pg_toast" || slices.Contains(statisticsViews, name)
		if src.System {
			it.loose = true
			return it
		}
		it.open = true
		r.problem("unknown_table", pos, "the schema has no table %q", src.Table)
		r.st.Problems[len(r.st.Problems)-1].Name = src.Table
		return it
	}
	if it.schema == "" && src.Alias == "" {
		it.schema = rel.Schema
	}
	src.Table, src.Temp, it.rowType = rel.Key(), rel.Temp, rel.Key()
	for i, c := range rel.Columns {
		it.cols = append(it.cols, member{c.Name, &facts.Expr{Op: facts.Column, Source: src.ID, Col: i, Type: c.Type, Name: c.Name}})
	}
	if rel.Kind == catalog.MaterializedView && len(rel.Columns) == 0 {
		r.storedView(rel, it)
	}
	return it
}

// storedView gives a materialized view, whose rows are its own, the columns of its definition.
func (r *resolver) storedView(rel *catalog.Relation, it *item) {
	aside := &resolver{b: r.b, cat: r.cat, path: r.path, binds: map[int]string{}, st: &facts.Statement{}, views: r.views, nviews: r.nviews}
	q := aside.viewQuery(rel, -1)
	r.nviews = aside.nviews
	if q == nil || openQuery(q) {
		it.open = true
		r.problem("view_unparsed", it.source.Pos, "the columns of materialized view %q are not known", rel.Key())
	}
	if q != nil {
		it.cols = outputColumns(q, rel.ViewColumns, it.source.ID)
	}
}

// outputColumns gives a query's outputs as columns of a source, the first ones renamed.
func outputColumns(q *facts.Query, renamed []string, source int) (out []member) {
	for i, o := range q.Outputs {
		if o.Expr.Op == facts.Opaque && o.Expr.Name == "star" {
			break // the positions of what follows are not known
		}
		name := o.Name
		if i < len(renamed) {
			name = renamed[i]
		}
		out = append(out, member{name, &facts.Expr{Op: facts.Column, Source: source, Col: i, Type: o.Expr.Type, Name: name}})
	}
	return out
}

// statisticsViews are views of extensions about the server itself, which a schema dump does not show.
var statisticsViews = []string{"pg_stat_statements", "pg_stat_statements_info", "pg_buffercache", "pg_stat_kcache", "pg_wait_sampling_profile", "pg_qualstats"}

// systemRelation finds a relation of pg_catalog, which comes first unless the path names it, or of information_schema.
func (r *resolver) systemRelation(schema, name string) (string, []column) {
	switch schema {
	case "":
		if slices.Contains(r.path, "pg_catalog") {
			for _, p := range r.path {
				if cols := r.b.relations[catalog.Key(p, name)]; cols != nil {
					return catalog.Key(p, name), cols
				}
				if r.cat.Relations[catalog.Key(p, name)] != nil {
					return "", nil
				}
			}
			return "", nil
		}
		if cols := r.b.relations["pg_catalog."+name]; cols != nil {
			return "pg_catalog." + name, cols
		}
		for _, p := range r.path {
			if r.cat.Relations[catalog.Key(p, name)] != nil {
				return "", nil
			}
			if cols := r.b.relations[catalog.Key(p, name)]; cols != nil {
				return catalog.Key(p, name), cols
			}
		}
	case "pg_catalog", "information_schema":
		if cols := r.b.relations[catalog.Key(schema, name)]; cols != nil {
			return catalog.Key(schema, name), cols
		}
	}
	return "", nil
}

// alias renames an item's columns.
func (r *resolver) alias(it *item, a *sqlast.Alias) {
	if a == nil {
		return
	}
	it.name, it.schema = a.GetAliasname(), ""
	cols := names(a.GetColnames())
	if len(cols) > len(it.cols) && !it.open {
		r.invalid("invalid_statement", it.source.Pos, "%q has fewer columns than its alias lists", it.name)
	}
	for i, c := range cols {
		if i < len(it.cols) {
			it.cols[i].name = c
		}
	}
}

// derived makes the item of a FROM query.
func (r *resolver) derived(src *facts.Source, q *facts.Query, alias *sqlast.Alias) *item {
	src.Query = q
	it := &item{source: src, relVisible: alias != nil, colVisible: true}
	it.cols = outputColumns(q, nil, src.ID)
	it.open = openQuery(q)
	r.alias(it, alias)
	return it
}

// openQuery tells that not all output columns are known, for * over an unknown relation left an unnamed hole.
func openQuery(q *facts.Query) bool {
	for _, o := range q.Outputs {
		if o.Expr.Op == facts.Opaque && o.Expr.Name == "star" {
			return true
		}
	}
	if q.SetOp != nil {
		return openQuery(q.SetOp.Left)
	}
	return false
}

func (r *resolver) subselect(f *sqlast.RangeSubselect, s *scope) *item {
	src := r.newSource(&facts.Source{Kind: facts.FromQuery, Lateral: f.GetLateral(), Alias: f.GetAlias().GetAliasname(), Pos: -1})
	q := r.inFrom(s, f.GetLateral(), func() *facts.Query { return r.queryNode(f.GetSubquery(), s, "") })
	if q == nil {
		r.problem("unsupported_syntax", -1, "a derived table is no query")
		return &item{source: src, open: true, colVisible: true}
	}
	return r.derived(src, q, f.GetAlias())
}

// inFrom resolves a part of FROM: items to its left are visible only if it is LATERAL.
func (r *resolver) inFrom(s *scope, lateral bool, f func() *facts.Query) *facts.Query {
	before := s.lateral
	s.lateral = lateral
	defer func() { s.lateral = before }()
	return f()
}

// view expands a view into a derived table, or leaves it a table after a problem.
func (r *resolver) view(rel *catalog.Relation, it *item) {
	q := r.viewQuery(rel, it.source.Pos)
	it.table = false
	if q == nil {
		it.open = true
		return
	}
	it.source.Kind, it.source.View, it.source.Table, it.source.Query = facts.FromQuery, rel.Key(), "", q
	it.cols = outputColumns(q, rel.ViewColumns, it.source.ID)
	it.open = openQuery(q)
}

// viewQuery resolves a view's definition in a scope and a search path of its own.
func (r *resolver) viewQuery(rel *catalog.Relation, pos int) *facts.Query {
	key := rel.Key()
	r.nviews++
	if slices.Contains(r.views, key) || len(r.views) >= maxViewDepth || r.nviews > maxViews {
		r.problem("view_recursion", pos, "view %q refers to itself, or views are nested too deep", key)
		return nil
	}
	stmts, err := sqlast.Parse(rel.ViewSQL)
	if err != nil || len(stmts) != 1 {
		r.problem("view_unparsed", pos, "the definition of view %q cannot be parsed", key)
		return nil
	}
	r.views = append(r.views, key)
	path := r.path
	switch {
	case len(rel.ViewPath) > 0:
		r.path = rel.ViewPath
	case r.cat.SearchPath != nil:
		r.path = r.cat.SearchPath
	default:
		r.path = []string{"public"}
	}
	if r.inView == 0 {
		r.viewPos = pos
	}
	r.inView++
	defer func() {
		r.inView--
		r.path = path
		r.views = r.views[:len(r.views)-1]
	}()
	q := r.queryNode(stmts[0].GetStmt(), nil, "")
	if q == nil {
		r.problem("view_unparsed", pos, "the definition of view %q is no query", key)
	}
	return q
}
