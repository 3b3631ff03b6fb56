package pglog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/capture"
)

const samplePrefix = "%m [%p] [user=%u,db=%d,app=%a] "

// normal reads a sample and gives its events without what one format or mode does not say: times, durations, SQLSTATEs, sessions, clients.
func normal(t *testing.T, name string, keep func(e *capture.Event) bool) []string {
	t.Helper()
	cfg := Config{HashKey: testKey, ChunkSize: 4096}
	r, err := Open(context.Background(), []Input{{Path: filepath.Join("testdata/samples", name)}}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []string
	sessions := map[string]int{}
	err = r.Run(context.Background(), func(b Batch) error {
		for i := range b.Events {
			e := b.Events[i]
			if !keep(&e) {
				continue
			}
			if _, ok := sessions[e.Session]; !ok {
				sessions[e.Session] = len(sessions)
			}
			state := "ok"
			if e.SQLState != "" {
				state = "failed"
			}
			text := ""
			if e.Template != nil {
				text = e.Template.Text
			}
			line := fmt.Sprintf("%d %d %s/%s/%s %s %q copy=%t auto=%t", sessions[e.Session], e.Kind, e.User, e.Database, e.App, state, text, e.Copy, e.Auto)
			for _, v := range e.Values {
				line += fmt.Sprintf(" %+v", v)
			}
			if e.Opaque != nil {
				line += fmt.Sprintf(" %+v", *e.Opaque)
			}
			if e.Txn != nil {
				line += fmt.Sprintf(" %d %t", e.Txn.Statements, e.Txn.Committed)
			}
			out = append(out, line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r.Counts())
	return out
}

// traffic leaves the statements out that set up the logging of a mode.
func traffic(e *capture.Event) bool {
	return e.Template == nil || !strings.HasPrefix(e.Template.Text, "set log_")
}

func executions(e *capture.Event) bool { return traffic(e) && e.Kind == capture.Execution }

func equalLines(t *testing.T, what string, want, got []string) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		w, g := "(nothing)", "(nothing)"
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			t.Errorf("%s: event %d is\n\t%s\nnot\n\t%s", what, i, g, w)
			return
		}
	}
}

// The client did the same things each time: what is read from the three formats of one server is equal.
func TestSamplesFormatsAgree(t *testing.T) {
	for _, major := range []string{"12", "14", "15", "17", "18"} {
		for _, mode := range []string{"A", "B", "C", "D", "X"} {
			want := normal(t, major+"."+mode+".log", traffic)
			if len(want) < 10 {
				t.Errorf("%s.%s.log: only %d events", major, mode, len(want))
			}
			for _, format := range []string{"csv", "json"} {
				name := major + "." + mode + "." + format
				if _, err := os.Stat(filepath.Join("testdata/samples", name)); err != nil && format == "json" {
					continue
				}
				got := normal(t, name, traffic)
				equalLines(t, name, want, got)
			}
		}
	}
}

// Modes A, C and D say the same about executions. B does not say how bind steps went, so its failures have no values to compare.
func TestSamplesModesAgree(t *testing.T) {
	for _, major := range []string{"12", "14", "15", "17", "18"} {
		for _, format := range []string{"log", "csv", "json"} {
			want := majorExecutions(t, major, "A", format)
			if want == nil {
				continue
			}
			for _, mode := range []string{"B", "C", "D"} {
				equalLines(t, major+"."+mode+"."+format, want, majorExecutions(t, major, mode, format))
			}
		}
	}
}

func majorExecutions(t *testing.T, major, mode, format string) []string {
	name := major + "." + mode + "." + format
	if _, err := os.Stat(filepath.Join("testdata/samples", name)); err != nil {
		return nil
	}
	return normal(t, name, executions)
}

// The same traffic on servers of different majors gives the same executions, except for what log_parameter_max_length, which came with 13, cuts.
func TestSamplesMajorsAgree(t *testing.T) {
	for _, mode := range []string{"A", "B", "C", "D"} {
		want := majorExecutions(t, "14", mode, "csv")
		for _, major := range []string{"15", "17", "18"} {
			equalLines(t, major+"."+mode, want, majorExecutions(t, major, mode, "csv"))
		}
	}
}

// Any number of workers and any size of chunks give the same bytes.
func TestDeterministic(t *testing.T) {
	paths, err := filepath.Glob("testdata/samples/*.*.*")
	if err != nil || len(paths) < 60 {
		t.Fatalf("%d samples, %v", len(paths), err)
	}
	for _, p := range paths {
		var want string
		for _, cfg := range []Config{{Workers: 1}, {Workers: 4}, {Workers: 3, ChunkSize: 700}, {Workers: 1, ChunkSize: 1500}} {
			got, counts, err := run(t, cfg, Input{Path: p})
			if err != nil {
				t.Fatalf("%s: %v", p, err)
			}
			got += dumpCounts(counts)
			if want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s: %d workers and chunks of %d give something else than one worker:\n%s", p, cfg.Workers, cfg.ChunkSize, firstDifference(want, got))
			}
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}
