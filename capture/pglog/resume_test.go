package pglog

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// A log that grows is read in parts: wherever the first run stops, both runs together give the events of one.
func TestResume(t *testing.T) {
	for _, name := range []string{"17.A.log", "17.C.log", "17.C.csv", "17.B.json", "17.X.log", "15.X.csv", "17.A.csv"} {
		data, err := os.ReadFile("testdata/samples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		format := map[string]Format{"log": Stderr, "csv": CSV, "json": JSON}[name[strings.LastIndexByte(name, '.')+1:]]
		want, _, err := run(t, Config{Format: format}, Input{Name: "x", Reader: bytes.NewReader(data)})
		if err != nil {
			t.Fatal(err)
		}
		for cut := 1; cut < len(data); cut += 211 {
			got, ok := inParts(t, format, data, cut)
			if ok && got != want {
				t.Fatalf("%s cut at %d: %s", name, cut, firstDifference(want, got))
			}
		}
	}
}

func inParts(t *testing.T, format Format, data []byte, cut int) (string, bool) {
	t.Helper()
	var b strings.Builder
	part := func(data []byte, cfg Config) ([]Position, []byte, bool) {
		cfg.HashKey, cfg.Format, cfg.Prefix = testKey, format, ""
		if format == Stderr {
			cfg.Prefix = samplePrefix
		}
		r, err := Open(context.Background(), []Input{{Name: "x", Reader: bytes.NewReader(data)}}, cfg)
		if err != nil {
			return nil, nil, false // too short for the prefix to show
		}
		defer r.Close()
		err = r.Run(context.Background(), func(batch Batch) error {
			for i := range batch.Events {
				dumpEvent(&b, &batch.Events[i])
			}
			return nil
		})
		if err != nil && !strings.Contains(err.Error(), "no statement found") {
			t.Fatal(err)
		}
		checkSums(t, r.Counts())
		state, err := r.State()
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Positions(); cfg.Hold && p[0].Offset+r.Counts().Unread != int64(cut) {
			t.Fatalf("offset %d and %d unread bytes are not the %d there are", p[0].Offset, r.Counts().Unread, cut)
		}
		return r.Positions(), state, true
	}
	pos, state, ok := part(data[:cut], Config{Hold: true})
	if !ok {
		return "", false
	}
	_, _, ok = part(data, Config{Known: pos, State: state})
	return b.String(), ok
}

// A file that was read whole gives nothing a second time, under any name.
func TestKnownFileAgain(t *testing.T) {
	data, err := os.ReadFile("testdata/samples/17.A.csv")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r, err := Open(ctx, []Input{{Name: "a", Reader: bytes.NewReader(data)}}, Config{HashKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx, func(Batch) error { return nil }); err != nil {
		t.Fatal(err)
	}
	dump, counts, err := run(t, Config{Known: r.Positions()}, Input{Name: "b", Reader: bytes.NewReader(data)})
	if err != nil || dump != "" || counts.Bytes != 0 || counts.Skipped != int64(len(data)) {
		t.Errorf("read again: %d bytes, %d skipped, %v, %s", counts.Bytes, counts.Skipped, err, dump)
	}
}

// A file that is shorter than what was read of it was cut in place: nothing of it may be guessed.
func TestShorterThanKnown(t *testing.T) {
	data, err := os.ReadFile("testdata/samples/17.A.csv")
	if err != nil {
		t.Fatal(err)
	}
	pos := Position{Identity: identity(testKey, data, 4096), Offset: int64(len(data)) + 1}
	_, _, err = run(t, Config{Known: []Position{pos}}, Input{Name: "x.csv", Reader: bytes.NewReader(data)})
	if err == nil || !strings.Contains(err.Error(), `"x.csv"`) || !strings.Contains(err.Error(), "cut in place") {
		t.Errorf("error is %v", err)
	}
}
