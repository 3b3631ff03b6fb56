package analysis

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// shipped is a log of the fixtures, unpacked, with its schema and candidate.
func shipped(t testing.TB, log, schema, cand string) ([]byte, *catalog.Catalog, *candidate.Candidate) {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "fixtures", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	d, err := zstd.NewReader(bytes.NewReader(read(log)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(d); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Load(schema, read(schema))
	if err != nil {
		t.Fatal(err)
	}
	c, err := candidate.Load(cand, read(cand), cat)
	if err != nil {
		t.Fatal(err)
	}
	return text.Bytes(), cat, c
}

func pgbenchLog(t testing.TB) ([]byte, *catalog.Catalog, *candidate.Candidate) {
	return shipped(t, "pgbench/pgbench.log.zst", "pgbench/schema.sql", "pgbench/candidate.yaml")
}

func readLog(t testing.TB, dir string, cat *catalog.Catalog, path string, hold bool, o IngestOptions) Ledger {
	t.Helper()
	o.Logs.Hold = hold
	o.Logs.ChunkSize = 64 << 10
	l, err := Ingest(t.Context(), openAt(t, dir), []pglog.Input{{Path: path, Name: "postgresql.log"}}, cat, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func build(t testing.TB, dir string, cat *catalog.Catalog, c ...*candidate.Candidate) *Report {
	t.Helper()
	r, err := BuildReport(t.Context(), openAt(t, dir), cat, c, ReportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pgbench as a server logged it, through the real reader and the real planner.
func TestPgbenchLog(t *testing.T) {
	text, cat, c := pgbenchLog(t)
	path := filepath.Join(t.TempDir(), "postgresql.log")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	readLog(t, dir, cat, path, false, IngestOptions{})
	r := build(t, dir, cat, c).Candidates[0]
	data := r.Calls.Total - r.Calls.ByClass["session"]
	if data != 5000 || r.Calls.ByClass["single_shard"] != data {
		t.Errorf("got classes %v, want all 5000 statements on one shard", r.Calls.ByClass)
	}
	if want := (Transactions{Total: 1000, MultiShardWrite: 1000, Explicit: 1000}); r.Transactions != want {
		t.Errorf("got %+v, want %+v", r.Transactions, want)
	}
}

// A log that grows while it is read, from a few bytes on, gives the report of the whole log, and its source is listed once.
func TestGrowingLogGivesTheSameReport(t *testing.T) {
	text, cat, c := pgbenchLog(t)
	whole := filepath.Join(t.TempDir(), "postgresql.log")
	if err := os.WriteFile(whole, text, 0o644); err != nil {
		t.Fatal(err)
	}
	wholeDir := t.TempDir()
	readLog(t, wholeDir, cat, whole, false, IngestOptions{})
	want := asJSON(t, build(t, wholeDir, cat, c))

	growing, dir := filepath.Join(t.TempDir(), "postgresql.log"), t.TempDir()
	for _, upto := range []int{900, 3000, 100_001, 100_001, 500_123, len(text)} {
		if err := os.WriteFile(growing, text[:upto], 0o644); err != nil {
			t.Fatal(err)
		}
		readLog(t, dir, cat, growing, upto < len(text), IngestOptions{MaxEvents: 500})
	}
	if got := asJSON(t, build(t, dir, cat, c)); got != want {
		t.Errorf("got\n%.3000s\nwant\n%.3000s", got, want)
	}
	before := tree(t, dir)
	if l := readLog(t, dir, cat, growing, false, IngestOptions{}); l.Executions != 0 || l.Bytes != 0 {
		t.Errorf("reading it again adds %+v", l)
	}
	for name := range tree(t, dir) {
		if _, ok := before[name]; !ok {
			t.Errorf("reading it again writes %s", name)
		}
	}
}

func TestWorkersDoNotShowInLogs(t *testing.T) {
	text, cat, c := pgbenchLog(t)
	path := filepath.Join(t.TempDir(), "postgresql.log")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	var trees [2]map[string]string
	for i, workers := range []int{1, 7} {
		dir := t.TempDir()
		readLog(t, dir, cat, path, false, IngestOptions{Workers: workers, Logs: pglog.Config{Workers: workers}, MaxEvents: 1000})
		build(t, dir, cat, c)
		trees[i] = tree(t, dir)
	}
	for name, data := range trees[0] {
		if filepath.Dir(filepath.Dir(name)) != "derived" && trees[1][name] != data {
			t.Errorf("file %s differs between 1 and 7 workers", name)
		}
	}
}

// A changed schema resolves the stored texts again: the column that makes the key is there only in the second.
func TestChangedSchemaResolvesAgain(t *testing.T) {
	text, cat, c := pgbenchLog(t)
	path, dir := filepath.Join(t.TempDir(), "postgresql.log"), t.TempDir()
	if err := os.WriteFile(path, text[:100_000], 0o644); err != nil {
		t.Fatal(err)
	}
	empty, err := catalog.Load("empty.sql", []byte("CREATE TABLE other (id bigint);"))
	if err != nil {
		t.Fatal(err)
	}
	readLog(t, dir, empty, path, false, IngestOptions{})
	r := build(t, dir, cat, c).Candidates[0]
	if r.Calls.ByClass["single_shard"] == 0 || r.Calls.ByClass["unknown"]+r.Calls.ByClass["invalid"] > 0 {
		t.Errorf("got classes %v, want those of the second schema", r.Calls.ByClass)
	}
	if r.Transactions.SingleShard > 0 || r.Transactions.Unknown != r.Transactions.Total {
		t.Errorf("got %+v: values were not compared under the first schema, so nothing is known of the transactions", r.Transactions)
	}
	if len(r.Missing) > 0 {
		t.Errorf("got missing tables %v, want none", r.Missing)
	}
}

// The report says what each source is, and how much of its end is not whole yet; the next run reads that end.
func TestSourceFormatAndUnreadEnd(t *testing.T) {
	text, cat, c := pgbenchLog(t)
	path, dir := filepath.Join(t.TempDir(), "postgresql.log"), t.TempDir()
	end := bytes.LastIndexByte(text[:100_000], '\n') + 1
	cut := end + 30 // in the middle of a record
	if err := os.WriteFile(path, text[:cut], 0o644); err != nil {
		t.Fatal(err)
	}
	readLog(t, dir, cat, path, true, IngestOptions{})
	s := build(t, dir, cat, c).Sources[0]
	if s.Format != "stderr" || s.Incomplete < 30 || s.Bytes+s.Incomplete != int64(cut) {
		t.Errorf("got %+v, want stderr and %d bytes, 30 or more of them incomplete", s, cut)
	}
	before := len(tree(t, dir))
	readLog(t, dir, cat, path, true, IngestOptions{})
	if got := len(tree(t, dir)); got != before {
		t.Errorf("reading an unfinished end again writes files: %d, then %d", before, got)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	readLog(t, dir, cat, path, false, IngestOptions{})
	if s := build(t, dir, cat, c).Sources[0]; s.Incomplete != 0 || s.Bytes != int64(len(text)) {
		t.Errorf("got %+v, want all %d bytes", s, len(text))
	}
}

func TestFormatNames(t *testing.T) {
	for f, want := range map[pglog.Format]string{pglog.Stderr: "stderr", pglog.CSV: "csvlog", pglog.JSON: "jsonlog", pglog.SQL: "sql"} {
		if got := formatName(f); got != want {
			t.Errorf("%q: got %q, want %q", f, got, want)
		}
	}
}
