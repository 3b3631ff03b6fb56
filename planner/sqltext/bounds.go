package sqltext

import "unsafe"

// MaxBytes is the longest statement that may go to the C parser, in bytes.
const MaxBytes = 1 << 20

// MaxDepth is the deepest parse tree that may go to the C parser, by the scanner's estimate: an operator adds one, a parenthesis two, a chain of
// AND and OR nothing, because PostgreSQL's grammar flattens it. Measured with pg_query 6.2.5: on a thread stack of 8 MiB no shape crashes at
// 16,000 levels and some do at 32,000; on 1 MiB subqueries in parentheses crash at 1,000, which this bound holds to 250.
const MaxDepth = 500

// CheckBounds says whether text, one statement or several, may be given to the C parser.
func CheckBounds(text string) Bound {
	if len(text) > MaxBytes {
		return TooLong
	}
	s := Scanner{}
	// the scanner does not write to its source
	s.Reset(unsafe.Slice(unsafe.StringData(text), len(text)))
	for s.Next() {
		if b := s.Statement().Bound; b != WithinBounds {
			return b
		}
	}
	return WithinBounds
}
