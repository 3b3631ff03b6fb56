package sqltext

// MaxBytes is the longest statement that may go to the C parser, in bytes.
const MaxBytes = 1 << 20

// MaxDepth is the deepest parse tree that may go to the C parser, by the scanner's estimate.
const MaxDepth = 500

// CheckBounds says whether text may be given to the C parser.
func CheckBounds(text string) Bound {
	if len(text) > MaxBytes {
		return TooLong
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case 0:
			return Unlexable
		case '(', '[':
			if depth++; depth > MaxDepth {
				return TooDeep
			}
		case ')', ']':
			depth--
		}
	}
	return WithinBounds
}
