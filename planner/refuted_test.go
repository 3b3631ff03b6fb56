package planner_test

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner"
)

// TestRefuted keeps what was once refuted: statements whose verdict an execution on a real PostgreSQL contradicted, cut down to what showed it.
// Each line of testdata/refuted.sql is a class and a statement; comments say what had gone wrong.
func TestRefuted(t *testing.T) {
	p := oraclePlanner(t)
	sc := bufio.NewScanner(bytes.NewReader(readFile(t, "testdata/refuted.sql")))
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		want, sql, ok := strings.Cut(line, " ")
		if !ok {
			t.Fatalf("refuted.sql:%d: a line is a class and a statement", n)
		}
		if got := p.Explain(planner.Question{SQL: strings.TrimSpace(sql)}); string(got.Class) != want {
			t.Errorf("refuted.sql:%d: %s\n  is %s, want %s", n, sql, got.Class, want)
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}
