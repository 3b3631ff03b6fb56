package planner

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text writes the answer for people: class and readiness, the statement with a mark under what a reason speaks of, how the key is bound, all
// reasons with what to do, and what the engine must be able to do.
func (a Answer) Text(id, sql string) string {
	var b strings.Builder
	if id != "" {
		fmt.Fprintf(&b, "%s: ", id)
	}
	fmt.Fprintf(&b, "%s (%s)", a.Class, a.Readiness)
	if len(a.Shards.List) > 0 {
		fmt.Fprintf(&b, ", shard %s", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(a.Shards.List)), ", "), "[]"))
	}
	if a.LayoutDependent {
		b.WriteString(", only because these keys share a shard in this layout")
	}
	if a.Symbolic != a.Class {
		fmt.Fprintf(&b, "; for all values: %s", a.Symbolic)
	}
	b.WriteString("\n\n")
	marks := map[int]bool{}
	for _, r := range a.Reasons {
		if r.Position >= 0 {
			marks[r.Position] = true
		}
	}
	writeMarked(&b, strings.TrimRight(sql, " \t\r\n"), marks)
	if len(a.Bindings) > 0 {
		b.WriteString("\nbound:\n")
		for _, k := range a.Bindings {
			fmt.Fprintf(&b, "  %s.%s = %s (%s)\n", strings.TrimPrefix(k.Table, "public."), k.Column, strings.Join(k.Values, ", "), k.Source)
		}
	}
	if len(a.Reasons) > 0 {
		b.WriteString("\nreasons:\n")
		for _, r := range a.Reasons {
			fmt.Fprintf(&b, "  %s%s: %s\n", r.Code, placeOf(sql, r.Position), r.Message)
			if r.Hint != "" && r.Hint != "nothing to do" {
				fmt.Fprintf(&b, "      %s\n", r.Hint)
			}
		}
	}
	if len(a.Features) > 0 {
		fmt.Fprintf(&b, "\nneeds: %s\n", strings.Join(a.Features, ", "))
	}
	for _, f := range a.Fixes {
		writeFix(&b, &f)
	}
	return b.String()
}

// writeFix writes what to change, what the judge says of it then, and on what terms.
func writeFix(b *strings.Builder, f *Fix) {
	fmt.Fprintf(b, "\nfix: %s\n  then %s (%s): %s\n", f.Change, f.Class, f.Readiness, f.Semantics)
	for _, text := range []string{f.SQL, f.Candidate} {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(b, "      %s\n", strings.ReplaceAll(text, "\n", "\n      "))
		}
	}
}

// placeOf names a byte offset by line and column.
func placeOf(sql string, pos int) string {
	if pos < 0 || pos > len(sql) {
		return ""
	}
	line := 1 + strings.Count(sql[:pos], "\n")
	start := strings.LastIndexByte(sql[:pos], '\n') + 1
	col := 1 + utf8.RuneCountInString(sql[start:pos])
	if line == 1 {
		return fmt.Sprintf(" (column %d)", col)
	}
	return fmt.Sprintf(" (line %d, column %d)", line, col)
}

// writeMarked writes a text with a line of marks under each line that has some.
func writeMarked(b *strings.Builder, sql string, marks map[int]bool) {
	at := 0
	for _, line := range strings.Split(sql, "\n") {
		fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(line, "\t", " "))
		under, any := []byte{}, false
		i := at
		for range line {
			c := byte(' ')
			_, n := utf8.DecodeRuneInString(sql[i:])
			for k := i; k < i+n; k++ {
				if marks[k] {
					c, any = '^', true
				}
			}
			under = append(under, c)
			i += n
		}
		if any {
			fmt.Fprintf(b, "  %s\n", strings.TrimRight(string(under), " "))
		}
		at += len(line) + 1
	}
}
