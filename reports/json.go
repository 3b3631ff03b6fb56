package reports

import (
	"bufio"
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
	buf := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(&escaper{w: buf})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tidy(reflect.ValueOf(*r)).Interface()); err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	return nil
}

// tidy copies a value with empty lists and maps in place of nil ones, floats rounded and invalid bytes replaced.
func tidy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Int, reflect.Int64, reflect.Bool:
		return v
	}
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
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(tidy(v.Elem()))
		}
	case reflect.Float64:
		out.SetFloat(math.Round(v.Float()*1e6) / 1e6)
	case reflect.String:
		if utf8.ValidString(v.String()) {
			return v
		}
		out.SetString(strings.ToValidUTF8(v.String(), "\ufffd"))
	default:
		out.Set(v)
	}
	return out
}

// escaper writes hidden characters and the second # of "##" as \u escapes. Both stand only inside strings of the encoder's output, which it
// gives in one piece: a character is never cut.
type escaper struct{ w *bufio.Writer }

func (e *escaper) Write(in []byte) (int, error) {
	from := 0 // of what is not written yet
	for i := 0; i < len(in); {
		if c := in[i]; c < 0x7f && c != '#' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(in[i:])
		escape := ""
		switch {
		case r == '#' && i > 0 && in[i-1] == '#':
			escape = `\u0023`
		case r >= 0x7f && hidden(r) && r > 0xffff:
			escape = fmt.Sprintf(`\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		case r >= 0x7f && hidden(r):
			escape = fmt.Sprintf(`\u%04x`, r)
		}
		if escape != "" {
			if _, err := e.w.Write(in[from:i]); err != nil {
				return i, err
			}
			if _, err := e.w.WriteString(escape); err != nil {
				return i, err
			}
			from = i + n
		}
		i += n
	}
	_, err := e.w.Write(in[from:])
	return len(in), err
}
