package analysis

import (
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/fix"
	"github.com/foreshard/foreshard/planner/sqltext"
	"golang.org/x/sync/errgroup"
)

// fixedQueries is how many templates of a candidate get fixes: the ones that are not ready and carry most calls. Each takes a hundred judgements,
// and a report shows no more.
const fixedQueries = 20

// fixes looks for changes that would help the first queries of a report. A template whose stored verdict is not the planner's own gets none.
func (b *builder) fixes(c *candidate.Candidate, texts map[string]*stored, r *CandidateReport) error {
	p := planner.New(b.cat, c)
	var g errgroup.Group
	g.SetLimit(b.workers())
	for i := range r.Queries {
		q := &r.Queries[i]
		q.Fixes = []planner.Fix{}
		t := texts[q.ID]
		if i >= fixedQueries || t == nil || q.Readiness == string(planner.Ready) {
			continue
		}
		g.Go(func() error {
			slots, err := sqltext.DecodeSlots(t.slots)
			if err != nil {
				return err
			}
			tmpl := sqltext.NewTemplate(t.text, slots)
			path := splitPath(t.search)
			if v := fix.Judge(p, tmpl, path); string(v.Class) == q.Class {
				q.Fixes = fix.Template(p, tmpl, path, v)
			}
			return nil
		})
	}
	return g.Wait()
}
