package reports

import (
	"fmt"
	"time"

	"github.com/foreshard/foreshard/analysis"
)

// CoverageView is what servers' own counts say of the log, in words.
type CoverageView struct {
	Line      string   // the answer in one sentence
	Advice    string   // what would mend it; "" nothing to mend
	Notes     []string // how the numbers are meant
	Databases []CoverageRow
	Queries   []UnloggedView
	QueryLine string
}

// CoverageRow is one database.
type CoverageRow struct {
	Database, Calls, Logged, Share, Unlogged, Extra string
	Warn                                            bool
}

// UnloggedView is a template with calls that the log does not have.
type UnloggedView struct {
	ID, SQL, Databases      string
	Unlogged, Counted, Time string
	UnloggedN, CountedN     int64
	Cells                   []FlipCell // per candidate, in the order of View.Candidates
}

// UnloggedShares is what a candidate makes of the calls that the log does not have.
type UnloggedShares struct {
	Line string
	Rows []ShareRow
}

// wholeLog is the share of the calls from which on the log is taken for whole: a look is never at the same moment as a line of the log.
const wholeLog = 0.99

// coverageView puts a coverage into words.
func coverageView(r *analysis.Report) *CoverageView {
	c := r.Coverage
	if c == nil {
		return nil
	}
	v := &CoverageView{}
	servers := plural(int64(len(c.Sources)), "server", "servers")
	span := Span(seconds(c.Seconds))
	switch {
	case r.Basis == analysis.BasisStatistics:
		v.Line = fmt.Sprintf("there is no log: all numbers are what pg_stat_statements counted on %s over %s", servers, span)
		v.Advice = "follow the log too (run --log, capture --follow): these counts know no transactions, no sessions, no values and so no skew, no single durations, no teams, no search_path, and no statement that failed"
		if c.Unclear {
			v.Notes = append(v.Notes, insideFunctions)
		}
	case c.Unclear:
		v.Line = "whether the log is whole cannot be told: " + insideFunctions
	case c.Calls == 0 && c.Seconds == 0:
		v.Line = fmt.Sprintf("whether the log is whole is not known yet: it and the statistics of %s have no time in common", servers)
	case c.Calls == 0:
		v.Line = fmt.Sprintf("pg_stat_statements of %s counted no planned statement over %s", servers, span)
	default:
		most, least := "", ""
		if c.AtLeast {
			most, least = "at most ", "at least "
		}
		v.Line = fmt.Sprintf("the log has %s%s of the %s%s that pg_stat_statements counted on %s, over %s that both cover (%s of the log's time)",
			most, percent(float64(c.Logged), float64(c.Calls)), least, plural(c.Calls, "call", "calls"), servers, span, percent(c.WindowShare, 1))
		if c.Share < wholeLog {
			v.Advice = "the shares of this report are those of what was logged. To log everything: ALTER SYSTEM SET log_min_duration_statement = 0, and no sampling; foreshard doctor names the settings that hide statements now"
		}
		v.Notes = coverageNotes(c)
	}
	if c.AtLeast {
		v.Notes = append(v.Notes, "rows of pg_stat_statements were evicted, reset or hidden, so that there were more calls than it counted; pg_stat_statements.max and pg_read_all_stats mend it")
	}
	if c.OpaqueCalls > 0 {
		v.Notes = append(v.Notes, plural(c.OpaqueCalls, "call", "calls")+" that the server counted cannot be compared: the text cannot be read")
	}
	for _, d := range c.Databases {
		v.Databases = append(v.Databases, CoverageRow{Database: orDash(cut(line(d.Database), maxName)), Calls: Count(d.Calls), Logged: Count(d.Logged),
			Share: percent(float64(d.Logged), float64(d.Calls)), Unlogged: Count(d.Unlogged), Extra: Count(d.Extra), Warn: d.Calls > 0 && d.Share < wholeLog})
	}
	for i := range c.UnloggedFrom {
		v.Queries = append(v.Queries, unloggedView(&c.UnloggedFrom[i], r.Candidates))
	}
	if n := int64(len(v.Queries)); n > 0 {
		v.QueryLine = fmt.Sprintf("%s of %s %s not in the log. The verdicts hold for parameters of the types that the statements ask for", plural(c.Unlogged, "call", "calls"), plural(n, "template", "templates"), are(c.Unlogged))
	}
	return v
}

const insideFunctions = "pg_stat_statements.track = all counts calls inside functions too, and before PostgreSQL 14 they cannot be told apart; ALTER SYSTEM SET pg_stat_statements.track = 'top'"

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}

func coverageNotes(c *analysis.Coverage) []string {
	notes := []string{"compared are planned statements that did not fail; BEGIN, SET and the like are the log's alone, because servers from 14 on count those that are prepared by name once a session"}
	if c.Extra > 0 {
		notes = append(notes, plural(c.Extra, "call", "calls")+" of the log are beyond what the servers counted: of minutes that a look cuts in two, of other servers, or of rows that were evicted; they stand for no others")
	}
	if c.LoggedOpaque > 0 {
		notes = append(notes, plural(c.LoggedOpaque, "call", "calls")+" of the log have a text that was cut or cannot be read: as many of those that the log seems not to have may be these")
	}
	if c.InFunctions > 0 {
		notes = append(notes, plural(c.InFunctions, "call", "calls")+" with the text of a SQL function are left out: servers before 17 count what they run to fold a constant as if a client had sent it")
	}
	return notes
}

func unloggedView(q *analysis.UnloggedQuery, candidates []analysis.CandidateReport) UnloggedView {
	v := UnloggedView{ID: line(q.ID), SQL: cut(line(q.Text), maxLine), Databases: join(lines(q.Databases), 3), Unlogged: Count(q.Unlogged), UnloggedN: q.Unlogged,
		Counted: Count(q.Calls), CountedN: q.Calls, Time: millis(q.TimeMS)}
	for _, c := range candidates {
		v.Cells = append(v.Cells, FlipCell{markOf(q.Readiness[c.Name]), line(q.Class[c.Name])})
	}
	return v
}

// unloggedShares puts a candidate's unlogged calls into words; nil if there are none.
func unloggedShares(c *analysis.CandidateReport) *UnloggedShares {
	u := c.Unlogged
	if u == nil || u.Calls.Total == 0 {
		return nil
	}
	as := &analysis.CandidateReport{Calls: u.Calls, TimeMS: u.TimeMS, Templates: u.Templates}
	return &UnloggedShares{
		Line: fmt.Sprintf("%s of the %s that the server counted and the log does not have are ready; they are in no other number here",
			percent(u.Calls.ByReadiness["ready"], u.Calls.Total), plural(int64(u.Calls.Total), "call", "calls")),
		Rows: shareRows(as, readinessKeys(as), func(s *analysis.Share) map[string]float64 { return s.ByReadiness }, readinessMeaning, markOf),
	}
}

// byStatistics says of a headline that there is no log behind it.
func (c *CandidateView) byStatistics() {
	c.Rest += ", by what the server counted: there is no log"
	c.Headline = c.Big + " " + c.Rest
}

// callsFact is the fact of how much the numbers count: of a report without a log the calls that servers counted.
func callsFact(r *analysis.Report, log Fact) Fact {
	if r.Basis != analysis.BasisStatistics {
		return log
	}
	return Fact{Label: "calls counted", Value: Count(r.Coverage.Calls), Note: coverageView(r).Line, Warn: true}
}

// coverageFact is the coverage in the evidence strip.
func coverageFact(r *analysis.Report) (Fact, bool) {
	c, v := r.Coverage, coverageView(r)
	if v == nil || r.Basis == analysis.BasisStatistics {
		return Fact{}, false
	}
	f := Fact{Label: "log coverage", Value: "–", Note: v.Line, Warn: v.Advice != "" || c.Unclear}
	if c.Calls > 0 {
		f.Value = percent(float64(c.Logged), float64(c.Calls))
	}
	return f, true
}

func (t *textWriter) coverage(v *View) {
	c := v.Coverage
	if c == nil {
		return
	}
	t.heading("Coverage of the log")
	t.para("  ", "", c.Line)
	if c.Advice != "" {
		t.para("  ! ", "33", c.Advice)
	}
	for _, n := range c.Notes {
		t.para("  · ", dim, n)
	}
	if len(c.Databases) > 0 {
		tab := table{head: []string{"database", "counted", "logged", "", "unlogged", "beyond"}, cols: []col{
			{flex: true}, {right: true}, {right: true}, {right: true}, {right: true}, {right: true, drop: 72},
		}}
		for _, d := range c.Databases[:min(len(c.Databases), textTables)] {
			code := ""
			if d.Warn {
				code = "33"
			}
			tab.add(cell{s: d.Database}, cell{s: d.Calls}, cell{s: d.Logged}, cell{d.Share, code}, cell{s: d.Unlogged}, cell{s: d.Extra})
		}
		t.table(tab)
		t.more(textTables, len(c.Databases), "more databases")
	}
	if len(c.Queries) == 0 {
		return
	}
	t.para("  ", "", c.QueryLine)
	for _, q := range c.Queries[:min(len(c.Queries), textFlips)] {
		head := short(q.ID) + " · " + q.Unlogged + " of " + plural(q.CountedN, "call", "calls")
		for i, k := range q.Cells {
			head += " · " + v.Candidates[i].Name + " " + t.paint(markColor(k.Mark), k.Mark.Icon+" "+k.Class)
		}
		t.para("  ", "", head)
		t.line(t.paint(dim, "    │ ") + fit(q.SQL, t.width-6))
	}
	t.more(textFlips, len(c.Queries), "more templates")
}

func (t *textWriter) unlogged(u *UnloggedShares) {
	if u == nil {
		return
	}
	t.shares("Calls that the log does not have", u.Rows, true)
	t.para("  ", "", u.Line)
}

func (m *mdWriter) coverage(v *View) {
	c := v.Coverage
	if c == nil {
		return
	}
	m.printf("## Coverage of the log\n\n%s.\n\n", prose(c.Line))
	if c.Advice != "" {
		m.printf("> ⚠️ %s\n\n", prose(c.Advice))
	}
	for _, n := range c.Notes {
		m.printf("- %s\n", prose(n))
	}
	if len(c.Notes) > 0 {
		m.printf("\n")
	}
	var rows [][]string
	for _, d := range c.Databases {
		share := d.Share
		if d.Warn {
			share = "⚠️ " + share
		}
		rows = append(rows, []string{code(d.Database), d.Calls, d.Logged, share, d.Unlogged, d.Extra})
	}
	m.table("lrrrrr", []string{"database", "counted", "logged", "share", "unlogged", "beyond"}, rows)
	if len(c.Queries) == 0 {
		return
	}
	m.printf("%s.\n\n", prose(c.QueryLine))
	head, align := []string{"template", "unlogged", "counted", "time"}, "lrrr"
	for _, k := range v.Candidates {
		head = append(head, code(k.Name))
		align += "l"
	}
	rows = nil
	for _, q := range c.Queries {
		row := []string{code(short(q.ID)), q.Unlogged, q.Counted, q.Time}
		for _, k := range q.Cells {
			row = append(row, k.Mark.Icon+" "+k.Class)
		}
		rows = append(rows, append(row, code(cut(q.SQL, 160))))
	}
	m.table(align+"l", append(head, "statement"), rows)
}

func (m *mdWriter) unlogged(u *UnloggedShares) {
	if u == nil {
		return
	}
	m.shares("Calls that the log does not have", u.Rows, true)
	m.printf("%s.\n\n", prose(u.Line))
}
