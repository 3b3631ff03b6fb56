package resolve

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed builtin.tsv
var builtinText string

// builtins is what PostgreSQL brings along: read once from the embedded dump of its catalogs, never changed.
var builtins = sync.OnceValue(func() *builtinSet { return readBuiltins(builtinText) })

type builtinSet struct {
	types     map[string]builtinType
	ranges    map[string]string // range and multirange type -> element type
	multi     map[string]string // range type -> multirange type
	casts     map[[2]string]builtinCast
	operators map[string][]routine
	functions map[string][]routine
	relations map[string][]column // "pg_catalog.pg_class"
}

type builtinType struct {
	category  byte // as pg_type.typcategory
	preferred bool
	kind      byte   // b base, p pseudo, r range, m multirange
	elem      string // element of a fixed array such as oidvector
}

type builtinCast struct {
	context byte // i implicit, a assignment, e explicit
	method  byte // b binary coercible, f function, i in and out
	vol     byte
}

// routine is a candidate for a call: an operator (one or two args) or a function.
type routine struct {
	args     []string
	ret      string
	vol      byte
	kind     byte // f function, a aggregate, w window function, p procedure
	set      bool
	variadic bool // the last of args is an array that takes the rest
	defaults int
	cols     []column // OUT columns
	key      string   // catalog key of a function of the schema, "" builtin
}

// column is a named, typed column of a function or system relation.
type column struct {
	name, typ string
}

func readBuiltins(text string) *builtinSet {
	b := &builtinSet{types: map[string]builtinType{}, ranges: map[string]string{}, multi: map[string]string{}, casts: map[[2]string]builtinCast{},
		operators: map[string][]routine{}, functions: map[string][]routine{}, relations: map[string][]column{}}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch f[0] {
		case "T":
			b.types[f[1]] = builtinType{category: f[2][0], preferred: f[3] == "p", kind: f[4][0], elem: dash(f[5])}
		case "R":
			b.ranges[f[1]], b.ranges[f[3]], b.multi[f[1]] = f[2], f[2], f[3]
		case "C":
			b.casts[[2]string{f[1], f[2]}] = builtinCast{f[3][0], f[4][0], f[5][0]}
		case "O":
			o := routine{args: []string{f[3]}, ret: f[4], vol: f[5][0], kind: 'f'}
			if f[2] != "-" {
				o.args = []string{f[2], f[3]}
			}
			b.operators[f[1]] = append(b.operators[f[1]], o)
		case "F":
			r := routine{ret: f[3], vol: f[4][0], kind: f[4][1], set: f[4][2] == 's', variadic: f[4][3] == 'v', defaults: int(f[5][0] - '0'), cols: readColumns(f[6])}
			if f[2] != "-" {
				r.args = strings.Split(f[2], ",")
			}
			b.functions[f[1]] = append(b.functions[f[1]], r)
		case "S":
			b.relations[f[1]] = readColumns(f[2])
		}
	}
	return b
}

func readColumns(s string) []column {
	if s == "-" {
		return nil
	}
	var cols []column
	for _, c := range strings.Split(s, ",") {
		name, typ, _ := strings.Cut(c, " ")
		cols = append(cols, column{name, typ})
	}
	return cols
}

func dash(s string) string {
	if s == "-" {
		return ""
	}
	return s
}
