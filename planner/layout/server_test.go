package layout_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/foreshard/foreshard/fixtures/pgserver"
	"github.com/foreshard/foreshard/planner/layout"
)

const shards = 1000 // no power of two, so that shards have different sizes

// server is a connection to a real PostgreSQL and what it counted.
type server struct {
	t        *testing.T
	ctx      context.Context
	conn     *pgx.Conn
	compared int
}

// shardSQL is the package comment's expression.
func shardSQL(hash string) string {
	return fmt.Sprintf("((((%s::bigint & 4294967295) # 2147483648) >> 16) * %d) / 65536", hash, shards)
}

// TestServer compares hashes, shards and text forms with a real server's.
func TestServer(t *testing.T) {
	for _, major := range []int{pgserver.Oldest, pgserver.Newest} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			ctx := t.Context()
			srv := pgserver.New(t, pgserver.Options{Major: major})
			conn, err := pgx.Connect(ctx, srv.DSN("postgres"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			s := &server{t: t, ctx: ctx, conn: conn}
			s.integers()
			s.texts()
			s.uuids()
			s.bytes()
			s.others()
			if s.compared < 1_000_000 {
				t.Errorf("%d values compared, want a million and more", s.compared)
			}
			t.Logf("%d values compared with PostgreSQL %d", s.compared, major)
			if major >= 16 { // integers with underscores and bases
				s.inputs()
			}
		})
	}
}

// compare sends values to the server, and compares its hash and shard of each with those given.
func (s *server) compare(name, typ, hashSQL string, values []any, hash func(i int) uint32) {
	s.t.Helper()
	table := "values of " + name // not the name alone: a table is a type as well
	if _, err := s.conn.Exec(s.ctx, fmt.Sprintf("CREATE TEMP TABLE %s (i int, v %s)", pgx.Identifier{table}.Sanitize(), typ)); err != nil {
		s.t.Fatal(err)
	}
	n, err := s.conn.CopyFrom(s.ctx, pgx.Identifier{table}, []string{"i", "v"}, pgx.CopyFromSlice(len(values), func(i int) ([]any, error) {
		return []any{int32(i), values[i]}, nil
	}))
	if err != nil || int(n) != len(values) {
		s.t.Fatalf("%s: copied %d of %d: %v", name, n, len(values), err)
	}
	s.rows(name, fmt.Sprintf("SELECT i, %s, %s FROM %s", hashSQL, shardSQL(hashSQL), pgx.Identifier{table}.Sanitize()), func(i int) (uint32, string) { return hash(i), fmt.Sprintf("%q", values[i]) }, len(values))
}

// rows compares rows of (number, hash, shard).
func (s *server) rows(name, query string, want func(i int) (uint32, string), n int) {
	s.t.Helper()
	rows, err := s.conn.Query(s.ctx, query)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	defer rows.Close()
	seen, wrong := 0, 0
	var i int
	var hash, shard int64
	for rows.Next() && wrong < 5 {
		if err := rows.Scan(&i, &hash, &shard); err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
		h, text := want(i)
		if h != uint32(hash) || layout.Shard(layout.Slot(h), shards) != int(shard) {
			wrong++
			s.t.Errorf("%s: %s hashes to %d on shard %d, the server says %d on shard %d", name, text, int32(h), layout.Shard(layout.Slot(h), shards), int32(hash), shard)
		}
		seen++
	}
	if err := rows.Err(); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	if wrong == 0 && seen != n {
		s.t.Errorf("%s: %d values came back, want %d", name, seen, n)
	}
	s.compared += seen
}

// integers: made on the server, where a value is a function of its number, and edges and random ones that are sent.
func (s *server) integers() {
	const n = 300_000
	s.rows("int8 in a row", fmt.Sprintf("SELECT i, hashint8(i - %d), %s FROM generate_series(0, %d) i", n/2, shardSQL(fmt.Sprintf("hashint8(i - %d)", n/2)), n-1),
		func(i int) (uint32, string) { return layout.HashInt8(int64(i) - n/2), fmt.Sprint(i - n/2) }, n)
	mul := func(i int) int64 { return int64(i) * 30_744_573_456_182 } // up to the largest int8
	s.rows("int8 over the range", fmt.Sprintf("SELECT i, hashint8(i * 30744573456182), %s FROM generate_series(-%d::bigint, %d::bigint) i", shardSQL("hashint8(i * 30744573456182)"), n/2, n/2),
		func(i int) (uint32, string) { return layout.HashInt8(mul(i)), fmt.Sprint(mul(i)) }, n+1)
	s.rows("int2", fmt.Sprintf("SELECT i, hashint2(i::int2), %s FROM generate_series(-32768, 32767) i", shardSQL("hashint2(i::int2)")),
		func(i int) (uint32, string) { return layout.HashInt8(int64(i)), fmt.Sprint(i) }, 65536)
	mul4 := func(i int) int64 { return int64(i) * 7158 }
	s.rows("int4", fmt.Sprintf("SELECT i, hashint4(i * 7158), %s FROM generate_series(-%d, %d) i", shardSQL("hashint4(i * 7158)"), n/2, n/2),
		func(i int) (uint32, string) { return layout.HashInt8(mul4(i)), fmt.Sprint(mul4(i)) }, n+1)

	rnd := rand.New(rand.NewPCG(1, 1))
	var values []any
	for bit := range 64 {
		for d := int64(-2); d <= 2; d++ {
			values = append(values, int64(1)<<bit+d, -(int64(1)<<bit)+d)
		}
	}
	values = append(values, int64(math.MaxInt64), int64(math.MinInt64))
	for range 50_000 {
		values = append(values, int64(rnd.Uint64()))
	}
	s.compare("int8", "bigint", "hashint8(v)", values, func(i int) uint32 { return layout.HashInt8(values[i].(int64)) })
}

// texts: every length from 0 to 300 in bytes, ASCII and characters of up to four bytes.
func (s *server) texts() {
	rnd := rand.New(rand.NewPCG(1, 2))
	alphabets := []string{"abcdefghijklmnopqrstuvwxyz", "aAzZ09 _-.@", "äöüßéñ", "日本語漢字", "😀🎉👩‍🚀", "aé日😀\t\n'\"\\\x01\u007f\u0080\u07ff\u0800\uffff\U0010ffff"}
	var values []any
	add := func(size int, alphabet []rune) {
		var b strings.Builder
		for b.Len() < size {
			r := alphabet[rnd.IntN(len(alphabet))]
			if b.Len()+utf8.RuneLen(r) > size {
				r = 'x'
			}
			b.WriteRune(r)
		}
		values = append(values, b.String())
	}
	for size := range 301 {
		for range 20 {
			for _, a := range alphabets {
				add(size, []rune(a))
			}
		}
	}
	for range 40_000 {
		add(rnd.IntN(40), []rune(alphabets[rnd.IntN(len(alphabets))]))
	}
	values = append(values, strings.Repeat("x", 100_000), strings.Repeat("日", 5000), "\ufeff", "e\u0301", "\u00e9")
	hash := func(i int) uint32 { return layout.HashString(values[i].(string)) }
	s.compare("text", `text COLLATE "C"`, "hashtext(v)", values, hash)
	s.compare("varchar", "varchar", "hashtext(v)", values[len(values)-20_000:], func(i int) uint32 { return layout.HashString(values[len(values)-20_000+i].(string)) })
}

func (s *server) uuids() {
	rnd := rand.New(rand.NewPCG(1, 3))
	values := []any{pgtype.UUID{Valid: true}, pgtype.UUID{Bytes: [16]byte(slices.Repeat([]byte{255}, 16)), Valid: true}}
	for range 60_000 {
		u := pgtype.UUID{Valid: true}
		for i := range u.Bytes {
			u.Bytes[i] = byte(rnd.Uint32())
		}
		values = append(values, u)
	}
	s.compare("uuid", "uuid", "uuid_hash(v)", values, func(i int) uint32 { return layout.HashUUID(values[i].(pgtype.UUID).Bytes) })
}

// typeHash is the hash that PostgreSQL itself uses for a type, which no function of SQL gives for every type: hash_array starts with 1 and
// adds each element's hash to 31 times what it has.
const typeHash = "((hash_array(ARRAY[v])::bigint - 31) & 4294967295)"

func (s *server) bytes() {
	rnd := rand.New(rand.NewPCG(1, 4))
	var values []any
	for i := range 30_000 {
		b := make([]byte, i%301)
		for j := range b {
			b[j] = byte(rnd.Uint32())
		}
		values = append(values, b)
	}
	s.compare("bytea", "bytea", typeHash, values, func(i int) uint32 { return layout.HashBytes(values[i].([]byte)) })
}

// others are the types that have a hash but cannot be a key.
func (s *server) others() {
	s.compare("bool", "boolean", typeHash, []any{false, true}, func(i int) uint32 { return layout.HashBool(i == 1) })

	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	rnd := rand.New(rand.NewPCG(1, 5))
	dates, days := []any{pgtype.Date{InfinityModifier: pgtype.Infinity, Valid: true}, pgtype.Date{InfinityModifier: pgtype.NegativeInfinity, Valid: true}}, []int32{math.MaxInt32, math.MinInt32}
	for i := range 30_000 {
		d := int32(i - 15_000)
		if i%2 == 0 {
			d = rnd.Int32N(3_000_000) - 700_000 // the years 83 to 8297
		}
		dates, days = append(dates, pgtype.Date{Time: epoch.AddDate(0, 0, int(d)), Valid: true}), append(days, d)
	}
	s.compare("date", "date", typeHash, dates, func(i int) uint32 { return layout.HashDate(days[i]) })

	stamps, zoned := []any{pgtype.Timestamp{InfinityModifier: pgtype.Infinity, Valid: true}, pgtype.Timestamp{InfinityModifier: pgtype.NegativeInfinity, Valid: true}}, []any{pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}, pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}}
	micros := []int64{math.MaxInt64, math.MinInt64}
	for i := range 30_000 {
		m := int64(i-15_000) * 1_000_003
		if i%2 == 0 {
			m = rnd.Int64N(190_000_000_000_000_000) - 60_000_000_000_000_000
		}
		at := time.UnixMicro(epoch.UnixMicro() + m).UTC()
		stamps, zoned, micros = append(stamps, pgtype.Timestamp{Time: at, Valid: true}), append(zoned, pgtype.Timestamptz{Time: at, Valid: true}), append(micros, m)
	}
	s.compare("timestamp", "timestamp", typeHash, stamps, func(i int) uint32 { return layout.HashTimestamp(micros[i]) })
	s.compare("timestamptz", "timestamptz", typeHash, zoned, func(i int) uint32 { return layout.HashTimestamp(micros[i]) })
}

// inputs compares Parse with the server's input functions: what they accept, and what the value then is.
func (s *server) inputs() {
	if _, err := s.conn.Exec(s.ctx, `CREATE FUNCTION pg_temp.try(t text, typ text) RETURNS text LANGUAGE plpgsql AS $$
		DECLARE r text; BEGIN EXECUTE 'SELECT $1::' || typ || '::text' INTO r USING t; RETURN r; EXCEPTION WHEN OTHERS THEN RETURN NULL; END $$`); err != nil {
		s.t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 6))
	seeds := map[string][]string{
		"int8":  {"0", "-9223372036854775808", "9223372036854775807", "0x7fffffffffffffff", "1_000", "0b101", "0o17", " +5 ", "\t\v-0"},
		"int4":  {"2147483647", "-2147483648", "0x7f_ff", "-0"},
		"int2":  {"32767", "-32768", "0b1111", "00032768"},
		"uuid":  {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{a0eebc999c0b4ef8bb6d6bb9bd380a11}", "A0EE-BC99-9C0B-4EF8-BB6D-6BB9-BD38-0A11"},
		"bytea": {`\x`, `\xDEADbeef`, `\x de ad`, `\001\\a`, `abc\377`, `日`, `\X00`},
		"text":  {"", "a", "日本", `\`},
	}
	const mutants = 4000
	for _, typ := range slices.Sorted(maps.Keys(seeds)) {
		var texts []string
		for i := range mutants {
			t := seeds[typ][i%len(seeds[typ])]
			if i >= len(seeds[typ]) {
				t = mutate(rnd, t)
			}
			texts = append(texts, t)
		}
		rows, err := s.conn.Query(s.ctx, "SELECT t, pg_temp.try(t, $2) FROM unnest($1::text[]) t", texts, typ)
		if err != nil {
			s.t.Fatal(err)
		}
		accepted, refused := 0, 0
		var text string
		var said *string
		_, err = pgx.ForEachRow(rows, []any{&text, &said}, func() error {
			key, err := layout.Parse(typ, text)
			switch {
			case said == nil:
				refused++
				if err == nil {
					s.t.Errorf("%s: %q is taken for %s, the server refuses it", typ, text, key)
				}
			case err != nil:
				s.t.Errorf("%s: %q is refused (%v), the server takes it for %s", typ, text, err, *said)
			default:
				accepted++
				if key.String() != *said {
					s.t.Errorf("%s: %q is taken for %s, the server takes it for %s", typ, text, key, *said)
				}
			}
			return nil
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if accepted < mutants/20 || typ != "text" && refused < mutants/20 {
			s.t.Errorf("%s: %d accepted, %d refused; the test sees too little", typ, accepted, refused)
		}
	}
}

// mutate changes, drops, doubles or inserts a few characters.
func mutate(rnd *rand.Rand, t string) string {
	const letters = "0019afAFxX_ob-+{} \t\n\v\r\\\\37'g."
	b := []rune(t)
	for range 1 + rnd.IntN(2) {
		c := rune(letters[rnd.IntN(len(letters))])
		if len(b) == 0 {
			b = append(b, c)
			continue
		}
		switch i := rnd.IntN(len(b)); rnd.IntN(4) {
		case 0:
			b[i] = c
		case 1:
			b = slices.Delete(b, i, i+1)
		case 2:
			b = slices.Insert(b, i, b[i])
		default:
			b = slices.Insert(b, i, c)
		}
	}
	return string(b)
}
