package reports

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	empty := &analysis.Report{SchemaVersion: 1, Candidates: []analysis.CandidateReport{{Name: "by_org", Dialect: "figma"}}}
	for _, c := range []struct {
		name   string
		report *analysis.Report
		format Format
		o      Options
	}{
		{"one.txt", exampleReport(), Text, Options{}},
		{"one_60.txt", exampleReport(), Text, Options{Width: 60}},
		{"one_color.txt", exampleReport(), Text, Options{Color: true, Width: 120}},
		{"two.txt", twoCandidates(), Text, Options{}},
		{"empty.txt", empty, Text, Options{}},
		{"one.md", exampleReport(), Markdown, Options{}},
		{"two.md", twoCandidates(), Markdown, Options{}},
		{"empty.md", empty, Markdown, Options{}},
		{"two.json", twoCandidates(), JSON, Options{}},
		{"empty.json", empty, JSON, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.format == JSON { // a megabyte in a golden file helps nobody
				shorten(c.report)
			}
			var got bytes.Buffer
			if err := Write(&got, c.format, c.report, c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, got.Bytes())
		})
	}
}

func shorten(r *analysis.Report) {
	for i := range r.Candidates {
		for j := range r.Candidates[i].Queries {
			if q := &r.Candidates[i].Queries[j]; len(q.Text) > 1000 {
				q.Text = q.Text[:20]
			}
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; accept with: go test ./reports -update\ngot:\n%s", path, got)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{percent(0, 10), "0 %"}, {percent(10, 10), "100 %"}, {percent(9997, 10000), "99.97 %"}, {percent(2, 10000), "0.02 %"},
		{percent(999_999_999, 1_000_000_000), "> 99.99 %"}, {percent(1, 1_000_000_000), "< 0.01 %"}, {percent(0, 0), "–"},
		{percent(978, 1000), "97.8 %"}, {percent(9994, 10000), "99.94 %"}, {percent(99899, 100000), "99.9 %"}, {percent(99995, 100000), "> 99.99 %"},
		{percent(1, 1000), "0.1 %"}, {percent(1, 3), "33.3 %"},
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(-1234567), "-1,234,567"},
		{millis(0), "0 ms"}, {millis(0.0001), "< 0.001 ms"}, {millis(0.092), "0.092 ms"}, {millis(12.34), "12.3 ms"}, {millis(999.9), "999 ms"},
		{millis(59_999), "59.9 s"}, {millis(60_000), "1 min"}, {millis(192_000), "3 min 12 s"}, {millis(5_400_321), "1 h 30 min"}, {millis(1e300), "> 292 years"},
		{Span(90 * time.Hour), "3 d 18 h"}, {Span(1500 * time.Millisecond), "1.5 s"}, {Span(0), "0 ms"},
		{Size(1), "1 byte"}, {Size(999), "999 bytes"}, {Size(1_234_567_890), "1.2 GB"}, {Size(999_600), "1.0 MB"},
		{join([]string{"a", "b", "c"}, 2), "a, b and 1 more"}, {join([]string{"a", "b"}, 2), "a and b"}, {join(nil, 2), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
