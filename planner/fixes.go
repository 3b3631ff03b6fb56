package planner

import (
	"slices"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// Fix is one change that was tried: the changed statement, or the statement under the changed candidate, was judged, and the class and
// readiness are what the judge said of it. Package planner/fix finds them.
type Fix struct {
	Kind      string    `json:"kind"`
	Change    string    `json:"change"`    // one sentence that names table and column
	SQL       string    `json:"sql"`       // the changed statement or statements, "" if the statement stays
	Candidate string    `json:"candidate"` // what the candidate says then, as YAML; "" if it stays
	Class     Class     `json:"class"`
	Readiness Readiness `json:"readiness"`
	Semantics string    `json:"semantics"` // when the result is the same, or what else the change takes
}

// Facts resolves a text of one statement as Explain does. at maps positions of the facts to byte offsets in the text, -1 where there is
// none. ok is false for a text of no or several statements, or one that cannot be resolved.
func (p *Planner) Facts(q Question) (st *facts.Statement, at func(int) int, ok bool) {
	path := p.searchPath(nil, q.Setup)
	src := []byte(q.SQL)
	var sc sqltext.Scanner
	sc.Reset(src)
	if !sc.Next() || sc.Statement().Bound != sqltext.WithinBounds {
		return nil, nil, false
	}
	one := sc.Statement()
	tmpl := sqltext.NewTemplate(string(one.Text), slices.Clone(one.Slots))
	st = resolve.Statement(tmpl, p.cat, resolve.Options{SearchPath: path, ParamTypes: q.types(one)})
	if sc.Next() {
		return nil, nil, false
	}
	return st, func(pos int) int {
		if at, ok := sqltext.Origin(src, 0, pos); ok {
			return at
		}
		return -1
	}, true
}

// Cost orders the classes: a class that costs less needs less of the query engine.
func Cost(c Class) int { return cost(c) }
