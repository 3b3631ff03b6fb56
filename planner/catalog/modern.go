package catalog

import "regexp"

// Clauses that PostgreSQL 18 writes and the grammar of 17 lacks. None of them changes a name, a type or a key: a virtual generated column is a
// generated column, an unenforced constraint is one that nobody checks.
var newer = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`(?i)\bVIRTUAL\b`), "STORED"},
	{regexp.MustCompile(`(?i)(\bGENERATED ALWAYS AS \((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))(\s*[,)]|\s*NOT NULL|\s*$)`), "${1} STORED${2}"},
	{regexp.MustCompile(`(?i)\bADD CONSTRAINT (?:"[^"]+"|\w+) NOT NULL ("[^"]+"|\w+)(?: NO INHERIT)?(?: NOT VALID)?`), "ALTER COLUMN ${1} SET NOT NULL"},
	{regexp.MustCompile(`(?i)\bNOT NULL NO INHERIT\b`), "NOT NULL"},
	{regexp.MustCompile(`(?i)\s+NOT ENFORCED\b`), ""},
}

// modernise rewrites those clauses; changed reports whether there were any. It is tried only on a statement that does not parse as it is, so
// a string that happens to hold such words is at stake only there.
func modernise(text string) (older string, changed bool) {
	older = text
	for _, n := range newer {
		older = n.from.ReplaceAllString(older, n.to)
	}
	return older, older != text
}
