package sqltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/sqltext"
)

// The client's numbers behind a list depend on its length; the template must not.
func TestParametersBehindLists(t *testing.T) {
	template := func(sql string) string {
		var sc sqltext.Scanner
		sc.Reset([]byte(sql))
		sc.Next()
		st := sc.Statement()
		return string(st.Text) + " " + sqltext.EncodeSlots(st.Slots)
	}
	short := template("SELECT * FROM t WHERE a = $1 AND b IN ($2, $3) AND c = $1 LIMIT $4")
	long := template("SELECT * FROM t WHERE a = $1 AND b IN ($2, $3, $4, $5) AND c = $1 LIMIT $6")
	if short != long {
		t.Errorf("got two templates:\n%s\n%s", short, long)
	}
	if one, two := template("SELECT $1, $1"), template("SELECT $1, $2"); one == two {
		t.Errorf("one parameter used twice is not two parameters: %s", one)
	}
	if a, b := template("SELECT $2, $1, $2"), template("SELECT $1, $2, $1"); a != b {
		t.Errorf("got two templates for one shape:\n%s\n%s", a, b)
	}
}

// A literal that is written twice for one column name is one value; the template says so, and another one says that they differ.
func TestEqualLiterals(t *testing.T) {
	slots := func(sql string) string {
		var sc sqltext.Scanner
		sc.Reset([]byte(sql))
		sc.Next()
		return sqltext.EncodeSlots(sc.Statement().Slots)
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT 1 FROM a, b WHERE a.org_id = 7 AND b.org_id = 7 AND a.n = 7", "ii1i1i"},
		{"SELECT 1 FROM a, b WHERE a.org_id = 7 AND b.ORG_ID = 7 AND a.n = $3", "ii1i1b2"},
		{"SELECT 1 FROM a, b WHERE a.org_id = 7 AND b.org_id = 8", "iii"},
		{"SELECT 1 FROM a, b WHERE a.org_id = 7 AND b.org_id = '7'", "iis"},
		{"SELECT 1 FROM a, b WHERE a.org_id = '7' AND b.org_id = '7'", "is1s1"},
		{"SELECT 1 FROM a, b WHERE a.org_id = -7 AND b.org_id = -7", "ii1i1"},
		{"SELECT 1 FROM a, b WHERE a.org_id = 7 AND b.org_id >= 7", "iii"},
		{"SELECT 1 FROM a, b WHERE a.\"org_id\" = 7 AND b.org_id = 7", "iii"},
		{"SELECT 1 FROM a, b WHERE a.org_id = $1 AND b.org_id = $1", "ib1b1"},
	} {
		if got := slots(c.sql); got != c.want {
			t.Errorf("%s: got %s, want %s", c.sql, got, c.want)
		}
	}
}

// The elements of a list that are cast are folded like those that are not.
func TestCastElementsFold(t *testing.T) {
	template := func(sql string) string {
		var sc sqltext.Scanner
		sc.Reset([]byte(sql))
		sc.Next()
		st := sc.Statement()
		return string(st.Text) + " | " + sqltext.EncodeSlots(st.Slots)
	}
	for sql, want := range map[string]string{
		"select 1 where a in ('x'::uuid, 'y'::uuid, 'z'::UUID)":                              "select $1 where a in ($2::uuid /*, ... */) | is*",
		"select 1 where a in ($1::s.\"T\", $2::s.\"T\") and b = $3":                          "select $1 where a in ($2::s.\"T\" /*, ... */) and b = $3 | ib1*b2",
		"select 1 where a = any(array['x'::uuid, 'y'::uuid])":                                "select $1 where a = any(array[$2::uuid /*, ... */]) | is*",
		"select 1 where a in ('x'::timestamp with time zone, 'y'::timestamp with time zone)": "select $1 where a in ($2::timestamp with time zone /*, ... */) | is*",
		"select 1 where a in ('x'::uuid)":                                                    "select $1 where a in ($2::uuid) | is",
		"select 1 where a in ('x'::uuid, 'y'::text)":                                         "select $1 where a in ($2::uuid, $3::text) | iss",
		"select 1 where a in ('x'::uuid, 'y')":                                               "select $1 where a in ($2::uuid, $3) | iss",
		"select 1 where a in ('x'::uuid, 'y'::uuid, b)":                                      "select $1 where a in ($2::uuid, $3::uuid, b) | iss",
		"select 1 where a in (b, 'x'::uuid, 'y'::uuid)":                                      "select $1 where a in (b, $2::uuid, $3::uuid) | iss",
		"select 1 where a in ('x'::varchar(3), 'y'::varchar(3))":                             "select $1 where a in ($2::varchar(3), $3::varchar(3)) | iss",
		"select 1 where a in (5::bigint, 6::bigint)":                                         "select $1 where a in ($2::bigint, $3::bigint) | iii",
		"select f('x'::uuid, 'y'::uuid), ('x'::uuid, 'y'::uuid)":                             "select f($1::uuid, $2::uuid), ($3::uuid, $4::uuid) | ssss",
		"select 1 where (a, b) in (('x'::uuid, 1), ('y'::uuid, 2))":                          "select $1 where (a, b) in (($2::uuid, $3), ($4::uuid, $5)) | isisi",
		"insert into t values ('x'::uuid, 'y'::uuid), ('z'::uuid, 'w'::uuid)":                "insert into t values ($1::uuid, $2::uuid) /*, ... */ | s*s*",
	} {
		if got := template(sql); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}

// Ten thousand statements of an ORM that differ in the length of their lists are a handful of templates.
func TestListLengthsDoNotMultiplyTemplates(t *testing.T) {
	seen := map[string]bool{}
	var sc sqltext.Scanner
	for n := 2; n < 2002; n++ {
		element := func(format string) string {
			var b strings.Builder
			for i := range n%97 + 2 {
				if i > 0 {
					b.WriteString(", ")
				}
				fmt.Fprintf(&b, strings.ReplaceAll(format, "#", "%[1]d"), i+1)
			}
			return b.String()
		}
		for _, sql := range []string{
			"select * from t where a = $1 and b in (" + element("$#") + ") limit 5", "select * from t where b in (" + element("'#'::uuid") + ")",
			"select * from t where b = any(array[" + element("'#'::uuid") + "])", "insert into t (a, b, c) values " + element("($#::uuid, '#', #::bigint)"),
			"select * from t where (a, b) in (" + element("(#, 'x#')") + ")",
		} {
			for sc.Reset([]byte(sql)); sc.Next(); {
				seen[string(sc.Statement().Text)+sqltext.EncodeSlots(sc.Statement().Slots)] = true
			}
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d templates", len(seen))
	}
}
