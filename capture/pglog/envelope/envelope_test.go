package envelope

import (
	"strings"
	"testing"
	"time"
)

func first(t *testing.T, s Scanner, text string) Entry {
	t.Helper()
	e, ok := s.Next([]byte(text), 0)
	if !ok {
		t.Fatalf("%q is no whole entry", text)
	}
	return e
}

// Times without a year are the latest ones that are not after the file's own time.
func TestYear(t *testing.T) {
	for _, c := range []struct{ stamp, latest, want string }{
		{"Dec 31 23:59:59", "2026-01-01T00:10:00Z", "2025-12-31T23:59:59Z"},
		{"Jan  1 00:00:01", "2026-01-01T00:10:00Z", "2026-01-01T00:00:01Z"},
		{"Jan  1 00:00:01", "2025-12-31T23:59:00Z", "2026-01-01T00:00:01Z"}, // clocks of two machines differ
		{"Jan 01 00:00:01.250", "2026-06-01T00:00:00Z", "2026-01-01T00:00:01.25Z"},
		{"Jul  1 00:00:00", "2026-06-01T00:00:00Z", "2025-07-01T00:00:00Z"},
		{"Feb 29 10:00:00", "2026-06-01T00:00:00Z", "2024-02-29T10:00:00Z"},
		{"Mar  3 2019 10:00:00", "2026-06-01T00:00:00Z", "2019-03-03T10:00:00Z"},
		{"Jan  2 10:00:00", "", "none"},
	} {
		var latest time.Time
		if c.latest != "" {
			var err error
			if latest, err = time.Parse(time.RFC3339, c.latest); err != nil {
				t.Fatal(err)
			}
		}
		e := first(t, Scanner{Kind: Syslog, Latest: latest}, c.stamp+" db1 postgres[71]: [1-1] LOG:  x\n")
		got := "none"
		if e.HasTime {
			got = time.Unix(0, e.Time).UTC().Format(time.RFC3339Nano)
		}
		if got != c.want || e.Class != Wrapped {
			t.Errorf("%s before %s is %s, want %s (class %d)", c.stamp, c.latest, got, c.want, e.Class)
		}
	}
}

// What lines of syslog say, and what is not one.
func TestSyslogLines(t *testing.T) {
	const stamp = "2026-01-02T10:00:00Z"
	for _, c := range []struct {
		line             string
		class            Class
		host, ident, pid string
		number           uint64
		chunk            int
		text             string
	}{
		{"<134>" + stamp + " db1 postgres[71]: [7-2] #011 b", Wrapped, "db1", "postgres", "71", 7, 2, "#011 b"},
		{stamp + " postgres[71]: [7-1] a", Wrapped, "", "postgres", "71", 7, 1, "a"},
		{stamp + " db1 postgres: a [7-1] b", Wrapped, "db1", "postgres", "", 0, 0, "a [7-1] b"},
		{stamp + " db1 postgres[71]: [71] LOG:  x", Wrapped, "db1", "postgres", "71", 0, 0, "[71] LOG:  x"}, // of the prefix
		{stamp + " db1 postgres[71]: [5] LOG:  x", Wrapped, "db1", "postgres", "71", 5, 0, "LOG:  x"},
		{stamp + " db1 postgres[71]: [5-0] LOG:  x", Wrapped, "db1", "postgres", "71", 0, 0, "[5-0] LOG:  x"},
		{stamp + " db1 postgres[71]: [99999999999999999999-1] x", Wrapped, "db1", "postgres", "71", 0, 0, "[99999999999999999999-1] x"},
		{stamp + " db1 postgres[71]:", Wrapped, "db1", "postgres", "71", 0, 0, ""},
		{"<134>1 " + stamp + " db1 pg 71 - - \xef\xbb\xbf[7-1] a", Wrapped, "db1", "pg", "71", 7, 1, "a"},
		{"<134>1 " + stamp + ` db1 pg 71 - [a x="]"][b y="\""] [7-1] a`, Wrapped, "db1", "pg", "71", 7, 1, "a"},
		{"<134>1 - - pg 71 ID47 - [7-1] a", Wrapped, "", "pg", "71", 7, 1, "a"},
		{"<134>1 " + stamp + ` db1 pg 71 - [a x="1 [7-1] a`, Bare, "", "", "", 0, 0, ""},
		{"2026-01-02 10:00:00 UTC [71] LOG:  x", Bare, "", "", "", 0, 0, ""},
		{"Jan  2 10:00:00 UTC [71] LOG:  x", Bare, "", "", "", 0, 0, ""},
		{"Foo  2 10:00:00 db1 postgres[71]: x", Bare, "", "", "", 0, 0, ""},
		{"\tpostgres[71]: x", Bare, "", "", "", 0, 0, ""},
	} {
		e := first(t, Scanner{Kind: Syslog}, c.line+"\n")
		if e.Class != c.class {
			t.Errorf("%q has class %d, want %d", c.line, e.Class, c.class)
			continue
		}
		if c.class == Bare {
			continue
		}
		if string(e.Host) != c.host || string(e.Ident) != c.ident || string(e.Pid) != c.pid || e.Number != c.number || e.Chunk != c.chunk || string(e.Text) != c.text {
			t.Errorf("%q: host %q ident %q pid %q number %d chunk %d text %q", c.line, e.Host, e.Ident, e.Pid, e.Number, e.Chunk, e.Text)
		}
	}
}

// Plain logs have no envelope, however much they look like one.
func TestDetect(t *testing.T) {
	for _, c := range []struct {
		head string
		want Kind
	}{
		{"2026-01-02 10:00:00.001 UTC [71] LOG:  a\n", None},
		{"Jan  2 10:00:00 db1 postgres[71]: [1-1] LOG:  a\n\tb\n", Syslog},
		{"2026-01-02 10:00:00 UTC:10.0.0.9(4022):app@shop:[71]:LOG:  a\n", None},
		{"[2026-01-02 10:00:00 UTC] LOG:  a\n", None},
		{`2026-01-02 10:00:00.001 UTC,"app","shop",71` + "\n", None},
		{`{"timestamp":"2026-01-02 10:00:00.001 UTC","error_severity":"LOG","message":"a"}` + "\n", None},
		{`{"a":1}` + "\n" + `{"log":"a","stream":"stderr"}` + "\n", Docker},
		{`[{"a":1},{"textPayload":"x"}]`, CloudSQL},
		{"SELECT 1;\n", None},
		{"", None},
		{"{", None},
		{strings.Repeat("[", 1000), None},
		{"2026-01-02T10:00:00Z 2026-01-02 10:00:00 UTC::@:[1]:LOG:  a\n", CloudWatch},
		{"2026-01-02T10:00:00Z stdout F a\n", CRI},
	} {
		if got := Detect([]byte(c.head)); got != c.want {
			t.Errorf("%q is %q, want %q", c.head, got, c.want)
		}
	}
}

// FuzzScan cuts anything into entries: they follow one another without a gap, and what an entry says is the same when it stands alone.
func FuzzScan(f *testing.F) {
	for i, seed := range []string{
		"<134>Jan  2 10:00:00 db1 postgres[71]: [7-2] #011 b\nx\n", "53 <134>1 2026-01-02T10:00:00Z db1 pg 71 - [a b=\"c\"] [7-1] a\n",
		"{\"log\":\"a\\u00e9\\n\",\"stream\":\"stderr\",\"time\":\"2026-01-02T10:00:00Z\"}\n{", "2026-01-02T10:00:00.1+01:00 stderr P a\n",
		"2026-01-02T10:00:00Z 2026-01-02 10:00:00 UTC::@:[1]:LOG:  a\n", "[{\"textPayload\":\"x\",\"insertId\":\"1\"},\n{\"a\":[{\"b\":null}]}]",
		"{\"records\":[{\"properties\":{\"message\":\"m\",\"processId\":1}}]}\n", "{\"logger\":\"postgres\",\"record\":{\"message\":\"m\"}}\n{\"a\"\n",
		"[{\"event_message\":\"m\",\"timestamp\":1767348000002000,\"metadata\":[{\"parsed\":[{\"process_id\":1}]}]}]", "{\"_msg\":\"m\"}",
	} {
		f.Add(byte(i), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, k byte, data []byte) {
		s := Scanner{Kind: kinds[int(k)%len(kinds)], Latest: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}
		Detect(data)
		for pos := 0; ; {
			e, ok := s.Next(data, pos)
			if !ok {
				break
			}
			if e.Pos != pos || e.End <= pos || e.End > len(data) {
				t.Fatalf("entry from %d to %d at %d of %d", e.Pos, e.End, pos, len(data))
			}
			if e.Class == Wrapped {
				alone := Scanner{Kind: s.Kind, Latest: s.Latest}
				if a, ok := alone.Next(data[e.Pos:e.End], 0); ok && (a.Class != e.Class || string(a.Text) != string(e.Text) || a.Time != e.Time) {
					t.Fatalf("alone it says %q, among others %q", a.Text, e.Text)
				}
			}
			pos = e.End
		}
	})
}
