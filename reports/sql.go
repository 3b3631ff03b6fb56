package reports

import "strings"

// Segment is a piece of a statement as a page draws it: Kind "k" a keyword, "m" the place a reason points at, "" the rest.
type Segment struct{ Text, Kind string }

// segments splits a statement for reading. It only colours; nothing is judged by it.
func segments(sql string, span [2]int) []Segment {
	if span[1] > span[0] && span[1] <= len(sql) {
		out := keywords(sql[:span[0]])
		out = append(out, Segment{sql[span[0]:span[1]], "m"})
		return append(out, keywords(sql[span[1]:])...)
	}
	return keywords(sql)
}

func keywords(sql string) []Segment {
	var out []Segment
	plain := 0
	for i := 0; i < len(sql); {
		if !letter(sql[i]) {
			i++
			continue
		}
		end := i
		for end < len(sql) && (letter(sql[end]) || sql[end] >= '0' && sql[end] <= '9' || sql[end] == '$') {
			end++
		}
		if end-i <= 10 && keyword(strings.ToUpper(sql[i:end])) {
			if plain < i {
				out = append(out, Segment{Text: sql[plain:i]})
			}
			out = append(out, Segment{sql[i:end], "k"})
			plain = end
		}
		i = end
	}
	if plain < len(sql) {
		out = append(out, Segment{Text: sql[plain:]})
	}
	return out
}

func letter(b byte) bool { return b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 }

// keyword says whether a word is one that a reader looks for to find the parts of a statement.
func keyword(w string) bool {
	switch w {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "INTO", "VALUES", "SET", "FROM", "WHERE", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "LATERAL",
		"NATURAL", "ON", "USING", "AND", "OR", "NOT", "IN", "EXISTS", "BETWEEN", "LIKE", "IS", "NULL", "GROUP", "ORDER", "BY", "HAVING", "LIMIT", "OFFSET", "FETCH", "UNION",
		"INTERSECT", "EXCEPT", "ALL", "DISTINCT", "AS", "WITH", "RECURSIVE", "RETURNING", "CONFLICT", "DO", "FOR", "SHARE", "CASE", "WHEN", "THEN", "ELSE", "END", "OVER",
		"PARTITION", "WINDOW", "ASC", "DESC", "COPY", "BEGIN", "COMMIT", "ROLLBACK", "CREATE", "ALTER", "DROP", "TABLE", "INDEX", "TRUNCATE", "LOCK", "CALL", "DEFAULT":
		return true
	}
	return false
}
