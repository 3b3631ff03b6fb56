package prove

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// shardText turns a statement into the text that is run on the shards and, for comparison, on the whole: without what the gateway does after
// it has gathered the rows (ORDER BY, LIMIT, OFFSET). With merge set the rows that enter the gateway's grouping are taken instead of its
// result: each FROM item as a whole row, and each sublink, which is evaluated on the shard. If these rows are the same bag, every function of
// them is the same too.
func shardText(sql string, merge bool) (string, error) {
	node, err := sqlast.ParseOne(sql)
	if err != nil {
		return "", fmt.Errorf("the statement is not one statement that parses: %w", err)
	}
	sel := node.GetSelectStmt()
	if sel == nil {
		if merge {
			return "", errors.New("only a SELECT can be merged")
		}
		return sql, nil
	}
	sel.LimitCount, sel.LimitOffset, sel.LimitOption = nil, nil, sqlast.LimitOption_LIMIT_OPTION_DEFAULT
	sel.LockingClause = nil
	if !merge {
		if !distinctOn(sel) {
			sel.SortClause = nil
		}
		return deparse(node)
	}
	if sel.Op != sqlast.SetOperation_SETOP_NONE {
		return "", errors.New("merging a set operation is not executed")
	}
	targets, err := inputTargets(sel)
	if err != nil {
		return "", err
	}
	sel.TargetList = targets
	sel.DistinctClause, sel.SortClause, sel.GroupClause, sel.HavingClause, sel.WindowClause = nil, nil, nil, nil, nil
	sel.GroupDistinct = false
	return deparse(node)
}

// deparse writes a tree down, and reads it again to see that it says the same: the deparser leaves out some parentheses.
func deparse(node *sqlast.Node) (string, error) {
	text, err := sqlast.Deparse(node)
	if err != nil {
		return "", fmt.Errorf("the rewritten statement cannot be written down: %w", err)
	}
	again, err := sqlast.ParseOne(text)
	if err != nil || !sameTree(node, again) {
		return "", errors.New("the rewritten statement cannot be written down")
	}
	return text, nil
}

// sameTree compares two trees without the places of their parts in a text.
func sameTree(a, b *sqlast.Node) bool {
	a, b = proto.Clone(a).(*sqlast.Node), proto.Clone(b).(*sqlast.Node)
	clearPlaces(a.ProtoReflect())
	clearPlaces(b.ProtoReflect())
	return proto.Equal(a, b)
}

func clearPlaces(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case strings.HasSuffix(string(field.Name()), "location"):
			m.Clear(field)
		case field.Kind() != protoreflect.MessageKind:
		case field.IsList():
			for i := range value.List().Len() {
				clearPlaces(value.List().Get(i).Message())
			}
		default:
			clearPlaces(value.Message())
		}
		return true
	})
}

// distinctOn tells DISTINCT ON, whose choice rests on ORDER BY, from DISTINCT.
func distinctOn(sel *sqlast.SelectStmt) bool {
	for _, n := range sel.DistinctClause {
		if n.GetNode() != nil {
			return true
		}
	}
	return false
}

// inputTargets makes the target list of the rows that enter grouping.
func inputTargets(sel *sqlast.SelectStmt) ([]*sqlast.Node, error) {
	var targets []*sqlast.Node
	for _, item := range sel.FromClause {
		names, err := rowNames(item)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			targets = append(targets, target(rowAsText(name)))
		}
	}
	for _, n := range outerNodes(sel) {
		if err := sublinks(n, func(link *sqlast.Node) { targets = append(targets, target(link)) }); err != nil {
			return nil, err
		}
	}
	if len(targets) == 0 {
		return nil, errors.New("there is nothing in FROM to gather")
	}
	return targets, nil
}

func outerNodes(sel *sqlast.SelectStmt) []*sqlast.Node {
	nodes := append([]*sqlast.Node{}, sel.TargetList...)
	nodes = append(nodes, sel.GroupClause...)
	nodes = append(nodes, sel.SortClause...)
	nodes = append(nodes, sel.DistinctClause...)
	nodes = append(nodes, sel.WindowClause...)
	if sel.HavingClause != nil {
		nodes = append(nodes, sel.HavingClause)
	}
	return nodes
}

// rowNames gives the names under which a FROM item's rows can be taken whole.
func rowNames(item *sqlast.Node) ([]string, error) {
	switch {
	case item.GetRangeVar() != nil:
		v := item.GetRangeVar()
		if v.GetAlias() != nil {
			return []string{v.GetAlias().GetAliasname()}, nil
		}
		return []string{v.GetRelname()}, nil
	case item.GetRangeSubselect() != nil:
		return aliasOf(item.GetRangeSubselect().GetAlias())
	case item.GetRangeFunction() != nil:
		return aliasOf(item.GetRangeFunction().GetAlias())
	case item.GetJoinExpr() != nil:
		j := item.GetJoinExpr()
		if j.GetAlias() != nil {
			return []string{j.GetAlias().GetAliasname()}, nil
		}
		left, err := rowNames(j.GetLarg())
		if err != nil {
			return nil, err
		}
		right, err := rowNames(j.GetRarg())
		return append(left, right...), err
	}
	return nil, errors.New("a FROM item has no name to take its rows by")
}

func aliasOf(a *sqlast.Alias) ([]string, error) {
	if a == nil {
		return nil, errors.New("a FROM item has no name to take its rows by")
	}
	return []string{a.GetAliasname()}, nil
}
