package pgwal

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/capture"
)

// text makes messages of pgoutput.
type text []byte

func (b text) u8(v uint8) text     { return append(b, v) }
func (b text) u16(v uint16) text   { return binary.BigEndian.AppendUint16(b, v) }
func (b text) u32(v uint32) text   { return binary.BigEndian.AppendUint32(b, v) }
func (b text) u64(v uint64) text   { return binary.BigEndian.AppendUint64(b, v) }
func (b text) str(s string) text   { return append(append(b, s...), 0) }
func (b text) value(s string) text { return append(b.u8('t').u32(uint32(len(s))), s...) }

// messages are a stream with every kind of message, of a table with two key columns and a text.
func messages() [][]byte {
	relation := func(b text) text {
		return b.u32(1).str("public").str("t").u8('d').u16(3).u8(1).str("id").u32(20).u32(math.MaxUint32).u8(0).str("org").u32(20).u32(math.MaxUint32).u8(0).str("v").u32(25).u32(math.MaxUint32)
	}
	row := func(b text, id, org string) text { return b.u16(3).value(id).value(org).u8('n') }
	begin := text("B").u64(100).u64(0).u32(7)
	commit := text("C").u8(0).u64(100).u64(110).u64(0)
	return [][]byte{
		begin, relation(text("R")), row(text("I").u32(1).u8('N'), "1", "2"), row(row(text("U").u32(1).u8('K'), "1", "2").u8('N'), "3", "2"), row(text("U").u32(1).u8('N'), "3", "4"),
		text("D").u32(1).u8('K').u16(3).value("3").u8('n').u8('n'), text("T").u32(1).u8(0).u32(1), text("Y").u32(5).str("public").str("d"), text("O").u64(1).str("o"),
		text("M").u8(0).u64(1).str("p").u32(1).u8('x'), commit,
		text("S").u32(9).u8(1), relation(text("R").u32(9)), row(text("I").u32(9).u32(1).u8('N'), "5", "6"), row(text("I").u32(10).u32(1).u8('N'), "7", "8"), text("E"),
		text("A").u32(9).u32(10), text("S").u32(9).u8(0), row(text("U").u32(9).u32(1).u8('N'), "5", "7"), text("T").u32(9).u32(1).u8(0).u32(1), text("E"), text("c").u32(9).u8(0).u64(200).u64(210).u64(0),
	}
}

// decoding feeds messages to a decoder, each with its length before it in one string.
func decoding(t *testing.T, dir string, stream []byte) (events []capture.Event, counts Counts, err error) {
	counts = newCounts()
	st := &store{dir: dir, maxMemory: 2000, maxDisk: 10_000, counts: &counts}
	known := &tables{byOID: map[uint32]*table{1: {oid: 1, schema: "public", name: "t", root: "public.t", columns: []string{"id", "org", "v"}, keys: []string{"id", "org"}}}}
	d := &decoder{hash: newHasher([16]byte{1}), database: "db", store: st, counts: &counts, tables: known, reread: func() (*tables, error) { return known, nil },
		relations: map[uint32]*relation{}, streams: map[uint32]*transaction{}, emit: func(e []capture.Event) error { events = append(events, e...); return nil }}
	for len(stream) >= 2 {
		n := min(int(binary.BigEndian.Uint16(stream)), len(stream)-2)
		if err = d.message(stream[2 : 2+n]); err != nil {
			break
		}
		stream = stream[2+n:]
	}
	if cerr := d.close(); cerr != nil {
		t.Fatal(cerr)
	}
	return events, counts, err
}

func joined(list [][]byte) (out []byte) {
	for _, m := range list {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(m))), m...)
	}
	return out
}

// The stream by hand is what it says, so that the fuzzer starts from something that is read to its end.
func TestMessages(t *testing.T) {
	events, counts, err := decoding(t, t.TempDir(), joined(messages()))
	if err != nil || len(events) != 2 || counts.Records != int64(len(messages())) || len(counts.Dropped) > 0 {
		t.Fatalf("%d events, %+v, %v", len(events), counts, err)
	}
	ops := func(e capture.Event) (out string) {
		for _, w := range e.Written.Tables {
			out += w.Op.String() + " "
			for _, c := range w.Columns {
				if c.Moved > 0 {
					out += "moved "
				}
				if c.Blind > 0 {
					out += "blind "
				}
			}
		}
		return out
	}
	if got := ops(events[0]) + "| " + ops(events[1]); got != "insert update moved blind delete truncate | insert update blind truncate " {
		t.Errorf("%s", got)
	}
	if n := events[1].Written.Tables[0].Rows; n != 1 {
		t.Errorf("%d rows are inserted, one was rolled back", n)
	}
}

// A row that is cut makes its transaction unknown, and is counted; a message that begins or ends something ends the session.
func TestUnreadable(t *testing.T) {
	all := messages()
	for i, m := range all {
		cut := append(append([][]byte{}, all[:i]...), m[:len(m)-1])
		events, counts, err := decoding(t, t.TempDir(), joined(append(cut, all[i+1:]...)))
		row := strings.ContainsRune("IUDT", rune(m[0]))
		switch {
		case row:
			if err != nil || counts.Dropped[DropUnreadable] != 1 || counts.DroppedBytes[DropUnreadable] != int64(len(m)-1) || len(events) < 2 {
				t.Errorf("message %d (%c): %d events, %+v, %v", i, m[0], len(events), counts, err)
			}
			unknown := int64(0)
			for _, e := range events {
				for _, w := range e.Written.Tables {
					if w.Table == "" {
						unknown += w.Rows
					}
				}
			}
			if unknown != 1 {
				t.Errorf("message %d (%c): %d rows are unknown", i, m[0], unknown)
			}
		case strings.ContainsRune("EYOM", rune(m[0])): // E has no content; the others say nothing that is used
		case !errors.Is(err, errProtocol):
			t.Errorf("message %d (%c): %v", i, m[0], err)
		}
	}
}

// FuzzMessages: whatever is read, nothing panics, no message makes it allocate what is not there, and the sums hold.
func FuzzMessages(f *testing.F) {
	f.Add(joined(messages()))
	f.Add(joined(messages()[:11]))
	f.Add(joined([][]byte{messages()[0], text("T").u32(1 << 31).u8(0), text("I").u32(1).u8('N').u16(65535).u8('t').u32(math.MaxUint32)}))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, stream []byte) {
		events, counts, _ := decoding(t, dir, stream)
		sum, dropped := int64(0), int64(0)
		for _, n := range counts.Buckets {
			sum += n
		}
		for _, n := range counts.DroppedBytes {
			dropped += n
		}
		if sum != counts.Records || dropped > counts.Bytes || counts.Bytes > int64(len(stream)) {
			t.Fatalf("%+v of %d bytes", counts, len(stream))
		}
		for _, e := range events {
			for _, w := range e.Written.Tables {
				for _, c := range w.Columns {
					if e.Written.Part == 0 && (c.Null < 0 || c.Unknown < 0 || c.Null+c.Unknown > w.Rows) {
						t.Fatalf("%+v", w)
					}
				}
			}
		}
	})
}
