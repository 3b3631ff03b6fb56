package facts

import "fmt"

// decoder reads the CBOR that Encode writes: maps with integer keys in order of the fields, arrays, texts, integers and booleans, all of
// definite length. One function per type is generated from the types (decode_query.go, decode_expr.go), because reading a stored template by
// reflection took as long as judging it. Whatever else is in the bytes is an error.
type decoder struct {
	s     string // texts of the facts share it
	i     int
	depth int
	bad   string // the first error, "" none
	badAt int
}

// The major types of CBOR (RFC 8949, section 3.1) that occur.
const (
	majorUint   = 0
	majorNegint = 1
	majorText   = 3
	majorArray  = 4
	majorMap    = 5
	majorSimple = 7
)

// Simple values.
const (
	simpleFalse = 0xf4
	simpleTrue  = 0xf5
	simpleNull  = 0xf6
)

// fail keeps the first error and ends the input, so that everything after it reads as empty.
func (d *decoder) fail(what string) {
	if d.bad == "" {
		d.bad, d.badAt = what, d.i
	}
	d.i = len(d.s)
}

func (d *decoder) err() error {
	if d.bad == "" && d.i != len(d.s) {
		d.fail("bytes after the end")
	}
	if d.bad == "" {
		return nil
	}
	return fmt.Errorf("%s at byte %d", d.bad, d.badAt)
}

// head reads the type and the argument that every item begins with.
func (d *decoder) head() (major byte, n uint64) {
	if d.i >= len(d.s) {
		d.fail("it is cut")
		return majorSimple, 0
	}
	b := d.s[d.i]
	d.i++
	low := b & 31
	if low < 24 {
		return b >> 5, uint64(low)
	}
	if low > 27 {
		d.fail("an unknown length")
		return majorSimple, 0
	}
	size := 1 << (low - 24)
	if d.i+size > len(d.s) {
		d.fail("it is cut")
		return majorSimple, 0
	}
	for _, c := range []byte(d.s[d.i : d.i+size]) {
		n = n<<8 | uint64(c)
	}
	d.i += size
	return b >> 5, n
}

// null takes a null, if there is one.
func (d *decoder) null() bool {
	if d.i < len(d.s) && d.s[d.i] == simpleNull {
		d.i++
		return true
	}
	return false
}

// open begins a map; ok is false if there is none, which is a null or an error.
func (d *decoder) open() (fields int, ok bool) {
	return d.begin(majorMap)
}

func (d *decoder) begin(want byte) (n int, ok bool) {
	if d.null() {
		return 0, false
	}
	major, v := d.head()
	if major != want || v > uint64(len(d.s)-d.i) { // an item is at least a byte
		d.fail("another type than its field has")
		return 0, false
	}
	if d.depth++; d.depth > maxNested {
		d.fail("too deep nesting")
		return 0, false
	}
	return int(v), true
}

// key is that of a field; 0 is none.
func (d *decoder) key() uint64 {
	major, n := d.head()
	if major != majorUint {
		d.fail("a field without a number")
		return 0
	}
	return n
}

func (d *decoder) int() int {
	switch major, n := d.head(); {
	case n > 1<<62:
		d.fail("a number too large")
	case major == majorUint:
		return int(n)
	case major == majorNegint:
		return -1 - int(n)
	default:
		d.fail("another type than its field has")
	}
	return 0
}

func (d *decoder) byte() byte {
	n := d.int()
	if n < 0 || n > 255 {
		d.fail("a number too large")
	}
	return byte(n)
}

func (d *decoder) flag() bool {
	if d.i < len(d.s) {
		switch d.i++; d.s[d.i-1] {
		case simpleTrue:
			return true
		case simpleFalse:
			return false
		}
	}
	d.fail("another type than its field has")
	return false
}

func (d *decoder) text() string {
	major, n := d.head()
	if major != majorText || n > uint64(len(d.s)-d.i) {
		d.fail("another type than its field has")
		return ""
	}
	d.i += int(n)
	return d.s[d.i-int(n) : d.i]
}

// list reads an array; null is nil.
func list[T any](d *decoder, one func(*decoder) T) []T {
	n, ok := d.begin(majorArray)
	if !ok {
		return nil
	}
	out := make([]T, 0, min(n, 1024)) // a damaged length takes no memory
	for ; n > 0 && d.bad == ""; n-- {
		out = append(out, one(d))
	}
	d.depth--
	return out
}

// value reads a struct that is no pointer.
func value[T any](one func(*decoder) *T) func(*decoder) T {
	return func(d *decoder) T {
		if x := one(d); x != nil {
			return *x
		}
		var zero T
		return zero
	}
}
