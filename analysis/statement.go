package analysis

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// resolver is the pipeline's view of the planner under one catalog.
type resolver struct{ cat *catalog.Catalog }

var _ pipeline.Resolver = resolver{}

// Resolve extracts the facts of a template. It does not fail: what the planner does not understand is in the facts.
func (r resolver) Resolve(t *sqltext.Template, search string) (pipeline.Resolved, error) {
	st := resolveStatement(t, search, r.cat)
	return pipeline.Resolved{Facts: facts.Encode(st), Version: facts.Version, Slots: sqltext.EncodeSlots(t.Slots), Unparsed: unparsed(t, st),
		Control: control(st), Values: valueSlots(st, r.cat)}, nil
}

func resolveStatement(t *sqltext.Template, search string, cat *catalog.Catalog) *facts.Statement {
	return resolve.Statement(t, cat, resolve.Options{SearchPath: splitPath(search)})
}

// unparsed is the ledger's reason for a template that the parser refused or never saw; "" for one that has facts. A name that the schema
// lacks is no such reason: the statement was read.
func unparsed(t *sqltext.Template, st *facts.Statement) string {
	switch t.Bound {
	case sqltext.TooLong:
		return "too_long"
	case sqltext.TooDeep:
		return "too_deep"
	case sqltext.Unlexable:
		return "unlexable"
	}
	for _, p := range st.Problems {
		if p.Code == reason.Unparsed || p.Code == reason.Internal {
			return p.Code
		}
	}
	return ""
}

// control says that a statement steers the session or the transaction and touches no data.
func control(st *facts.Statement) bool {
	return st.Query == nil && st.Utility != nil && (st.Utility.Kind == facts.UtilTransaction || st.Utility.Kind == facts.UtilSession)
}

// writes says whether a statement changes rows or objects anywhere, in doubt yes.
func writes(st *facts.Statement) bool {
	if u := st.Utility; u != nil {
		switch u.Kind {
		case facts.UtilTransaction, facts.UtilSession, facts.UtilNotify:
			return false
		case facts.UtilDeclare, facts.UtilPrepare:
			return queryWrites(st.Query)
		case facts.UtilExplain, facts.UtilCopy:
			return u.Write
		}
		return true
	}
	return queryWrites(st.Query)
}

func queryWrites(q *facts.Query) bool {
	if q == nil {
		return false
	}
	return q.Write != nil || q.Into != "" || len(q.Locks) > 0 ||
		slices.ContainsFunc(q.CTEs, func(c facts.CTE) bool { return queryWrites(c.Query) })
}

// missingTables lists the tables of a statement that the schema lacks.
func missingTables(st *facts.Statement) []string {
	var out []string
	if st.Utility != nil {
		out = append(out, st.Utility.Missing...)
	}
	for _, p := range st.Problems {
		if p.Name != "" {
			out = append(out, p.Name)
		}
	}
	out = slices.DeleteFunc(out, system)
	slices.Sort(out)
	return slices.Compact(out)
}

func system(key string) bool {
	return strings.HasPrefix(key, "pg_catalog.") || strings.HasPrefix(key, "information_schema.") || strings.HasPrefix(key, "pg_temp.")
}

// splitPath reads a search_path setting: names separated by commas, in double quotes or folded. "$user" is left out, as PostgreSQL leaves
// out a schema that does not exist.
func splitPath(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; {
		var name string
		switch s[0] {
		case '"':
			name, s = quoted(s, '"')
		case '\'':
			name, s = quoted(s, '\'')
		default:
			i := strings.IndexByte(s, ',')
			if i < 0 {
				i = len(s)
			}
			name, s = strings.ToLower(strings.TrimSpace(s[:i])), s[i:]
		}
		if name != "" && name != "$user" {
			out = append(out, name)
		}
		s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), ","))
	}
	return out
}

// quoted takes a quoted name from the front of s; a doubled quote is one.
func quoted(s string, q byte) (name, rest string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != q {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == q {
			b.WriteByte(q)
			i++
			continue
		}
		return b.String(), s[i+1:]
	}
	return b.String(), ""
}
