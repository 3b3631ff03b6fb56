package pglog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden parts of the cases anew")

// TestCases reads the inputs of testdata/cases. The comment of an archive says what it shows; "set:" lines in it are settings. ⇥, ␍ and ␀
// in an input stand for TAB, CR and NUL; a last line of ␄ takes the newline before it away.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d cases, %v", len(paths), err)
	}
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar"), func(t *testing.T) { golden(t, p) })
	}
}

func golden(t *testing.T, path string) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cfg := caseConfig(t, string(ar.Comment))
	var inputs []Input
	var want string
	for _, f := range ar.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		text := strings.NewReplacer("⇥", "\t", "␍", "\r", "␀", "\x00").Replace(string(f.Data))
		if cut, ok := strings.CutSuffix(text, "\n␄\n"); ok {
			text = cut
		}
		inputs = append(inputs, Input{Name: f.Name, Reader: strings.NewReader(text)})
	}
	dump, counts, err := run(t, cfg, inputs...)
	got := dump
	if counts.Bytes > 0 {
		got += dumpCounts(counts)
	}
	if err != nil {
		got += fmt.Sprintf("error: %v\n", err)
	}
	if *update {
		for i := range ar.Files {
			if ar.Files[i].Name == "want" {
				ar.Files = append(ar.Files[:i], ar.Files[i+1:]...)
				break
			}
		}
		ar.Files = append(ar.Files, txtar.File{Name: "want", Data: []byte(got)})
		if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", firstDifference(want, got), got, want)
	}
}

func caseConfig(t *testing.T, comment string) (cfg Config) {
	t.Helper()
	cfg.Now = func() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }
	for _, line := range strings.Split(comment, "\n") {
		set, ok := strings.CutPrefix(line, "set: ")
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(set, " ")
		switch name {
		case "prefix":
			cfg.Prefix = strings.Trim(value, "'")
		case "format":
			cfg.Format = Format(value)
		case "maxrecord":
			if _, err := fmt.Sscan(value, &cfg.MaxRecord); err != nil {
				t.Fatal(err)
			}
		case "hold":
			cfg.Hold = true
		case "now":
			at, err := time.Parse(time.RFC3339, value)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Now = func() time.Time { return at }
		default:
			t.Fatalf("setting %q is not known", name)
		}
	}
	return cfg
}
