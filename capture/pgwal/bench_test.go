package pgwal

import (
	"strconv"
	"testing"

	"github.com/foreshard/foreshard/capture"
)

// BenchmarkDecode is transactions of ten inserted rows with two key columns and 200 bytes of text.
func BenchmarkDecode(b *testing.B) {
	counts := newCounts()
	known := &tables{byOID: map[uint32]*table{1: {oid: 1, schema: "public", name: "t", root: "public.t", columns: []string{"id", "org", "v"}, keys: []string{"id", "org"}}}}
	events := 0
	d := &decoder{hash: newHasher([16]byte{1}), database: "db", store: &store{dir: b.TempDir(), maxMemory: 64 << 20, maxDisk: 1 << 30, counts: &counts}, counts: &counts, tables: known,
		reread: func() (*tables, error) { return known, nil }, relations: map[uint32]*relation{}, streams: map[uint32]*transaction{},
		emit: func(e []capture.Event) error { events += len(e); return nil }}
	all := messages()
	take := func(m []byte) {
		if err := d.message(m); err != nil {
			b.Fatal(err)
		}
	}
	for _, m := range all[:2] {
		take(m)
	}
	take(all[10])
	v := string(make([]byte, 200))
	var rows [][]byte
	for i := range 1000 {
		rows = append(rows, text("I").u32(1).u8('N').u16(3).value(strconv.Itoa(i)).value(strconv.Itoa(i%50)).value(v))
	}
	bytes := 0
	n := uint64(1000)
	for b.Loop() {
		n += 10
		take(all[0])
		for i := range 10 {
			m := rows[int(n+uint64(i))%len(rows)]
			bytes += len(m)
			take(m)
		}
		take(text("C").u8(0).u64(n).u64(n).u64(0))
	}
	b.SetBytes(int64(bytes / b.N))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(10*b.N), "ns/row")
}
