package resolve

import (
	"strings"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// sessionUtility resolves transaction control and what concerns only the session.
func (r *resolver) sessionUtility(n *sqlast.Node, u *facts.Utility) bool {
	u.Kind = facts.UtilSession
	switch s := n.GetNode().(type) {
	case *sqlast.Node_TransactionStmt:
		r.transaction(s.TransactionStmt, u)
	case *sqlast.Node_VariableSetStmt:
		r.set(s.VariableSetStmt, u)
	case *sqlast.Node_VariableShowStmt:
		u.Verb, u.Name = "show", s.VariableShowStmt.GetName()
	case *sqlast.Node_DiscardStmt:
		u.Verb = "discard"
		u.Name = strings.ToLower(strings.TrimPrefix(s.DiscardStmt.GetTarget().String(), "DISCARD_"))
	case *sqlast.Node_ListenStmt:
		u.Verb, u.Name = "listen", s.ListenStmt.GetConditionname()
	case *sqlast.Node_UnlistenStmt:
		u.Verb, u.Name = "unlisten", s.UnlistenStmt.GetConditionname()
	case *sqlast.Node_NotifyStmt:
		u.Kind, u.Verb, u.Name = facts.UtilNotify, "notify", s.NotifyStmt.GetConditionname()
	case *sqlast.Node_DeallocateStmt:
		u.Verb, u.Name = "deallocate", s.DeallocateStmt.GetName()
		flag(u, s.DeallocateStmt.GetName() == "", "all")
	case *sqlast.Node_FetchStmt:
		f := s.FetchStmt
		u.Verb, u.Name = "fetch", f.GetPortalname()
		if f.GetIsmove() {
			u.Verb = "move"
		}
		flag(u, true, strings.ToLower(strings.TrimPrefix(f.GetDirection().String(), "FETCH_")))
	case *sqlast.Node_ClosePortalStmt:
		u.Verb, u.Name = "close", s.ClosePortalStmt.GetPortalname()
		flag(u, u.Name == "", "all")
	case *sqlast.Node_ConstraintsSetStmt:
		u.Verb = "set_constraints"
		flag(u, s.ConstraintsSetStmt.GetDeferred(), "deferred")
	case *sqlast.Node_LoadStmt:
		u.Verb = "load"
	default:
		u.Kind = ""
		return false
	}
	return true
}

func (r *resolver) transaction(t *sqlast.TransactionStmt, u *facts.Utility) {
	u.Kind = facts.UtilTransaction
	switch t.GetKind() {
	case sqlast.TransactionStmtKind_TRANS_STMT_BEGIN, sqlast.TransactionStmtKind_TRANS_STMT_START:
		u.Verb = "begin"
	case sqlast.TransactionStmtKind_TRANS_STMT_COMMIT:
		u.Verb = "commit"
	case sqlast.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		u.Verb = "rollback"
	case sqlast.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		u.Verb = "savepoint"
	case sqlast.TransactionStmtKind_TRANS_STMT_RELEASE:
		u.Verb = "release"
	case sqlast.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		u.Verb = "rollback_to"
	case sqlast.TransactionStmtKind_TRANS_STMT_PREPARE:
		u.Kind, u.Verb = facts.UtilTwoPhase, "prepare_transaction"
	case sqlast.TransactionStmtKind_TRANS_STMT_COMMIT_PREPARED:
		u.Kind, u.Verb = facts.UtilTwoPhase, "commit_prepared"
	case sqlast.TransactionStmtKind_TRANS_STMT_ROLLBACK_PREPARED:
		u.Kind, u.Verb = facts.UtilTwoPhase, "rollback_prepared"
	default:
		r.problem("unsupported_syntax", -1, "transaction control of an unknown kind")
	}
	u.Name = u.Verb
	flag(u, t.GetChain(), "chain")
	r.modes(t.GetOptions(), u)
}

// modes reads transaction modes: isolation level, read only, deferrable.
func (r *resolver) modes(list []*sqlast.Node, u *facts.Utility) {
	for _, n := range list {
		d := n.GetDefElem()
		c := d.GetArg().GetAConst()
		switch d.GetDefname() {
		case "transaction_isolation":
			flag(u, true, strings.ReplaceAll(strings.ToLower(c.GetSval().GetSval()), " ", "_"))
		case "transaction_read_only":
			flag(u, c.GetIval().GetIval() != 0, "read_only")
			flag(u, c.GetIval().GetIval() == 0, "read_write")
		case "transaction_deferrable":
			flag(u, c.GetIval().GetIval() != 0, "deferrable")
		}
	}
}

func (r *resolver) set(v *sqlast.VariableSetStmt, u *facts.Utility) {
	u.Verb, u.Name = "set", strings.ToLower(v.GetName())
	if v.GetIsLocal() {
		u.Verb = "set_local"
	}
	switch v.GetKind() {
	case sqlast.VariableSetKind_VAR_RESET:
		u.Verb = "reset"
	case sqlast.VariableSetKind_VAR_RESET_ALL:
		u.Verb = "reset_all"
	case sqlast.VariableSetKind_VAR_SET_DEFAULT:
		flag(u, true, "default")
	case sqlast.VariableSetKind_VAR_SET_MULTI:
		u.Verb = "set_" + strings.ReplaceAll(u.Name, " ", "_")
		u.Name = ""
		if strings.HasSuffix(u.Verb, "snapshot") {
			break
		}
		r.modes(v.GetArgs(), u)
	}
}
