package stream

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/foreshard/foreshard/capture"
)

// A count that says more than there is ends with what is there: a few kilobytes of a damaged record do not become gigabytes.
func TestEvidenceIsNotTakenAtItsWord(t *testing.T) {
	const count, size = 1000, 1000
	body := make([]byte, size)
	table := append([]byte{0, 0, 1, 0, 0, 0, 0}, binary.AppendUvarint(nil, count)...) // LSN, part, one table: name, operation, rows, bytes, columns
	column := append([]byte{0, 0, 1, 0, 0, 0, 0, 1, 0, 0}, binary.AppendUvarint(nil, 2*count)...)
	for name, head := range map[string][]byte{
		"tables":  append([]byte{0, 0}, binary.AppendUvarint(nil, count)...),
		"columns": table,
		"slots":   column,
	} {
		var e capture.Event
		if err := readWritten(&reader{b: append(head, body...)}, &e); !errors.Is(err, errCut) || e.Written != nil {
			t.Errorf("%s: %v, %+v", name, err, e.Written)
		}
	}
}
