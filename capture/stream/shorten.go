package stream

import (
	"encoding/hex"
	"time"
	"unicode/utf8"

	"github.com/foreshard/foreshard/capture"
)

// Bounds of one event. They keep a record below the broker's usual limit (max.message.bytes, 1 MiB) even if nothing in it compresses.
const (
	recordBytes = 512 << 10 // before compression: a record is sealed after the event that reaches it
	maxTemplate = 128 << 10 // bytes of a template's text; a longer one travels as opaque
	maxValues   = 2_000     // values of an event, of at most 31 bytes each; above, the lists are replaced by one value that is not known
	maxString   = 4 << 10   // bytes of a name, a tag or a search path
)

// The notes of an agent's ledger, beside those of its reader.
const (
	NoteLongText   = "stream_long_text"   // templates too long to travel: their executions count, without a verdict
	NoteLongValues = "stream_long_values" // executions whose values were too many to travel: their keys are not known
	NoteLongName   = "stream_long_name"   // names, tags and search paths that were cut
)

// reasonLong is why a text that was too long to travel is opaque.
const reasonLong = "too_long"

// shorten makes an event fit without making it say less than is true: what is left out becomes unknown. note is called for each thing left out.
// The event is the caller's own copy; what it points to is not changed.
func shorten(e *capture.Event, note func(string)) {
	if t := e.Template; t != nil && len(t.Text) > maxTemplate {
		e.Template, e.Values = nil, nil
		e.Opaque = &capture.Opaque{Bytes: len(t.Text), Hash: hex.EncodeToString(t.ID[:]), Reason: reasonLong}
		note(NoteLongText)
	}
	if len(e.Values) > maxValues {
		e.Values = collapse(e.Values)
		note(NoteLongValues)
	}
	for _, s := range [...]*string{&e.Session, &e.User, &e.Database, &e.App, &e.Client, &e.Team, &e.Endpoint} {
		if len(*s) > maxString {
			*s = cut(*s)
			note(NoteLongName)
		}
	}
	if len(e.Search) > maxString { // a path that is cut is another path
		e.Search = capture.SearchUnknown
		note(NoteLongName)
	}
	if y := e.Time.Year(); y < 1678 && !e.Time.IsZero() || y > 2261 { // beyond what nanoseconds hold: no time that a server logged
		e.Time = time.Time{}
	}
}

// collapse replaces the values of every slot that has several by one that is not known. A prefix of a list would look like a list of fewer keys.
func collapse(values []capture.Value) []capture.Value {
	var out []capture.Value
	for i := 0; i < len(values); {
		j := i + 1
		for j < len(values) && values[j].Slot == values[i].Slot {
			j++
		}
		v := values[i]
		if j > i+1 {
			v = capture.Value{Slot: v.Slot, Cut: true}
		}
		out = append(out, v)
		i = j
	}
	if len(out) > maxValues {
		return nil // a statement of thousands of single values: none of them is known
	}
	return out
}

// cut shortens a name at a border of characters.
func cut(s string) string {
	n := maxString
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
