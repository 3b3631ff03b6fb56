package planner

import (
	"errors"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// operand is an expression that has one value for the whole execution: a literal, a parameter, or an immutable function of them.
//
// Its identity tells whether two operands surely have the same value. Literals of a judged execution are identified by their value; parameters,
// and literals of a template that is judged for all values, by the slot; an expression by its text over them.
type operand struct {
	fixed  bool // it is one value; otherwise it depends on a row, or on a function that is not immutable
	known  bool // val holds the value
	val    datum
	id     string // symbolic identity; "" where val is the identity
	slot   int    // the template slot whose bare value it is, 0 none
	list   bool   // a folded list: any number of values; val is an array where known
	bind   bool   // a bare bind parameter
	expr   bool   // computed
	unsure reason.Code
}

var notFixed = operand{}

// eval computes an expression as far as it is constant. The error is errInput: PostgreSQL fails too.
func (j *judge) eval(e *facts.Expr) (operand, error) {
	if e == nil {
		return notFixed, nil
	}
	switch e.Op {
	case facts.Slot:
		return j.slotValue(e)
	case facts.Const:
		return constant(e)
	case facts.Collate:
		if !deterministic(e.Name) {
			return notFixed, nil
		}
		return j.eval(e.Args[0])
	case facts.Cast:
		return j.once(e, j.evalCast)
	case facts.Operator, facts.Call:
		return j.once(e, j.evalCall)
	case facts.Array:
		return j.once(e, j.evalArray)
	case facts.Coalesce:
		return j.once(e, j.evalCoalesce)
	case facts.And, facts.Or, facts.Not, facts.Compare, facts.NullTest, facts.BoolTest, facts.NotSame, facts.In, facts.AnyArray:
		return j.evalBool(e)
	}
	return notFixed, nil
}

// evaluated is what eval found.
type evaluated struct {
	o   operand
	err error
}

// once evaluates an expression that holds others the first time it is asked for.
func (j *judge) once(e *facts.Expr, eval func(*facts.Expr) (operand, error)) (operand, error) {
	if v, ok := j.values[e]; ok {
		return v.o, v.err
	}
	o, err := eval(e)
	if j.values == nil {
		j.values = map[*facts.Expr]evaluated{}
	}
	j.values[e] = evaluated{o, err}
	return o, err
}

// evalCall computes an operator or a function.
func (j *judge) evalCall(e *facts.Expr) (operand, error) {
	if e.Op == facts.Call && (e.UDF || e.SetReturning) || !foldable(e) {
		return operand{unsure: notConstant(e)}, nil
	}
	return j.evalArgs(e, func(args []datum) (datum, error) { return apply(e, args) })
}

// notConstant says why a function's value is not known before execution.
func notConstant(e *facts.Expr) reason.Code {
	switch e.Volatility {
	case facts.Volatile, facts.VolUnknown:
		return reason.KeyVolatile
	case facts.Stable:
		return reason.KeyStable
	}
	return ""
}

// slotID is the identity of a slot: the number it shares with other slots of one value where the template's slots tell it.
func (j *judge) slotID(n int) (id string, bind bool) {
	if n < 1 || n > len(j.slots) {
		return "$" + strconv.Itoa(n), true // what is not known may be a parameter, and so NULL
	}
	s := j.slots[n-1]
	if s.Bind > 0 && !s.List {
		return "b" + strconv.Itoa(s.Bind), s.Kind == sqltext.Bind
	}
	return "$" + strconv.Itoa(n), s.Kind == sqltext.Bind
}

// objectName tells the types whose literals name an object: each database gives it a number of its own.
func objectName(typ string) bool { return strings.HasPrefix(typ, "reg") }

func (j *judge) slotValue(e *facts.Expr) (operand, error) {
	if objectName(e.Type) {
		return operand{unsure: reason.KeyStable}, nil
	}
	o := operand{fixed: true, slot: e.Slot, list: e.List}
	o.id, o.bind = j.slotID(e.Slot)
	if j.vals == nil || e.Slot > len(j.vals.Slots) || e.Slot < 1 {
		return o, nil
	}
	v := j.vals.Slots[e.Slot-1]
	if v.Kind == 0 && v.List == nil {
		return o, nil
	}
	bound := v.Kind == sqltext.Bind || anyBind(v.List)
	val, err := slotDatum(v, e)
	switch {
	case errors.Is(err, errInput) && !bound:
		return o, errInput
	case err != nil:
		if errors.Is(err, errOtherType) {
			return operand{unsure: reason.KeyCastUnsafe}, nil
		}
		return o, nil
	}
	o.known, o.val = true, val
	if !bound || j.vals.Binds {
		o.id = ""
	}
	return o, nil
}

func anyBind(list []Value) bool {
	for _, v := range list {
		if v.Kind == sqltext.Bind {
			return true
		}
	}
	return false
}

// errOtherType is a parameter that the client declared with a type of another family than the statement suggests.
var errOtherType = errors.New("declared with another type")

func slotDatum(v Value, e *facts.Expr) (datum, error) {
	if v.List != nil {
		out := datum{typ: "_" + e.Type, kind: dArray}
		for _, x := range v.List {
			d, err := slotDatum(x, e)
			if err != nil {
				return datum{}, err
			}
			out.arr = append(out.arr, d)
		}
		return out, nil
	}
	typ := e.Type
	if v.Kind == sqltext.Bind && v.Type != "" && v.Type != "unknown" && v.Type != typ {
		if typ != "" && (family(v.Type) != family(typ) || family(typ) == layout.NoKey) {
			return datum{}, errOtherType
		}
		typ = v.Type
	}
	if v.Null {
		return datum{typ: typ, kind: dNull}, nil
	}
	switch v.Kind {
	case 0:
		return datum{}, errNoFold
	case sqltext.Int, sqltext.BigInt, sqltext.Numeric:
		for _, t := range []string{typ, "int8", "numeric"} {
			if d, err := input(t, "", v.Text); err == nil {
				return d, nil
			}
		}
		return datum{}, errNoFold
	case sqltext.Bits:
		return datum{}, errNoFold
	}
	return input(typ, "", v.Text)
}

// family is the key class of a scalar or array type, so that values of one family compare without changing their hash.
func family(typ string) layout.KeyClass { return layout.ClassOf(strings.TrimPrefix(typ, "_")) }

func constant(e *facts.Expr) (operand, error) {
	o := operand{fixed: true, known: true}
	if e.Literal {
		if objectName(e.Type) {
			return operand{unsure: reason.KeyStable}, nil
		}
		d, err := input(e.Type, "", e.Text)
		if errors.Is(err, errInput) {
			return o, errInput
		}
		if err != nil {
			return operand{fixed: true, id: "'" + e.Text + "':" + e.Type, expr: true}, nil
		}
		o.val = d
		return o, nil
	}
	switch e.Text {
	case "true":
		o.val = datum{typ: "bool", kind: dBool, i: 1}
	case "false":
		o.val = datum{typ: "bool", kind: dBool}
	case "null":
		o.val = datum{typ: e.Type, kind: dNull}
	default:
		return notFixed, nil
	}
	return o, nil
}

func (j *judge) evalCast(e *facts.Expr) (operand, error) {
	if e.Volatility == facts.Stable || e.Volatility == facts.Volatile {
		a, err := j.eval(e.Args[0])
		if err != nil || !a.fixed {
			return a, err
		}
		return operand{unsure: reason.KeyStable}, nil
	}
	a, err := j.eval(e.Args[0])
	if err != nil || !a.fixed {
		return a, err
	}
	if a.list || a.known && a.val.kind == dArray {
		return j.castArray(e, a)
	}
	out := operand{fixed: true, expr: true}
	if relabel := e.Text == "" && a.slot != 0 && family(e.Type) != layout.NoKey && family(e.Type) == family(e.Args[0].Type); relabel {
		out.slot, out.bind, out.expr = a.slot, a.bind, false // int4 to int8 keeps the key
	}
	if a.id != "" {
		out.id = a.id
		if out.expr {
			out.id = a.id + "::" + e.Type + e.Text
		}
	}
	return finish(e, out, []operand{a}, func(args []datum) (datum, error) { return convert(args[0], e.Type, e.Text) }, j)
}

// castArray casts each element of an array, or of a folded list.
func (j *judge) castArray(e *facts.Expr, a operand) (operand, error) {
	elem := strings.TrimPrefix(e.Type, "_")
	if a.id != "" && !(e.Text == "" && family(e.Type) != layout.NoKey && family(e.Type) == family(e.Args[0].Type)) {
		a.id, a.slot, a.expr = a.id+"::"+e.Type+e.Text, 0, true
	}
	if !a.known {
		return a, nil
	}
	out := datum{typ: "_" + elem, kind: dArray}
	for _, x := range a.val.arr {
		d, err := convert(x, elem, e.Text)
		if errors.Is(err, errInput) {
			return a, errInput
		}
		if err != nil {
			return operand{fixed: true, id: j.ident(e), expr: true, list: a.list}, nil
		}
		out.arr = append(out.arr, d)
	}
	a.val = out
	return a, nil
}

// evalArgs evaluates the arguments of an immutable operation and applies it.
func (j *judge) evalArgs(e *facts.Expr, f func([]datum) (datum, error)) (operand, error) {
	var args []operand
	out := operand{fixed: true, expr: true}
	symbolic := false
	for _, a := range e.Args {
		o, err := j.eval(a)
		if err != nil {
			return o, err
		}
		if !o.fixed || o.list {
			return operand{unsure: o.unsure}, nil
		}
		symbolic = symbolic || o.id != ""
		args = append(args, o)
	}
	if symbolic {
		out.id = j.ident(e)
	}
	return finish(e, out, args, f, j)
}

// finish computes the value where all arguments are known.
func finish(e *facts.Expr, out operand, args []operand, f func([]datum) (datum, error), j *judge) (operand, error) {
	vals := make([]datum, 0, 4)
	for _, a := range args {
		if !a.known {
			return out, nil
		}
		vals = append(vals, a.val)
	}
	// A cast or a function that fails does so when it is evaluated, which PostgreSQL may never do; only the input of a literal fails at once.
	if d, err := f(vals); err == nil {
		out.known, out.val = true, d
		return out, nil
	}
	if out.id == "" {
		out.id = j.ident(e)
	}
	return out, nil
}

func (j *judge) evalArray(e *facts.Expr) (operand, error) {
	out := operand{fixed: true, known: true, expr: true, val: datum{typ: e.Type, kind: dArray}}
	for _, a := range e.Args {
		o, err := j.eval(a)
		if err != nil {
			return o, err
		}
		if !o.fixed {
			return o, nil
		}
		if o.id != "" {
			out.id = j.ident(e)
		}
		switch {
		case !o.known:
			out.known = false
		case o.list:
			out.val.arr = append(out.val.arr, o.val.arr...)
		default:
			out.val.arr = append(out.val.arr, o.val)
		}
	}
	return out, nil
}

func (j *judge) evalCoalesce(e *facts.Expr) (operand, error) {
	out := operand{fixed: true, known: true, expr: true, val: datum{typ: e.Type, kind: dNull}}
	found := false
	for _, a := range e.Args {
		if found && out.known && out.id == "" {
			return out, nil // PostgreSQL drops what stands after a constant that is not NULL
		}
		o, err := j.eval(a)
		if err != nil {
			return o, err
		}
		if !o.fixed || o.list {
			return operand{unsure: o.unsure}, nil
		}
		if o.id != "" {
			out.id = j.ident(e)
		}
		switch {
		case found:
		case !o.known:
			out.known, found = false, true
		case o.val.kind != dNull:
			out.val, found = o.val, true
		}
	}
	return out, nil
}

// ident writes an expression over slots as text: equal texts are equal values.
func (j *judge) ident(e *facts.Expr) string {
	var b strings.Builder
	j.writeIdent(&b, e)
	return b.String()
}

func (j *judge) writeIdent(b *strings.Builder, e *facts.Expr) {
	switch e.Op {
	case facts.Slot:
		id, _ := j.slotID(e.Slot)
		b.WriteString(id)
		if e.Type != "" {
			b.WriteString(":" + e.Type)
		}
		return
	case facts.Const:
		b.WriteString(strconv.Quote(e.Text) + ":" + e.Type)
		return
	case facts.Cast:
		b.WriteString(e.Type + e.Text)
	case facts.Coalesce:
		b.WriteString("coalesce")
	case facts.Array:
		b.WriteString("array")
	default:
		b.WriteString(strconv.Itoa(int(e.Op)) + e.Name)
		if e.Negated {
			b.WriteByte('!')
		}
		if e.All {
			b.WriteString("all")
		}
	}
	b.WriteByte('(')
	for i, a := range e.Args {
		if i > 0 {
			b.WriteByte(',')
		}
		j.writeIdent(b, a)
	}
	b.WriteByte(')')
}

// deterministic tells whether a collation is one of those whose equality is that of the bytes. A name that is not known may be of the
// schema's own collations, which need not be.
func deterministic(collation string) bool {
	name := strings.TrimPrefix(collation, "pg_catalog.")
	switch strings.ToLower(name) {
	case "c", "posix", "default", "ucs_basic", "unicode", "pg_c_utf8", "pg_unicode_fast", "c.utf8", "c.utf-8":
		return true
	}
	if strings.HasSuffix(name, "-x-icu") {
		return true
	}
	base, _, _ := strings.Cut(name, ".")
	lang, country, ok := strings.Cut(base, "_")
	return ok && len(lang) >= 2 && len(lang) <= 3 && strings.ToLower(lang) == lang && len(country) == 2 && strings.ToUpper(country) == country
}
