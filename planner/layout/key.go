package layout

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// KeyClass is a family of key types that share one hash.
type KeyClass uint8

// The key classes. NoKey is a type that cannot be a shard key.
const (
	NoKey KeyClass = iota
	IntKey
	TextKey
	UUIDKey
	BytesKey
)

// String names the class by its widest type.
func (k KeyClass) String() string {
	switch k {
	case IntKey:
		return "int8"
	case TextKey:
		return "text"
	case UUIDKey:
		return "uuid"
	case BytesKey:
		return "bytea"
	}
	return "none"
}

// ClassOf returns the key class of a canonical type name (int2, int4, int8, text, varchar, uuid, bytea). bool, date, timestamp and timestamptz
// have a hash here but no class: a bool has two values, and how the others are written depends on DateStyle and TimeZone.
func ClassOf(typ string) KeyClass {
	switch typ {
	case "int2", "int4", "int8":
		return IntKey
	case "text", "varchar":
		return TextKey
	case "uuid":
		return UUIDKey
	case "bytea":
		return BytesKey
	}
	return NoKey
}

// The reasons why a text is no value of a type. PostgreSQL rejects the statement for the same reason.
var (
	ErrSyntax = errors.New("invalid input syntax")
	ErrRange  = errors.New("value out of range")
	ErrType   = errors.New("type cannot be a shard key")
)

// Key is a value of a key class in canonical form.
type Key struct {
	Class KeyClass
	Int   int64    // IntKey
	Text  string   // TextKey; BytesKey: the bytes themselves
	UUID  [16]byte // UUIDKey
}

// Parse reads the text form of a value as the input function of the canonical type does. The error is ErrSyntax, ErrRange or ErrType; it
// does not hold the value.
func Parse(typ, s string) (Key, error) {
	switch ClassOf(typ) {
	case IntKey:
		v, err := ParseInt8(s)
		if err != nil {
			return Key{}, err
		}
		if typ == "int4" && int64(int32(v)) != v || typ == "int2" && int64(int16(v)) != v {
			return Key{}, ErrRange
		}
		return Key{Class: IntKey, Int: v}, nil
	case UUIDKey:
		u, err := ParseUUID(s)
		if err != nil {
			return Key{}, err
		}
		return Key{Class: UUIDKey, UUID: u}, nil
	case TextKey:
		if strings.IndexByte(s, 0) >= 0 {
			return Key{}, ErrSyntax
		}
		return Key{Class: TextKey, Text: s}, nil
	case BytesKey:
		b, err := ParseBytes(s)
		if err != nil {
			return Key{}, err
		}
		return Key{Class: BytesKey, Text: string(b)}, nil
	}
	return Key{}, fmt.Errorf("%w: %q", ErrType, typ)
}

// Hash returns PostgreSQL's hash of the value.
func (k Key) Hash() uint32 {
	switch k.Class {
	case IntKey:
		return HashInt8(k.Int)
	case UUIDKey:
		return HashUUID(k.UUID)
	}
	return HashString(k.Text)
}

// Slot returns the hash slot of the value.
func (k Key) Slot() uint16 { return Slot(k.Hash()) }

// String returns the value's text as PostgreSQL would output it; of bytea in hexadecimal, whatever bytea_output is.
func (k Key) String() string {
	switch k.Class {
	case IntKey:
		return strconv.FormatInt(k.Int, 10)
	case UUIDKey:
		return FormatUUID(k.UUID)
	case BytesKey:
		return `\x` + hex.EncodeToString([]byte(k.Text))
	}
	return k.Text
}

func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// ParseInt8 reads a bigint as PostgreSQL 16 and later do: blanks around, a sign, decimal or 0x, 0o, 0b digits, single underscores between
// digits (also right after the base prefix). Older servers reject the last two, so a value that they accept means the same here.
func ParseInt8(s string) (int64, error) {
	for len(s) > 0 && blank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && blank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	base, prefixed := uint64(10), false
	if len(s) >= 2 && s[0] == '0' {
		switch s[1] | 0x20 {
		case 'x':
			base, prefixed = 16, true
		case 'o':
			base, prefixed = 8, true
		case 'b':
			base, prefixed = 2, true
		}
	}
	if prefixed {
		s = s[2:]
	}
	limit := uint64(math.MaxInt64)
	if neg {
		limit++
	}
	v, err := digits(s, base, limit, prefixed)
	if err != nil {
		return 0, err
	}
	if neg {
		return -int64(v), nil // the smallest bigint negates to itself
	}
	return int64(v), nil
}

// digits reads all of s as a number. An underscore must stand before a digit, and after one or the base prefix.
func digits(s string, base, limit uint64, prefixed bool) (v uint64, err error) {
	before, digit := prefixed, false
	for i := 0; i < len(s); i++ {
		if s[i] == '_' && before {
			before, digit = false, false
			continue
		}
		d := digitValue(s[i])
		if d >= base {
			return 0, ErrSyntax
		}
		if v > (limit-d)/base {
			return 0, ErrRange
		}
		v = v*base + d
		before, digit = true, true
	}
	if !digit {
		return 0, ErrSyntax
	}
	return v, nil
}

func digitValue(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return uint64(c|0x20-'a') + 10
	}
	return 255
}

// ParseUUID reads a uuid as PostgreSQL does: 32 hexadecimal digits of either case, a hyphen optional after each group of four, braces
// optional around the whole. Blanks are not trimmed.
func ParseUUID(s string) (u [16]byte, err error) {
	if len(s) > 0 && s[0] == '{' {
		if s[len(s)-1] != '}' {
			return u, ErrSyntax
		}
		s = s[1 : len(s)-1]
	}
	for i := 0; i < 16; i++ {
		if len(s) < 2 {
			return u, ErrSyntax
		}
		hi, lo := digitValue(s[0]), digitValue(s[1])
		if hi > 15 || lo > 15 {
			return u, ErrSyntax
		}
		u[i] = byte(hi<<4 | lo)
		s = s[2:]
		if i%2 == 1 && i < 15 && len(s) > 0 && s[0] == '-' {
			s = s[1:]
		}
	}
	if s != "" {
		return u, ErrSyntax
	}
	return u, nil
}

// FormatUUID writes a uuid as PostgreSQL does.
func FormatUUID(u [16]byte) string {
	const hexDigits = "0123456789abcdef"
	var out [36]byte
	j := 0
	for i, b := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			out[j] = '-'
			j++
		}
		out[j], out[j+1] = hexDigits[b>>4], hexDigits[b&15]
		j += 2
	}
	return string(out[:])
}
