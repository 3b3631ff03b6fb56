package sqltext

import "strings"

// Prepared is what PREPARE name [(types)] AS query says.
type Prepared struct {
	Name  string
	Query Span // of the query in the source
}

// Prepared gives the parts of the current statement if it is a PREPARE.
func (s *Scanner) Prepared() (Prepared, bool) {
	t := s.tokens
	if s.stmt.Verb != VerbPrepare || s.stmt.Bound == Unlexable || len(t) < 4 {
		return Prepared{}, false
	}
	name, ok := s.nameAt(1)
	depth := 0
	for i := 2; ok && i+1 < len(t); i++ {
		switch {
		case t[i].kind == kLParen:
			depth++
		case t[i].kind == kRParen:
			depth--
		case t[i].id == kwAs && depth == 0:
			return Prepared{Name: name, Query: Span{int(t[i+1].start), int(t[len(t)-1].end)}}, true
		}
	}
	return Prepared{}, false
}

// Executed is what EXECUTE name [(arguments)] says.
type Executed struct {
	Name string
	Args []Value // one for each argument, Slot its number from 1; Kind is 0 where it is not a plain value: NULL or an expression
	Null []bool  // by argument: it is the word NULL
}

// Executed gives the parts of the current statement if it is an EXECUTE. The texts are valid as long as Values.
func (s *Scanner) Executed() (Executed, bool) {
	t := s.tokens
	if s.stmt.Verb != VerbExecute || s.stmt.Bound == Unlexable || len(t) < 2 {
		return Executed{}, false
	}
	name, ok := s.nameAt(1)
	e := Executed{Name: name}
	if !ok || len(t) == 2 {
		return e, ok
	}
	if t[2].kind != kLParen || t[len(t)-1].kind != kRParen {
		return Executed{}, false
	}
	depth, from := 0, 3
	for i := 3; i < len(t); i++ {
		switch k := t[i].kind; {
		case (k == kComma || i == len(t)-1) && depth == 0:
			e.argument(s, from, i)
			from = i + 1
		case k == kLParen || k == kLBracket:
			depth++
		case k == kRParen || k == kRBracket:
			depth--
		}
	}
	return e, true
}

// argument adds the argument in tokens[from:to].
func (e *Executed) argument(s *Scanner, from, to int) {
	arg := Value{}
	null := to == from+1 && strings.EqualFold(string(s.src[s.tokens[from].start:s.tokens[from].end]), "null")
	if to > from {
		for _, v := range s.values {
			if v.Span.Start == int(s.tokens[from].start) && v.Span.End == int(s.tokens[to-1].end) {
				arg = v
			}
		}
	}
	arg.Slot = len(e.Args) + 1
	e.Args = append(e.Args, arg)
	e.Null = append(e.Null, null)
}

// Setting is what SET and RESET say.
type Setting struct {
	Name    string   // in lower case, dots included; "" for RESET ALL
	Value   string   // the values as SQL would write them again: names quoted where needed, comma between them
	Items   []string // the values themselves: names in lower case unless quoted, strings decoded
	Local   bool     // SET LOCAL
	Default bool     // RESET, or SET ... TO DEFAULT
}

// Setting gives the parts of the current statement if it is a SET or RESET of a configuration parameter.
func (s *Scanner) Setting() (Setting, bool) {
	t := s.tokens
	v := s.stmt.Verb
	if v != VerbSet && v != VerbReset || s.stmt.Bound == Unlexable || len(t) < 2 {
		return Setting{}, false
	}
	set, i := Setting{Default: v == VerbReset}, 1
	if v == VerbSet && s.scoped(1) {
		set.Local = t[1].id == kwLocal
		i = 2
	}
	if v == VerbReset && t[1].id == kwAll {
		return set, true
	}
	name, ok := s.nameAt(i)
	for ok && i+2 < len(t) && t[i+1].kind == kDot {
		var part string
		i += 2
		part, ok = s.nameAt(i)
		name += "." + part
	}
	if !ok {
		return Setting{}, false
	}
	set.Name = strings.ToLower(name)
	if v == VerbReset {
		return set, i == len(t)-1
	}
	i++
	if i+1 >= len(t) || t[i].id != kwTo && string(s.src[t[i].start:t[i].end]) != "=" {
		return Setting{}, false
	}
	return s.settingValues(set, i+1)
}

// scoped says whether token i is the LOCAL or SESSION of a SET, and not the name of what is set.
func (s *Scanner) scoped(i int) bool {
	t := s.tokens
	return i+1 < len(t) && (t[i].id == kwLocal || t[i].id == kwSession) && t[i+1].kind != kOp && t[i+1].id != kwTo
}

// settingAt gives the token where the values of SET name = value, or of ALTER ROLE, DATABASE or SYSTEM ... SET name = value, begin; past the end
// if it is none of them. A word there is a value like a string: a tenant, a user, a password.
func (s *Scanner) settingAt() int {
	t := s.tokens
	i := 0
	if t[0].id == kwAlter && len(t) > 1 {
		switch string(appendLower(nil, s.src[t[1].start:t[1].end])) {
		case "role", "user", "database", "system":
		default:
			return len(t)
		}
		for i < len(t) && t[i].id != kwSet {
			i++
		}
	}
	if i >= len(t) || t[i].id != kwSet {
		return len(t)
	}
	if i++; i == 1 && s.scoped(i) {
		i++
	}
	for i+2 < len(t) && isName(t[i].kind) {
		if t[i+1].kind == kDot {
			i += 2
			continue
		}
		if t[i+1].id == kwTo || string(s.src[t[i+1].start:t[i+1].end]) == "=" {
			return i + 2
		}
		break
	}
	return len(t)
}

func isName(k kind) bool { return k == kWord || k == kQuoted || k == kUQuoted }

func (s *Scanner) settingValues(set Setting, i int) (Setting, bool) {
	var b strings.Builder
	for ; i < len(s.tokens); i++ {
		t := &s.tokens[i]
		if t.id == kwDefault {
			set.Default = true
			return set, true
		}
		switch {
		case t.kind == kComma:
			b.WriteString(", ")
		case isString(t.kind):
			var v Value
			i = s.readValue(i, &v)
			b.WriteString(QuoteName(string(v.Text)))
			set.Items = append(set.Items, string(v.Text))
		case isName(t.kind):
			name, ok := s.nameAt(i)
			if !ok {
				return Setting{}, false
			}
			if t.kind == kWord {
				b.WriteString(name)
			} else {
				b.WriteString(QuoteName(name))
			}
			set.Items = append(set.Items, name)
		default:
			b.Write(s.src[t.start:t.end])
			set.Items = append(set.Items, string(s.src[t.start:t.end]))
		}
	}
	set.Value = b.String()
	return set, true
}

// nameAt gives the name that token i spells: unquoted in lower case, quoted as it is.
func (s *Scanner) nameAt(i int) (string, bool) {
	t := &s.tokens[i]
	lit := s.src[t.start:t.end]
	switch t.kind {
	case kWord:
		return string(appendLower(nil, lit)), true
	case kQuoted, kUQuoted:
		name, ok := appendString(nil, t.kind, lit, '\\')
		return string(name), ok
	}
	return "", false
}

// QuoteName writes a name as SQL needs it: in quotes unless it is in lower case and no keyword.
func QuoteName(name string) string {
	var s Scanner
	if s.needsNoQuotes([]byte(name)) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
