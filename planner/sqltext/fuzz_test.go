package sqltext_test

import (
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/sqlast"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// seeds are a few statements that reach most of the scanner.
var seeds = []string{
	"SELECT a, \"B\" FROM t WHERE x IN (1,2) AND y = -5 ORDER BY 1; /*team='x'*/",
	"insert into t values (1,'a',now()),(2,'b',now()) on conflict do nothing",
	"select interval '1' day, x::numeric(10,2), array[1,2], case when a then E'\\n' end, $$x$$, U&'a' uescape '!'",
	"create function f() returns int begin atomic select 1; end; select 2 -- c",
	"copy (select 5) to 'x' with (delimiter ',')",
	"a..b 1..2 $1 @-1 <>!= :: := => /* /* */ */ 'a'\n'b'",
}

// FuzzScan: whatever the input, the scanner does not panic, its statements cover the input up to semicolons, blanks and comments, and every slot has
// a value.
func FuzzScan(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		var s sqltext.Scanner
		s.Reset([]byte(src))
		end := 0
		for s.Next() {
			st := s.Statement()
			if st.Span.Start < end || st.Span.End < st.Span.Start || st.Span.End > len(src) {
				t.Fatalf("%q: span %v after %d", src, st.Span, end)
			}
			mustBeBlank(t, src, src[end:st.Span.Start])
			end = st.Span.End
			if st.Bound == sqltext.Unlexable {
				if len(st.Text) > 0 || len(st.Values) > 0 {
					t.Fatalf("%q: text or values of an unlexable statement", src)
				}
				continue
			}
			checkSlots(t, src, st)
		}
		mustBeBlank(t, src, src[end:])
	})
}

func mustBeBlank(t *testing.T, src, gap string) {
	t.Helper()
	var s sqltext.Scanner
	s.Reset([]byte(gap))
	if s.Next() {
		t.Fatalf("%q: %q belongs to no statement", src, gap)
	}
}

func checkSlots(t *testing.T, src string, st *sqltext.Statement) {
	t.Helper()
	seen := make([]int, len(st.Slots))
	for _, v := range st.Values {
		if v.Slot < 1 || v.Slot > len(seen) || v.Span.Start < st.Span.Start || v.Span.End > st.Span.End {
			t.Fatalf("%q: value %+v", src, v)
		}
		seen[v.Slot-1]++
	}
	for i, n := range seen {
		if n == 0 || n > 1 && !st.Slots[i].List {
			t.Fatalf("%q: slot %d has %d values, list %v", src, i+1, n, st.Slots[i].List)
		}
	}
}

// again scans a template's text: it must be one statement with that text, unless values of different kinds, now all binds, make a list.
func again(t *testing.T, src, text string, slots []sqltext.Slot) {
	t.Helper()
	var s sqltext.Scanner
	s.Reset([]byte(text))
	if !s.Next() {
		t.Fatalf("%q: template %q is empty", src, text)
	}
	st := s.Statement()
	if st.Elements == 0 && (string(st.Text) != text || len(st.Slots) != len(slots)) {
		t.Fatalf("%q:\n template %q\n becomes  %q", src, text, st.Text)
	}
	if s.Next() {
		t.Fatalf("%q: template %q is several statements", src, text)
	}
}

// FuzzEquivalence: where pg_query parses a statement, it parses the template, and the template's template is itself.
func FuzzEquivalence(f *testing.F) {
	for _, s := range append(corpus(f), seeds...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Count(src, ";") > 3 || len(src) > 2000 {
			return
		}
		stmts, err := sqlast.Parse(src)
		if err != nil {
			return
		}
		var s sqltext.Scanner
		s.Reset([]byte(src))
		n := 0
		for s.Next() {
			n++
			st := s.Statement()
			if st.Bound == sqltext.Unlexable {
				t.Fatalf("%q: PostgreSQL parses it, the scanner does not", src)
			}
			if got, err := sqlast.Parse(string(st.Text)); err != nil || len(got) != 1 {
				t.Fatalf("%q:\n template %q: %d statements, %v", src, st.Text, len(got), err)
			}
			again(t, src, string(st.Text), st.Slots)
		}
		if n != len(stmts) {
			t.Fatalf("%q: %d statements, PostgreSQL has %d", src, n, len(stmts))
		}
	})
}
