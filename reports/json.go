package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/foreshard/foreshard/analysis"
)

// WriteJSON writes the report in its contract form: fields in the order of the structs, maps sorted, lists and maps never null, numbers
// rounded to six decimals so that the order of a sum does not show, indented, with a newline at the end. <, > and & stay as they are; what a
// terminal or a CI system would obey (C1 controls, bidirectional controls, "##[") is escaped as JSON allows, so the value stays the same.
func WriteJSON(w io.Writer, r *analysis.Report) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tidy(reflect.ValueOf(*r)).Interface()); err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	if _, err := w.Write(escapeJSON(b.Bytes())); err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	return nil
}

// tidy copies a value with empty lists and maps in place of nil ones, floats rounded and invalid bytes replaced.
func tidy(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if out.Field(i).CanSet() { // time.Time has only unexported fields
				out.Field(i).Set(tidy(v.Field(i)))
			}
		}
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(tidy(v.Index(i)))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for _, k := range v.MapKeys() {
			out.SetMapIndex(k, tidy(v.MapIndex(k)))
		}
	case reflect.Float64:
		out.SetFloat(math.Round(v.Float()*1e6) / 1e6)
	case reflect.String:
		out.SetString(strings.ToValidUTF8(v.String(), "\ufffd"))
	default:
		out.Set(v)
	}
	return out
}

// escapeJSON writes hidden characters and the second # of "##" as \u escapes. Both stand only inside strings of the encoder's output.
func escapeJSON(in []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(in))
	for i := 0; i < len(in); {
		r, n := utf8.DecodeRune(in[i:])
		switch {
		case r == '#' && i > 0 && in[i-1] == '#':
			out.WriteString(`\u0023`)
		case r >= 0x7f && hidden(r):
			if r > 0xffff {
				r -= 0x10000
				fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			} else {
				fmt.Fprintf(&out, `\u%04x`, r)
			}
		default:
			out.Write(in[i : i+n])
		}
		i += n
	}
	return out.Bytes()
}
