package stream

import (
	"fmt"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// The encodings that the layout of records was chosen from. What they share: templates once per record, zstd.

// asCBOR is every event as it is, templates by number.
type asCBOR struct {
	Templates []string
	Events    []capture.Event
	Numbers   []int
}

func encodeCBOR(events []capture.Event, z *zstd.Encoder) ([]byte, error) {
	var out asCBOR
	index := map[sqltext.ID]int{}
	for _, e := range events {
		n := -1
		if t := e.Template; t != nil {
			i, ok := index[t.ID]
			if !ok {
				i = len(out.Templates)
				index[t.ID] = i
				out.Templates = append(out.Templates, sqltext.EncodeSlots(t.Slots)+t.Text)
			}
			n = i
		}
		e.Template = nil
		out.Events, out.Numbers = append(out.Events, e), append(out.Numbers, n)
	}
	b, err := cbor.Marshal(&out)
	return z.EncodeAll(b, nil), err
}

// encodeRows is the layout's own fields, event after event instead of column after column.
func encodeRows(events []capture.Event, z *zstd.Encoder) ([]byte, error) {
	var all encoder
	var body []byte
	for i := range events {
		all.add(&events[i])
		for c := range all.cols {
			body = append(body, all.cols[c]...)
			all.cols[c] = all.cols[c][:0]
		}
	}
	for i := range all.dicts {
		body = append(body, all.dicts[i].data...)
	}
	return z.EncodeAll(body, nil), nil
}

func encodeColumns(events []capture.Event, z *zstd.Encoder) ([]byte, error) {
	var e encoder
	for i := range events {
		e.add(&events[i])
	}
	return e.seal(z, &Batch{Agent: "a", Number: 1})
}

// BenchmarkEncodings compares bytes and time per event on the shipped traffic.
func BenchmarkEncodings(b *testing.B) {
	var all []capture.Event
	r, err := pglog.Open(b.Context(), []pglog.Input{{Path: "../../fixtures/traffic/atelier.log.zst"}}, pglog.Config{Prefix: "%m [%p] [user=%u,db=%d,app=%a] "})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	if err := r.Run(b.Context(), func(batch pglog.Batch) error {
		for _, e := range batch.Events {
			e.Values = append([]capture.Value(nil), e.Values...)
			if e.Txn != nil {
				x := *e.Txn
				e.Txn = &x
			}
			all = append(all, e)
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	for _, run := range []int{100, 5000} {
		for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault} {
			z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level))
			if err != nil {
				b.Fatal(err)
			}
			for name, encode := range map[string]func([]capture.Event, *zstd.Encoder) ([]byte, error){"cbor": encodeCBOR, "rows": encodeRows, "columns": encodeColumns} {
				b.Run(fmt.Sprintf("%s/%s/events=%d", name, level, run), func(b *testing.B) {
					size, n := 0, 0
					for b.Loop() {
						for i := 0; i+run <= len(all); i += run {
							v, err := encode(all[i:i+run], z)
							if err != nil {
								b.Fatal(err)
							}
							size, n = size+len(v), n+run
						}
					}
					b.ReportMetric(float64(size)/float64(n), "bytes/event")
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
				})
			}
		}
	}
}

// BenchmarkDecode reads the records of the shipped traffic.
func BenchmarkDecode(b *testing.B) {
	topic := NewMemory("t", 1)
	a, err := OpenAgent(AgentConfig{Name: "a", Dir: b.TempDir()}, topic)
	if err != nil {
		b.Fatal(err)
	}
	r, err := pglog.Open(b.Context(), []pglog.Input{{Path: "../../fixtures/traffic/atelier.log.zst"}}, a.LogConfig(pglog.Config{Prefix: "%m [%p] [user=%u,db=%d,app=%a] "}))
	if err != nil {
		b.Fatal(err)
	}
	events := int64(0)
	if err := r.Run(b.Context(), func(batch pglog.Batch) error { events += int64(len(batch.Events)); return a.Add(batch.Events) }); err != nil {
		b.Fatal(err)
	}
	if err := a.Flush(b.Context(), Checkpoint{}, Ledger{}); err != nil {
		b.Fatal(err)
	}
	if err := a.Drain(b.Context()); err != nil {
		b.Fatal(err)
	}
	d, err := NewDecoder()
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for b.Loop() {
		for _, v := range topic.parts[0] {
			if _, err := d.Decode(v); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*events), "ns/event")
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
}
