package pglog

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/capture"
)

var testKey = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// run reads inputs and gives the dump of the events, the ledger and the error. The ledger's sums are checked on the way.
func run(t testing.TB, cfg Config, inputs ...Input) (string, Counts, error) {
	t.Helper()
	return runWith(t, dumpEvent, cfg, inputs...)
}

// exactly is run with everything that events hold.
func exactly(t testing.TB, cfg Config, inputs ...Input) (string, Counts, error) {
	t.Helper()
	return runWith(t, exactEvent, cfg, inputs...)
}

func exactEvent(b *strings.Builder, e *capture.Event) {
	dumpEvent(b, e)
	fmt.Fprintf(b, "      %d %v", e.Time.UnixNano(), e.Values)
	if e.Opaque != nil {
		fmt.Fprintf(b, " %+v", *e.Opaque)
	}
	b.WriteString("\n")
}

func runWith(t testing.TB, dump func(*strings.Builder, *capture.Event), cfg Config, inputs ...Input) (string, Counts, error) {
	t.Helper()
	if cfg.HashKey == ([16]byte{}) {
		cfg.HashKey = testKey
	}
	r, err := Open(context.Background(), inputs, cfg)
	if err != nil {
		return "", Counts{}, err
	}
	var b strings.Builder
	err = r.Run(context.Background(), func(batch Batch) error {
		for i := range batch.Events {
			dump(&b, &batch.Events[i])
		}
		return nil
	})
	c := r.Counts()
	if cerr := r.Close(); cerr != nil {
		t.Error(cerr)
	}
	checkSums(t, c)
	return b.String(), c, err
}

func checkSums(t testing.TB, c Counts) {
	t.Helper()
	var records, dropped int64
	for _, n := range c.Buckets {
		records += n
	}
	for _, d := range c.Dropped {
		dropped += d.Bytes
	}
	if records != c.Records {
		t.Errorf("buckets hold %d records, %d were read", records, c.Records)
	}
	if c.RecordBytes+dropped != c.Bytes {
		t.Errorf("%d bytes in records + %d dropped is not %d read", c.RecordBytes, dropped, c.Bytes)
	}
	if c.Statements+c.Restored != c.Executions+c.BindOnly+c.Joined+c.Pending {
		t.Errorf("%d statements, but %d executions + %d bind-only + %d joined + %d pending", c.Statements, c.Executions, c.BindOnly, c.Joined, c.Pending)
	}
}

// dumpEvent writes one event. Of values only the presence of hashes is shown.
func dumpEvent(b *strings.Builder, e *capture.Event) {
	kind := map[capture.Kind]string{capture.Execution: "exec", capture.BindOnly: "bind-only", capture.Transaction: "txn"}[e.Kind]
	fmt.Fprintf(b, "%-5s", kind)
	if !e.Time.IsZero() {
		fmt.Fprintf(b, " %s", e.Time.Format("15:04:05.000"))
	}
	fmt.Fprintf(b, " session=%s", e.Session)
	for _, f := range [][2]string{{"user", e.User}, {"db", e.Database}, {"app", e.App}, {"client", e.Client}, {"team", e.Team}, {"endpoint", e.Endpoint}, {"search", e.Search}} {
		if f[1] != "" {
			fmt.Fprintf(b, " %s=%q", f[0], f[1])
		}
	}
	if e.Timed {
		fmt.Fprintf(b, " %v", e.Duration)
	}
	if e.Share > 1 {
		fmt.Fprintf(b, " share=%d", e.Share)
	}
	if e.SQLState != "" {
		fmt.Fprintf(b, " state=%s", e.SQLState)
	}
	if e.Copy {
		b.WriteString(" copy")
	}
	if e.Kind != capture.Transaction {
		fmt.Fprintf(b, " txn=%d", e.TxnID&(1<<20-1))
		if e.Auto {
			b.WriteString(" auto")
		}
	}
	if x := e.Txn; x != nil {
		fmt.Fprintf(b, " txn=%d statements=%d committed=%t partial=%t savepoints=%d serializable=%t", e.TxnID&(1<<20-1), x.Statements, x.Committed, x.Partial, x.Savepoints, x.Serializable)
	}
	if e.Opaque != nil {
		fmt.Fprintf(b, " opaque=%s/%d", e.Opaque.Reason, e.Opaque.Bytes)
	}
	if e.Template != nil {
		fmt.Fprintf(b, "\n      %.200s", e.Template.Text)
		if e.Template.Bound != 0 {
			fmt.Fprintf(b, "\n      bound=%d", e.Template.Bound)
		}
	}
	for _, v := range e.Values {
		fmt.Fprintf(b, "\n      $%d:", v.Slot)
		switch {
		case v.Null:
			b.WriteString(" null")
		case v.Cut:
			b.WriteString(" cut")
		case v.Has == 0:
			b.WriteString(" unknown")
		}
		for i, name := range []string{"int", "text", "uuid"} {
			if v.Has&(1<<i) != 0 {
				fmt.Fprintf(b, " %s", name)
			}
		}
	}
	b.WriteString("\n")
}

func dumpCounts(c Counts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "bytes %d records %d statements %d executions %d errors %d opaque %d bind-only %d joined %d pending %d unread %d\n",
		c.Bytes, c.Records, c.Statements, c.Executions, c.Errors, c.Opaque, c.BindOnly, c.Joined, c.Pending, c.Unread)
	var lines []string
	for k, n := range c.Buckets {
		lines = append(lines, fmt.Sprintf("bucket %s %d", k, n))
	}
	for k, d := range c.Dropped {
		lines = append(lines, fmt.Sprintf("dropped %s %d (%d bytes)", k, d.Count, d.Bytes))
	}
	for k, n := range c.Notes {
		lines = append(lines, fmt.Sprintf("note %s %d", k, n))
	}
	sort.Strings(lines)
	return b.String() + strings.Join(lines, "\n") + "\n"
}
