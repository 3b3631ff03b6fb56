package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/foreshard/foreshard/analysis"
)

// How much of each list a terminal gets; the rest is counted.
const (
	textReasons  = 10
	textTop      = 3
	textPairs    = 8
	textTables   = 12
	textTeams    = 10
	textFlips    = 12
	textLosses   = 8 // tables
	textLost     = 4 // objects of each
	defaultWidth = 100
	minWidth     = 40
)

// WriteText writes the report for a terminal.
func WriteText(w io.Writer, r *analysis.Report, o Options) error {
	buf := bufio.NewWriter(w)
	width := o.Width
	if width == 0 {
		width = defaultWidth
	}
	t := &textWriter{w: buf, width: max(minWidth, width), color: o.Color}
	t.report(NewView(r))
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write text report: %w", err)
	}
	return nil
}

// textWriter draws a View; its errors stay in the buffered writer until Flush.
type textWriter struct {
	w     *bufio.Writer
	width int
	color bool
}

// ANSI attributes.
const (
	bold = "1"
	dim  = "2"
)

func markColor(m Mark) string {
	switch m.Key {
	case "ready":
		return "32"
	case "costly":
		return "33"
	case "blocked":
		return "31"
	}
	if m.Key == "note" {
		return "36"
	}
	return "35"
}

func (t *textWriter) paint(code, s string) string {
	if !t.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *textWriter) line(s string) {
	t.w.WriteString(guard(strings.TrimRight(s, " ")))
	t.w.WriteByte('\n')
}

// para writes text wrapped to the width, with a prefix before the first line and blanks before the others.
func (t *textWriter) para(prefix, code, text string) {
	indent := strings.Repeat(" ", columns(prefix))
	for i, l := range wrap(text, t.width-columns(prefix)) {
		p := indent
		if i == 0 {
			p = prefix
			if code != "" {
				p = t.paint(code, prefix)
			}
		}
		t.line(p + l)
	}
}

func (t *textWriter) heading(s string) {
	t.line("")
	t.line(t.paint(bold, strings.ToUpper(s)))
}

func (t *textWriter) more(shown, all int, what string) {
	if all > shown {
		t.line(t.paint(dim, fmt.Sprintf("  … %s %s; --format json or html has all", Count(int64(all-shown)), what)))
	}
}

func (t *textWriter) report(v *View) {
	for i := range v.Candidates {
		for j, l := range wrap(v.Candidates[i].Headline, t.width) {
			if i+j == 0 {
				l = strings.ToUpper(l[:1]) + l[1:]
			}
			t.line(t.paint(bold, l))
		}
	}
	for _, s := range v.Thin {
		t.para("! ", "33", s)
	}
	t.heading("Evidence")
	label, value := 0, 0
	for _, f := range v.Evidence {
		label, value = max(label, columns(f.Label)), max(value, columns(f.Value))
	}
	for _, f := range v.Evidence {
		prefix := "  "
		if f.Warn {
			prefix = "! "
		}
		code := ""
		if f.Warn {
			code = "33"
		}
		t.para(prefix+pad(f.Label, label)+"  "+pad(f.Value, value)+"  ", code, f.Note)
	}
	t.coverage(v)
	if len(v.Compare) > 0 {
		t.compare(v)
	}
	for i := range v.Candidates {
		t.candidate(&v.Candidates[i])
	}
}

func (t *textWriter) candidate(c *CandidateView) {
	t.line("")
	rule := "── " + c.Name + " · dialect " + c.Dialect + " "
	t.line(t.paint(bold, rule+strings.Repeat("─", max(0, t.width-columns(rule)))))
	for _, f := range c.Findings {
		t.para(f.Mark.Icon+" ", markColor(f.Mark), f.Text)
	}
	t.shares("Readiness", c.Readiness, true)
	t.shares("Classes", c.Classes, false)
	t.unlogged(c.Unlogged)
	t.heading("Transactions")
	t.para("  ", "", c.TransactionLine)
	tab := table{cols: []col{{}, {right: true}, {right: true}}}
	for _, r := range c.Transactions {
		tab.add(cell{r.Mark.Icon + " " + r.Label, markColor(r.Mark)}, cell{s: r.Measure.Value}, cell{s: r.Measure.Share})
	}
	t.table(tab)
	t.heading("Cross-colo joins")
	t.para("  ", "", c.CrossColoLine)
	t.pairs(c.Pairs)
	t.reasons(c.Reasons)
	t.tables(c.Tables)
	t.teams(c.Teams)
	t.skew(c.Skew)
	t.writes(c.Writes)
	t.loss(&c.Loss)
}

func (t *textWriter) loss(v *LossView) {
	t.heading("What the schema would lose")
	t.para("  ", "", v.Line)
	for _, g := range v.Groups[:min(len(v.Groups), textLosses)] {
		t.para("  ", "", t.paint(bold, g.Table)+t.paint(dim, " · "+g.Counts))
		for _, f := range g.Findings[:min(len(g.Findings), textLost)] {
			t.para("    "+f.Mark.Icon+" ", markColor(f.Mark), strings.TrimSpace(f.Object+" "+paren(f.Line))+": "+f.Why)
			if f.Repair != "" {
				t.para("      → ", "36", f.Repair)
			}
		}
		t.more(textLost, len(g.Findings), "more objects of "+g.Table)
	}
	t.more(textLosses, len(v.Groups), "more tables")
}

func paren(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func (t *textWriter) shares(title string, rows []ShareRow, icons bool) {
	t.heading(title)
	drop := 100
	if icons {
		drop = 132 // the meanings of readiness are longer
	}
	value := col{right: true, drop: 78}
	tab := table{head: []string{"", "calls", "", "time", "", "templates", "", ""}, cols: []col{
		{}, {right: true}, value, {right: true}, value, {right: true}, value, {flex: true, drop: drop},
	}}
	for _, r := range rows {
		name := r.Key
		if icons {
			name = r.Mark.Icon + " " + r.Mark.Word
		}
		tab.add(cell{name, markColor(r.Mark)}, cell{s: r.Calls.Share}, cell{s: r.Calls.Value}, cell{s: r.Time.Share}, cell{s: r.Time.Value},
			cell{s: r.Templates.Share}, cell{s: r.Templates.Value}, cell{r.Meaning, dim})
	}
	t.table(tab)
}

func (t *textWriter) pairs(pairs []PairView) {
	tab := table{head: []string{"tables", "calls", "", "time", "templates"}, cols: []col{{flex: true}, {right: true}, {right: true}, {right: true}, {right: true}}}
	for _, p := range pairs[:min(len(pairs), textPairs)] {
		tab.add(cell{s: p.Left + " ⋈ " + p.Right}, cell{s: p.Calls.Value}, cell{s: p.Calls.Share}, cell{s: p.Time.Value}, cell{s: p.Templates})
	}
	if len(pairs) > 0 {
		t.table(tab)
	}
	t.more(textPairs, len(pairs), "more pairs")
}

func (t *textWriter) reasons(list []ReasonView) {
	t.heading("What stands in the way")
	if len(list) == 0 {
		t.line("  nothing")
	}
	for _, r := range list[:min(len(list), textReasons)] {
		t.para("  ", "", t.paint(bold, r.Short)+t.paint(dim, " ("+r.Code+")"))
		t.para("    ", "", fmt.Sprintf("%s (%s) · %s (%s) · %s", calls(r.Calls), r.Calls.Share, r.Time.Value, r.Time.Share, plural(r.TemplatesN, "template", "templates")))
		if r.Hint != "" {
			t.para("    → ", "36", r.Hint)
		}
		for _, q := range r.Top[:min(len(r.Top), textTop)] {
			t.query(q)
		}
	}
	t.more(textReasons, len(list), "more reasons")
}

// query is one template below a reason: what it does, who sends it, the statement in at most two lines.
func (t *textWriter) query(q *QueryView) {
	head := fmt.Sprintf("%s %s · %s · %s", short(q.ID), q.Class, calls(q.Calls), q.Time.Value)
	for _, part := range []struct{ what, names string }{{"tables", join(q.Tables, 3)}, {"team", join(q.Teams, 2)}, {"endpoint", join(q.Endpoints, 2)}} {
		if part.names != "" {
			head += " · " + part.what + " " + part.names
		}
	}
	t.para("    "+q.Mark.Icon+" ", markColor(q.Mark), head)
	const gutter = "      │ "
	sql := wrap(q.Line, t.width-columns(gutter))
	for i, l := range sql[:min(len(sql), 2)] {
		if i == 1 && len(sql) > 2 {
			l = fit(l+" …", t.width-columns(gutter))
			if !strings.HasSuffix(l, "…") {
				l = fit(l, t.width-columns(gutter)-1) + "…"
			}
		}
		t.line(t.paint(dim, gutter) + l)
	}
	for _, f := range q.Fixes[:min(len(q.Fixes), 1)] {
		t.para("      fix: ", "36", f.Change+"; then "+f.Then)
	}
}

func (t *textWriter) tables(list []TableView) {
	if len(list) == 0 {
		return
	}
	t.heading("Tables")
	tab := table{head: []string{"table", "placement", "colo and key", "calls", "", "ready", "templates"}, cols: []col{
		{flex: true}, {}, {flex: true, drop: 80}, {right: true}, {right: true}, {right: true}, {right: true},
	}}
	for _, r := range list[:min(len(list), textTables)] {
		tab.add(cell{s: r.Table}, cell{s: r.Placement}, cell{s: r.Where}, cell{s: r.Calls.Value}, cell{s: r.Calls.Share}, cell{s: r.Ready}, cell{s: r.Templates})
	}
	t.table(tab)
	t.more(textTables, len(list), "more tables")
}

func (t *textWriter) teams(list []TeamView) {
	if len(list) == 0 {
		return
	}
	t.heading("Teams")
	tab := table{head: []string{"team", "calls", "", "ready by calls", "by templates", "templates"}, cols: []col{
		{flex: true}, {right: true}, {right: true}, {right: true}, {right: true}, {right: true, drop: 72},
	}}
	for _, r := range list[:min(len(list), textTeams)] {
		tab.add(cell{s: r.Team}, cell{s: r.Calls.Value}, cell{s: r.Calls.Share}, cell{s: r.Ready}, cell{s: r.ReadyTemplates}, cell{s: r.Templates})
	}
	t.table(tab)
	t.more(textTeams, len(list), "more teams")
}

func (t *textWriter) skew(list []SkewView) {
	if len(list) == 0 {
		return
	}
	t.heading("Shard load")
	tab := table{head: []string{"colo", "shards", "calls", "busiest shard", "even share", "over mean"}, cols: []col{
		{flex: true}, {right: true}, {right: true}, {right: true}, {right: true}, {right: true},
	}}
	for _, r := range list {
		code := ""
		if r.Warn {
			code = "33"
		}
		tab.add(cell{s: r.Colo}, cell{s: r.Shards}, cell{s: r.Calls}, cell{s: r.Max}, cell{s: r.Even}, cell{r.Ratio, code})
	}
	t.table(tab)
}

func (t *textWriter) compare(v *View) {
	t.heading("Candidates side by side")
	tab := table{head: []string{""}, cols: []col{{}}}
	for _, c := range v.Candidates {
		tab.head = append(tab.head, c.Name)
		tab.cols = append(tab.cols, col{right: true, flex: true})
	}
	for _, r := range v.Compare {
		row := []cell{{s: r.Label}}
		for _, c := range r.Cells {
			s, code := c.Value, ""
			if c.Best {
				s, code = "* "+s, bold
			}
			row = append(row, cell{s, code})
		}
		tab.add(row...)
	}
	t.table(tab)
	t.line(t.paint(dim, "  * the better value"))
	t.heading("What depends on the candidate")
	t.para("  ", "", v.FlipLine)
	for _, f := range v.Flips[:min(len(v.Flips), textFlips)] {
		head := short(f.ID) + " · " + plural(f.CallsN, "call", "calls")
		for i, c := range f.Cells {
			head += " · " + v.Candidates[i].Name + " " + t.paint(markColor(c.Mark), c.Mark.Icon+" "+c.Class)
		}
		t.para("  ", "", head)
		t.line(t.paint(dim, "    │ ") + fit(f.SQL, t.width-6))
	}
	t.more(textFlips, len(v.Flips), "more templates")
}
