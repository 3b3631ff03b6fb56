package facts

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write what is generated")

// TestGenerated compares the functions that decode with what the types ask for. After a change of a type: go test ./planner/facts -update.
func TestGenerated(t *testing.T) {
	for file, types := range map[string][]any{
		"decode_query.go": {Statement{}, Problem{}, Query{}, CTE{}, SetOp{}, Source{}, Join{}, Merged{}, Output{}, SortKey{}, Lock{}, Write{}, Assign{}, Conflict{}, MergeAction{}},
		"decode_expr.go":  {Expr{}, Utility{}, Action{}},
	} {
		var b strings.Builder
		b.WriteString("// Code generated from the types of this package by go test ./planner/facts -update. DO NOT EDIT.\n\npackage facts\n")
		for _, x := range types {
			generate(t, &b, reflect.TypeOf(x))
		}
		want, err := format.Source([]byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil || string(have) != string(want) {
			t.Errorf("%s is not what the types ask for (%v): go test ./planner/facts -update", file, err)
		}
	}
}

// generate writes the function that reads one struct.
func generate(t *testing.T, b *strings.Builder, typ reflect.Type) {
	fmt.Fprintf(b, "\nfunc (d *decoder) %s() *%s {\nn, ok := d.open()\nif !ok {\nreturn nil\n}\nx := &%s{}\nfor ; n > 0; n-- {\nswitch d.key() {\n", method(typ), typ.Name(), typ.Name())
	for i := range typ.NumField() {
		f := typ.Field(i)
		number, _, keyed := strings.Cut(f.Tag.Get("cbor"), ",keyasint")
		if !keyed {
			t.Fatalf("%s.%s has no number", typ.Name(), f.Name)
		}
		fmt.Fprintf(b, "case %s:\nx.%s = %s\n", number, f.Name, call(t, f.Type, "d"))
	}
	b.WriteString("default:\nd.fail(\"an unknown field\")\n}\n}\nd.depth--\nreturn x\n}\n")
}

// method is the name of the function that reads a type.
func method(typ reflect.Type) string {
	name := typ.Name()
	if strings.ToUpper(name) == name {
		return strings.ToLower(name)
	}
	return string(unicode.ToLower(rune(name[0]))) + name[1:]
}

// call is the expression that reads a value of a type.
func call(t *testing.T, typ reflect.Type, d string) string {
	switch typ.Kind() {
	case reflect.Pointer:
		return d + "." + method(typ.Elem()) + "()"
	case reflect.Slice:
		return "list(" + d + ", " + function(t, typ.Elem()) + ")"
	case reflect.Uint8:
		if typ.Name() != "uint8" {
			return typ.Name() + "(" + d + ".byte())"
		}
		return d + ".byte()"
	case reflect.String, reflect.Bool, reflect.Int:
		return d + "." + primitive[typ.Kind()] + "()"
	}
	t.Fatalf("type %s is not known here", typ)
	return ""
}

var primitive = map[reflect.Kind]string{reflect.String: "text", reflect.Bool: "flag", reflect.Int: "int"}

// function is the function value that reads one element of a list.
func function(t *testing.T, typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.Pointer:
		return "(*decoder)." + method(typ.Elem())
	case reflect.Struct:
		return "value((*decoder)." + method(typ) + ")"
	case reflect.Slice:
		return "func(d *decoder) " + strings.ReplaceAll(typ.String(), "facts.", "") + " { return " + call(t, typ, "d") + " }"
	}
	return "(*decoder)." + primitive[typ.Kind()]
}

// TestEveryFieldTravels sets every field of every type, one after the other, and finds it again.
func TestEveryFieldTravels(t *testing.T) {
	var walk func(typ reflect.Type, wrap func(reflect.Value) *Statement, depth int)
	walk = func(typ reflect.Type, wrap func(reflect.Value) *Statement, depth int) {
		for i := range typ.NumField() {
			v := reflect.New(typ).Elem()
			set(v.Field(i))
			st := wrap(v)
			back, err := Decode(Encode(st))
			if err != nil || !reflect.DeepEqual(back, st) {
				t.Errorf("%s.%s: %+v became %+v: %v", typ.Name(), typ.Field(i).Name, st, back, err)
			}
			elem := typ.Field(i).Type
			for elem.Kind() == reflect.Pointer || elem.Kind() == reflect.Slice {
				elem = elem.Elem()
			}
			if elem.Kind() == reflect.Struct && depth < 4 {
				walk(elem, func(inner reflect.Value) *Statement {
					v := reflect.New(typ).Elem()
					place(v.Field(i), inner)
					return wrap(v)
				}, depth+1)
			}
		}
	}
	walk(reflect.TypeOf(Statement{}), func(v reflect.Value) *Statement { st := v.Interface().(Statement); return &st }, 0)
}

// set makes a value that is not its type's zero.
func set(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		set(v.Index(1))
		if v.Index(0).Kind() == reflect.Slice { // null and an empty array are not told apart by what reads them
			set(v.Index(0))
		}
	case reflect.Struct:
		set(v.Field(0))
	case reflect.String:
		v.SetString("ä")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(-70000)
	case reflect.Uint8:
		v.SetUint(200)
	}
}

// place puts a struct into a field that is it, points to it, or lists it.
func place(field, inner reflect.Value) {
	switch field.Kind() {
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		field.Elem().Set(inner)
	case reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		place(field.Index(0), inner)
	default:
		field.Set(inner)
	}
}
