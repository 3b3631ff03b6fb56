package pglog

import "bytes"

// param is one bind value of a record. raw points into the chunk, with doubled quotes already made single.
type param struct {
	number int
	null   bool
	cut    bool // ends in the server's cut mark, which cannot be told from data
	raw    []byte
}

// paramText finds the parameter list in a DETAIL or CONTEXT text: "parameters: $1 = …" (12 to 16), "Parameters: $1 = …" (17 and later),
// their translations, and "portal "x" with parameters: $1 = …" of errors.
func paramText(b []byte) ([]byte, bool) {
	for _, word := range [...]string{"Parameters: ", "parameters: ", "Parameter: ", "Paramètres : ", "paramètres : "} {
		if rest, ok := bytes.CutPrefix(b, []byte(word)); ok && bytes.HasPrefix(rest, []byte("$")) {
			return rest, true
		}
	}
	return nil, false
}

// errorParams finds the parameter list in the CONTEXT of an error. The portal's name may hold anything, so the list must be where
// PostgreSQL puts it; a single bad value is named alone.
func errorParams(b []byte) ([]byte, bool) {
	line := b
	if rest, ok := bytes.CutPrefix(line, []byte("unnamed portal with parameters: ")); ok {
		return rest, true
	}
	if rest, ok := bytes.CutPrefix(line, []byte("unnamed portal parameter ")); ok && bytes.Contains(rest, []byte(" = ")) {
		return rest, true
	}
	if rest, ok := bytes.CutPrefix(line, []byte(`portal "`)); ok {
		for _, word := range [...]string{`" with parameters: `, `" parameter `} {
			if i := bytes.Index(rest, []byte(word)); i >= 0 && i <= 4*maxName {
				return rest[i+len(word):], true
			}
		}
	}
	return nil, false
}

// parseParams reads "$1 = 'x', $2 = NULL" in place. ok is false if the text does not end after a value: then no value of it is to be trusted,
// because a quote was lost somewhere. What follows a newline after the last value (a further CONTEXT line) is not part of the list.
func parseParams(b []byte, out []param) (params []param, ok bool) {
	for first := true; ; first = false {
		if !first {
			if len(b) == 0 || b[0] == '\n' {
				return out, true
			}
			if !bytes.HasPrefix(b, []byte(", ")) {
				return out, string(b) == "..." // the list itself may be cut
			}
			b = b[2:]
		}
		if len(b) < 2 || b[0] != '$' {
			return out, false
		}
		i, n := 1, 0
		for i < len(b) && isDigit(b[i]) && n < 1<<16 {
			n = n*10 + int(b[i]-'0')
			i++
		}
		if i == 1 || !bytes.HasPrefix(b[i:], []byte(" = ")) {
			return out, false
		}
		b = b[i+3:]
		if bytes.HasPrefix(b, []byte("NULL")) {
			out = append(out, param{number: n, null: true})
			b = b[4:]
			continue
		}
		if len(b) == 0 || b[0] != '\'' {
			return out, false
		}
		raw, rest, closed := unquote(b[1:])
		if !closed {
			return out, false
		}
		out = append(out, param{number: n, raw: raw, cut: bytes.HasSuffix(raw, []byte("..."))})
		b = rest
	}
}

// unquote reads up to the closing quote and makes doubled quotes single, in place.
func unquote(b []byte) (raw, rest []byte, closed bool) {
	i := bytes.IndexByte(b, '\'')
	if i < 0 {
		return nil, nil, false
	}
	if i+1 >= len(b) || b[i+1] != '\'' {
		return b[:i], b[i+1:], true
	}
	w := i
	for i < len(b) {
		if b[i] != '\'' {
			b[w] = b[i]
			w++
			i++
			continue
		}
		if i+1 < len(b) && b[i+1] == '\'' {
			b[w] = '\''
			w++
			i += 2
			continue
		}
		return b[:w], b[i+1:], true
	}
	return nil, nil, false
}
