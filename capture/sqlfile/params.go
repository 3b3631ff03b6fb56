package sqlfile

import (
	"fmt"
	"regexp"
	"strings"
)

// named finds, in text without quotes and comments, how libraries write parameters by name: @id and sqlc.arg(id) (sqlc), :id (sqlx, psql,
// SQLAlchemy), %(id)s (psycopg). Group 1 is what stands before.
var named = regexp.MustCompile(`(?i)sqlc\.(?:arg|narg|slice)\(\s*'?([a-z_][a-z0-9_]*)'?\s*\)|%\(([a-z_][a-z0-9_]*)\)s|@([a-z_][a-z0-9_]*)|:([a-z_][a-z0-9_]*)|sqlc\.embed\(\s*([a-z_][a-z0-9_]*)\s*\)`)

var numberedParam = regexp.MustCompile(`\$[0-9]+`)

// numbered turns named parameters into $1, $2, ...: one number for each name. A statement that has numbers already keeps its text.
func numbered(sql string) string {
	if numberedParam.MatchString(sql) || !named.MatchString(sql) {
		return sql
	}
	numbers := map[string]int{}
	var out strings.Builder
	escapes := false // the text before ends in E: a quote after it knows backslashes
	for len(sql) > 0 {
		n, plain := segment(sql, escapes)
		escapes = plain && escapePrefix.MatchString(sql[:n])
		if !plain {
			out.WriteString(sql[:n])
			sql = sql[n:]
			continue
		}
		part := sql[:n]
		if sqlcCall.MatchString(part) { // sqlc.arg('id'): take the quoted name and the bracket along
			if m := quotedArg.FindString(sql[n:]); m != "" {
				part, n = part+m, n+len(m)
			}
		}
		out.WriteString(replace(part, numbers))
		sql = sql[n:]
	}
	return out.String()
}

var (
	escapePrefix = regexp.MustCompile(`(?:^|[^A-Za-z0-9_])[eE]$`)

	sqlcCall  = regexp.MustCompile(`(?i)sqlc\.(?:arg|narg|slice)\(\s*$`)
	quotedArg = regexp.MustCompile(`^'[A-Za-z_][A-Za-z0-9_]*'\s*\)`)
)

func replace(part string, numbers map[string]int) string {
	var out strings.Builder
	last := 0
	for _, m := range named.FindAllStringSubmatchIndex(part, -1) {
		start, end := m[0], m[1]
		if c := part[start]; (c == '@' || c == ':') && start > 0 && joins(part[start-1]) {
			continue // a cast, an operator, or the bounds of an array
		}
		out.WriteString(part[last:start])
		last = end
		if m[10] >= 0 {
			out.WriteString(part[m[10]:m[11]] + ".*")
			continue
		}
		for g := 2; g <= 8; g += 2 {
			if m[g] >= 0 {
				name := strings.ToLower(part[m[g]:m[g+1]])
				if numbers[name] == 0 {
					numbers[name] = len(numbers) + 1
				}
				fmt.Fprintf(&out, "$%d", numbers[name])
			}
		}
	}
	out.WriteString(part[last:])
	return out.String()
}

// joins tells a character after which @ or : is not the start of a parameter.
func joins(c byte) bool {
	return c == ':' || c == '@' || c == '<' || c == '>' || c == '&' || c == '|' || c == '#' || c == ']' || c == '_' || c == '"' ||
		c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// segment is the length of the next stretch of the text: plain, or a quoted text or comment, which is left alone.
func segment(s string, escapes bool) (n int, plain bool) {
	switch {
	case s[0] == '\'' || s[0] == '"':
		return quotedEnd(s, s[0], escapes && s[0] == '\''), false
	case strings.HasPrefix(s, "--"):
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			return i + 1, false
		}
		return len(s), false
	case strings.HasPrefix(s, "/*"):
		if i := strings.Index(s, "*/"); i >= 0 {
			return i + 2, false
		}
		return len(s), false
	case s[0] == '$':
		if m := dollarTag.FindString(s); m != "" {
			if i := strings.Index(s[len(m):], m); i >= 0 {
				return i + 2*len(m), false
			}
			return len(s), false
		}
	}
	for i := 1; i < len(s); i++ {
		if s[i] == '\'' || s[i] == '"' || s[i] == '$' || strings.HasPrefix(s[i:], "--") || strings.HasPrefix(s[i:], "/*") {
			return i, true
		}
	}
	return len(s), true
}

var dollarTag = regexp.MustCompile(`^\$[A-Za-z_]*\$`)

func quotedEnd(s string, quote byte, escapes bool) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '\\' && escapes {
			i++
			continue
		}
		if s[i] == quote {
			if i+1 < len(s) && s[i+1] == quote {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(s)
}
