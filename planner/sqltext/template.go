package sqltext

// Kind is the lexical kind of a value that was taken out of a statement. It is part of the template, because PostgreSQL types a
// constant by its kind: 5 is int4, 5000000000 is int8, 5.0 is numeric and '5' takes the type of its context.
type Kind uint8

// The kinds of a value. BigInt is an integer constant outside int4 and inside int8; an integer outside int8 is Numeric, as in PostgreSQL.
const (
	Bind    Kind = iota + 1 // $n written by the client
	Int                     // 5
	BigInt                  // 5000000000
	Numeric                 // 5.0, 1e3, 9223372036854775808
	String                  // 'x', E'x', U&'x', $$x$$
	Bits                    // B'1', X'f'
)

// Slot describes $i of a template's text, in order of appearance: Slots[0] is $1.
type Slot struct {
	Kind Kind
	// Bind numbers the values of a statement: two slots with one number hold one value. Every parameter has one, by first use, and a list of them one
	// of its own; literals have one only where two are equal and compared with columns of one name.
	Bind int
	List bool // the slot stands for two or more elements of an IN list, an ARRAY[] or rows of VALUES that were folded into one
}

// ID names a template: the first 16 bytes of SHA-256 over its text and its slot kinds. It is stable over machines and releases.
type ID [16]byte

// Bound says why a statement may not be given to the C parser.
type Bound uint8

// The bounds. A statement past one of them has a template and a ledger bucket of its own, and the verdict unknown.
const (
	WithinBounds Bound = iota
	TooLong            // text longer than MaxBytes
	TooDeep            // nesting or operator chains deeper than MaxDepth
	Unlexable          // an unterminated string, comment or identifier, a NUL byte: no token border can be trusted
)

// Template is a statement with its values taken out: valid SQL that pg_query parses, and that holds no literal of the client.
type Template struct {
	ID    ID
	Text  string // canonical text: one blank between tokens where needed, unquoted words in lower case, no comments, values as $1..$n ('$n' where only a string may stand)
	Slots []Slot
	Bound Bound
}
