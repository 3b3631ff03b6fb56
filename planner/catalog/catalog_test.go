package catalog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestLoad reads the cases of testdata: in.sql goes in, dump.txt (and skipped.txt) or errors.txt come out.
func TestLoad(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var in []byte
	want := map[string]string{}
	for _, f := range ar.Files {
		if f.Name == "in.sql" {
			in = f.Data
		} else {
			want[f.Name] = string(f.Data)
		}
	}
	got := outcome(in)
	if *update {
		ar.Files = []txtar.File{{Name: "in.sql", Data: in}}
		for _, name := range []string{"dump.txt", "skipped.txt", "errors.txt"} {
			if got[name] != "" {
				ar.Files = append(ar.Files, txtar.File{Name: name, Data: []byte(got[name])})
			}
		}
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range got {
		if got[name] != want[name] {
			t.Errorf("%s:\n--- got\n%s--- want\n%s", name, got[name], want[name])
		}
	}
}

func outcome(in []byte) map[string]string {
	c, err := Load("in.sql", in)
	if err != nil {
		return map[string]string{"errors.txt": err.Error() + "\n", "dump.txt": "", "skipped.txt": ""}
	}
	var skipped strings.Builder
	for _, kind := range sorted(c.Skipped) {
		fmt.Fprintf(&skipped, "%d %s\n", c.Skipped[kind], kind)
	}
	return map[string]string{"dump.txt": c.Dump(), "skipped.txt": skipped.String(), "errors.txt": ""}
}
