package analysis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner/sqltext"
)

// numbering is how a template's parameters are shown: slots that hold one value have one number, as the client wrote them. The planner gives
// each its own.
type numbering struct {
	numbers []int // by slot, the number shown
	next    int   // the first number that is free
}

// newNumbering returns nil if the template's own numbers do.
func newNumbering(slots []sqltext.Slot) *numbering {
	n := &numbering{next: 1}
	var seen map[int]int
	for _, s := range slots {
		shared := s.Bind > 0 && !s.List
		number, again := seen[s.Bind]
		if !shared || !again {
			number = n.next
			n.next++
		}
		if shared && !again {
			if seen == nil {
				seen = map[int]int{}
			}
			seen[s.Bind] = number
		}
		n.numbers = append(n.numbers, number)
	}
	if n.next == len(slots)+1 {
		return nil
	}
	return n
}

// text renumbers a text of the template's, or one with parameters after them, and moves byte positions in it along; those that are negative
// stay.
func (n *numbering) text(text string, positions ...*int) string {
	var b strings.Builder
	moved := make([]int, len(positions)) // how far each has moved
	done, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '$' && !quoted && (i == 0 || !wordByte(text[i-1])):
			end := i + 1
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			k, err := strconv.Atoi(text[i+1 : end])
			if err != nil || k < 1 {
				continue
			}
			shown := strconv.Itoa(n.shown(k))
			b.WriteString(text[done : i+1])
			b.WriteString(shown)
			for j, p := range positions {
				if *p >= end {
					moved[j] += len(shown) - (end - i - 1)
				}
			}
			done, i = end, end-1
		}
	}
	b.WriteString(text[done:])
	for j, p := range positions {
		*p += moved[j]
	}
	return b.String()
}

// shown is the number of the template's parameter k; one that a change of the statement adds comes after the others.
func (n *numbering) shown(k int) int {
	if k <= len(n.numbers) {
		return n.numbers[k-1]
	}
	return n.next + k - len(n.numbers) - 1
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// show puts the client's numbers into a query's texts.
func (q *QueryReport) show(t *stored) {
	slots, err := sqltext.DecodeSlots(t.slots)
	if err != nil {
		return // the verdict says what is wrong with it
	}
	n := newNumbering(slots)
	if n == nil {
		return
	}
	q.Reasons = slices.Clone(q.Reasons) // they are the verdict's
	var positions []*int
	for i := range q.Reasons {
		positions = append(positions, &q.Reasons[i].Position)
	}
	q.Text = n.text(q.Text, positions...)
	for i := range q.Fixes {
		q.Fixes[i].Change, q.Fixes[i].SQL = n.text(q.Fixes[i].Change), n.text(q.Fixes[i].SQL)
	}
}

// shown is the text with the client's numbers.
func (t *stored) shown() string {
	if slots, err := sqltext.DecodeSlots(t.slots); err == nil {
		if n := newNumbering(slots); n != nil {
			return n.text(t.text)
		}
	}
	return t.text
}
