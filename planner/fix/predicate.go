package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// pred is a condition to add: at the place of one table of the text, or of the two that it joins.
type pred struct {
	on   *item
	with *item // nil: a condition on one table
	text string
}

// slot is where a condition of an item stands in the tree that the item is of; nil if it would change which rows an outer join keeps.
func slot(it, with *item) **sqlast.Node {
	if with != nil && with.level == it.level {
		for i := len(it.joins) - 1; i >= 0; i-- { // the lowest join that has both
			if slices.Contains(with.joins, it.joins[i]) {
				if j := it.joins[i]; j.Quals != nil {
					return &j.Quals
				}
				break
			}
		}
		if it.nulls != nil || it.full || with.nulls != nil || with.full {
			return nil
		}
		return it.level.where
	}
	switch {
	case it.full:
		return nil
	case it.nulls != nil:
		if it.nulls.Quals == nil {
			return nil
		}
		return &it.nulls.Quals
	}
	return it.level.where
}

// edit finds the items again in a fresh tree and adds the condition.
func (p *pred) edit(tree *sqlast.Node) bool {
	var on, with *item
	for _, lv := range treeLevels(tree) {
		for _, it := range lv.items {
			if it.loc == p.on.loc {
				on = it
			}
			if p.with != nil && it.loc == p.with.loc {
				with = it
			}
		}
	}
	cond := expression(p.text)
	if on == nil || cond == nil || on.level.where == nil {
		return false
	}
	at := slot(on, with)
	if at == nil {
		return false
	}
	conjoin(at, cond)
	return true
}

func edits(preds []pred) []edit {
	var out []edit
	for i := range preds {
		out = append(out, preds[i].edit)
	}
	return out
}

// tryPreds judges the statement with conditions added.
func (s *search) tryPreds(p *planner.Planner, preds []pred) (string, planner.Verdict, bool) {
	text, ok := s.apply(edits(preds)...)
	if !ok {
		return "", planner.Verdict{}, false
	}
	v, ok := s.try(p, text, false)
	return text, v, ok
}

// write puts conditions into the user's text, one after the other.
func (s *search) write(p *planner.Planner, preds []pred, want string, v *planner.Verdict) string {
	text := s.text
	for i := range preds {
		step, ok := s.apply(edits(preds[:i+1])...)
		if !ok {
			return want
		}
		if text, ok = s.condition(text, preds[i].text, step); !ok {
			return want
		}
	}
	return s.shown(p, text, true, want, v)
}

// smallest leaves out what is not needed for a step to the same readiness.
func (s *search) smallest(preds []pred) ([]pred, string, planner.Verdict, bool) {
	text, v, ok := s.tryPreds(s.p, preds)
	if !ok {
		return nil, "", v, false
	}
	for i := len(preds) - 1; i >= 0 && len(preds) > 1; i-- {
		less := slices.Delete(slices.Clone(preds), i, i+1)
		if t, w, ok := s.tryPreds(s.p, less); ok && rank(w.Readiness) <= rank(v.Readiness) && planner.Cost(w.Class) <= planner.Cost(v.Class) {
			preds, text, v = less, t, w
		}
	}
	return preds, text, v, true
}

// qualified is a column of an item as a condition names it.
func (s *search) qualified(it *item, column string) string {
	n := 0
	for _, lv := range s.levels {
		n += len(lv.items)
	}
	if n == 1 && len(s.levels) == 1 {
		return column
	}
	return it.name + "." + column
}

// predicates tries equalities of keys, and of keys with values.
func (s *search) predicates() {
	var items []*item
	for _, it := range s.occ {
		if !it.target && it.level.where != nil {
			items = append(items, it)
		}
	}
	if len(items) == 0 || len(items) > 16 || slices.ContainsFunc(items, func(it *item) bool { return it.colo != items[0].colo }) {
		return
	}
	s.joinKeys(items)
	for _, value := range slices.Concat(s.values, s.borrowed) {
		if s.bound(items, value, false) {
			return
		}
	}
	if s.before.Class != planner.MultiShard { // its keys are known: one of them is what splitList offers
		s.bound(items, s.param(), true)
	}
}

// joinKeys tries the equality of two keys, then of all keys of a level.
func (s *search) joinKeys(items []*item) {
	var all []pred
	for i, a := range items {
		for _, b := range items[i+1:] {
			p := pred{on: b, with: a, text: s.qualified(b, b.column) + " = " + s.qualified(a, a.column)}
			if left, right, _ := strings.Cut(p.text, " = "); left == right || valued(a) && valued(b) {
				continue
			}
			if text, v, ok := s.tryPreds(s.p, []pred{p}); ok {
				s.offerJoin([]pred{p}, text, &v)
				if v.Readiness == planner.Ready {
					return
				}
			}
			if i == 0 {
				all = append(all, p)
			}
		}
	}
	if len(all) < 2 || len(s.found) > 0 {
		return
	}
	if preds, text, v, ok := s.smallest(all); ok {
		s.offerJoin(preds, text, &v)
	}
}

func (s *search) offerJoin(preds []pred, text string, v *planner.Verdict) {
	var what, rows, ties []string
	for i := range preds {
		on, with, key := preds[i].on.label(), preds[i].with.label(), named(preds[i].on.raw)
		what = append(what, fmt.Sprintf("join %s to %s on the shard key %s too: %s", on, with, key, preds[i].text))
		row := fmt.Sprintf("matching rows of %s and %s have the same %s", on, with, key)
		if on == with {
			row = fmt.Sprintf("matching rows of %s have the same %s", on, key)
		}
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		if fk := s.foreignKey(preds[i].on.table, preds[i].with.table); fk != "" && !slices.Contains(ties, named(fk)) {
			ties = append(ties, named(fk))
		}
	}
	sem := "same result if " + strings.Join(rows, ", and ")
	switch len(ties) {
	case 0:
	case 1:
		sem += ", as foreign key " + ties[0] + " suggests"
	default:
		sem += ", as foreign keys " + strings.Join(ties, " and ") + " suggest"
	}
	s.offer(planner.Fix{Kind: JoinKey, Change: strings.Join(what, "; "), SQL: s.write(s.p, preds, text, v), Semantics: sem}, v)
}

// foreignKey names a foreign key between two tables that has the shard key of both at one place.
func (s *search) foreignKey(a, b string) string {
	ta, tb := s.p.Candidate().Table(a), s.p.Candidate().Table(b)
	for _, way := range [][2]*candidate.Table{{ta, tb}, {tb, ta}} {
		rel := s.relation(way[0].Key)
		if rel == nil {
			continue
		}
		for _, fk := range rel.ForeignKeys {
			for i, c := range fk.Columns {
				if fk.RefTable == way[1].Key && c == way[0].Column && i < len(fk.RefColumns) && fk.RefColumns[i] == way[1].Column {
					return fk.Name
				}
			}
		}
	}
	return ""
}

// bound tries to give the keys of all tables one value.
func (s *search) bound(items []*item, value string, fresh bool) bool {
	var all []pred
	for _, it := range items {
		if !valued(it) { // another value would contradict the one it has
			all = append(all, pred{on: it, text: s.qualified(it, it.column) + " = " + value})
		}
	}
	if len(all) == 0 {
		return false
	}
	preds, text, v, ok := s.smallest(all)
	if !ok {
		return false
	}
	key := named(preds[0].on.raw)
	f := planner.Fix{Kind: Predicate, SQL: s.write(s.p, preds, text, &v)}
	if !fresh {
		f.Change = "give " + listed(preds, false) + " the value that the statement already has for the shard key"
		if slices.Contains(s.borrowed, value) {
			f.Change = "give " + listed(preds, false) + " the value that the transaction already has for the shard key"
		}
		f.Semantics = "same result if all rows that matter have that " + key
		s.offer(f, &v)
		return v.Readiness == planner.Ready
	}
	f.Change = "add a condition on " + listed(preds, true)
	f.Semantics = "another result, for one " + key + " only: right if the application asks for one and knows it"
	if s.before.Write {
		f.Semantics = "another effect, on rows of one " + key + " only: right if the application means one and knows it"
	}
	if len(s.values) == 0 && len(preds) == 1 {
		s.lookup(f, preds[0], &v)
	}
	s.offer(f, &v)
	return v.Readiness == planner.Ready
}

// listed names the columns that conditions are on, and the conditions.
func listed(preds []pred, conds bool) string {
	var out []string
	sep := ", and "
	for i := range preds {
		name := named(preds[i].on.raw) + " of " + preds[i].on.label()
		if conds {
			name += ": " + preds[i].text
			sep = ", and on "
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, sep)
}

// lookup offers to find the key by a unique column that the statement compares with a constant.
func (s *search) lookup(f planner.Fix, p pred, v *planner.Verdict) {
	it := p.on
	if it.src == nil || it.src.Kind != facts.FromTable || v.Readiness != planner.Ready {
		return
	}
	rel := s.relation(it.src.Table)
	if rel == nil {
		return
	}
	for _, u := range rel.Uniques {
		if len(u.Columns) != 1 || u.Exprs > 0 || u.Partial || !s.compared(it, u.Columns[0]) {
			continue
		}
		unique, key := named(u.Columns[0]), named(it.raw)
		f.Kind = Lookup
		f.Change = fmt.Sprintf("look up %s by %s, which is unique in %s, then add %s", key, unique, it.label(), p.text)
		f.Semantics = fmt.Sprintf("same result while a lookup table from %s to %s is kept with %s", unique, key, it.label())
		s.offer(f, v)
		return
	}
}

// compared tells whether the level of an item compares its column with a constant in a condition that always holds.
func (s *search) compared(it *item, column string) bool {
	if it.nulls != nil || it.full {
		return false
	}
	for _, side := range equalities(it) {
		if constant(side[1]) && it.owns(side[0], column) {
			return true
		}
	}
	return false
}

// valued tells whether the key of an item is compared with a constant already.
func valued(it *item) bool {
	for _, side := range equalities(it) {
		if constant(side[1]) && it.owns(side[0], it.raw) {
			return true
		}
	}
	return false
}

// owns tells whether an expression is a column of the item.
func (it *item) owns(n *sqlast.Node, column string) bool {
	fields := n.GetColumnRef().GetFields()
	if columnName(n) != column {
		return false
	}
	return len(fields) == 1 && len(it.level.items) == 1 || len(fields) == 2 && ident(fields[0].GetString_().GetSval()) == it.name
}

// equalities lists the equalities, both ways around, of the conditions that hold for an item: those of its level and of its inner joins.
func equalities(it *item) [][2]*sqlast.Node {
	if it.level.where == nil {
		return nil
	}
	conds := []*sqlast.Node{*it.level.where}
	for _, j := range it.joins {
		if j.GetJointype() == sqlast.JoinType_JOIN_INNER || j == it.nulls {
			conds = append(conds, j.GetQuals())
		}
	}
	var out [][2]*sqlast.Node
	for len(conds) > 0 {
		c := conds[0]
		conds = conds[1:]
		if b := c.GetBoolExpr(); b != nil && b.GetBoolop() == sqlast.BoolExprType_AND_EXPR {
			conds = append(conds, b.GetArgs()...)
		}
		e := c.GetAExpr()
		if e.GetKind() == sqlast.A_Expr_Kind_AEXPR_OP && len(e.GetName()) == 1 && e.GetName()[0].GetString_().GetSval() == "=" {
			out = append(out, [2]*sqlast.Node{e.GetLexpr(), e.GetRexpr()}, [2]*sqlast.Node{e.GetRexpr(), e.GetLexpr()})
		}
	}
	return out
}
