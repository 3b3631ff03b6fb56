package reports

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/foreshard/foreshard/analysis"
)

// View is a report in words and sorted rows. The text, Markdown and HTML outputs draw it and compute nothing of their own. All captured text
// in it is already cleaned to one line, but for QueryView.SQL.
type View struct {
	Window     WindowView
	Evidence   []Fact
	Thin       []string // why there is too little to say anything, and what to turn on; empty if there is evidence
	Sources    []SourceView
	Ledger     []Tally
	Candidates []CandidateView
	Compare    []CompareRow // one row per measure, one cell per candidate; empty for one candidate
	Flips      []FlipView
	FlipLine   string        // what the list of flips says in one sentence
	Coverage   *CoverageView // nil: no statistics of servers
}

// WindowView is the span of the traffic.
type WindowView struct {
	From, To       string // for people, UTC
	FromISO, ToISO string
	Span           string // how long; "" if the traffic carries no time
	Range          string // from and to in one line, or why there is none
}

// Fact is one item of the evidence strip.
type Fact struct {
	Label, Value, Note string
	Warn               bool // it weakens the answer
}

// SourceView is one file that was read.
type SourceView struct {
	Name, Format, Bytes, Records, Executions, Incomplete string
	Warn                                                 bool
}

// Tally is one bucket list of the ledger.
type Tally struct {
	Title string
	Rows  []TallyRow
}

// TallyRow is one bucket.
type TallyRow struct{ Label, Count string }

// CompareRow is one measure under every candidate.
type CompareRow struct {
	Label string
	Mark  *Mark
	Cells []CompareCell
}

// CompareCell is a measure of one candidate.
type CompareCell struct {
	Value, Note string
	Best        bool // better than the others
}

// FlipView is a template that one candidate makes ready and another does not.
type FlipView struct {
	ID, SQL string
	Calls   string
	CallsN  int64
	Cells   []FlipCell // per candidate, in the order of View.Candidates
}

// FlipCell is what one candidate says of a flip.
type FlipCell struct {
	Mark  Mark
	Class string
}

// NewView puts a report into words.
func NewView(r *analysis.Report) *View {
	v := &View{Window: windowView(r.Window), Evidence: evidence(r), Thin: thin(r)}
	for _, s := range r.Sources {
		read := Size(s.Bytes)
		if s.Offset > 0 { // messages, or an LSN
			read = "–"
		}
		v.Sources = append(v.Sources, SourceView{
			Name: cut(line(s.Name), maxName), Format: orDash(line(s.Format)), Bytes: read, Records: Count(s.Records),
			Executions: Count(s.Executions), Incomplete: Size(s.Incomplete), Warn: s.Incomplete > 0,
		})
	}
	v.Ledger = tallies(r.Ledger)
	for i := range r.Candidates {
		v.Candidates = append(v.Candidates, candidateView(&r.Candidates[i], i))
	}
	v.Coverage = coverageView(r)
	if r.Basis == analysis.BasisStatistics {
		for i := range v.Candidates {
			v.Candidates[i].byStatistics()
		}
	}
	if len(r.Candidates) > 1 {
		v.Compare = compareRows(r.Candidates)
		v.Flips, v.FlipLine = flipViews(r)
	}
	return v
}

func windowView(w analysis.Window) WindowView {
	if w.From.IsZero() || w.To.IsZero() {
		return WindowView{Range: "the traffic carries no time"}
	}
	from, to := w.From.UTC(), w.To.UTC()
	const layout = "2006-01-02 15:04:05"
	v := WindowView{
		From: from.Format(layout), To: to.Format(layout), FromISO: from.Format(time.RFC3339Nano), ToISO: to.Format(time.RFC3339Nano), Span: Span(to.Sub(from)),
	}
	end := v.To
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		end = to.Format("15:04:05")
	}
	v.Range = v.From + " – " + end + " UTC"
	return v
}

// evidence says how much the numbers rest on, and every way in which they may be wrong.
func evidence(r *analysis.Report) []Fact {
	l := r.Ledger
	var incomplete int64
	for _, s := range r.Sources {
		incomplete += s.Incomplete
	}
	undecided, missing := map[string]bool{}, map[string]bool{}
	for _, c := range r.Candidates {
		for _, t := range c.Undecided {
			undecided[t] = true
		}
		for _, t := range c.Missing {
			missing[t] = true
		}
	}
	w := windowView(r.Window)
	truncated := l.Unparsed["truncated"]
	unparsed := sum(l.Unparsed) - truncated
	facts := []Fact{
		{Label: "window", Value: orDash(w.Span), Note: w.Range},
		{Label: "read", Value: Size(l.Bytes), Note: plural(l.Records, "record", "records") + " of " + plural(int64(len(r.Sources)), "source", "sources")},
		callsFact(r, Fact{Label: "executions", Value: Count(l.Executions), Note: plural(l.Statements, "statement text", "statement texts") + ", " + plural(l.Errors, "failed execution", "failed executions"), Warn: l.Executions == 0}),
		{Label: "unparsed", Value: Count(unparsed), Note: reasonsNote(l.Unparsed, "truncated", l.Executions, "of executions"), Warn: unparsed > 0},
		{Label: "truncated", Value: Count(truncated), Note: truncatedNote(truncated), Warn: truncated > 0},
		{Label: "dropped", Value: Count(sum(l.Dropped)), Note: droppedNote(l), Warn: sum(l.Dropped) > 0},
		{Label: "undecided tables", Value: Count(int64(len(undecided))), Note: tablesNote(undecided, "named by no candidate, so what touches them is unknown", "every table of the traffic has its place"), Warn: len(undecided) > 0},
		{Label: "missing tables", Value: Count(int64(len(missing))), Note: tablesNote(missing, "in the traffic, not in the schema: is the dump older than the traffic?", "the schema has every table of the traffic"), Warn: len(missing) > 0},
		{Label: "incomplete tail", Value: Size(incomplete), Note: tailNote(incomplete), Warn: incomplete > 0},
	}
	facts = append(facts, lostFacts(l)...)
	if f, ok := coverageFact(r); ok {
		facts = append(facts, f)
	}
	if f, ok := observedFact(r.Candidates); ok {
		facts = append(facts, f)
	}
	if n := l.Retired["rollups"] + l.Retired["opaque"]; n > 0 {
		facts = append(facts, Fact{Label: "no longer kept", Value: Count(n), Note: "executions of days that retention has dropped: they are in the ledger, and weigh nothing here"})
	}
	return facts
}

// observedFact says how many transactions are counted as single-shard for the values they had, not for all values.
func observedFact(list []analysis.CandidateReport) (Fact, bool) {
	f := Fact{Label: "by values seen"}
	var most int64
	var parts, values []string
	for i := range list {
		n := list[i].Transactions.ParamDependent
		values = append(values, Count(n))
		most = max(most, n)
		if n > 0 {
			parts = append(parts, cut(line(list[i].Name), maxName)+" "+Count(n))
		}
	}
	if most == 0 {
		return f, false
	}
	f.Value = Count(most)
	f.Note = plural(most, "transaction is", "transactions are") + " on one shard only because every list of keys held one key"
	if len(list) > 1 {
		f.Value, f.Note = strings.Join(values, " · "), "transactions on one shard only because every list of keys held one key: "+join(parts, 5)
	}
	return f, true
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func sum(m map[string]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}

func reasonsNote(m map[string]int64, except string, total int64, of string) string {
	var parts []string
	var n int64
	for _, k := range byCount(m) {
		if k != except && m[k] > 0 {
			parts = append(parts, label(line(k))+" "+Count(m[k]))
			n += m[k]
		}
	}
	if n == 0 {
		return "every text was understood"
	}
	return percent(float64(n), float64(total)) + " " + of + ": " + join(parts, 4)
}

func truncatedNote(n int64) string {
	if n == 0 {
		return "no text was cut by the server"
	}
	return "texts cut by the server: raise track_activity_query_size, or log with log_min_duration_statement"
}

func droppedNote(l analysis.Ledger) string {
	var parts []string
	for _, k := range byCount(l.Dropped) {
		if l.Dropped[k] > 0 {
			parts = append(parts, label(line(k))+" "+Count(l.Dropped[k]))
		}
	}
	if len(parts) == 0 {
		return "every record was used"
	}
	note := "records: " + join(parts, 4)
	if b := sum(l.DroppedBytes); b > 0 {
		note += "; " + Size(b)
	}
	return note
}

func tablesNote(set map[string]bool, bad, good string) string {
	if len(set) == 0 {
		return good
	}
	names := make([]string, 0, len(set))
	for t := range set {
		names = append(names, t)
	}
	slices.Sort(names)
	return join(lines(names), 5) + ": " + bad
}

func tailNote(n int64) string {
	if n == 0 {
		return "every source ends with a whole record"
	}
	return "a last record was not whole yet; the next run reads it"
}

// thin says what to do about a report that rests on nothing.
func thin(r *analysis.Report) []string {
	if r.Ledger.Executions > 0 && r.Basis == "" || r.Basis == analysis.BasisStatistics {
		return nil
	}
	out := []string{"no execution of a statement was found, so there is nothing to judge"}
	if r.Ledger.Records == 0 {
		out = append(out, "nothing that was read is a log record: check the files, --input-format and, for stderr logs, --log-line-prefix")
	}
	return append(out,
		"to log what foreshard reads, set in postgresql.conf and reload: log_min_duration_statement = 0 (or log_statement = 'all')",
		"on a busy server log a share of transactions: log_transaction_sample_rate = 0.01",
		"for transactions and teams: log_line_prefix = '%m [%p] %q%u@%d %a %c %v %x ', and sqlcommenter tags in the statements")
}

// tallies lists the ledger's buckets, largest first.
func tallies(l analysis.Ledger) []Tally {
	var out []Tally
	for _, t := range []struct {
		title string
		m     map[string]int64
		bytes bool
	}{
		{"records by kind", l.Buckets, false}, {"records dropped", l.Dropped, false}, {"bytes dropped", l.DroppedBytes, true}, {"executions unparsed", l.Unparsed, false}, {"what makes the result weaker", l.Notes, false},
	} {
		tally := Tally{Title: t.title}
		for _, k := range byCount(t.m) {
			n := Count(t.m[k])
			if t.bytes {
				n = Size(t.m[k])
			}
			tally.Rows = append(tally.Rows, TallyRow{label(line(k)), n})
		}
		if len(tally.Rows) > 0 {
			out = append(out, tally)
		}
	}
	return out
}

// byCount is the keys of a map, largest value first, then by name.
func byCount(m map[string]int64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a, b))
	})
	return keys
}
