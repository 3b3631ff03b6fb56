package reports

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columns is how many terminal columns a cleaned text takes; ANSI attributes that paint added take none.
func columns(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			end := strings.IndexByte(s[i:], 'm')
			if end < 0 {
				return n
			}
			i += end + 1
			continue
		}
		r, w := rune(s[i]), 1
		if r >= 0x80 {
			for _, r = range s[i:] {
				break
			}
			w = len(string(r))
		}
		n += runeColumns(r)
		i += w
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x80 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// fit shortens a text without attributes to n columns, ending in "…" if something was left out.
func fit(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used+runeColumns(r) > n-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		used += runeColumns(r)
	}
	return s
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-columns(s))) }

func padLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-columns(s))) + s }

// wrap breaks a text at blanks into lines of at most n columns; a longer word is broken where it must be. There is always one line.
func wrap(s string, n int) []string {
	n = max(n, 10)
	var out []string
	cur, used := "", 0
	for _, word := range strings.Fields(s) {
		w := columns(word)
		switch {
		case used > 0 && used+1+w <= n:
			cur += " " + word
			used += 1 + w
			continue
		case used > 0:
			out = append(out, cur)
			cur, used = "", 0
		}
		for w > n && !strings.Contains(word, "\x1b") {
			at, cols := 0, 0
			for i, r := range word {
				if cols+runeColumns(r) > n {
					at = i
					break
				}
				cols += runeColumns(r)
			}
			out = append(out, word[:at])
			word = word[at:]
			w = columns(word)
		}
		cur, used = word, w
	}
	return append(out, cur)
}

// col is a column of a table: right aligned, taking what width is left (flex), dropped from narrower terminals than drop.
type col struct {
	right, flex bool

	drop int
}

type cell struct{ s, code string }

type table struct {
	head []string
	cols []col
	rows [][]cell
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// table draws a table indented by two, its flexible columns cut to what fits.
func (t *textWriter) table(tab table) {
	if len(tab.rows) == 0 {
		return
	}
	rows := tab.rows
	if tab.head != nil {
		head := make([]cell, len(tab.head))
		for i, h := range tab.head {
			head[i] = cell{h, dim}
		}
		rows = append([][]cell{head}, rows...)
	}
	widths := t.widths(tab.cols, rows)
	for _, row := range rows {
		var b strings.Builder
		for i, c := range row {
			if widths[i] < 0 {
				continue
			}
			b.WriteString("  ")
			s := fit(c.s, widths[i])
			if tab.cols[i].right {
				s = padLeft(s, widths[i])
			} else if i < len(row)-1 {
				s = pad(s, widths[i])
			}
			if c.code != "" {
				s = t.paint(c.code, s)
			}
			b.WriteString(s)
		}
		t.line(b.String())
	}
}

// widths gives every column its widest cell, then takes from the flexible ones until the table fits; -1 drops a column.
func (t *textWriter) widths(cols []col, rows [][]cell) []int {
	widths := make([]int, len(cols))
	total := 0
	for i, c := range cols {
		if t.width < c.drop {
			widths[i] = -1
			continue
		}
		for _, r := range rows {
			widths[i] = max(widths[i], columns(r[i].s))
		}
		total += 2 + widths[i]
	}
	for total > t.width {
		widest := -1
		for i, c := range cols {
			if c.flex && widths[i] > 8 && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		total--
	}
	return widths
}
