package layout

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFigures checks hashes, slots and shards against a table made by an independent implementation.
func TestFigures(t *testing.T) {
	f, err := os.Open("testdata/hashes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := map[string]int{}
	for in := bufio.NewScanner(f); in.Scan(); {
		if strings.HasPrefix(in.Text(), "#") {
			continue
		}
		col := strings.Split(in.Text(), "\t")
		var value string
		if err := json.Unmarshal([]byte(col[1]), &value); err != nil {
			t.Fatalf("%s: %v", in.Text(), err)
		}
		key, err := Parse(col[0], value)
		if err != nil {
			t.Fatalf("parse %s: %v", in.Text(), err)
		}
		if key.String() != value {
			t.Errorf("%s %q: canonical text %q", col[0], value, key)
		}
		slot := key.Slot()
		got := []int{int(int32(key.Hash())), int(slot), Shard(slot, 8), Shard(slot, 16), Shard(slot, 1000)}
		for i, want := range col[2:] {
			if strconv.Itoa(got[i]) != want {
				t.Errorf("%s %q: figure %d is %d, want %s", col[0], value, i, got[i], want)
			}
		}
		n[col[0]]++
	}
	if n["int8"] < 100 || n["text"] < 50 || n["uuid"] < 50 {
		t.Errorf("too few figures: %v", n)
	}
}

func TestParseInt8(t *testing.T) {
	cases := []struct {
		in   string
		want int64
		err  error
	}{
		{in: "5", want: 5}, {in: " 5 ", want: 5}, {in: "\t\n\v\f\r+5", want: 5}, {in: "-5", want: -5}, {in: "-0", want: 0},
		{in: "007", want: 7}, {in: "0x1F", want: 31}, {in: "0X1f", want: 31}, {in: "-0x10", want: -16}, {in: "0o17", want: 15}, {in: "0b101", want: 5},
		{in: "1_000", want: 1000}, {in: "0x_ff", want: 255}, {in: "0x1_0", want: 16},
		{in: "9223372036854775807", want: 1<<63 - 1}, {in: "-9223372036854775808", want: -1 << 63},
		{in: "0x7fffffffffffffff", want: 1<<63 - 1}, {in: "-0x8000000000000000", want: -1 << 63},
		{in: "9223372036854775808", err: ErrRange}, {in: "-9223372036854775809", err: ErrRange}, {in: "0x8000000000000000", err: ErrRange},
		{in: "99999999999999999999999", err: ErrRange},
		{in: "", err: ErrSyntax}, {in: " ", err: ErrSyntax}, {in: "-", err: ErrSyntax}, {in: "+-5", err: ErrSyntax}, {in: "- 5", err: ErrSyntax},
		{in: "5.0", err: ErrSyntax}, {in: "1e3", err: ErrSyntax}, {in: "5 6", err: ErrSyntax}, {in: "_1", err: ErrSyntax}, {in: "1_", err: ErrSyntax},
		{in: "1__0", err: ErrSyntax}, {in: "0x", err: ErrSyntax}, {in: "0x_", err: ErrSyntax}, {in: "0xg", err: ErrSyntax}, {in: "0b2", err: ErrSyntax},
		{in: "a", err: ErrSyntax}, {in: "5\u00a0", err: ErrSyntax}, {in: "５", err: ErrSyntax},
	}
	for _, c := range cases {
		got, err := ParseInt8(c.in)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("ParseInt8(%q) = %d, %v; want %d, %v", c.in, got, err, c.want, c.err)
		}
	}
}

func TestParseUUID(t *testing.T) {
	const canonical = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
	for _, in := range []string{
		canonical, "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11",
		"a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
	} {
		u, err := ParseUUID(in)
		if err != nil || FormatUUID(u) != canonical {
			t.Errorf("ParseUUID(%q) = %s, %v", in, FormatUUID(u), err)
		}
	}
	for _, in := range []string{
		"", "{", "{}", " " + canonical, canonical + " ", "{" + canonical, canonical + "}", canonical[:35], canonical + "0", "-" + canonical,
		canonical + "-", "a0eebc9-99c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11", "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
	} {
		if u, err := ParseUUID(in); !errors.Is(err, ErrSyntax) {
			t.Errorf("ParseUUID(%q) = %s, %v; want a syntax error", in, FormatUUID(u), err)
		}
	}
}

func TestParseByType(t *testing.T) {
	cases := []struct {
		typ, in, want string
		err           error
	}{
		{"int8", "2147483648", "2147483648", nil}, {"int4", "2147483648", "", ErrRange}, {"int4", "-2147483648", "-2147483648", nil},
		{"int2", "32767", "32767", nil}, {"int2", "32768", "", ErrRange}, {"text", " a ", " a ", nil}, {"varchar", "", "", nil},
		{"text", "a\x00", "", ErrSyntax}, {"numeric", "5", "", ErrType}, {"bpchar", "a", "", ErrType}, {"", "", "", ErrType},
	}
	for _, c := range cases {
		got, err := Parse(c.typ, c.in)
		if !errors.Is(err, c.err) || err == nil && got.String() != c.want {
			t.Errorf("Parse(%s, %q) = %v, %v; want %q, %v", c.typ, c.in, got, err, c.want, c.err)
		}
	}
}

// Every shard owns an unbroken range of slots, the ranges cover all slots, and their sizes differ by at most one.
func TestShardRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.IntRange(1, MaxShards).Draw(t, "shards")
		shard := rapid.IntRange(0, shards-1).Draw(t, "shard")
		first, last := Range(shard, shards)
		if Shard(first, shards) != shard || Shard(last, shards) != shard {
			t.Fatalf("slots %d..%d of shard %d of %d map to %d and %d", first, last, shard, shards, Shard(first, shards), Shard(last, shards))
		}
		if first > 0 && Shard(first-1, shards) != shard-1 || last < Slots-1 && Shard(last+1, shards) != shard+1 {
			t.Fatalf("slots %d..%d are not all of shard %d of %d", first, last, shard, shards)
		}
		if size := int(last) - int(first) + 1; size < Slots/shards || size > Slots/shards+1 {
			t.Fatalf("shard %d of %d has %d slots", shard, shards, size)
		}
	})
}

// Canonical text reads back as the same value, and the hash of a string and of its bytes is one.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v")
		if k, err := Parse("int8", strconv.FormatInt(v, 10)); err != nil || k.Int != v {
			t.Fatalf("%d: %v, %v", v, k, err)
		}
		var u [16]byte
		copy(u[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "u"))
		if k, err := Parse("uuid", "{"+strings.ToUpper(FormatUUID(u))+"}"); err != nil || k.UUID != u {
			t.Fatalf("%x: %v, %v", u, k, err)
		}
		s := rapid.String().Draw(t, "s")
		if HashString(s) != HashBytes([]byte(s)) {
			t.Fatalf("%q: two hashes", s)
		}
	})
}

func TestNoAllocation(t *testing.T) {
	s, b := strings.Repeat("k", 40), []byte(strings.Repeat("k", 40))
	sum := 0
	n := testing.AllocsPerRun(100, func() {
		sum += Shard(Slot(HashString(s)), 8) + Shard(Slot(HashBytes(b)), 8) + Shard(Slot(HashInt8(int64(sum))), 8) + Shard(Slot(HashUUID([16]byte(b))), 8)
	})
	if n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}

func BenchmarkHashInt8(b *testing.B) {
	for i := range b.N {
		HashInt8(int64(i))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"5", " -0x_1f ", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", "1__0", "", "ü", `\x 0a0B`, `a\\\001`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, typ := range []string{"int2", "int4", "int8", "uuid", "text", "bytea"} {
			k, err := Parse(typ, s)
			if err != nil {
				continue
			}
			if again, err := Parse(typ, k.String()); err != nil || again != k {
				t.Errorf("%s %q: canonical %q reads as %v, %v", typ, s, k, again, err)
			}
		}
	})
}
