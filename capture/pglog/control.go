package pglog

import (
	"strings"
	"unicode/utf8"

	"github.com/foreshard/foreshard/planner/sqltext"
)

// verb is what a statement does to its session.
type verb uint8

const (
	verbOther verb = iota
	verbBegin
	verbCommit
	verbRollback
	verbRollbackTo
	verbSavepoint
	verbRelease
	verbPrepareTransaction
	verbPrepare
	verbExecute
	verbDeallocateAll
	verbSetSearch
	verbSetApp
	verbSetConfig // a function call that may change search_path
	verbResetAll
	verbIsolation // of this transaction
	verbIsolationDefault
)

// info is what a session has to know of a template. It is worked out once per template.
type info struct {
	template     *sqltext.Template
	verb         verb
	name         string // of the prepared statement
	simpleArgs   bool   // of EXECUTE: every argument is one value
	chain        bool   // COMMIT or ROLLBACK AND CHAIN
	local        bool   // SET LOCAL
	reset        bool   // SET … TO DEFAULT, RESET
	serializable bool
	copyIn       bool
	plannable    bool   // auto_explain logs a plan for it
	bad          string // why its text may not leave, "" it may
	setting      string // right side of SET
}

// inspect reads a template's canonical text: lower-case words, one blank between tokens.
func inspect(t *sqltext.Template) *info {
	in := &info{template: t}
	if t.Bound == sqltext.Unlexable {
		in.bad = "unlexable"
		return in
	}
	if !utf8.ValidString(t.Text) {
		in.bad = "encoding"
		return in
	}
	text := strings.TrimSuffix(t.Text, ";")
	word, rest := cutWord(text)
	switch word {
	case "select", "insert", "update", "delete", "with", "merge", "values", "table", "declare", "create", "":
		in.plannable = true
	}
	if strings.HasPrefix(text, "(") {
		in.plannable = true
	}
	switch word {
	case "begin":
		in.verb, in.serializable = verbBegin, isSerializable(rest)
	case "start":
		if w, _ := cutWord(rest); w == "transaction" {
			in.verb, in.serializable = verbBegin, isSerializable(rest)
		}
	case "commit", "end":
		in.ends(verbCommit, rest)
	case "rollback", "abort":
		in.ends(verbRollback, rest)
	case "savepoint":
		in.verb = verbSavepoint
	case "release":
		in.verb = verbRelease
	case "prepare":
		if w, _ := cutWord(rest); w == "transaction" {
			in.verb = verbPrepareTransaction
		} else {
			in.verb = verbPrepare
			in.name, _ = cutName(rest)
		}
	case "execute":
		in.verb = verbExecute
		var args string
		in.name, args = cutName(rest)
		in.simpleArgs = onlyValues(args)
	case "deallocate":
		if rest == "all" || rest == "prepare all" { // a single name is no part of the template, and a later EXECUTE of it would fail anyway
			in.verb = verbDeallocateAll
		}
	case "set":
		in.set(rest)
	case "reset":
		switch w, _ := cutWord(rest); w {
		case "search_path":
			in.verb, in.reset = verbSetSearch, true
		case "application_name":
			in.verb, in.reset = verbSetApp, true
		case "all":
			in.verb = verbResetAll
		}
	case "discard":
		if w, _ := cutWord(rest); w == "all" {
			in.verb = verbResetAll
		}
	case "copy":
		in.plannable = strings.HasPrefix(rest, "(")
		in.copyIn = copiesIn(rest)
	default:
	}
	if in.verb == verbOther && strings.Contains(text, "set_config") {
		in.verb = verbSetConfig
	}
	return in
}

func (in *info) ends(v verb, rest string) {
	for w, r := cutWord(rest); w != ""; w, r = cutWord(r) {
		switch w {
		case "prepared":
			return // of a two-phase transaction that is not this session's
		case "to":
			if v == verbRollback {
				v = verbRollbackTo
			}
		case "chain":
			in.chain = !strings.Contains(rest, "no chain")
		}
	}
	in.verb = v
}

func (in *info) set(rest string) {
	w, r := cutWord(rest)
	switch w {
	case "local":
		in.local = true
		w, r = cutWord(r)
	case "session":
		if next, after := cutWord(r); next == "characteristics" {
			in.verb, in.serializable = verbIsolationDefault, isSerializable(after)
			return
		} else if next != "authorization" {
			w, r = next, after
		}
	}
	switch w {
	case "transaction":
		if strings.Contains(r, "isolation level") {
			in.verb, in.serializable = verbIsolation, isSerializable(r)
		}
	case "search_path", "application_name", "default_transaction_isolation", "schema":
		in.verb = map[string]verb{"search_path": verbSetSearch, "schema": verbSetSearch, "application_name": verbSetApp, "default_transaction_isolation": verbIsolationDefault}[w]
		r = strings.TrimLeft(r, " ")
		if s, ok := strings.CutPrefix(r, "="); ok {
			r = s
		} else if op, s := cutWord(r); op == "to" {
			r = s
		}
		in.setting = strings.TrimSpace(r)
		in.reset = in.setting == "default"
	}
}

func isSerializable(s string) bool { return strings.Contains(s, "isolation level serializable") }

// cutWord takes a lower-case word off.
func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " ")
	n := 0
	for n < len(s) && (identByte(s[n]) || s[n] == '$' && n > 0) {
		n++
	}
	return s[:n], strings.TrimLeft(s[n:], " ")
}

// cutName takes a name off, quoted or not.
func cutName(s string) (name, rest string) {
	s = strings.TrimLeft(s, " ")
	if !strings.HasPrefix(s, `"`) {
		return cutWord(s)
	}
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			i++
			continue
		}
		return strings.ReplaceAll(s[1:i], `""`, `"`), strings.TrimLeft(s[i+1:], " ")
	}
	return s, ""
}

// onlyValues says that s is empty or "($1, $2, …)", so that value i is argument i.
func onlyValues(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" {
		return true
	}
	if s[0] != '(' || s[len(s)-1] != ')' {
		return false
	}
	for i, arg := range strings.Split(s[1:len(s)-1], ",") {
		arg = strings.Trim(arg, " '")
		if !strings.HasPrefix(arg, "$") || arg[1:] != itoa(i+1) {
			return false
		}
	}
	return true
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// copiesIn says that COPY reads from the client: FROM STDIN outside parentheses.
func copiesIn(rest string) bool {
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == '(':
			depth++
		case rest[i] == ')':
			depth--
		case rest[i] == '"':
			for i++; i < len(rest) && rest[i] != '"'; i++ {
			}
		case depth == 0 && strings.HasPrefix(rest[i:], "from stdin") && i > 0 && rest[i-1] == ' ' || depth == 0 && strings.HasPrefix(rest[i:], "from stdin") && i > 0 && rest[i-1] == ')':
			return true
		}
	}
	return false
}

// preparedBody finds the statement in the text of PREPARE name [(types)] AS statement.
func preparedBody(b []byte) (body []byte, ok bool) {
	i := skipBlank(b, 0)
	if n := span(b[i:], isLetter); !is(b[i:i+n], "prepare") {
		return nil, false
	} else {
		i = skipBlank(b, i+n)
	}
	if i < len(b) && b[i] == '"' {
		n := quotedSpan(b[i:], '"', false)
		if n == 0 {
			return nil, false
		}
		i += n
	} else {
		n := span(b[i:], func(c byte) bool { return identByte(c) || c == '$' })
		if n == 0 {
			return nil, false
		}
		i += n
	}
	i = skipBlank(b, i)
	if i < len(b) && b[i] == '(' {
		for depth := 0; i < len(b); i++ {
			if b[i] == '(' {
				depth++
			} else if b[i] == ')' {
				if depth--; depth == 0 {
					i++
					break
				}
			}
		}
		i = skipBlank(b, i)
	}
	if i+2 > len(b) || !is(b[i:i+2], "as") {
		return nil, false
	}
	return b[i+2:], true
}

// skipBlank skips blanks and comments.
func skipBlank(b []byte, i int) int {
	for i < len(b) {
		switch {
		case b[i] == ' ' || b[i] >= '\t' && b[i] <= '\r':
			i++
		case b[i] == '-' && i+1 < len(b) && b[i+1] == '-':
			i = lineEnd(b, i)
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '*':
			n := commentSpan(b[i:])
			if n == 0 {
				return i
			}
			i += n
		default:
			return i
		}
	}
	return i
}
