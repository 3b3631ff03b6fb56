package pglog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/diff"
)

// wraps are envelopes as their writers make them, around the records of a stderr log.
var wraps = []struct {
	name   string
	format Format
	make   func(w *strings.Builder, records []string)
}{
	{"rsyslog", Syslog, func(w *strings.Builder, records []string) { // time of RFC 3164, control characters escaped
		syslogChunks(records, true, func(at time.Time, pid, chunk string) {
			fmt.Fprintf(w, "%s db1 postgres[%s]: %s\n", at.Format(time.Stamp), pid, strings.ReplaceAll(chunk, "\t", "#011"))
		})
	}},
	{"syslog-ng", Syslog, func(w *strings.Builder, records []string) { // ISO time, TABs as they are, priority kept
		syslogChunks(records, true, func(at time.Time, pid, chunk string) {
			fmt.Fprintf(w, "<134>%s db1 postgres[%s]: %s\n", at.Format(time.RFC3339Nano), pid, chunk)
		})
	}},
	{"frames", Syslog, func(w *strings.Builder, records []string) { // RFC 5424 with octets counted
		syslogChunks(records, true, func(at time.Time, pid, chunk string) {
			msg := fmt.Sprintf("<134>1 %s db1 postgres %s - - %s", at.Format(time.RFC3339Nano), pid, chunk)
			fmt.Fprintf(w, "%d %s", len(msg), msg)
		})
	}},
	{"unnumbered", Syslog, func(w *strings.Builder, records []string) {
		syslogChunks(records, false, func(at time.Time, pid, chunk string) {
			fmt.Fprintf(w, "%s db1 postgres[%s]: %s\n", at.Format(time.RFC3339), pid, strings.ReplaceAll(chunk, "\t", "#011"))
		})
	}},
	{"unsplit", Syslog, func(w *strings.Builder, records []string) {
		sequence := map[string]int{}
		for _, r := range records {
			at, pid := stampOf(r)
			sequence[pid]++
			fmt.Fprintf(w, "%s db1 postgres[%s]: [%d] %s\n", at.Format(time.RFC3339), pid, sequence[pid], strings.NewReplacer("\t", "#011", "\n", "#012").Replace(strings.TrimSuffix(r, "\n")))
		}
	}},
	{"docker", Docker, func(w *strings.Builder, records []string) {
		parts(records, func(at time.Time, text string, whole bool) {
			if whole {
				text += "\n"
			}
			jsonLine(w, map[string]any{"log": text, "stream": "stderr", "time": at.Format(time.RFC3339Nano)})
		})
	}},
	{"cri", CRI, func(w *strings.Builder, records []string) {
		parts(records, func(at time.Time, text string, whole bool) {
			fmt.Fprintf(w, "%s stderr %s %s\n", at.Format(time.RFC3339Nano), map[bool]string{true: "F", false: "P"}[whole], text)
		})
	}},
	{"cloudwatch", CloudWatch, func(w *strings.Builder, records []string) {
		for _, r := range records {
			at, _ := stampOf(r)
			fmt.Fprintf(w, "%s %s", at.Format("2006-01-02T15:04:05.000Z"), r)
		}
	}},
	{"cloudsql", CloudSQL, func(w *strings.Builder, records []string) { // each line apart, delivered in any order
		var entries []string
		var times []time.Time
		var last time.Time // of reading a line; several may have it
		for _, r := range records {
			if at, _ := stampOf(r); at.After(last) {
				last = at
			}
			for _, line := range strings.Split(strings.TrimSuffix(r, "\n"), "\n") {
				if len(entries)%3 == 0 {
					last = last.Add(time.Microsecond)
				}
				var b strings.Builder
				jsonLine(&b, map[string]any{"insertId": fmt.Sprintf("s=%08d", len(entries)), "textPayload": line, "timestamp": last.Format(time.RFC3339Nano)})
				entries, times = append(entries, b.String()), append(times, last)
			}
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for start := 20; start+60 < len(entries); start += 30 {
			rng.Shuffle(60, func(i, k int) {
				if i, k = start+i, start+k; times[k].Sub(times[i]).Abs() < time.Second {
					entries[i], entries[k] = entries[k], entries[i]
					times[i], times[k] = times[k], times[i]
				}
			})
		}
		w.WriteString(strings.Join(entries, ""))
	}},
	{"planetscale", PlanetScale, func(w *strings.Builder, records []string) {
		for _, r := range records {
			at, _ := stampOf(r)
			jsonLine(w, map[string]any{"_msg": strings.TrimSuffix(r, "\n"), "_time": at.Format(time.RFC3339Nano)})
		}
	}},
}

func jsonLine(w io.Writer, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
}

// stampOf is the time and the process of a record with the prefix "%m [%p] ".
func stampOf(record string) (time.Time, string) {
	at, err := time.Parse("2006-01-02 15:04:05.000 MST", record[:27])
	if err != nil {
		panic(err)
	}
	pid, _, _ := strings.Cut(record[29:], "]")
	return at, pid
}

// recordsOf cuts a log with the prefix "%m [%p] …" into what the server wrote at a time: a record with its continuations, DETAIL and STATEMENT.
func recordsOf(t testing.TB, prefix string, log []byte) (records []string) {
	t.Helper()
	p, err := compilePrefix(prefix)
	if err != nil {
		t.Fatal(err)
	}
	c := stderrCutter{stderrParser{prefix: p}}
	for len(log) > 0 {
		n := c.firstBorder(log)
		if n < 0 {
			n = len(log)
		}
		records = append(records, string(log[:n]))
		log = log[n:]
	}
	return records
}

// syslogChunks cuts records as the server does with syslog_split_messages: at newlines, and after 900 bytes, at a blank if there is one, which
// starts the next chunk.
func syslogChunks(records []string, numbers bool, emit func(at time.Time, pid, chunk string)) {
	sequence := map[string]int{}
	for _, r := range records {
		at, pid := stampOf(r)
		sequence[pid]++
		for chunk := 0; r != ""; {
			if r[0] == '\n' {
				r = r[1:]
				continue
			}
			n := strings.IndexByte(r, '\n')
			if n < 0 {
				n = len(r)
			}
			if n > 900 {
				for n = 900; n > 0 && r[n]&0xc0 == 0x80; n-- {
				}
				if !strings.ContainsRune(" \t\n", rune(r[n])) {
					if k := strings.LastIndexAny(r[1:n], " \t"); k >= 0 {
						n = k + 1
					}
				}
			}
			chunk++
			if numbers {
				emit(at, pid, fmt.Sprintf("[%d-%d] %s", sequence[pid], chunk, r[:n]))
			} else {
				emit(at, pid, fmt.Sprintf("[%d] %s", chunk, r[:n]))
			}
			r = r[n:]
		}
	}
}

// parts cuts the lines of records after 600 bytes, as container runtimes do after 16 KiB, but never inside a character: JSON could not hold it.
func parts(records []string, emit func(at time.Time, text string, whole bool)) {
	for _, r := range records {
		at, _ := stampOf(r)
		for _, line := range strings.Split(strings.TrimSuffix(r, "\n"), "\n") {
			for len(line) > 600 {
				n := 600
				for line[n]&0xc0 == 0x80 {
					n--
				}
				emit(at, line[:n], false)
				line = line[n:]
			}
			emit(at, line, true)
		}
	}
}

// shipped is the beginning of the shipped log of real traffic.
func shipped(t testing.TB, name string, size int) []byte {
	t.Helper()
	f, err := os.Open("../../fixtures/traffic/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rd, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	log, err := io.ReadAll(io.LimitReader(rd, int64(size)))
	if err != nil {
		t.Fatal(err)
	}
	return log[:bytes.LastIndexByte(log, '\n')+1]
}

// trafficSize is how much of it is wrapped.
const trafficSize = 1 << 20

// sampleLogs have statements of several lines, plans, errors and verbose records.
var sampleLogs = []string{"15.X.log", "17.A.log", "17.C.log", "17.D.log"}

// unhosted takes the hosts of envelopes out of a dump's session keys.
func unhosted(dump string) string { return strings.ReplaceAll(dump, "session=db1/", "session=") }

// TestWrapped wraps real traffic in each envelope: the events are exactly those of the plain log, for any number of workers and size of chunks.
func TestWrapped(t *testing.T) {
	var log []byte
	for _, name := range sampleLogs {
		more, err := os.ReadFile("testdata/samples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, more...)
	}
	log = append(log, shipped(t, "atelier.log.zst", trafficSize)...)
	records := recordsOf(t, samplePrefix, log)
	want, counts, err := exactly(t, Config{Prefix: samplePrefix}, Input{Name: "x", Reader: bytes.NewReader(log)})
	if err != nil || counts.Executions < 1000 {
		t.Fatalf("%d executions, %v", counts.Executions, err)
	}
	for _, wrap := range wraps {
		t.Run(wrap.name, func(t *testing.T) {
			var w strings.Builder
			wrap.make(&w, records)
			for _, cfg := range []Config{{Prefix: samplePrefix, Workers: 1, ChunkSize: 100_000}, {Workers: 3}} {
				cfg.Now = wrappedNow
				got, c, err := exactly(t, cfg, Input{Name: "x", Reader: strings.NewReader(w.String())})
				if err != nil {
					t.Fatal(err)
				}
				if got = unhosted(got); got != want {
					t.Fatalf("%s\n%s", firstDifference(want, got), dumpCounts(c))
				}
				if c.Records != counts.Records || c.Bytes != int64(w.Len()) || c.Unread != 0 || c.RecordBytes+c.Dropped[DropForeign].Bytes+c.Dropped[DropEnvelope].Bytes != c.Bytes {
					t.Errorf("%d bytes of %d, %s", w.Len(), c.Bytes, diff.Diff("plain", []byte(dumpCounts(counts)), "wrapped", []byte(dumpCounts(c))))
				}
				if c.Notes[NoteLostRecords]+c.Notes[NoteLostChunks]+c.Notes[NotePidless] != 0 {
					t.Errorf("notes %v", c.Notes)
				}
			}
		})
	}
}

// A wrapped log that is followed gives the same events however its growth is cut into parts, and through saved states.
func TestFollowWrapped(t *testing.T) {
	log, err := os.ReadFile("testdata/samples/17.X.log")
	if err != nil {
		t.Fatal(err)
	}
	records := recordsOf(t, samplePrefix, append(log, shipped(t, "atelier.log.zst", 400<<10)...))
	for _, wrap := range wraps {
		var w strings.Builder
		wrap.make(&w, records)
		data := []byte(w.String())
		want := followWrapped(t, wrap.format, data, len(data), false)
		if strings.Count(want, "\n") < 100 {
			t.Fatalf("%s: hardly an event:\n%s", wrap.name, want)
		}
		for _, step := range []int{70_001, 130_003} {
			for _, restart := range []bool{false, true} {
				if got := followWrapped(t, wrap.format, data, step, restart); got != want {
					t.Fatalf("%s in steps of %d, restarted %t: %s", wrap.name, step, restart, firstDifference(want, got))
				}
			}
		}
	}
}

func followWrapped(t *testing.T, format Format, data []byte, step int, restart bool) string {
	t.Helper()
	cfg := Config{HashKey: testKey, Prefix: samplePrefix, ChunkSize: 64 << 10}
	r, err := Follow(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var offset, read int64
	for end := 0; end < len(data); {
		end = min(end+step, len(data))
		if restart {
			if cfg.State, err = r.State(); err != nil {
				t.Fatal(err)
			}
			read += r.Counts().Bytes
			if r, err = Follow(cfg); err != nil {
				t.Fatal(err)
			}
		}
		part := Part{Name: "x", Content: bytes.NewReader(data[:end]), Offset: offset, Whole: end == len(data), Written: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}
		if err := r.Next(part); errors.Is(err, ErrUnrecognised) && end < 4*step {
			continue // too short
		} else if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context(), func(batch Batch) error {
			for i := range batch.Events {
				exactEvent(&b, &batch.Events[i])
			}
			return nil
		}); err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
		offset = r.Positions()[0].Offset
		if c := r.Counts(); read+c.Bytes+c.Unread != int64(end) { // some of it beyond the offset
			t.Fatalf("%d bytes read before, %d now and %d unread are not the %d there are", read, c.Bytes, c.Unread, end)
		}
		checkSums(t, r.Counts())
	}
	if read += r.Counts().Bytes; offset != int64(len(data)) || read != offset || r.Format() != format {
		t.Fatalf("%d bytes of %d consumed, %d counted, format %q", offset, len(data), read, r.Format())
	}
	return b.String()
}
