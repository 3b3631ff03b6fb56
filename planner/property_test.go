package planner_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// prepared is a statement as analysis has it: facts and slots.
type prepared struct {
	sql   string
	st    *facts.Statement
	slots []sqltext.Slot
	vals  []sqltext.Value
}

func prepare(t testing.TB, p *planner.Planner, sql, setup string) []prepared {
	t.Helper()
	var out []prepared
	var sc sqltext.Scanner
	sc.Reset([]byte(sql))
	var path []string
	if rest, ok := strings.CutPrefix(setup, "SET search_path="); ok {
		path = planner.SplitPath(rest)
	}
	for sc.Next() {
		st := sc.Statement()
		if st.Bound != sqltext.WithinBounds {
			continue
		}
		slots := slices.Clone(st.Slots)
		var vals []sqltext.Value
		for _, v := range st.Values {
			v.Text = slices.Clone(v.Text)
			vals = append(vals, v)
		}
		tmpl := sqltext.NewTemplate(string(st.Text), slots)
		out = append(out, prepared{sql, resolve.Statement(tmpl, p.Catalog(), resolve.Options{SearchPath: path}), slots, vals})
	}
	return out
}

func oraclePrepared(t testing.TB, p *planner.Planner) []prepared {
	var all []prepared
	for _, r := range oracleRows(t) {
		all = append(all, prepare(t, p, r.SQL, r.Setup)...)
	}
	return all
}

// rank orders the classes that promise where a statement runs.
func rank(c planner.Class) (int, bool) {
	n, ok := oracleCost[string(c)]
	return n, ok
}

// TestSymbolicHoldsForAllValues: a class that is given for all values is never cheaper than what some values need.
func TestSymbolicHoldsForAllValues(t *testing.T) {
	p := oraclePlanner(t)
	all := oraclePrepared(t, p)
	pool := map[sqltext.Kind][]string{
		sqltext.Int: {"5", "6", "10", "0"}, sqltext.BigInt: {"5000000000"}, sqltext.Numeric: {"5.0", "5.5", "1e3"},
		sqltext.String: {"5", "6", "org1", "org2", "bd19836d-db62-c11c-55ab-251ccaca5645", "{5,6}", "{}", "a", "2024-01-05", "users"},
		sqltext.Bind:   {"5", "6", "org1"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := all[rapid.IntRange(0, len(all)-1).Draw(rt, "statement")]
		vals := &planner.Values{Slots: make([]planner.Value, len(s.slots)), Binds: rapid.Bool().Draw(rt, "binds")}
		for i, sl := range s.slots {
			draw := func() planner.Value {
				texts := pool[sl.Kind]
				if len(texts) == 0 {
					return planner.Value{Kind: sl.Kind}
				}
				v := planner.Value{Kind: sl.Kind, Text: rapid.SampledFrom(texts).Draw(rt, "value")}
				v.Null = sl.Kind == sqltext.Bind && rapid.IntRange(0, 9).Draw(rt, "null") == 0
				return v
			}
			if sl.List {
				vals.Slots[i] = planner.Value{Kind: sl.Kind, List: []planner.Value{draw(), draw(), draw()}}
				continue
			}
			vals.Slots[i] = draw()
			for k := range i { // one number is one value
				if sl.Bind > 0 && s.slots[k].Bind == sl.Bind && !s.slots[k].List {
					vals.Slots[i] = vals.Slots[k]
				}
			}
		}
		sym, con := p.Judge(s.st, s.slots, nil), p.Judge(s.st, s.slots, vals)
		rs, ok1 := rank(sym.Class)
		rc, ok2 := rank(con.Class)
		if ok1 && ok2 && rc > rs {
			rt.Fatalf("%s\n for all values %s, for %v %s", s.sql, sym.Class, vals.Slots, con.Class)
		}
		if con.Class == planner.SingleShard && len(con.Shards.List) > 1 {
			rt.Fatalf("%s\n single_shard on %v", s.sql, con.Shards.List)
		}
	})
}

// TestDeterministic: the same statement has the same verdict, and facts are not changed by judging.
func TestDeterministic(t *testing.T) {
	p := oraclePlanner(t)
	for _, s := range oraclePrepared(t, p) {
		before := facts.Encode(s.st)
		a, b := p.Judge(s.st, s.slots, nil), p.Judge(s.st, s.slots, nil)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s\n%+v\n%+v", s.sql, a, b)
		}
		if string(before) != string(facts.Encode(s.st)) {
			t.Fatalf("judging changed the facts of %s", s.sql)
		}
		for _, r := range a.Reasons {
			if r.Code == "internal" {
				t.Errorf("%s: %s", s.sql, r.Message)
			}
		}
	}
}

// TestEqualLiterals: two literals that are equal in every execution share a number; otherwise they are two values.
func TestEqualLiterals(t *testing.T) {
	p := oraclePlanner(t)
	s := prepare(t, p, "DELETE FROM notifications WHERE user_id = 5 AND notif_id IN (SELECT notif_id FROM notifications WHERE user_id = 5 LIMIT 10)", "")[0]
	if v := p.Judge(s.st, s.slots, nil); v.Class != planner.SingleShard {
		t.Errorf("one value: %s", v.Class)
	}
	for i := range s.slots {
		s.slots[i].Bind = 0
	}
	if v := p.Judge(s.st, s.slots, nil); v.Class != planner.MultiPhase {
		t.Errorf("two literals: %s", v.Class)
	}
}

// TestRouterValues: with the values of parameters as constants, as a router has them, the class is that of the one execution.
func TestRouterValues(t *testing.T) {
	p := oraclePlanner(t)
	s := prepare(t, p, "SELECT * FROM users u, notifications n WHERE u.user_id = $1 AND n.user_id = $2", "")[0]
	vals := func(a, b string, binds bool) *planner.Values {
		return &planner.Values{Binds: binds, Slots: []planner.Value{{Kind: sqltext.Bind, Text: a}, {Kind: sqltext.Bind, Text: b}}}
	}
	for _, c := range []struct {
		vals *planner.Values
		want planner.Class
	}{
		{nil, planner.MultiPhase}, {vals("5", "5", false), planner.MultiPhase}, {vals("5", "5", true), planner.SingleShard},
		{vals("5", "6", true), planner.MultiPhase}, {vals("5", "10", true), planner.SingleShard},
	} {
		if v := p.Judge(s.st, s.slots, c.vals); v.Class != c.want || v.LayoutDependent != (c.want == planner.SingleShard && c.vals.Slots[1].Text == "10") {
			t.Errorf("%v: %s, layout dependent %v", c.vals, v.Class, v.LayoutDependent)
		}
	}
}

// TestUndecided: what touches a table that the candidate does not name is unknown.
func TestUndecided(t *testing.T) {
	cat := oracleSchema(t)
	cand, err := candidate.Load("thin.yaml", []byte("name: thin\nshards: 8\ncolos:\n  user:\n    key: {name: user_id, type: bigint}\n    tables: {users: user_id}\n"), cat)
	if err != nil {
		t.Fatal(err)
	}
	p := planner.New(cat, cand)
	for sql, want := range map[string]planner.Class{
		"SELECT * FROM users WHERE user_id = 5": planner.SingleShard,
		"SELECT * FROM plans":                   planner.Unknown,
		"SELECT * FROM users WHERE user_id = 5 AND EXISTS (SELECT 1 FROM plans)": planner.Unknown,
		"TRUNCATE plans": planner.Unknown,
	} {
		if a := p.Explain(planner.Question{SQL: sql}); a.Class != want {
			t.Errorf("%s: %s, want %s", sql, a.Class, want)
		}
	}
}

// shuffled makes candidates that place the oracle's tables otherwise, by any column that can be a key.
func shuffled(t *testing.T, p *planner.Planner, seed int) *planner.Planner {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "name: shuffled-%d\nshards: 8\ncolos:\n", seed)
	n := seed
	pick := func(k int) int { n = (n*1103515245 + 12345) & 0x7fffffff; return (n >> 8) % k }
	groups := map[string][]string{}
	var reference []string
	var names []string
	for key := range p.Catalog().Relations {
		names = append(names, key)
	}
	slices.Sort(names)
	for _, key := range names {
		rel := p.Catalog().Relations[key]
		if rel.Kind != 1 {
			continue
		}
		quoted := sqltext.QuoteName(rel.Schema) + "." + sqltext.QuoteName(rel.Name)
		var cols []string
		typ := ""
		for _, c := range rel.Columns {
			if c.Type == "int8" || c.Type == "text" || c.Type == "uuid" {
				cols = append(cols, c.Name+"\x00"+c.Type)
			}
		}
		if len(cols) == 0 || pick(5) == 0 {
			reference = append(reference, quoted)
			continue
		}
		col := cols[pick(len(cols))]
		col, typ, _ = strings.Cut(col, "\x00")
		groups[typ] = append(groups[typ], fmt.Sprintf("      '%s': '%s'\n", quoted, sqltext.QuoteName(col)))
	}
	for _, typ := range []string{"int8", "text", "uuid"} {
		if len(groups[typ]) > 0 {
			fmt.Fprintf(&b, "  c_%s:\n    key: {name: k, type: %s}\n    tables:\n%s", typ, typ, strings.Join(groups[typ], ""))
		}
	}
	for i, r := range reference {
		if i == 0 {
			b.WriteString("reference:\n")
		}
		fmt.Fprintf(&b, "  - '%s'\n", r)
	}
	c, err := candidate.Load("shuffled.yaml", []byte(b.String()), p.Catalog())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return planner.New(p.Catalog(), c)
}

// TestValueSlotsCoverBindings: whatever the candidate, a slot that binds a key is among the slots that analysis counts values of.
func TestValueSlotsCoverBindings(t *testing.T) {
	p := oraclePlanner(t)
	all := oraclePrepared(t, p)
	planners := []*planner.Planner{p}
	for seed := range 12 {
		planners = append(planners, shuffled(t, p, seed))
	}
	bound := 0
	for _, s := range all {
		have := map[int]bool{}
		for _, v := range planner.ValueSlots(s.st, p.Catalog()) {
			have[v.Slot] = true
		}
		for _, pl := range planners {
			for _, b := range pl.Judge(s.st, s.slots, nil).Bindings {
				for _, slot := range b.Slots {
					bound++
					if !have[slot] {
						t.Errorf("%s\n $%d binds %s.%s under %s", s.sql, slot, b.Table, b.Column, pl.Candidate().Name)
					}
				}
			}
		}
	}
	if bound < 500 {
		t.Errorf("only %d bindings were seen", bound)
	}
}

var (
	simpleWhere = regexp.MustCompile(`^(SELECT [^;()]*? FROM [^;()]*?) WHERE (.*)$`)
	later       = regexp.MustCompile(`(?i)\b(group by|order by|limit|offset|fetch|having|union|intersect|except|for (update|share|no|key)|window|returning)\b`)
	commaJoin   = regexp.MustCompile(`^SELECT \* FROM (\w+ \w+), (\w+ \w+) WHERE (.*)$`)
	twoArms     = regexp.MustCompile(`^(SELECT [^()]*?) (UNION ALL|UNION|INTERSECT) (SELECT [^()]*)$`)
)

// TestMetamorphic: what says the same has the same class.
func TestMetamorphic(t *testing.T) {
	p := oraclePlanner(t)
	changed := map[string]int{}
	for _, r := range oracleRows(t) {
		q := r.question(t)
		was := p.Explain(q)
		try := func(how, sql string) {
			changed[how]++
			next := q
			next.SQL = sql
			if now := p.Explain(next); now.Class != was.Class {
				t.Errorf("%s %s: %s, was %s\n%s\n%s", r.ID, how, now.Class, was.Class, sql, r.SQL)
			}
		}
		if m := simpleWhere.FindStringSubmatch(r.SQL); m != nil && !later.MatchString(r.SQL) && !strings.Contains(r.SQL, "--") {
			try("double negation", m[1]+" WHERE NOT (NOT ("+m[2]+"))")
			try("or false", m[1]+" WHERE ("+m[2]+") OR false")
			try("and true", m[1]+" WHERE true AND ("+m[2]+")")
			try("is true", m[1]+" WHERE ("+m[2]+") IS TRUE")
			if was.Class == planner.SingleShard || was.Class == planner.Scatter && slices.Equal(was.Features, []string{"concat"}) {
				try("derived table", "SELECT * FROM ("+r.SQL+") w")
				try("with", "WITH w AS ("+r.SQL+") SELECT * FROM w")
			}
		}
		if m := commaJoin.FindStringSubmatch(r.SQL); m != nil && !later.MatchString(r.SQL) {
			try("join on", "SELECT * FROM "+m[1]+" JOIN "+m[2]+" ON "+m[3])
			try("swapped", "SELECT * FROM "+m[2]+", "+m[1]+" WHERE "+m[3])
		}
		if m := twoArms.FindStringSubmatch(r.SQL); m != nil && !regexp.MustCompile(`(?i)\b(order by|limit|with)\b`).MatchString(r.SQL) {
			try("arms swapped", m[3]+" "+m[2]+" "+m[1])
		}
		if strings.Contains(r.SQL, "users u ") && !strings.Contains(r.SQL, "SELECT u ") {
			try("alias", regexp.MustCompile(`\bu\b`).ReplaceAllString(r.SQL, "zz"))
		}
	}
	for how, n := range changed {
		if n < 3 {
			t.Errorf("%s was tried %d times only", how, n)
		}
	}
}

// FuzzExplain: no text makes the judge fail, and a text has one verdict.
func FuzzExplain(f *testing.F) {
	p := oraclePlanner(f)
	for i, r := range oracleRows(f) {
		if i%7 == 0 {
			f.Add(r.SQL)
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		a, b := p.Explain(planner.Question{SQL: sql}), p.Explain(planner.Question{SQL: sql})
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("two verdicts: %+v %+v", a, b)
		}
		for _, r := range a.Reasons {
			if r.Code == "internal" {
				t.Fatalf("%s: %s", sql, r.Message)
			}
		}
		rs, ok1 := rank(a.Symbolic)
		rc, ok2 := rank(a.Class)
		if ok1 && ok2 && rc > rs {
			t.Fatalf("%s: %s for all values, %s for these", sql, a.Symbolic, a.Class)
		}
	})
}

// BenchmarkJudge judges one decoded statement for all values, averaged over the oracle's; BenchmarkDecodeJudge decodes it first.
func BenchmarkJudge(b *testing.B) {
	p := oraclePlanner(b)
	all := oraclePrepared(b, p)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := &all[i%len(all)]
		p.Judge(s.st, s.slots, nil)
	}
}

func BenchmarkDecodeJudge(b *testing.B) {
	p := oraclePlanner(b)
	all := oraclePrepared(b, p)
	data := make([][]byte, len(all))
	for i := range all {
		data[i] = facts.Encode(all[i].st)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		st, err := facts.Decode(data[i%len(all)])
		if err != nil {
			b.Fatal(err)
		}
		p.Judge(st, all[i%len(all)].slots, nil)
	}
}
