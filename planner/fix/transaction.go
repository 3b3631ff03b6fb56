package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/sqlast"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// part is one statement of a transaction.
type part struct {
	text   string
	answer planner.Answer
}

// transaction looks for fixes of a text of several statements: a fix of each that is not ready, together, and transactions of one key each
// where all are.
func transaction(p *planner.Planner, q planner.Question, spans []sqltext.Span, a planner.Answer) []planner.Fix {
	if len(spans) > 32 || len(q.SQL) > maxText {
		return []planner.Fix{}
	}
	var parts []part
	ready := true
	for _, span := range spans {
		one := planner.Question{SQL: q.SQL[span.Start:span.End], Params: q.Params, Setup: q.Setup + ";\n" + q.SQL[:span.Start]}
		parts = append(parts, part{one.SQL, p.Explain(one)})
		ready = ready && parts[len(parts)-1].answer.Readiness == planner.Ready
	}
	judge := func(text string) planner.Answer {
		return p.Explain(planner.Question{SQL: text, Params: q.Params, Setup: q.Setup})
	}
	if ready {
		return finish(split(parts, a, judge))
	}
	return finish(repair(p, q, spans, parts, a, judge))
}

// repair changes each statement that is not ready, and judges the whole.
func repair(p *planner.Planner, q planner.Question, spans []sqltext.Span, parts []part, a planner.Answer, judge func(string) planner.Answer) []planner.Fix {
	text := q.SQL
	var borrowed []string
	for i := range parts {
		if len(borrowed) < 3 {
			borrowed = append(borrowed, valuesOf(p, q, spans[i])...)
		}
	}
	var changes, terms []string
	kind := ""
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].answer.Readiness == planner.Ready {
			continue
		}
		one := planner.Question{SQL: parts[i].text, Params: q.Params, Setup: q.Setup + ";\n" + q.SQL[:spans[i].Start]}
		best := -1
		fixes := finish(explainOne(p, one, parts[i].answer.Verdict, borrowed))
		for k, f := range fixes {
			if f.SQL != "" && f.Candidate == "" && (best < 0 || rank(f.Readiness) < rank(fixes[best].Readiness)) {
				best = k
			}
		}
		if best < 0 {
			return nil
		}
		f := fixes[best]
		text = text[:spans[i].Start] + f.SQL + text[spans[i].End:]
		changes = append(changes, fmt.Sprintf("statement %d: %s", i+1, f.Change))
		terms = append(terms, f.Semantics)
		kind = f.Kind
	}
	after := judge(text)
	if !better(&a.Verdict, &after.Verdict) {
		return nil
	}
	slices.Reverse(changes)
	slices.Reverse(terms)
	return []planner.Fix{{
		Kind: kind, Change: strings.Join(changes, "; "), SQL: text, Class: after.Class, Readiness: after.Readiness, Semantics: strings.Join(slices.Compact(terms), "; "),
	}}
}

// valuesOf lists the values that a statement of a transaction compares its keys with.
func valuesOf(p *planner.Planner, q planner.Question, span sqltext.Span) []string {
	one := planner.Question{SQL: q.SQL[span.Start:span.End], Params: q.Params, Setup: q.Setup + ";\n" + q.SQL[:span.Start]}
	st, at, ok := p.Facts(one)
	tree, err := sqlast.ParseOne(one.SQL)
	if !ok || err != nil || st.Query == nil {
		return nil
	}
	s := &search{p: p, text: one.SQL, st: st, at: at}
	s.read(tree)
	return s.values
}

// split makes a transaction of each run of statements with one key.
func split(parts []part, a planner.Answer, judge func(string) planner.Answer) []planner.Fix {
	var groups [][]string
	last := ""
	for _, one := range parts {
		if one.answer.Class == planner.Session {
			if word := strings.ToLower(strings.TrimSpace(one.text)); !strings.HasPrefix(word, "begin") && !strings.HasPrefix(word, "start") &&
				!strings.HasPrefix(word, "commit") && !strings.HasPrefix(word, "end") {
				return nil
			}
			continue
		}
		key := string(one.answer.Class)
		for _, b := range one.answer.Bindings {
			key = b.Colo + "\x00" + strings.Join(b.Values, "\x00")
		}
		if key != last || len(groups) == 0 {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], strings.TrimSpace(one.text))
		last = key
	}
	if len(groups) < 2 {
		return nil
	}
	var texts []string
	worst := planner.Answer{}
	for i, g := range groups {
		text := strings.Join(g, ";\n")
		if len(g) > 1 {
			text = "BEGIN;\n" + text + ";\nCOMMIT"
		}
		v := judge(text)
		if i == 0 || rank(v.Readiness) > rank(worst.Readiness) || planner.Cost(v.Class) > planner.Cost(worst.Class) {
			worst = v
		}
		texts = append(texts, text)
	}
	if !better(&a.Verdict, &worst.Verdict) {
		return nil
	}
	return []planner.Fix{{
		Kind: Transaction, Change: fmt.Sprintf("split the transaction into %d, one for each value of the shard key", len(groups)), SQL: strings.Join(texts, ";\n") + ";",
		Class: worst.Class, Readiness: worst.Readiness, Semantics: "not atomic any more: right if the application can finish or undo the rest after a failure, from an outbox or a job",
	}}
}
