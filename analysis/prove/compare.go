package prove

import (
	"context"
	"fmt"
	"slices"

	"github.com/foreshard/foreshard/planner/candidate"
)

// compare gives the lines in which the shards' answers, put together as the verdict's features say, differ from the whole database's.
func (l *Lab) compare(ctx context.Context, p *plan, whole *answer, parts []*answer) ([]string, error) {
	if p.each {
		return compareEach(p, whole, parts), nil
	}
	var rows []string
	var count int64
	for i, a := range parts {
		if a.code != "" {
			return []string{fmt.Sprintf("+ %s fails: %s (%s)", p.sites[i].name, a.text, a.code)}, nil
		}
		rows = append(rows, a.rows...)
		count += a.count
	}
	want := whole.rows
	if p.distinct {
		want, rows = asSet(want), asSet(rows)
	}
	diff := diffBags(want, rows)
	if !p.distinct && whole.count != count {
		diff = append(diff, fmt.Sprintf("- %d rows affected", whole.count), fmt.Sprintf("+ %d rows affected", count))
	}
	state, err := l.unionState(ctx, p, parts)
	if err != nil {
		return nil, err
	}
	diff = append(diff, diffStates(whole.state, state)...)
	for i, a := range parts {
		for _, line := range a.strays {
			diff = append(diff, fmt.Sprintf("+ %s: %s", p.sites[i].name, line))
		}
	}
	return diff, nil
}

// unionState puts the watched tables together again: the touched shards as the statement left them, the others as they were.
func (l *Lab) unionState(ctx context.Context, p *plan, parts []*answer) (map[string][]string, error) {
	state := map[string][]string{}
	for _, t := range p.watch {
		var rows []string
		for i := range parts {
			rows = append(rows, parts[i].state[t.Key]...)
		}
		if t.Placement == candidate.Sharded {
			for _, s := range l.shards[t.Colo.Name] {
				if slices.Contains(p.sites, s) {
					continue
				}
				before, err := l.before(ctx, s, t)
				if err != nil {
					return nil, err
				}
				rows = append(rows, before...)
			}
		}
		state[t.Key] = rows
	}
	return state, nil
}

// discriminated says whether a wrong verdict would have shown: for one shard, whether another shard answers otherwise; for several, whether
// more than one contributes.
func (l *Lab) discriminated(ctx context.Context, p *plan, whole *answer, parts []*answer) (bool, error) {
	if p.each {
		return true, nil
	}
	if len(parts) > 1 {
		some := 0
		for _, a := range parts {
			if len(a.rows) > 0 || a.count > 0 {
				some++
			}
		}
		return some > 1, nil
	}
	if p.other == nil {
		return true, nil
	}
	a, err := l.ask(ctx, p.other, p, p.watch)
	if err != nil {
		return false, err
	}
	if p.none {
		// Nothing sharded qualifies: any shard must give the answer, and this second one is a second witness.
		return a.code == "" && len(diffBags(whole.rows, a.rows)) == 0, nil
	}
	return a.code != "" || a.count != whole.count || len(diffBags(whole.rows, a.rows)) > 0, nil
}
