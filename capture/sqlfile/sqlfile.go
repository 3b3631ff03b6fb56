// Package sqlfile turns files and folders of SQL, as they lie in a repository, into statements with their places: plain scripts, and the query
// files of sqlc and its like, whose statements have names and named parameters. It may import planner/sqltext and nothing else of the project.
package sqlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/sqltext"
)

// Statement is one statement of a file.
type Statement struct {
	File  string
	Line  int    // of its first word, from 1
	Name  string // of "-- name: GetUser :one" before it, "" if it has none
	SQL   string // named parameters are numbered: @id, :id, sqlc.arg(id) become $1
	Setup string // the SET statements of the file before it
}

// ErrNone says that there was no statement to read.
var ErrNone = errors.New("no SQL statement")

// Files lists a file itself, or the .sql files in and below a folder, sorted; names that begin with a dot are passed over.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read statements: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != path && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && strings.EqualFold(filepath.Ext(name), ".sql"):
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read statements: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read statements: %w: folder %q holds no .sql file", ErrNone, path)
	}
	slices.Sort(files)
	return files, nil
}

// Read gives the statements of a file in order. A text that cannot be cut into statements is an error that names the line.
func Read(file string) ([]Statement, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read statements: %w", err)
	}
	return Split(file, data)
}

// Split cuts the text of a file into its statements: at semicolons, and at the names of query files, which need none.
func Split(file string, data []byte) ([]Statement, error) {
	src := withoutCommands(data)
	s := splitter{file: file}
	from := 0
	for _, m := range nameLine.FindAllIndex(src, -1) {
		if at := bytes.LastIndexByte(src[:m[1]], '\n') + 1; at > from && outside(src[from:at]) {
			if err := s.split(src[from:at], 1+bytes.Count(src[:from], []byte("\n"))); err != nil {
				return s.list, err
			}
			from = at
		}
	}
	err := s.split(src[from:], 1+bytes.Count(src[:from], []byte("\n")))
	return s.list, err
}

// outside tells whether a text ends outside of quotes and comments.
func outside(src []byte) bool {
	var sc sqltext.Scanner
	sc.Reset(src)
	for sc.Next() {
		if sc.Statement().Bound == sqltext.Unlexable {
			return false
		}
	}
	return true
}

type splitter struct {
	file  string
	list  []Statement
	setup strings.Builder
}

// split adds the statements of a part of the file that begins at a line.
func (s *splitter) split(src []byte, first int) error {
	var sc sqltext.Scanner
	sc.Reset(src)
	for sc.Next() {
		st := sc.Statement()
		start := firstWord(src, st)
		line := first + bytes.Count(src[:start], []byte("\n"))
		if st.Bound == sqltext.Unlexable {
			return fmt.Errorf("%s:%d: statement cannot be read: a quote or a comment in it does not end, or a character is none of SQL's", s.file, line)
		}
		name := ""
		for _, c := range st.Comments {
			if c.Start < start {
				name = nameIn(src[c.Start:c.End], name)
			}
		}
		text := string(src[start:st.Span.End])
		s.list = append(s.list, Statement{File: s.file, Line: line, Name: name, SQL: numbered(text), Setup: s.setup.String()})
		if set, ok := sc.Setting(); ok && !set.Local {
			s.setup.WriteString(text + ";")
		}
	}
	return nil
}

// firstWord is where a statement begins after the comments before it.
func firstWord(src []byte, st *sqltext.Statement) int {
	at := st.Span.Start
	for again := true; again; {
		again = false
		for at < st.Span.End && (src[at] <= ' ') {
			at++
		}
		for _, c := range st.Comments {
			if c.Start == at && c.End > at {
				at, again = c.End, true
			}
		}
	}
	return min(at, st.Span.End)
}

var nameLine = regexp.MustCompile(`(?m)^\s*(?:--|/\*|#)\s*name:\s*([A-Za-z_][A-Za-z0-9_.-]*)`)

// nameIn reads the name that a comment gives its statement, as sqlc, aiosql, HugSQL and others write it.
func nameIn(comment []byte, before string) string {
	if m := nameLine.FindSubmatch(comment); m != nil {
		return string(m[1])
	}
	return before
}

var copyFrom = regexp.MustCompile(`(?i)^\s*copy\s.*\sfrom\s+stdin\b`)

// withoutCommands blanks psql's backslash commands and the rows of COPY ... FROM stdin, so that what is left keeps its place.
func withoutCommands(data []byte) []byte {
	out := slices.Clone(data)
	rows := false
	for at := 0; at < len(out); {
		end := bytes.IndexByte(out[at:], '\n')
		if end < 0 {
			end = len(out) - at
		}
		line := out[at : at+end]
		switch {
		case rows:
			rows = string(bytes.TrimRight(line, "\r")) != `\.`
			blank(line)
		case len(line) > 1 && line[0] == '\\' && (line[1] >= 'a' && line[1] <= 'z' || line[1] == '!' || line[1] == '.'):
			blank(line)
		default:
			rows = copyFrom.Match(line)
		}
		at += end + 1
	}
	return out
}

func blank(line []byte) {
	for i := range line {
		line[i] = ' '
	}
}
