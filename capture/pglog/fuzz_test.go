package pglog

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// fuzzFormat feeds mutated logs to the whole reader: it may not panic, the sums must hold, and one worker and two must agree.
func fuzzFormat(f *testing.F, format Format, glob string) {
	paths, err := filepath.Glob(glob)
	if err != nil || len(paths) == 0 {
		f.Fatalf("%d seeds, %v", len(paths), err)
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 4096)], uint16(512))
		f.Add(data[len(data)/2:], uint16(300))
	}
	f.Fuzz(func(t *testing.T, data []byte, chunk uint16) {
		cfg := Config{Format: format, ChunkSize: max(64, int(chunk)), MaxRecord: max(128, 2*int(chunk)), HashKey: testKey, Workers: 1, Sessions: 2}
		if format == Stderr {
			cfg.Prefix = samplePrefix
		}
		want, counts, err := run(t, cfg, Input{Name: "x", Reader: bytes.NewReader(data)})
		if counts.Bytes+counts.Unread != int64(len(data)) && counts.Bytes > 0 {
			t.Fatalf("%d bytes read and %d unread of %d, %v", counts.Bytes, counts.Unread, len(data), err)
		}
		cfg.Workers = 2
		got, counts2, err2 := run(t, cfg, Input{Name: "x", Reader: bytes.NewReader(data)})
		if got != want || dumpCounts(counts) != dumpCounts(counts2) || (err == nil) != (err2 == nil) {
			t.Fatalf("two workers: %v %v\n%s", err, err2, firstDifference(want, got))
		}
	})
}

func FuzzStderr(f *testing.F) { fuzzFormat(f, Stderr, "testdata/samples/17.?.log") }
func FuzzCSV(f *testing.F)    { fuzzFormat(f, CSV, "testdata/samples/1[27].?.csv") }
func FuzzJSON(f *testing.F)   { fuzzFormat(f, JSON, "testdata/samples/17.?.json") }
func FuzzSQL(f *testing.F)    { fuzzFormat(f, SQL, "testdata/cases/sql-file.txtar") }

// FuzzSessions feeds logs in two parts through the saved state: the sums must hold in both, and a damaged state may not panic.
func FuzzSessions(f *testing.F) {
	data, err := os.ReadFile("testdata/samples/17.C.csv")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, uint16(3000), uint16(0), byte(0))
	f.Add(data, uint16(9000), uint16(40), byte(1))
	f.Fuzz(func(t *testing.T, data []byte, cut, at uint16, flip byte) {
		n := min(int(cut), len(data))
		ctx := context.Background()
		cfg := Config{Format: CSV, HashKey: testKey, Workers: 1, Hold: true}
		part := func(data []byte) []byte {
			r, err := Open(ctx, []Input{{Name: "x", Reader: bytes.NewReader(data)}}, cfg)
			if err != nil {
				return nil
			}
			_ = r.Run(ctx, func(Batch) error { return nil }) // ErrNothing is fine here
			checkSums(t, r.Counts())
			state, err := r.State()
			if err != nil {
				t.Fatal(err)
			}
			return state
		}
		state := part(data[:n])
		if int(at) < len(state) {
			state[at] ^= flip
		}
		cfg.State, cfg.Hold = state, false
		part(data[n:])
	})
}
