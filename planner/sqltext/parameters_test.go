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
