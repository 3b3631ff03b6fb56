package planner

import (
	"github.com/foreshard/foreshard/planner/facts"
)

// truth is SQL's three-valued logic, and unsettled for what is not known before execution.
type truth uint8

const (
	unsettled truth = iota
	isTrue
	isFalse
	isNull
)

func truthOf(d datum) truth {
	switch {
	case d.kind == dNull:
		return isNull
	case d.kind == dBool && d.i != 0:
		return isTrue
	case d.kind == dBool:
		return isFalse
	}
	return unsettled
}

func (t truth) not() truth {
	switch t {
	case isTrue:
		return isFalse
	case isFalse:
		return isTrue
	}
	return t
}

func (t truth) datum() datum {
	switch t {
	case isTrue:
		return datum{typ: "bool", kind: dBool, i: 1}
	case isFalse:
		return datum{typ: "bool", kind: dBool}
	}
	return datum{typ: "bool", kind: dNull}
}

// evalBool folds a condition over constants. A condition that holds a parameter stays open, so that a class holds for every execution.
func (j *judge) evalBool(e *facts.Expr) (operand, error) {
	t, err := j.truth(e)
	if err != nil || t == unsettled {
		return notFixed, err
	}
	return operand{fixed: true, known: true, val: t.datum(), expr: true}, nil
}

// truth settles a condition whose constants decide it.
func (j *judge) truth(e *facts.Expr) (truth, error) {
	switch e.Op {
	case facts.Const, facts.Slot, facts.Cast:
		o, err := j.eval(e)
		if err != nil || !o.known || o.id != "" {
			return unsettled, err
		}
		return truthOf(o.val), nil
	case facts.Not:
		t, err := j.truth(e.Args[0])
		return t.not(), err
	case facts.And, facts.Or:
		return j.truthOfList(e)
	case facts.NullTest:
		o, err := j.eval(e.Args[0])
		if err != nil || !o.known || o.id != "" {
			return unsettled, err
		}
		if (o.val.kind == dNull) != e.Negated {
			return isTrue, nil
		}
		return isFalse, nil
	case facts.BoolTest:
		t, err := j.truth(e.Args[0])
		if err != nil || t == unsettled {
			return unsettled, err
		}
		return boolTest(t, e.Name), nil
	case facts.Compare:
		return j.truthOfCompare(e)
	}
	return unsettled, nil
}

func boolTest(t truth, name string) truth {
	yes := false
	switch name {
	case "true":
		yes = t == isTrue
	case "not true":
		yes = t != isTrue
	case "false":
		yes = t == isFalse
	case "not false":
		yes = t != isFalse
	case "unknown":
		yes = t == isNull
	case "not unknown":
		yes = t != isNull
	default:
		return unsettled
	}
	if yes {
		return isTrue
	}
	return isFalse
}

func (j *judge) truthOfList(e *facts.Expr) (truth, error) {
	decides, out := isFalse, isTrue
	if e.Op == facts.Or {
		decides, out = isTrue, isFalse
	}
	open := false
	for _, a := range e.Args {
		t, err := j.truth(a)
		if err != nil {
			return unsettled, err
		}
		switch t {
		case decides:
			return decides, nil
		case unsettled:
			open = true
		case isNull:
			out = isNull
		}
	}
	if open {
		return unsettled, nil
	}
	return out, nil
}

func (j *judge) truthOfCompare(e *facts.Expr) (truth, error) {
	if len(e.Args) != 2 || e.Args[0].Op == facts.Row {
		return unsettled, nil
	}
	a, err := j.eval(e.Args[0])
	if err != nil {
		return unsettled, err
	}
	b, err := j.eval(e.Args[1])
	if err != nil {
		return unsettled, err
	}
	null := func(o operand) bool { return o.known && o.id == "" && o.val.kind == dNull }
	if builtinComparison(e.Name) && (null(a) || null(b)) {
		return isNull, nil
	}
	if !a.known || !b.known || a.id != "" || b.id != "" {
		return unsettled, nil
	}
	return compare(e.Name, a.val, b.val), nil
}

// compare orders two values of one type. Texts are only told equal or not, because their order depends on the collation.
func compare(op string, a, b datum) truth {
	if a.kind != b.kind {
		return unsettled
	}
	c := 0
	switch a.kind {
	case dInt, dBool:
		switch {
		case a.i < b.i:
			c = -1
		case a.i > b.i:
			c = 1
		}
	case dNumeric:
		c = a.dec.Cmp(b.dec)
	case dText, dBpchar, dUUID:
		if op != "=" && op != "<>" {
			return unsettled
		}
		if a.s != b.s || a.u != b.u {
			c = 1
		}
	default:
		return unsettled
	}
	yes := false
	switch op {
	case "=":
		yes = c == 0
	case "<>":
		yes = c != 0
	case "<":
		yes = c < 0
	case "<=":
		yes = c <= 0
	case ">":
		yes = c > 0
	case ">=":
		yes = c >= 0
	default:
		return unsettled
	}
	if yes {
		return isTrue
	}
	return isFalse
}

// builtinComparison tells operators that are strict for every builtin type.
func builtinComparison(op string) bool {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=", "~~", "!~~", "~~*", "!~~*", "~", "!~", "~*", "!~*":
		return true
	}
	return false
}
