package facts

import (
	"fmt"
	"strings"
)

// expr writes an expression on one line; queries of sublinks follow as #n.
func (d *dumper) expr(e *Expr) string {
	if e == nil {
		return "nil"
	}
	switch e.Op {
	case Column:
		return d.column(e)
	case Slot:
		return fmt.Sprintf("$%d%s:%s", e.Slot, when(e.List, "*"), orQuestion(e.Type))
	case Const:
		if e.Literal {
			return fmt.Sprintf("%q:%s", e.Text, orQuestion(e.Type))
		}
		return e.Text
	case And:
		return "(" + d.join(e.Args, " and ") + ")"
	case Or:
		return "(" + d.join(e.Args, " or ") + ")"
	case Not:
		return "not " + d.expr(e.Args[0])
	case Compare:
		return "(" + d.join(e.Args, " "+e.Name+" ") + ")" + vol(e)
	case NotSame:
		return "(" + d.join(e.Args, " is "+when(e.Negated, "not ")+"distinct from ") + ")"
	case In:
		return "(" + d.expr(e.Args[0]) + when(e.Negated, " not") + " in (" + d.list(e.Args[1:]) + "))"
	case AnyArray:
		return "(" + d.expr(e.Args[0]) + " " + e.Name + " " + map[bool]string{true: "all", false: "any"}[e.All] + " " + d.expr(e.Args[1]) + ")"
	case NullTest:
		return "(" + d.expr(e.Args[0]) + " is " + when(e.Negated, "not ") + "null)"
	case BoolTest:
		return "(" + d.expr(e.Args[0]) + " is " + e.Name + ")"
	case Cast:
		return when(e.Implicit, "implicit ") + "cast(" + d.expr(e.Args[0]) + " as " + orQuestion(e.Type) + e.Text + ")" + vol(e)
	case Sublink:
		return d.sublink(e)
	case Default:
		return "default"
	case CurrentOf:
		return "current of " + e.Name
	case Collate:
		return d.expr(e.Args[0]) + " collate " + e.Name
	}
	return d.callLike(e)
}

func (d *dumper) column(e *Expr) string {
	src := fmt.Sprintf("s%d", e.Source)
	if e.Source == OwnResult {
		src = fmt.Sprintf("own%d", e.Col)
	}
	return src + "." + e.Name + when(e.System, "!") + when(e.Levels > 0, fmt.Sprintf("^%d", e.Levels))
}

func (d *dumper) sublink(e *Expr) string {
	d.next = append(d.next, e.Query)
	d.named++
	kind := [...]string{"?", "scalar", "exists", "any", "all", "array", "row"}[e.Sub]
	test := ""
	if len(e.Args) > 0 {
		test = d.list(e.Args) + " " + e.Name + " "
	}
	return fmt.Sprintf("%s%s(#%d)", test, kind, d.named)
}

// callLike writes what looks like a call.
func (d *dumper) callLike(e *Expr) string {
	name := map[Op]string{Operator: "op " + e.Name, Aggregate: "agg " + e.Name, Window: "window " + e.Name, Row: "row", Array: "array", Case: "case",
		Coalesce: "coalesce", Merge: "merge", Opaque: "opaque " + e.Name, Call: e.Name}[e.Op]
	out := name + "(" + when(e.Distinct, "distinct ") + d.list(e.Args)
	if len(e.Partition) > 0 {
		out += " partition " + d.list(e.Partition)
	}
	if len(e.Order) > 0 {
		keys := make([]string, 0, len(e.Order))
		for _, k := range e.Order {
			keys = append(keys, d.key(k))
		}
		out += when(e.Ordered, " within group") + " order " + strings.Join(keys, ", ")
	}
	if e.Filter != nil {
		out += " filter " + d.expr(e.Filter)
	}
	return out + "):" + orQuestion(e.Type) + vol(e) + when(e.UDF, " udf") + when(e.SetReturning, " set") + when(e.Op == Aggregate && e.Levels > 0, fmt.Sprintf("^%d", e.Levels))
}

func (d *dumper) join(list []*Expr, sep string) string {
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, d.expr(e))
	}
	return strings.Join(out, sep)
}

func orQuestion(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

func vol(e *Expr) string {
	switch e.Volatility {
	case Stable:
		return " stable"
	case Volatile:
		return " volatile"
	case VolUnknown:
		return " volatility?"
	}
	return ""
}
