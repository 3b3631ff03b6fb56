package pglog

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var wrappedNow = func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }

// wrappedSamples are small real logs in every envelope.
func wrappedSamples(t testing.TB) (names []string, formats []Format, logs [][]byte) {
	t.Helper()
	data, err := os.ReadFile("testdata/samples/17.A.log")
	if err != nil {
		t.Fatal(err)
	}
	records := recordsOf(t, samplePrefix, data)
	for _, wrap := range wraps {
		var w strings.Builder
		wrap.make(&w, records)
		names, formats, logs = append(names, wrap.name), append(formats, wrap.format), append(logs, []byte(w.String()))
	}
	if data, err = os.ReadFile("testdata/samples/17.A.csv"); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, wrap := range fieldWraps {
		var w strings.Builder
		wrap.make(&w, rows)
		names, formats, logs = append(names, wrap.name), append(formats, wrap.format), append(logs, []byte(w.String()))
	}
	return names, formats, logs
}

// checkWrapped reads damaged content: every byte is in the ledger, and the number of workers changes nothing.
func checkWrapped(t testing.TB, cfg Config, data []byte) {
	t.Helper()
	cfg.HashKey, cfg.Now, cfg.Workers = testKey, wrappedNow, 1
	want, counts, err := exactly(t, cfg, Input{Name: "x", Reader: bytes.NewReader(data)})
	if counts.Bytes > 0 && counts.Bytes+counts.Unread != int64(len(data)) {
		t.Fatalf("%d bytes read and %d unread of %d, %v", counts.Bytes, counts.Unread, len(data), err)
	}
	cfg.Workers = 3
	got, counts2, err2 := exactly(t, cfg, Input{Name: "x", Reader: bytes.NewReader(data)})
	if got != want || dumpCounts(counts) != dumpCounts(counts2) || (err == nil) != (err2 == nil) {
		t.Fatalf("three workers: %v %v\n%s", err, err2, firstDifference(want, got))
	}
}

// Wrapped logs that were cut, spliced or damaged, with any size of chunks and records.
func TestDamagedWrapped(t *testing.T) {
	names, formats, logs := wrappedSamples(t)
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.IntRange(0, len(logs)-1).Draw(rt, "log")
		rt.Log(names[k])
		cfg := Config{Format: formats[k], ChunkSize: rapid.IntRange(500, 20_000).Draw(rt, "chunk"), MaxRecord: rapid.SampledFrom([]int{2000, 50_000, 0}).Draw(rt, "max")}
		checkWrapped(t, cfg, damage(rt, logs[k]))
	})
}

func FuzzWrapped(f *testing.F) {
	_, formats, logs := wrappedSamples(f)
	for i, log := range logs {
		f.Add(byte(i), log[:min(len(log), 3000)], uint16(512))
		f.Add(byte(i), log[len(log)/2:len(log)/2+min(len(log)/2, 3000)], uint16(100))
	}
	f.Fuzz(func(t *testing.T, k byte, data []byte, chunk uint16) {
		checkWrapped(t, Config{Format: formats[int(k)%len(formats)], ChunkSize: max(64, int(chunk)), MaxRecord: max(128, 2*int(chunk)), Sessions: 2}, data)
	})
}

// Whatever order lines arrive in within the window, and wherever a run ends, each record counts once: what was taken beyond the position is
// in the state, and nothing of the text is.
func TestResumeAmongHoles(t *testing.T) {
	var lines []string
	for i := range 3000 { // each process's record takes two lines, and its second one comes a hundred lines later
		at := time.Date(2026, 1, 2, 10, 0, 0, i*1e6, time.UTC).Format("2006-01-02T15:04:05.000000Z")
		head := fmt.Sprintf("%s db1 postgres[%d]: [%d-1] a@b LOG:  duration: 1.000 ms  statement: SELECT 'secret%d',\n", at, i%400, i/400+1, i)
		lines = append(lines, head, strings.Replace(strings.Replace(head, "-1]", "-2]", 1), "a@b LOG:  duration: 1.000 ms  statement: SELECT 'secret", "#011 'more", 1))
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for start := 0; start+100 <= len(lines); start += 50 {
		rng.Shuffle(100, func(i, k int) { lines[start+i], lines[start+k] = lines[start+k], lines[start+i] })
	}
	data := []byte(strings.Join(lines, ""))
	want, counts, err := exactly(t, Config{Prefix: "%u@%d "}, Input{Name: "x", Reader: bytes.NewReader(data)})
	if err != nil || counts.Executions != 3000 || len(counts.Dropped) != 0 || counts.Notes[NoteLostRecords] != 0 {
		t.Fatalf("%v\n%s", err, dumpCounts(counts))
	}
	holes := 0
	cfg := Config{HashKey: testKey, Prefix: "%u@%d ", Hold: true, ChunkSize: 30_000}
	var b strings.Builder
	for end := 150_000; ; end += 70_001 {
		end = min(end, len(data))
		cfg.Hold = end < len(data)
		r, err := Open(t.Context(), []Input{{Name: "x", Reader: bytes.NewReader(data[:end])}}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context(), func(batch Batch) error {
			for i := range batch.Events {
				exactEvent(&b, &batch.Events[i])
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		checkSums(t, r.Counts())
		for _, w := range r.machine.windows {
			holes += len(w.Taken)
		}
		if cfg.State, err = r.State(); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(cfg.State, []byte("secret")) || len(cfg.State) > 1<<20 {
			t.Fatal("the state holds text")
		}
		if cfg.Known = r.Positions(); end == len(data) {
			break
		}
	}
	if b.String() != want {
		t.Error(firstDifference(want, b.String()))
	}
	if holes == 0 {
		t.Error("no run stopped among holes: the test shows nothing")
	}
}

// Records that are longer than is kept, and entries that are, are counted and do not stop the reading.
func TestOversizeWrapped(t *testing.T) {
	for _, wrap := range wraps {
		long := strings.Repeat("x", 300_000)
		record := func(text string) string {
			return "2026-01-02 10:00:00.001 UTC [71] [user=a,db=b,app=c] LOG:  duration: 1.000 ms  statement: SELECT " + text + "\n"
		}
		var w strings.Builder
		wrap.make(&w, []string{record("1"), record("'" + long + "'"), record("'a\n\t" + strings.Repeat("b\n\t", 50_000) + "'"), record("2"), record("3")})
		cfg := Config{Format: wrap.format, Prefix: samplePrefix, MaxRecord: 50_000, ChunkSize: 10_000, Now: wrappedNow}
		dump, c, err := run(t, cfg, Input{Name: "x", Reader: strings.NewReader(w.String())})
		if err != nil || c.Bytes+c.Unread != int64(w.Len()) {
			t.Fatalf("%s: %v\n%s", wrap.name, err, dumpCounts(c))
		}
		if plain := strings.Count(dump, "\n      select $1\n"); plain < 2 || plain == 2 && c.Opaque == 0 || c.Executions > 5 {
			t.Errorf("%s: %d of 3 short statements:\n%.2000s\n%s", wrap.name, plain, dump, dumpCounts(c))
		}
	}
}

// A prefix that does not fit is an error, as for a log without an envelope, and so is a format that is not that of the file.
func TestRefusesWrapped(t *testing.T) {
	line := "2026-01-02T10:00:00.1Z stderr F 2026-01-02 10:00:00.001 UTC [71] LOG:  duration: 1.000 ms  statement: SELECT 1\n"
	for _, c := range []struct {
		cfg        Config
		text, want string
	}{
		{Config{Prefix: "%t [%p]: "}, line, `prefix mismatch: log_line_prefix "%t [%p]: " fits 0 of the first 1 lines`},
		{Config{Format: Docker}, line, `none of its first entries is one of a PostgreSQL server in docker`},
		{Config{}, "2026-01-02T10:00:00.1Z stderr F nothing of the kind\n", "log_line_prefix cannot be inferred"},
		{Config{Format: CloudSQL, Prefix: "%m [%p] "}, `[{"textPayload":"2026-01-02 10:00:09.001 UTC [71] LOG:  x","timestamp":"2026-01-02T10:00:09Z"},` + "\n" +
			`{"textPayload":"2026-01-02 09:00:01.001 UTC [71] LOG:  x","timestamp":"2026-01-02T09:00:01Z"}]`, "descending order"},
	} {
		_, _, err := run(t, c.cfg, Input{Name: "x", Reader: strings.NewReader(c.text)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: error is %v, not about %q", c.text, err, c.want)
		}
	}
}
