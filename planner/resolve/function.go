package resolve

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// candidates gathers the functions a name may mean, in search order: pg_catalog first, then the path.
func (r *resolver) candidates(schema, name string) (out []routine, own bool) {
	schemas := r.path
	switch {
	case schema != "":
		schemas = []string{schema}
	case !slices.Contains(r.path, "pg_catalog"):
		schemas = append([]string{"pg_catalog"}, r.path...)
	}
	for _, sc := range schemas {
		if sc == "pg_catalog" {
			for _, c := range r.b.functions[name] {
				if !slices.ContainsFunc(out, func(o routine) bool { return slices.Equal(o.args, c.args) }) {
					out = append(out, c)
				}
			}
		}
		for _, f := range r.cat.Functions[catalog.Key(sc, name)] {
			c := ownRoutine(f)
			if slices.ContainsFunc(out, func(o routine) bool { return slices.Equal(o.args, c.args) }) {
				continue // hidden by one that comes earlier
			}
			out = append(out, c)
			own = true
		}
	}
	return out, own
}

func ownRoutine(f *catalog.Function) routine {
	c := routine{args: f.Args, ret: f.Returns, vol: f.Volatility, kind: 'f', set: f.ReturnsSet, defaults: f.Defaults, variadic: f.Variadic && len(f.Args) > 0, key: catalog.Key(f.Schema, f.Name)}
	switch {
	case f.Aggregate:
		c.kind = 'a'
	case f.Procedure:
		c.kind = 'p'
	}
	if c.vol == 0 {
		c.vol = 'v'
	}
	for _, col := range f.Columns {
		c.cols = append(c.cols, column{col.Name, col.Type})
	}
	return c
}

// call is a resolved function name.
type call struct {
	name string
	kind byte
	vol  facts.Volatility
	typ  string
	set  bool
	udf  bool
}

// resolveCall picks the function and coerces the arguments. What cannot be picked is taken at its worst.
func (r *resolver) resolveCall(schema, name string, args []*facts.Expr) call {
	cands, own := r.candidates(schema, name)
	if readsByText(name) && !own {
		return call{name: name, kind: 'f', vol: facts.VolUnknown, udf: true}
	}
	types := make([]string, len(args))
	sure := true
	for i, a := range args {
		types[i] = a.Type
		sure = sure && a.Type != "" && (a.Type == untyped || r.known(a.Type))
	}
	if len(args) == 1 && schema == "" && r.castByName(name, types[0], cands) {
		return call{name: name, kind: 'c', typ: name}
	}
	if len(cands) == 0 {
		return r.noFunction(schema, name, args)
	}
	if i := r.choose(cands, types); i >= 0 && (sure || countArity(cands, len(args)) == 1) {
		c := &cands[i]
		out := call{name: name, kind: c.kind, vol: notImmutable(c.vol), set: c.set, udf: c.key != ""}
		if c.key != "" {
			out.name = c.key
		}
		out.typ = r.pass(c, args)
		return out
	}
	out := call{name: name, udf: own}
	first, fit := true, false
	for i := range cands {
		c := &cands[i]
		if !c.takes(len(args)) || !r.fits(c, types) && sure {
			continue
		}
		fit = true
		if c.key != "" {
			out.name = c.key
		}
		out.vol = worse(out.vol, notImmutable(c.vol))
		out.set = out.set || c.set
		if out.kind == 0 || c.kind == 'a' {
			out.kind = c.kind
		}
		switch ret := r.concrete(c.ret, "", args); {
		case first:
			out.typ, first = ret, false
		case out.typ != ret:
			out.typ = ""
		}
	}
	if !fit {
		out.vol, out.udf, out.typ = facts.VolUnknown, true, ""
		if out.kind == 0 {
			out.kind = 'f'
		}
	}
	return out
}

// readsByText tells PostgreSQL's functions that read tables named, or queries written, in their arguments.
func readsByText(name string) bool {
	switch name {
	case "ts_stat", "ts_rewrite":
		return true
	}
	for _, what := range []string{"query_to_xml", "table_to_xml", "schema_to_xml", "database_to_xml", "cursor_to_xml"} {
		if strings.HasPrefix(name, what) {
			return true
		}
	}
	return false
}

// castByName tells type(x) from a call, as func_get_detail does: no function takes exactly this type, and the cast is of an untyped
// literal, binary, or by text form.
func (r *resolver) castByName(name, from string, cands []routine) bool {
	if !r.typeExists(name) || from == "" {
		return false
	}
	for i := range cands {
		if exact(&cands[i], []string{from}) {
			return false
		}
	}
	if from == untyped {
		return true
	}
	way, ok := r.castWay(from, name, 'e')
	return ok && way.method != 'f'
}

func countArity(cands []routine, n int) (count int) {
	for i := range cands {
		if cands[i].takes(n) {
			count++
		}
	}
	return count
}

func worse(a, b facts.Volatility) facts.Volatility {
	rank := func(v facts.Volatility) int { return strings.IndexByte("\x00isvu", byte(v)) }
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// noFunction is a name without candidates: a common extension's, a cast written as a call, a column written as a call, or unknown.
func (r *resolver) noFunction(schema, name string, args []*facts.Expr) call {
	if f, ok := extensionFunctions[name]; ok {
		return call{name: name, kind: 'f', vol: f.vol, typ: f.typ, set: f.set, udf: f.vol == facts.VolUnknown}
	}
	full := name
	if schema != "" {
		full = catalog.Key(schema, name)
	}
	return call{name: full, kind: 'f', vol: facts.VolUnknown, udf: true}
}

func (r *resolver) funcCall(f *sqlast.FuncCall, s *scope) *facts.Expr {
	parts := names(f.GetFuncname())
	schema, name := "", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	pos := r.pos(int(f.GetLocation()))
	e := &facts.Expr{Op: facts.Call, Pos: pos, Distinct: f.GetAggDistinct()}
	e.Args = r.arguments(f.GetArgs(), s)
	if f.GetAggFilter() != nil {
		e.Filter = r.boolean(r.expr(f.GetAggFilter(), s))
	}
	e.Order = r.sortKeys(f.GetAggOrder(), s, false)
	args := e.Args
	if f.GetAggWithinGroup() {
		e.Ordered = true
		args = slices.Clone(args)
		for _, k := range e.Order {
			args = append(args, k.Expr)
		}
	}
	var c call
	if f.GetFuncVariadic() {
		c = r.variadicCall(schema, name, args)
	} else {
		c = r.resolveCall(schema, name, args)
	}
	if e.Ordered {
		copy(e.Args, args)
		for i := range e.Order {
			e.Order[i].Expr = args[len(e.Args)+i]
		}
	} else {
		e.Args = args
	}
	if c.kind == 'c' {
		return r.castTo(e.Args[0], c.typ, "", pos)
	}
	for _, a := range e.Args {
		r.later(a)
	}
	e.Name, e.Type, e.Volatility, e.UDF, e.SetReturning = c.name, c.typ, c.vol, c.udf, c.set
	if c.vol == facts.VolUnknown && len(e.Args) == 1 {
		if rel := r.cat.Relations[e.Args[0].Type]; rel != nil && rel.Column(name) >= 0 {
			return r.field(e.Args[0], name, pos)
		}
	}
	return r.finishCall(f, e, c, s)
}

// finishCall tells aggregates and window functions from plain calls.
func (r *resolver) finishCall(f *sqlast.FuncCall, e *facts.Expr, c call, s *scope) *facts.Expr {
	if f.GetOver() != nil {
		w := r.overClause(f.GetOver(), s)
		e.Op, e.Partition = facts.Window, w.partition
		e.Order = w.order
		e.Args = append(e.Args, w.frame...)
		if s.noAgg != "" {
			r.invalid("invalid_statement", e.Pos, "a window function stands in %s", s.noAgg)
		}
		return e
	}
	aggregate := c.kind == 'a' || f.GetAggStar() || e.Ordered || e.Distinct || e.Filter != nil || len(e.Order) > 0
	if !aggregate {
		if c.kind == 'w' {
			r.invalid("invalid_statement", e.Pos, "window function %q has no OVER", e.Name)
		}
		return e
	}
	e.Op = facts.Aggregate
	level, outer := aggregateLevel(e)
	if outer {
		e.Levels = level
		r.problem("outer_aggregate", e.Pos, "aggregate %q belongs to an outer query", e.Name)
	}
	home := s.up(level)
	if home == nil {
		home = s
	}
	home.agg = true
	if s.noAgg != "" && level == 0 {
		r.invalid("invalid_statement", e.Pos, "an aggregate stands in %s", s.noAgg)
	}
	return e
}

// aggregateLevel is the query level an aggregate belongs to: that of its innermost column.
func aggregateLevel(e *facts.Expr) (level int, outer bool) {
	level, sub := -1, false
	for _, part := range append(slices.Clone(e.Args), e.Filter) {
		walk(part, func(x *facts.Expr) {
			if x.Op == facts.Column && (level < 0 || x.Levels < level) {
				level = x.Levels
			}
			sub = sub || x.Op == facts.Sublink
		})
	}
	if level < 0 || sub {
		return 0, false
	}
	return level, level > 0
}

// arguments resolves a call's arguments; named ones keep the order they are written in.
func (r *resolver) arguments(list []*sqlast.Node, s *scope) []*facts.Expr {
	out := make([]*facts.Expr, 0, len(list))
	for _, n := range list {
		if c := n.GetColumnRef(); c != nil && isStar(c) && len(c.GetFields()) > 1 {
			schema, rel := qualifier(append(names(c.GetFields()), ""))
			out = append(out, r.wholeRow(schema, rel, s, r.pos(int(c.GetLocation()))))
			continue
		}
		out = append(out, r.expr(n, s))
	}
	return out
}

// variadicCall is f(VARIADIC array): the last argument is the array itself.
func (r *resolver) variadicCall(schema, name string, args []*facts.Expr) call {
	cands, _ := r.candidates(schema, name)
	out := call{name: name, kind: 'f', vol: facts.VolUnknown, udf: true}
	for i := range cands {
		c := cands[i]
		if len(c.args) != len(args) && c.key == "" {
			continue
		}
		out.vol, out.udf, out.kind, out.set = notImmutable(c.vol), c.key != "", c.kind, c.set
		out.typ = r.concrete(c.ret, r.elemOf(args[len(args)-1].Type), args)
		if c.key != "" {
			out.name = c.key
		}
		break
	}
	return out
}

// callColumns gives the columns of a function in FROM, nil if it returns one value or is not known.
func (r *resolver) callColumns(e *facts.Expr) []column {
	if e.Op != facts.Call && e.Op != facts.Aggregate {
		return nil
	}
	if e.UDF {
		for _, f := range r.cat.Functions[e.Name] {
			c := ownRoutine(f)
			if !c.takes(len(e.Args)) {
				continue
			}
			if len(c.cols) > 0 {
				return c.cols
			}
			return r.rowColumns(c.ret)
		}
		return nil
	}
	types := make([]string, len(e.Args))
	for i, a := range e.Args {
		types[i] = a.Type
	}
	if i := r.choose(r.b.functions[e.Name], types); i >= 0 {
		if c := r.b.functions[e.Name][i]; len(c.cols) > 1 {
			out := slices.Clone(c.cols)
			for i := range out {
				if strings.HasPrefix(out[i].typ, "any") {
					out[i].typ = r.concrete(out[i].typ, r.elemOf(firstType(e.Args)), e.Args)
				}
			}
			return out
		}
	}
	return r.rowColumns(e.Type)
}

func firstType(args []*facts.Expr) string {
	if len(args) == 0 {
		return ""
	}
	return args[0].Type
}

func (r *resolver) rowColumns(t string) []column {
	if t == "" {
		return nil
	}
	return r.fields(&facts.Expr{Op: facts.Opaque, Type: t})
}

// rangeFunction resolves functions in FROM.
func (r *resolver) rangeFunction(f *sqlast.RangeFunction, s *scope) *item {
	src := r.newSource(&facts.Source{Kind: facts.FromFunction, Lateral: f.GetLateral(), Alias: f.GetAlias().GetAliasname(), Pos: -1})
	it := &item{source: src, relVisible: true, colVisible: true, name: src.Alias}
	before := s.lateral
	s.lateral = true // functions see the items to their left without the word
	var cols []column
	for _, n := range f.GetFunctions() {
		list := n.GetList().GetItems()
		if len(list) == 0 {
			continue
		}
		e := r.settle(r.expr(list[0], s))
		src.Funcs = append(src.Funcs, e)
		if src.Pos < 0 {
			src.Pos = e.Pos
		}
		fname, _ := figureName(list[0])
		if it.name == "" {
			it.name = fname
		}
		var defs []*sqlast.Node
		if len(list) > 1 {
			defs = list[1].GetList().GetItems()
		}
		if len(f.GetColdeflist()) > 0 {
			defs = f.GetColdeflist()
		}
		c, open := r.functionColumns(e, fname, defs, src.Alias)
		it.open = it.open || open
		cols = append(cols, c...)
		if rt := r.cat.Relations[e.Type]; rt != nil || r.ownType(e.Type) != nil && r.ownType(e.Type).Kind == 'c' || len(c) > 1 {
			it.rowType = e.Type
			if it.rowType == "" {
				it.rowType = "record"
			}
		}
	}
	s.lateral = before
	if f.GetOrdinality() {
		if it.open {
			r.problem("unsupported_syntax", src.Pos, "WITH ORDINALITY over a function whose columns are not known")
		}
		cols = append(cols, column{"ordinality", "int8"})
	}
	for i, c := range cols {
		it.cols = append(it.cols, member{c.name, &facts.Expr{Op: facts.Column, Source: src.ID, Col: i, Type: c.typ, Name: c.name}})
	}
	r.alias(it, f.GetAlias())
	return it
}

// functionColumns gives the columns one function of FROM contributes. A scalar's one column is named by the alias.
func (r *resolver) functionColumns(e *facts.Expr, fname string, defs []*sqlast.Node, alias string) (cols []column, open bool) {
	for _, d := range defs {
		t, _ := r.typeName(d.GetColumnDef().GetTypeName())
		cols = append(cols, column{d.GetColumnDef().GetColname(), t})
	}
	if len(cols) > 0 {
		return cols, false
	}
	if e.Op == facts.Call {
		if cols = r.callColumns(e); len(cols) > 1 || len(cols) == 1 && e.UDF && e.Type != cols[0].typ {
			return cols, false
		} else if len(cols) == 1 && e.UDF {
			return cols, false
		}
		if e.Volatility == facts.VolUnknown || e.Type == "record" || e.Type == "" && e.UDF {
			return nil, true
		}
	}
	name := alias
	if name == "" {
		name = fname
	}
	return []column{{name, e.Type}}, false
}
