package sqltext

// nestedWeight is what a parenthesis, bracket or CASE adds to the estimate of the tree's depth; an operator adds one. A subquery in
// parentheses is about eight nodes deep, an operator two.
const nestedWeight = 2

// deepen adds a level to the operator chain.
func (s *Scanner) deepen() {
	s.cur.chain++
	if s.cur.base+s.cur.joins+s.cur.chain > MaxDepth {
		s.deep = true
	}
}

// enter opens a level inside the current one.
func (s *Scanner) enter(next level) {
	next.base = s.cur.base + s.cur.joins + s.cur.chain + nestedWeight
	if next.base > MaxDepth {
		s.deep = true
	}
	s.levels = append(s.levels, s.cur)
	s.cur = next
}

// leave closes the innermost level of kind k, and the CASEs that were left open inside it; it gives the level, ok is false if there is none.
func (s *Scanner) leave(k kind) (closed level, ok bool) {
	for len(s.levels) > 0 {
		closed = s.cur
		s.cur = s.levels[len(s.levels)-1]
		s.levels = s.levels[:len(s.levels)-1]
		if closed.kind == k {
			return closed, true
		}
	}
	return level{}, false
}

// close writes a closing parenthesis or bracket, and folds the list of rows that begins with the one it closes. It gives the last token written.
func (s *Scanner) close(i int, k kind) int {
	b, opening := byte(')'), kLParen
	if k == kRBracket {
		b, opening = ']', kLBracket
	}
	s.glue(b, k)
	closed, ok := s.leave(opening)
	if !ok {
		return i
	}
	s.typeEnd = closed.typmod || closed.ofType
	if closed.query {
		s.dml = false
	}
	if k != kRParen || !s.dml {
		return i
	}
	if s.tokens[i].flags&tMark != 0 && int(closed.slot) < len(s.slots) {
		for n := closed.slot; int(n) < len(s.slots); n++ {
			s.slots[n].List = true
		}
		s.out = append(s.out, " "+listMarker...)
		return i
	}
	if next, isRow := s.valuesRow(i, closed); isRow {
		return next
	}
	return s.foldRows(i, closed)
}

// keyword keeps track of clauses, chains and CASEs, and of where a query begins inside a utility statement.
func (s *Scanner) keyword(i int, id kw) {
	f := keywordFlags[id]
	if f&fReset != 0 {
		s.cur.chain = 0
	}
	if f&fChain != 0 {
		s.deepen()
	}
	if f&fStruct != 0 {
		s.cur.joins++
		if s.cur.base+s.cur.joins > MaxDepth {
			s.deep = true
		}
	}
	if f&fClause != 0 && (id != kwFrom || s.prevID != kwDistinct) {
		s.cur.items = false
	}
	switch id {
	case kwBy:
		if s.prevID == kwOrder || s.prevID == kwGroup {
			s.cur.items = true
		}
	case kwCase:
		s.enter(level{kind: kCase, slot: int32(len(s.slots)), token: int32(i), strict: s.cur.strict})
	case kwEnd:
		if s.cur.kind == kCase {
			s.leave(kCase)
		}
	case kwSelect, kwValues, kwWith, kwInsert, kwUpdate, kwDelete, kwMerge, kwTable, kwExecute:
		if !s.dml && s.queryHere(i, id) {
			s.dml = true
		}
	}
}

// startsQuery says whether a statement is a query, or a CALL or EXECUTE, whose arguments are expressions.
func startsQuery(tokens []token) bool {
	i := 0
	for i < len(tokens)-1 && tokens[i].kind == kLParen {
		i++
	}
	switch tokens[i].id {
	case kwSelect, kwWith, kwInsert, kwUpdate, kwDelete, kwMerge, kwValues, kwTable:
		return true
	case kwCall, kwExecute:
		return i == 0
	}
	return false
}

// queryHere says whether the word at i begins the query inside a utility statement.
func (s *Scanner) queryHere(i int, id kw) bool {
	if i == 0 {
		return false
	}
	before := s.tokens[i-1].id
	switch s.tokens[0].id {
	case kwExplain:
		return true
	case kwDeclare:
		return before == kwFor
	case kwPrepare, kwCreate:
		return before == kwAs || s.tokens[i-1].kind == kLParen && i > 1 && s.tokens[i-2].id == kwAs
	}
	return false
}

// itemsHere says whether the parenthesis at i holds items whose bare integers are positions.
func (s *Scanner) itemsHere(i int) bool {
	if i == 0 {
		return false
	}
	before := &s.tokens[i-1]
	if before.id == kwOn {
		return i > 1 && s.tokens[i-2].id == kwDistinct
	}
	if !s.cur.items {
		return false
	}
	switch before.id {
	case kwBy, kwRollup, kwCube, kwSets, kwDistinct, kwAll:
		return true
	}
	return before.kind == kComma || before.kind == kLParen
}

// typmodHere says whether the parenthesis at i holds type modifiers: after a type's name in a cast, a column definition or a typed literal.
func (s *Scanner) typmodHere(i int) bool {
	if i == 0 || i+1 >= len(s.tokens) || s.tokens[i+1].kind != kInt {
		return false
	}
	before := &s.tokens[i-1]
	switch {
	case before.kind == kQuoted:
	case before.kind != kWord:
		return false
	case before.id == kwSecond:
		return i > 1 && (s.tokens[i-2].id == kwTo || isString(s.tokens[i-2].kind) || s.tokens[i-2].id == kwInterval)
	case before.id == kwVarying:
		return true
	case before.id != kwNone && before.id < kwLast:
		if keywordFlags[before.id]&fType != 0 {
			return true
		}
		if keywordFlags[before.id]&(fExpr|fSpace) != 0 {
			return false
		}
	}
	return s.castBefore(i-1) || s.typedLiteralAt(i)
}

// castBefore says whether the possibly qualified name that ends at token i is the type of a cast.
func (s *Scanner) castBefore(i int) bool {
	for i >= 2 && s.tokens[i-1].kind == kDot {
		i -= 2
	}
	return i > 0 && (s.tokens[i-1].kind == kCast || s.tokens[i-1].id == kwAs && s.dml)
}

// typedLiteralAt says whether the parenthesis at i holds integers only and a string follows it.
func (s *Scanner) typedLiteralAt(i int) bool {
	for j := i + 1; j+2 < len(s.tokens); j += 2 {
		if s.tokens[j].kind != kInt {
			return false
		}
		if s.tokens[j+1].kind == kRParen {
			after := s.tokens[j+2].kind
			return isString(after) || after == kParam
		}
		if s.tokens[j+1].kind != kComma {
			return false
		}
	}
	return false
}

// boundsHere says whether the bracket at i holds the bound of an array type, which is no expression.
func (s *Scanner) boundsHere(i int) bool {
	if i == 0 || i+1 >= len(s.tokens) {
		return false
	}
	if k := s.tokens[i+1].kind; k != kInt && k != kRBracket {
		return false
	}
	before := &s.tokens[i-1]
	switch before.kind {
	case kRParen, kRBracket:
		return s.typeEnd
	case kWord, kQuoted:
		if before.id == kwPrecision || before.id == kwVarying || before.id == kwZone && i > 1 && s.tokens[i-2].id == kwTime {
			return true
		}
		if before.id == kwArray && i > 1 {
			return s.castBefore(i - 2)
		}
		if s.castBefore(i - 1) {
			return true
		}
		return i > 1 && (s.tokens[i-2].kind == kQuoted || s.tokens[i-2].kind == kWord && s.tokens[i-2].id == kwNone)
	}
	return false
}

func isString(k kind) bool { return k >= kString && k <= kDollar }
