package main

import "strings"

// printable is an error's text for a terminal and for a build's log: names in it, of files or roles, may hold anything. Control characters
// would move the cursor, and a line that begins with :: or ##[ would be a command to the CI that shows it. Lines stay lines.
func printable(err error) string {
	text := strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 {
			return '?'
		}
		return c
	}, err.Error())
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		if begin := strings.TrimSpace(line); strings.HasPrefix(begin, "::") || strings.HasPrefix(begin, "##[") {
			lines[i+1] = "| " + line
		}
	}
	return strings.Join(lines, "\n")
}
