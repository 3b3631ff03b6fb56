// Package sqlast turns SQL text into PostgreSQL 17's own parse tree. It is the only door to pg_query_go, and through it to C: it names the
// tree's types for everybody else, and refuses what could overflow the C stack before C sees it. It may import planner/sqltext.
package sqlast

import (
	"errors"
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/foreshard/foreshard/planner/sqltext"
)

// Error says why a text has no parse tree. Its message holds no literal of the text, so it may be stored and shown.
type Error struct {
	Message string        // PostgreSQL's message without the text it quotes
	Pos     int           // byte offset in the text where the parser stopped, -1 unknown
	Bound   sqltext.Bound // set if the text was refused before the parser saw it
}

// Error gives the message and the position.
func (e *Error) Error() string {
	if e.Pos < 0 {
		return "parse statement: " + e.Message
	}
	return fmt.Sprintf("parse statement: %s at byte %d", e.Message, e.Pos)
}

// Parse turns text, one statement or several, into raw statements; their locations and lengths are byte offsets in text. Every error is an *Error.
func Parse(text string) (stmts []*RawStmt, err error) {
	if err := admit(text); err != nil {
		return nil, err
	}
	defer recoverInto(&err)
	tree, err := pg.Parse(text)
	if err != nil {
		return nil, wrap(text, err)
	}
	return tree.GetStmts(), nil
}

// ParseOne turns a text that holds exactly one statement into its node.
func ParseOne(text string) (*Node, error) {
	stmts, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if len(stmts) != 1 {
		return nil, &Error{Message: fmt.Sprintf("%d statements where one was expected", len(stmts)), Pos: -1}
	}
	return stmts[0].GetStmt(), nil
}

// Deparse turns a statement's node back into SQL text.
func Deparse(node *Node) (text string, err error) {
	defer recoverInto(&err)
	tree, err := pg.Parse("") // for the version of the tree's form
	if err != nil {
		return "", wrap("", err)
	}
	tree.Stmts = []*RawStmt{{Stmt: node}}
	text, err = pg.Deparse(tree)
	if err != nil {
		return "", wrap("", err)
	}
	return text, nil
}

// Fingerprint gives pg_query's fingerprint of text: equal for statements of equal structure, whatever their constants.
func Fingerprint(text string) (print string, err error) {
	if err := admit(text); err != nil {
		return "", err
	}
	defer recoverInto(&err)
	print, err = pg.Fingerprint(text)
	if err != nil {
		return "", wrap(text, err)
	}
	return print, nil
}

// Token is one token of PostgreSQL's lexer: its bytes are text[Start:End].
type Token struct {
	Start, End int
	Name       string // as in PostgreSQL's grammar: IDENT, ICONST, SELECT, ASCII_40, ...
}

// Scan gives the tokens of text, comments included, as PostgreSQL's lexer sees them.
func Scan(text string) (tokens []Token, err error) {
	defer recoverInto(&err)
	res, err := pg.Scan(text)
	if err != nil {
		return nil, wrap(text, err)
	}
	for _, t := range res.GetTokens() {
		tokens = append(tokens, Token{Start: int(t.Start), End: int(t.End), Name: t.Token.String()})
	}
	return tokens, nil
}

func admit(text string) error {
	switch b := sqltext.CheckBounds(text); b {
	case sqltext.WithinBounds:
		return nil
	case sqltext.TooLong:
		return &Error{Message: "statement is longer than the parser may be given", Pos: -1, Bound: b}
	case sqltext.TooDeep:
		return &Error{Message: "statement is nested deeper than the parser may be given", Pos: -1, Bound: b}
	default:
		return &Error{Message: "statement cannot be read: an unterminated string, comment or identifier, or a NUL byte", Pos: -1, Bound: b}
	}
}

// recoverInto turns a panic of the binding into an error: the tree it makes is decoded by reflection from bytes that C wrote.
func recoverInto(err *error) {
	if p := recover(); p != nil {
		*err = &Error{Message: "parser failed on this statement", Pos: -1}
	}
}

func wrap(text string, err error) error {
	var pe *parser.Error
	if !errors.As(err, &pe) {
		return &Error{Message: "parse tree cannot be decoded", Pos: -1}
	}
	return &Error{Message: withoutQuotes(pe.Message), Pos: bytePos(text, pe.Cursorpos)}
}

// withoutQuotes takes the quoted part out of a message: everything from the first quote to the last is text of the client.
func withoutQuotes(msg string) string {
	first, last := strings.IndexByte(msg, '"'), strings.LastIndexByte(msg, '"')
	if first < 0 {
		return msg
	}
	msg = strings.TrimSuffix(msg[:first], " at or near ") + msg[last+1:]
	return strings.TrimSpace(msg)
}

// bytePos turns PostgreSQL's cursor position, counted in characters from 1, into a byte offset.
func bytePos(text string, cursor int) int {
	if cursor <= 0 {
		return -1
	}
	n := 0
	for i := range text {
		n++
		if n == cursor {
			return i
		}
	}
	return len(text)
}
