package pglog

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Real logs that were cut, spliced or damaged: every byte is in the ledger, nothing panics, and the number of workers changes nothing. The
// input's size is that of the ledger and its incomplete end, whatever it is packed in.
func TestDamagedLogs(t *testing.T) {
	paths, err := filepath.Glob("testdata/samples/1[278].?.*")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d samples, %v", len(paths), err)
	}
	logs := map[string][]byte{}
	for _, p := range paths {
		if logs[p], err = os.ReadFile(p); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.SampledFrom(paths).Draw(rt, "log")
		data := damage(rt, logs[path])
		format := map[string]Format{"log": Stderr, "csv": CSV, "json": JSON}[path[strings.LastIndexByte(path, '.')+1:]]
		cfg := Config{Format: format, HashKey: testKey, ChunkSize: rapid.IntRange(500, 20_000).Draw(rt, "chunk")}
		if format == Stderr {
			cfg.Prefix = samplePrefix
		}
		want := ""
		for _, workers := range []int{1, 2, 8} {
			cfg.Workers = workers
			in := data
			if workers == 2 {
				in = gzipped(t, data)
			}
			got, counts, err := run(t, cfg, Input{Name: "x", Reader: bytes.NewReader(in)})
			if counts.Bytes == 0 && err != nil { // the head is too damaged to be recognised
				return
			}
			if counts.Bytes+counts.Unread != int64(len(data)) {
				rt.Fatalf("%d bytes read and %d unread of %d", counts.Bytes, counts.Unread, len(data))
			}
			if got += dumpCounts(counts); workers == 1 {
				want = got
			} else if got != want {
				rt.Fatalf("%d workers: %s", workers, firstDifference(want, got))
			}
		}
	})
}

// damage cuts, repeats, flips and throws away parts.
func damage(rt *rapid.T, log []byte) []byte {
	data := bytes.Clone(log)
	for range rapid.IntRange(1, 5).Draw(rt, "times") {
		if len(data) < 2 {
			break
		}
		at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
		end := min(len(data), at+rapid.IntRange(1, 3000).Draw(rt, "length"))
		switch rapid.IntRange(0, 4).Draw(rt, "kind") {
		case 0:
			data = data[:end]
		case 1:
			data = append(data[:at:at], data[end:]...)
		case 2:
			data = append(data[:end:end], data[at:]...)
		case 3:
			data[at] = rapid.SampledFrom([]byte("\"'\n\t\x00\\,:{ $\xff")).Draw(rt, "byte")
		case 4:
			data = append(data[:at:at], append(make([]byte, end-at), data[at:]...)...)
		}
	}
	return data
}
