package pglog

import "bytes"

// kind is what a message says.
type kind uint8

const (
	kindMessage   kind = iota
	kindBare           // duration only
	kindStatement      // statement: SQL, simple protocol
	kindExecute        // execute NAME: SQL, extended protocol
	kindFetch          // execute fetch from NAME: SQL
	kindParse
	kindBind
	kindPlan
	kindFastpath
	kindConnect
	kindDisconnect
	kindAudit
	kindLocalized // has the form of a duration line, in words that are not known
)

// body is a message taken apart.
type body struct {
	kind     kind
	timed    bool
	duration int64  // nanoseconds
	text     []byte // SQL, or the plan
}

// verbs are the words between a duration and its statement. The English ones come first; German and French are PostgreSQL's own.
var verbs = [...]struct {
	word  string
	named bool // a name and a colon follow
	is    kind
}{
	{"statement: ", false, kindStatement}, {"execute fetch from ", true, kindFetch}, {"execute ", true, kindExecute},
	{"parse ", true, kindParse}, {"bind ", true, kindBind}, {"fastpath function call: ", false, kindFastpath},
	{"Anweisung: ", false, kindStatement}, {"Ausführen Fetch von ", true, kindFetch}, {"Ausführen ", true, kindExecute},
	{"ausführen ", true, kindExecute}, {"Parsen ", true, kindParse}, {"Binden ", true, kindBind},
	{"instruction : ", false, kindStatement}, {"exécute fetch à partir de ", true, kindFetch}, {"exécute fetch from ", true, kindFetch},
	{"exécute ", true, kindExecute}, {"analyse ", true, kindParse}, {"lien ", true, kindBind},
}

// classify takes a LOG message apart.
func classify(msg []byte) body {
	if len(msg) < 6 {
		return body{}
	}
	switch msg[0] {
	case 'd':
		if rest, ok := bytes.CutPrefix(msg, []byte("duration: ")); ok {
			return timedBody(rest)
		}
		if rest, ok := bytes.CutPrefix(msg, []byte("durée : ")); ok {
			return timedBody(rest)
		}
		if bytes.HasPrefix(msg, []byte("disconnection: ")) {
			return body{kind: kindDisconnect}
		}
	case 'D':
		if rest, ok := bytes.CutPrefix(msg, []byte("Dauer: ")); ok {
			return timedBody(rest)
		}
	case 'c':
		if bytes.HasPrefix(msg, []byte("connection received: ")) || bytes.HasPrefix(msg, []byte("connection authorized: ")) ||
			bytes.HasPrefix(msg, []byte("connection authenticated: ")) || bytes.HasPrefix(msg, []byte("connection ready: ")) ||
			bytes.HasPrefix(msg, []byte("replication connection authorized: ")) {
			return body{kind: kindConnect}
		}
	case 'A':
		if bytes.HasPrefix(msg, []byte("AUDIT: ")) {
			return body{kind: kindAudit}
		}
	}
	if b := verbBody(msg); b.kind != kindMessage {
		return b
	}
	if i := bytes.Index(msg[:min(len(msg), 32)], []byte(": ")); i > 0 && bytes.IndexByte(msg[:i-1], ' ') < 0 {
		if b := timedBody(msg[i+2:]); b.timed { // a duration in a language that is not known
			return body{kind: kindLocalized}
		}
	}
	return body{}
}

func verbBody(msg []byte) body {
	for i := range verbs {
		v := &verbs[i]
		if msg[0] != v.word[0] || !bytes.HasPrefix(msg, []byte(v.word)) {
			continue
		}
		text := msg[len(v.word):]
		if v.named { // the text starts after the first ": "; French puts a blank before the colon
			k := bytes.Index(text, []byte(": "))
			if k < 0 {
				return body{}
			}
			text = text[k+2:]
		}
		return body{kind: v.is, text: text}
	}
	return body{}
}

// timedBody reads what follows "duration: ": digits, a point, three digits, " ms", then nothing or two blanks (in French a comma) and a verb.
func timedBody(b []byte) body {
	var ns int64
	i := 0
	for i < len(b) && isDigit(b[i]) && i < 12 {
		ns = ns*10 + int64(b[i]-'0')
		i++
	}
	if i == 0 || i+7 > len(b) || b[i] != '.' && b[i] != ',' || !isDigit(b[i+1]) || !isDigit(b[i+2]) || !isDigit(b[i+3]) || string(b[i+4:i+7]) != " ms" {
		return body{}
	}
	us := ns*1000 + int64(b[i+1]-'0')*100 + int64(b[i+2]-'0')*10 + int64(b[i+3]-'0')
	out := body{timed: true, duration: us * 1000}
	rest := b[i+7:]
	if len(trimBlank(rest)) == 0 {
		out.kind = kindBare
		return out
	}
	if len(rest) > 1 && (rest[0] == ' ' || rest[0] == ',') && rest[1] == ' ' {
		rest = rest[2:]
	}
	if text, ok := bytes.CutPrefix(rest, []byte("plan:\n")); ok {
		out.kind, out.text = kindPlan, text
		return out
	}
	v := verbBody(rest)
	if v.kind == kindMessage {
		out.kind = kindLocalized
		return out
	}
	out.kind, out.text = v.kind, v.text
	return out
}
