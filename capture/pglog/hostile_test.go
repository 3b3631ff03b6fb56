package pglog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe gives its bytes once, so it is opened once.
func TestNamedPipe(t *testing.T) {
	data, err := os.ReadFile("testdata/samples/17.C.csv")
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := run(t, Config{}, Input{Name: "x", Reader: bytes.NewReader(data)})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"plain": data, "gzip": gzipped(t, data)} {
		path := filepath.Join(t.TempDir(), name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		written := make(chan error, 1)
		go func() { written <- os.WriteFile(path, content, 0) }()
		got, counts, err := run(t, Config{}, Input{Path: path})
		if err != nil || got != want || counts.Bytes != int64(len(data)) {
			t.Errorf("%s: %v, %d bytes, %s", name, err, counts.Bytes, firstDifference(want, got))
		}
		if err := <-written; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A first line that is longer than what is looked at still shows its prefix.
func TestLongFirstLine(t *testing.T) {
	log := "2026-01-02 10:00:00.001 UTC [71] LOG:  duration: 1.250 ms  statement: SELECT '" + strings.Repeat("x", 2*peekBytes) + "'\n" +
		"2026-01-02 10:00:00.002 UTC [71] LOG:  duration: 1.250 ms  statement: SELECT 2\n"
	for _, prefix := range []string{"", "%m [%p] "} {
		_, counts, err := run(t, Config{Prefix: prefix}, Input{Name: "x", Reader: strings.NewReader(log)})
		if err != nil || counts.Executions != 2 {
			t.Errorf("prefix %q: %d executions, %v", prefix, counts.Executions, err)
		}
	}
}

// What names a file may not give its content away: a short file could be guessed from a hash without a key.
func TestIdentityIsKeyed(t *testing.T) {
	log := "ALTER ROLE u PASSWORD 'c4n4ryw0rd';\n"
	sum := sha256.Sum256([]byte(log))
	identities := map[string]bool{}
	for _, key := range [][16]byte{{1}, {2}, {1}} {
		r, err := Open(t.Context(), []Input{{Name: "x.sql", Reader: strings.NewReader(log)}}, Config{HashKey: key, Format: SQL})
		if err != nil {
			t.Fatal(err)
		}
		id := r.Positions()[0].Identity
		if identities[id] = true; strings.Contains(id, hex.EncodeToString(sum[:])) {
			t.Errorf("%s is a plain hash of the content", id)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(identities) != 2 {
		t.Errorf("two keys give %d identities", len(identities))
	}
}
