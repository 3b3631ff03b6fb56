package reports

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/foreshard/foreshard/analysis"
)

// How much of each list a pull request comment or a wiki page gets.
const (
	mdReasons = 10
	mdTop     = 3
	mdRows    = 20
)

// WriteMarkdown writes the report as GitHub-flavoured Markdown: headings, tables, statements in fenced code.
func WriteMarkdown(w io.Writer, r *analysis.Report, o Options) error {
	rows := o.Queries
	if rows == 0 {
		rows = mdRows
	}
	buf := bufio.NewWriter(w)
	m := &mdWriter{w: buf, rows: rows}
	m.report(NewView(r))
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write Markdown report: %w", err)
	}
	return nil
}

// mdWriter draws a View; its errors stay in the buffered writer until Flush.
type mdWriter struct {
	w    *bufio.Writer
	rows int
}

// mdSpecial are the characters that Markdown, HTML or a forge gives a meaning. As numeric references they are only themselves, in tables too.
var mdSpecial = regexp.MustCompile("[\\\\`*_{}\\[\\]()<>&#+!|~@$=\"']|^[-:.\\d]")

// esc escapes cleaned text for running text and table cells. A reference cannot start a mention, a link, a row or a tag.
func esc(s string) string {
	return mdSpecial.ReplaceAllStringFunc(s, func(c string) string { return fmt.Sprintf("&#%d;", c[0]) })
}

// prose escapes sentences of our own that hold captured names; quotes, brackets and digits stay readable.
func prose(s string) string {
	s = proseSpecial.ReplaceAllStringFunc(s, func(c string) string { return fmt.Sprintf("&#%d;", c[0]) })
	return edgeUnderscore.ReplaceAllStringFunc(s, func(c string) string { return strings.ReplaceAll(c, "_", "&#95;") })
}

var (
	proseSpecial = regexp.MustCompile("[\\\\`*{}\\[\\]<>&#|~@$]")
	// edgeUnderscore is an underscore at the edge of a word, which may start emphasis; one inside a word never does.
	edgeUnderscore = regexp.MustCompile(`\b_+|_+\b`)
)

// plainCode is what may stand between single backticks anywhere.
var plainCode = regexp.MustCompile(`^[A-Za-z0-9_./:@ $,=()-]+$`)

// code marks a captured name as code.
func code(s string) string {
	if s == "" {
		return ""
	}
	if plainCode.MatchString(s) && strings.TrimSpace(s) == s {
		return "`" + s + "`"
	}
	return "<code>" + esc(s) + "</code>"
}

func codes(names []string, max int) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = code(n)
	}
	return join(out, max)
}

func (m *mdWriter) printf(format string, args ...any) {
	for _, l := range strings.SplitAfter(fmt.Sprintf(format, args...), "\n") {
		m.w.WriteString(guard(l))
	}
}

// table writes a table; align is one character per column, l or r. Cells are already escaped.
func (m *mdWriter) table(align string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	m.printf("| %s |\n|", strings.Join(head, " | "))
	for _, a := range align {
		if a == 'r' {
			m.printf("---:|")
		} else {
			m.printf("---|")
		}
	}
	m.printf("\n")
	for _, r := range rows[:min(len(rows), m.rows)] {
		m.printf("| %s |\n", strings.Join(r, " | "))
	}
	m.printf("\n")
	if len(rows) > m.rows {
		m.printf("… and %s more; `--format json` or `html` has all.\n\n", Count(int64(len(rows)-m.rows)))
	}
}

// fence writes a statement as a code block whose fence is longer than any run of backticks inside it.
func (m *mdWriter) fence(sql string) {
	longest, run := 0, 0
	for _, r := range sql {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	mark := strings.Repeat("`", max(3, longest+1))
	m.printf("%ssql\n%s\n%s\n\n", mark, sql, mark)
}

func (m *mdWriter) report(v *View) {
	m.printf("# Shard readiness\n\n")
	for _, c := range v.Candidates {
		m.printf("**%s**\n\n", prose(c.Headline))
	}
	for _, s := range v.Thin {
		m.printf("> ⚠️ %s\n>\n", prose(s))
	}
	if len(v.Thin) > 0 {
		m.printf("\n")
	}
	m.printf("## Evidence\n\n")
	var rows [][]string
	for _, f := range v.Evidence {
		value := f.Value
		if f.Warn {
			value = "⚠️ " + value
		}
		rows = append(rows, []string{f.Label, value, prose(f.Note)})
	}
	m.table("lrl", []string{"", "", ""}, rows)
	m.coverage(v)
	m.compare(v)
	for i := range v.Candidates {
		m.candidate(&v.Candidates[i])
	}
}

func (m *mdWriter) compare(v *View) {
	if len(v.Compare) == 0 {
		return
	}
	m.printf("## Candidates side by side\n\n")
	head, align := []string{""}, "l"
	for _, c := range v.Candidates {
		head = append(head, code(c.Name))
		align += "r"
	}
	var rows [][]string
	for _, r := range v.Compare {
		row := []string{r.Label}
		for _, c := range r.Cells {
			if c.Best {
				row = append(row, "**"+c.Value+"**")
			} else {
				row = append(row, c.Value)
			}
		}
		rows = append(rows, row)
	}
	m.table(align, head, rows)
	m.printf("### What depends on the candidate\n\n%s.\n\n", prose(v.FlipLine))
	rows = nil
	for _, f := range v.Flips {
		row := []string{code(short(f.ID)), f.Calls}
		for _, c := range f.Cells {
			row = append(row, c.Mark.Icon+" "+c.Class)
		}
		rows = append(rows, append(row, code(cut(f.SQL, 160))))
	}
	m.table("lr"+align[1:]+"l", append(append([]string{"template", "calls"}, head[1:]...), "statement"), rows)
}

func (m *mdWriter) candidate(c *CandidateView) {
	m.printf("## Candidate %s\n\n", code(c.Name))
	m.printf("Dialect %s, candidate hash %s.\n\n", code(c.Dialect), code(c.Hash))
	for _, f := range c.Findings {
		m.printf("- %s %s\n", f.Mark.Icon, prose(f.Text))
	}
	if len(c.Findings) > 0 {
		m.printf("\n")
	}
	m.shares("Readiness", c.Readiness, true)
	m.shares("Classes", c.Classes, false)
	m.unlogged(c.Unlogged)
	m.printf("### Transactions\n\n%s.\n\n", prose(c.TransactionLine))
	var rows [][]string
	for _, r := range c.Transactions {
		rows = append(rows, []string{r.Mark.Icon + " " + r.Label, r.Measure.Value, r.Measure.Share})
	}
	m.table("lrr", []string{"", "transactions", "share"}, rows)
	m.printf("### Cross-colo joins\n\n%s.\n\n", prose(c.CrossColoLine))
	rows = nil
	for _, p := range c.Pairs {
		rows = append(rows, []string{code(p.Left), code(p.Right), p.Calls.Value, p.Calls.Share, p.Time.Value, p.Templates})
	}
	m.table("llrrrr", []string{"table", "joined with", "calls", "share", "time", "templates"}, rows)
	m.reasons(c.Reasons)
	m.lists(c)
	m.writes(c.Writes)
	m.loss(&c.Loss)
}

func (m *mdWriter) loss(v *LossView) {
	m.printf("### What the schema would lose\n\n%s.\n\n", prose(v.Line))
	var rows [][]string
	for _, g := range v.Groups {
		for _, f := range g.Findings {
			rows = append(rows, []string{f.Mark.Icon + " " + f.Mark.Word, code(g.Table), code(f.Object), f.Line, prose(f.Why), code(f.Repair)})
		}
	}
	m.table("llllll", []string{"", "table", "object", "where", "what is lost", "repair"}, rows)
}

func (m *mdWriter) shares(title string, list []ShareRow, icons bool) {
	m.printf("### %s\n\n", title)
	var rows [][]string
	for _, r := range list {
		name := code(r.Key)
		if icons {
			name = r.Mark.Icon + " " + r.Mark.Word
		}
		rows = append(rows, []string{name, r.Calls.Value, r.Calls.Share, r.Time.Value, r.Time.Share, r.Templates.Value, r.Templates.Share, r.Meaning})
	}
	m.table("lrrrrrrl", []string{"", "calls", "", "time", "", "templates", "", ""}, rows)
}

func (m *mdWriter) reasons(list []ReasonView) {
	m.printf("### What stands in the way\n\n")
	if len(list) == 0 {
		m.printf("Nothing.\n\n")
		return
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{code(r.Code), prose(r.Short), r.Calls.Value, r.Calls.Share, r.Time.Value, r.Templates})
	}
	m.table("llrrrr", []string{"code", "reason", "calls", "share", "time", "templates"}, rows)
	for _, r := range list[:min(len(list), mdReasons)] {
		m.printf("<details><summary>%s: the busiest templates</summary>\n\n", esc(r.Short))
		if r.Hint != "" {
			m.printf("%s\n\n", prose(r.Hint))
		}
		for _, q := range r.Top[:min(len(r.Top), mdTop)] {
			m.printf("%s %s: %s, %s, %s", q.Mark.Icon, code(short(q.ID)), code(q.Class), calls(q.Calls), q.Time.Value)
			for _, part := range []struct{ what, names string }{{"tables", codes(q.Tables, 5)}, {"team", codes(q.Teams, 3)}, {"endpoint", codes(q.Endpoints, 3)}} {
				if part.names != "" {
					m.printf("; %s %s", part.what, part.names)
				}
			}
			m.printf("\n\n")
			m.fence(q.Line)
			for _, f := range q.Fixes[:min(len(q.Fixes), 1)] {
				m.printf("fix: %s; then %s: %s\n\n", prose(f.Change), code(f.Then), prose(f.Terms))
			}
		}
		m.printf("</details>\n\n")
	}
}

func (m *mdWriter) lists(c *CandidateView) {
	var rows [][]string
	for _, t := range c.Tables {
		rows = append(rows, []string{code(t.Table), t.Placement, code(t.Where), t.Calls.Value, t.Calls.Share, t.Ready, t.Templates})
	}
	if len(rows) > 0 {
		m.printf("### Tables\n\n")
		m.table("lllrrrr", []string{"table", "placement", "colo and key", "calls", "share", "ready", "templates"}, rows)
	}
	rows = nil
	for _, t := range c.Teams {
		name := t.Team
		if t.Known {
			name = code(name)
		}
		rows = append(rows, []string{name, t.Calls.Value, t.Calls.Share, t.Ready, t.ReadyTemplates, t.Templates})
	}
	if len(rows) > 0 {
		m.printf("### Teams\n\n")
		m.table("lrrrrr", []string{"team", "calls", "share", "ready by calls", "ready by templates", "templates"}, rows)
	}
	rows = nil
	for _, s := range c.Skew {
		rows = append(rows, []string{code(s.Colo), s.Shards, s.Calls, s.Max, s.Even, s.Ratio})
	}
	if len(rows) > 0 {
		m.printf("### Shard load\n\n")
		m.table("lrrrrr", []string{"colo", "shards", "calls", "busiest shard", "even share", "over mean"}, rows)
	}
}
