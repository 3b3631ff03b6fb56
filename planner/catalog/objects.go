package catalog

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// createView keeps a view's query as text, with the search_path that its names were resolved by.
func (l *loader) createView(n *sqlast.ViewStmt) {
	rv := n.GetView()
	l.addView(&Relation{
		Schema: l.schemaOf(rv), Name: rv.GetRelname(), Kind: View, Temp: rv.GetRelpersistence() == "t", Line: l.line,
		ViewColumns: strs(n.GetAliases()), ViewPath: slices.Clone(l.path),
	}, n.GetQuery(), n.GetReplace())
}

// createTableAs keeps a materialized view. A table made from a query has columns that only a server can tell.
func (l *loader) createTableAs(n *sqlast.CreateTableAsStmt) {
	rv := n.GetInto().GetRel()
	r := &Relation{
		Schema: l.schemaOf(rv), Name: rv.GetRelname(), Kind: MaterializedView, Line: l.line,
		ViewColumns: strs(n.GetInto().GetColNames()), ViewPath: slices.Clone(l.path),
	}
	if n.GetObjtype() != sqlast.ObjectType_OBJECT_MATVIEW {
		l.fail("create table as: the columns of %q are known to a server only; dump the schema from one, or write the columns out", r.Key())
		return
	}
	if n.GetIfNotExists() && l.c.Relations[r.Key()] != nil {
		return
	}
	l.addView(r, n.GetQuery(), false)
}

func (l *loader) addView(r *Relation, query *sqlast.Node, replace bool) {
	text, err := l.queryText(query)
	if err != nil {
		l.fail("create view: the query of %q cannot be written back: %w", r.Key(), err)
		return
	}
	r.ViewSQL = text
	if old := l.c.Relations[r.Key()]; old != nil {
		if !replace || old.Kind != View {
			l.fail("create view: %q exists already, from line %d; keep one of them", r.Key(), old.Line)
			return
		}
		r.Triggers, r.Rules = old.Triggers, old.Rules
	}
	l.c.Relations[r.Key()] = r
}

// createFunction keeps a function's or procedure's signature, volatility and, for LANGUAGE sql, body.
func (l *loader) createFunction(n *sqlast.CreateFunctionStmt) {
	schema, name := l.named(n.GetFuncname())
	f := &Function{
		Schema: schema, Name: name, Returns: l.typeOf(n.GetReturnType()), ReturnsSet: n.GetReturnType().GetSetof(),
		Volatility: 'v', Procedure: n.GetIsProcedure(), Path: slices.Clone(l.path), Line: l.line,
	}
	for _, p := range n.GetParameters() {
		l.parameter(f, p.GetFunctionParameter())
	}
	for _, o := range n.GetOptions() {
		l.functionOption(f, o.GetDefElem())
	}
	if body := n.GetSqlBody(); body != nil { // RETURN expr, or BEGIN ATOMIC ... END
		f.Language = "sql"
		f.Body = l.sqlBody(body)
	}
	l.addFunction(f)
}

// sqlBody writes the statements of a SQL-standard body. One that cannot be written back leaves the body empty, which nobody takes for a
// function without effect.
func (l *loader) sqlBody(body *sqlast.Node) string {
	stmts := []*sqlast.Node{body}
	if list := body.GetList(); list != nil {
		stmts = nil
		for _, inner := range list.GetItems() {
			if more := inner.GetList(); more != nil {
				stmts = append(stmts, more.GetItems()...)
			} else {
				stmts = append(stmts, inner)
			}
		}
	}
	var texts []string
	for _, s := range stmts {
		if ret := s.GetReturnStmt(); ret != nil {
			s = selectOf(ret.GetReturnval())
		}
		text, err := sqlast.Deparse(s)
		if err != nil {
			l.skip("function body")
			return ""
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// selectOf makes SELECT expr.
func selectOf(expr *sqlast.Node) *sqlast.Node {
	target := &sqlast.Node{Node: &sqlast.Node_ResTarget{ResTarget: &sqlast.ResTarget{Val: expr}}}
	return &sqlast.Node{Node: &sqlast.Node_SelectStmt{SelectStmt: &sqlast.SelectStmt{
		TargetList: []*sqlast.Node{target}, LimitOption: sqlast.LimitOption_LIMIT_OPTION_DEFAULT, Op: sqlast.SetOperation_SETOP_NONE,
	}}}
}

func (l *loader) parameter(f *Function, p *sqlast.FunctionParameter) {
	typ := l.typeOf(p.GetArgType())
	switch p.GetMode() {
	case sqlast.FunctionParameterMode_FUNC_PARAM_OUT:
		f.Columns = append(f.Columns, Column{Name: p.GetName(), Type: typ})
		return
	case sqlast.FunctionParameterMode_FUNC_PARAM_TABLE:
		f.Columns = append(f.Columns, Column{Name: p.GetName(), Type: typ})
		f.ReturnsSet = true
		return
	case sqlast.FunctionParameterMode_FUNC_PARAM_INOUT:
		f.Columns = append(f.Columns, Column{Name: p.GetName(), Type: typ})
	case sqlast.FunctionParameterMode_FUNC_PARAM_VARIADIC:
		f.Variadic = true
	}
	f.Args = append(f.Args, typ)
	if p.GetDefexpr() != nil {
		f.Defaults++
	}
}

func (l *loader) functionOption(f *Function, o *sqlast.DefElem) {
	switch o.GetDefname() {
	case "language":
		f.Language = strings.ToLower(o.GetArg().GetString_().GetSval())
	case "volatility":
		f.Volatility = volatility(o.GetArg().GetString_().GetSval(), f.Volatility)
	case "strict":
		f.Strict = o.GetArg().GetBoolean().GetBoolval()
	case "as":
		if texts := strs(o.GetArg().GetList().GetItems()); len(texts) > 0 {
			f.Body = texts[0]
		}
	}
}

func volatility(word string, old byte) byte {
	switch word {
	case "immutable":
		return 'i'
	case "stable":
		return 's'
	case "volatile":
		return 'v'
	}
	return old
}

// addFunction adds an overload, or replaces the one of the same arguments.
func (l *loader) addFunction(f *Function) {
	key := Key(f.Schema, f.Name)
	for i, old := range l.c.Functions[key] {
		if slices.Equal(old.Args, f.Args) {
			l.c.Functions[key][i] = f
			return
		}
	}
	l.c.Functions[key] = append(l.c.Functions[key], f)
}

func (l *loader) alterFunction(n *sqlast.AlterFunctionStmt) {
	fs := l.functions(n.GetFunc())
	if len(fs) == 0 { // an extension's
		l.skip("alter function")
		return
	}
	if len(fs) != 1 {
		l.fail("alter function: %q names %d functions of the schema so far", last(strs(n.GetFunc().GetObjname())), len(fs))
		return
	}
	for _, o := range n.GetActions() {
		l.functionOption(fs[0], o.GetDefElem())
	}
}

// functions finds the overloads that a signature names.
func (l *loader) functions(sig *sqlast.ObjectWithArgs) []*Function {
	names := strs(sig.GetObjname())
	var all []*Function
	if len(names) > 1 {
		all = l.c.Functions[Key(names[len(names)-2], names[len(names)-1])]
	} else {
		for _, schema := range append(slices.Clone(l.path), "public") {
			if all = l.c.Functions[Key(schema, last(names))]; len(all) > 0 {
				break
			}
		}
	}
	if sig.GetArgsUnspecified() {
		return all
	}
	var args []string
	for _, a := range sig.GetObjargs() {
		args = append(args, l.typeOf(a.GetTypeName()))
	}
	var match []*Function
	for _, f := range all {
		if slices.Equal(f.Args, args) {
			match = append(match, f)
		}
	}
	return match
}

// define reads CREATE AGGREGATE, COLLATION and TYPE; operators, text search objects and the like are counted.
func (l *loader) define(n *sqlast.DefineStmt) {
	switch n.GetKind() {
	case sqlast.ObjectType_OBJECT_AGGREGATE:
		l.createAggregate(n)
	case sqlast.ObjectType_OBJECT_COLLATION:
		schema, name := l.named(n.GetDefnames())
		for _, d := range n.GetDefinition() {
			if e := d.GetDefElem(); e.GetDefname() == "deterministic" && falsehood(e.GetArg()) {
				l.nondet[Key(schema, name)] = true
			}
			if e := d.GetDefElem(); e.GetDefname() == "from" && l.nondet[strings.Join(strs(e.GetArg().GetList().GetItems()), ".")] {
				l.nondet[Key(schema, name)] = true
			}
		}
		l.skip("create collation")
	case sqlast.ObjectType_OBJECT_TYPE:
		l.createType(n.GetDefnames(), 'b')
	default:
		l.skip("create " + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(n.GetKind().String(), "OBJECT_"), "_", " ")))
	}
}

// falsehood reads a boolean option as PostgreSQL's defGetBoolean does.
func falsehood(arg *sqlast.Node) bool {
	if b := arg.GetBoolean(); b != nil {
		return !b.GetBoolval()
	}
	if i := arg.GetInteger(); i != nil {
		return i.GetIval() == 0
	}
	word := arg.GetString_().GetSval()
	if t := arg.GetTypeName(); t != nil {
		word = last(strs(t.GetNames()))
	}
	word = strings.ToLower(word)
	return word == "false" || word == "off"
}

func (l *loader) createAggregate(n *sqlast.DefineStmt) {
	schema, name := l.named(n.GetDefnames())
	f := &Function{Schema: schema, Name: name, Aggregate: true, Language: "internal", Volatility: 'i', Path: slices.Clone(l.path), Line: l.line}
	for _, list := range n.GetArgs() {
		items := list.GetList().GetItems()
		if list.GetList() == nil {
			items = []*sqlast.Node{list}
		}
		for _, p := range items {
			if fp := p.GetFunctionParameter(); fp != nil {
				l.parameter(f, fp)
			}
		}
	}
	for _, d := range n.GetDefinition() {
		if e := d.GetDefElem(); e.GetDefname() == "basetype" {
			if t := e.GetArg().GetTypeName(); t != nil && last(strs(t.GetNames())) != "any" {
				f.Args = append(f.Args, l.typeOf(t))
			}
		}
	}
	l.addFunction(f)
}

// The bits of a trigger's events: src/include/catalog/pg_trigger.h.
var triggerEvents = [...]struct {
	bit  int32
	name string
}{{1 << 2, "insert"}, {1 << 4, "update"}, {1 << 3, "delete"}, {1 << 5, "truncate"}}

func (l *loader) createTrigger(n *sqlast.CreateTrigStmt) {
	r := l.must("create trigger", n.GetRelation())
	if r == nil {
		return
	}
	t := Trigger{Name: n.GetTrigname(), Row: n.GetRow(), Line: l.line}
	for _, e := range triggerEvents {
		if n.GetEvents()&e.bit != 0 {
			t.Events = append(t.Events, e.name)
		}
	}
	names := strs(n.GetFuncname())
	t.Function = last(names)
	switch {
	case len(names) > 1 && names[len(names)-2] != "pg_catalog":
		t.Function = Key(names[len(names)-2], names[len(names)-1])
	case len(names) == 1:
		for _, schema := range l.path {
			if key := Key(schema, names[0]); len(l.c.Functions[key]) > 0 {
				t.Function = key
				break
			}
		}
	}
	add := func(r *Relation) {
		r.Triggers = slices.DeleteFunc(r.Triggers, func(old Trigger) bool { return old.Name == t.Name })
		r.Triggers = append(r.Triggers, t)
	}
	add(r)
	if t.Row {
		l.eachPartition(r, add) // PostgreSQL clones a row trigger to partitions, and pg_dump leaves the clones out
	}
}

func (l *loader) createRule(n *sqlast.RuleStmt) {
	r := l.must("create rule", n.GetRelation())
	if r == nil || n.GetRulename() == "_RETURN" {
		return
	}
	if !slices.Contains(r.Rules, n.GetRulename()) {
		r.Rules = append(r.Rules, n.GetRulename())
	}
}

func (l *loader) createPolicy(n *sqlast.CreatePolicyStmt) {
	if r := l.must("create policy", n.GetTable()); r != nil && !slices.Contains(r.Policies, n.GetPolicyName()) {
		r.Policies = append(r.Policies, n.GetPolicyName())
		l.policySQL(r, n)
	}
}

func (l *loader) policySQL(r *Relation, n *sqlast.CreatePolicyStmt) {
	var texts []string
	for _, expr := range []*sqlast.Node{n.GetQual(), n.GetWithCheck()} {
		if expr == nil {
			continue
		}
		text, err := sqlast.Deparse(selectOf(expr))
		if err != nil {
			l.skip("policy expression")
			return
		}
		texts = append(texts, text)
	}
	if r.PolicySQL == nil {
		r.PolicySQL = map[string]string{}
	}
	r.PolicySQL[n.GetPolicyName()] = strings.Join(texts, "; ")
}
