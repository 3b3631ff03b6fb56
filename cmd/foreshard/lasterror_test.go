package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"as it is\n\tset in", "as it is\n\tset in"},
		{"stat \x1b[31m\u009b2J\r: no", "stat ?[31m?2J?: no"},
		{"stat a\n::set-output name=x::y\n \t##[error]z", "stat a\n| ::set-output name=x::y\n|  \t##[error]z"},
	} {
		if got := printable(errors.New(c.text)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	var out, errOut bytes.Buffer
	code := run(t.Context(), []string{"config", "check", "no\x1b[31m\n::error::such"}, strings.NewReader(""), &out, &errOut)
	if code != exitCannot || strings.Contains(errOut.String(), "\x1b") || strings.Contains(errOut.String(), "\n::") {
		t.Errorf("exit code %d, %q", code, errOut.String())
	}
}
