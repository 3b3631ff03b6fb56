package planner

import (
	"errors"
	"testing"

	"github.com/foreshard/foreshard/planner/facts"
)

// TestInput: a literal is what the input function of its type makes of it.
func TestInput(t *testing.T) {
	for _, c := range []struct {
		typ, mod, in, out string // out "error": PostgreSQL fails; "?": left to the server
	}{
		{"int8", "", " 5 ", "5"}, {"int8", "", "9223372036854775808", "error"}, {"int8", "", "5.0", "error"}, {"int4", "", "2147483648", "error"},
		{"uuid", "", "{BD19836D-db62c11c55ab251ccaca5645}", "bd19836d-db62-c11c-55ab-251ccaca5645"}, {"uuid", "", "x", "error"},
		{"text", "", " a ", " a "}, {"varchar", "(2)", "abc", "ab"}, {"bpchar", "(4)", "ab  ", "ab"}, {"bool", "", "yes", "true"},
		{"numeric", "(3)", "5", "?"}, {"float8", "", "5", "?"}, {"timestamptz", "", "now", "?"},
	} {
		d, err := input(c.typ, c.mod, c.in)
		got := "error"
		switch {
		case errors.Is(err, errNoFold):
			got = "?"
		case err == nil:
			if got, err = d.text(); err != nil {
				t.Fatal(err)
			}
		}
		if got != c.out {
			t.Errorf("%s%s %q: %q, want %q", c.typ, c.mod, c.in, got, c.out)
		}
	}
}

// TestConvert: casts round, cut and fail as PostgreSQL's do.
func TestConvert(t *testing.T) {
	for _, c := range []struct{ from, in, to, mod, out string }{
		{"numeric", "900.4", "int8", "", "900"}, {"numeric", "900.5", "int8", "", "901"}, {"numeric", "-900.5", "int8", "", "-901"},
		{"numeric", "1e19", "int8", "", "error"}, {"int8", "40000", "int2", "", "error"}, {"int4", "7", "text", "", "7"},
		{"bpchar", "a   ", "text", "", "a"}, {"text", "abc", "varchar", "(2)", "ab"}, {"text", "5x", "int4", "", "error"}, {"bool", "t", "text", "", "true"},
	} {
		d, err := input(c.from, "", c.in)
		if err != nil {
			t.Fatalf("%s %q: %v", c.from, c.in, err)
		}
		d, err = convert(d, c.to, c.mod)
		got := "error"
		if err == nil {
			got, err = d.text()
		}
		if err != nil && !errors.Is(err, errInput) {
			t.Errorf("%s %q to %s: %v", c.from, c.in, c.to, err)
		}
		if got != c.out {
			t.Errorf("%s %q to %s%s: %q, want %q", c.from, c.in, c.to, c.mod, got, c.out)
		}
	}
}

// TestArithmetic: integer division goes towards zero, overflow and division by zero fail.
func TestArithmetic(t *testing.T) {
	n := func(i int64) datum { return datum{typ: "int8", kind: dInt, i: i} }
	for _, c := range []struct {
		op   string
		a, b int64
		want int64
		fail bool
	}{
		{"+", 2, 3, 5, false}, {"-", 2, 3, -1, false}, {"*", -2, 3, -6, false}, {"/", -13, 2, -6, false}, {"%", -13, 4, -1, false},
		{"/", 1, 0, 0, true}, {"*", 1 << 62, 2, 0, true}, {"+", 1<<63 - 1, 1, 0, true}, {"/", -1 << 63, -1, 0, true}, {"%", -1 << 63, -1, 0, false},
	} {
		d, err := calculate(c.op, "int8", []datum{n(c.a), n(c.b)})
		if (err != nil) != c.fail || err == nil && d.i != c.want {
			t.Errorf("%d %s %d: %d, %v", c.a, c.op, c.b, d.i, err)
		}
	}
	if _, err := apply(&facts.Expr{Op: facts.Call, Name: "lower", Type: "text"}, []datum{{kind: dText, s: "ÄB"}}); !errors.Is(err, errNoFold) {
		t.Errorf("lower of a letter beyond ASCII depends on the locale: %v", err)
	}
}

// TestArrayInput reads array literals as array_in does.
func TestArrayInput(t *testing.T) {
	for in, want := range map[string]int{"{}": 0, "{5,6}": 2, " { 5 , NULL } ": 2, `{"5"}`: 1, "{5,}": -1, "{{5}}": -1, "5": -1, "[1:1]={5}": -1, `{"5`: -1} {
		d, err := input("_int8", "", in)
		if err != nil && want >= 0 || err == nil && len(d.arr) != want {
			t.Errorf("%q: %d elements, %v, want %d", in, len(d.arr), err, want)
		}
	}
}
