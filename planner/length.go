package planner

import (
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
)

// An assignment to varchar(n) cuts blanks off the end of a text that is too long; another text that is too long is an error. So a key as it is
// stored may differ from the one that was written.

// length is the n of a varchar(n) column; 0 if it has one that is not known, of a domain.
func (j *judge) length(col *catalog.Column) (n int, limited bool) {
	base := j.baseType(col.Type)
	if layout.ClassOf(base) != layout.TextKey {
		return 0, false
	}
	if col.TypeMod != "" {
		n, err := strconv.Atoi(strings.Trim(col.TypeMod, "() "))
		if err != nil {
			n = 0
		}
		return n, true
	}
	return 0, base != col.Type && base != "text"
}

// fit gives the keys as a column stores them. A symbol becomes another one: what is stored need not be what was written.
func (j *judge) fit(set *keyset, col *catalog.Column) *keyset {
	n, limited := j.length(col)
	if set == nil || !limited {
		return set
	}
	out := &keyset{or: set.or}
	for _, k := range set.keys {
		switch {
		case k.known && k.id == "" && !strings.HasSuffix(k.k.Text, " "):
		case k.known && k.id == "" && n > 0:
			k.k.Text = cut(k.k.Text, n)
		case k.from == fromGenerated:
		default:
			if k.id == "" {
				k.id = strconv.Quote(k.k.Text)
			}
			k.id += "->(" + strconv.Itoa(n) + ")"
			if k.known = k.known && (n > 0 || !strings.HasSuffix(k.k.Text, " ")); k.known && n > 0 {
				k.k.Text = cut(k.k.Text, n)
			}
			k.values = cutAll(k.values, n)
		}
		out.add(k)
	}
	return out
}

// cut takes blanks off the end of a text that is longer than n.
func cut(s string, n int) string {
	r := []rune(s)
	for len(r) > n && r[len(r)-1] == ' ' {
		r = r[:len(r)-1]
	}
	return string(r)
}

// cutAll cuts the elements of a list; nil if one of them is not known then.
func cutAll(list []layout.Key, n int) []layout.Key {
	var out []layout.Key
	for _, k := range list {
		if strings.HasSuffix(k.Text, " ") {
			if n == 0 {
				return nil
			}
			k.Text = cut(k.Text, n)
		}
		out = append(out, k)
	}
	return out
}

// cuts tells whether a column may store something else than the value of an output: it has a length, and the value does not come from a column
// of the same type.
func (j *judge) cuts(lv *level, e *facts.Expr, col *catalog.Column) bool {
	if _, limited := j.length(col); !limited {
		return false
	}
	from := j.storedIn(lv, e)
	return from == nil || from.Type != col.Type || from.TypeMod != col.TypeMod
}

// storedIn is the column of a table that an output is, nil if it is none.
func (j *judge) storedIn(lv *level, e *facts.Expr) *catalog.Column {
	for lv != nil && e.Op == facts.Column && !e.System && e.Source >= 0 {
		in := lv.lookup(e.Source)
		switch {
		case in == nil:
			return nil
		case in.rel != nil && e.Col >= 0 && e.Col < len(in.rel.Columns):
			return &in.rel.Columns[e.Col]
		case in.sub == nil || e.Col < 0 || e.Col >= len(in.sub.q.Outputs):
			return nil
		}
		lv, e = in.sub, in.sub.q.Outputs[e.Col].Expr
	}
	return nil
}
