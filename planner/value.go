package planner

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/foreshard/foreshard/planner/layout"
)

// datum is a value of a PostgreSQL type, as far as the planner computes with it. What it cannot hold is not folded.
type datum struct {
	typ  string // canonical type
	kind datumKind
	i    int64           // dInt; dBool: 0 or 1
	s    string          // dText; dBpchar: without trailing blanks; dDate: ISO
	u    [16]byte        // dUUID
	dec  decimal.Decimal // dNumeric
	arr  []datum         // dArray
}

type datumKind uint8

const (
	dNull datumKind = iota + 1
	dInt
	dBool
	dText
	dBpchar
	dUUID
	dNumeric
	dDate
	dArray
)

// Errors of computing a value. errInput is PostgreSQL's error too, so that the statement fails; errNoFold only says that the planner does
// not compute it.
var (
	errInput  = errors.New("invalid value")
	errNoFold = errors.New("not computed")
)

func intRange(typ string, v int64) bool {
	switch typ {
	case "int2":
		return int64(int16(v)) == v
	case "int4":
		return int64(int32(v)) == v
	}
	return typ == "int8"
}

// input is the input function of a type: the text form of a value to the value. mod is a type modifier as written, "(10)".
func input(typ, mod, s string) (datum, error) {
	switch typ {
	case "int2", "int4", "int8":
		k, err := layout.Parse(typ, s)
		if err != nil {
			return datum{}, errInput
		}
		return datum{typ: typ, kind: dInt, i: k.Int}, nil
	case "text", "varchar", "bpchar":
		return textDatum(typ, mod, s)
	case "uuid":
		u, err := layout.ParseUUID(s)
		if err != nil {
			return datum{}, errInput
		}
		return datum{typ: typ, kind: dUUID, u: u}, nil
	case "bool":
		return inputBool(s)
	case "numeric":
		if mod != "" {
			return datum{}, errNoFold
		}
		t := strings.TrimSpace(s)
		if !plainNumber(t) {
			return datum{}, errNoFold // NaN, infinity, hexadecimal and underscores are PostgreSQL's business
		}
		d, err := decimal.NewFromString(t)
		if err != nil {
			return datum{}, errNoFold
		}
		return datum{typ: typ, kind: dNumeric, dec: d}, nil
	case "date":
		t, err := time.Parse("2006-01-02", strings.TrimSpace(s))
		if err != nil {
			return datum{}, errNoFold
		}
		return datum{typ: typ, kind: dDate, s: t.Format("2006-01-02")}, nil
	}
	if elem, ok := strings.CutPrefix(typ, "_"); ok {
		return inputArray(elem, s)
	}
	return datum{}, errNoFold
}

// maxExponent bounds what a numeric constant may cost: 1e1000000 is valid SQL.
const maxExponent = 400

func plainNumber(s string) bool {
	digits := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' || (c == '-' || c == '+') && i == 0:
		case (c == 'e' || c == 'E') && digits > 0:
			n, err := strconv.Atoi(s[i+1:])
			return err == nil && n <= maxExponent && n >= -maxExponent
		default:
			return false
		}
	}
	return digits > 0 && digits <= maxExponent
}

func inputBool(s string) (datum, error) {
	switch t := strings.ToLower(strings.TrimSpace(s)); t {
	case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1":
		return datum{typ: "bool", kind: dBool, i: 1}, nil
	case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0":
		return datum{typ: "bool", kind: dBool}, nil
	}
	return datum{}, errInput
}

// textDatum applies a length as an explicit cast does: it cuts.
func textDatum(typ, mod, s string) (datum, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return datum{}, errInput
	}
	if mod != "" {
		n, err := strconv.Atoi(strings.Trim(mod, "() "))
		if err != nil {
			return datum{}, errNoFold
		}
		if r := []rune(s); len(r) > n {
			s = string(r[:n])
		}
	}
	if typ == "bpchar" {
		return datum{typ: typ, kind: dBpchar, s: strings.TrimRight(s, " ")}, nil
	}
	return datum{typ: typ, kind: dText, s: s}, nil
}

// inputArray reads a one-dimensional array literal: {5,6}, {"a b",NULL}.
func inputArray(elem, s string) (datum, error) {
	out := datum{typ: "_" + elem, kind: dArray}
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '{' || s[len(s)-1] != '}' {
		return datum{}, errNoFold // array dimensions "[1:2]={...}", or invalid
	}
	s = s[1 : len(s)-1]
	if strings.TrimSpace(s) == "" {
		return out, nil
	}
	for {
		text, quoted, rest, err := arrayElement(s)
		if err != nil {
			return datum{}, err
		}
		if !quoted && strings.EqualFold(text, "null") {
			out.arr = append(out.arr, datum{typ: elem, kind: dNull})
		} else {
			d, err := input(elem, "", text)
			if err != nil {
				return datum{}, err
			}
			out.arr = append(out.arr, d)
		}
		if rest == "" {
			return out, nil
		}
		s = rest[1:]
	}
}

func arrayElement(s string) (text string, quoted bool, rest string, err error) {
	s = strings.TrimLeft(s, " \t\n\r\v\f")
	var b strings.Builder
	i := 0
	if i < len(s) && s[i] == '"' {
		quoted = true
		for i++; ; i++ {
			if i >= len(s) {
				return "", false, "", errInput
			}
			if s[i] == '"' {
				i++
				break
			}
			if s[i] == '\\' && i+1 < len(s) {
				i++
			}
			b.WriteByte(s[i])
		}
		for i < len(s) && (s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r') {
			i++
		}
	} else {
		for ; i < len(s) && s[i] != ','; i++ {
			switch s[i] {
			case '{', '}', '"':
				return "", false, "", errNoFold // nested, or invalid
			case '\\':
				if i+1 < len(s) {
					i++
				}
			}
			b.WriteByte(s[i])
		}
	}
	text = b.String()
	if !quoted {
		text = strings.TrimRight(text, " \t\n\r\v\f")
		if text == "" {
			return "", false, "", errInput
		}
	}
	if i < len(s) && s[i] != ',' {
		return "", false, "", errInput
	}
	return text, quoted, s[i:], nil
}

// text is the output form, for casts to text; not for types whose form depends on the session.
func (d datum) text() (string, error) {
	switch d.kind {
	case dInt:
		return strconv.FormatInt(d.i, 10), nil
	case dBool:
		if d.i != 0 {
			return "true", nil
		}
		return "false", nil
	case dText, dBpchar:
		return d.s, nil
	case dUUID:
		return layout.FormatUUID(d.u), nil
	}
	return "", errNoFold
}

// key returns the value as a shard key; ok is false if its type is no key type.
func (d datum) key() (layout.Key, bool) {
	switch {
	case d.kind == dInt:
		return layout.Key{Class: layout.IntKey, Int: d.i}, true
	case d.kind == dText:
		return layout.Key{Class: layout.TextKey, Text: d.s}, true
	case d.kind == dUUID:
		return layout.Key{Class: layout.UUIDKey, UUID: d.u}, true
	}
	return layout.Key{}, false
}

// convert casts a value as PostgreSQL does, explicitly or by assignment: both give the same value where both are allowed.
func convert(d datum, typ, mod string) (datum, error) {
	if d.kind == dNull {
		return datum{typ: typ, kind: dNull}, nil
	}
	if d.typ == typ && mod == "" {
		return d, nil
	}
	switch typ {
	case "int2", "int4", "int8":
		return toInt(d, typ)
	case "numeric":
		if mod == "" && d.kind == dInt {
			return datum{typ: typ, kind: dNumeric, dec: decimal.NewFromInt(d.i)}, nil
		}
	case "text", "varchar", "bpchar":
		s, err := d.text()
		if err != nil {
			return datum{}, err
		}
		if d.kind == dBool && typ == "bpchar" {
			return datum{}, errNoFold
		}
		return textDatum(typ, mod, s)
	case "bool":
		if d.kind == dInt && d.typ == "int4" {
			n := datum{typ: "bool", kind: dBool}
			if d.i != 0 {
				n.i = 1
			}
			return n, nil
		}
	}
	if d.kind == dText {
		return input(typ, mod, d.s)
	}
	return datum{}, errNoFold
}

func toInt(d datum, typ string) (datum, error) {
	var v int64
	switch d.kind {
	case dInt, dBool:
		v = d.i
	case dNumeric:
		r := d.dec.Round(0) // half away from zero, as numeric does
		if !fitsInt8(r) {
			return datum{}, errInput
		}
		v = r.IntPart()
	case dText:
		return input(typ, "", d.s)
	default:
		return datum{}, errNoFold
	}
	if !intRange(typ, v) {
		return datum{}, errInput
	}
	return datum{typ: typ, kind: dInt, i: v}, nil
}

var (
	minInt8 = decimal.NewFromInt(-1 << 63)
	maxInt8 = decimal.NewFromInt(1<<63 - 1)
)

func fitsInt8(d decimal.Decimal) bool {
	return d.GreaterThanOrEqual(minInt8) && d.LessThanOrEqual(maxInt8)
}
