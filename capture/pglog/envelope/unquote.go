package envelope

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote reads a JSON string from after its opening quote and unescapes it in place. It reads bytes, not runes: what is not valid UTF-8 stays
// as it is.
func Unquote(b []byte) (s, rest []byte, ok bool) {
	i := 0
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	if i >= len(b) {
		return nil, nil, false
	}
	if b[i] == '"' {
		return b[:i], b[i+1:], true
	}
	if !closes(b[i:]) {
		return nil, nil, false
	}
	w := i
	for i < len(b) {
		switch b[i] {
		case '"':
			return b[:w], b[i+1:], true
		case '\\':
			n, size := escape(b[i:], b[w:w])
			if size == 0 {
				return nil, nil, false
			}
			w += n
			i += size
		default:
			k := bytes.IndexAny(b[i:], "\"\\")
			if k < 0 {
				return nil, nil, false
			}
			copy(b[w:], b[i:i+k])
			w += k
			i += k
		}
	}
	return nil, nil, false
}

// closes says that the string has an end, before anything of it is changed.
func closes(b []byte) bool {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return true
		}
	}
	return false
}

// escape writes the escape at the start of b to out, which is never longer, and reports the bytes written and read.
func escape(b, out []byte) (n, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	c := b[1]
	switch c {
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case '"', '\\', '/':
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			return 0, 0
		}
		size = 6
		if utf16.IsSurrogate(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := hex4(b[8:]); ok {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					r, size = both, 12
				}
			}
		}
		return len(utf8.AppendRune(out, r)), size
	default:
		return 0, 0
	}
	return len(append(out, c)), 2
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		if !isHex(c) {
			return 0, false
		}
		v := rune(c - '0')
		if c > '9' {
			v = rune(c|0x20-'a') + 10
		}
		r = r<<4 | v
	}
	return r, true
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
