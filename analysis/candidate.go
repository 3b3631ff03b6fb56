package analysis

import (
	"cmp"
	"context"
	"database/sql/driver"
	"maps"
	"slices"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/reason"
)

// tables that hold the verdicts in DuckDB, for the queries to join.
const verdictTables = `
CREATE TEMP TABLE verdicts (candidate INTEGER, template VARCHAR, class VARCHAR, readiness VARCHAR, layout_dependent BOOLEAN);
CREATE TEMP TABLE verdict_reasons (candidate INTEGER, template VARCHAR, code VARCHAR);
CREATE TEMP TABLE verdict_tables (candidate INTEGER, template VARCHAR, table_name VARCHAR);
CREATE TEMP TABLE verdict_pairs (candidate INTEGER, template VARCHAR, left_table VARCHAR, right_table VARCHAR);
CREATE TEMP TABLE placements (candidate INTEGER, table_name VARCHAR, column_name VARCHAR, colo VARCHAR, shards INTEGER);
`

type adder = func(...driver.Value) error

// register puts the verdicts of all candidates into DuckDB.
func (b *builder) register(ctx context.Context, candidates []*candidate.Candidate, all [][]*judged) error {
	if err := b.db.Exec(ctx, verdictTables); err != nil {
		return err
	}
	each := func(row func(add adder, i int, v *judged) error) func(adder) error {
		return func(add adder) error {
			for i := range all {
				for _, v := range all[i] {
					if err := row(add, i, v); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	for _, t := range []struct {
		name string
		fill func(adder) error
	}{
		{"verdicts", each(func(add adder, i int, v *judged) error {
			return add(int32(i), v.Template, v.Class, v.Readiness, v.LayoutDependent)
		})},
		{"verdict_reasons", each(func(add adder, i int, v *judged) error {
			return addAll(v.codes(), func(code string) error { return add(int32(i), v.Template, code) })
		})},
		{"verdict_tables", each(func(add adder, i int, v *judged) error {
			return addAll(v.Tables, func(table string) error { return add(int32(i), v.Template, table) })
		})},
		{"verdict_pairs", each(func(add adder, i int, v *judged) error {
			return addAll(v.pairs(), func(p [2]string) error { return add(int32(i), v.Template, p[0], p[1]) })
		})},
		{"placements", func(add adder) error { return addPlacements(add, candidates) }},
	} {
		if err := b.db.Append(ctx, t.name, t.fill); err != nil {
			return err
		}
	}
	return nil
}

func addAll[T any](list []T, add func(T) error) error {
	for _, e := range list {
		if err := add(e); err != nil {
			return err
		}
	}
	return nil
}

func addPlacements(add adder, candidates []*candidate.Candidate) error {
	for i, c := range candidates {
		for _, key := range slices.Sorted(maps.Keys(c.Tables)) {
			if t := c.Tables[key]; t.Placement == candidate.Sharded {
				if err := add(int32(i), key, t.Column, t.Colo.Name, int32(t.Colo.Shards)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// codes are the distinct reasons why a template is not ready: those that the registry calls blocking, or all if none is.
func (v *judged) codes() []string {
	if v.Readiness == string(planner.Ready) {
		return nil
	}
	var all, blocking []string
	for _, r := range v.Reasons {
		all = append(all, r.Code)
		if reason.Blocking(r.Code) {
			blocking = append(blocking, r.Code)
		}
	}
	if len(blocking) > 0 {
		all = blocking
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pairs are the distinct cross-colo joins, each with its smaller table first.
func (v *judged) pairs() [][2]string {
	var out [][2]string
	for _, p := range v.Pairs {
		if p[0] > p[1] {
			p[0], p[1] = p[1], p[0]
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// candidate builds the report of the i-th candidate.
func (b *builder) candidate(ctx context.Context, i int, c *candidate.Candidate, verdicts []*judged) (*CandidateReport, error) {
	r := &CandidateReport{Name: c.Name, Hash: c.Hash, Dialect: c.Dialect.Name}
	byID := make(map[string]*judged, len(verdicts))
	for _, v := range verdicts {
		byID[v.Template] = v
	}
	var err error
	if r.Transactions, err = b.transactions(byID); err != nil {
		return nil, err
	}
	for _, part := range []func(context.Context, int, *CandidateReport) error{b.shares, b.reasons, b.crossColo, b.teams, b.skew} {
		if err := part(ctx, i, r); err != nil {
			return nil, err
		}
	}
	if err := b.tables(ctx, i, c, r); err != nil {
		return nil, err
	}
	if err := b.writes(ctx, i, c, r); err != nil {
		return nil, err
	}
	r.SchemaFindings = schemaFindings(b.cat, c, b.keyUpdates(c, verdicts, r.Writes)...)
	b.names(c, verdicts, r)
	if err := b.queries(c, verdicts, r); err != nil {
		return nil, err
	}
	return r, nil
}

func newShare() Share { return Share{ByClass: map[string]float64{}, ByReadiness: map[string]float64{}} }

func (s *Share) add(class, readiness string, v float64) {
	s.Total += v
	s.ByClass[class] += v
	s.ByReadiness[readiness] += v
}

// ms turns microseconds into milliseconds.
func ms(us int64) float64 { return float64(us) / 1000 }

func (b *builder) shares(ctx context.Context, i int, r *CandidateReport) error {
	r.Calls, r.TimeMS, r.Templates = newShare(), newShare(), newShare()
	byClass, byReadiness, total := map[string]int64{}, map[string]int64{}, int64(0)
	err := b.db.Each(ctx, query("shares.sql"), func(scan func(...any) error) error {
		var class, readiness string
		var calls, us, templates int64
		var dependent *int64
		if err := scan(&class, &readiness, &calls, &us, &templates, &dependent); err != nil {
			return err
		}
		r.Calls.add(class, readiness, float64(calls))
		r.Templates.add(class, readiness, float64(templates))
		byClass[class] += us
		byReadiness[readiness] += us
		total += us
		if dependent != nil {
			r.LayoutDependentCalls += *dependent
		}
		return nil
	}, i)
	// Microseconds are summed as integers, so that the order of rows cannot show in the last digit.
	r.TimeMS.Total = ms(total)
	for class, us := range byClass {
		r.TimeMS.ByClass[class] = ms(us)
	}
	for readiness, us := range byReadiness {
		r.TimeMS.ByReadiness[readiness] = ms(us)
	}
	return err
}

func (b *builder) reasons(ctx context.Context, i int, r *CandidateReport) error {
	r.Reasons = []ReasonReport{}
	return b.db.Each(ctx, query("reasons.sql"), func(scan func(...any) error) error {
		var q ReasonReport
		var us int64
		var top any
		if err := scan(&q.Code, &q.Calls, &us, &q.Templates, &top); err != nil {
			return err
		}
		q.TimeMS = ms(us)
		if info, ok := reason.Of(q.Code); ok {
			q.Short, q.Hint = info.Short, info.Hint
		}
		var err error
		q.Top, err = texts(top)
		r.Reasons = append(r.Reasons, q)
		return err
	}, i)
}

func (b *builder) crossColo(ctx context.Context, i int, r *CandidateReport) error {
	r.CrossColoJoins.Pairs = []ColoPair{}
	err := b.db.Each(ctx, query("pairs.sql"), func(scan func(...any) error) error {
		var p ColoPair
		var us int64
		err := scan(&p.Left, &p.Right, &p.Calls, &us, &p.Templates)
		p.TimeMS = ms(us)
		r.CrossColoJoins.Pairs = append(r.CrossColoJoins.Pairs, p)
		return err
	}, i)
	if err != nil {
		return err
	}
	return b.db.Each(ctx, query("cross.sql"), func(scan func(...any) error) error {
		var us int64
		err := scan(&r.CrossColoJoins.Calls, &us, &r.CrossColoJoins.Templates)
		r.CrossColoJoins.TimeMS = ms(us)
		return err
	}, i)
}

func (b *builder) teams(ctx context.Context, i int, r *CandidateReport) error {
	r.Teams = []TeamReport{}
	err := b.db.Each(ctx, query("teams.sql"), func(scan func(...any) error) error {
		var owner, readiness string
		var calls, templates int64
		if err := scan(&owner, &readiness, &calls, &templates); err != nil {
			return err
		}
		if n := len(r.Teams); n == 0 || r.Teams[n-1].Team != owner {
			r.Teams = append(r.Teams, TeamReport{Team: owner, ByReadiness: map[string]int64{}})
		}
		t := &r.Teams[len(r.Teams)-1]
		t.Calls += calls
		t.Templates += templates
		t.ByReadiness[readiness] += calls
		if readiness == string(planner.Ready) {
			t.TemplatesReady += templates
		}
		return nil
	}, i)
	slices.SortStableFunc(r.Teams, func(a, b TeamReport) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Team, b.Team)) })
	return err
}

func (b *builder) skew(ctx context.Context, i int, r *CandidateReport) error {
	r.Skew = []SkewReport{}
	return b.db.Each(ctx, query("skew.sql"), func(scan func(...any) error) error {
		var s SkewReport
		var busiest int64
		if err := scan(&s.Colo, &s.Shards, &s.Calls, &busiest); err != nil {
			return err
		}
		s.MaxShare = float64(busiest) / float64(s.Calls)
		s.MaxMean = s.MaxShare * float64(s.Shards)
		r.Skew = append(r.Skew, s)
		return nil
	}, i)
}
