package catalog

import (
	"slices"
	"strconv"
	"strings"
)

// maxName is NAMEDATALEN - 1: the longest name PostgreSQL stores, in bytes.
const maxName = 63

// objectName makes a name of a table, a column and a label as PostgreSQL's makeObjectName does: the longer of the first two is cut until the
// whole fits.
func objectName(table, column, label string) string {
	room := maxName - 1 - len(label)
	if column != "" {
		room--
	}
	a, b := len(table), len(column)
	for a+b > room {
		if a > b {
			a--
		} else {
			b--
		}
	}
	parts := []string{clip(table, a)}
	if column != "" {
		parts = append(parts, clip(column, b))
	}
	return strings.Join(append(parts, label), "_")
}

// clip cuts a name to n bytes, not inside a character.
func clip(s string, n int) string {
	for n > 0 && n < len(s) && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:min(n, len(s))]
}

// free makes the name of a relation (index, sequence) that is not taken in the schema.
func (l *loader) free(schema, table, column, label string) string {
	for i := 0; ; i++ {
		try := label
		if i > 0 {
			try += strconv.Itoa(i)
		}
		name := objectName(table, column, try)
		key := Key(schema, name)
		if l.index[key] == "" && l.c.Relations[key] == nil && !l.c.Sequences[key] {
			return name
		}
	}
}

// indexName makes the name PostgreSQL gives an index or constraint without one.
func (l *loader) indexName(r *Relation, columns []string, label string) string {
	if label == "pkey" {
		return l.free(r.Schema, r.Name, "", label)
	}
	return l.free(r.Schema, r.Name, columnsName(columns), label)
}

// label is the word at the end of a generated name.
func (c *Constraint) label() string {
	switch {
	case c.Primary:
		return "pkey"
	case c.Index:
		return "idx"
	}
	return "key"
}

// freeConstraint makes the name of a foreign key, which must be free among the table's constraints only.
func (l *loader) freeConstraint(r *Relation, columns []string, label string) string {
	for i := 0; ; i++ {
		try := label
		if i > 0 {
			try += strconv.Itoa(i)
		}
		name := objectName(r.Name, columnsName(columns), try)
		if !slices.ContainsFunc(r.ForeignKeys, func(fk *ForeignKey) bool { return fk.Name == name }) {
			return name
		}
	}
}

// columnsName joins column names as PostgreSQL does for a generated name: with _, cut off past 63 bytes.
func columnsName(columns []string) string {
	var b strings.Builder
	for _, c := range columns {
		if b.Len() > 0 {
			b.WriteByte('_')
		}
		b.WriteString(c)
		if b.Len() >= maxName+1 {
			break
		}
	}
	return b.String()
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
