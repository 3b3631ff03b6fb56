package layout

// ParseBytes reads a bytea as PostgreSQL does, in its hex form or its escape form.
func ParseBytes(s string) ([]byte, error) {
	if len(s) >= 2 && s[0] == '\\' && s[1] == 'x' {
		return hexBytes(s[2:])
	}
	return escapedBytes(s)
}

// hexBytes reads pairs of digits; blanks may stand between pairs, but not inside one.
func hexBytes(s string) ([]byte, error) {
	out := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); {
		switch s[i] {
		case ' ', '\n', '\t', '\r':
			i++
			continue
		}
		if i+1 == len(s) {
			return nil, ErrSyntax
		}
		hi, lo := digitValue(s[i]), digitValue(s[i+1])
		if hi > 15 || lo > 15 {
			return nil, ErrSyntax
		}
		out = append(out, byte(hi<<4|lo))
		i += 2
	}
	return out, nil
}

// escapedBytes reads bytes as they stand, \\ for a backslash and \ooo for the byte of three octal digits.
func escapedBytes(s string) ([]byte, error) {
	octal := func(i int, most byte) bool { return i < len(s) && s[i] >= '0' && s[i] <= most }
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		switch {
		case s[i] == 0:
			return nil, ErrSyntax // no text of PostgreSQL holds it
		case s[i] != '\\':
			out = append(out, s[i])
			i++
		case octal(i+1, '3') && octal(i+2, '7') && octal(i+3, '7'):
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 4
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i += 2
		default:
			return nil, ErrSyntax
		}
	}
	return out, nil
}
