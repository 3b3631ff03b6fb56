package impact

import (
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
)

// ident writes a name as SQL. Names that are keywords are quoted as well where they could not stand alone.
func ident(s string) string {
	plain := s != "" && !reserved(s)
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c == '_':
		case i > 0 && (c >= '0' && c <= '9' || c == '$'):
		default:
			plain = false
		}
	}
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// reserved are the keywords that PostgreSQL does not take as a column name: src/include/parser/kwlist.h, RESERVED_KEYWORD and
// TYPE_FUNC_NAME_KEYWORD, of PostgreSQL 17.
func reserved(s string) bool {
	return strings.Contains(` all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation
 column concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user
 default deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ilike in initially inner intersect
 into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing
 primary references returning right select session_user similar some symmetric system_user table tablesample then to trailing true union unique user
 using variadic verbose when where window with `, " "+s+" ")
}

// table writes a relation's name as SQL, without its schema if that is public.
func table(r *catalog.Relation) string {
	if r.Schema == "public" {
		return ident(r.Name)
	}
	return ident(r.Schema) + "." + ident(r.Name)
}

func columns(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, ident(n))
	}
	return strings.Join(out, ", ")
}

// withFirst puts a column before the others.
func withFirst(first string, names []string) []string { return append([]string{first}, names...) }

// name is a catalog key as SQL writes it, without its schema if that is public. A schema with a dot in its name is not seen through.
func name(key string) string {
	schema, rest, ok := strings.Cut(key, ".")
	switch {
	case !ok:
		return ident(key)
	case schema == "public":
		return ident(rest)
	}
	return ident(schema) + "." + ident(rest)
}

// yaml is a catalog key as a candidate writes it: names as in SQL, and their double quotes inside single ones.
func yaml(key string) string {
	if s := name(key); strings.Contains(s, `"`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return name(key)
}

func yamlList(keys []string) string {
	var out []string
	for _, k := range keys {
		out = append(out, yaml(k))
	}
	return strings.Join(out, ", ")
}

// names lists catalog keys as SQL writes them.
func names(keys []string) string {
	var out []string
	for _, k := range keys {
		out = append(out, name(k))
	}
	return strings.Join(out, ", ")
}
