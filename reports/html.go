package reports

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"strings"

	"github.com/foreshard/foreshard/analysis"
)

//go:embed templates/*.html
var templates embed.FS

// How much a page lists: more rows make a browser slow, and the JSON has them all.
const (
	htmlQueries = 2000
	htmlFlips   = 500
	htmlLosses  = 200
)

// page is what the template reads.
type page struct {
	Title  string
	Policy string
	Style  template.CSS
	// Scripts, put into the page as they are; the policy names each by its hash.
	Theme, Page, Charts, ECharts template.JS

	View       *View
	Candidates []candidatePage
	Compare    Chart
	Flips      []FlipView
	MoreFlips  string

	Unlogged     []UnloggedView
	MoreUnlogged string
}

// Files of Options.Assets. Only the library may be missing.
const (
	styleFile   = "page.css"
	themeFile   = "theme.js"
	pageFile    = "page.js"
	chartsFile  = "charts.js"
	echartsFile = "vendor/echarts/echarts.min.js"
)

// WriteHTML writes the report as one file that needs nothing else: no network, no server. Its content security policy lets run only the
// scripts of o.Assets, so that captured text cannot do anything even if an escape were missing. Without ECharts there it draws plain bars.
func WriteHTML(w io.Writer, r *analysis.Report, o Options) error {
	p, err := newPage(NewView(r), o)
	if err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	t, err := template.ParseFS(templates, "templates/*.html")
	if err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	buf := bufio.NewWriter(w)
	if err := t.ExecuteTemplate(buf, "report.html", p); err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	return nil
}

// readAssets reads the files a page is made of; the library's text is "" if the program was built without it.
func readAssets(assets fs.FS) (map[string]string, error) {
	if assets == nil {
		return nil, errors.New("no style and scripts given")
	}
	out := map[string]string{}
	for _, name := range []string{styleFile, themeFile, pageFile, chartsFile, echartsFile} {
		b, err := fs.ReadFile(assets, name)
		if err != nil && !(name == echartsFile && errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		out[name] = string(b)
	}
	return out, nil
}

func newPage(v *View, o Options) (*page, error) {
	limit := o.Queries
	if limit == 0 {
		limit = htmlQueries
	}
	p := &page{Title: "Shard readiness", View: v, Flips: v.Flips[:min(len(v.Flips), htmlFlips)]}
	if len(v.Candidates) > 0 {
		p.Title = v.Candidates[0].Headline
	}
	if more := len(v.Flips) - len(p.Flips); more > 0 {
		p.MoreFlips = Count(int64(more)) + " more are in the JSON report"
	}
	if c := v.Coverage; c != nil {
		p.Unlogged = c.Queries[:min(len(c.Queries), htmlFlips)]
		if more := len(c.Queries) - len(p.Unlogged); more > 0 {
			p.MoreUnlogged = Count(int64(more)) + " more are in the JSON report"
		}
	}
	files, err := readAssets(o.Assets)
	if err != nil {
		return nil, err
	}
	p.Style, p.Theme, p.Page = template.CSS(files[styleFile]), template.JS(files[themeFile]), template.JS(files[pageFile])
	scripts := []string{files[themeFile], files[pageFile]}
	if files[echartsFile] != "" {
		p.ECharts, p.Charts = template.JS(files[echartsFile]), template.JS(files[chartsFile])
		scripts = append(scripts, files[echartsFile], files[chartsFile])
	}
	p.Policy = policy(files[styleFile], scripts)
	if len(v.Candidates) > 1 {
		p.Compare = compareChart(v.Candidates)
	}
	for i := range v.Candidates {
		p.Candidates = append(p.Candidates, newCandidatePage(&v.Candidates[i], limit, len(v.Candidates) > 1, files[echartsFile] != ""))
	}
	return p, nil
}

// policy forbids everything but the page's own style and scripts, named by their hashes.
func policy(style string, scripts []string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	hashes := make([]string, len(scripts))
	for i, s := range scripts {
		hashes[i] = hash(s)
	}
	return "default-src 'none'; script-src " + strings.Join(hashes, " ") + "; style-src " + hash(style) + "; img-src data:; base-uri 'none'; form-action 'none'"
}

// htmlBar is one bar inside the page.
type htmlBar struct {
	Label, Ready, Size, Spoken string
	Parts                      []BarPart
}

// Hero is the three bars under a headline.
func (p *page) Hero(c CandidateView) []htmlBar {
	var out []htmlBar
	for _, m := range []struct {
		label string
		of    func(*ShareRow) Measure
	}{{"calls", func(r *ShareRow) Measure { return r.Calls }}, {"time", func(r *ShareRow) Measure { return r.Time }}, {"templates", func(r *ShareRow) Measure { return r.Templates }}} {
		b, list := htmlBar{Label: m.label, Ready: "–"}, []Slice{}
		for i := range c.Readiness {
			r := &c.Readiness[i]
			value := m.of(r)
			list = append(list, Slice{Mark: r.Mark, Share: value.Share, Fraction: value.Fraction})
			if r.Key == "ready" {
				b.Ready = value.Share
			}
		}
		b.Parts, b.Spoken = stackOf(list), m.label+": "+spoken(list)
		out = append(out, b)
	}
	return out
}

// spoken says a bar to those who do not see it.
func spoken(list []Slice) string {
	var parts []string
	for _, s := range list {
		if s.Fraction > 0 {
			parts = append(parts, s.Mark.Word+" "+s.Share)
		}
	}
	return strings.Join(parts, ", ")
}

func rowBar(list []Slice) htmlBar {
	return htmlBar{Size: "thin", Parts: stackOf(list), Spoken: spoken(list)}
}

// candidatePage is a candidate with what only a page needs.
type candidatePage struct {
	*CandidateView
	Tabbed                     bool
	Charts                     map[string]Chart
	ReadinessTable, ClassTable sharesTable
	UnloggedTable              *sharesTable // nil: none are known
	Reasons                    []reasonPage
	Shown                      []queryPage
	Losses                     []LossGroup
	Findings                   []Finding // as in CandidateView, with percentages that do not break
	TransactionLine            string
	CrossColoLine              string
	MoreLosses                 string
	MoreQueries                string
	TxnBars                    []struct {
		Row TxnRow
		Bar htmlBar
	}
	TableRows []struct {
		Row TableView
		Bar htmlBar
	}
	TeamRows []struct {
		Row  TeamView
		Bar  htmlBar
		ToDo string
	}
}

type sharesTable struct {
	Caption, First string
	Marks          bool
	Rows           []ShareRow
}

type reasonPage struct {
	ReasonView
	TemplatesLine string
}

type queryPage struct {
	*QueryView
	Segments      []Segment
	Why           string
	Rank          int
	FirstTeam     []string
	FirstEndpoint string
}

func newCandidatePage(c *CandidateView, limit int, tabbed, library bool) candidatePage {
	p := candidatePage{
		CandidateView: c, Tabbed: tabbed, Charts: candidateCharts(c, library),
		ReadinessTable: sharesTable{"Readiness by calls, time and templates", "readiness", true, c.Readiness},
		ClassTable:     sharesTable{"Classes by calls, time and templates", "class", false, c.Classes},
	}
	if c.Unlogged != nil {
		p.UnloggedTable = &sharesTable{"Calls that the log does not have, by calls, time and templates", "readiness", true, c.Unlogged.Rows}
	}
	for _, r := range c.Reasons {
		p.Reasons = append(p.Reasons, reasonPage{r, plural(r.TemplatesN, "template", "templates")})
	}
	for i := range c.Queries[:min(len(c.Queries), limit)] {
		p.Shown = append(p.Shown, newQueryPage(&c.Queries[i]))
	}
	if more := len(c.Queries) - len(p.Shown); more > 0 {
		p.MoreQueries = Count(int64(more)) + " more, all with fewer calls, are in the JSON report"
	}
	for _, f := range c.Findings {
		p.Findings = append(p.Findings, Finding{f.Mark, whole(f.Text)})
	}
	p.TransactionLine, p.CrossColoLine = whole(c.TransactionLine), whole(c.CrossColoLine)
	p.Losses = c.Loss.Groups[:min(len(c.Loss.Groups), htmlLosses)]
	if more := len(c.Loss.Groups) - len(p.Losses); more > 0 {
		p.MoreLosses = Count(int64(more)) + " more tables are in the JSON report"
	}
	for _, r := range c.Transactions {
		p.TxnBars = append(p.TxnBars, struct {
			Row TxnRow
			Bar htmlBar
		}{r, rowBar([]Slice{{r.Mark, r.Measure.Share, r.Measure.Fraction, r.Measure.Number}})})
	}
	for _, t := range c.Tables {
		p.TableRows = append(p.TableRows, struct {
			Row TableView
			Bar htmlBar
		}{t, rowBar(t.Mix)})
	}
	for _, t := range c.Teams {
		todo := "nothing"
		if t.TemplatesToDo > 0 {
			todo = plural(t.TemplatesToDo, "template", "templates")
		}
		p.TeamRows = append(p.TeamRows, struct {
			Row  TeamView
			Bar  htmlBar
			ToDo string
		}{t, rowBar(t.Mix), todo})
	}
	return p
}

// whole keeps a line from ending between a number and its percent sign.
func whole(s string) string { return strings.ReplaceAll(s, " %", "\u00a0%") }

func newQueryPage(q *QueryView) queryPage {
	p := queryPage{QueryView: q, Segments: segments(q.SQL, q.Span), FirstTeam: q.Teams[:min(len(q.Teams), 1)]}
	if len(q.Reasons) > 0 {
		p.Why = q.Reasons[0].Message
		if more := len(q.Reasons) - 1; more > 0 {
			p.Why += " (and " + plural(int64(more), "more reason", "more reasons") + ")"
		}
	}
	for i, k := range readinessOrder {
		if k == q.Mark.Key {
			p.Rank = i
		}
	}
	if len(q.Endpoints) > 0 {
		p.FirstEndpoint = q.Endpoints[0]
	}
	return p
}
