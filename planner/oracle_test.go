package planner_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/layout"
)

var update = flag.Bool("update", false, "write golden files anew")

const oracleDir = "../fixtures/oracle/"

// oracleRow is one statement with the verdict that was reasoned and, where possible, checked by execution.
type oracleRow struct {
	ID       string      `json:"id"`
	SQL      string      `json:"sql"`
	Class    string      `json:"class"`
	Floor    string      `json:"sound_floor"`
	Bindings string      `json:"bindings"`
	Params   [][2]string `json:"params"`
	Setup    string      `json:"setup"`
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func oracleSchema(t testing.TB) *catalog.Catalog {
	t.Helper()
	ddl := append(readFile(t, oracleDir+"schema.sql"), '\n')
	cat, err := catalog.Load("schema.sql", append(ddl, readFile(t, oracleDir+"objects.sql")...))
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

func oraclePlanner(t testing.TB) *planner.Planner {
	t.Helper()
	cat := oracleSchema(t)
	cand, err := candidate.Load("candidate.yaml", readFile(t, oracleDir+"candidate.yaml"), cat)
	if err != nil {
		t.Fatal(err)
	}
	return planner.New(cat, cand)
}

func oracleRows(t testing.TB) []oracleRow {
	t.Helper()
	var rows []oracleRow
	sc := bufio.NewScanner(bytes.NewReader(readFile(t, oracleDir+"oracle.jsonl")))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r oracleRow
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

func (r oracleRow) question(t testing.TB) planner.Question {
	t.Helper()
	line, err := json.Marshal(map[string]any{"id": r.ID, "sql": r.SQL, "params": r.Params, "setup": r.Setup})
	if err != nil {
		t.Fatal(err)
	}
	_, q, err := planner.ParseLine(line)
	if err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	return q
}

var oracleCost = map[string]int{"none": 0, "unsharded": 1, "reference": 1, "single_shard": 2, "multi_shard": 3, "scatter": 4, "multi_phase": 5}

// grade compares a class with the oracle's: below the sound floor is unsound, the class or the floor is exact, above is conservative.
func grade(got, class, floor string) string {
	if got == class || got == floor {
		return "exact"
	}
	g, known := oracleCost[got]
	f, ordered := oracleCost[floor]
	switch {
	case known && ordered && g < f:
		return "unsound"
	case known && ordered, got == "multi_phase", got == "reject", got == "unknown":
		return "conservative"
	case ordered && got == "broadcast":
		return "conservative"
	}
	return "unsound"
}

var keyBinding = regexp.MustCompile(`^"?(\w[\w.]*)"?\."?(user_id|file_id|org_id|orgId)"?\s*=\s*'?([^'{}$]+?)'?$`)

// boundShard is the shard that the oracle's binding text means, -1 if it names none.
func boundShard(r oracleRow) int {
	m := keyBinding.FindStringSubmatch(r.Bindings)
	if m == nil || strings.Contains(m[1], "activity_log") {
		return -1
	}
	typ := map[string]string{"user_id": "int8", "file_id": "uuid", "org_id": "text", "orgId": "text"}[m[2]]
	k, err := layout.Parse(typ, m[3])
	if err != nil {
		return -1 // F1 and the like stand for a value
	}
	return layout.Shard(k.Slot(), 8)
}

// TestOracle is the measure of the judge: nothing below the sound floor, no wrong shard, and nearly everything exact. What is conservative
// is listed in a golden file, so that a change of the rules shows what it moves.
func TestOracle(t *testing.T) {
	p := oraclePlanner(t)
	var report strings.Builder
	count := map[string]int{}
	rows := oracleRows(t)
	for _, r := range rows {
		a := p.Explain(r.question(t))
		g := grade(string(a.Class), r.Class, r.Floor)
		if g == "exact" && a.Class == planner.SingleShard && r.Class == "single_shard" {
			if want := boundShard(r); want >= 0 && !slices.Equal(a.Shards.List, []int{want}) {
				t.Errorf("%s: shards %v, want [%d]\n%s", r.ID, a.Shards.List, want, r.SQL)
			}
		}
		count[g]++
		if g == "unsound" {
			t.Errorf("%s: %s is below %s\n%s", r.ID, a.Class, r.Floor, r.SQL)
		}
		if g != "exact" {
			var codes []string
			for _, why := range a.Reasons {
				codes = append(codes, why.Code)
			}
			fmt.Fprintf(&report, "%s: %s, not %s (%s)\n    %s\n", r.ID, a.Class, r.Class, strings.Join(codes, ", "), r.SQL)
		}
	}
	t.Logf("%d statements: %v", len(rows), count)
	if len(rows) < 400 || count["exact"]*100 < 98*len(rows) {
		t.Errorf("exact %d of %d, want 98 %%", count["exact"], len(rows))
	}
	golden(t, "oracle_conservative.txt", report.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := string(readFile(t, file)); got != want {
		t.Errorf("%s differs; run go test -update and read the change\n got: %s\nwant: %s", name, got, want)
	}
}
