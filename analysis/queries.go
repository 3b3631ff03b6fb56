package analysis

import (
	"cmp"
	"context"
	"slices"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/impact"
)

func compareSources(a, b SourceReport) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Executions, b.Executions))
}

func (b *builder) tables(ctx context.Context, i int, c *candidate.Candidate, r *CandidateReport) error {
	r.Tables = []TableReport{}
	us := map[string]int64{}
	err := b.db.Each(ctx, query("tables.sql"), func(scan func(...any) error) error {
		var table, readiness string
		var calls, time, templates int64
		if err := scan(&table, &readiness, &calls, &time, &templates); err != nil {
			return err
		}
		if n := len(r.Tables); n == 0 || r.Tables[n-1].Table != table {
			r.Tables = append(r.Tables, placed(c, table))
		}
		t := &r.Tables[len(r.Tables)-1]
		t.Calls += calls
		t.Templates += templates
		t.ByReadiness[readiness] += calls
		us[table] += time
		return nil
	}, i)
	for j := range r.Tables {
		r.Tables[j].TimeMS = ms(us[r.Tables[j].Table])
	}
	slices.SortStableFunc(r.Tables, func(a, b TableReport) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Table, b.Table))
	})
	return err
}

// placed starts a table's report with where the candidate puts it.
func placed(c *candidate.Candidate, table string) TableReport {
	t := c.Table(table)
	r := TableReport{Table: table, ByReadiness: map[string]int64{}, Placement: placement(t.Placement)}
	if t.Placement == candidate.Sharded {
		r.Colo, r.Key = t.Colo.Name, t.Column
	}
	return r
}

func placement(p candidate.Placement) string {
	switch p {
	case candidate.Sharded:
		return "sharded"
	case candidate.Reference:
		return "reference"
	case candidate.Unsharded:
		return "unsharded"
	}
	return "undecided"
}

// names lists the tables in the traffic that the candidate does not name, and those that the schema lacks.
func (b *builder) names(c *candidate.Candidate, verdicts []*judged, r *CandidateReport) {
	undecided, missing := map[string]bool{}, map[string]bool{}
	for _, v := range verdicts {
		if _, seen := b.totals[v.Template]; !seen {
			continue
		}
		for _, t := range v.Missing {
			missing[t] = true
		}
		for _, t := range v.Tables {
			if b.cat.Relations[t] != nil && c.Table(t).Placement == candidate.Undecided {
				undecided[t] = true
			}
		}
	}
	r.Undecided, r.Missing = sortedKeys(undecided), sortedKeys(missing)
}

func sortedKeys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// schemaFindings lists what of the schema the candidate breaks or weakens, and what the traffic does to it.
func schemaFindings(cat *catalog.Catalog, c *candidate.Candidate, traffic ...impact.Finding) []SchemaFinding {
	out := []SchemaFinding{}
	all := append(impact.Check(cat, c), traffic...)
	impact.Sort(all)
	for _, f := range all {
		out = append(out, SchemaFinding{Code: f.Code, Severity: string(f.Severity), Table: f.Table, Object: f.Object, Kind: f.Kind, Why: f.Why,
			Repair: f.Repair, Line: f.Line})
	}
	return out
}

// queries lists the templates with traffic: those that are not ready first, most calls first.
func (b *builder) queries(c *candidate.Candidate, verdicts []*judged, r *CandidateReport) error {
	texts := make(map[string]*stored, len(b.templates))
	for _, t := range b.templates {
		texts[t.id] = t
	}
	type weighted struct {
		*judged
		rank  int
		calls int64
	}
	seen := make([]weighted, 0, len(verdicts))
	for _, v := range verdicts {
		if t, ok := b.totals[v.Template]; ok {
			seen = append(seen, weighted{v, readyRank(v), t.calls})
		}
	}
	slices.SortFunc(seen, func(x, y weighted) int {
		if x.rank != y.rank || x.calls != y.calls {
			return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(y.calls, x.calls))
		}
		return cmp.Compare(x.Template, y.Template)
	})
	if b.o.MaxQueries > 0 && len(seen) > b.o.MaxQueries {
		seen = seen[:b.o.MaxQueries]
	}
	r.Queries = make([]QueryReport, len(seen))
	for i, v := range seen {
		r.Queries[i] = b.queryReport(v.judged, texts[v.Template])
	}
	if err := b.fixes(c, texts, r); err != nil {
		return err
	}
	for i := range r.Queries {
		if t := texts[r.Queries[i].ID]; t != nil {
			r.Queries[i].show(t)
		}
	}
	return nil
}

func readyRank(v *judged) int {
	if v.Readiness == string(planner.Ready) {
		return 1
	}
	return 0
}

func (b *builder) queryReport(v *judged, t *stored) QueryReport {
	n := b.totals[v.Template]
	q := QueryReport{ID: v.Template, Text: hiddenText(v.Template), Class: v.Class, Readiness: v.Readiness, Reasons: v.Reasons,
		Features: v.Features, Tables: v.Tables, Calls: n.calls, Errors: n.errors, TimeMS: ms(n.us), P95MS: b.p95[v.Template],
		LayoutDependent: v.LayoutDependent, MissingFeatures: orEmpty(v.Lacking)}
	if t != nil {
		q.Text = t.text
	}
	if o := b.origins[v.Template]; o != nil {
		q.Teams, q.Endpoints, q.Apps = o.teams, o.endpoints, o.apps
	}
	q.Reasons, q.Features, q.Tables = orEmpty(q.Reasons), orEmpty(q.Features), orEmpty(q.Tables)
	q.Teams, q.Endpoints, q.Apps = orEmpty(q.Teams), orEmpty(q.Endpoints), orEmpty(q.Apps)
	return q
}

// hiddenText stands for the text of executions whose text was never kept.
func hiddenText(name string) string {
	return "-- text not kept: " + name[min(len(hiddenPrefix), len(name)):]
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// flips lists the templates whose readiness differs between the candidates, most calls first.
func (b *builder) flips(candidates []*candidate.Candidate, all [][]*judged) []Flip {
	out := []Flip{}
	byID := make([]map[string]*judged, len(all))
	for i := range all {
		byID[i] = make(map[string]*judged, len(all[i]))
		for _, v := range all[i] {
			byID[i][v.Template] = v
		}
	}
	for _, t := range b.templates {
		n, seen := b.totals[t.id]
		if !seen {
			continue
		}
		f := Flip{ID: t.id, Calls: n.calls, Readiness: map[string]string{}, Class: map[string]string{}}
		differ := false
		for i, c := range candidates {
			v := byID[i][t.id]
			differ = differ || v.Readiness != byID[0][t.id].Readiness
			f.Readiness[c.Name], f.Class[c.Name] = v.Readiness, v.Class
		}
		if differ {
			f.Text = t.shown()
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Flip) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.ID, b.ID)) })
	return out
}
