package prove

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// Drawer turns templates, which hold no values, into statements with values that occur in the laboratory's data. The same seed gives the same
// statements in the same order.
type Drawer struct {
	lab     *Lab
	planner *planner.Planner
	samples func(table, column string) []string
	rng     *rand.Rand
}

// NewDrawer makes a drawer over a laboratory's data; samples are Lab.Samples.
func NewDrawer(l *Lab, p *planner.Planner, samples func(table, column string) []string, seed uint64) *Drawer {
	return &Drawer{lab: l, planner: p, samples: samples, rng: rand.New(rand.NewPCG(seed, 1))}
}

// slotUse is what a slot's value is compared with or turned into.
type slotUse struct {
	columns [][2]string // table, column
	typ     string
}

// Draw gives n statements of a template; fewer if it has no values to draw.
func (d *Drawer) Draw(id string, tmpl *sqltext.Template, path []string, n int) []Statement {
	st := resolve.Statement(tmpl, d.lab.cfg.Catalog, resolve.Options{SearchPath: path})
	uses := d.uses(st, len(tmpl.Slots))
	setup := ""
	if path != nil {
		names := make([]string, len(path))
		for i, p := range path {
			names[i] = pgx.Identifier{p}.Sanitize()
		}
		setup = "SET search_path = " + strings.Join(names, ", ")
	}
	if len(tmpl.Slots) == 0 {
		n = min(n, 1)
	}
	var list []Statement
	for i := range n {
		q := d.fill(tmpl, uses)
		q.Setup = setup
		list = append(list, Statement{ID: fmt.Sprintf("%s/%d", id, i+1), Question: q})
	}
	return list
}

// uses finds what the slots of a statement are compared with.
func (d *Drawer) uses(st *facts.Statement, n int) []slotUse {
	uses := make([]slotUse, n)
	for _, s := range planner.ValueSlots(st, d.lab.cfg.Catalog) {
		u := &uses[s.Slot-1]
		u.columns, u.typ = append(u.columns, [2]string{s.Table, s.Column}), s.Type
	}
	if st.Query == nil {
		return uses
	}
	tables := map[int]string{}
	facts.Walk(st.Query, func(s *facts.Source) bool {
		if s.Table != "" {
			tables[s.ID] = s.Table
		}
		return true
	}, func(*facts.Expr) bool { return true })
	facts.Walk(st.Query, func(*facts.Source) bool { return true }, func(e *facts.Expr) bool {
		if e.Slot > 0 && e.Slot <= n && e.Type != "" && uses[e.Slot-1].typ == "" {
			uses[e.Slot-1].typ = e.Type
		}
		d.compared(e, tables, uses)
		return true
	})
	return uses
}

// compared notes the plain columns that stand beside a slot in an operation.
func (d *Drawer) compared(e *facts.Expr, tables map[int]string, uses []slotUse) {
	var columns [][2]string
	var slots []int
	for _, a := range e.Args {
		for a.Op == facts.Cast && len(a.Args) == 1 {
			a = a.Args[0]
		}
		if a.Slot > 0 {
			slots = append(slots, a.Slot)
		}
		r := d.lab.cfg.Catalog.Relations[tables[a.Source]]
		if a.Op == facts.Column && !a.System && r != nil && a.Col >= 0 && a.Col < len(r.Columns) {
			columns = append(columns, [2]string{tables[a.Source], r.Columns[a.Col].Name})
		}
	}
	for _, s := range slots {
		if s <= len(uses) && len(uses[s-1].columns) == 0 {
			uses[s-1].columns = columns
		}
	}
}

var slotMark = regexp.MustCompile(`"(?:[^"]|"")*"|'\$(\d+)'|\$(\d+)`)

// fill writes a value into each slot: a parameter stays one.
func (d *Drawer) fill(tmpl *sqltext.Template, uses []slotUse) planner.Question {
	var q planner.Question
	values := map[int]string{} // by Slot.Bind
	params := map[int]int{}    // number by Slot.Bind
	last := 0
	var out strings.Builder
	for _, m := range slotMark.FindAllStringSubmatchIndex(tmpl.Text, -1) {
		quoted := m[2] >= 0
		at := m[2:4]
		if !quoted {
			at = m[4:6]
		}
		if at[0] < 0 {
			continue
		}
		n, err := strconv.Atoi(tmpl.Text[at[0]:at[1]])
		if err != nil || n < 1 || n > len(tmpl.Slots) {
			continue
		}
		slot, use := tmpl.Slots[n-1], uses[n-1]
		out.WriteString(tmpl.Text[last:m[0]])
		last = m[1]
		count := 1
		if slot.List && inList(tmpl.Text[:m[0]], tmpl.Text[m[1]:]) {
			count = 2 + d.rng.IntN(2)
		}
		for i := range count {
			if i > 0 {
				out.WriteString(", ")
			}
			v, known := values[slot.Bind]
			if !known || slot.Bind == 0 || slot.List {
				v = d.value(slot.Kind, use)
				if !slot.List {
					values[slot.Bind] = v
				}
			}
			switch {
			case slot.Kind != sqltext.Bind:
				out.WriteString(literal(slot.Kind, v, quoted))
			case params[slot.Bind] > 0 && !slot.List:
				fmt.Fprintf(&out, "$%d", params[slot.Bind])
			default:
				q.Params = append(q.Params, planner.Param{Type: declared(use.typ), Text: v})
				params[slot.Bind] = len(q.Params)
				fmt.Fprintf(&out, "$%d", len(q.Params))
			}
		}
	}
	out.WriteString(tmpl.Text[last:])
	q.SQL = out.String()
	return q
}

// inList tells a slot that stands alone in brackets: IN ($1), ARRAY[$1].
func inList(before, after string) bool {
	before, after = strings.TrimRight(before, " "), strings.TrimLeft(after, " ")
	in := strings.TrimRight(strings.TrimSuffix(before, "("), " ")
	return strings.HasSuffix(before, "(") && strings.HasSuffix(in, "in") && strings.HasPrefix(after, ")") ||
		strings.HasSuffix(before, "[") && strings.HasPrefix(after, "]")
}

// declared is the type that a client declares for a parameter: none where only the context tells.
func declared(typ string) string {
	if typ == "unknown" {
		return ""
	}
	return typ
}

// value draws one: of a column that the slot is compared with, or else any of its type.
func (d *Drawer) value(kind sqltext.Kind, use slotUse) string {
	for _, c := range use.columns {
		if texts := d.samples(c[0], c[1]); len(texts) > 0 {
			v := texts[min(d.rng.IntN(len(texts)), d.rng.IntN(len(texts)))]
			if strings.HasPrefix(use.typ, "_") {
				return `{"` + v + `"}`
			}
			return v
		}
	}
	small := strconv.Itoa(1 + d.rng.IntN(5))
	if strings.HasPrefix(use.typ, "_") {
		return "{}"
	}
	switch use.typ {
	case "int2", "int4", "int8", "oid", "numeric", "float4", "float8", "money":
		return small
	case "bool":
		return "true"
	case "timestamptz", "timestamp", "date":
		return "2024-02-0" + small
	case "time", "timetz":
		return "10:0" + small
	case "interval":
		return small + " days"
	case "uuid":
		return "00000000-0000-4000-8000-00000000000" + small
	case "json", "jsonb":
		return "{}"
	case "bytea":
		return `\x0` + small
	case "inet", "cidr":
		return "10.0.0." + small
	}
	if kind == sqltext.Int || kind == sqltext.BigInt || kind == sqltext.Numeric {
		return small
	}
	return "a" + small
}

// literal writes a value as a literal of a kind.
func literal(kind sqltext.Kind, v string, quoted bool) string {
	_, err := strconv.ParseInt(v, 10, 64)
	switch {
	case quoted || kind == sqltext.String:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case kind == sqltext.Int, kind == sqltext.BigInt:
		if err != nil {
			return "1"
		}
		return v
	case kind == sqltext.Numeric:
		if err == nil {
			return v + ".0"
		}
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			return v
		}
		return "1.5"
	}
	return "B'1'"
}
