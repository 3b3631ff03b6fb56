package analysis

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/layout"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// oracle is the schema and candidate that the statements of fixtures/oracle are for.
func oracle(t *testing.T) (*catalog.Catalog, *candidate.Candidate) {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile("../fixtures/oracle/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	cat, err := catalog.Load("schema.sql", append(append(read("schema.sql"), '\n'), read("objects.sql")...))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("candidate.yaml", read("candidate.yaml"), cat)
	if err != nil {
		t.Fatal(err)
	}
	return cat, cand
}

// judgeText judges the first statement of a text for all values.
func judgeText(t *testing.T, cat *catalog.Catalog, cand *candidate.Candidate, text string) (*judged, *stored, []sqltext.Slot) {
	t.Helper()
	var sc sqltext.Scanner
	sc.Reset([]byte(text))
	if !sc.Next() {
		t.Fatalf("no statement in %q", text)
	}
	s := sc.Statement()
	st := &stored{id: "t", text: string(s.Text), slots: sqltext.EncodeSlots(s.Slots)}
	v, err := plannerJudging(cat, cand)(st)
	if err != nil {
		t.Fatal(err)
	}
	return v, st, slices.Clone(s.Slots)
}

func TestBareKeys(t *testing.T) {
	cat, cand := oracle(t)
	for _, tt := range []struct {
		name, sql, class string
		want             bool
	}{
		{"rows", "INSERT INTO users(user_id, handle, email) VALUES (1, 'a', 'b'), (2, 'c', 'd')", "multi_shard", true},
		{"rows of parameters", "INSERT INTO users(user_id, handle, email) VALUES ($1, $2, $3), ($4, $5, $6)", "multi_shard", true},
		{"a list", "SELECT * FROM users WHERE user_id IN (1, 2)", "multi_shard", true},
		{"a list of texts", "DELETE FROM orgs WHERE org_id IN ('a', 'b')", "multi_shard", true},
		{"a written array", "SELECT * FROM users WHERE user_id = ANY(ARRAY[$1, $2]::bigint[])", "multi_shard", true},
		{"two lists", "SELECT 1 FROM users u JOIN user_sessions s USING (user_id) WHERE u.user_id IN (1, 2) AND s.user_id IN (3, 4)", "multi_shard", true},
		{"an array is one value to the traffic", "SELECT * FROM users WHERE user_id = ANY($1)", "multi_shard", false},
		{"an array of texts", "SELECT * FROM orgs WHERE org_id = ANY($1)", "multi_shard", false},
		{"an array beside a value", "SELECT * FROM orgs WHERE org_id = $1 OR org_id = ANY($2)", "multi_shard", false},
		{"a list of expressions", "SELECT * FROM users WHERE user_id IN ($1 + 1, $2 + 1)", "multi_shard", false},
		{"a value and an expression", "SELECT * FROM users WHERE user_id = $1 OR user_id = $2 + 1", "multi_shard", false},
		{"one key", "SELECT * FROM users WHERE user_id = $1", "single_shard", false},
		{"no key", "SELECT * FROM users", "scatter", false},
		{"a list and no key", "SELECT 1 FROM users u, user_sessions s WHERE u.user_id IN (1, 2)", "multi_phase", false},
		{"two layouts", "SELECT 1 FROM users u, activity_log a WHERE u.user_id IN (1, 2) AND a.user_id IN (1, 2)", "multi_phase", false},
		{"a local table", "SELECT 1 FROM users u, job_queue q WHERE u.user_id IN (1, 2)", "multi_phase", false},
		{"a copy", "COPY users(user_id, handle, email) FROM STDIN", "multi_shard", false},
		{"a plan", "EXPLAIN SELECT * FROM users WHERE user_id IN (1, 2)", "multi_shard", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, _, _ := judgeText(t, cat, cand, tt.sql)
			if v.Class != tt.class || v.Bare != tt.want {
				t.Errorf("got %s, %t, want %s, %t (keys %+v)", v.Class, v.Bare, tt.class, tt.want, v.Keys)
			}
		})
	}
}

// What one value in all key slots of a statement means is put to the planner: it must say that this one execution is on one shard.
func TestBareKeysAgreeWithThePlanner(t *testing.T) {
	cat, cand := oracle(t)
	data, err := os.ReadFile("../fixtures/oracle/oracle.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var row struct{ SQL string }
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, row.SQL)
	}
	for _, table := range []string{"users", "user_sessions", "notifications"} {
		for _, list := range []string{"IN (1, 2)", "= ANY(ARRAY[$1, $2]::bigint[])", "IN (1, 2) AND user_id IN (3, 4)"} {
			texts = append(texts, "SELECT count(*) FROM "+table+" WHERE user_id "+list, "DELETE FROM "+table+" WHERE user_id "+list,
				"SELECT 1 FROM "+table+" WHERE EXISTS (SELECT 1 FROM users u WHERE u.user_id = "+table+".user_id) AND user_id "+list)
		}
	}
	checked := 0
	p := planner.New(cat, cand)
	value := map[layout.KeyClass]string{layout.IntKey: "5", layout.TextKey: "acme", layout.UUIDKey: "00000000-0000-4000-8000-000000000005"}
	for _, text := range texts {
		v, st, slots := judgeText(t, cat, cand, text)
		if !v.Bare {
			continue
		}
		class := layout.ClassOf(coloOf(t, cand, v.Keys[0].Colo).KeyType)
		vals := &planner.Values{Slots: make([]planner.Value, len(slots)), Binds: true}
		for _, k := range v.Keys {
			for _, s := range k.Slots {
				one := planner.Value{Kind: slots[s-1].Kind, Text: value[class]}
				vals.Slots[s-1] = one
				if slots[s-1].List {
					vals.Slots[s-1].List = []planner.Value{one, one, one}
				}
			}
		}
		got := p.Judge(st.statement(cat, slots), slots, vals)
		if got.Class != planner.SingleShard {
			t.Errorf("%s\nwith one value in its keys: got %s, want single_shard", text, got.Class)
		}
		checked++
	}
	if checked < 10 {
		t.Errorf("only %d statements were checked", checked)
	}
}

func coloOf(t *testing.T, cand *candidate.Candidate, name string) *candidate.Colo {
	t.Helper()
	for _, c := range cand.Colos {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no colo %q", name)
	return nil
}

// A folded INSERT is on many shards by its class; its executions are where their rows are.
func TestRowsOfOneKeyStayOnOneShard(t *testing.T) {
	rows := tmpl("insert into pgbench_accounts(bid,aid) values($1,$2) /*, ... */", 2)
	rows.Slots[0].List, rows.Slots[1].List = true, true
	many := judged{Class: "multi_shard", Readiness: "blocked", Write: true, Bare: true, Keys: []boundKey{{Colo: "account", Slots: []int64{2}}}}
	local := judged{Class: "unsharded", Readiness: "ready", Write: true}
	p := pgbenchPlan()
	p[rows.Text] = planned{verdicts: []judged{many, local}, values: []pipeline.ValueSlot{
		{Slot: 1, Table: "public.pgbench_accounts", Column: "bid", List: true}, {Slot: 2, Table: "public.pgbench_accounts", Column: "aid", List: true}}}
	c := newClock()
	insert := func(aids ...int64) (e []int64) { // rows of two values, in the order of the statement
		for i, a := range aids {
			e = append(e, int64(i), a)
		}
		return e
	}
	f := &feed{batch: 3}
	send := func(txn uint64, aids ...int64) {
		e := c.in("s", txn, rows, insert(aids...)...)
		for i := range e.Values {
			e.Values[i].Slot = i%2 + 1
		}
		e.Auto = txn == 0
		f.events = append(f.events, e)
	}
	send(0, 7, 7, 7)
	send(0, 8, 8)
	send(0, 7, 8)
	send(10, 7, 7)
	f.events = append(f.events, c.in("s", 10, tAccount, 5, 7), c.commit("s", 10, 2))
	send(11, 7, 7)
	send(11, 8, 8)
	f.events = append(f.events, c.commit("s", 11, 2))
	w := openAt(t, t.TempDir())
	ingest(t, w, p, f, pipeline.Options{})
	r := report(t, w, p, ReportOptions{}, pgbenchCandidates()...)
	want := Transactions{Total: 5, SingleShard: 3, ParamDependent: 3, MultiShardWrite: 2, Explicit: 2, ExplicitSingle: 1}
	if got := r.Candidates[0].Transactions; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want = Transactions{Total: 5, SingleShard: 5, Explicit: 2, ExplicitSingle: 2}
	if got := r.Candidates[1].Transactions; got != want {
		t.Errorf("unsharded: got %+v, want %+v", got, want)
	}
	if got := r.Candidates[0].Calls.ByClass["multi_shard"]; got != 6 {
		t.Errorf("statements keep their class: got %v multi_shard calls, want 6", got)
	}
}

// A slot that is compared with columns of two kinds has no symbol: '07' and '7' are one number and two texts.
func TestSlotOfTwoKindsHasNoSymbol(t *testing.T) {
	q := tmpl("select 1 from a, b where a.n::text = b.s and b.s = $1", 1)
	p := plan{q.Text: {verdicts: []judged{onKey("pgbench_accounts", "account", false, 1)}, values: []pipeline.ValueSlot{
		{Slot: 1, Table: "public.a", Column: "n", Class: 0}, {Slot: 1, Table: "public.b", Column: "s", Class: 1}}}}
	c := newClock()
	f := &feed{batch: 10, events: []capture.Event{c.in("s", 1, q, 7), c.in("s", 1, q, 7), c.commit("s", 1, 2)}}
	w := openAt(t, t.TempDir())
	ingest(t, w, p, f, pipeline.Options{})
	if got := report(t, w, p, ReportOptions{}, pgbenchCandidates()[0]).Candidates[0].Transactions; got.Unknown != 1 {
		t.Errorf("got %+v, want one unknown", got)
	}
}
