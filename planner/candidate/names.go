package candidate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/token"

	"github.com/foreshard/foreshard/planner/catalog"
)

// quote puts a name into quotes; one that holds double quotes is shown as it stands in YAML.
func quote(s string) string {
	if strings.Contains(s, `"`) && !strings.ContainsAny(s, "'\\\n") {
		return "'" + s + "'"
	}
	return strconv.Quote(s)
}

func itoa(n int) string { return strconv.Itoa(n) }

// names splits a name as SQL does: parts joined by dots, unquoted ones folded to lower case.
func (r *reader) names(s string, at *token.Token, what string) ([]string, bool) {
	parts, why := splitName(s)
	if why != "" {
		r.fail(at, what+" "+quote(s)+" is no SQL name: "+why)
		return nil, false
	}
	return parts, true
}

func splitName(s string) (parts []string, why string) {
	rest := strings.TrimSpace(s)
	for {
		if rest == "" {
			return nil, "a part of it is empty"
		}
		var part string
		if rest[0] == '"' {
			end := 1
			for {
				i := strings.IndexByte(rest[end:], '"')
				if i < 0 {
					return nil, "a double quote is not closed"
				}
				end += i + 1
				if end >= len(rest) || rest[end] != '"' {
					break
				}
				end++
			}
			part = strings.ReplaceAll(rest[1:end-1], `""`, `"`)
			rest = rest[end:]
		} else {
			end := 0
			for end < len(rest) && namePart(rest[end], end == 0) {
				end++
			}
			part = lower(rest[:end])
			rest = rest[end:]
		}
		if part == "" {
			return nil, "put names with other characters than letters, digits and _ into double quotes"
		}
		parts = append(parts, part)
		if rest == "" {
			if len(parts) > 2 {
				return nil, "write name or schema.name"
			}
			return parts, ""
		}
		if rest[0] != '.' {
			return nil, "put names with other characters than letters, digits and _ into double quotes"
		}
		rest = rest[1:]
	}
}

func namePart(c byte, first bool) bool {
	switch {
	case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_', c >= 0x80:
		return true
	}
	return !first && (c >= '0' && c <= '9' || c == '$')
}

// lower folds ASCII letters only, as PostgreSQL does in a multibyte encoding.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// relation finds the table that a name means; a missing one is an error with the nearest names.
func (r *reader) relation(s string, at *token.Token) *catalog.Relation {
	parts, ok := r.names(s, at, "table")
	if !ok {
		return nil
	}
	schema, name := "", parts[len(parts)-1]
	if len(parts) == 2 {
		schema = parts[0]
	}
	if rel := r.cat.Relation(nil, schema, name); rel != nil {
		return rel
	}
	var known []string
	for _, key := range sortedKeys(r.cat.Relations) {
		rel := r.cat.Relations[key]
		if rel.Name == name { // the right name in another schema, or without one
			known = []string{written(rel)}
			break
		}
		if schema == "" && slices.Contains(r.cat.SearchPath, rel.Schema) {
			known = append(known, writtenName(rel.Name))
		} else {
			known = append(known, written(rel))
		}
	}
	want := s
	if fold := strings.Join(parts, "."); !strings.Contains(s, `"`) {
		want = fold
	}
	near := meant(want, known)
	if near == "" && len(known) == 1 && len(r.cat.Relations) > 0 {
		near = ", did you mean " + quote(known[0]) + "?"
	}
	for _, k := range known { // only the case differs: it needs quotes
		if near == "" || strings.EqualFold(strings.ReplaceAll(k, `"`, ""), want) {
			if strings.EqualFold(strings.ReplaceAll(k, `"`, ""), want) {
				near = ", did you mean " + quote(k) + "?"
			}
		}
	}
	r.fail(at, "the schema has no table "+quote(s)+near+fix(near, "load a schema that has it, or remove it"))
	return nil
}

func fix(near, otherwise string) string {
	if near != "" {
		return ""
	}
	return "; " + otherwise
}

// written is a relation's name as the candidate would write it.
func written(rel *catalog.Relation) string {
	return writtenName(rel.Schema) + "." + writtenName(rel.Name)
}

func writtenName(s string) string {
	for i := range len(s) {
		if c := s[i]; !namePart(c, i == 0) || c >= 'A' && c <= 'Z' {
			return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
	}
	return s
}

// meant returns ", did you mean ...?" with the nearest known word, "" if none is near.
func meant(word string, known []string) string {
	best, at := "", len(word)/3+2 // at most about a third of the letters may differ
	for _, k := range known {
		if d := distance(lower(word), lower(k)); d < at {
			best, at = k, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + quote(best) + "?"
}

// distance is the number of letters to insert, remove, replace or swap with the next to turn one word into the other.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return 100
	}
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
