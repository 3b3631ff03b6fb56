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
	verbSet // SET or RESET of something that is followed
	verbSetConfig
	verbDiscardAll
	verbIsolation        // of this transaction
	verbIsolationDefault // of the session
)

// info is what a session has to know of a template. It is worked out once per template.
type info struct {
	template     *sqltext.Template
	verb         verb
	chain        bool // COMMIT or ROLLBACK AND CHAIN
	serializable bool
	copyIn       bool
	plannable    bool   // auto_explain logs a plan for it
	secret       bool   // its values are of no use for planning and may be passwords or messages: they are dropped
	bad          string // why its text may not leave, "" it may
}

var plainVerbs = map[sqltext.Verb]verb{
	sqltext.VerbBegin: verbBegin, sqltext.VerbCommit: verbCommit, sqltext.VerbRollback: verbRollback, sqltext.VerbRollbackTo: verbRollbackTo,
	sqltext.VerbSavepoint: verbSavepoint, sqltext.VerbRelease: verbRelease, sqltext.VerbPrepareTxn: verbPrepareTransaction,
	sqltext.VerbPrepare: verbPrepare, sqltext.VerbExecute: verbExecute,
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
	v := sqltext.VerbOf(t.Text)
	in.verb = plainVerbs[v]
	word, rest := cutWord(t.Text)
	switch v {
	case sqltext.VerbSelect, sqltext.VerbInsert, sqltext.VerbUpdate, sqltext.VerbDelete, sqltext.VerbMerge, sqltext.VerbWith, sqltext.VerbValues,
		sqltext.VerbTable:
		in.plannable = true
		if strings.Contains(t.Text, "set_config") {
			in.verb = verbSetConfig
		}
	case sqltext.VerbDeclare:
		in.plannable = true
	case sqltext.VerbExplain, sqltext.VerbPrepare, sqltext.VerbExecute, sqltext.VerbCall:
	case sqltext.VerbBegin:
		in.serializable = isSerializable(rest)
	case sqltext.VerbCommit, sqltext.VerbRollback:
		in.chain = strings.HasSuffix(t.Text, "and chain")
	case sqltext.VerbCopy:
		in.plannable = strings.HasPrefix(rest, "(")
		in.copyIn = copiesIn(rest)
	case sqltext.VerbSet, sqltext.VerbReset:
		in.secret = true
		in.inspectSet(rest)
	case sqltext.VerbDiscard:
		if rest == "all" {
			in.verb = verbDiscardAll
		}
	case sqltext.VerbDeallocate:
		// A single name is no part of the template, and an EXECUTE after it would fail anyway.
		if rest == "all" || rest == "prepare all" {
			in.verb = verbDeallocateAll
		}
	default:
		in.secret = true
		in.plannable = word == "create" && strings.Contains(t.Text, " as ")
	}
	return in
}

func (in *info) inspectSet(rest string) {
	in.verb = verbSet
	w, r := cutWord(rest)
	if w == "session" || w == "local" {
		if next, after := cutWord(r); next == "characteristics" {
			in.verb, in.serializable = verbIsolationDefault, isSerializable(after)
		}
	}
	if w == "transaction" {
		in.verb = verbOther
		if strings.Contains(r, "isolation level") {
			in.verb, in.serializable = verbIsolation, isSerializable(r)
		}
	}
}

func isSerializable(s string) bool { return strings.Contains(s, "isolation level serializable") }

// cutWord takes a word off.
func cutWord(s string) (word, rest string) {
	n := 0
	for n < len(s) && (identByte(s[n]) || s[n] == '$' && n > 0) {
		n++
	}
	return s[:n], strings.TrimLeft(s[n:], " ")
}

// copiesIn says that COPY reads from the client: FROM STDIN outside parentheses and quotes.
func copiesIn(rest string) bool {
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '"':
			for i++; i < len(rest) && rest[i] != '"'; i++ {
			}
		case ' ':
			if depth == 0 && strings.HasPrefix(rest[i:], " from stdin") {
				return true
			}
		}
	}
	return false
}

// setsSearch says that the arguments of a set_config may name search_path. What is not a plain value may be anything.
func setsSearch(values []sqltext.Value) bool {
	plain := 0
	for i := range values {
		switch {
		case values[i].Kind == sqltext.Bind:
			return true
		case strings.EqualFold(string(values[i].Text), "search_path"):
			return true
		default:
			plain++
		}
	}
	return plain == 0
}
