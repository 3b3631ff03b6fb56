package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/analysis"
)

// CandidateView is one candidate in words.
type CandidateView struct {
	Name, Hash, Dialect string
	Anchor              string // prefix of element ids in a page: "c0"
	Headline            string // Big and Rest in one sentence
	Big, Rest           string // the share of calls that is ready; "" and all of it if nothing was judged
	Findings            []Finding
	Readiness           []ShareRow // ready, costly, blocked, unknown
	Classes             []ShareRow // classes that occur
	Transactions        []TxnRow
	TransactionLine     string
	CrossColoLine       string
	Pairs               []PairView
	Reasons             []ReasonView
	Undecided, Missing  []string
	Queries             []QueryView
	Tables              []TableView
	Teams               []TeamView
	Skew                []SkewView
	Writes              *WritesView // nil: there is no WAL
	Loss                LossView
	Unlogged            *UnloggedShares // nil: none are known
}

// Finding is one sentence of the answer.
type Finding struct {
	Mark Mark
	Text string
}

// Measure is one number with its share of a total.
type Measure struct {
	Value    string
	Share    string
	Fraction float64 // 0 to 1, for bars
	Number   float64 // for charts and sorting
}

// ShareRow is one class or readiness by the three measures, which always stand side by side.
type ShareRow struct {
	Key, Meaning           string
	Mark                   Mark
	Calls, Time, Templates Measure
}

// TxnRow is one outcome of transactions.
type TxnRow struct {
	Label   string
	Mark    Mark
	Measure Measure
}

// PairView is two tables that statements join across colos.
type PairView struct {
	Left, Right string
	Calls, Time Measure
	Templates   string
}

// ReasonView is a reason that keeps traffic from being ready.
type ReasonView struct {
	Code, Short, Hint string
	Calls, Time       Measure
	Templates         string
	TemplatesN        int64
	Top               []*QueryView
}

// QueryView is one template under one candidate.
type QueryView struct {
	ID      string
	SQL     string // with newlines; cleaned and cut
	Line    string // on one line
	Class   string
	Mark    Mark
	Reasons []QueryReasonView
	// Span is the byte range of SQL that the first placed reason points at; both 0 if there is none.
	Span                              [2]int
	Features, Tables, Endpoints, Apps []string
	Teams                             []string
	Calls, Time                       Measure
	Errors                            string
	P95, Mean                         string
	P95N                              float64 // milliseconds
	LayoutDependent                   bool
	Fixes                             []FixView // smallest change first
}

// FixView is one change that would help a template.
type FixView struct{ Change, Then, Terms, SQL, Candidate string }

// QueryReasonView is one reason of a template.
type QueryReasonView struct{ Code, Message, Hint string }

// TableView is the traffic of one table.
type TableView struct {
	Table, Placement, Where string // Where: colo and key
	Calls, Time             Measure
	Templates               string
	Mix                     []Slice
	Ready                   string
}

// TeamView is the traffic of one team.
type TeamView struct {
	Team           string
	Known          bool
	Calls          Measure
	Templates      string
	Mix            []Slice
	Ready          string // by calls
	ReadyTemplates string // by templates
	TemplatesToDo  int64  // templates that are not ready
}

// Slice is one part of a stacked bar.
type Slice struct {
	Mark     Mark
	Share    string
	Fraction float64
	Number   float64
}

// SkewView is how evenly the bound calls of a colo spread.
type SkewView struct {
	Colo, Shards, Calls, Max, Even, Ratio string
	Fraction                              float64
	Warn                                  bool
}

func candidateView(c *analysis.CandidateReport, index int) CandidateView {
	v := CandidateView{
		Name: cut(line(c.Name), maxName), Hash: line(c.Hash), Dialect: cut(line(c.Dialect), maxName), Anchor: fmt.Sprintf("c%d", index),
		Undecided: lines(sorted(c.Undecided)), Missing: lines(sorted(c.Missing)),
	}
	v.Big, v.Rest = headline(c, v.Name)
	v.Headline = strings.TrimSpace(v.Big + " " + v.Rest)
	v.Readiness = shareRows(c, readinessKeys(c), func(s *analysis.Share) map[string]float64 { return s.ByReadiness }, readinessMeaning, markOf)
	v.Classes = shareRows(c, classKeys(c), func(s *analysis.Share) map[string]float64 { return s.ByClass }, classMeaning,
		func(class string) Mark { return markOf(classReadiness(class)) })
	v.Transactions, v.TransactionLine = transactions(c.Transactions)
	v.CrossColoLine, v.Pairs = crossColo(c)
	v.Queries = queries(c)
	byID := map[string]*QueryView{}
	for i := range v.Queries {
		byID[v.Queries[i].ID] = &v.Queries[i]
	}
	v.Reasons = reasons(c, byID)
	v.Tables = tables(c)
	v.Teams = teams(c)
	v.Skew = skew(c.Skew)
	v.Writes = writesView(c.Writes)
	v.Loss = lossView(c.SchemaFindings)
	v.Unlogged = unloggedShares(c)
	v.Findings = findings(c, &v)
	return v
}

// headline is the answer in one sentence, its figure apart.
func headline(c *analysis.CandidateReport, name string) (big, rest string) {
	if c.Calls.Total == 0 {
		return "", "no calls were judged on " + name
	}
	return percent(c.Calls.ByReadiness["ready"], c.Calls.Total), fmt.Sprintf("of calls (%s of %s) are ready on %s",
		Count(int64(c.Templates.ByReadiness["ready"])), plural(int64(c.Templates.Total), "template", "templates"), name)
}

// findings are the sentences below the headline: what stands in the way, worst first.
func findings(c *analysis.CandidateReport, v *CandidateView) []Finding {
	var out []Finding
	add := func(readiness, format string, args ...any) {
		out = append(out, Finding{markOf(readiness), fmt.Sprintf(format, args...)})
	}
	for _, key := range []string{"blocked", "unknown", "costly"} {
		n := int64(c.Templates.ByReadiness[key])
		if n == 0 && c.Calls.ByReadiness[key] == 0 {
			continue
		}
		text := fmt.Sprintf("%s of calls and %s of time (%s) %s %s", percent(c.Calls.ByReadiness[key], c.Calls.Total),
			percent(c.TimeMS.ByReadiness[key], c.TimeMS.Total), plural(n, "template", "templates"), are(n), key)
		if c.TimeMS.Total == 0 {
			text = fmt.Sprintf("%s of calls (%s) %s %s", percent(c.Calls.ByReadiness[key], c.Calls.Total), plural(n, "template", "templates"), are(n), key)
		}
		if r := topReason(c, v, key); r != "" {
			text += ", most of all: " + r
		}
		add(key, "%s", text)
	}
	if fix := effort(v); fix != "" {
		out = append(out, Finding{noteMark, fix})
	}
	if w := c.Transactions.MultiShardWrite; w > 0 {
		add("blocked", "%s (%s) write on more than one shard", plural(w, "transaction", "transactions"), percent(float64(w), float64(c.Transactions.Total)))
	}
	if w := c.Writes; w != nil && w.Transactions.CrossShards > 0 {
		n := w.Transactions.CrossShards
		add("blocked", "%s of the WAL (%s) %s on more than one shard", plural(n, "write transaction", "write transactions"), percent(float64(n), float64(w.Transactions.Total)), commits(n))
	}
	if c.CrossColoJoins.Templates > 0 {
		add("blocked", "%s", v.CrossColoLine)
	}
	if n := v.Loss.Breaks; n > 0 {
		verb := "break"
		if n == 1 {
			verb = "breaks"
		}
		add("blocked", "%s of the schema %s: %s", plural(n, "object", "objects"), verb, join(v.Loss.broken(), 4))
	}
	if n := len(v.Missing); n > 0 {
		add("unknown", "%s of the traffic %s not in the schema: %s", plural(int64(n), "table", "tables"), are(int64(n)), join(v.Missing, 5))
	}
	if n := len(v.Undecided); n > 0 {
		add("unknown", "%s of the traffic %s not named by the candidate: %s", plural(int64(n), "table", "tables"), are(int64(n)), join(v.Undecided, 5))
	}
	if c.LayoutDependentCalls > 0 {
		add("unknown", "%s would be ready only while two keys happen to share a shard; they are not counted as ready", plural(c.LayoutDependentCalls, "call", "calls"))
	}
	for _, s := range v.Skew {
		if s.Warn {
			add("costly", "the busiest shard of colo %s takes %s of its calls, %s the even share", s.Colo, s.Max, s.Ratio)
		}
	}
	return out
}

// topReason is the reason that carries most calls among the templates of a readiness. A missing feature is named.
func topReason(c *analysis.CandidateReport, v *CandidateView, readiness string) string {
	calls := map[string]float64{}
	for i := range v.Queries {
		q := &v.Queries[i]
		if q.Mark.Key != readiness {
			continue
		}
		seen := map[string]bool{}
		for _, r := range q.Reasons {
			if !seen[r.Code] {
				seen[r.Code] = true
				calls[r.Code] += q.Calls.Number
			}
		}
	}
	best := ""
	for code, n := range calls {
		if best == "" || n > calls[best] || n == calls[best] && code < best {
			best = code
		}
	}
	if best == outsideDialect {
		if needs := missingFeatures(c); len(needs) > 0 {
			return "they need " + needs[0] + ", which the dialect does not have"
		}
	}
	for _, r := range v.Reasons {
		if r.Code == best && best != "" {
			return r.Short
		}
	}
	return best
}

// outsideDialect is the reason of templates that need what the dialect lacks.
const outsideDialect = "outside_dialect"

// missingFeatures are the features that the dialect lacks, in words, those of most calls first.
func missingFeatures(c *analysis.CandidateReport) []string {
	calls := map[string]int64{}
	for i := range c.Queries {
		for _, f := range c.Queries[i].MissingFeatures {
			calls[f] += c.Queries[i].Calls
		}
	}
	names := make([]string, 0, len(calls))
	for f, n := range calls {
		if (f == "row_count_sum" || f == "split_insert") && calls["2pc"] >= n {
			continue // it comes with writes on several shards
		}
		names = append(names, f)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(calls[b], calls[a]), strings.Compare(a, b))
	})
	for i, f := range names {
		names[i] = featureWords(line(f))
	}
	return names
}

// effort says how far the busiest templates that are not ready reach.
func effort(v *CandidateView) string {
	var total, top float64
	var n, of int64
	for i := range v.Queries {
		if q := &v.Queries[i]; q.Mark.Key != "ready" {
			total += q.Calls.Number
			of++
		}
	}
	if of < 2 || total == 0 {
		return ""
	}
	for i := range v.Queries { // most calls first
		q := &v.Queries[i]
		if q.Mark.Key == "ready" {
			continue
		}
		top += q.Calls.Number
		n++
		if top >= 0.8*total || n == 5 {
			break
		}
	}
	return fmt.Sprintf("the busiest %s of %s carry %s of the calls that are not ready", plural(n, "template", "templates"), Count(of), percent(top, total))
}

func readinessKeys(c *analysis.CandidateReport) []string {
	return keysOf(readinessOrder[:], true, c.Calls.ByReadiness, c.TimeMS.ByReadiness, c.Templates.ByReadiness)
}

func classKeys(c *analysis.CandidateReport) []string {
	return keysOf(classOrder[:], false, c.Calls.ByClass, c.TimeMS.ByClass, c.Templates.ByClass)
}

// keysOf is the known keys in their order, then any other by name; known keys that do not occur only if all is set.
func keysOf(order []string, all bool, maps ...map[string]float64) []string {
	present := map[string]bool{}
	for _, m := range maps {
		for k, n := range m {
			if n != 0 {
				present[k] = true
			}
		}
	}
	var out, rest []string
	for _, k := range order {
		if all || present[k] {
			out = append(out, k)
		}
		delete(present, k)
	}
	for k := range present {
		rest = append(rest, k)
	}
	slices.Sort(rest)
	return append(out, rest...)
}

func shareRows(c *analysis.CandidateReport, keys []string, by func(*analysis.Share) map[string]float64, meaning func(string) string, mark func(string) Mark) []ShareRow {
	var out []ShareRow
	for _, k := range keys {
		calls, time, templates := by(&c.Calls)[k], by(&c.TimeMS)[k], by(&c.Templates)[k]
		out = append(out, ShareRow{
			Key: line(k), Meaning: meaning(k), Mark: mark(k),
			Calls:     measure(Count(int64(calls)), calls, c.Calls.Total),
			Time:      measure(millis(time), time, c.TimeMS.Total),
			Templates: measure(Count(int64(templates)), templates, c.Templates.Total),
		})
	}
	return out
}

func measure(value string, part, total float64) Measure {
	m := Measure{Value: value, Share: percent(part, total), Number: part}
	if total > 0 {
		m.Fraction = math.Min(1, math.Max(0, part/total))
	}
	return m
}

func callsMeasure(n, total int64) Measure { return measure(Count(n), float64(n), float64(total)) }

func transactions(t analysis.Transactions) ([]TxnRow, string) {
	if t.Total == 0 {
		return nil, "no transactions were seen whole"
	}
	row := func(label, readiness string, n int64) TxnRow {
		return TxnRow{label, markOf(readiness), callsMeasure(n, t.Total)}
	}
	rows := []TxnRow{
		row("single shard", "ready", t.SingleShard), row("multi-shard read", "costly", t.MultiShardRead),
		row("multi-shard write", "blocked", t.MultiShardWrite), row("unknown", "unknown", t.Unknown),
	}
	text := percent(float64(t.SingleShard), float64(t.Total)) + " of " + plural(t.Total, "transaction stays", "transactions stay") + " on one shard"
	if t.Explicit > 0 {
		text += fmt.Sprintf("; of the %s, %s", plural(t.Explicit, "BEGIN … COMMIT block", "BEGIN … COMMIT blocks"), percent(float64(t.ExplicitSingle), float64(t.Explicit)))
	} else {
		text += "; none is a BEGIN … COMMIT block"
	}
	if n := t.ParamDependent; n > 0 {
		text += fmt.Sprintf("; %s (%s) %s on one shard only because every list of keys held one key: other values would need several shards",
			Count(n), percent(float64(n), float64(t.Total)), are(n))
	}
	return rows, text
}

func crossColo(c *analysis.CandidateReport) (string, []PairView) {
	x := c.CrossColoJoins
	if x.Templates == 0 {
		return "no statement joins tables of different colos", nil
	}
	verb := "join"
	if x.Templates == 1 {
		verb = "joins"
	}
	text := fmt.Sprintf("%s (%s of calls, %s of time) %s tables of different colos", plural(x.Templates, "template", "templates"),
		percent(float64(x.Calls), c.Calls.Total), percent(x.TimeMS, c.TimeMS.Total), verb)
	pairs := slices.Clone(x.Pairs)
	slices.SortFunc(pairs, func(a, b analysis.ColoPair) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Left, b.Left), strings.Compare(a.Right, b.Right))
	})
	var out []PairView
	for _, p := range pairs {
		out = append(out, PairView{
			Left: cut(line(p.Left), maxName), Right: cut(line(p.Right), maxName), Templates: Count(p.Templates),
			Calls: measure(Count(p.Calls), float64(p.Calls), c.Calls.Total), Time: measure(millis(p.TimeMS), p.TimeMS, c.TimeMS.Total),
		})
	}
	return text, out
}

func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return out
}
