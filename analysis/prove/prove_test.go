package prove_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foreshard/foreshard/analysis/prove"
	"github.com/foreshard/foreshard/fixtures/app"
	"github.com/foreshard/foreshard/fixtures/pgserver"
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

var (
	statements   = flag.Int("statements", 2500, "generated statements to prove")
	appCandidate = flag.String("app-candidate", "by-org", "candidate of the demo application that TestGeneratedApp judges by")
	seed         = flag.Uint64("seed", 1, "seed of the generated statements")
)

const oracleDir = "../../fixtures/oracle"

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(oracleDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// newLab builds the laboratory of the oracle's schema, data and candidate on a real server.
func newLab(t *testing.T, data string, fewer *strings.Replacer, timeout time.Duration) (*prove.Lab, *planner.Planner) {
	t.Helper()
	srv := pgserver.New(t, pgserver.Options{Major: 17, Settings: map[string]string{"max_connections": "80", "fsync": "off", "autovacuum": "off"}})
	schema := read(t, "schema.sql") + "\n" + read(t, "objects.sql")
	cat, err := catalog.Load("schema.sql", []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("candidate.yaml", []byte(fewer.Replace(read(t, "candidate.yaml"))), cat)
	if err != nil {
		t.Fatal(err)
	}
	lab, err := prove.Build(t.Context(), prove.Config{
		Server: srv.DSN("postgres"), Schema: schema, Catalog: cat, Candidate: cand,
		Load: prove.LoadSQL("data.sql", strings.NewReader(read(t, "data.sql")+data)), Timeout: timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return lab, planner.New(cat, cand)
}

type tally struct {
	outcomes map[string]int
	refuted  []string
}

func (c *tally) add(r prove.Result, sql string) {
	if c.outcomes == nil {
		c.outcomes = map[string]int{}
	}
	c.outcomes[string(r.Class)+" "+string(r.Outcome)]++
	if r.Outcome == prove.Refused && r.Class != planner.MultiPhase {
		c.outcomes["refused: "+r.Cause]++
	}
	if r.Outcome == prove.Refuted {
		c.refuted = append(c.refuted, fmt.Sprintf("%s %s: %s\n%s\n%s", r.ID, r.Class, sql, r.Detail, strings.Join(r.Diff, "\n")))
	}
}

// claimed counts the statements whose verdict was executed.
func (c *tally) claimed() int {
	n := 0
	for o, count := range c.outcomes {
		for _, executed := range []prove.Outcome{prove.Confirmed, prove.Refuted, prove.NotDiscriminated, prove.NotDeterministic} {
			if strings.HasSuffix(o, " "+string(executed)) {
				n += count
			}
		}
	}
	return n
}

func (c *tally) report(t *testing.T) {
	t.Helper()
	lines, err := json.MarshalIndent(c.outcomes, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("outcomes: %s", lines)
	for i, r := range c.refuted {
		if i == 12 {
			t.Errorf("... and %d more", len(c.refuted)-i)
			break
		}
		t.Errorf("refuted: %s", r)
	}
}

// question takes an oracle line's input out of it.
func question(t *testing.T, line []byte) []byte {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		t.Fatal(err)
	}
	in := map[string]json.RawMessage{}
	for _, k := range []string{"id", "sql", "params", "setup"} {
		if v, ok := all[k]; ok {
			in[k] = v
		}
	}
	out, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every verdict on the oracle that claims something is executed.
func TestOracle(t *testing.T) {
	lab, p := newLab(t, "", strings.NewReplacer(), 5*time.Second)
	var got tally
	sc := bufio.NewScanner(strings.NewReader(read(t, "oracle.jsonl")))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		id, q, err := planner.ParseLine(question(t, sc.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		r, err := lab.Prove(t.Context(), prove.Statement{ID: id, Question: q}, p.Explain(q).Verdict)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		got.add(r, q.SQL)
	}
	got.report(t)
	if n := got.outcomes["single_shard confirmed"]; n < 60 {
		t.Errorf("only %d single_shard verdicts confirmed: the laboratory hardly proves anything", n)
	}
}

// newAppLab builds the laboratory of the demo application's schema and data, under one of its candidates.
func newAppLab(t *testing.T, name string) (*prove.Lab, *planner.Planner) {
	t.Helper()
	const dir = "../../fixtures/app"
	file := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	srv := pgserver.New(t, pgserver.Options{Major: 17, Settings: map[string]string{"max_connections": "80", "fsync": "off", "autovacuum": "off"}})
	conn, err := pgconn.Connect(t.Context(), srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE DATABASE atelier").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := app.Setup(t.Context(), srv.DSN("atelier"), 1); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Load("schema.sql", []byte(file("schema.sql")))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`shards: \d+`).ReplaceAllString(file("candidates/"+name+".yaml"), "shards: 3")
	cand, err := candidate.Load(name+".yaml", []byte(text), cat)
	if err != nil {
		t.Fatal(err)
	}
	lab, err := prove.Build(t.Context(), prove.Config{
		Server: srv.DSN("postgres"), Schema: prove.Executable(file("schema.sql")), Catalog: cat, Candidate: cand,
		Load: prove.CopySample(srv.DSN("atelier"), 300, cat, cand), Timeout: 300 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return lab, planner.New(cat, cand)
}

// Generated statements, by seed, over the demo application's schema: partitions, foreign keys that cascade, keys of other types.
func TestGeneratedApp(t *testing.T) {
	lab, p := newAppLab(t, *appCandidate)
	generated(t, lab, p, max(*statements/4, 1))
}

// Generated statements, by seed: whatever the planner claims about them must hold.
func TestGenerated(t *testing.T) {
	dense, err := os.ReadFile("testdata/dense.sql")
	if err != nil {
		t.Fatal(err)
	}
	lab, p := newLab(t, "\n"+string(dense), strings.NewReplacer("shards: 8 ", "shards: 3 ", "shards: 16", "shards: 5"), 300*time.Millisecond)
	generated(t, lab, p, *statements)
}

func generated(t *testing.T, lab *prove.Lab, p *planner.Planner, want int) {
	t.Helper()
	gen, err := lab.Generator(t.Context(), *seed)
	if err != nil {
		t.Fatal(err)
	}
	var got tally
	seen := map[string]bool{}
	for n := 0; len(seen) < want; n++ {
		st := gen.Statement()
		key := fmt.Sprint(st)
		if seen[key] {
			continue
		}
		seen[key] = true
		q := planner.Question{SQL: st.SQL}
		for _, v := range st.Params {
			q.Params = append(q.Params, planner.Param(v))
		}
		r, err := lab.Prove(t.Context(), prove.Statement{ID: fmt.Sprintf("seed %d #%d", *seed, n), Question: q}, p.Explain(q).Verdict)
		if err != nil {
			t.Fatalf("%s: %v", st.SQL, err)
		}
		got.add(r, fmt.Sprint(st.SQL, " ", st.Params))
		if r.Outcome == prove.Refuted && testing.Verbose() {
			fmt.Printf("refuted: %s\n", got.refuted[len(got.refuted)-1])
		}
		if len(seen)%5000 == 0 && testing.Verbose() {
			fmt.Printf("%d statements, %v\n", len(seen), got.outcomes)
		}
	}
	got.report(t)
	if n := got.claimed(); n < want/5 {
		t.Errorf("only %d of %d statements got a verdict that claims something", n, want)
	}
}
