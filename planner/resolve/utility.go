package resolve

import (
	"github.com/foreshard/foreshard/planner/sqlast"
)

func (r *resolver) utility(n *sqlast.Node) {
	r.problem("unsupported_syntax", -1, "a statement of an unknown kind")
}

func (r *resolver) selectInto(st *sqlast.SelectStmt) {}
