package sqltext_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/sqlast"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// deep are statements whose parse tree gets as deep as n says.
var deep = map[string]func(n int) string{
	"sum":         func(n int) string { return "select 1" + strings.Repeat("+1", n) },
	"power":       func(n int) string { return "select " + strings.Repeat("a^", n) + "1" },
	"parentheses": func(n int) string { return "select " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) },
	"not":         func(n int) string { return "select " + strings.Repeat("not ", n) + "a" },
	"minus":       func(n int) string { return "select " + strings.Repeat("- ", n) + "a" },
	"casts":       func(n int) string { return "select 1" + strings.Repeat("::int", n) },
	"case": func(n int) string {
		return "select " + strings.Repeat("case when ", n) + "a" + strings.Repeat(" then 1 end", n)
	},
	"case in else": func(n int) string {
		return "select " + strings.Repeat("case when a then 1 else ", n) + "1" + strings.Repeat(" end", n)
	},
	"case after and": func(n int) string {
		return "select " + strings.Repeat("a and case when ", n) + "a" + strings.Repeat(" then b end", n)
	},
	"unions": func(n int) string { return "select 1" + strings.Repeat(" union select 1", n) },
	"joins":  func(n int) string { return "select 1 from a" + strings.Repeat(" join a on true", n) },
	"nested joins": func(n int) string {
		return "select 1 from " + strings.Repeat("(", n) + "a" + strings.Repeat(" join a on true)", n)
	},
	"right joins": func(n int) string {
		return "select 1 from " + strings.Repeat("a join ", n) + "a" + strings.Repeat(" on true", n)
	},
	"subqueries": func(n int) string { return strings.Repeat("select (", n) + "select 1" + strings.Repeat(")", n) },
	"derived tables": func(n int) string {
		return strings.Repeat("select * from (", n) + "select 1" + strings.Repeat(") x", n)
	},
	"common tables": func(n int) string {
		return strings.Repeat("with a as (", n) + "select 1" + strings.Repeat(") select 1", n)
	},
	"calls":      func(n int) string { return "select " + strings.Repeat("f(", n) + "1" + strings.Repeat(")", n) },
	"arrays":     func(n int) string { return "select array" + strings.Repeat("[", n) + "1" + strings.Repeat("]", n) },
	"subscripts": func(n int) string { return "select a" + strings.Repeat("[a", n) + strings.Repeat("]", n) },
	"in":         func(n int) string { return "select " + strings.Repeat("a in (", n) + "1" + strings.Repeat(")", n) },
	"between": func(n int) string {
		return "select " + strings.Repeat("a between 1 and (", n) + "1" + strings.Repeat(")", n)
	},
	"is null":         func(n int) string { return "select a" + strings.Repeat(" isnull", n) },
	"is true":         func(n int) string { return "select " + strings.Repeat("(", n) + "a" + strings.Repeat(" is true)", n) },
	"collate":         func(n int) string { return "select a" + strings.Repeat(" collate x", n) },
	"time zones":      func(n int) string { return "select a" + strings.Repeat(" at time zone 'x'", n) },
	"named operators": func(n int) string { return "select a" + strings.Repeat(" operator(pg_catalog.+) a", n) },
	"and in or": func(n int) string {
		return "select " + strings.Repeat("(a or b and ", n) + "c" + strings.Repeat(")", n)
	},
	"set operations": func(n int) string {
		return strings.Repeat("(", n) + "select 1" + strings.Repeat(" except select 1)", n)
	},
	"inside a routine": func(n int) string { return "create function f() returns int return 1" + strings.Repeat("+1", n) },
	"second statement": func(n int) string { return "select 1; select 1" + strings.Repeat("+1", n) },
	"in a values row":  func(n int) string { return "values (1), (1" + strings.Repeat("+1", n) + ")" },
	"similar":          func(n int) string { return "select " + strings.Repeat("a like (", n) + "a" + strings.Repeat(")", n) },
	"grouping sets": func(n int) string {
		return "select 1 group by " + strings.Repeat("grouping sets (", n) + "a" + strings.Repeat(")", n)
	},
}

func TestDeepStatementsNeverReachTheParser(t *testing.T) {
	for name, make := range deep {
		for _, n := range []int{5000, 20000, 64000} {
			sql := make(n)
			if got := sqltext.CheckBounds(sql); got != sqltext.TooDeep && got != sqltext.TooLong {
				t.Errorf("%s of %d: bound %d", name, n, got)
				continue
			}
			var pe *sqlast.Error
			if _, err := sqlast.Parse(sql); !errors.As(err, &pe) || pe.Bound == sqltext.WithinBounds {
				t.Errorf("%s of %d: parsed, or refused with %v", name, n, err)
			}
		}
		var s sqltext.Scanner
		s.Reset([]byte(make(5000)))
		for s.Next() {
			if st := s.Statement(); len(st.Text) == 0 {
				t.Errorf("%s: no canonical text", name)
			}
		}
		// the deepest that is admitted is parsed
		low, high := 1, 5000
		for low+1 < high {
			if mid := (low + high) / 2; sqltext.CheckBounds(make(mid)) == sqltext.WithinBounds {
				low = mid
			} else {
				high = mid
			}
		}
		if _, err := sqlast.Parse(make(low)); err != nil {
			t.Errorf("%s: admitted at %d, but %v", name, low, err)
		}
		if low < 100 {
			t.Errorf("%s: only %d are admitted", name, low)
		}
	}
}

func TestLongFlatStatementsAreAdmitted(t *testing.T) {
	flat := map[string]string{
		"or":         "select 1 from t where a = 1" + strings.Repeat(" or a = 1", 5000),
		"and":        "select 1 from t where a = 1" + strings.Repeat(" and a = b + 1", 5000),
		"and or":     "select 1 from t where a = 1" + strings.Repeat(" and a = 1 or b = 1", 5000),
		"columns":    "select a" + strings.Repeat(", a + 1", 20000),
		"list":       "select 1 from t where a in (1" + strings.Repeat(", 1", 50000) + ")",
		"rows":       "insert into t values (1, 'x')" + strings.Repeat(", (2, 'y')", 20000),
		"mixed rows": "insert into t values (1, 'x'), (1, null)" + strings.Repeat(", (2 + 1, 'y'), (null, f(1))", 10000),
		"whens":      "select case" + strings.Repeat(" when a = 1 then 2", 5000) + " end",
		"statements": strings.Repeat("select 1 + 1;", 20000),
		"unions":     "select 1" + strings.Repeat(" union all select 1", 400),
		"joins":      "select 1 from a" + strings.Repeat(" join a on true", 400),
	}
	for name, sql := range flat {
		if got := sqltext.CheckBounds(sql); got != sqltext.WithinBounds {
			t.Errorf("%s: bound %d", name, got)
			continue
		}
		if _, err := sqlast.Parse(sql); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLongLiteralIsNoLongTemplate(t *testing.T) {
	sql := "insert into t values ('" + strings.Repeat("x", 2*sqltext.MaxBytes) + "')"
	if got := sqltext.CheckBounds(sql); got != sqltext.TooLong {
		t.Errorf("the original has bound %d", got)
	}
	var s sqltext.Scanner
	s.Reset([]byte(sql))
	if !s.Next() || s.Statement().Bound != sqltext.WithinBounds {
		t.Errorf("the template has bound %d", s.Statement().Bound)
	}
	tmpl := sqltext.NewCache(1 << 20).Template(s.Statement())
	if tmpl.Text != "insert into t values ($1)" || tmpl.Bound != sqltext.WithinBounds {
		t.Errorf("got %+v", tmpl)
	}
	long := "select " + strings.Repeat("abcdefgh, ", sqltext.MaxBytes/8) + "1"
	s.Reset([]byte(long))
	if !s.Next() || s.Statement().Bound != sqltext.TooLong || len(s.Statement().Text) == 0 {
		t.Errorf("a long text has bound %d", s.Statement().Bound)
	}
}

// TestHostileTextsAreReadOnce scans texts that a scanner which looks ahead or back without a bound would need hours for.
func TestHostileTextsAreReadOnce(t *testing.T) {
	const n = 100_000
	for name, sql := range map[string]string{
		"operators":      "select a " + strings.Repeat("+", 4*n) + " b",
		"signs":          "select " + strings.Repeat("+-", n) + "1",
		"parentheses":    "select a order by " + strings.Repeat("(1", n) + strings.Repeat(")", n),
		"calls":          "select " + strings.Repeat("a(1,1,", n) + strings.Repeat(")", n),
		"dots":           "select " + strings.Repeat("a.", n) + "a(1)[1]",
		"strings":        "select E" + strings.Repeat("'a\\n'\n", n),
		"long list":      "select a in (1" + strings.Repeat(",1", n) + ",'x')",
		"other rows":     "insert into t values (1, 'x'), (1, null)" + strings.Repeat(", (null, null)", n),
		"rows in rows":   "insert into t values " + strings.Repeat("((1),", n) + "1" + strings.Repeat(")", n),
		"semicolons":     "select 1" + strings.Repeat("; /* x */ -- y\n", n) + "select 2",
		"comments":       strings.Repeat("select 1;/* x */", n),
		"open comments":  "select 1 " + strings.Repeat("/*", n),
		"dollars":        strings.Repeat("$a", n),
		"dollar quotes":  strings.Repeat("$a$b", n),
		"cases":          "select " + strings.Repeat("case ", n) + strings.Repeat("end ", n),
		"other bytes":    strings.Repeat("\\", n),
		"quotes":         strings.Repeat("''", n),
		"quoted names":   "select " + strings.Repeat(`"a"""`, n),
		"numbers":        "select " + strings.Repeat("9", n) + ", 0x" + strings.Repeat("f", n),
		"open brackets":  "select " + strings.Repeat("a[1", n),
		"atomic":         "create function f() begin atomic " + strings.Repeat("case ", n) + ";",
		"list of arrays": "select array[" + strings.Repeat("array[1,", n),
	} {
		var s sqltext.Scanner
		s.Reset([]byte(sql))
		statements := 0
		for s.Next() {
			statements++
		}
		if statements == 0 {
			t.Errorf("%s: no statement", name)
		}
	}
}
