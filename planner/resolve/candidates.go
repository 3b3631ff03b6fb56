package resolve

import (
	"strings"

	"github.com/foreshard/foreshard/planner/facts"
)

// The answers of choose beside a candidate.
const (
	noCandidate = -1
	ambiguous   = -2
)

// declared is the type the i-th argument of a call with n arguments meets.
func (c *routine) declared(i int) string {
	if c.variadic && i >= len(c.args)-1 {
		last := c.args[len(c.args)-1]
		switch last {
		case "anyarray":
			return "anyelement"
		case "anycompatiblearray":
			return "anycompatible"
		}
		return strings.TrimPrefix(last, "_")
	}
	return c.args[i]
}

func (c *routine) takes(n int) bool {
	if c.variadic && n >= len(c.args)-1-c.defaults {
		return n >= len(c.args) || n >= len(c.args)-1 && c.defaults == 0 || n >= len(c.args)-c.defaults
	}
	return n <= len(c.args) && n >= len(c.args)-c.defaults
}

// choose picks the candidate that PostgreSQL's func_select_candidate picks for arguments of these types: exact matches first, then
// preferred types, then the category of what untyped literals may be.
func (r *resolver) choose(cands []routine, types []string) int {
	var live []int
	for i := range cands {
		if cands[i].takes(len(types)) && r.fits(&cands[i], types) {
			live = append(live, i)
		}
	}
	for _, i := range live {
		if exact(&cands[i], types) {
			return i
		}
	}
	if len(live) == 0 {
		return noCandidate
	}
	if len(live) == 1 {
		return live[0]
	}
	base := make([]string, len(types))
	for i, t := range types {
		base[i] = r.baseType(t)
	}
	count := func(match func(declared string, i int) bool) func(int) int {
		return func(c int) (n int) {
			for i := range base {
				if base[i] != untyped && base[i] != "" && match(cands[c].declared(i), i) {
					n++
				}
			}
			return n
		}
	}
	live = keepBest(live, count(func(d string, i int) bool { return d == base[i] }))
	if len(live) > 1 {
		live = keepBest(live, count(func(d string, i int) bool {
			return d == base[i] || r.category(d) == r.category(base[i]) && r.preferred(d)
		}))
	}
	if len(live) > 1 {
		live = r.byUntyped(cands, live, base)
	}
	if len(live) == 1 {
		return live[0]
	}
	return r.byKnown(cands, live, base)
}

func (r *resolver) fits(c *routine, types []string) bool {
	elem, compat := untyped, []string{}
	for i, t := range types {
		d := c.declared(i)
		if !r.accepts(t, d) {
			return false
		}
		if t == untyped || t == "" || d == "any" || !strings.HasPrefix(d, "any") {
			continue
		}
		part := r.polymorphic(d, t)
		if strings.HasPrefix(d, "anycompatible") {
			compat = append(compat, part)
			continue
		}
		if elem != untyped && elem != part { // polymorphic arguments agree on one element type
			return false
		}
		elem = part
	}
	return len(compat) == 0 || r.commonOf(compat) != ""
}

// polymorphic is the element type that an argument of type t gives a polymorphic declaration.
func (r *resolver) polymorphic(declared, t string) string {
	switch {
	case strings.HasSuffix(declared, "array"):
		return r.elemOf(t)
	case strings.HasSuffix(declared, "range"):
		return r.b.ranges[r.baseType(t)]
	}
	return r.baseType(t)
}

func exact(c *routine, types []string) bool {
	if len(types) != len(c.args) || c.variadic {
		return false
	}
	for i, t := range types {
		if t != c.args[i] {
			return false
		}
	}
	return true
}

func keepBest(live []int, score func(int) int) []int {
	best, out := -1, live[:0:0]
	for _, c := range live {
		switch s := score(c); {
		case s > best:
			best, out = s, append(out[:0], c)
		case s == best:
			out = append(out, c)
		}
	}
	return out
}

// byUntyped decides by the type category that every untyped argument can have: string if any candidate takes one.
func (r *resolver) byUntyped(cands []routine, live []int, types []string) []int {
	for i, t := range types {
		if t != untyped {
			continue
		}
		var want byte
		for k, c := range live {
			cat := r.category(cands[c].declared(i))
			if cat == 'S' {
				want = 'S'
				break
			}
			if k == 0 {
				want = cat
			} else if want != cat {
				want = 0
			}
		}
		if want == 0 {
			return live
		}
		var out, best []int
		for _, c := range live {
			if d := cands[c].declared(i); r.category(d) == want {
				out = append(out, c)
				if r.preferred(d) {
					best = append(best, c)
				}
			}
		}
		if len(best) > 0 {
			out = best
		}
		if len(out) > 0 {
			live = out
		}
	}
	return live
}

// byKnown is the last resort: untyped arguments are taken to be of the one type that the others have.
func (r *resolver) byKnown(cands []routine, live []int, types []string) int {
	known := ""
	for _, t := range types {
		if t == untyped {
			continue
		}
		if known != "" && known != t {
			return ambiguous
		}
		known = t
	}
	if known == "" {
		return ambiguous
	}
	found := ambiguous
	for _, c := range live {
		ok := true
		for i := range types {
			ok = ok && r.accepts(known, cands[c].declared(i))
		}
		if ok && found >= 0 {
			return ambiguous
		}
		if ok {
			found = c
		}
	}
	return found
}

// pass coerces the arguments to what the candidate declares and returns its result type, polymorphism resolved.
func (r *resolver) pass(c *routine, args []*facts.Expr) string {
	var poly, compat []string
	for i, a := range args {
		switch d := c.declared(i); d {
		case "anyelement", "anynonarray", "anyenum":
			poly = append(poly, a.Type)
		case "anyarray":
			poly = append(poly, r.orUntyped(r.elemOf(a.Type), a))
		case "anyrange", "anymultirange":
			poly = append(poly, r.orUntyped(r.b.ranges[r.baseType(a.Type)], a))
		case "anycompatible", "anycompatiblenonarray":
			compat = append(compat, a.Type)
		case "anycompatiblearray":
			compat = append(compat, r.orUntyped(r.elemOf(a.Type), a))
		case "anycompatiblerange", "anycompatiblemultirange":
			compat = append(compat, r.orUntyped(r.b.ranges[r.baseType(a.Type)], a))
		}
	}
	elem := r.commonOf(poly)
	if len(compat) > 0 {
		elem = r.commonOf(compat)
	}
	for i := range args {
		d := c.declared(i)
		if strings.HasPrefix(d, "any") {
			d = r.concrete(d, elem, args)
			if !isLiteral(args[i]) && !strings.HasPrefix(c.declared(i), "anycompatible") {
				continue // a polymorphic argument is taken as it is
			}
		}
		args[i] = r.coerce(args[i], d)
	}
	return r.concrete(c.ret, elem, args)
}

func (r *resolver) orUntyped(t string, a *facts.Expr) string {
	if t == "" && a.Type == untyped {
		return untyped
	}
	return t
}

// concrete replaces a polymorphic type.
func (r *resolver) concrete(t, elem string, args []*facts.Expr) string {
	switch t {
	case "anyelement", "anynonarray", "anyenum", "anycompatible", "anycompatiblenonarray":
		return elem
	case "anyarray", "anycompatiblearray":
		return arrayOf(elem)
	case "anyrange", "anycompatiblerange", "anymultirange", "anycompatiblemultirange":
		for _, a := range args {
			if r.category(a.Type) == 'R' && (r.b.multi[a.Type] == "") == strings.Contains(t, "multi") {
				return a.Type
			}
		}
		return ""
	case "any":
		return ""
	}
	return t
}
