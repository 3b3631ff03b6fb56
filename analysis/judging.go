package analysis

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/sync/errgroup"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/facts"
)

// docket is what one candidate has to judge, and what the cache knows already.
type docket struct {
	candidate *candidate.Candidate
	judge     judging
	cache     string             // its name, "" none
	have      map[string]*judged // by template
	fresh     []*judged          // by index of builder.templates; nil where have has it
	missing   int
}

// judge begins to judge all templates under all candidates, on all CPUs, and returns: what it needs of the database it has read by then, so that
// the caller may go on with that. wait returns the verdicts of each candidate, sorted by template.
func (b *builder) judge(ctx context.Context, candidates []*candidate.Candidate) (wait func() ([][]*judged, error), err error) {
	dockets := make([]*docket, len(candidates))
	missing := 0
	for i, c := range candidates {
		dockets[i] = b.docket(ctx, c)
		missing += dockets[i].missing
	}
	if missing > 0 {
		if err := loadFacts(ctx, b.db, b.cat.Hash, b.templates); err != nil {
			return nil, err
		}
	}
	done := make(chan error, 1)
	go func() { done <- b.judgeAll(ctx, dockets) }()
	return func() ([][]*judged, error) {
		if err := <-done; err != nil {
			return nil, err
		}
		all := make([][]*judged, len(dockets))
		for i, d := range dockets {
			var err error
			if all[i], err = b.close(ctx, d); err != nil {
				return nil, err
			}
		}
		return all, nil
	}, nil
}

// docket looks up what was judged before.
func (b *builder) docket(ctx context.Context, c *candidate.Candidate) *docket {
	d := &docket{candidate: c, judge: b.o.judging(b.cat, c), fresh: make([]*judged, len(b.templates))}
	if b.o.PlannerVersion != "" {
		sum := sha256.Sum256([]byte(strings.Join([]string{c.Hash, b.o.PlannerVersion, b.cat.Hash, fmt.Sprint(facts.Version)}, "\x00")))
		d.cache = "verdicts/" + hex.EncodeToString(sum[:16])
	}
	d.have = b.cached(ctx, d.cache)
	for _, t := range b.templates {
		if d.have[t.id] == nil {
			d.missing++
		}
	}
	return d
}

func (b *builder) cached(ctx context.Context, name string) map[string]*judged {
	have := map[string]*judged{}
	if name == "" {
		return have
	}
	data, ok := b.w.Cache(ctx, name)
	var list []*judged
	if !ok || cbor.Unmarshal(data, &list) != nil {
		return have // a cache that does not read is made anew
	}
	for _, v := range list {
		have[v.Template] = v
	}
	return have
}

// judgeAll judges what the dockets miss. A template is decoded once for all candidates.
func (b *builder) judgeAll(ctx context.Context, dockets []*docket) error {
	g, ctx := errgroup.WithContext(ctx)
	const chunk = 64
	g.SetLimit(b.workers())
	for from := 0; from < len(b.templates); from += chunk {
		g.Go(func() error {
			for i := from; i < min(from+chunk, len(b.templates)); i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := judgeOne(b.templates[i], i, dockets); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func judgeOne(t *stored, i int, dockets []*docket) error {
	defer t.forget()
	for _, d := range dockets {
		if d.have[t.id] != nil {
			continue
		}
		v, err := d.judge(t)
		if err != nil {
			return fmt.Errorf("candidate %q: judge template %s: %w", d.candidate.Name, t.id, err)
		}
		d.fresh[i] = v
	}
	return nil
}

// close gathers the verdicts of a candidate, keeps them in the cache, and adds those on executions whose text could not be read.
func (b *builder) close(ctx context.Context, d *docket) ([]*judged, error) {
	out := make([]*judged, 0, len(b.templates)+len(b.hidden))
	for i, t := range b.templates {
		v := d.fresh[i]
		if v == nil {
			v = d.have[t.id]
		}
		out = append(out, v)
	}
	if d.cache != "" && d.missing > 0 {
		data, err := cbor.Marshal(out)
		if err != nil {
			return nil, fmt.Errorf("encode verdicts: %w", err)
		}
		if err := b.w.SetCache(ctx, d.cache, data); err != nil {
			b.note("verdicts are not cached: " + err.Error()) // a full disk must not keep anybody from reading
		}
	}
	for _, h := range b.hidden {
		out = append(out, hiddenVerdict(h))
	}
	slices.SortFunc(out, func(a, b *judged) int { return cmp.Compare(a.Template, b.Template) })
	return out, nil
}
