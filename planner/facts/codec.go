package facts

import (
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// maxNested bounds the nesting of facts that Decode accepts: an expression may be as deep as the templater lets a statement be.
const maxNested = 4096

var encoding = mustMode(cbor.CoreDetEncOptions().EncMode())

// mustMode is called with constant options only; they are right or the package does not load.
func mustMode[M any](m M, err error) M {
	if err != nil {
		panic(err)
	}
	return m
}

// Encode turns a statement's facts into CBOR in core deterministic encoding (RFC 8949): equal facts, equal bytes.
func Encode(s *Statement) []byte {
	b, err := encoding.Marshal(s)
	if err != nil { // facts hold only strings, numbers and each other
		panic(fmt.Sprintf("encode facts: %v", err))
	}
	return b
}

// Decode turns what Encode made back into facts. The reader checks Version first, which is stored beside the bytes.
func Decode(b []byte) (*Statement, error) {
	d := decoder{s: string(b)}
	st := d.statement()
	if err := d.err(); err != nil {
		return nil, fmt.Errorf("decode facts: %w", err)
	}
	if st == nil {
		return nil, errors.New("decode facts: there are none")
	}
	return st, nil
}
