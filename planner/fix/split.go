package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// splits tries several statements instead of one.
func (s *search) splits(tree *sqlast.Node) {
	s.splitUnion(tree)
	s.splitList(tree)
	s.splitRows(tree)
	s.splitSublinks(tree)
}

// join writes statements one after the other, each with parameters of its own.
func (s *search) join(texts ...string) string {
	var out []string
	for _, t := range texts {
		out = append(out, s.dense(t))
	}
	return strings.Join(out, ";\n")
}

// splitUnion runs the arms of a UNION one by one.
func (s *search) splitUnion(tree *sqlast.Node) {
	top := tree.GetSelectStmt()
	if top.GetOp() != sqlast.SetOperation_SETOP_UNION || top.GetWithClause() != nil || top.GetLimitCount() != nil || top.GetLimitOffset() != nil {
		return
	}
	arms, ok := unionArms(top, nil)
	if !ok {
		return
	}
	var texts []string
	for _, a := range arms {
		text, err := sqlast.Deparse(&sqlast.Node{Node: &sqlast.Node_SelectStmt{SelectStmt: a}})
		if err != nil {
			return
		}
		texts = append(texts, text)
	}
	v, ok := s.all(texts, false)
	if !ok {
		return
	}
	sem := "same rows once the application appends the results"
	if !top.GetAll() {
		sem += ", drops repeated rows"
	}
	if len(top.GetSortClause()) > 0 {
		sem += ", and sorts them"
	}
	s.offer(planner.Fix{Kind: Split, Change: fmt.Sprintf("run the %d arms of the UNION as statements of their own", len(arms)), SQL: s.join(s.armTexts(texts)...), Semantics: sem + snapshot}, &v)
}

const snapshot = "; what others change between the statements may show"

// unionArms lists the arms of a UNION and of those inside it that are of its kind and have nothing of their own around them.
func unionArms(n *sqlast.SelectStmt, out []*sqlast.SelectStmt) ([]*sqlast.SelectStmt, bool) {
	for _, arm := range []*sqlast.SelectStmt{n.GetLarg(), n.GetRarg()} {
		if arm.GetOp() != sqlast.SetOperation_SETOP_UNION || arm.GetAll() != n.GetAll() || !plainTail(arm) {
			out = append(out, arm)
			continue
		}
		out, _ = unionArms(arm, out)
	}
	return out, len(out) <= 16
}

func plainTail(n *sqlast.SelectStmt) bool {
	return len(n.GetSortClause()) == 0 && n.GetLimitCount() == nil && n.GetLimitOffset() == nil && n.GetWithClause() == nil
}

// armTexts cuts the arms out of the user's text where they can be found there.
func (s *search) armTexts(texts []string) []string {
	var out []string
	depth, from := 0, 0
	var spans [][2]int
	for i, t := range s.tokens {
		switch t.Name {
		case "ASCII_40":
			depth++
		case "ASCII_41":
			depth--
		case "UNION":
			if depth == 0 && i > 0 {
				spans = append(spans, [2]int{from, s.tokens[i-1].End})
				from = t.End
				if i+1 < len(s.tokens) && s.tokens[i+1].Name == "ALL" {
					from = s.tokens[i+1].End
				}
			}
		}
	}
	spans = append(spans, [2]int{from, len(s.text)})
	if len(spans) != len(texts) {
		return texts
	}
	for i, span := range spans {
		text := strings.TrimSpace(s.text[span[0]:span[1]])
		if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
			text = strings.TrimSpace(text[1 : len(text)-1])
		}
		got, ok := canonical(text)
		if !ok || got != texts[i] {
			text = texts[i]
		}
		out = append(out, text)
	}
	return out
}

// splitList runs a statement once for each key of a list.
func (s *search) splitList(tree *sqlast.Node) {
	sel := tree.GetSelectStmt()
	write := tree.GetUpdateStmt() != nil || tree.GetDeleteStmt() != nil
	if !write && (sel == nil || !plainSelect(sel) || sel.GetOp() != sqlast.SetOperation_SETOP_NONE || s.merges()) {
		return
	}
	for n := range s.keyLists(tree) {
		name := ""
		swap := func(tree *sqlast.Node) bool {
			lists := s.keyLists(tree)
			if n >= len(lists) {
				return false
			}
			e := lists[n]
			name = columnName(e.GetLexpr())
			e.Kind = sqlast.A_Expr_Kind_AEXPR_OP
			e.Name = []*sqlast.Node{{Node: &sqlast.Node_String_{String_: &sqlast.String{Sval: "="}}}}
			e.Rexpr = expression(s.param())
			return true
		}
		text, ok := s.apply(swap)
		if !ok {
			continue
		}
		v, ok := s.try(s.p, text, false)
		if !ok {
			continue
		}
		out, ok := replace(s.text, int(s.keyLists(tree)[n].GetLocation()), "= "+s.param(), text)
		f := planner.Fix{Kind: Split, Change: fmt.Sprintf("run the statement once for each value of %s instead of a list", named(name)), SQL: s.shown(s.p, out, ok, text, &v)}
		f.Semantics = "same rows once the application appends the results"
		if sel != nil && len(sel.GetSortClause()) > 0 {
			f.Semantics += " and sorts them"
		}
		f.Semantics += ", each value given once" + snapshot
		if write {
			f.Semantics = "same effect, but not in one transaction"
		}
		s.offer(f, &v)
		return
	}
}

// merges tells whether the rows of several keys are more than appended and sorted.
func (s *search) merges() bool {
	return slices.ContainsFunc(s.before.Features, func(f string) bool {
		return f != policy.Concat && f != policy.MergeSort && f != policy.EvalOnce && f != policy.Passthrough
	})
}

// keyLists finds the comparisons of a shard key with a list that hold for each row of the statement, so that each row has one of the values.
func (s *search) keyLists(tree *sqlast.Node) []*sqlast.A_Expr {
	conds := []*sqlast.Node{tree.GetSelectStmt().GetWhereClause(), tree.GetUpdateStmt().GetWhereClause(), tree.GetDeleteStmt().GetWhereClause()}
	from := slices.Clone(tree.GetSelectStmt().GetFromClause())
	for len(from) > 0 {
		if j := from[0].GetJoinExpr(); j.GetJointype() == sqlast.JoinType_JOIN_INNER {
			conds = append(conds, j.GetQuals())
			from = append(from, j.GetLarg(), j.GetRarg())
		}
		from = from[1:]
	}
	var out []*sqlast.A_Expr
	for len(conds) > 0 {
		c := conds[0]
		conds = conds[1:]
		if b := c.GetBoolExpr(); b.GetBoolop() == sqlast.BoolExprType_AND_EXPR {
			conds = append(conds, b.GetArgs()...)
		}
		e := c.GetAExpr()
		in := e.GetKind() == sqlast.A_Expr_Kind_AEXPR_IN || e.GetKind() == sqlast.A_Expr_Kind_AEXPR_OP_ANY
		if !in || len(e.GetName()) != 1 || e.GetName()[0].GetString_().GetSval() != "=" {
			continue
		}
		name := columnName(e.GetLexpr())
		if name != "" && slices.ContainsFunc(s.occ, func(it *item) bool { return it.column == ident(name) }) {
			out = append(out, e)
		}
	}
	return out
}

// splitRows inserts the rows of each key with a statement of their own.
func (s *search) splitRows(tree *sqlast.Node) {
	ins := tree.GetInsertStmt()
	rows := ins.GetSelectStmt().GetSelectStmt().GetValuesLists()
	if len(rows) == 0 || !slices.Contains(s.before.Features, policy.SplitInsert) || s.st.Query.Write == nil {
		return
	}
	text, ok := s.apply(func(tree *sqlast.Node) bool {
		values := tree.GetInsertStmt().GetSelectStmt().GetSelectStmt()
		values.ValuesLists = values.ValuesLists[:1]
		return true
	})
	if !ok {
		return
	}
	v, ok := s.try(s.p, text, true)
	if !ok {
		return
	}
	out, found := s.firstRow(text)
	target := s.st.Query.Write.Target.Table
	column := s.p.Candidate().Table(target).Column
	s.offer(planner.Fix{
		Kind: Split, Change: fmt.Sprintf("insert the rows of each %s into %s with a statement of its own", named(column), table(target)),
		SQL: s.shown(s.p, out, found, text, &v), Semantics: "same effect, but not in one transaction; rows of one " + named(column) + " may stay together",
	}, &v)
}

// firstRow cuts all rows but the first out of the user's text.
func (s *search) firstRow(want string) (string, bool) {
	depth, in, end := 0, false, 0
	for i, t := range s.tokens {
		switch t.Name {
		case "VALUES":
			in = in || depth == 0
		case "ASCII_40":
			depth++
		case "ASCII_41":
			depth--
			if in && depth == 0 && end == 0 {
				end = t.End
			} else if in && depth == 0 && end > 0 {
				next := i + 1
				if next < len(s.tokens) && s.tokens[next].Name == "ASCII_44" {
					continue
				}
				out := s.text[:end] + s.text[t.End:]
				got, ok := canonical(out)
				return out, ok && got == want
			}
		}
	}
	got, ok := canonical(s.text)
	return s.text, ok && got == want
}

// splitSublinks runs a subquery first and gives its result to the rest as a parameter.
func (s *search) splitSublinks(tree *sqlast.Node) {
	if s.splitScalars(tree) {
		return
	}
	for n := range sublinks(tree) {
		var inner string
		var loc int
		text, ok := s.apply(func(tree *sqlast.Node) bool {
			links := sublinks(tree)
			if n >= len(links) {
				return false
			}
			node, link := links[n], links[n].GetSubLink()
			loc = int(link.GetLocation())
			var err error
			if inner, err = sqlast.Deparse(link.GetSubselect()); err != nil {
				return false
			}
			value := expression(s.param())
			switch link.GetSubLinkType() {
			case sqlast.SubLinkType_EXPR_SUBLINK:
				node.Node = value.Node
			case sqlast.SubLinkType_ANY_SUBLINK:
				if len(link.GetOperName()) > 0 || link.GetTestexpr().GetRowExpr() != nil {
					return false
				}
				node.Node = &sqlast.Node_AExpr{AExpr: &sqlast.A_Expr{Kind: sqlast.A_Expr_Kind_AEXPR_OP_ANY, Lexpr: link.GetTestexpr(), Rexpr: value,
					Name: []*sqlast.Node{{Node: &sqlast.Node_String_{String_: &sqlast.String{Sval: "="}}}}}}
			default:
				return false
			}
			return true
		})
		if !ok || len(s.judge(s.p, inner, false).Tables) == 0 {
			continue
		}
		v, ok := s.all([]string{inner, text}, false)
		if !ok {
			continue
		}
		by := s.param()
		out, found := replace(s.text, loc, by, text)
		if !found {
			out, found = replace(s.text, loc, "= ANY("+s.param()+")", text)
		}
		s.offer(planner.Fix{
			Kind: Split, Change: "run the subquery first and pass its result as a parameter",
			SQL: s.join(inner, s.shown(s.p, out, found, text, &v)), Semantics: "same result if nothing changes between the two statements",
		}, &v)
		return
	}
}

// sublinks lists the subqueries in expressions.
func sublinks(tree *sqlast.Node) []*sqlast.Node {
	var out []*sqlast.Node
	sqlast.Walk(tree, func(n *sqlast.Node) bool {
		if n.GetSubLink() != nil {
			out = append(out, n)
		}
		return true
	})
	return out[:min(len(out), 8)]
}

// splitScalars runs the subqueries of a SELECT that has nothing else.
func (s *search) splitScalars(tree *sqlast.Node) bool {
	top := tree.GetSelectStmt()
	if top == nil || len(top.GetFromClause()) > 0 || len(top.GetTargetList()) < 2 || !plainSelect(top) || top.GetWhereClause() != nil || top.GetWithClause() != nil {
		return false
	}
	var texts []string
	for _, n := range top.GetTargetList() {
		link := n.GetResTarget().GetVal().GetSubLink()
		if link.GetSubLinkType() != sqlast.SubLinkType_EXPR_SUBLINK {
			return false
		}
		text, err := sqlast.Deparse(link.GetSubselect())
		if err != nil {
			return false
		}
		texts = append(texts, text)
	}
	v, ok := s.all(texts, false)
	if !ok {
		return false
	}
	s.offer(planner.Fix{
		Kind: Split, Change: fmt.Sprintf("run the %d subqueries as statements of their own", len(texts)), SQL: s.join(texts...),
		Semantics: "same values if nothing changes between the statements",
	}, &v)
	return true
}
