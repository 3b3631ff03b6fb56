package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/foreshard/foreshard/analysis"
)

// maxLine is how many characters of a statement stand on one line of a table.
const maxLine = 600

// maxName is how many characters of a name are shown: PostgreSQL's own are at most 63 bytes, twice that with a schema.
const maxName = 128

// queries are the templates, those that are not ready first, then by calls.
func queries(c *analysis.CandidateReport) []QueryView {
	list := slices.Clone(c.Queries)
	slices.SortStableFunc(list, func(a, b analysis.QueryReport) int {
		return cmp.Or(cmp.Compare(rank(a.Readiness), rank(b.Readiness)), cmp.Compare(b.Calls, a.Calls), strings.Compare(a.ID, b.ID))
	})
	out := make([]QueryView, 0, len(list))
	for i := range list {
		out = append(out, queryView(&list[i], c))
	}
	return out
}

func rank(readiness string) int {
	if readiness == "ready" {
		return 1
	}
	return 0
}

func queryView(q *analysis.QueryReport, c *analysis.CandidateReport) QueryView {
	v := QueryView{
		ID: line(q.ID), Line: cut(line(q.Text), maxLine), Class: line(q.Class), Mark: markOf(q.Readiness),
		Features: lines(q.Features), Tables: lines(q.Tables), Teams: lines(q.Teams), Endpoints: lines(q.Endpoints), Apps: lines(q.Apps),
		Calls: measure(Count(q.Calls), float64(q.Calls), c.Calls.Total), Time: measure(millis(q.TimeMS), q.TimeMS, c.TimeMS.Total),
		Errors: Count(q.Errors), P95: millis(q.P95MS), P95N: q.P95MS, Mean: "–", LayoutDependent: q.LayoutDependent,
	}
	if q.TimeMS == 0 {
		v.P95 = "–"
	} else if q.Calls > 0 {
		v.Mean = millis(q.TimeMS / float64(q.Calls))
	}
	at := -1
	for _, r := range q.Reasons {
		v.Reasons = append(v.Reasons, QueryReasonView{line(r.Code), cut(line(r.Message), maxLine), cut(line(r.Hint), maxLine)})
		if at < 0 && r.Position >= 0 && r.Position < len(q.Text) {
			at = r.Position
		}
	}
	for _, f := range q.Fixes {
		v.Fixes = append(v.Fixes, FixView{cut(line(f.Change), maxLine), line(string(f.Class)), cut(line(f.Semantics), maxLine), cut(visible(f.SQL), maxSQL), cut(visible(f.Candidate), maxSQL)})
	}
	v.SQL, v.Span = display(q.Text, at)
	return v
}

// display cleans and cuts a statement for a page, and finds the token at byte position at (-1 none) in the cleaned text.
func display(text string, at int) (string, [2]int) {
	if at < 0 || !utf8.RuneStart(text[at]) {
		return cut(visible(text), maxSQL), [2]int{}
	}
	end := at
	for end < len(text) && tokenByte(text[end]) {
		end++
	}
	if end == at {
		_, n := utf8.DecodeRuneInString(text[at:])
		end = at + n
	}
	before, token := visible(text[:at]), visible(text[at:end])
	whole := cut(before+token+visible(text[end:]), maxSQL)
	if len(before)+len(token) > len(whole) || !strings.HasPrefix(whole, before+token) {
		return whole, [2]int{} // the place is in the part that was cut
	}
	return whole, [2]int{len(before), len(before) + len(token)}
}

// tokenByte says whether a byte goes on with a name, a parameter or a number.
func tokenByte(b byte) bool {
	return b == '_' || b == '.' || b == '$' || b == '"' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80
}

func reasons(c *analysis.CandidateReport, byID map[string]*QueryView) []ReasonView {
	list := slices.Clone(c.Reasons)
	slices.SortFunc(list, func(a, b analysis.ReasonReport) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(b.TimeMS, a.TimeMS), strings.Compare(a.Code, b.Code))
	})
	var out []ReasonView
	for _, r := range list {
		v := ReasonView{
			Code: line(r.Code), Short: cut(line(r.Short), 200), Hint: cut(line(r.Hint), maxLine), Templates: Count(r.Templates), TemplatesN: r.Templates,
			Calls: measure(Count(r.Calls), float64(r.Calls), c.Calls.Total), Time: measure(millis(r.TimeMS), r.TimeMS, c.TimeMS.Total),
		}
		if v.Short == "" {
			v.Short = label(v.Code)
		}
		if v.Code == outsideDialect {
			if needs := missingFeatures(c); len(needs) > 0 {
				v.Short = cut(v.Short+": "+join(needs, 3), 200)
			}
		}
		for _, id := range r.Top {
			if q := byID[line(id)]; q != nil {
				v.Top = append(v.Top, q)
			}
		}
		out = append(out, v)
	}
	return out
}

func tables(c *analysis.CandidateReport) []TableView {
	list := slices.Clone(c.Tables)
	slices.SortFunc(list, func(a, b analysis.TableReport) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Table, b.Table))
	})
	var out []TableView
	for _, t := range list {
		v := TableView{
			Table: cut(line(t.Table), maxName), Placement: line(t.Placement), Templates: Count(t.Templates), Mix: mix(t.ByReadiness, t.Calls),
			Calls: measure(Count(t.Calls), float64(t.Calls), c.Calls.Total), Time: measure(millis(t.TimeMS), t.TimeMS, c.TimeMS.Total),
			Ready: percent(float64(t.ByReadiness["ready"]), float64(t.Calls)),
		}
		if t.Colo != "" {
			v.Where = cut(line(t.Colo)+" by "+line(t.Key), maxName)
		}
		out = append(out, v)
	}
	return out
}

func teams(c *analysis.CandidateReport) []TeamView {
	list := slices.Clone(c.Teams)
	slices.SortFunc(list, func(a, b analysis.TeamReport) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Team, b.Team))
	})
	var out []TeamView
	for _, t := range list {
		v := TeamView{
			Team: cut(line(t.Team), maxName), Known: t.Team != "", Templates: Count(t.Templates), Mix: mix(t.ByReadiness, t.Calls),
			Calls:          measure(Count(t.Calls), float64(t.Calls), c.Calls.Total),
			Ready:          percent(float64(t.ByReadiness["ready"]), float64(t.Calls)),
			ReadyTemplates: percent(float64(t.TemplatesReady), float64(t.Templates)),
			TemplatesToDo:  t.Templates - t.TemplatesReady,
		}
		if !v.Known {
			v.Team = "no team given"
		}
		out = append(out, v)
	}
	return out
}

// mix is the readiness of some calls as the parts of a bar.
func mix(by map[string]int64, total int64) []Slice {
	var out []Slice
	for _, k := range readinessOrder {
		n := by[k]
		m := callsMeasure(n, total)
		out = append(out, Slice{markOf(k), m.Share, m.Fraction, float64(n)})
	}
	return out
}

// skewWarning is the ratio of the busiest shard to the mean above which a layout is called skewed. With hashed keys and many of them the ratio
// is near 1; twice the mean means a physical shard must be sized for double its share.
const skewWarning = 2

func skew(list []analysis.SkewReport) []SkewView {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b analysis.SkewReport) int { return strings.Compare(a.Colo, b.Colo) })
	var out []SkewView
	for _, s := range list {
		v := SkewView{
			Colo: cut(line(s.Colo), maxName), Shards: Count(int64(s.Shards)), Calls: Count(s.Calls), Max: percent(s.MaxShare, 1), Ratio: fmt.Sprintf("%.1f ×", s.MaxMean),
			Fraction: min(1, max(0, s.MaxShare)), Warn: s.MaxMean >= skewWarning, Even: "–",
		}
		if s.Shards > 0 {
			v.Even = percent(1, float64(s.Shards))
		}
		out = append(out, v)
	}
	return out
}

// compareRows sets the candidates side by side; the better value of a row is marked.
func compareRows(list []analysis.CandidateReport) []CompareRow {
	var out []CompareRow
	row := func(label string, mark *Mark, more bool, cell func(c *analysis.CandidateReport) (value, note string, score float64)) {
		r := CompareRow{Label: label, Mark: mark}
		scores := make([]float64, len(list))
		for i := range list {
			value, note, score := cell(&list[i])
			if !more {
				score = -score
			}
			scores[i] = score
			r.Cells = append(r.Cells, CompareCell{Value: value, Note: note})
		}
		best, worst := slices.Max(scores), slices.Min(scores)
		for i := range r.Cells {
			r.Cells[i].Best = best != worst && scores[i] == best
		}
		out = append(out, r)
	}
	for _, k := range readinessOrder {
		m := markOf(k)
		row(k+", by calls", &m, k == "ready", func(c *analysis.CandidateReport) (string, string, float64) {
			return percent(c.Calls.ByReadiness[k], c.Calls.Total), plural(int64(c.Calls.ByReadiness[k]), "call", "calls"), ratio(c.Calls.ByReadiness[k], c.Calls.Total)
		})
	}
	row("ready, by time", nil, true, func(c *analysis.CandidateReport) (string, string, float64) {
		return percent(c.TimeMS.ByReadiness["ready"], c.TimeMS.Total), millis(c.TimeMS.ByReadiness["ready"]), ratio(c.TimeMS.ByReadiness["ready"], c.TimeMS.Total)
	})
	row("ready, by templates", nil, true, func(c *analysis.CandidateReport) (string, string, float64) {
		n := c.Templates.ByReadiness["ready"]
		return percent(n, c.Templates.Total), Count(int64(n)) + " of " + Count(int64(c.Templates.Total)), ratio(n, c.Templates.Total)
	})
	for _, class := range []string{"single_shard", "scatter"} {
		row(label(class)+", by calls", nil, class == "single_shard", func(c *analysis.CandidateReport) (string, string, float64) {
			return percent(c.Calls.ByClass[class], c.Calls.Total), plural(int64(c.Calls.ByClass[class]), "call", "calls"), ratio(c.Calls.ByClass[class], c.Calls.Total)
		})
	}
	row("cross-colo joins, by calls", nil, false, func(c *analysis.CandidateReport) (string, string, float64) {
		return percent(float64(c.CrossColoJoins.Calls), c.Calls.Total), plural(c.CrossColoJoins.Templates, "template", "templates"), ratio(float64(c.CrossColoJoins.Calls), c.Calls.Total)
	})
	row("transactions on one shard", nil, true, func(c *analysis.CandidateReport) (string, string, float64) {
		t := c.Transactions
		return percent(float64(t.SingleShard), float64(t.Total)), Count(t.SingleShard) + " of " + Count(t.Total), ratio(float64(t.SingleShard), float64(t.Total))
	})
	row("multi-shard write transactions", nil, false, func(c *analysis.CandidateReport) (string, string, float64) {
		t := c.Transactions
		return percent(float64(t.MultiShardWrite), float64(t.Total)), plural(t.MultiShardWrite, "transaction", "transactions"), ratio(float64(t.MultiShardWrite), float64(t.Total))
	})
	row("busiest shard over mean", nil, false, func(c *analysis.CandidateReport) (string, string, float64) {
		worst := analysis.SkewReport{}
		for _, s := range c.Skew {
			if s.MaxMean > worst.MaxMean {
				worst = s
			}
		}
		if worst.MaxMean == 0 {
			return "–", "", math.NaN() // nobody is better than the unmeasured
		}
		return fmt.Sprintf("%.1f ×", worst.MaxMean), "colo " + line(worst.Colo), worst.MaxMean
	})
	return out
}

func ratio(part, total float64) float64 {
	if total == 0 {
		return 0
	}
	return part / total
}

func flipViews(r *analysis.Report) ([]FlipView, string) {
	list := slices.Clone(r.Flips)
	slices.SortFunc(list, func(a, b analysis.Flip) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.ID, b.ID))
	})
	var out []FlipView
	var calls int64
	for _, f := range list {
		v := FlipView{ID: line(f.ID), SQL: cut(line(f.Text), maxLine), Calls: Count(f.Calls), CallsN: f.Calls}
		for _, c := range r.Candidates {
			v.Cells = append(v.Cells, FlipCell{markOf(f.Readiness[c.Name]), line(f.Class[c.Name])})
		}
		calls += f.Calls
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, "the candidates agree about every template"
	}
	text := fmt.Sprintf("the readiness of %s (%s) depends on the candidate", plural(int64(len(out)), "template", "templates"), plural(calls, "call", "calls"))
	if len(r.Candidates) == 2 {
		text += flipDirections(r, list)
	}
	return out, text
}

// flipDirections counts what the second candidate fixes and breaks.
func flipDirections(r *analysis.Report, list []analysis.Flip) string {
	a, b := r.Candidates[0].Name, r.Candidates[1].Name
	var fixed, broken, neither int64
	for _, f := range list {
		switch {
		case f.Readiness[a] != "ready" && f.Readiness[b] == "ready":
			fixed++
		case f.Readiness[a] == "ready" && f.Readiness[b] != "ready":
			broken++
		default:
			neither++
		}
	}
	return fmt.Sprintf(": %s fixes %s, breaks %s, and leaves %s not ready in another way", cut(line(b), maxName), Count(fixed), Count(broken), Count(neither))
}
