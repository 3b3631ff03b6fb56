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
	Name     string `json:"-"`        // Args.Name: the feature of outside_dialect, the constraint, setting, ...
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
	return Reason{Code: code, Message: args.fill(e.message), Hint: args.fill(e.hint), Position: pos, Name: args.Name}
}

// Of returns what a code means.
func Of(code Code) (Info, bool) {
	e, ok := lookup(code)
	if !ok {
		return Info{}, false
	}
	return Info{Code: code, Family: e.family, Short: e.short, Long: e.long, Hint: new(Args).fill(e.hint), Blocking: e.blocking}, true
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

// fill puts the names into {table}, {column}, {other}, {othercolumn}, {colo}, {othercolo}, {function}, {name} and {detail} of a text.
func (a *Args) fill(text string) string {
	open := strings.IndexByte(text, '{')
	if open < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 64)
	for ; open >= 0; open = strings.IndexByte(text, '{') {
		b.WriteString(text[:open])
		text = text[open:]
		end := strings.IndexByte(text, '}')
		if end < 0 || !a.hole(&b, text[1:end]) {
			b.WriteByte('{')
			text = text[1:]
			continue
		}
		text = text[end+1:]
	}
	b.WriteString(text)
	return b.String()
}

// hole writes what a hole's name stands for; false if it is none.
func (a *Args) hole(b *strings.Builder, hole string) bool {
	switch hole {
	case "table":
		name(b, "table ", strings.TrimPrefix(a.Table, "public."), "the table")
	case "other":
		name(b, "table ", strings.TrimPrefix(a.Other, "public."), "the other table")
	case "column":
		name(b, "column ", a.Column, "the shard key")
	case "othercolumn":
		name(b, "column ", a.OtherColumn, "its shard key")
	case "colo":
		name(b, "colo ", a.Colo, "its colo")
	case "othercolo":
		name(b, "colo ", a.OtherColo, "another colo")
	case "function":
		name(b, "function ", a.Function, "a function")
	case "name":
		name(b, "", a.Name, "it")
	case "detail":
		if a.Detail != "" {
			b.WriteString(": ")
			b.WriteString(a.Detail)
		}
	default:
		return false
	}
	return true
}

func name(b *strings.Builder, kind, value, general string) {
	if value == "" {
		b.WriteString(general)
		return
	}
	b.WriteString(kind)
	b.WriteByte('"')
	b.WriteString(value)
	b.WriteByte('"')
}

func families() [3]map[Code]entry { return [...]map[Code]entry{queryCodes, writeCodes, otherCodes} }
