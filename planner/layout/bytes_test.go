package layout

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestParseBytes(t *testing.T) {
	for in, want := range map[string]string{
		`\x`: "", `\xDEADbeef`: "\xde\xad\xbe\xef", "\\x de\tad\n\r": "\xde\xad", "": "", "abc": "abc", `a\\b`: `a\b`, `\000\377`: "\x00\xff", "日": "日", `\\x00`: `\x00`,
	} {
		k, err := Parse("bytea", in)
		if err != nil || k.Class != BytesKey || k.Text != want || k.Hash() != HashString(want) {
			t.Errorf("%q reads as %+v, %v; want %q", in, k, err, want)
		}
	}
	for _, in := range []string{`\x0`, `\x0 0`, `\xg0`, `\x0g`, "\\x\v00", `\`, `\X00`, `\400`, `\08`, `\00`, `\a`, "a\x00", "\\x00\x00"} {
		if k, err := Parse("bytea", in); !errors.Is(err, ErrSyntax) {
			t.Errorf("%q reads as %s, %v; want a syntax error", in, k, err)
		}
	}
}

// Canonical text reads back as the same bytes.
func TestBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Key{Class: BytesKey, Text: string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))}
		if back, err := Parse("bytea", k.String()); err != nil || back != k {
			t.Fatalf("%s: %v, %v", k, back, err)
		}
	})
}

// The hashes that are integers' in disguise.
func TestHashesOfOtherTypes(t *testing.T) {
	if HashBool(true) != HashInt8(1) || HashBool(false) != HashInt8(0) || HashDate(-1) != HashInt8(-1) || HashTimestamp(1<<40) != HashInt8(1<<40) {
		t.Error("they differ")
	}
}
