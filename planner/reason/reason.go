// Package reason is the registry of reason codes: each code once, with a short text, a long text and a hint. It imports nothing.
package reason

import (
	"slices"
	"strings"
)

// Reason is one fact found about a statement. Message and Hint name table and column and hold no value of the client.
type Reason struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Position int    `json:"position"` // byte offset in the statement's text (of facts: in the template's), -1 unknown
}

// Args fills the texts of a reason. All of it is names of the schema or of features, never a value of the client; what is empty is told in
// general words.
type Args struct {
	Table       string // catalog key
	Column      string
	Other       string // the second table of a join or a reference
	OtherColumn string
	Colo        string
	OtherColo   string
	Function    string
	Name        string // constraint, index, trigger, sequence, setting, feature, ...
	Detail      string // a clause that replaces the general one where the code has room for it
}

// Info is what a code means, for reports and rule pages.
type Info struct {
	Code     Code
	Family   string // key, join, subquery, setop, write, ddl, effect, txn, unknown
	Short    string // a heading
	Long     string // what happened, why it matters on a sharded database, what to do
	Hint     string // what to do, in general words
	Blocking bool   // explains why a statement is not ready; the others explain why it is
}

type entry struct {
	family               string
	blocking             bool
	short, message, hint string
	long                 string
}

// New makes the reason with the code's texts, filled from args. pos is a byte offset in the statement, -1 unknown. A code that the registry
// lacks is told as the internal error it is, under its own name.
func New(code Code, pos int, args Args) Reason {
	e, ok := lookup(code)
	if !ok {
		e, _ = lookup(Internal)
	}
	r := args.replacer()
	return Reason{Code: code, Message: r.Replace(e.message), Hint: r.Replace(e.hint), Position: pos}
}

// Of returns what a code means.
func Of(code Code) (Info, bool) {
	e, ok := lookup(code)
	if !ok {
		return Info{}, false
	}
	return Info{Code: code, Family: e.family, Short: e.short, Long: e.long, Hint: Args{}.replacer().Replace(e.hint), Blocking: e.blocking}, true
}

// Blocking reports whether a code explains why a statement is not ready. A code that the registry lacks does.
func Blocking(code Code) bool {
	e, ok := lookup(code)
	return !ok || e.blocking
}

// All returns every code's meaning, sorted by code.
func All() []Info {
	var all []Info
	for _, family := range families() {
		for code := range family {
			info, _ := Of(code)
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(a.Code, b.Code) })
	return all
}

func lookup(code Code) (entry, bool) {
	for _, family := range families() {
		if e, ok := family[code]; ok {
			return e, true
		}
	}
	return entry{}, false
}

// replacer fills {table}, {column}, {other}, {othercolumn}, {colo}, {othercolo}, {function}, {name} and {detail}.
func (a Args) replacer() *strings.Replacer {
	name := func(kind, value, general string) string {
		if value == "" {
			return general
		}
		return strings.TrimLeft(kind+` "`+value+`"`, " ")
	}
	detail := a.Detail
	if detail != "" {
		detail = ": " + detail
	}
	return strings.NewReplacer(
		"{table}", name("table", strings.TrimPrefix(a.Table, "public."), "the table"),
		"{other}", name("table", strings.TrimPrefix(a.Other, "public."), "the other table"),
		"{column}", name("column", a.Column, "the shard key"),
		"{othercolumn}", name("column", a.OtherColumn, "its shard key"),
		"{colo}", name("colo", a.Colo, "its colo"),
		"{othercolo}", name("colo", a.OtherColo, "another colo"),
		"{function}", name("function", a.Function, "a function"),
		"{name}", name("", a.Name, "it"),
		"{detail}", detail,
	)
}

func families() [3]map[Code]entry { return [...]map[Code]entry{queryCodes, writeCodes, otherCodes} }
