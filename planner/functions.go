package planner

import (
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/foreshard/foreshard/planner/facts"
)

// foldable tells whether the planner computes this operator or builtin function. Only immutable ones are here; everything else in a
// comparison with a key binds nothing.
func foldable(e *facts.Expr) bool {
	if e.Volatility != 0 && e.Volatility != facts.Immutable {
		return false
	}
	if e.Op == facts.Operator {
		switch e.Name {
		case "+", "-", "*", "/", "%":
			return arithmetic(e.Type)
		case "||":
			return e.Type == "text"
		}
		return false
	}
	switch strings.TrimPrefix(e.Name, "pg_catalog.") {
	case "abs", "mod":
		return arithmetic(e.Type)
	case "lower", "upper", "btrim", "ltrim", "rtrim", "trim", "replace", "left", "right", "reverse":
		return e.Type == "text"
	case "string_to_array":
		return e.Type == "_text"
	case "length", "char_length", "character_length":
		return e.Type == "int4" && len(e.Args) == 1
	case "extract", "date_part":
		return len(e.Args) == 2 && e.Args[1].Type == "date"
	}
	return false
}

func arithmetic(typ string) bool {
	switch typ {
	case "int2", "int4", "int8", "numeric":
		return true
	}
	return false
}

// strictFunction tells whether a builtin returns NULL for a NULL argument: all that the planner folds do, and some more.
func strictFunction(e *facts.Expr) bool {
	if e.UDF {
		return false
	}
	if e.Op == facts.Operator {
		switch e.Name {
		case "+", "-", "*", "/", "%", "->", "->>", "#>", "#>>":
			return true
		case "||": // an array takes a NULL as an element, or as nothing
			return e.Type == "text" || e.Type == "jsonb"
		}
		return false
	}
	switch strings.TrimPrefix(e.Name, "pg_catalog.") {
	case "abs", "mod", "lower", "upper", "btrim", "ltrim", "rtrim", "replace", "left", "right", "length", "date_part", "extract", "date_trunc":
		return true
	}
	return false
}

// apply computes a foldable operation. All of them are strict, but for string_to_array.
func apply(e *facts.Expr, args []datum) (datum, error) {
	for i, a := range args {
		if a.kind == dNull {
			if i > 0 && strings.TrimPrefix(e.Name, "pg_catalog.") == "string_to_array" {
				return datum{}, errNoFold // NULL cuts between all letters
			}
			return datum{typ: e.Type, kind: dNull}, nil
		}
	}
	name := e.Name
	if e.Op == facts.Call {
		name = strings.TrimPrefix(name, "pg_catalog.")
	}
	switch name {
	case "+", "-", "*", "/", "%", "mod", "abs":
		return calculate(name, e.Type, args)
	case "extract", "date_part":
		return datePart(e.Type, args)
	case "string_to_array":
		return splitText(args)
	}
	for _, a := range args {
		if a.kind != dText && a.kind != dInt {
			return datum{}, errNoFold
		}
	}
	return textFunction(name, e.Type, args)
}

func calculate(op, typ string, args []datum) (datum, error) {
	if typ == "numeric" {
		return calculateNumeric(op, args)
	}
	for _, a := range args {
		if a.kind != dInt {
			return datum{}, errNoFold
		}
	}
	a := args[0].i
	if len(args) == 1 {
		switch {
		case op == "-" || op == "abs" && a < 0:
			if a == -1<<63 || !intRange(typ, -a) {
				return datum{}, errInput
			}
			return datum{typ: typ, kind: dInt, i: -a}, nil
		case op == "+" || op == "abs":
			return datum{typ: typ, kind: dInt, i: a}, nil
		}
		return datum{}, errNoFold
	}
	b := args[1].i
	if (op == "/" || op == "%" || op == "mod") && b == 0 {
		return datum{}, errInput
	}
	var r decimal.Decimal
	x, y := decimal.NewFromInt(a), decimal.NewFromInt(b)
	switch op {
	case "+":
		r = x.Add(y)
	case "-":
		r = x.Sub(y)
	case "*":
		r = x.Mul(y)
	case "/":
		r = x.Div(y).Truncate(0)
		if x.Exponent() == 0 && y.Exponent() == 0 && !(a == -1<<63 && b == -1) {
			r = decimal.NewFromInt(a / b) // exact, towards zero as PostgreSQL's
		}
	case "%", "mod":
		if b == -1 {
			return datum{typ: typ, kind: dInt}, nil
		}
		r = decimal.NewFromInt(a % b)
	default:
		return datum{}, errNoFold
	}
	if !fitsInt8(r) || !intRange(typ, r.IntPart()) {
		return datum{}, errInput
	}
	return datum{typ: typ, kind: dInt, i: r.IntPart()}, nil
}

func calculateNumeric(op string, args []datum) (datum, error) {
	for _, a := range args {
		if a.kind != dNumeric {
			return datum{}, errNoFold
		}
	}
	out := datum{typ: "numeric", kind: dNumeric}
	a := args[0].dec
	if len(args) == 1 {
		switch op {
		case "-":
			out.dec = a.Neg()
		case "+":
			out.dec = a
		case "abs":
			out.dec = a.Abs()
		default:
			return datum{}, errNoFold
		}
		return out, nil
	}
	switch b := args[1].dec; op {
	case "+":
		out.dec = a.Add(b)
	case "-":
		out.dec = a.Sub(b)
	case "*":
		out.dec = a.Mul(b)
	default:
		return datum{}, errNoFold // division picks a scale of its own
	}
	return out, nil
}

func datePart(typ string, args []datum) (datum, error) {
	if args[0].kind != dText || args[1].kind != dDate || len(args[1].s) != 10 {
		return datum{}, errNoFold
	}
	part := map[string]string{"year": args[1].s[:4], "month": args[1].s[5:7], "day": args[1].s[8:]}[strings.ToLower(args[0].s)]
	d, err := decimal.NewFromString(part)
	if part == "" || err != nil || typ != "numeric" {
		return datum{}, errNoFold
	}
	return datum{typ: "numeric", kind: dNumeric, dec: d}, nil
}

func splitText(args []datum) (datum, error) {
	if len(args) != 2 || args[0].kind != dText || args[1].kind != dText || args[1].s == "" {
		return datum{}, errNoFold
	}
	out := datum{typ: "_text", kind: dArray}
	if args[0].s == "" {
		return out, nil
	}
	for _, s := range strings.Split(args[0].s, args[1].s) {
		out.arr = append(out.arr, datum{typ: "text", kind: dText, s: s})
	}
	return out, nil
}

// ascii keeps functions that depend on the locale to texts where they do not.
func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func textFunction(name, typ string, args []datum) (datum, error) {
	text := func(s string) (datum, error) { return datum{typ: typ, kind: dText, s: s}, nil }
	s := args[0].s
	cut := " "
	if len(args) > 1 && args[1].kind == dText {
		cut = args[1].s
	}
	switch {
	case args[0].kind != dText:
	case name == "||" && len(args) == 2 && args[1].kind == dText:
		return text(s + args[1].s)
	case name == "lower" && ascii(s) && !strings.Contains(s, "I") && len(args) == 1:
		return text(asciiCase(s, 'A', 'Z'))
	case name == "upper" && ascii(s) && !strings.Contains(s, "i") && len(args) == 1:
		return text(asciiCase(s, 'a', 'z'))
	case (name == "btrim" || name == "trim") && len(args) <= 2:
		return text(strings.Trim(s, cut))
	case name == "ltrim" && len(args) <= 2:
		return text(strings.TrimLeft(s, cut))
	case name == "rtrim" && len(args) <= 2:
		return text(strings.TrimRight(s, cut))
	case name == "replace" && len(args) == 3 && args[1].kind == dText && args[2].kind == dText && args[1].s != "":
		return text(strings.ReplaceAll(s, args[1].s, args[2].s))
	case (name == "left" || name == "right") && len(args) == 2 && args[1].kind == dInt && args[1].i >= 0:
		r := []rune(s)
		n := int(min(args[1].i, int64(len(r))))
		if name == "left" {
			return text(string(r[:n]))
		}
		return text(string(r[len(r)-n:]))
	case typ == "int4" && len(args) == 1:
		return datum{typ: typ, kind: dInt, i: int64(utf8.RuneCountInString(s))}, nil
	}
	return datum{}, errNoFold
}

// asciiCase flips the case of letters between lo and hi. lower and upper agree with it in every locale but Turkish-like ones, where i and I
// differ: those letters are left to the server.
func asciiCase(s string, lo, hi byte) string {
	b := []byte(s)
	for i, c := range b {
		if c >= lo && c <= hi {
			b[i] = c ^ 0x20
		}
	}
	return string(b)
}
