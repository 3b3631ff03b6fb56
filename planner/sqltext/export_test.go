package sqltext

// TestToken is a token as tests see it: a folded sign is a token of its own.
type TestToken struct {
	Start, End int
	Class      string
}

// Lex gives the tokens of the first statement of src, and false if it cannot be read.
func Lex(src string) ([]TestToken, bool) {
	var s Scanner
	s.Reset([]byte(src))
	if _, ok := s.lex(0); !ok {
		return nil, false
	}
	var out []TestToken
	for _, t := range s.tokens {
		start := int(t.start)
		if t.flags&tSigned != 0 {
			out = append(out, TestToken{start, start + 1, "op"})
			start = s.skipBlank(start+1, false)
		}
		out = append(out, TestToken{start, int(t.end), classNames[t.kind]})
	}
	return out, true
}

var classNames = map[kind]string{kWord: "word", kQuoted: "name", kUQuoted: "uname", kInt: "int", kNumber: "number", kString: "string", kEString: "string",
	kUString: "ustring", kDollar: "string", kBits: "bits", kParam: "param", kOp: "op", kCast: "::", kDotDot: "..", kAssign: ":=", kLParen: "(", kRParen: ")",
	kLBracket: "[", kRBracket: "]", kComma: ",", kDot: ".", kColon: ":", kSemi: ";", kOther: "other"}

// PlainKeywords gives the keywords that lose their quotes.
func PlainKeywords() map[string]bool { return plainKeyword }
