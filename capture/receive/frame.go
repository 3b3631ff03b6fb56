package receive

import (
	"bufio"
	"errors"
	"io"
)

// appendLine adds a message as one line: control characters in it are written as rsyslog writes them, "#" and three octal digits, and line ends
// and NULs at its end are none of it.
func appendLine(out, message []byte) []byte {
	for len(message) > 0 && (message[len(message)-1] == '\n' || message[len(message)-1] == '\r' || message[len(message)-1] == 0) {
		message = message[:len(message)-1]
	}
	for _, c := range message {
		if c < 0x20 && c != '\t' {
			out = append(out, '#', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			continue
		}
		out = append(out, c)
	}
	return append(out, '\n')
}

// frames cuts a connection into messages, as RFC 6587 has it: the first byte of the connection says which of the two ways it is.
type frames struct {
	rd      *bufio.Reader
	max     int
	counted bool
	begun   bool
	message []byte
	drop    func(reason string, bytes int64)
}

var errFraming = errors.New("no byte count where one has to be")

// next returns the next message. At the end, clean or not, the error is that of the connection; a message without its end was dropped then.
func (f *frames) next() ([]byte, error) {
	if !f.begun {
		first, err := f.rd.Peek(1)
		if err != nil {
			return nil, err
		}
		f.begun, f.counted = true, first[0] >= '1' && first[0] <= '9'
	}
	for {
		message, err := f.line()
		if err != nil || message != nil {
			return message, err
		}
	}
}

// line reads one frame; nil if it is empty or was dropped.
func (f *frames) line() ([]byte, error) {
	if cap(f.message) > 64<<10 { // a long message is rare
		f.message = nil
	}
	f.message = f.message[:0]
	if f.counted {
		return f.octets()
	}
	over := int64(0)
	for {
		part, err := f.rd.ReadSlice('\n')
		if n := min(len(part), f.max+1-len(f.message)); n < len(part) {
			over += int64(len(part) - n)
			part = part[:n]
		}
		f.message = append(f.message, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			if n := int64(len(f.message)) + over; n > 0 {
				f.drop(DropCut, n)
			}
			return nil, err
		}
		break
	}
	if over > 0 {
		f.drop(DropOversize, int64(len(f.message))+over)
		return nil, nil
	}
	if len(f.message) == 1 {
		return nil, nil
	}
	return f.message, nil
}

// octets reads a frame that begins with its length.
func (f *frames) octets() ([]byte, error) {
	size, digits := 0, int64(0)
	for {
		c, err := f.rd.ReadByte()
		if err != nil {
			if digits > 0 {
				f.drop(DropCut, digits)
			}
			return nil, err
		}
		digits++
		if c == ' ' && digits > 1 {
			break
		}
		if digits == 1 && (c == '\n' || c == '\r' || c == 0) { // some add a line end that the count leaves out
			return nil, nil
		}
		if c < '0' || c > '9' || digits == 1 && c == '0' || digits > 9 {
			f.drop(DropFraming, digits+int64(f.rd.Buffered()))
			return nil, errFraming
		}
		size = 10*size + int(c-'0')
	}
	if size > f.max {
		n, err := io.CopyN(io.Discard, f.rd, int64(size))
		if err != nil {
			f.drop(DropCut, digits+n)
			return nil, noEOF(err)
		}
		f.drop(DropOversize, digits+n)
		return nil, nil
	}
	if cap(f.message) < size {
		f.message = make([]byte, size)
	}
	f.message = f.message[:size]
	if n, err := io.ReadFull(f.rd, f.message); err != nil {
		f.drop(DropCut, digits+int64(n))
		return nil, noEOF(err)
	}
	return f.message, nil
}

// noEOF is the error of a connection that ended in a message.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
