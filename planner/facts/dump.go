package facts

import (
	"fmt"
	"strings"
)

// String turns facts into indented text for people and golden tests. Columns are written s<source>.<name>, ^n for n levels up.
func String(s *Statement) string {
	d := &dumper{}
	if s.Utility != nil {
		d.utility(s.Utility)
	}
	if s.Query != nil {
		d.query(s.Query)
	}
	for _, p := range s.Problems {
		kind := "problem"
		if p.Invalid {
			kind = "invalid"
		}
		d.line("%s %s @%d: %s", kind, p.Code, p.Pos, p.Text)
	}
	return d.b.String()
}

type dumper struct {
	b      strings.Builder
	indent int
	next   []*Query // sublinks named on the current line
	named  int
}

// line writes one line, then the queries of the sublinks that it names.
func (d *dumper) line(format string, args ...any) {
	d.b.WriteString(strings.Repeat("  ", d.indent))
	fmt.Fprintf(&d.b, format, args...)
	d.b.WriteByte('\n')
	subs := d.next
	d.next = nil
	first := d.named - len(subs)
	for i, q := range subs {
		d.indent++
		d.line("#%d", first+i+1)
		d.nested(q)
		d.indent--
	}
}

func (d *dumper) nested(q *Query) {
	d.indent++
	d.query(q)
	d.indent--
}

func (d *dumper) query(q *Query) {
	for i := range q.CTEs {
		c := &q.CTEs[i]
		flags := ""
		if c.Materialized != 0 {
			flags += " materialized=" + string(rune(c.Materialized))
		}
		if c.SelfRef {
			flags += " recursive"
		}
		d.line("with c%d %s uses=%d%s", c.ID, c.Name, c.Uses, flags)
		d.nested(c.Query)
	}
	if w := q.Write; w != nil {
		d.write(w)
	}
	if q.SetOp != nil {
		all := ""
		if q.SetOp.All {
			all = " all"
		}
		d.line("%s%s", q.SetOp.Op, all)
		d.nested(q.SetOp.Left)
		d.line("and")
		d.nested(q.SetOp.Right)
	}
	for _, row := range q.Values {
		d.line("values (%s)%s", d.list(row), when(q.Folded, " folded"))
	}
	for _, s := range q.From {
		d.source("from", s)
	}
	d.clause("where", q.Where)
	for _, g := range q.Group {
		d.line("group (%s)", d.list(g))
	}
	if q.Grouped {
		d.line("grouped")
	}
	d.clause("having", q.Having)
	switch q.Distinct {
	case DistinctAll:
		d.line("distinct")
	case DistinctOn:
		d.line("distinct on (%s)", d.list(q.On))
	}
	for _, o := range q.Outputs {
		d.line("output %s = %s%s", o.Name, d.expr(o.Expr), when(o.Hidden, " hidden"))
	}
	for _, k := range q.OrderBy {
		d.line("order %s", d.key(k))
	}
	d.clause("limit", q.Limit)
	d.clause("offset", q.Offset)
	if q.WithTies {
		d.line("with ties")
	}
	for _, l := range q.Locks {
		d.line("lock %s of %v%s%s", l.Strength, l.Of, when(l.SkipLocked, " skip locked"), when(l.NoWait, " nowait"))
	}
	if q.Into != "" {
		d.line("into %s", q.Into)
	}
}

func when(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

func (d *dumper) clause(name string, e *Expr) {
	if e != nil {
		d.line("%s %s", name, d.expr(e))
	}
}

func (d *dumper) key(k SortKey) string {
	nulls := ""
	if k.NullsFirst != k.Desc {
		nulls = " nulls " + map[bool]string{true: "first", false: "last"}[k.NullsFirst]
	}
	return d.expr(k.Expr) + when(k.Desc, " desc") + nulls
}

func (d *dumper) source(word string, s *Source) {
	flags := when(s.Alias != "", " as "+s.Alias) + when(s.View != "", " view "+s.View) + when(s.Lateral, " lateral") + when(s.Sample, " sample") +
		when(s.Only, " only") + when(s.System, " system") + when(s.Temp, " temp")
	switch s.Kind {
	case FromTable:
		d.line("%s s%d %s%s", word, s.ID, s.Table, flags)
	case FromCTE:
		d.line("%s s%d cte c%d%s", word, s.ID, s.CTE, flags)
	case FromFunction:
		d.line("%s s%d function %s%s", word, s.ID, d.list(s.Funcs), flags)
	case FromQuery:
		d.line("%s s%d query%s", word, s.ID, flags)
		d.nested(s.Query)
	case FromJoin:
		kind := [...]string{"inner", "left", "right", "full"}[s.Join.Kind]
		d.line("%s s%d %s join%s", word, s.ID, kind, flags)
		d.indent++
		d.source("left", s.Join.Left)
		d.source("right", s.Join.Right)
		d.clause("on", s.Join.On)
		for _, m := range s.Join.Merged {
			d.line("merged %s = %s, %s", m.Name, d.expr(m.Left), d.expr(m.Right))
		}
		d.indent--
	}
}

func (d *dumper) write(w *Write) {
	d.line("%s%s%s", w.Op, when(w.View != "", " through "+w.View), when(w.Overriding != "", " overriding "+w.Overriding))
	d.indent++
	if w.Op == "insert" {
		d.source("into", w.Target)
		d.line("columns %s", strings.Join(w.Columns, ", "))
	}
	if w.Source != nil {
		d.line("source")
		d.nested(w.Source)
	}
	d.sets(w.Set)
	if c := w.Conflict; c != nil {
		d.line("conflict (%s)%s%s%s", strings.Join(c.Columns, ", "), when(c.Exprs > 0, fmt.Sprintf(" exprs=%d", c.Exprs)), when(c.Constraint != "", " constraint "+c.Constraint), when(c.Nothing, " nothing"))
		d.indent++
		if !c.Nothing {
			d.line("excluded s%d", c.Excluded)
		}
		d.sets(c.Set)
		d.clause("where", c.Where)
		d.indent--
	}
	d.clause("on", w.On)
	for _, a := range w.Actions {
		d.line("when %c %s (%s) values (%s)", a.Matched, a.Do, strings.Join(a.Columns, ", "), d.list(a.Values))
		d.indent++
		d.clause("if", a.When)
		d.sets(a.Set)
		d.indent--
	}
	d.indent--
}

func (d *dumper) sets(list []Assign) {
	for _, a := range list {
		d.line("set %s = %s", a.Column, d.expr(a.Value))
	}
}

func (d *dumper) list(list []*Expr) string {
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, d.expr(e))
	}
	return strings.Join(out, ", ")
}

func (d *dumper) utility(u *Utility) {
	d.line("utility %s %s%s", u.Kind, u.Verb, when(u.Name != "", " "+u.Name))
	d.indent++
	if len(u.Tables) > 0 {
		d.line("tables %s", strings.Join(u.Tables, ", "))
	}
	if len(u.Missing) > 0 {
		d.line("missing %s", strings.Join(u.Missing, ", "))
	}
	if u.Temp {
		d.line("temp")
	}
	if u.Write {
		d.line("write")
	}
	if len(u.Columns) > 0 {
		d.line("columns %s", strings.Join(u.Columns, ", "))
	}
	if len(u.Flags) > 0 {
		d.line("flags %s", strings.Join(u.Flags, ", "))
	}
	for _, a := range u.Actions {
		d.action(&a)
	}
	if len(u.Args) > 0 {
		d.line("args %s", d.list(u.Args))
	}
	d.indent--
}

func (d *dumper) action(a *Action) {
	text := a.Kind
	add := func(name, v string) { text += when(v != "", " "+name+"="+v) }
	add("column", a.Column)
	add("columns", strings.Join(a.Columns, ","))
	if a.Exprs > 0 {
		add("exprs", fmt.Sprint(a.Exprs))
	}
	add("type", a.Type)
	add("ref", a.RefTable)
	add("refcolumns", strings.Join(a.RefColumns, ","))
	add("ondelete", strings.ReplaceAll(a.OnDelete, " ", "_"))
	add("onupdate", strings.ReplaceAll(a.OnUpdate, " ", "_"))
	add("set", strings.Join(a.SetColumns, ","))
	add("equal", strings.Join(a.Equal, ","))
	add("table", a.Table)
	d.line("action %s%s", text, when(a.Partial, " partial"))
}
