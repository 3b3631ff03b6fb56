package analysis

import "strings"

// joinKey is a template's text as a log and a server's statistics have it in common. The server takes out NULL and booleans as well, writes a bare
// $n where only a string may stand, and counts lists of every length, or of several shapes, apart. Two texts with one key may be two statements;
// what is compared is then their sum.
func joinKey(text string) string {
	k := keyWriter{text: text}
	for k.at < len(text) {
		k.step()
	}
	return foldRuns(k.out.String())
}

// keyWriter writes a text with its values replaced by question marks.
type keyWriter struct {
	text string
	at   int
	out  strings.Builder
	last string // word written last; "" after anything else
}

func (k *keyWriter) step() {
	rest := k.text[k.at:]
	switch c := rest[0]; {
	case c == ' ':
		if strings.HasPrefix(rest, " /*, ... */") {
			k.at += len(" /*, ... */")
			return
		}
		k.out.WriteByte(' ')
		k.at++
		return
	case c == '"':
		n := 1 + strings.IndexByte(rest[1:], '"') + 1
		if n < 2 {
			n = len(rest)
		}
		k.copy(n)
	case c == '\'', c == '$' && len(rest) > 1 && digit(rest[1]), digit(c):
		k.out.WriteByte('?')
		k.at += valueLength(rest)
	case wordByte(c):
		k.word(rest)
		return
	default:
		k.copy(1)
	}
	k.last = ""
}

func (k *keyWriter) copy(n int) {
	k.out.WriteString(k.text[k.at : k.at+n])
	k.at += n
}

// word copies a word. NULL and booleans are values, except after IS and IS NOT.
func (k *keyWriter) word(rest string) {
	n := 1
	for n < len(rest) && wordByte(rest[n]) {
		n++
	}
	w := rest[:n]
	value := w == "null" || w == "true" || w == "false"
	if value && k.last != "is" && k.last != "is not" {
		k.out.WriteByte('?')
		k.at += n
		k.last = ""
		return
	}
	k.copy(n)
	if k.last == "is" && w == "not" {
		w = "is not"
	}
	k.last = w
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// valueLength is the length of the value that a text begins with: '$1', $1, 12, 1.0.
func valueLength(s string) int {
	if s[0] == '\'' {
		if n := strings.IndexByte(s[1:], '\''); n >= 0 {
			return n + 2
		}
		return len(s)
	}
	n := 1
	for n < len(s) && (digit(s[n]) || s[n] == '.' && s[0] != '$') {
		n++
	}
	return n
}

// foldRuns makes one of each list of values in parentheses, whatever its length, and of such lists one after the other.
func foldRuns(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := valueList(s[i:])
		if n == 0 {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString("(?)")
		i += n
		for {
			comma := 0
			switch {
			case strings.HasPrefix(s[i:], ", ("):
				comma = 2
			case strings.HasPrefix(s[i:], ",("):
				comma = 1
			}
			n := 0
			if comma > 0 {
				n = valueList(s[i+comma:])
			}
			if n == 0 {
				break
			}
			i += comma + n
		}
	}
	return b.String()
}

// valueList is the length of the list of values that a text begins with, 0 if it begins with something else.
func valueList(s string) int {
	if s == "" || s[0] != '(' {
		return 0
	}
	values := false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '?':
			values = true
		case ',', ' ', '-':
		case ')':
			if values {
				return i + 1
			}
			return 0
		default:
			return 0
		}
	}
	return 0
}

// plannedText says that a statement is one that PostgreSQL plans, by its first word. Only of these the server's count is exact.
func plannedText(text string) bool {
	word := strings.TrimLeft(text, "( ")
	for i := range len(word) {
		if !wordByte(word[i]) {
			word = word[:i]
			break
		}
	}
	switch word {
	case "select", "insert", "update", "delete", "merge", "with", "values", "table":
		return true
	}
	return false
}
