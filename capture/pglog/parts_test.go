package pglog

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What the server prints of bind values is read back, whatever the values are.
func TestParamsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Just("\x00"), rapid.StringOf(rapid.SampledFrom([]rune("a', $=12\n\t.é")))), 1, 6).Draw(t, "values")
		var b strings.Builder
		for i, v := range values {
			if i > 0 {
				b.WriteString(", ")
			}
			if v == "\x00" {
				fmt.Fprintf(&b, "$%d = NULL", i+1)
			} else {
				fmt.Fprintf(&b, "$%d = '%s'", i+1, strings.ReplaceAll(v, "'", "''"))
			}
		}
		got, ok := parseParams([]byte(b.String()), nil)
		if !ok || len(got) != len(values) {
			t.Fatalf("%q: %v, %d values", b.String(), ok, len(got))
		}
		for i, p := range got {
			if v := values[i]; p.number != i+1 || p.null != (v == "\x00") || !p.null && (string(p.raw) != v || p.cut != strings.HasSuffix(v, "...")) {
				t.Fatalf("%q: value %d is %q, null %v, cut %v", b.String(), i+1, p.raw, p.null, p.cut)
			}
		}
	})
}

// What the server prints for any prefix is read back, if nothing in a name looks like the prefix.
func TestPrefixRoundTrip(t *testing.T) {
	word := rapid.StringMatching(`[a-z0-9 .-]{0,12}[a-z]`)
	fields := []struct {
		esc   string
		value func(t *rapid.T) string
		got   func(r *record) string
	}{
		{"%a", func(t *rapid.T) string { return word.Draw(t, "a") }, func(r *record) string { return string(r.app) }},
		{"%u", func(t *rapid.T) string { return word.Draw(t, "u") }, func(r *record) string { return string(r.user) }},
		{"%d", func(t *rapid.T) string { return word.Draw(t, "d") }, func(r *record) string { return string(r.database) }},
		{"%p", func(t *rapid.T) string { return rapid.StringMatching(`[1-9][0-9]{0,6}`).Draw(t, "p") }, func(r *record) string { return string(r.pid) }},
		{"%c", func(t *rapid.T) string {
			return rapid.StringMatching(`[1-9a-f][0-9a-f]{7}\.[1-9a-f]{1,5}`).Draw(t, "c")
		}, func(r *record) string { return string(r.session) }},
		{"%v", func(t *rapid.T) string { return rapid.StringMatching(`([1-9]/[0-9]{1,4})?`).Draw(t, "v") }, func(r *record) string { return string(r.vxid) }},
		{"%e", func(t *rapid.T) string { return rapid.StringMatching(`[0-9A-Z]{5}`).Draw(t, "e") }, func(r *record) string { return string(r.state) }},
		{"%i", func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"SELECT", "idle in transaction", "BIND"}).Draw(t, "i")
		}, func(r *record) string { return string(r.tag) }},
		{"%r", func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"[local]", "10.0.0.9(4022)", "fe80::1%eth0(4022)", ""}).Draw(t, "r")
		}, func(r *record) string { return string(r.client) }},
		{"%l", func(t *rapid.T) string { return rapid.StringMatching(`[1-9][0-9]{0,3}`).Draw(t, "l") }, nil},
		{"%Q", func(t *rapid.T) string { return rapid.StringMatching(`-?[0-9]{1,19}`).Draw(t, "Q") }, nil},
	}
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation(fields).Draw(t, "order")
		order = order[:rapid.IntRange(1, len(order)).Draw(t, "n")]
		text, line := "%m", "2026-01-02 10:00:00.123 UTC"
		want := make([]string, len(order))
		for i, f := range order {
			lit := rapid.SampledFrom([]string{"|", " [", "] ", ",x=", "@@", "/%%/"}).Draw(t, "literal")
			want[i] = f.value(t)
			text += lit + f.esc
			line += strings.ReplaceAll(lit, "%%", "%") + want[i]
		}
		text, line = text+"|", line+"|"
		p, err := compilePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		line += "LOG:  duration: 1.000 ms  statement: SELECT 1"
		var rec record
		var c clock
		m, _, ok := p.match([]byte(line), &c, &rec)
		if !ok || !strings.HasPrefix(line[m.text:], "duration: ") || rec.time != time.Date(2026, 1, 2, 10, 0, 0, 123e6, time.UTC).UnixNano() {
			t.Fatalf("%q does not read %q", text, line)
		}
		for i, f := range order {
			if f.got != nil && f.got(&rec) != want[i] {
				t.Fatalf("%q reads %s of %q as %q", text, f.esc, line, f.got(&rec))
			}
		}
	})
}

func TestClock(t *testing.T) {
	at := func(h, m int) int64 { return time.Date(2026, 1, 2, h, m, 0, 0, time.UTC).UnixNano() }
	for _, c := range []struct {
		in      string
		want    int64
		unknown bool
	}{
		{"2026-01-02 10:00:00 UTC", at(10, 0), false},
		{"2026-01-02 10:00:00.000 CEST", at(8, 0), false},
		{"2026-01-02 10:00:00.500 -03", at(13, 0) + 5e8, false},
		{"2026-01-02 10:00:00 +0545", at(4, 15), false},
		{"2026-01-02 10:00:00 ChST", at(0, 0), false},
		{"2026-01-02 10:00:00 IST", at(9, 0), true},
	} {
		clk := clock{zone: time.FixedZone("here", 3600)}
		got, n, ok := clk.read([]byte(c.in + ":x"))
		if !ok || got != c.want || n != len(c.in) || clk.unknown != c.unknown {
			t.Errorf("%q: %d, %d bytes, %v, unknown %v", c.in, got-c.want, n, ok, clk.unknown)
		}
	}
	for _, bad := range []string{"", "2026-13-02 10:00:00 UTC", "2026-01-02T10:00:00 UTC", "2026-01-02 10:00:00", "2026-01-0x 10:00:00 UTC"} {
		var clk clock
		if _, _, ok := clk.read([]byte(bad + strings.Repeat(" ", 5))); ok {
			t.Errorf("%q is read as a time", bad)
		}
	}
}

// inferred are prefixes that need no flag.
func TestInferPrefix(t *testing.T) {
	render := strings.NewReplacer("%m", "2026-01-02 10:00:00.123 UTC", "%t", "2026-01-02 10:00:00 UTC", "%n", "1767327300.001", "%p", "4711", "%u", "app", "%d", "shop",
		"%a", "web 2", "%h", "10.0.0.9", "%r", "10.0.0.9(4022)", "%c", "6b0c9891.624f", "%l", "3", "%q", "", "%e", "00000", "%x", "0", "%v", "3/7")
	for _, prefix := range append(commonPrefixes[:],
		"%n [%p] ", "%m <%u@%d> [%p]: ", "user=%u db=%d pid=%p time=%m ", "%t %c app=%a,user=%u,host=%h: ", "[%m] p=%p u=%u d=%d a=%a ", "%m pid=%p,vxid=%v,state=%e ") {
		line := []byte(render.Replace(prefix) + "LOG:  duration: 1.000 ms  statement: SELECT 1")
		p, hits := inferPrefix([]sampleLine{{1, line}}, false)
		if p == nil || hits != 1 {
			t.Errorf("%q: nothing is inferred from %q", prefix, line)
			continue
		}
		var rec record
		var c clock
		m, _, ok := p.match(line, &c, &rec)
		if !ok || !bytes.HasPrefix(line[m.text:], []byte("duration")) || !rec.hasTime {
			t.Errorf("%q: %q is inferred and does not read %q", prefix, p.text, line)
			continue
		}
		for _, f := range []struct{ esc, got, want string }{{"%u", string(rec.user), "app"}, {"%d", string(rec.database), "shop"}} {
			if strings.Contains(prefix, f.esc) && f.got != f.want {
				t.Errorf("%q: %q is inferred and reads %s as %q", prefix, p.text, f.esc, f.got)
			}
		}
		if (strings.Contains(prefix, "%p") || strings.Contains(prefix, "%c")) && rec.pid == nil && rec.session == nil {
			t.Errorf("%q: %q is inferred and has no key of a session", prefix, p.text)
		}
	}
}

// A name made of the prefix's own literals must not take for ever.
func TestHostilePrefix(t *testing.T) {
	p, err := compilePrefix("%m [%p] [user=%u,db=%d,app=%a] ")
	if err != nil {
		t.Fatal(err)
	}
	line := []byte("2026-01-02 10:00:00.001 UTC [71] [user=" + strings.Repeat(",db=,app=] LOG:  ", 60) + "x")
	rec := record{}
	var c clock
	p.match(line, &c, &rec)
	if rec.tries > 100*maxTries {
		t.Errorf("%d readings were tried", rec.tries)
	}
}

// More sessions than are remembered: the oldest are forgotten, what they held is not lost.
func TestEviction(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "2026-01-02 10:00:00.001 UTC [%d] LOG:  statement: SELECT %d\n", i+1, i)
	}
	r, err := Open(context.Background(), []Input{{Name: "x", Reader: strings.NewReader(b.String())}}, Config{Sessions: 100, ChunkSize: 4096, HashKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	if err := r.Run(context.Background(), func(Batch) error { most = max(most, len(r.machine.sessions)); return nil }); err != nil {
		t.Fatal(err)
	}
	c := r.Counts()
	checkSums(t, c)
	if most > 200 || c.Executions != 3000 || c.Notes[NoteEvictedSession] < 2000 {
		t.Errorf("%d sessions at a time, %d executions, %v", most, c.Executions, c.Notes)
	}
}

// A warm worker and a warm machine do not allocate for each record.
func TestAllocations(t *testing.T) {
	for _, format := range []Format{Stderr, CSV, JSON} {
		const n = 2000
		data := generated(format, n)
		cfg := Config{HashKey: testKey}
		defaults(&cfg)
		src := &source{name: "x", format: format}
		if format == Stderr {
			p, err := compilePrefix(samplePrefix)
			if err != nil {
				t.Fatal(err)
			}
			src.prefix = p
		}
		w := newWorker(&cfg)
		m, err := newMachine(&cfg, newTally())
		if err != nil {
			t.Fatal(err)
		}
		c := &chunk{src: src, data: make([]byte, len(data))}
		allocs := testing.AllocsPerRun(5, func() {
			copy(c.data, data) // parsers write into it
			w.run(c)
			m.begin()
			m.chunk(c)
		})
		if len(m.events) != n || allocs > n/20 {
			t.Errorf("%s: %.0f allocations for %d records, %d events", format, allocs, n, len(m.events))
		}
	}
}
