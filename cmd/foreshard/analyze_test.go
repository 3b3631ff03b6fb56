package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/warehouse"
)

// TestExamplesAreRun: a help text shows only what a script has run.
func TestExamplesAreRun(t *testing.T) {
	script, err := os.ReadFile("testdata/script/examples.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []*cobra.Command{newAnalyzeCmd(), newCandidateCheckCmd()} {
		if cmd.Example == "" {
			t.Errorf("%s has no examples", cmd.Name())
		}
		for _, l := range strings.Split(cmd.Example, "\n") {
			if l = strings.TrimSpace(l); !strings.Contains(string(script), "exec sh -c '"+l+"'\n") {
				t.Errorf("the script does not run: %s", l)
			}
		}
	}
}

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		bytes, statements, total int64
		spent                    time.Duration
		want                     string
	}{
		{0, 0, 1000, 0, "read 0 bytes of 1.0 kB (0 %) · 0 statements"},
		{250_000, 5_000, 1_000_000, 2 * time.Second, "read 250 kB of 1.0 MB (25 %) · 5,000 statements · 2,500/s · 6 s left"},
		{250_000, 5_000, -1, 2 * time.Second, "read 250 kB · 5,000 statements · 2,500/s"},
		{2_000_000, 10, 1_000_000, time.Second, "read 2.0 MB of 1.0 MB (100 %) · 10 statements · 10/s"}, // the file grew
	} {
		got := progressLine(analysis.Ledger{Bytes: c.bytes, Statements: c.statements}, c.total, c.spent)
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A warehouse that holds nothing but writes is reported, and is not enough evidence.
func TestAnalyzeOfWritesAlone(t *testing.T) {
	dir := t.TempDir()
	f := analyzeFlags{schema: filepath.Join(dir, "s.sql"), candidates: []string{filepath.Join(dir, "c.yaml")}, warehouse: filepath.Join(dir, "w"), format: "text", inputFormat: "auto", color: "never"}
	for path, text := range map[string]string{f.schema: "create table t (id int);", f.candidates[0]: "name: c\nshards: 4\ncolos:\n  c:\n    key: {name: id, type: int}\n    tables: {t: id}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := analysis.OpenWarehouse(t.Context(), f.warehouse, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context(), &warehouse.Commit{Stream: "wal", WALRows: []warehouse.WALRow{{Minute: time.Unix(0, 0), Table: "public.t", Op: "insert", Rows: 77}}}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = analyze(t.Context(), strings.NewReader(""), &out, io.Discard, f, nil)
	if !errors.Is(err, analysis.ErrNoEvidence) || !strings.Contains(out.String(), "77 rows were written") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "report.html"), filepath.Join(dir, "latest")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{path, link, path} {
		if err := replaceFile(to, []byte("content of "+to)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != "content of "+to {
			t.Errorf("after writing %s: %q, %v", to, got, err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	// A write that fails leaves the old content and no temporary file.
	if err := replaceFile(filepath.Join(path, "below-a-file"), nil); err == nil {
		t.Error("no error for a path below a file")
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("%d files are left: %v", len(files), err)
	}
}

func TestVersionOfThePlanner(t *testing.T) {
	setting := func(list ...string) (s []debug.BuildSetting) {
		for i := 0; i < len(list); i += 2 {
			s = append(s, debug.BuildSetting{Key: list[i], Value: list[i+1]})
		}
		return s
	}
	for _, tt := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"a commit", debug.BuildInfo{Settings: setting("vcs", "git", "vcs.revision", "5f1c", "vcs.modified", "false")}, "5f1c"},
		{"a changed checkout", debug.BuildInfo{Settings: setting("vcs.revision", "5f1c", "vcs.modified", "true")}, ""},
		{"no version control", debug.BuildInfo{}, ""},
		{"an installed module", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3", Sum: "h1:abc="}}, "h1:abc="},
	} {
		if got := versionOf(&tt.info); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
