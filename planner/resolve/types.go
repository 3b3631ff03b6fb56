package resolve

import (
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// untyped is the type of a literal or parameter before its context gives it one.
const untyped = "unknown"

// arrayOf and elemOf turn a type into its array and back; elemOf of a type that is no array is "".
func arrayOf(t string) string {
	if t == "" || t == untyped {
		return ""
	}
	if strings.HasPrefix(t, "_") {
		return t // PostgreSQL's arrays of arrays are arrays
	}
	return "_" + t
}

func (r *resolver) elemOf(t string) string {
	t = r.baseType(t)
	if e, ok := strings.CutPrefix(t, "_"); ok {
		return e
	}
	return r.b.types[t].elem
}

// domain returns the type of the schema, nil for a builtin one.
func (r *resolver) ownType(t string) *catalog.Type { return r.cat.Types[t] }

// baseType follows domains down.
func (r *resolver) baseType(t string) string {
	for range 32 { // a domain over a domain over ...
		d := r.ownType(t)
		if d == nil || d.Kind != 'd' {
			return t
		}
		t = d.Base
	}
	return ""
}

// known tells whether all operators and casts of the type are in the builtin tables.
func (r *resolver) known(t string) bool {
	t = r.baseType(strings.TrimPrefix(t, "_"))
	if _, ok := r.b.types[t]; ok {
		return true
	}
	own := r.ownType(t)
	return own != nil && (own.Kind == 'e' || own.Kind == 'c') || r.cat.Relations[t] != nil
}

// category is pg_type.typcategory; 0 not known.
func (r *resolver) category(t string) byte {
	t = r.baseType(t)
	if t == "" {
		return 0
	}
	if b, ok := r.b.types[t]; ok {
		return b.category
	}
	if t[0] == '_' {
		return 'A'
	}
	if r.cat.Relations[t] != nil {
		return 'C'
	}
	if own := r.ownType(t); own != nil {
		switch own.Kind {
		case 'e':
			return 'E'
		case 'c':
			return 'C'
		case 'r':
			return 'R'
		}
	}
	return 'U'
}

func (r *resolver) preferred(t string) bool { return r.b.types[t].preferred }

// stringly tells text from varchar apart from nothing: PostgreSQL relabels one as the other.
func stringly(t string) bool { return t == "text" || t == "varchar" }

// textOut tells whether the text form of a type depends on session settings.
func (r *resolver) textForm(t string) facts.Volatility {
	switch t = r.baseType(strings.TrimPrefix(t, "_")); {
	case t == "date", t == "timestamp", t == "timestamptz", t == "time", t == "timetz", t == "interval", t == "money", t == "record", strings.HasPrefix(t, "reg"):
		return facts.Stable
	}
	if r.known(t) {
		return 0
	}
	return facts.Stable
}

// castWay finds how PostgreSQL converts from into to. context is i (implicit), a (assignment) or e (explicit).
func (r *resolver) castWay(from, to string, context byte) (builtinCast, bool) {
	if from == to {
		return builtinCast{'i', 'b', 'i'}, true
	}
	fb, tb := r.baseType(from), r.baseType(to)
	if fb == tb {
		return builtinCast{'i', 'b', 'i'}, true
	}
	if c, ok := r.b.casts[[2]string{fb, tb}]; ok {
		return c, c.context == 'i' || context == 'e' || context == 'a' && c.context == 'a'
	}
	if fe, te := r.elemOf(fb), r.elemOf(tb); fe != "" && te != "" && fb[0] == '_' && tb[0] == '_' {
		return r.castWay(fe, te, context)
	}
	if tb == "record" && (r.category(fb) == 'C' || fb == "record") {
		return builtinCast{'i', 'b', 'i'}, true
	}
	switch {
	case r.category(tb) == 'S' && context != 'i':
		return builtinCast{'a', 'i', byte(orImmutable(r.textForm(fb)))}, true
	case r.category(fb) == 'S' && context == 'e':
		return builtinCast{'e', 'i', byte(orImmutable(r.textForm(tb)))}, true
	}
	return builtinCast{}, false
}

func orImmutable(v facts.Volatility) facts.Volatility {
	if v == 0 {
		return facts.Immutable
	}
	return v
}

// accepts tells whether a value of type from may be passed where the routine declares to.
func (r *resolver) accepts(from, to string) bool {
	if from == to || from == untyped || from == "" {
		return true
	}
	switch to {
	case "any", "anyelement", "anycompatible":
		return true
	case "anynonarray", "anycompatiblenonarray":
		return r.category(from) != 'A'
	case "anyarray", "anycompatiblearray":
		return r.category(from) == 'A'
	case "anyenum":
		return r.category(from) == 'E'
	case "anyrange", "anycompatiblerange":
		return r.category(from) == 'R' && r.b.multi[r.baseType(from)] != "" || r.category(from) == 'R' && r.ownType(from) != nil
	case "anymultirange", "anycompatiblemultirange":
		return r.category(from) == 'R' && r.b.multi[r.baseType(from)] == ""
	}
	if !r.known(from) || !r.known(to) {
		return !r.known(from) && !r.known(to) && r.baseType(from) == r.baseType(to)
	}
	_, ok := r.castWay(from, to, 'i')
	return ok
}

// isLiteral tells an expression that takes the type of its context. ARRAY[$1, $2] is one, too: PostgreSQL makes it text[] if the client
// declared no types, but a log does not tell what it declared.
func isLiteral(e *facts.Expr) bool {
	return e.Type == untyped && (e.Op == facts.Slot || e.Op == facts.Const || e.Op == facts.Array)
}

// coerce makes e a value of type to, by a cast that PostgreSQL would add itself.
func (r *resolver) coerce(e *facts.Expr, to string) *facts.Expr {
	if to = r.baseType(to); e == nil || to == "" || e.Type == to || to == untyped || strings.HasPrefix(to, "any") {
		return e
	}
	if e.Op == facts.Row && to == "record" {
		return e
	}
	if isLiteral(e) {
		r.giveType(e, to)
		return e
	}
	if e.Type == "" || e.Type == untyped || stringly(e.Type) && stringly(to) {
		return e
	}
	if r.baseType(e.Type) == to {
		return e // a domain is its base type
	}
	c, _ := r.castWay(e.Type, to, 'a')
	return &facts.Expr{Op: facts.Cast, Args: []*facts.Expr{e}, Type: to, Implicit: true, Volatility: notImmutable(c.vol), Pos: e.Pos}
}

// notImmutable is the volatility as facts keep it: 0 for immutable.
func notImmutable(v byte) facts.Volatility {
	if v == 'i' || v == 0 {
		return 0
	}
	return facts.Volatility(v)
}

// giveType types a literal or parameter. A parameter keeps its first type for the rest of the statement.
func (r *resolver) giveType(e *facts.Expr, t string) {
	if t == "" {
		return
	}
	e.Type = t
	if e.Op == facts.Array {
		for _, a := range e.Args {
			r.giveType(a, r.elemOf(t))
		}
		return
	}
	if e.Op != facts.Slot {
		return
	}
	if s := r.slot(e.Slot); s != nil && s.Kind == sqltext.Bind && r.binds[s.Bind] == "" {
		r.binds[s.Bind] = t
	}
}

// later leaves a parameter untyped until the end of the statement: another use may type it. A literal becomes text.
func (r *resolver) later(e *facts.Expr) *facts.Expr {
	if e.Op == facts.Slot {
		if s := r.slot(e.Slot); s != nil && s.Kind == sqltext.Bind {
			return e
		}
	}
	return r.settle(e)
}

// settleBinds gives every parameter that was met before its type was known that type, or text.
func (r *resolver) settleBinds() {
	for _, e := range r.untypedBinds {
		if e.Type == untyped {
			e.Type = "text"
			if t := r.binds[r.slots[e.Slot-1].Bind]; t != "" {
				e.Type = t
			}
		}
	}
}

// settle types what no context typed: PostgreSQL makes it text.
func (r *resolver) settle(e *facts.Expr) *facts.Expr {
	if e != nil && isLiteral(e) {
		r.guessed = r.guessed || r.isBind(e)
		if e.Op == facts.Array {
			r.giveType(e, "_text")
		} else {
			r.giveType(e, "text")
		}
	}
	return e
}

func (r *resolver) isBind(e *facts.Expr) bool {
	if e.Op == facts.Array {
		return true
	}
	s := r.slot(e.Slot)
	return e.Op == facts.Slot && s != nil && s.Kind == sqltext.Bind
}

// commonType is PostgreSQL's select_common_type: for CASE, COALESCE, UNION, VALUES, ARRAY and IN lists. "" not known.
func (r *resolver) commonType(exprs []*facts.Expr) string {
	types := make([]string, 0, len(exprs))
	for _, e := range exprs {
		types = append(types, e.Type)
	}
	return r.commonOf(types)
}

func (r *resolver) commonOf(types []string) string {
	best := untyped
	for _, t := range types {
		switch {
		case t == "":
			return ""
		case t == untyped || t == best:
		case best == untyped:
			best = t
		default:
			b, n := r.baseType(best), r.baseType(t)
			if b == n {
				best = b
				continue
			}
			if r.category(b) != r.category(n) {
				return ""
			}
			if !r.preferred(b) {
				if _, there := r.castWay(b, n, 'i'); there {
					if _, back := r.castWay(n, b, 'i'); !back {
						best = n
					}
				}
			}
		}
	}
	if best == untyped {
		return "text"
	}
	return best
}

// coerceAll gives the expressions one type, and returns it.
func (r *resolver) coerceAll(exprs []*facts.Expr) string {
	t := r.commonType(exprs)
	if t == "" {
		for _, e := range exprs {
			if e.Type == "" || e.Type != untyped && !r.known(e.Type) {
				return ""
			}
		}
		r.invalid("invalid_statement", exprs[0].Pos, "values of different types have no type in common")
		return ""
	}
	all := true
	for _, e := range exprs {
		all = all && isLiteral(e)
	}
	for i, e := range exprs {
		r.guessed = r.guessed || all && r.isBind(e)
		exprs[i] = r.coerce(e, t)
	}
	return t
}
