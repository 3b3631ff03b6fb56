package reports

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSQL is how many characters of a statement a page shows before it says how many more there are.
const maxSQL = 4000

// visible makes captured text safe to look at, and honest: what a terminal or a browser would obey or hide is written out instead. Control
// characters, bidirectional and other invisible characters become <U+001B>, <U+202E>, invalid bytes <0xFF>: in letters that every font has.
// Newlines and tabs stay.
func visible(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= 0x20 && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case hidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// hidden says whether a character has an effect but no shape of its own.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector) || r&0xfffe == 0xfffe
}

// ciCommand finds the in-line command syntax of GitHub ("##[group]"), Azure ("##vso[") and TeamCity ("##teamcity["), obeyed anywhere in a line.
var ciCommand = regexp.MustCompile(`##(\w*)\[`)

// line is captured text on one line: runs of white space become one blank, and no CI system finds a command inside it. A text that begins
// with GitHub's "::" must not be put first on a line; see guard.
func line(s string) string {
	s = strings.Join(strings.Fields(visible(s)), " ")
	return ciCommand.ReplaceAllString(s, "# #$1[")
}

// guard keeps the beginning of an output line from being a workflow command: GitHub trims the line and looks for "::".
func guard(s string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "::") {
		return "·" + s
	}
	return s
}

// cut shortens a text to about max characters and says how many are left out.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= max {
		return s
	}
	at := 0
	for i := 0; i < max; i++ {
		_, w := utf8.DecodeRuneInString(s[at:])
		at += w
	}
	return s[:at] + fmt.Sprintf(" … %s", plural(int64(n-max), "more character", "more characters"))
}

// lines cleans each of several names.
func lines(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = cut(line(n), maxName)
	}
	return out
}

// Visible is captured text of several lines, safe for a terminal: what it would obey or hide is written out.
func Visible(s string) string { return visible(s) }

// Printable is captured text on one line, safe for a terminal and for a CI system's log.
func Printable(s string) string { return line(s) }
