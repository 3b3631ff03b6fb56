package analysis

import (
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/sqltext"
)

func TestParametersAreShownWithTheClientsNumbers(t *testing.T) {
	for _, tt := range []struct{ slots, text, want string }{
		{"b1b2", "select a from t where a = $1 and b = $2", ""},
		{"ii", "select a from t where a = $1 and b = $2", ""},
		{"b1b2b1", "select a from t where a = $1 and b = $2 and c = $3", "select a from t where a = $1 and b = $2 and c = $1"},
		{"b1b1b2", "select $1, $2, $3", "select $1, $1, $2"},
		{"b1ib1b2*", "select $1, $2, $3 from t where a in ($4 /*, ... */)", "select $1, $2, $1 from t where a in ($3 /*, ... */)"},
		{"b1b1", `select "$1" from t$1 where a = $1 and "b""$2" = $2`, `select "$1" from t$1 where a = $1 and "b""$2" = $1`},
		{"b1b1b1b1b1b1b1b1b1b1b2", "select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 from t", "select $1, $1, $1, $1, $1, $1, $1, $1, $1, $1, $2 from t"},
		{"i1i1s", "set x to $1, $2, '$3'", "set x to $1, $1, '$2'"},
	} {
		at := strings.Index(tt.text, " from t") // no parameter holds it
		q := QueryReport{Text: tt.text, Reasons: []QueryReason{{Position: at}, {Position: -1}}, Fixes: []planner.Fix{{SQL: tt.text + " and k = $99"}}}
		verdicts := q.Reasons
		q.show(&stored{slots: tt.slots, text: tt.text})
		want := tt.want
		if want == "" {
			want = tt.text
		}
		if q.Text != want || (&stored{slots: tt.slots, text: tt.text}).shown() != want {
			t.Errorf("%s %s\ngot  %s\nwant %s", tt.slots, tt.text, q.Text, want)
		}
		if got := q.Reasons[0].Position; got != strings.Index(want, " from t") || q.Reasons[1].Position != -1 {
			t.Errorf("%s: position %d became %d in %s", tt.text, at, got, q.Text)
		}
		if verdicts[0].Position != at {
			t.Error("the verdict's own position moved")
		}
	}
	n := newNumbering(mustSlots(t, "b1b2b1"))
	if got, want := n.text("a = $1 and b = $2 and c = $3 and k = $4 and l = $5"), "a = $1 and b = $2 and c = $1 and k = $3 and l = $4"; got != want {
		t.Errorf("parameters of a fix: got %s, want %s", got, want)
	}
}

func mustSlots(t *testing.T, code string) []sqltext.Slot {
	t.Helper()
	slots, err := sqltext.DecodeSlots(code)
	if err != nil {
		t.Fatal(err)
	}
	return slots
}
