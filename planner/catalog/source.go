package catalog

import (
	"strings"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// The deparser lacks some syntax. What it cannot write back is cut out of the script instead.

// queryText writes the query of CREATE VIEW or CREATE MATERIALIZED VIEW.
func (l *loader) queryText(query *sqlast.Node) (string, error) {
	text, err := sqlast.Deparse(query)
	if err == nil {
		if _, err = sqlast.ParseOne(text); err == nil {
			return text, nil
		}
	}
	if cut := l.cut(0, func(t sqlast.Token, depth int) bool { return depth == 0 && t.Name == "AS" }, tailOfView); cut != "" {
		if _, again := sqlast.ParseOne(cut); again == nil {
			return cut, nil
		}
	}
	return "", err
}

// tailOfView ends a view's query: WITH CHECK OPTION, WITH DATA and their kin.
func tailOfView(tokens []sqlast.Token, i, depth int) bool {
	if depth != 0 || tokens[i].Name != "WITH" && tokens[i].Name != "WITH_LA" || i+1 >= len(tokens) {
		return false
	}
	switch tokens[i+1].Name {
	case "CASCADED", "LOCAL", "CHECK", "NO", "DATA_P":
		return len(tokens)-i <= 4
	}
	return false
}

// exprText writes the expression of a default. from is the byte of the statement where its clause begins, -1 not known.
func (l *loader) exprText(expr *sqlast.Node, from int) (string, error) {
	text, err := sqlast.Deparse(selectOf(expr))
	if err == nil {
		return strings.TrimPrefix(text, "SELECT "), nil
	}
	if from < 0 && strings.Count(strings.ToLower(l.text), "default") > 1 {
		return "", err // which one is meant cannot be told
	}
	start := func(t sqlast.Token, _ int) bool { return t.Name == "DEFAULT" }
	if cut := l.cut(max(from, 0), start, tailOfDefault); cut != "" {
		if _, again := sqlast.ParseOne("SELECT " + cut); again == nil {
			return cut, nil
		}
	}
	return "", err
}

// tailOfDefault ends the expression of a default: the next column, command or constraint.
func tailOfDefault(tokens []sqlast.Token, i, depth int) bool {
	if depth < 0 {
		return true
	}
	if depth > 0 {
		return false
	}
	switch tokens[i].Name {
	case "ASCII_44", "CONSTRAINT", "UNIQUE", "PRIMARY", "CHECK", "REFERENCES", "GENERATED", "COLLATE", "DEFERRABLE", "INITIALLY", "NULL_P":
		return true
	case "NOT", "NOT_LA":
		return i+1 < len(tokens) && (tokens[i+1].Name == "NULL_P" || tokens[i+1].Name == "DEFERRABLE")
	}
	return false
}

// cut returns the text between the token that start finds and the one that ends it, "" if there is none.
func (l *loader) cut(from int, start func(sqlast.Token, int) bool, end func([]sqlast.Token, int, int) bool) string {
	if from > len(l.text) {
		return ""
	}
	text := l.text[from:]
	tokens, err := sqlast.Scan(text)
	if err != nil {
		return ""
	}
	depth, first := 0, -1
	for i, t := range tokens {
		switch t.Name {
		case "ASCII_40", "ASCII_91":
			depth++
		case "ASCII_41", "ASCII_93":
			depth--
		}
		switch {
		case first < 0 && start(t, depth):
			first, depth = t.End, 0
		case first >= 0 && i > 0 && tokens[i-1].End > first && end(tokens, i, depth):
			return strings.TrimSpace(text[first:t.Start])
		}
	}
	if first < 0 {
		return ""
	}
	return strings.TrimSpace(text[first:])
}
