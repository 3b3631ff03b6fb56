package prove

import (
	"errors"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// sublinks gives each outermost sublink below a node. A window or aggregate around one does not matter: what it reads is a row's own.
func sublinks(n *sqlast.Node, take func(*sqlast.Node)) error {
	var err error
	sqlast.Walk(n, func(n *sqlast.Node) bool {
		link := n.GetSubLink()
		if link == nil {
			return true
		}
		switch link.GetSubLinkType() {
		case sqlast.SubLinkType_EXPR_SUBLINK, sqlast.SubLinkType_EXISTS_SUBLINK, sqlast.SubLinkType_ANY_SUBLINK, sqlast.SubLinkType_ALL_SUBLINK,
			sqlast.SubLinkType_ARRAY_SUBLINK:
			take(n)
		default:
			err = errors.New("a sublink of several columns is not executed")
		}
		return false
	})
	return err
}

func target(expr *sqlast.Node) *sqlast.Node {
	return &sqlast.Node{Node: &sqlast.Node_ResTarget{ResTarget: &sqlast.ResTarget{Val: expr}}}
}

// rowAsText is (name)::text, the whole row of a FROM item.
func rowAsText(name string) *sqlast.Node {
	ref := &sqlast.Node{Node: &sqlast.Node_ColumnRef{ColumnRef: &sqlast.ColumnRef{Fields: []*sqlast.Node{str(name)}}}}
	text := &sqlast.TypeName{Names: []*sqlast.Node{str("text")}, Typemod: -1}
	return &sqlast.Node{Node: &sqlast.Node_TypeCast{TypeCast: &sqlast.TypeCast{Arg: ref, TypeName: text}}}
}

func str(s string) *sqlast.Node {
	return &sqlast.Node{Node: &sqlast.Node_String_{String_: &sqlast.String{Sval: s}}}
}
