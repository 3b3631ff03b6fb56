package catalog

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// volatileBuiltins are the builtin functions that give another value for each row and that people use in defaults. now() and the
// CURRENT_* words are stable: one value for a transaction.
var volatileBuiltins = func() map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(`nextval currval lastval setval random random_normal setseed gen_random_uuid uuidv4 uuidv7 uuid_generate_v1
		uuid_generate_v1mc uuid_generate_v4 gen_random_bytes gen_salt clock_timestamp timeofday txid_current pg_current_xact_id
		pg_notify pg_sleep pg_backend_pid`) {
		m[f] = true
	}
	return m
}()

// defaultOf writes a default's expression as text and reports whether it is evaluated per row. A function that is neither builtin nor in the
// schema (of an extension, in its schema) counts as volatile, as PostgreSQL's CREATE FUNCTION does by default.
func (l *loader) defaultOf(expr *sqlast.Node, from int) (text string, volatile bool) {
	if expr == nil {
		return "", false
	}
	text, err := l.exprText(expr, from)
	if err != nil {
		l.fail("write default: %w", err)
		return "", true
	}
	sqlast.Walk(expr, func(n *sqlast.Node) bool {
		if call := n.GetFuncCall(); call != nil && l.volatileCall(strs(call.GetFuncname())) {
			volatile = true
		}
		return true
	})
	return text, volatile
}

func (l *loader) volatileCall(names []string) bool {
	name := last(names)
	if len(names) > 1 && names[len(names)-2] != "pg_catalog" {
		fs := l.c.Functions[Key(names[len(names)-2], name)]
		return len(fs) == 0 || anyVolatile(fs)
	}
	if volatileBuiltins[name] {
		return true
	}
	if len(names) > 1 {
		return false
	}
	for _, schema := range append(slices.Clone(l.path), "public") {
		if fs := l.c.Functions[Key(schema, name)]; len(fs) > 0 {
			return anyVolatile(fs)
		}
	}
	return false
}

func anyVolatile(fs []*Function) bool {
	return slices.ContainsFunc(fs, func(f *Function) bool { return f.Volatility == 'v' })
}
