package planner

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// session is what the statements of a text do to the ones after them: the search path, the prepared statements, the names they make.
type session struct {
	p             *Planner
	path          []string // now; nil is the catalog's own
	outer, before []string // outside of SET LOCAL; at BEGIN
	moved         bool     // the path was set since BEGIN
	lost          bool     // later texts may mean something else: the path or the reading of literals changed in a way that is not followed
	changed       map[string]bool
	prepared      map[string]Question
}

func (p *Planner) newSession(setup string) *session {
	s := &session{p: p, changed: map[string]bool{}, prepared: map[string]Question{}}
	s.path = p.searchPath(nil, setup)
	s.outer, s.before = s.path, s.path
	return s
}

// prepare keeps a prepared statement with the types of its parameters. Their modifiers do not count: PostgreSQL drops them.
func (s *session) prepare(made sqltext.Prepared, head, query, setup string) {
	s.prepared[made.Name] = Question{SQL: query, Setup: setup, declared: declaredTypes(head)}
}

// declaredTypes reads the types in PREPARE name (type, ...) AS.
func declaredTypes(head string) (types []string) {
	depth, start := 0, 0
	for i := 0; i < len(head); i++ {
		switch c := head[i]; {
		case c == '(':
			if depth++; depth == 1 {
				start = i + 1
			}
		case c == ')' && depth == 1, c == ',' && depth == 1:
			name, _, _ := strings.Cut(head[start:i], "(")
			types = append(types, strings.TrimSpace(name))
			start = i + 1
			if c == ')' {
				return types
			}
		case c == ')':
			depth--
		}
	}
	return types
}

// means tells whether the session's statements so far leave it open what a query's names or literals mean.
func (s *session) means(st *facts.Statement) (open bool, name string) {
	if st.Query == nil {
		return false, ""
	}
	if s.lost {
		return true, "search_path"
	}
	if len(s.changed) == 0 {
		return false, ""
	}
	check := func(key string) {
		if bare := bareName(key); s.changed[bare] {
			open, name = true, bare
		}
	}
	walkQuery(st.Query, func(q *facts.Query) {
		for _, src := range q.From {
			walkSource(src, func(x *facts.Source) { check(x.Table); check(x.View) })
		}
		if q.Write != nil {
			check(q.Write.Target.Table)
			check(q.Write.View)
		}
	})
	return open, name
}

func bareName(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// after takes in what a statement changed.
func (s *session) after(st *facts.Statement, vals *Values, text string) {
	if st.Query != nil {
		walkQuery(st.Query, func(q *facts.Query) {
			eachExpr(q, func(e *facts.Expr, _ place) {
				walkExpr(e, func(x *facts.Expr) { s.lost = s.lost || setsPath(x, vals) })
			})
		})
	}
	if u := st.Utility; u != nil {
		s.utility(u, text)
	}
}

func (s *session) utility(u *facts.Utility, text string) {
	switch u.Kind {
	case facts.UtilTransaction:
		s.transaction(u.Verb)
	case facts.UtilTwoPhase:
		s.transaction("commit")
	case facts.UtilSession:
		s.setting(u, text)
	case facts.UtilCreateTable, facts.UtilCreateTableAs, facts.UtilAlterTable, facts.UtilDrop, facts.UtilDDL, facts.UtilTrigger:
		for _, name := range append([]string{u.Name}, u.Tables...) {
			if name != "" {
				s.changed[bareName(name)] = true
			}
		}
		for i := range u.Actions {
			if a := &u.Actions[i]; a.Kind == "rename_table" {
				s.changed[bareName(a.Table)] = true
			}
		}
	}
}

func (s *session) transaction(verb string) {
	switch verb {
	case "begin":
		s.before, s.moved = s.outer, false
	case "commit":
		s.path, s.moved = s.outer, false
	case "rollback":
		s.outer, s.path, s.moved = s.before, s.before, false
	case "rollback_to":
		s.lost = s.lost || s.moved
	}
}

func (s *session) setting(u *facts.Utility, text string) {
	switch {
	case u.Verb == "discard" && u.Name == "all":
		s.path, s.outer = nil, nil
	case u.Name == "standard_conforming_strings" || u.Name == "transform_null_equals":
		s.lost = true
	case u.Name == "search_path" || u.Verb == "reset_all":
		s.path, s.moved = s.p.searchPath(s.path, text), true
		if u.Verb != "set_local" {
			s.outer = s.path
		}
	}
}

// setsPath tells a call of set_config that sets the search path, or may.
func setsPath(e *facts.Expr, vals *Values) bool {
	if e.Op != facts.Call || strings.TrimPrefix(e.Name, "pg_catalog.") != "set_config" || len(e.Args) == 0 {
		return false
	}
	a := e.Args[0]
	if a.Op != facts.Slot || a.Slot < 1 || a.Slot > len(vals.Slots) || vals.Slots[a.Slot-1].Kind != sqltext.String {
		return true
	}
	return slices.Contains([]string{"search_path", "standard_conforming_strings", "transform_null_equals"}, strings.ToLower(vals.Slots[a.Slot-1].Text))
}

// unclear is the verdict on a query whose names or literals an earlier statement of the text gave another meaning.
func (p *Planner) unclear(name string) Answer {
	v := p.unknown(reason.UnknownTable, "")
	v.Reasons = []reason.Reason{reason.New(reason.UnknownTable, -1, reason.Args{Table: name, Detail: "a statement before it in the text changes what the name means"})}
	return Answer{Verdict: v, Symbolic: Unknown}
}
