// Package resolve turns a template and a catalog into facts: names bound to table occurrences, views expanded, types and implicit casts as
// PostgreSQL's analyser finds them, utility statements in a judge's terms. It knows no candidate. What it does not understand is a
// Problem, never left out. It may import sqltext, sqlast, catalog and facts.
package resolve

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// Options are what a session knows beside the text.
type Options struct {
	SearchPath []string       // schemas in order; nil: the catalog's own
	ParamTypes map[int]string // types the client declared for its parameters, by Slot.Bind; names as in SQL
}

// maxViews bounds view expansion: views in views, and the total number, so that a chain of views cannot grow without end.
const (
	maxViewDepth = 64
	maxViews     = 1000
)

// Statement resolves one template. It never fails: what is not understood is in Problems.
func Statement(tmpl *sqltext.Template, cat *catalog.Catalog, opt Options) (st *facts.Statement) {
	r := &resolver{b: builtins(), cat: cat, path: opt.SearchPath, slots: tmpl.Slots, binds: map[int]string{}, text: tmpl.Text, st: &facts.Statement{}}
	if r.path == nil {
		r.path = cat.SearchPath
	}
	if r.path == nil {
		r.path = []string{"public"}
	}
	defer func() {
		if p := recover(); p != nil {
			st = &facts.Statement{Problems: []facts.Problem{{Code: "internal", Text: "the resolver failed on this statement", Pos: -1}}}
		}
	}()
	for n, t := range opt.ParamTypes {
		r.binds[n] = r.typeByText(t)
	}
	switch tmpl.Bound {
	case sqltext.WithinBounds:
	default:
		r.problem("out_of_bounds", -1, "the statement is too long, too deep or cannot be read")
		return r.st
	}
	stmts, err := sqlast.Parse(tmpl.Text)
	if err != nil {
		r.st.Problems = append(r.st.Problems, facts.Problem{Code: "unparsed", Text: err.Error(), Pos: errorPos(err)})
		return r.st
	}
	switch len(stmts) {
	case 0:
		r.st.Utility = &facts.Utility{Kind: facts.UtilOther, Name: "empty"}
	case 1:
		r.statement(stmts[0].GetStmt())
	default:
		r.problem("several_statements", -1, "the text holds %d statements", len(stmts))
	}
	r.settleBinds()
	r.st.Sources = r.sources
	if tooLarge(r.st) {
		return &facts.Statement{Problems: []facts.Problem{{Code: "out_of_bounds", Text: "the facts of the statement are too large", Pos: -1}}}
	}
	return r.st
}

func errorPos(err error) int {
	if e, ok := err.(*sqlast.Error); ok {
		return e.Pos
	}
	return -1
}

// resolver is the state of one statement.
type resolver struct {
	b       *builtinSet
	cat     *catalog.Catalog
	path    []string
	slots   []sqltext.Slot
	binds   map[int]string // type of the client's parameter, once known
	text    string
	st      *facts.Statement
	sources int
	ctes    int
	running []*cte   // CTEs being resolved, innermost last
	views   []string // catalog keys of the views being expanded
	nviews  int
	inView  int // positions inside a view's text are the view reference's
	viewPos int
	// untypedOutputs leaves literals among the outputs of the next SELECT untyped: INSERT gives them its columns' types.
	untypedOutputs bool
	untypedBinds   []*facts.Expr // parameters met before their type was known
	guessed        bool          // some parameter became text for want of a context: what follows from that is no certain error
}

// problem records what is not understood.
func (r *resolver) problem(code string, pos int, format string, args ...any) {
	r.st.Problems = append(r.st.Problems, facts.Problem{Code: code, Text: fmt.Sprintf(format, args...), Pos: r.pos(pos)})
}

// invalid records what PostgreSQL rejects, too.
func (r *resolver) invalid(code string, pos int, format string, args ...any) {
	r.problem(code, pos, format, args...)
	r.st.Problems[len(r.st.Problems)-1].Invalid = !r.guessed
}

// pos maps a location of the text being resolved to one of the template.
func (r *resolver) pos(p int) int {
	if r.inView > 0 {
		return r.viewPos
	}
	return p
}

func (r *resolver) slot(n int) *sqltext.Slot {
	if r.inView > 0 || n < 1 || n > len(r.slots) {
		return nil
	}
	return &r.slots[n-1]
}

func (r *resolver) newSource(s *facts.Source) *facts.Source {
	s.ID = r.sources
	r.sources++
	return s
}

// statement dispatches on the kind of the one statement of the text.
func (r *resolver) statement(n *sqlast.Node) {
	if q := r.queryNode(n, nil, ""); q != nil {
		r.st.Query = q
		return
	}
	r.utility(n)
}

// queryNode resolves SELECT, VALUES and the data-modifying statements; nil if n is something else.
func (r *resolver) queryNode(n *sqlast.Node, parent *scope, into string) *facts.Query {
	switch s := n.GetNode().(type) {
	case *sqlast.Node_SelectStmt:
		if s.SelectStmt.GetIntoClause() != nil && parent == nil {
			r.selectInto(s.SelectStmt)
		}
		return r.selectStmt(s.SelectStmt, parent)
	case *sqlast.Node_InsertStmt:
		return r.insert(s.InsertStmt, parent)
	case *sqlast.Node_UpdateStmt:
		return r.update(s.UpdateStmt, parent)
	case *sqlast.Node_DeleteStmt:
		return r.delete(s.DeleteStmt, parent)
	case *sqlast.Node_MergeStmt:
		return r.merge(s.MergeStmt, parent)
	}
	return nil
}

// names gives the strings of a list of String nodes.
func names(list []*sqlast.Node) []string {
	out := make([]string, 0, len(list))
	for _, n := range list {
		if s, ok := n.GetNode().(*sqlast.Node_String_); ok {
			out = append(out, s.String_.GetSval())
		}
	}
	return out
}

// isSlotText tells the text of a string constant that stands for a slot, '$n', and gives n.
func isSlotText(s string) (int, bool) {
	num, ok := strings.CutPrefix(s, "$")
	if !ok || num == "" || num[0] == '0' {
		return 0, false
	}
	n, err := strconv.Atoi(num)
	return n, err == nil
}
