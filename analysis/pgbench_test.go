package analysis

import (
	"testing"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/candidate"
)

// The statements of pgbench's TPC-B-like transaction: three independent keys.
var (
	tBegin   = tmpl("begin", 0)
	tEnd     = tmpl("end", 0)
	tAccount = tmpl("update pgbench_accounts set abalance = abalance + $1 where aid = $2", 2)
	tBalance = tmpl("select abalance from pgbench_accounts where aid = $1", 1)
	tTeller  = tmpl("update pgbench_tellers set tbalance = tbalance + $1 where tid = $2", 2)
	tBranch  = tmpl("update pgbench_branches set bbalance = bbalance + $1 where bid = $2", 2)
	tHistory = tmpl("insert into pgbench_history(tid,bid,aid,delta,mtime) values($1,$2,$3,$4,current_timestamp)", 4)
)

func onKey(table, colo string, write bool, slot int64) judged {
	return judged{Class: "single_shard", Readiness: "ready", Tables: []string{"public." + table}, Write: write,
		Keys: []boundKey{{Colo: colo, Slots: []int64{slot}}}}
}

func compared(slot int, table, column string) pipeline.ValueSlot {
	return pipeline.ValueSlot{Slot: slot, Table: "public." + table, Column: column}
}

// pgbenchPlan has two candidates: 1 gives every table a key and a colo of its own; 2 keeps all tables unsharded.
func pgbenchPlan() plan {
	session := judged{Class: "session", Readiness: "ready"}
	local := func(table string, write bool) judged {
		return judged{Class: "unsharded", Readiness: "ready", Tables: []string{"public." + table}, Write: write}
	}
	return plan{
		tBegin.Text: {control: true, verdicts: []judged{session, session}},
		tEnd.Text:   {control: true, verdicts: []judged{session, session}},
		tAccount.Text: {values: []pipeline.ValueSlot{compared(2, "pgbench_accounts", "aid")},
			verdicts: []judged{onKey("pgbench_accounts", "account", true, 2), local("pgbench_accounts", true)}},
		tBalance.Text: {values: []pipeline.ValueSlot{compared(1, "pgbench_accounts", "aid")},
			verdicts: []judged{onKey("pgbench_accounts", "account", false, 1), local("pgbench_accounts", false)}},
		tTeller.Text: {values: []pipeline.ValueSlot{compared(2, "pgbench_tellers", "tid")},
			verdicts: []judged{onKey("pgbench_tellers", "teller", true, 2), local("pgbench_tellers", true)}},
		tBranch.Text: {values: []pipeline.ValueSlot{compared(2, "pgbench_branches", "bid")},
			verdicts: []judged{onKey("pgbench_branches", "branch", true, 2), local("pgbench_branches", true)}},
		tHistory.Text: {values: []pipeline.ValueSlot{compared(1, "pgbench_history", "tid"), compared(2, "pgbench_history", "bid"), compared(3, "pgbench_history", "aid")},
			verdicts: []judged{onKey("pgbench_history", "account", true, 3), local("pgbench_history", true)}},
	}
}

func pgbenchCandidates() []*candidate.Candidate {
	sharded := &candidate.Candidate{Name: "candidate-1", Hash: "one", Tables: map[string]*candidate.Table{}}
	local := &candidate.Candidate{Name: "candidate-2", Hash: "two", Tables: map[string]*candidate.Table{}}
	account := &candidate.Colo{Name: "account", KeyName: "aid", KeyType: "int8", Shards: 8}
	teller := &candidate.Colo{Name: "teller", KeyName: "tid", KeyType: "int8", Shards: 8}
	branch := &candidate.Colo{Name: "branch", KeyName: "bid", KeyType: "int8", Shards: 8}
	sharded.Colos = []*candidate.Colo{account, branch, teller}
	for _, t := range []struct {
		name, column string
		colo         *candidate.Colo
	}{{"pgbench_accounts", "aid", account}, {"pgbench_history", "aid", account}, {"pgbench_tellers", "tid", teller}, {"pgbench_branches", "bid", branch}} {
		key := "public." + t.name
		sharded.Tables[key] = &candidate.Table{Key: key, Placement: candidate.Sharded, Colo: t.colo, Column: t.column}
		local.Tables[key] = &candidate.Table{Key: key, Placement: candidate.Unsharded}
	}
	return []*candidate.Candidate{sharded, local}
}

// pgbenchEvents is n transactions over a few rows, so that keys of different tables are often equal numbers.
func pgbenchEvents(n int) []capture.Event {
	c := newClock()
	var out []capture.Event
	for i := range n {
		id := uint64(i + 1)
		aid, tid, bid, delta := int64(i%17+1), int64(i%10+1), int64(i%3+1), int64(i%5)
		out = append(out,
			c.in("s", id, tBegin),
			c.in("s", id, tAccount, delta, aid),
			c.in("s", id, tBalance, aid),
			c.in("s", id, tTeller, delta, tid),
			c.in("s", id, tBranch, delta, bid),
			c.in("s", id, tHistory, tid, bid, aid, delta),
			c.in("s", id, tEnd),
			c.commit("s", id, 5))
	}
	return out
}

// pgbench is the counter-example to a score of statements: each is on one shard, and no transaction is.
func TestPgbenchStatementsAreSingleShardAndTransactionsAreNot(t *testing.T) {
	w := openAt(t, t.TempDir())
	const n = 60
	ingest(t, w, pgbenchPlan(), &feed{events: pgbenchEvents(n), batch: 7}, pipeline.Options{})
	r := report(t, w, pgbenchPlan(), ReportOptions{}, pgbenchCandidates()...)

	sharded := r.Candidates[0]
	if got, want := sharded.Calls.ByClass["single_shard"], float64(5*n); got != want {
		t.Errorf("single-shard calls: got %v, want %v", got, want)
	}
	if got, want := sharded.Calls.Total, sharded.Calls.ByClass["single_shard"]+sharded.Calls.ByClass["session"]; got != want {
		t.Errorf("calls: got %v, want %v: all but BEGIN and END are single-shard", got, want)
	}
	want := Transactions{Total: n, MultiShardWrite: n, Explicit: n}
	if sharded.Transactions != want {
		t.Errorf("transactions over three keys: got %+v, want %+v", sharded.Transactions, want)
	}
	want = Transactions{Total: n, SingleShard: n, Explicit: n, ExplicitSingle: n}
	if got := r.Candidates[1].Transactions; got != want {
		t.Errorf("transactions of unsharded tables: got %+v, want %+v", got, want)
	}
	if got := sharded.Skew[0]; got.Colo != "account" || got.Calls != 3*n || got.Shards != 8 {
		t.Errorf("skew of accounts: got %+v, want %d values in 8 shards", got, 3*n)
	}
}
