package pgwal

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pglogrepl"
)

// errMessage says that a message is not what the protocol says it is. Its text holds nothing of the message.
var errMessage = errors.New("message does not decode")

// parse decodes one message of pgoutput. pglogrepl trusts lengths and counts: it allocates what a message says and reads past its end, so those
// that can be large are checked first, and the rest is caught.
func parse(data []byte, inStream bool) (m pglogrepl.Message, err error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("%w: it is empty", errMessage)
	}
	if !bounded(data, inStream) {
		return nil, fmt.Errorf("%w: type %q, it is cut", errMessage, data[0])
	}
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("%w: type %q: %v", errMessage, data[0], r)
		}
	}()
	m, err = pglogrepl.ParseV2(data, inStream)
	if err != nil {
		return nil, fmt.Errorf("%w: type %q", errMessage, data[0]) // an error of the library may hold parts of a tuple
	}
	return m, nil
}

// bounded says whether the lengths in a message lie within it: those of tuples and of the list of truncated tables, which are allocated before they
// are looked at.
func bounded(data []byte, inStream bool) bool {
	b := data[1:]
	switch pglogrepl.MessageType(data[0]) {
	case pglogrepl.MessageTypeInsert, pglogrepl.MessageTypeUpdate, pglogrepl.MessageTypeDelete, pglogrepl.MessageTypeTruncate:
	default:
		return true
	}
	if inStream {
		if len(b) < 4 {
			return false
		}
		b = b[4:]
	}
	if len(b) < 5 {
		return false
	}
	if pglogrepl.MessageType(data[0]) == pglogrepl.MessageTypeTruncate {
		return uint64(len(b)-5) >= 4*uint64(binary.BigEndian.Uint32(b))
	}
	b = b[4:] // relation
	old := b[0] == 'K' || b[0] == 'O'
	b, ok := tuple(b[1:])
	if ok && old && pglogrepl.MessageType(data[0]) == pglogrepl.MessageTypeUpdate {
		if len(b) == 0 || b[0] != 'N' {
			return false
		}
		_, ok = tuple(b[1:])
	}
	return ok
}

// tuple skips one tuple.
func tuple(b []byte) (rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, false
	}
	n := binary.BigEndian.Uint16(b)
	b = b[2:]
	for range n {
		if len(b) == 0 {
			return nil, false
		}
		kind := b[0]
		b = b[1:]
		switch kind {
		case pglogrepl.TupleDataTypeNull, pglogrepl.TupleDataTypeToast:
			continue
		case pglogrepl.TupleDataTypeText, pglogrepl.TupleDataTypeBinary:
		default:
			return nil, false
		}
		if len(b) < 4 || uint64(len(b)-4) < uint64(binary.BigEndian.Uint32(b)) {
			return nil, false
		}
		b = b[4+binary.BigEndian.Uint32(b):]
	}
	return b, true
}
