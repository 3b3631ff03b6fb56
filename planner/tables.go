package planner

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/reason"
)

// TableUse is one table that a statement touches.
type TableUse struct {
	Table string // catalog key
	Write bool   // its rows or its definition change
}

// Tables lists the tables a statement touches, sorted, each once; it needs no candidate. Temporary tables, system catalogs and names that the
// catalog lacks are not in it.
func Tables(st *facts.Statement) []TableUse {
	uses := []TableUse{}
	add := func(key string, write bool) {
		i, found := slices.BinarySearchFunc(uses, key, func(u TableUse, k string) int { return strings.Compare(u.Table, k) })
		if !found {
			uses = slices.Insert(uses, i, TableUse{Table: key})
		}
		uses[i].Write = uses[i].Write || write
	}
	source := func(s *facts.Source, write bool) {
		if s != nil && s.Kind == facts.FromTable && !s.System && !s.Temp && s.Table != "" {
			add(s.Table, write)
		}
	}
	walkQuery(st.Query, func(q *facts.Query) {
		for _, src := range q.From {
			walkSource(src, func(s *facts.Source) { source(s, false) })
		}
		if q.Write != nil {
			source(q.Write.Target, true)
		}
	})
	if u := st.Utility; u != nil {
		changes := u.Write
		switch u.Kind {
		case facts.UtilAlterTable, facts.UtilCreateIndex, facts.UtilDrop, facts.UtilTruncate, facts.UtilCreateTable, facts.UtilTrigger:
			changes = true
		}
		for _, key := range u.Tables {
			if !slices.Contains(u.Missing, key) && !strings.HasPrefix(key, "pg_catalog.") && !strings.HasPrefix(key, "information_schema.") && !u.Temp {
				add(key, changes)
			}
		}
	}
	return uses
}

// sizeClass judges functions that measure a table given by name: a sharded one is the sum over the shards. It reports false where no name
// is that of a sharded or unknown table.
func (j *judge) sizeClass(r *result) bool {
	class := None
	for _, e := range j.seen.sizes {
		name, ok := j.nameValue(e)
		if !ok {
			class = Scatter // the name is a value: it may be any table
			continue
		}
		schema, table, qualified := strings.Cut(name, ".")
		if !qualified {
			schema, table = "", name
		}
		rel := j.p.cat.Relation(nil, unquote(schema), unquote(table))
		if rel == nil {
			continue
		}
		if t := j.p.cand.Table(rel.Key()); t.Placement == candidate.Sharded || t.Placement == candidate.Undecided {
			class = Scatter
		}
	}
	if class == None {
		return false
	}
	if j.seen.local || j.seen.temp || j.seen.reference {
		class = MultiPhase
	}
	j.note(reason.KeyMissing, -1, reason.Args{})
	j.feature(policy.PartialAgg)
	r.class = class
	return true
}

// nameValue is the text of a constant that names a table.
func (j *judge) nameValue(e *facts.Expr) (string, bool) {
	for e.Op == facts.Cast {
		e = e.Args[0]
	}
	switch {
	case e.Op == facts.Const && e.Literal:
		return e.Text, true
	case e.Op == facts.Slot && j.vals != nil && e.Slot >= 1 && e.Slot <= len(j.vals.Slots):
		v := j.vals.Slots[e.Slot-1]
		return v.Text, !v.Null && v.List == nil
	}
	return "", false
}

func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
	}
	return strings.ToLower(s)
}
