package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
)

// annotations tries to say what the functions touch that the statement calls, or that its triggers run: the tables that their bodies name.
func (s *search) annotations() {
	if !s.has(reason.OpaqueFunction, reason.Trigger) {
		return
	}
	cand := s.p.Candidate()
	names := s.opaque()
	if len(names) == 0 || len(names) > 4 {
		return
	}
	yaml := "functions:\n"
	var said []string
	known := true
	for _, name := range names {
		f, whole, ok := s.body(name)
		if !ok {
			return
		}
		known = known && whole
		cand = cand.Annotate(name, f)
		var tables []string
		for _, t := range f.Tables {
			tables = append(tables, yamlName(s.sqlName(t)))
		}
		shown := strings.TrimPrefix(name, "public.")
		extra := ""
		if s.p.Catalog().Functions[name] == nil {
			extra = ", extension: true"
		}
		yaml += fmt.Sprintf("  %s: {volatility: %s, tables: [%s]%s}\n", yamlName(shown), volatility(f.Volatility), strings.Join(tables, ", "), extra)
		touches := "no table"
		if len(tables) > 0 {
			touches = strings.Join(tables, ", ")
		}
		said = append(said, fmt.Sprintf("say in the candidate that function %s touches %s", named(shown), touches))
	}
	v, ok := s.try(planner.New(s.p.Catalog(), cand), s.text, false)
	if !ok {
		return
	}
	sem := "right if it is so: the bodies name no other table"
	if !known {
		sem = "right if it is so: the schema does not show all that they do"
	}
	s.offer(planner.Fix{Kind: Annotate, Change: strings.Join(said, "; "), Candidate: yaml, Semantics: sem}, &v)
}

// opaque lists the functions that the candidate would have to describe, sorted.
func (s *search) opaque() []string {
	var names []string
	add := func(name string) {
		f, ok := s.p.Candidate().Functions[name]
		if name != "" && !slices.Contains(names, name) && (!ok || !f.Known) {
			names = append(names, name)
		}
	}
	facts.Walk(s.st.Query, func(*facts.Source) bool { return true }, func(e *facts.Expr) bool {
		switch e.Op {
		case facts.Call, facts.Aggregate, facts.Window:
			if e.UDF || e.Volatility == facts.VolUnknown {
				add(e.Name)
			}
		}
		return true
	})
	if w := s.st.Query.Write; w != nil && s.has(reason.Trigger) {
		if rel := s.relation(w.Target.Table); rel != nil {
			for _, t := range rel.Triggers {
				add(t.Function)
			}
		}
	}
	slices.Sort(names)
	return names
}

// body reads what a function's body names. whole tells that the body can be seen and builds no statements at run time.
func (s *search) body(name string) (f candidate.Function, whole, ok bool) {
	overloads := s.p.Catalog().Functions[name]
	f = candidate.Function{Known: true, Tables: []string{}, Volatility: 's'}
	if len(overloads) == 0 {
		return f, false, true
	}
	whole = true
	words := s.p.Catalog().Words()
	for _, o := range overloads {
		f.Volatility = worse(f.Volatility, o.Volatility)
		if o.Body == "" || o.Language != "sql" && o.Language != "plpgsql" {
			whole = false
			continue
		}
		tables, dynamic, err := words.Mentions(o.Body)
		if err != nil {
			return f, false, false
		}
		whole = whole && !dynamic
		calls, err := words.Calls(o.Body)
		if err != nil {
			return f, false, false
		}
		whole = whole && len(calls) == 0
		for _, t := range tables {
			if root := s.p.Catalog().Root(t); root != nil && root.Kind != catalog.View {
				f.Tables = append(f.Tables, root.Key())
			}
		}
	}
	slices.Sort(f.Tables)
	f.Tables = slices.Compact(f.Tables)
	return f, whole, true
}

func worse(a, b byte) byte {
	if a == 'v' || b == 'v' {
		return 'v'
	}
	return 's'
}

func volatility(v byte) string {
	if v == 'v' {
		return "volatile"
	}
	return "stable"
}
