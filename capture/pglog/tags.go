package pglog

import (
	"strings"

	"github.com/foreshard/foreshard/planner/sqltext"
)

// tags reads team and endpoint from the comments of a statement. Only these two leave; other keys may hold anything.
func (w *worker) tags(text []byte, comments []sqltext.Span) (team, endpoint string) {
	return "", ""
}

// setting is the right side of a SET as it was written, or what set_config was given.
func setting(in *info, values []sqltext.Value) string {
	if in.verb == verbSetConfig {
		for i := range values {
			if strings.EqualFold(string(values[i].Text), "search_path") {
				return "search_path"
			}
		}
		return ""
	}
	return fillIn(in.setting, values)
}

// fillIn puts the values back into the right side of a SET.
func fillIn(s string, values []sqltext.Value) string {
	if !strings.Contains(s, "$") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '\'' { // '$1'
			i++
			continue
		}
		if s[i] != '$' {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, k := 0, i+1
		for k < len(s) && isDigit(s[k]) {
			n = n*10 + int(s[k]-'0')
			k++
		}
		for j := range values {
			if values[j].Slot == n {
				b.WriteByte('"')
				b.WriteString(strings.ReplaceAll(string(values[j].Text), `"`, `""`))
				b.WriteByte('"')
				break
			}
		}
		i = k
	}
	return b.String()
}
