package sqltext_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/foreshard/foreshard/planner/sqltext"
)

var update = flag.Bool("update", false, "write the golden files anew")

// describe gives everything that a scanner says of a text.
func describe(src string) string {
	var b strings.Builder
	var s sqltext.Scanner
	s.Reset([]byte(src))
	for s.Next() {
		st := s.Statement()
		fmt.Fprintf(&b, "%s\n", st.Text)
		if len(st.Slots) > 0 {
			fmt.Fprintf(&b, "\tslots %s", sqltext.EncodeSlots(st.Slots))
			for _, v := range st.Values {
				if v.Kind == sqltext.Bind {
					fmt.Fprintf(&b, " %d=bind%d", v.Slot, v.Bind)
					continue
				}
				fmt.Fprintf(&b, " %d=%q", v.Slot, v.Text)
			}
			b.WriteByte('\n')
		}
		if st.Bound != sqltext.WithinBounds {
			fmt.Fprintf(&b, "\tbound %d\n", st.Bound)
		}
		if st.Elements > 0 {
			fmt.Fprintf(&b, "\telements %d\n", st.Elements)
		}
		if src[st.Span.Start:st.Span.End] != strings.TrimSpace(src) {
			fmt.Fprintf(&b, "\tspan %q\n", src[st.Span.Start:st.Span.End])
		}
		for _, c := range st.Comments {
			fmt.Fprintf(&b, "\tcomment %q\n", src[c.Start:c.End])
		}
		if p, ok := s.Prepared(); ok {
			fmt.Fprintf(&b, "\tprepare %s: %q\n", p.Name, src[p.Query.Start:p.Query.End])
		}
		if e, ok := s.Executed(); ok {
			fmt.Fprintf(&b, "\texecute %s:", e.Name)
			for i, a := range e.Args {
				fmt.Fprintf(&b, " %d=%d/%q/%v", a.Slot, a.Kind, a.Text, e.Null[i])
			}
			b.WriteByte('\n')
		}
		if set, ok := s.Setting(); ok {
			fmt.Fprintf(&b, "\tsetting %s=%q %q local=%v default=%v\n", set.Name, set.Value, set.Items, set.Local, set.Default)
		}
	}
	return b.String()
}

// TestTemplates compares each case of templates.txtar, SQL above the line of dashes, with what the scanner makes of it.
func TestTemplates(t *testing.T) {
	const path, line = "testdata/templates.txtar", "----\n"
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range ar.Files {
		src, want, _ := strings.Cut(string(f.Data), line)
		src = strings.NewReplacer("␀", "\x00", "␍", "\r", "␉", "\t").Replace(strings.TrimSuffix(src, "\n"))
		got := describe(src)
		if *update {
			ar.Files[i].Data = []byte(strings.SplitAfter(string(f.Data)+"\n"+line, line)[0] + got)
			if before, _, ok := strings.Cut(string(f.Data), line); ok {
				ar.Files[i].Data = []byte(before + line + got)
			} else {
				ar.Files[i].Data = []byte(string(f.Data) + line + got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s:\n%s\ngot\n%swant\n%s", f.Name, src, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(ar.Files) < 30 {
		t.Fatalf("only %d cases", len(ar.Files))
	}
}
