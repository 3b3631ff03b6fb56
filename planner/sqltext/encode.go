package sqltext

import (
	"crypto/sha256"
	"fmt"
	"strconv"
)

const kindLetters = "?binfsx" // by Kind

// appendSlots adds the compact form of slots: a letter for the kind, the number of its value where it has one, and * for a list.
func appendSlots(dst []byte, slots []Slot) []byte {
	for i := range slots {
		sl := &slots[i]
		dst = append(dst, kindLetters[sl.Kind])
		if sl.Kind == Bind || sl.Bind > 0 {
			dst = strconv.AppendInt(dst, int64(sl.Bind), 10)
		}
		if sl.List {
			dst = append(dst, '*')
		}
	}
	return dst
}

// EncodeSlots turns slots into a compact string such as "b1is*": b bind, i int, n bigint, f numeric, s string, x bits, * list.
func EncodeSlots(slots []Slot) string { return string(appendSlots(nil, slots)) }

// DecodeSlots turns EncodeSlots' string back into slots.
func DecodeSlots(code string) ([]Slot, error) {
	var slots []Slot
	for i := 0; i < len(code); {
		sl := Slot{}
		for k := Bind; int(k) < len(kindLetters); k++ {
			if kindLetters[k] == code[i] {
				sl.Kind = k
			}
		}
		if sl.Kind == 0 {
			return nil, fmt.Errorf("decode slots: %q is no kind of value at byte %d of %q", code[i], i, code)
		}
		i++
		begin := i
		for i < len(code) && code[i] >= '0' && code[i] <= '9' {
			i++
		}
		if sl.Kind == Bind && i == begin {
			return nil, fmt.Errorf("decode slots: a bind without a number at byte %d of %q", begin, code)
		}
		if i > begin {
			n, err := strconv.ParseInt(code[begin:i], 10, 32)
			if err != nil {
				return nil, fmt.Errorf("decode slots: read bind number of %q: %w", code, err)
			}
			sl.Bind = int(n)
		}
		if i < len(code) && code[i] == '*' {
			sl.List = true
			i++
		}
		slots = append(slots, sl)
	}
	return slots, nil
}

// NewTemplate makes the template of a canonical text and its slots. It copies neither.
func NewTemplate(text string, slots []Slot) *Template {
	key := appendSlots(append(append(make([]byte, 0, len(text)+1+4*len(slots)), text...), 0), slots)
	sum := sha256.Sum256(key)
	t := &Template{Text: text, Slots: slots, Bound: CheckBounds(text)}
	copy(t.ID[:], sum[:])
	return t
}
