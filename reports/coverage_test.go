package reports

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis"
	"pgregory.net/rapid"
)

// covered is a report on a log that was sampled, of two candidates.
func covered() *analysis.Report {
	r := twoCandidates()
	shorten(r)
	from := time.Date(2026, 11, 29, 9, 1, 0, 0, time.UTC)
	verdict := func(a, b string) map[string]string {
		return map[string]string{"by_org": a, "by_workspace": b}
	}
	r.Coverage = &analysis.Coverage{
		Sources: []analysis.StatisticsSource{{Name: "7412@10.0.0.9:5432", From: from, To: from.Add(3 * time.Hour), Looks: 180}, {Name: hostile, From: from, To: from.Add(time.Hour), Looks: 60, AtLeast: true}},
		From:    from, To: from.Add(3 * time.Hour), Seconds: 10_800, WindowShare: 0.8145,
		Calls: 1_204_411, Logged: 890_003, Share: 0.738953, AtLeast: true, Unlogged: 314_408, Extra: 1_204, InFunctions: 31, OpaqueCalls: 12, LoggedOpaque: 1_040,
		Databases: []analysis.DatabaseCoverage{
			{Database: "atelier", Calls: 1_204_400, Logged: 890_000, Unlogged: 314_400, Extra: 1_204, Share: 0.738957},
			{Database: hostile, Calls: 11, Logged: 3, Unlogged: 8, Share: 0.2727}, {Database: "postgres"},
		},
		UnloggedFrom: []analysis.UnloggedQuery{
			{ID: "0001", Text: "SELECT id FROM files WHERE org_id = $1 AND id = $2", Databases: []string{"atelier"}, Calls: 1_100_000, Unlogged: 314_400, TimeMS: 6_301.5,
				Readiness: verdict("ready", "costly"), Class: verdict("single_shard", "scatter")},
			{ID: "77aa", Text: hostile, Databases: []string{hostile}, Calls: 11, Unlogged: 8, TimeMS: 0.25, Readiness: verdict("unknown", "unknown"), Class: verdict("unknown", "unknown")},
		},
	}
	for i, class := range []string{"single_shard", "scatter"} {
		readiness := []string{"ready", "costly"}[i]
		share := func(known, unknown float64) analysis.Share {
			return analysis.Share{Total: known + unknown, ByClass: map[string]float64{class: known, "unknown": unknown}, ByReadiness: map[string]float64{readiness: known, "unknown": unknown}}
		}
		r.Candidates[i].Unlogged = &analysis.Unlogged{Calls: share(314_400, 8), TimeMS: share(6_301.5, 0.25), Templates: share(1, 1)}
	}
	return r
}

// counted is a report on statistics alone.
func counted() *analysis.Report {
	r := exampleReport()
	shorten(r)
	c := &r.Candidates[0]
	c.Transactions, c.Skew, c.Writes = analysis.Transactions{}, nil, nil
	r.Ledger = analysis.Ledger{Notes: map[string]int64{"statistics_looks": 180}}
	r.Basis = analysis.BasisStatistics
	r.Coverage = &analysis.Coverage{Sources: []analysis.StatisticsSource{{Name: "7412@10.0.0.9:5432", Looks: 180}}, Seconds: 10_800, Calls: 1_000_003}
	return r
}

func TestCoverageGolden(t *testing.T) {
	for _, c := range []struct {
		name   string
		report *analysis.Report
		format Format
		o      Options
	}{
		{"coverage.txt", covered(), Text, Options{}},
		{"coverage_60.txt", covered(), Text, Options{Width: 60}},
		{"coverage.md", covered(), Markdown, Options{}},
		{"counted.txt", counted(), Text, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got bytes.Buffer
			if err := Write(&got, c.format, c.report, c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, got.Bytes())
		})
	}
}

// What a coverage says in one sentence, in every case that there is.
func TestCoverageLine(t *testing.T) {
	two := []analysis.StatisticsSource{{}, {}}
	for _, c := range []struct {
		what, line, advice string
		basis              string
		coverage           analysis.Coverage
	}{
		{what: "whole", coverage: analysis.Coverage{Sources: two, Seconds: 60, WindowShare: 1, Calls: 10, Logged: 10, Share: 1},
			line: "the log has 100 % of the 10 calls that pg_stat_statements counted on 2 servers, over 1 min that both cover (100 % of the log's time)"},
		{what: "sampled", coverage: analysis.Coverage{Sources: two, Seconds: 60, WindowShare: 0.5, Calls: 100, Logged: 98, Share: 0.98, AtLeast: true},
			line: "the log has at most 98.0 % of the at least 100 calls that", advice: "log_min_duration_statement = 0"},
		{what: "no time", coverage: analysis.Coverage{Sources: two}, line: "no time in common"},
		{what: "no calls", coverage: analysis.Coverage{Sources: two, Seconds: 60}, line: "counted no planned statement over 1 min"},
		{what: "unclear", coverage: analysis.Coverage{Sources: two, Unclear: true}, line: "pg_stat_statements.track = 'top'"},
		{what: "no log", basis: analysis.BasisStatistics, coverage: analysis.Coverage{Sources: two, Calls: 5, Seconds: 60}, line: "there is no log", advice: "no transactions"},
	} {
		v := coverageView(&analysis.Report{Basis: c.basis, Coverage: &c.coverage})
		if !strings.Contains(v.Line, c.line) || !strings.Contains(v.Advice, c.advice) || (c.advice == "") != (v.Advice == "") {
			t.Errorf("%s: %q, %q", c.what, v.Line, v.Advice)
		}
	}
	if coverageView(&analysis.Report{}) != nil {
		t.Error("no statistics have a coverage")
	}
}

// Whatever a server's statements, databases and addresses are called, it stays text, in every format; TestCoveragePage has the page.
func TestCoverageStaysInert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"::", "##", "[", "##vso[", "\n", "\x1b[2J", "`", "|", "<script>", "\xff", "\u202e"}))
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		r := covered()
		c := r.Coverage
		c.Sources[0].Name, c.Databases[0].Database, c.UnloggedFrom[0].Text, c.UnloggedFrom[0].Databases = text, text, text, []string{text}
		for _, f := range []Format{Text, Markdown, JSON} {
			var b bytes.Buffer
			if err := Write(&b, f, r, Options{Width: 80}); err != nil {
				t.Fatal(err)
			}
			if problem := inert(b.String(), false); problem != "" {
				t.Fatalf("%s: %.300q", f, problem)
			}
		}
	})
}

// The page has the section, its list and each candidate's shares.
func TestCoveragePage(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHTML(&b, covered(), Options{Assets: assets(t, "")}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "<script"); n != strings.Count(b.String(), "</script>") {
		t.Errorf("%d scripts are open", n)
	}
	for _, want := range []string{"Coverage of the log", "the log has at most 73.9", "Calls that the log does not have", ">314,400<", "log_min_duration_statement = 0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

// What rests on no statement says so: where retention has dropped all of the log and the WAL is left, too.
func TestThin(t *testing.T) {
	for _, c := range []struct {
		basis      string
		executions int64
		want       bool
	}{{"", 0, true}, {"", 5, false}, {analysis.BasisStatistics, 0, false}, {analysis.BasisWAL, 0, true}, {analysis.BasisWAL, 5, true}} {
		if got := len(thin(&analysis.Report{Basis: c.basis, Ledger: analysis.Ledger{Executions: c.executions}})) > 0; got != c.want {
			t.Errorf("%q with %d executions read: thin is %t", c.basis, c.executions, got)
		}
	}
}
