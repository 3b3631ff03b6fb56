package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// Question is a text to explain: one statement, or several that are one transaction.
type Question struct {
	SQL    string
	Params []Param // of $1, $2, ...
	Setup  string  // statements before it: SET search_path = ..., SET name = ...

	declared []string // types of the parameters whose values are not given: of a prepared statement
}

// Param is a parameter of the client: its declared type as SQL writes it, and its value in text form.
type Param struct {
	Type string
	Text string
	Null bool
}

// Answer is the verdict on a question. Class and Shards are for the statement as written, its literals included: the class holds for every
// value of its parameters, which only tell the shards. Symbolic is the class that holds for all values of literals and
// parameters, equal ones staying equal. Positions
// of reasons are byte offsets in SQL.
type Answer struct {
	Verdict
	Symbolic Class
	Fixes    []Fix // what would help; package planner/fix finds them
}

// Explain judges a text.
func (p *Planner) Explain(q Question) Answer {
	ses := p.newSession(q.Setup)
	var parts []Answer
	src := []byte(q.SQL)
	var sc sqltext.Scanner
	sc.Reset(src)
	for n := 0; sc.Next(); n++ {
		st := sc.Statement()
		if made, ok := sc.Prepared(); ok {
			ses.prepare(made, q.SQL[st.Span.Start:made.Query.Start], q.SQL[made.Query.Start:made.Query.End], q.Setup)
		}
		if run, ok := sc.Executed(); ok {
			if inner, ok := ses.prepared[run.Name]; ok {
				inner.arguments(run)
				parts = append(parts, p.executed(inner))
				continue
			}
		}
		if st.Bound != sqltext.WithinBounds {
			code := reason.TooDeep
			if st.Bound == sqltext.Unlexable {
				code = reason.Unparsed
			}
			v := p.unknown(code, "")
			parts = append(parts, Answer{Verdict: v, Symbolic: Unknown})
			continue
		}
		slots := slices.Clone(st.Slots)
		vals := q.values(st)
		tmpl := sqltext.NewTemplate(string(st.Text), slots)
		facts := resolve.Statement(tmpl, p.cat, resolve.Options{SearchPath: ses.path, ParamTypes: q.types(st)})
		if open, name := ses.means(facts); open {
			parts = append(parts, p.unclear(name))
			ses.after(facts, vals, string(src[st.Span.Start:st.Span.End]))
			continue
		}
		a := Answer{Verdict: p.Judge(facts, slots, vals)}
		a.Symbolic = p.Judge(facts, slots, nil).Class
		nameParams(a.Bindings, st)
		for i := range a.Reasons {
			if r := &a.Reasons[i]; r.Position >= 0 {
				at, ok := sqltext.Origin(src, n, r.Position)
				if !ok {
					at = -1
				}
				r.Position = at
			}
		}
		parts = append(parts, a)
		ses.after(facts, vals, q.SQL[st.Span.Start:st.Span.End])
	}
	switch len(parts) {
	case 0:
		return Answer{Verdict: p.unknown(reason.Unparsed, "the text holds no statement"), Symbolic: Unknown}
	case 1:
		return parts[0]
	}
	return p.transaction(parts)
}

// nameParams writes parameters in bindings by the client's numbers; the judge knows them by the template's.
func nameParams(bindings []Binding, st *sqltext.Statement) {
	names := map[string]string{}
	for _, v := range st.Values {
		if v.Kind == sqltext.Bind && !st.Slots[v.Slot-1].List {
			names["$"+strconv.Itoa(v.Slot)] = "$" + strconv.Itoa(v.Bind)
		}
	}
	for _, b := range bindings {
		for i, text := range b.Values {
			if name := names[text]; name != "" && b.Source != "const" {
				b.Values[i] = name
			}
		}
	}
}

// executed judges EXECUTE of a statement that was prepared in the same text.
func (p *Planner) executed(q Question) Answer {
	a := p.Explain(q)
	for i := range a.Reasons {
		a.Reasons[i].Position = -1 // it speaks of the prepared text
	}
	return a
}

// arguments takes the plain values an EXECUTE gives; none if one of them is an expression.
func (q *Question) arguments(run sqltext.Executed) {
	for i, v := range run.Args {
		if v.Kind == 0 && !run.Null[i] || v.Kind == sqltext.Bind {
			q.Params = nil
			return
		}
		p := Param{Text: string(v.Text), Null: run.Null[i]}
		if i < len(q.declared) {
			p.Type = q.declared[i]
		}
		q.Params = append(q.Params, p)
	}
}

// values takes the values of a statement: its literals, and the parameters that were given.
func (q *Question) values(st *sqltext.Statement) *Values {
	vals := &Values{Slots: make([]Value, len(st.Slots))}
	for _, v := range st.Values {
		if v.Slot < 1 || v.Slot > len(vals.Slots) {
			continue
		}
		one := Value{Kind: v.Kind, Text: string(v.Text)}
		if v.Kind == sqltext.Bind {
			if v.Bind >= 1 && v.Bind <= len(q.Params) {
				p := q.Params[v.Bind-1]
				one.Text, one.Null = p.Text, p.Null
			} else {
				one = Value{} // not given: a symbol
			}
		}
		slot := &vals.Slots[v.Slot-1]
		if st.Slots[v.Slot-1].List {
			slot.Kind = st.Slots[v.Slot-1].Kind
			slot.List = append(slot.List, one)
			continue
		}
		*slot = one
	}
	return vals
}

// types gives the declared types of a statement's parameters by the template's numbers.
func (q *Question) types(st *sqltext.Statement) map[int]string {
	types := map[int]string{}
	for _, v := range st.Values {
		if n := st.Slots[v.Slot-1].Bind; n > 0 && v.Bind >= 1 && v.Bind <= len(q.Params) && q.Params[v.Bind-1].Type != "" {
			types[n] = q.Params[v.Bind-1].Type
		} else if n > 0 && v.Bind >= 1 && v.Bind <= len(q.declared) {
			types[n] = q.declared[v.Bind-1]
		}
	}
	return types
}

// searchPath follows SET search_path in a text; nil is the catalog's own.
func (p *Planner) searchPath(path []string, text string) []string {
	var sc sqltext.Scanner
	sc.Reset([]byte(text))
	for sc.Next() {
		set, ok := sc.Setting()
		if !ok || set.Name != "search_path" && set.Name != "" {
			continue
		}
		if set.Default || set.Name == "" {
			path = nil
			continue
		}
		path = SplitPath(set.Value)
	}
	return path
}

// SplitPath splits a search_path as SET writes it into schema names. "$user" is left out: a schema of that name is not known here.
func SplitPath(value string) []string {
	path := []string{}
	for len(value) > 0 {
		value = strings.TrimLeft(value, " \t\n,")
		if value == "" {
			break
		}
		name, rest := "", ""
		switch value[0] {
		case '"', '\'':
			quote := value[:1]
			end := 1
			for end < len(value) && (value[end] != quote[0] || end+1 < len(value) && value[end+1] == quote[0]) {
				if value[end] == quote[0] {
					end++
				}
				end++
			}
			name = strings.ReplaceAll(value[1:min(end, len(value))], quote+quote, quote)
			rest = value[min(end+1, len(value)):]
		default:
			end := strings.IndexByte(value, ',')
			if end < 0 {
				end = len(value)
			}
			name, rest = strings.ToLower(strings.TrimSpace(value[:end])), value[end:]
		}
		if name != "$user" && name != "" {
			path = append(path, name)
		}
		value = rest
	}
	return path
}

// cost orders the classes for the union over a transaction's statements.
func cost(c Class) int {
	return slices.Index([]Class{Session, None, Reference, Unsharded, SingleShard, MultiShard, Scatter, Broadcast, MultiPhase, Reject, Invalid, Unknown}, c)
}

// transaction joins the verdicts on the statements of a transaction: its class is the costliest one, and one shard only if all statements
// go to it.
func (p *Planner) transaction(parts []Answer) Answer {
	out := Answer{Verdict: Verdict{Class: Session, Shards: ShardSet{Kind: "none"}, Bindings: []Binding{}}, Symbolic: Session}
	home, single, keys := false, 0, map[string]bool{}
	known := true
	for i, a := range parts {
		if cost(a.Class) > cost(out.Class) {
			out.Class = a.Class
		}
		if cost(a.Symbolic) > cost(out.Symbolic) {
			out.Symbolic = a.Symbolic
		}
		home = home || a.Class == Unsharded
		if a.Class == SingleShard {
			single++
			known = known && a.Shards.List != nil
			for _, b := range a.Bindings {
				values := strings.Join(b.Values, "\x00")
				if a.Shards.List == nil { // a symbol of this statement says nothing about another's
					values = strconv.Itoa(i)
				}
				keys[b.Colo+"\x00"+values] = true
			}
		}
		out.Shards.List = union(out.Shards.List, a.Shards.List)
		out.merge(&a.Verdict)
	}
	colos := len(out.Colos)
	switch out.Class {
	case SingleShard:
		switch {
		case home, colos > 1, single > 1 && len(keys) > 1 && (!known || len(out.Shards.List) != 1):
			out.Class = MultiShard
		case len(keys) > 1:
			out.LayoutDependent = true
		}
		if out.Class == MultiShard {
			out.Reasons = append(out.Reasons, reason.New(reason.TxnMultiShard, -1, reason.Args{}))
			if out.Write {
				out.Features = append(out.Features, policy.TwoPhaseCommit)
			}
		}
	case MultiShard, Scatter:
		out.Reasons = append(out.Reasons, reason.New(reason.TxnMultiShard, -1, reason.Args{}))
	}
	if out.Symbolic == SingleShard && (single > 1 || home || colos > 1) {
		out.Symbolic = MultiShard
	}
	if cost(out.Symbolic) < cost(out.Class) {
		out.Symbolic = out.Class
	}
	if out.Class == Scatter {
		out.Shards.List = nil
	}
	out.Shards.Kind = shardKind(out.Class)
	slices.Sort(out.Features)
	out.Features = slices.Compact(out.Features)
	out.Readiness = Readiness(policy.Readiness(string(out.Class), out.Features, out.Write, p.dialect))
	return out
}

// merge adds what another statement of the transaction touches and needs.
func (v *Verdict) merge(o *Verdict) {
	v.Bindings = append(v.Bindings, o.Bindings...)
	v.Reasons = append(v.Reasons, o.Reasons...)
	v.Features = append(v.Features, o.Features...)
	v.CrossColo = append(v.CrossColo, o.CrossColo...)
	v.LayoutDependent = v.LayoutDependent || o.LayoutDependent
	v.Write = v.Write || o.Write
	v.Tables = unionText(v.Tables, o.Tables)
	v.Colos = unionText(v.Colos, o.Colos)
}

func union(a, b []int) []int {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	slices.Sort(a)
	return a
}

func unionText(a, b []string) []string {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	slices.Sort(a)
	return a
}
