package pglog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// A log that is followed gives the same events however its growth is cut into parts.
func TestFollow(t *testing.T) {
	for _, name := range []string{"17.A.log", "17.C.log", "17.C.csv", "17.B.json", "17.X.log", "15.X.csv"} {
		data, err := os.ReadFile("testdata/samples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		format := map[string]Format{"log": Stderr, "csv": CSV, "json": JSON}[name[strings.LastIndexByte(name, '.')+1:]]
		want := follow(t, format, data, len(data))
		if strings.Count(want, "\n") < 10 {
			t.Fatalf("%s: the log has hardly an event:\n%s", name, want)
		}
		for _, step := range []int{977, 4096, 13001, 70001} {
			if got := follow(t, format, data, step); got != want {
				t.Fatalf("%s in steps of %d: %s", name, step, firstDifference(want, got))
			}
		}
	}
}

func follow(t *testing.T, format Format, data []byte, step int) string {
	t.Helper()
	cfg := Config{HashKey: testKey, Format: format, ChunkSize: 8 << 10}
	if format == Stderr {
		cfg.Prefix = samplePrefix
	}
	r, err := Follow(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var offset int64
	for end := 0; end < len(data); {
		end = min(end+step, len(data))
		err := r.Next(Part{Name: "x", Content: bytes.NewReader(data[:end]), Offset: offset, Whole: end == len(data)})
		if errors.Is(err, ErrUnrecognised) && end < 4*step {
			continue // too short
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(context.Background(), func(batch Batch) error {
			for i := range batch.Events {
				dumpEvent(&b, &batch.Events[i])
			}
			return nil
		}); err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
		offset = r.Positions()[0].Offset
		if unread := r.Counts().Unread; offset+unread != int64(end) {
			t.Fatalf("offset %d and %d unread bytes are not the %d there are", offset, unread, end)
		}
		checkSums(t, r.Counts())
	}
	if offset != int64(len(data)) || r.Counts().Bytes != offset || r.Format() != format {
		t.Fatalf("%d bytes of %d consumed, %d counted, format %q", offset, len(data), r.Counts().Bytes, r.Format())
	}
	return b.String()
}

// Compressed parts are read through, and SQL is no log that one can follow.
func TestFollowRefuses(t *testing.T) {
	r, err := Follow(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"select 1;\n", "nothing of the kind\n"} {
		if err := r.Next(Part{Name: "x", Content: strings.NewReader(text)}); !errors.Is(err, ErrUnrecognised) {
			t.Errorf("%q: error is %v", text, err)
		}
	}
}
