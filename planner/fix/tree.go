package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// level is one query level of a parse tree: what it reads and where its conditions stand.
type level struct {
	items []*item
	where **sqlast.Node // nil: it has none (INSERT)
	plain bool          // SELECT without grouping, DISTINCT, windows or LIMIT
}

// item is one table of a level, by its place in the text.
type item struct {
	loc    int
	name   string // what its columns are qualified with
	joins  []*sqlast.JoinExpr
	nulls  *sqlast.JoinExpr // innermost outer join on whose nullable side it stands
	full   bool             // below a FULL join
	target bool             // of INSERT
	level  *level

	// of the facts
	src    *facts.Source
	table  string // catalog key of the table the key is of; of a view's item the one below
	column string // that holds the shard key, as SQL names it here
	raw    string // the same, unquoted
	colo   *candidate.Colo
}

// treeLevels lists the levels of a tree in the order of the text.
func treeLevels(tree *sqlast.Node) []*level {
	var out []*level
	sqlast.Walk(tree, func(n *sqlast.Node) bool {
		switch x := n.GetNode().(type) {
		case *sqlast.Node_SelectStmt:
			out = selectLevels(x.SelectStmt, out)
		case *sqlast.Node_UpdateStmt:
			lv := &level{where: &x.UpdateStmt.WhereClause}
			lv.add(x.UpdateStmt.GetRelation(), nil, nil, false)
			lv.from(x.UpdateStmt.GetFromClause())
			out = append(out, lv)
		case *sqlast.Node_DeleteStmt:
			lv := &level{where: &x.DeleteStmt.WhereClause}
			lv.add(x.DeleteStmt.GetRelation(), nil, nil, false)
			lv.from(x.DeleteStmt.GetUsingClause())
			out = append(out, lv)
		case *sqlast.Node_MergeStmt:
			lv := &level{where: &x.MergeStmt.JoinCondition}
			lv.add(x.MergeStmt.GetRelation(), nil, nil, false)
			lv.item(x.MergeStmt.GetSourceRelation(), nil, nil, false)
			out = append(out, lv)
		case *sqlast.Node_InsertStmt:
			lv := &level{}
			lv.add(x.InsertStmt.GetRelation(), nil, nil, false)
			for _, it := range lv.items {
				it.target = true
			}
			out = append(out, lv)
		}
		return true
	})
	return out
}

// selectLevels adds a SELECT, or the arms of a set operation, which are no nodes of their own.
func selectLevels(s *sqlast.SelectStmt, out []*level) []*level {
	if s.GetLarg() != nil {
		return selectLevels(s.GetRarg(), selectLevels(s.GetLarg(), out))
	}
	lv := &level{where: &s.WhereClause}
	lv.plain = plainSelect(s)
	lv.from(s.GetFromClause())
	return append(out, lv)
}

func plainSelect(s *sqlast.SelectStmt) bool {
	return len(s.GetGroupClause()) == 0 && len(s.GetDistinctClause()) == 0 && len(s.GetWindowClause()) == 0 && s.GetLimitCount() == nil &&
		s.GetLimitOffset() == nil && s.GetHavingClause() == nil && len(s.GetValuesLists()) == 0
}

func (lv *level) from(list []*sqlast.Node) {
	for _, n := range list {
		lv.item(n, nil, nil, false)
	}
}

func (lv *level) item(n *sqlast.Node, joins []*sqlast.JoinExpr, nulls *sqlast.JoinExpr, full bool) {
	switch x := n.GetNode().(type) {
	case *sqlast.Node_RangeVar:
		lv.add(x.RangeVar, joins, nulls, full)
	case *sqlast.Node_RangeTableSample:
		lv.item(x.RangeTableSample.GetRelation(), joins, nulls, full)
	case *sqlast.Node_JoinExpr:
		j := x.JoinExpr
		joins = append(slices.Clone(joins), j)
		left, right := nulls, nulls
		switch j.GetJointype() {
		case sqlast.JoinType_JOIN_LEFT:
			right = j
		case sqlast.JoinType_JOIN_RIGHT:
			left = j
		case sqlast.JoinType_JOIN_FULL:
			full = true
		}
		lv.item(j.GetLarg(), joins, left, full)
		lv.item(j.GetRarg(), joins, right, full)
	}
}

func (lv *level) add(rv *sqlast.RangeVar, joins []*sqlast.JoinExpr, nulls *sqlast.JoinExpr, full bool) {
	if rv == nil {
		return
	}
	name := rv.GetRelname()
	if a := rv.GetAlias().GetAliasname(); a != "" {
		name = a
	}
	if len(rv.GetAlias().GetColnames()) > 0 {
		return // its columns have other names here
	}
	lv.items = append(lv.items, &item{loc: int(rv.GetLocation()), name: ident(name), joins: joins, nulls: nulls, full: full, level: lv})
}

// read finds the tables of the statement, which of them hold a shard key, and the values that a key is compared with.
func (s *search) read(tree *sqlast.Node) {
	byLoc := map[int]*facts.Source{}
	facts.Sources(s.st.Query, func(src *facts.Source) {
		if src.Kind != facts.FromTable && src.View == "" {
			return
		}
		if loc := s.at(src.Pos); byLoc[loc] == nil {
			byLoc[loc] = src
		}
	})
	s.levels = treeLevels(tree)
	for _, lv := range s.levels {
		for _, it := range lv.items {
			it.src = byLoc[it.loc]
			s.bind(it)
			if it.colo != nil {
				s.occ = append(s.occ, it)
			}
		}
	}
	s.values = s.keyValues(tree)
}

// bind finds the shard key that an item shows.
func (s *search) bind(it *item) {
	src := it.src
	if src == nil || src.System || src.Temp {
		return
	}
	if src.Kind == facts.FromTable {
		it.table = src.Table
		if t := s.p.Candidate().Table(src.Table); t.Placement == candidate.Sharded {
			it.column, it.raw, it.colo = ident(t.Column), t.Column, t.Colo
		}
		return
	}
	for i, o := range src.Query.Outputs {
		if t := s.lineage(src.Query, i, 0); t != nil && o.Name != "" {
			it.table, it.column, it.raw, it.colo = t.Key, ident(o.Name), o.Name, t.Colo
			return
		}
	}
}

// lineage follows an output that is the bare shard key down to its table.
func (s *search) lineage(q *facts.Query, i, depth int) *candidate.Table {
	if q == nil || i >= len(q.Outputs) || depth > 8 || q.SetOp != nil {
		return nil
	}
	e := q.Outputs[i].Expr
	if e == nil || e.Op != facts.Column || e.Levels != 0 || e.System {
		return nil
	}
	var found *candidate.Table
	for _, top := range q.From {
		inFrom(top, func(src *facts.Source) {
			switch {
			case src.ID != e.Source:
			case src.Kind == facts.FromTable:
				rel := s.p.Catalog().Relations[src.Table]
				t := s.p.Candidate().Table(src.Table)
				if rel != nil && t.Placement == candidate.Sharded && e.Col < len(rel.Columns) && rel.Columns[e.Col].Name == t.Column {
					found = t
				}
			case src.Kind == facts.FromQuery:
				found = s.lineage(src.Query, e.Col, depth+1)
			}
		})
	}
	return found
}

func inFrom(src *facts.Source, visit func(*facts.Source)) {
	visit(src)
	if src.Join != nil {
		inFrom(src.Join.Left, visit)
		inFrom(src.Join.Right, visit)
	}
}

// keyValues lists the values that columns with the name of a shard key are compared with, as SQL, in the order of the text.
func (s *search) keyValues(tree *sqlast.Node) []string {
	names := map[string]bool{}
	for _, c := range s.p.Candidate().Colos {
		names[c.KeyName] = true
	}
	for _, it := range s.occ {
		if t := s.p.Candidate().Table(it.table); t.Placement == candidate.Sharded {
			names[t.Column] = true
		}
	}
	var out []string
	sqlast.Walk(tree, func(n *sqlast.Node) bool {
		e := n.GetAExpr()
		if e == nil || e.GetKind() != sqlast.A_Expr_Kind_AEXPR_OP || len(e.GetName()) != 1 || e.GetName()[0].GetString_().GetSval() != "=" {
			return true
		}
		for _, side := range [][2]*sqlast.Node{{e.GetLexpr(), e.GetRexpr()}, {e.GetRexpr(), e.GetLexpr()}} {
			if names[columnName(side[0])] && constant(side[1]) {
				if text, err := deparseExpr(side[1]); err == nil && !slices.Contains(out, text) && len(out) < 3 {
					out = append(out, text)
				}
			}
		}
		return true
	})
	return out
}

// columnName is the last part of a column reference, "" of anything else.
func columnName(n *sqlast.Node) string {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1].GetString_().GetSval()
}

// constant tells a literal or a parameter, cast or not.
func constant(n *sqlast.Node) bool {
	switch x := n.GetNode().(type) {
	case *sqlast.Node_AConst:
		return !x.AConst.GetIsnull()
	case *sqlast.Node_ParamRef:
		return true
	case *sqlast.Node_TypeCast:
		return constant(x.TypeCast.GetArg())
	}
	return false
}

// highest is the largest parameter number of a tree.
func highest(tree *sqlast.Node) int {
	n := 0
	sqlast.Walk(tree, func(x *sqlast.Node) bool {
		n = max(n, int(x.GetParamRef().GetNumber()))
		return true
	})
	return n
}

// ident writes a name as SQL does: quoted where it would be another name or a word of the language.
func ident(name string) string {
	w := candidate.WrittenName(name)
	if w == name {
		if _, err := sqlast.ParseOne("SELECT " + name + ".x FROM " + name); err != nil {
			return `"` + name + `"`
		}
	}
	return w
}

// named is a name as sentences show it.
func named(name string) string { return `"` + name + `"` }

// table is a table as sentences name it.
func table(key string) string { return "table " + named(strings.TrimPrefix(key, "public.")) }

// label is the table or view of an item as sentences name it.
func (it *item) label() string {
	if it.src.View != "" {
		return "view " + named(strings.TrimPrefix(it.src.View, "public."))
	}
	return table(it.table)
}

// sqlName is a table as SQL and candidates name it.
func (s *search) sqlName(key string) string {
	if rel := s.p.Catalog().Relations[key]; rel != nil {
		return candidate.Written(rel)
	}
	return key
}

func (s *search) relation(key string) *catalog.Relation { return s.p.Catalog().Relations[key] }

func (s *search) param() string { return fmt.Sprintf("$%d", s.fresh) }
