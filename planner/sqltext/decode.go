package sqltext

import (
	"bytes"
	"math/big"
	"unicode/utf16"
	"unicode/utf8"
)

// integer gives the kind and the decimal text of an integer constant, as PostgreSQL types it: int4, else int8, else numeric.
func (s *Scanner) integer(digits []byte, signed bool) (Kind, []byte) {
	var v uint64
	if len(digits) > 18 || len(digits) > 1 && digits[0] == '0' || bytes.IndexByte(digits, '_') >= 0 {
		return s.bigInteger(digits, signed)
	}
	for _, b := range digits {
		v = v*10 + uint64(b-'0')
	}
	if v < 1<<31 || signed && v == 1<<31 {
		return Int, digits
	}
	return BigInt, digits
}

func (s *Scanner) bigInteger(digits []byte, signed bool) (Kind, []byte) {
	n, ok := new(big.Int), false
	if plain := bytes.ReplaceAll(digits, []byte("_"), nil); len(plain) > 1 && plain[0] == '0' && radix(plain[1]) != 0 {
		n, ok = n.SetString(string(plain[2:]), radix(plain[1]))
	} else {
		n, ok = n.SetString(string(plain), 10)
	}
	if !ok {
		return Numeric, digits
	}
	if signed {
		n.Neg(n)
	}
	k := Numeric
	if n.IsInt64() {
		k = BigInt
		if v := n.Int64(); v == int64(int32(v)) {
			k = Int
		}
	}
	return k, n.Abs(n).Append(s.scratch[:0], 10)
}

// appendString adds the decoded content of a string or quoted-name literal, prefix and quotes included in lit; esc is the escape character of a
// U& literal. It is false for an escape that PostgreSQL refuses.
func appendString(dst []byte, k kind, lit []byte, esc byte) ([]byte, bool) {
	quote := byte('\'')
	if k == kQuoted || k == kUQuoted {
		quote = '"'
	}
	i := bytes.IndexByte(lit, quote) + 1
	d := decoder{dst: dst, lit: lit, high: -1}
	for i < len(lit) {
		b := lit[i]
		var ok bool
		switch {
		case b == quote:
			next, again := i+1, true
			if next < len(lit) && lit[next] == quote {
				d.put(quote)
				next++
			} else if next, again = continued(lit, next); !again {
				return d.dst, d.high < 0
			}
			i = next
			continue
		case b == '\\' && k == kEString:
			i, ok = d.backslash(i + 1)
		case b == esc && (k == kUString || k == kUQuoted):
			i, ok = d.unicode(i+1, esc)
		default:
			i, ok = i+1, d.put(b)
		}
		if !ok {
			return d.dst, false
		}
	}
	return d.dst, false
}

type decoder struct {
	dst, lit []byte
	high     rune // first half of a surrogate pair, or -1
}

func (d *decoder) put(b byte) bool {
	d.dst = append(d.dst, b)
	return d.high < 0
}

// rune adds a code point; a surrogate waits for its second half.
func (d *decoder) rune(r rune) bool {
	switch {
	case d.high >= 0:
		r = utf16.DecodeRune(d.high, r)
		d.high = -1
		if r == utf8.RuneError {
			return false
		}
	case r >= 0xD800 && r < 0xDC00:
		d.high = r
		return true
	}
	if r == 0 || !utf8.ValidRune(r) {
		return false
	}
	d.dst = utf8.AppendRune(d.dst, r)
	return true
}

// hex reads exactly n hexadecimal digits at i.
func (d *decoder) hex(i, n int) (rune, bool) {
	if i+n > len(d.lit) {
		return 0, false
	}
	var r rune
	for _, b := range d.lit[i : i+n] {
		if !digitOf(b, 16) {
			return 0, false
		}
		r = r<<4 | rune(nibble(b))
	}
	return r, r >= 0
}

func nibble(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b | 0x20 - 'a' + 10
}

// backslash decodes the escape after the backslash of an E” string.
func (d *decoder) backslash(i int) (int, bool) {
	if i >= len(d.lit) {
		return i, false
	}
	b := d.lit[i]
	switch b {
	case 'b':
		b = '\b'
	case 'f':
		b = '\f'
	case 'n':
		b = '\n'
	case 'r':
		b = '\r'
	case 't':
		b = '\t'
	case 'v':
		b = '\v'
	case 'u', 'U':
		n := 4
		if b == 'U' {
			n = 8
		}
		r, ok := d.hex(i+1, n)
		return i + 1 + n, ok && d.rune(r)
	case 'x':
		n := 0
		for n < 2 && i+1+n < len(d.lit) && digitOf(d.lit[i+1+n], 16) {
			n++
		}
		if n > 0 {
			r, _ := d.hex(i+1, n)
			return i + 1 + n, r != 0 && d.put(byte(r))
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n, v := 0, 0
		for n < 3 && i+n < len(d.lit) && digitOf(d.lit[i+n], 8) {
			v = v<<3 | int(d.lit[i+n]-'0')
			n++
		}
		return i + n, byte(v) != 0 && d.put(byte(v))
	}
	return i + 1, d.put(b)
}

// unicode decodes the escape after the escape character of a U& literal.
func (d *decoder) unicode(i int, esc byte) (int, bool) {
	if i < len(d.lit) && d.lit[i] == esc {
		return i + 1, d.put(esc)
	}
	n := 4
	if i < len(d.lit) && d.lit[i] == '+' {
		i++
		n = 6
	}
	r, ok := d.hex(i, n)
	return i + n, ok && d.rune(r)
}

// escapeChar gives the character that UESCAPE names; PostgreSQL allows any but a hexadecimal digit, plus, quote and white space.
func escapeChar(lit []byte) (byte, bool) {
	if len(lit) != 3 || lit[0] != '\'' {
		return 0, false
	}
	b := lit[1]
	return b, !digitOf(b, 16) && b != '+' && b != '\'' && b != '"' && classes[b]&cSpace == 0
}
