package resolve

import (
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// xmlOrJSON resolves the SQL/XML and SQL/JSON expressions: opaque, with every part visited; nil if n is none of them.
func (r *resolver) xmlOrJSON(n *sqlast.Node, s *scope) *facts.Expr {
	switch e := n.GetNode().(type) {
	case *sqlast.Node_XmlExpr:
		x := e.XmlExpr
		out := r.parts(xmlName(x.GetOp()), "xml", int(x.GetLocation()), s, x.GetArgs()...)
		for _, a := range x.GetNamedArgs() {
			out.Args = append(out.Args, r.settle(r.expr(a.GetResTarget().GetVal(), s)))
		}
		if x.GetOp() == sqlast.XmlExprOp_IS_DOCUMENT {
			out.Type = "bool"
		}
		return out
	case *sqlast.Node_XmlSerialize:
		out := r.parts("xmlserialize", "", int(e.XmlSerialize.GetLocation()), s, e.XmlSerialize.GetExpr())
		out.Type, _ = r.typeName(e.XmlSerialize.GetTypeName())
		return out
	case *sqlast.Node_JsonObjectConstructor:
		j := e.JsonObjectConstructor
		out := r.jsonOut("json_object", j.GetOutput(), "json", int(j.GetLocation()))
		for _, k := range j.GetExprs() {
			r.keyValue(out, k.GetJsonKeyValue(), s)
		}
		return out
	case *sqlast.Node_JsonArrayConstructor:
		j := e.JsonArrayConstructor
		out := r.jsonOut("json_array", j.GetOutput(), "json", int(j.GetLocation()))
		for _, x := range j.GetExprs() {
			r.jsonValue(out, x.GetJsonValueExpr(), s)
		}
		return out
	case *sqlast.Node_JsonArrayQueryConstructor:
		j := e.JsonArrayQueryConstructor
		out := r.jsonOut("json_array", j.GetOutput(), "json", int(j.GetLocation()))
		q := r.queryNode(j.GetQuery(), s, "")
		out.Args = append(out.Args, &facts.Expr{Op: facts.Sublink, Sub: facts.SubArray, Query: q, Pos: out.Pos})
		return out
	case *sqlast.Node_JsonObjectAgg:
		j := e.JsonObjectAgg
		out := r.jsonAgg("json_objectagg", j.GetConstructor(), s)
		r.keyValue(out, j.GetArg(), s)
		return r.jsonAggDone(out, j.GetConstructor(), s)
	case *sqlast.Node_JsonArrayAgg:
		j := e.JsonArrayAgg
		out := r.jsonAgg("json_arrayagg", j.GetConstructor(), s)
		r.jsonValue(out, j.GetArg(), s)
		return r.jsonAggDone(out, j.GetConstructor(), s)
	case *sqlast.Node_JsonIsPredicate:
		return r.parts("is_json", "bool", int(e.JsonIsPredicate.GetLocation()), s, e.JsonIsPredicate.GetExpr())
	case *sqlast.Node_JsonParseExpr:
		out := r.jsonOut("json", e.JsonParseExpr.GetOutput(), "json", int(e.JsonParseExpr.GetLocation()))
		r.jsonValue(out, e.JsonParseExpr.GetExpr(), s)
		return out
	case *sqlast.Node_JsonScalarExpr:
		out := r.jsonOut("json_scalar", e.JsonScalarExpr.GetOutput(), "json", int(e.JsonScalarExpr.GetLocation()))
		out.Args = append(out.Args, r.settle(r.expr(e.JsonScalarExpr.GetExpr(), s)))
		return out
	case *sqlast.Node_JsonSerializeExpr:
		out := r.jsonOut("json_serialize", e.JsonSerializeExpr.GetOutput(), "text", int(e.JsonSerializeExpr.GetLocation()))
		r.jsonValue(out, e.JsonSerializeExpr.GetExpr(), s)
		return out
	case *sqlast.Node_JsonFuncExpr:
		return r.jsonFunc(e.JsonFuncExpr, s)
	}
	return nil
}

// parts is an opaque expression over its parts.
func (r *resolver) parts(name, typ string, pos int, s *scope, list ...*sqlast.Node) *facts.Expr {
	out := &facts.Expr{Op: facts.Opaque, Name: name, Type: typ, Pos: r.pos(pos)}
	for _, n := range list {
		if n != nil {
			out.Args = append(out.Args, r.settle(r.expr(n, s)))
		}
	}
	return out
}

func (r *resolver) jsonOut(name string, o *sqlast.JsonOutput, typ string, pos int) *facts.Expr {
	if o.GetTypeName() != nil {
		typ, _ = r.typeName(o.GetTypeName())
	}
	return &facts.Expr{Op: facts.Opaque, Name: name, Type: typ, Pos: r.pos(pos)}
}

func (r *resolver) jsonValue(out *facts.Expr, v *sqlast.JsonValueExpr, s *scope) {
	if v.GetRawExpr() != nil {
		out.Args = append(out.Args, r.settle(r.expr(v.GetRawExpr(), s)))
	}
}

func (r *resolver) keyValue(out *facts.Expr, kv *sqlast.JsonKeyValue, s *scope) {
	if kv.GetKey() != nil {
		out.Args = append(out.Args, r.settle(r.expr(kv.GetKey(), s)))
	}
	r.jsonValue(out, kv.GetValue(), s)
}

func (r *resolver) jsonAgg(name string, c *sqlast.JsonAggConstructor, s *scope) *facts.Expr {
	out := r.jsonOut(name, c.GetOutput(), "json", int(c.GetLocation()))
	out.Op = facts.Aggregate
	return out
}

func (r *resolver) jsonAggDone(out *facts.Expr, c *sqlast.JsonAggConstructor, s *scope) *facts.Expr {
	if c.GetAggFilter() != nil {
		out.Filter = r.boolean(r.expr(c.GetAggFilter(), s))
	}
	out.Order = r.sortKeys(c.GetAggOrder(), s, false)
	return r.finishCall(&sqlast.FuncCall{Over: c.GetOver()}, out, call{kind: 'a'}, s)
}

func (r *resolver) jsonFunc(j *sqlast.JsonFuncExpr, s *scope) *facts.Expr {
	name, typ := "json_query", "jsonb"
	switch j.GetOp() {
	case sqlast.JsonExprOp_JSON_EXISTS_OP:
		name, typ = "json_exists", "bool"
	case sqlast.JsonExprOp_JSON_VALUE_OP:
		name, typ = "json_value", "text"
	}
	out := r.jsonOut(name, j.GetOutput(), typ, int(j.GetLocation()))
	r.jsonValue(out, j.GetContextItem(), s)
	if j.GetPathspec() != nil {
		out.Args = append(out.Args, r.settle(r.expr(j.GetPathspec(), s)))
	}
	r.jsonPassing(out, j.GetPassing(), s)
	for _, b := range []*sqlast.JsonBehavior{j.GetOnEmpty(), j.GetOnError()} {
		if b.GetExpr() != nil {
			out.Args = append(out.Args, r.settle(r.expr(b.GetExpr(), s)))
		}
	}
	return out
}

func (r *resolver) jsonPassing(out *facts.Expr, list []*sqlast.Node, s *scope) {
	for _, n := range list {
		r.jsonValue(out, n.GetJsonArgument().GetVal(), s)
	}
}

func xmlName(op sqlast.XmlExprOp) string {
	switch op {
	case sqlast.XmlExprOp_IS_XMLCONCAT:
		return "xmlconcat"
	case sqlast.XmlExprOp_IS_XMLELEMENT:
		return "xmlelement"
	case sqlast.XmlExprOp_IS_XMLFOREST:
		return "xmlforest"
	case sqlast.XmlExprOp_IS_XMLPARSE:
		return "xmlparse"
	case sqlast.XmlExprOp_IS_XMLPI:
		return "xmlpi"
	case sqlast.XmlExprOp_IS_XMLROOT:
		return "xmlroot"
	case sqlast.XmlExprOp_IS_XMLSERIALIZE:
		return "xmlserialize"
	}
	return ""
}

// jsonName is the output name of a SQL/JSON expression.
func jsonName(n *sqlast.Node) (string, int) {
	switch e := n.GetNode().(type) {
	case *sqlast.Node_JsonParseExpr:
		return "json", 2
	case *sqlast.Node_JsonScalarExpr:
		return "json_scalar", 2
	case *sqlast.Node_JsonSerializeExpr:
		return "json_serialize", 2
	case *sqlast.Node_JsonObjectConstructor:
		return "json_object", 2
	case *sqlast.Node_JsonArrayConstructor, *sqlast.Node_JsonArrayQueryConstructor:
		return "json_array", 2
	case *sqlast.Node_JsonObjectAgg:
		return "json_objectagg", 2
	case *sqlast.Node_JsonArrayAgg:
		return "json_arrayagg", 2
	case *sqlast.Node_JsonFuncExpr:
		switch e.JsonFuncExpr.GetOp() {
		case sqlast.JsonExprOp_JSON_EXISTS_OP:
			return "json_exists", 2
		case sqlast.JsonExprOp_JSON_VALUE_OP:
			return "json_value", 2
		}
		return "json_query", 2
	}
	return "", 0
}

// xmlTable and jsonTable are functions in FROM whose columns are written out.
func (r *resolver) xmlTable(f *sqlast.RangeTableFunc, s *scope) *item {
	src := r.newSource(&facts.Source{Kind: facts.FromFunction, Lateral: f.GetLateral(), Alias: f.GetAlias().GetAliasname(), Pos: r.pos(int(f.GetLocation()))})
	before := s.lateral
	s.lateral = true
	call := r.parts("xmltable", "record", int(f.GetLocation()), s, f.GetRowexpr(), f.GetDocexpr())
	for _, n := range f.GetNamespaces() {
		call.Args = append(call.Args, r.settle(r.expr(n.GetResTarget().GetVal(), s)))
	}
	it := &item{source: src, name: "xmltable", relVisible: true, colVisible: true, rowType: "record"}
	for i, n := range f.GetColumns() {
		c := n.GetRangeTableFuncCol()
		for _, x := range []*sqlast.Node{c.GetColexpr(), c.GetColdefexpr()} {
			if x != nil {
				call.Args = append(call.Args, r.settle(r.expr(x, s)))
			}
		}
		t := "int4"
		if !c.GetForOrdinality() {
			t, _ = r.typeName(c.GetTypeName())
		}
		it.cols = append(it.cols, member{c.GetColname(), &facts.Expr{Op: facts.Column, Source: src.ID, Col: i, Type: t, Name: c.GetColname()}})
	}
	s.lateral = before
	src.Funcs = []*facts.Expr{call}
	r.alias(it, f.GetAlias())
	return it
}

func (r *resolver) jsonTable(f *sqlast.JsonTable, s *scope) *item {
	src := r.newSource(&facts.Source{Kind: facts.FromFunction, Lateral: f.GetLateral(), Alias: f.GetAlias().GetAliasname(), Pos: r.pos(int(f.GetLocation()))})
	before := s.lateral
	s.lateral = true
	call := &facts.Expr{Op: facts.Opaque, Name: "json_table", Type: "record", Pos: src.Pos}
	r.jsonValue(call, f.GetContextItem(), s)
	r.jsonPassing(call, f.GetPassing(), s)
	if e := f.GetOnError().GetExpr(); e != nil {
		call.Args = append(call.Args, r.settle(r.expr(e, s)))
	}
	it := &item{source: src, name: "json_table", relVisible: true, colVisible: true, rowType: "record"}
	r.jsonColumns(f.GetColumns(), it, call, s)
	s.lateral = before
	src.Funcs = []*facts.Expr{call}
	r.alias(it, f.GetAlias())
	return it
}

func (r *resolver) jsonColumns(list []*sqlast.Node, it *item, call *facts.Expr, s *scope) {
	for _, n := range list {
		c := n.GetJsonTableColumn()
		for _, b := range []*sqlast.JsonBehavior{c.GetOnEmpty(), c.GetOnError()} {
			if b.GetExpr() != nil {
				call.Args = append(call.Args, r.settle(r.expr(b.GetExpr(), s)))
			}
		}
		if c.GetColtype() == sqlast.JsonTableColumnType_JTC_NESTED {
			r.jsonColumns(c.GetColumns(), it, call, s)
			continue
		}
		t := "int4"
		switch c.GetColtype() {
		case sqlast.JsonTableColumnType_JTC_FOR_ORDINALITY:
		case sqlast.JsonTableColumnType_JTC_EXISTS:
			t = "bool"
			if c.GetTypeName() != nil {
				t, _ = r.typeName(c.GetTypeName())
			}
		default:
			t, _ = r.typeName(c.GetTypeName())
		}
		it.cols = append(it.cols, member{c.GetName(), &facts.Expr{Op: facts.Column, Source: it.source.ID, Col: len(it.cols), Type: t, Name: c.GetName()}})
	}
}

// attributeCall is t.f where f is a function that takes the row.
func (r *resolver) attributeCall(it *item, name string, levels, pos int) *facts.Expr {
	if it.source == nil || it.rowType == "" {
		return nil
	}
	cands, own := r.candidates("", name)
	if !own {
		return nil
	}
	for _, c := range cands {
		if c.key != "" && len(c.args) == 1 && c.args[0] == it.rowType {
			row := &facts.Expr{Op: facts.Column, Source: it.source.ID, Col: -1, Name: it.name, System: true, Type: it.rowType, Levels: levels, Pos: pos}
			return &facts.Expr{Op: facts.Call, Name: c.key, Args: []*facts.Expr{row}, Type: c.ret, Volatility: notImmutable(c.vol), UDF: true, Pos: pos}
		}
	}
	return nil
}
