package facts_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/planner/facts"
)

// TestCodecRoundTrip encodes drawn facts, decodes them, and finds the same facts and the same bytes.
func TestCodecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := &facts.Statement{Sources: rapid.IntRange(0, 9).Draw(t, "sources")}
		if rapid.Bool().Draw(t, "query") {
			st.Query = drawQuery(t, 3)
		}
		if rapid.Bool().Draw(t, "utility") {
			st.Utility = &facts.Utility{Kind: facts.UtilAlterTable, Tables: drawNames(t), Actions: []facts.Action{{Kind: "add_unique", Columns: drawNames(t), Partial: true}}}
		}
		if rapid.Bool().Draw(t, "problem") {
			st.Problems = []facts.Problem{{Code: "unknown_table", Text: "x", Name: rapid.SampledFrom([]string{"", "public.t"}).Draw(t, "name"), Pos: rapid.IntRange(-1, 99).Draw(t, "pos"), Invalid: rapid.Bool().Draw(t, "invalid")}}
		}
		b := facts.Encode(st)
		back, err := facts.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(st, back) {
			t.Fatalf("decoded facts differ:\n%s\n%s", facts.String(st), facts.String(back))
		}
		if string(facts.Encode(back)) != string(b) {
			t.Fatal("decoded facts encode to other bytes")
		}
	})
}

func drawNames(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,5}`), 1, 3).Draw(t, "names")
}

func drawExpr(t *rapid.T, depth int) *facts.Expr {
	e := &facts.Expr{Op: facts.Op(rapid.IntRange(1, int(facts.Collate)).Draw(t, "op")), Type: rapid.SampledFrom([]string{"", "int8", "text"}).Draw(t, "type"),
		Source: rapid.IntRange(facts.OwnResult, 3).Draw(t, "source"), Col: rapid.IntRange(-1, 5).Draw(t, "col"), Slot: rapid.IntRange(0, 4).Draw(t, "slot"),
		Negated: rapid.Bool().Draw(t, "negated"), Levels: rapid.IntRange(0, 2).Draw(t, "levels"), Pos: rapid.IntRange(-1, 50).Draw(t, "epos")}
	if depth == 0 {
		return e
	}
	for range rapid.IntRange(0, 2).Draw(t, "args") {
		e.Args = append(e.Args, drawExpr(t, depth-1))
	}
	if e.Op == facts.Sublink {
		e.Sub, e.Query = facts.SubExists, drawQuery(t, depth-1)
	}
	return e
}

func drawQuery(t *rapid.T, depth int) *facts.Query {
	q := &facts.Query{Where: drawExpr(t, depth), Grouped: rapid.Bool().Draw(t, "grouped"),
		From:    []*facts.Source{{ID: 1, Kind: facts.FromTable, Table: "public.t"}},
		Outputs: []facts.Output{{Name: "a", Expr: drawExpr(t, 0)}}, OrderBy: []facts.SortKey{{Expr: drawExpr(t, 0), Desc: true}}}
	if depth > 0 && rapid.Bool().Draw(t, "setop") {
		q.SetOp = &facts.SetOp{Op: "union", Left: drawQuery(t, depth-1), Right: drawQuery(t, depth-1)}
	}
	if depth > 0 && rapid.Bool().Draw(t, "write") {
		q.Write = &facts.Write{Op: "update", Target: q.From[0], Set: []facts.Assign{{Column: "c", Value: drawExpr(t, depth-1)}}}
		back := *q.From[0] // decoding makes the target a copy of its own
		q.Write.Target = &back
	}
	return q
}

// TestDecodeRejects finds that bytes which are no facts are an error, not empty facts.
func TestDecodeRejects(t *testing.T) {
	good := facts.Encode(&facts.Statement{Sources: 1})
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("\x63abc"), "cut": good[:len(good)-1], "trailing": append(good, 0), "unknown field": []byte("\xa1\x18\x63\x01")} {
		if st, err := facts.Decode(b); err == nil || !strings.HasPrefix(err.Error(), "decode facts: ") {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
}

// FuzzDecode feeds bytes that were not written by Encode: they are an error, or facts that travel.
func FuzzDecode(f *testing.F) {
	f.Add(facts.Encode(&facts.Statement{Query: &facts.Query{Where: &facts.Expr{Op: facts.And, Args: []*facts.Expr{nil, {Op: facts.Slot, Pos: -1}}}, Values: [][]*facts.Expr{{}}}, Sources: 300}))
	f.Add([]byte("\xa1\x01\xa1\x05\x9a\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		st, err := facts.Decode(b)
		if err != nil {
			return
		}
		once := facts.Encode(st)
		back, err := facts.Decode(once)
		if err != nil || string(facts.Encode(back)) != string(once) {
			t.Fatalf("%x decodes, and again: %v", b, err)
		}
	})
}
