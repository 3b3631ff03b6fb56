package pglog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Compression is seen by content, whatever the name; members and frames may follow one another.
func TestCompressed(t *testing.T) {
	data, err := os.ReadFile("testdata/samples/17.C.csv")
	if err != nil {
		t.Fatal(err)
	}
	half := bytes.LastIndexByte(data[:len(data)/2], '\n') + 1
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	frames := enc.EncodeAll(data[half:], enc.EncodeAll(data[:half], nil))
	want, _, err := run(t, Config{}, Input{Name: "x", Reader: bytes.NewReader(data)})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"gzip": gzipped(t, data), "members": append(gzipped(t, data[:half]), gzipped(t, data[half:])...), "zstd": frames,
	} {
		path := filepath.Join(t.TempDir(), "postgresql.log")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, in := range []Input{{Path: path}, {Name: "-", Reader: bytes.NewReader(content)}} {
			got, _, err := run(t, Config{}, in)
			if err != nil || got != want {
				t.Errorf("%s: %v, %s", name, err, firstDifference(want, got))
			}
		}
	}
}

// A compressed file that ends early keeps what was whole, and says so.
func TestTruncatedGzip(t *testing.T) {
	whole := gzipped(t, generated(CSV, 20_000))
	path := filepath.Join(t.TempDir(), "a.csv.gz")
	if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(filepath.Dir(path), "b.csv")
	data, err := os.ReadFile("testdata/samples/17.A.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(next, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, counts, err := run(t, Config{ChunkSize: 64 << 10}, Input{Path: path}, Input{Path: next})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "what was whole before is kept") {
		t.Errorf("error is %v", err)
	}
	if counts.Executions < 5000 || counts.Executions > 15_000 || counts.Unread == 0 {
		t.Errorf("%d executions, %d unread bytes", counts.Executions, counts.Unread)
	}
	if !counts.Last.After(counts.First.AddDate(0, 1, 0)) {
		t.Error("the file after it was not read")
	}
}

func TestBadInputs(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"missing", Input{Path: "testdata/no-such.log"}, "open log: open testdata/no-such.log"},
		{"gzip header", Input{Name: "x.gz", Reader: strings.NewReader("\x1f\x8b\x08")}, `read log "x.gz": decompress gzip`},
		{"bzip2", Input{Name: "x.bz2", Reader: strings.NewReader("BZh91AY")}, "bzip2, xz and lz4 are not read"},
		{"empty", Input{Name: "x", Reader: strings.NewReader("")}, "are empty"},
		{"binary", Input{Name: "x", Reader: strings.NewReader("\x7fELF\x01\x02\x00\x00\x00\x00\x01")}, "it is binary"},
	} {
		_, _, err := run(t, Config{}, c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, not about %q", c.name, err, c.want)
		}
	}
	data := generated(CSV, 100)
	_, _, err := run(t, Config{}, Input{Name: "a.csv", Reader: bytes.NewReader(data)}, Input{Name: "a.csv.gz", Reader: bytes.NewReader(gzipped(t, data))})
	if err == nil || !strings.Contains(err.Error(), `"a.csv" and "a.csv.gz" start with the same bytes`) {
		t.Errorf("the same log twice: error is %v", err)
	}
	if _, err := Open(context.Background(), nil, Config{}); err == nil {
		t.Error("no input is no error")
	}
}

// A failure of the callback stops the run and comes back as it is; a cancelled context does too.
func TestStops(t *testing.T) {
	data := generated(CSV, 50_000)
	boom := errors.New("boom")
	r, err := Open(context.Background(), []Input{{Name: "x", Reader: bytes.NewReader(data)}}, Config{ChunkSize: 64 << 10, Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(context.Background(), func(Batch) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err = Open(ctx, []Input{{Name: "x", Reader: bytes.NewReader(data)}}, Config{ChunkSize: 64 << 10, Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx, func(Batch) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// A large generated log gives the same for any number of workers, in each format.
func TestGeneratedDeterministic(t *testing.T) {
	for _, format := range []Format{Stderr, CSV, JSON} {
		data := generated(format, 20_000)
		want, counts, err := run(t, Config{Workers: 1, ChunkSize: 100_000}, Input{Name: "x", Reader: bytes.NewReader(data)})
		if err != nil || counts.Executions != 20_000 || counts.Records != 20_000 {
			t.Fatalf("%s: %v, %s", format, err, dumpCounts(counts))
		}
		got, counts2, err := run(t, Config{Workers: 7, ChunkSize: 33_000}, Input{Name: "x", Reader: bytes.NewReader(data)})
		if err != nil || got != want || dumpCounts(counts) != dumpCounts(counts2) {
			t.Errorf("%s: %v, %s", format, err, firstDifference(want, got))
		}
	}
}
