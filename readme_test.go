package foreshard_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

var update = flag.Bool("update", false, "write the generated parts of README.md")

// The README lists every table and column of the warehouse, from the same description that the files are written by.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	begin := bytes.Index(text, []byte("<!-- warehouse:"))
	end := bytes.Index(text, []byte("<!-- /warehouse -->"))
	if begin < 0 || end < begin {
		t.Fatal("README.md lacks the marks around the warehouse's tables")
	}
	begin += bytes.IndexByte(text[begin:], '\n') + 1
	want := append(append([]byte{}, text[:begin]...), warehouse.Columns()...)
	want = append(want, text[end:]...)
	if bytes.Equal(text, want) {
		return
	}
	if *update {
		if err := os.WriteFile("README.md", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("README.md does not describe the warehouse as it is; accept with: go test -run README -update .")
}
