package fix

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// edit changes a parse tree in place; false if it has nothing to change there.
type edit func(tree *sqlast.Node) bool

// apply makes edits on a fresh tree of the text and writes it out.
func (s *search) apply(edits ...edit) (string, bool) {
	tree, err := sqlast.ParseOne(s.text)
	if err != nil {
		return "", false
	}
	for _, e := range edits {
		if !e(tree) {
			return "", false
		}
	}
	text, err := sqlast.Deparse(tree)
	return text, err == nil
}

// canonical is a text as its parse tree writes it.
func canonical(text string) (string, bool) {
	tree, err := sqlast.ParseOne(text)
	if err != nil {
		return "", false
	}
	out, err := sqlast.Deparse(tree)
	return out, err == nil
}

// expression parses an expression.
func expression(text string) *sqlast.Node {
	tree, err := sqlast.ParseOne("SELECT " + text)
	if err != nil {
		return nil
	}
	list := tree.GetSelectStmt().GetTargetList()
	if len(list) != 1 {
		return nil
	}
	return list[0].GetResTarget().GetVal()
}

// deparseExpr writes an expression.
func deparseExpr(n *sqlast.Node) (string, error) {
	target := &sqlast.Node{Node: &sqlast.Node_ResTarget{ResTarget: &sqlast.ResTarget{Val: n}}}
	text, err := sqlast.Deparse(&sqlast.Node{Node: &sqlast.Node_SelectStmt{SelectStmt: &sqlast.SelectStmt{
		TargetList: []*sqlast.Node{target}, LimitOption: sqlast.LimitOption_LIMIT_OPTION_DEFAULT, Op: sqlast.SetOperation_SETOP_NONE,
	}}})
	return strings.TrimPrefix(text, "SELECT "), err
}

// conjoin adds a condition to another one.
func conjoin(at **sqlast.Node, cond *sqlast.Node) {
	if *at == nil {
		*at = cond
		return
	}
	if b := (*at).GetBoolExpr(); b != nil && b.GetBoolop() == sqlast.BoolExprType_AND_EXPR {
		b.Args = append(b.Args, cond)
		return
	}
	*at = &sqlast.Node{Node: &sqlast.Node_BoolExpr{BoolExpr: &sqlast.BoolExpr{Boolop: sqlast.BoolExprType_AND_EXPR, Args: []*sqlast.Node{*at, cond}}}}
}

// scan gives the tokens of a text without comments.
func scan(text string) ([]sqlast.Token, error) {
	tokens, err := sqlast.Scan(text)
	return slices.DeleteFunc(tokens, func(t sqlast.Token) bool { return t.Name == "SQL_COMMENT" || t.Name == "C_COMMENT" }), err
}

// maxPlaces bounds the places of a text that are tried for one insertion.
const maxPlaces = 300

// condition puts a condition into a text, so that the tree of the outcome is the wanted one: behind the conditions that are there, around them if an
// OR is among them, or in a WHERE of its own.
func (s *search) condition(text, cond, want string) (string, bool) {
	tokens, err := scan(text)
	if err != nil {
		return "", false
	}
	and, where := " AND ", " WHERE "
	if s.lower {
		and, where = " and ", " where "
	}
	ends := places(tokens)
	tried := 0
	hit := func(out string) bool {
		tried++
		got, ok := canonical(out)
		return ok && got == want
	}
	for i := len(ends) - 1; i >= 0 && tried < maxPlaces; i-- {
		at := ends[i]
		for _, head := range []string{and, where} {
			if out := text[:at] + lead(text, at, head) + cond + text[at:]; hit(out) {
				return out, true
			}
		}
	}
	for i := len(ends) - 1; i >= 0; i-- {
		for _, t := range tokens {
			if t.Name != "WHERE" && t.Name != "ON" || t.End >= ends[i] {
				continue
			}
			if tried >= maxPlaces {
				return "", false
			}
			inner := strings.TrimLeft(text[t.End:ends[i]], " ")
			if out := text[:t.End] + " (" + inner + ")" + and + cond + text[ends[i]:]; hit(out) {
				return out, true
			}
		}
	}
	return "", false
}

// lead is how a clause begins at a place of a text: on a line of its own where the text writes its clauses so.
func lead(text string, at int, head string) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	word := strings.TrimLeft(line, " \t")
	indent := line[:len(line)-len(word)]
	rest := strings.TrimLeft(text[at:], " \t")
	own := strings.HasPrefix(rest, "\n") && strings.EqualFold(head, " WHERE ")
	if own || strings.EqualFold(head, " AND ") && len(word) > 4 && strings.EqualFold(word[:4], "AND ") {
		return "\n" + indent + head[1:]
	}
	return head
}

// places are the ends of tokens where a clause may end.
func places(tokens []sqlast.Token) []int {
	var out []int
	for i, t := range tokens {
		next := ""
		if i+1 < len(tokens) {
			next = tokens[i+1].Name
		}
		switch next {
		case "", "ASCII_41", "ASCII_44", "ASCII_59", "WHERE", "GROUP_P", "HAVING", "ORDER", "LIMIT", "OFFSET", "FETCH", "FOR", "WINDOW", "UNION", "INTERSECT",
			"EXCEPT", "RETURNING", "ON", "JOIN", "LEFT", "RIGHT", "FULL", "INNER_P", "CROSS", "NATURAL", "WHEN":
			if t.Name != "ASCII_59" {
				out = append(out, t.End)
			}
		}
	}
	return out
}

// replace puts a text in the place of a run of tokens that begins at or just before a byte offset.
func replace(text string, from int, by, want string) (string, bool) {
	tokens, err := scan(text)
	if err != nil {
		return "", false
	}
	first := slices.IndexFunc(tokens, func(t sqlast.Token) bool { return t.End > from })
	if first < 0 {
		return "", false
	}
	for i := first; i >= 0 && i >= first-1; i-- {
		for j := i; j < len(tokens) && j < i+maxPlaces; j++ {
			tail := text[tokens[j].End:]
			out := text[:tokens[i].Start] + by + tail
			if by == "" {
				out = strings.TrimRight(text[:tokens[i].Start], " ") + tail
			}
			if got, ok := canonical(out); ok && got == want {
				return out, true
			}
		}
	}
	return "", false
}

// shown is the changed text to show: the one made from the user's own if the judge says the same of it, else the tree's.
func (s *search) shown(p *planner.Planner, out string, ok bool, want string, v *planner.Verdict) string {
	same := func(text string) bool {
		got := s.judge(p, text, true)
		return got.Class == v.Class && got.Readiness == v.Readiness
	}
	text := want
	if out = strings.TrimSpace(out); ok && same(out) {
		text = out
	}
	if dense := s.dense(text); dense != text && same(dense) {
		return dense
	}
	return text
}

// dense numbers parameters anew where a change has left one out: a server does not accept a number that is not used. Where values were given for
// the numbers, and in templates, they stay.
func (s *search) dense(text string) string {
	tokens, err := scan(text)
	if err != nil || !s.renumber {
		return text
	}
	var used []int
	for _, t := range tokens {
		if n, err := strconv.Atoi(text[t.Start+1 : t.End]); t.Name == "PARAM" && err == nil && !slices.Contains(used, n) {
			used = append(used, n)
		}
	}
	slices.Sort(used)
	for i := len(tokens) - 1; i >= 0; i-- {
		if t := tokens[i]; t.Name == "PARAM" {
			if n, err := strconv.Atoi(text[t.Start+1 : t.End]); err == nil {
				text = text[:t.Start] + "$" + strconv.Itoa(slices.Index(used, n)+1) + text[t.End:]
			}
		}
	}
	return text
}
