package pglog

import (
	"bytes"

	"github.com/foreshard/foreshard/capture/pglog/envelope"
)

// planText takes the statement and its bind values out of an auto_explain record, in any of its formats. The rest of the plan holds
// literals and is left behind.
func planText(b []byte) (sql, params []byte, ok bool) {
	if rest, found := bytes.CutPrefix(b, []byte("Query Text: ")); found {
		if len(rest) > 1 && rest[0] == '"' { // yaml quotes as JSON does; no statement starts with a quoted name
			sql, after, closed := envelope.Unquote(rest[1:])
			return sql, yamlParams(after), closed
		}
		return textPlan(rest)
	}
	if i := bytes.Index(b, []byte(`"Query Text": "`)); i >= 0 && b[0] == '{' {
		sql, after, closed := envelope.Unquote(b[i+len(`"Query Text": "`):])
		if !closed {
			return nil, nil, false
		}
		if j := bytes.Index(after, []byte(`"Query Parameters": "`)); j >= 0 && j < 8 {
			if p, _, closed := envelope.Unquote(after[j+len(`"Query Parameters": "`):]); closed {
				params = p
			}
		}
		return sql, params, true
	}
	if bytes.HasPrefix(b, []byte("<explain")) {
		sql, after, found := between(b, "<Query-Text>", "</Query-Text>")
		if !found {
			return nil, nil, false
		}
		params, _, _ = between(after, "<Query-Parameters>", "</Query-Parameters>")
		return unXML(sql), unXML(params), true
	}
	return nil, nil, false
}

func yamlParams(after []byte) []byte {
	i := bytes.Index(after, []byte(`Query Parameters: "`))
	if i < 0 || i > 8 {
		return nil
	}
	p, _, _ := envelope.Unquote(after[i+len(`Query Parameters: "`):])
	return p
}

// textPlan finds the border between the statement and the plan: the parameter line, or the first line with the estimates of a plan node.
// Both can stand in a literal or comment of the statement too; then the statement is cut there, cannot be lexed, and is opaque.
func textPlan(b []byte) (sql, params []byte, ok bool) {
	for pos := 0; pos < len(b); {
		end := lineEnd(b, pos)
		line := chop(b[pos:end])
		if pos > 0 && bytes.HasPrefix(line, []byte("Query Parameters: $1 = ")) {
			return chop(b[:pos]), b[pos+len("Query Parameters: "):], true
		}
		if pos > 0 && planNode(line) {
			return chop(b[:pos]), nil, true
		}
		pos = end
	}
	return nil, nil, false
}

// planNode says that a line ends in "  (cost=0.00..1.00 rows=1 width=4)" or "(actual …)".
func planNode(line []byte) bool {
	if len(line) == 0 || line[len(line)-1] != ')' {
		return false
	}
	i := bytes.Index(line, []byte("  (cost="))
	return i > 0 && bytes.Contains(line[i:], []byte(" rows=")) && bytes.Contains(line[i:], []byte(" width="))
}

func between(b []byte, open, shut string) (in, after []byte, ok bool) {
	_, rest, ok := bytes.Cut(b, []byte(open))
	if !ok {
		return nil, b, false
	}
	in, after, ok = bytes.Cut(rest, []byte(shut))
	return in, after, ok
}

func unXML(b []byte) []byte {
	if bytes.IndexByte(b, '&') < 0 {
		return b
	}
	for _, e := range [...][2]string{{"&lt;", "<"}, {"&gt;", ">"}, {"&#x0d;", "\r"}, {"&quot;", `"`}, {"&apos;", "'"}, {"&amp;", "&"}} {
		b = bytes.ReplaceAll(b, []byte(e[0]), []byte(e[1]))
	}
	return b
}
