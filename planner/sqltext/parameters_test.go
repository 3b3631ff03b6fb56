package sqltext_test

import (
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
