package fix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// writes tries to repair what a write does to the key.
func (s *search) writes(tree *sqlast.Node) {
	w := s.st.Query.Write
	if w == nil || w.Target == nil {
		return
	}
	t := s.p.Candidate().Table(w.Target.Table)
	rel := s.relation(w.Target.Table)
	if t.Placement != candidate.Sharded || rel == nil {
		return
	}
	if s.has(reason.KeyUpdate) {
		s.setKey(tree, t)
	}
	if s.has(reason.ConflictTargetOffKey) {
		s.conflict(tree, t, rel)
	}
	if s.has(reason.InsertKeyMissing, reason.InsertSelectRekey) {
		s.insertKey(tree, t)
	}
}

// assignments are the SET items of an UPDATE, or of ON CONFLICT DO UPDATE.
func assignments(tree *sqlast.Node) *[]*sqlast.Node {
	if u := tree.GetUpdateStmt(); u != nil {
		return &u.TargetList
	}
	if c := tree.GetInsertStmt().GetOnConflictClause(); c != nil {
		return &c.TargetList
	}
	return nil
}

// setKey leaves the key out of SET.
func (s *search) setKey(tree *sqlast.Node, t *candidate.Table) {
	loc := -1
	text, ok := s.apply(func(tree *sqlast.Node) bool {
		list := assignments(tree)
		if list == nil {
			return false
		}
		i := slices.IndexFunc(*list, func(n *sqlast.Node) bool {
			r := n.GetResTarget()
			return r.GetName() == t.Column && r.GetVal().GetMultiAssignRef() == nil
		})
		if i < 0 || len(*list) < 2 {
			return false
		}
		loc = int((*list)[i].GetResTarget().GetLocation())
		*list = slices.Delete(*list, i, i+1)
		return true
	})
	if !ok {
		return
	}
	v, ok := s.try(s.p, text, false)
	if !ok {
		return
	}
	out, found := replace(s.text, loc, "", text)
	s.offer(planner.Fix{
		Kind: SetKey, Change: fmt.Sprintf("leave %s of %s out of SET", named(t.Column), table(t.Key)), SQL: s.shown(s.p, out, found, text, &v),
		Semantics: fmt.Sprintf("same result if the statement sets %s to the value that the row has", named(t.Column)),
	}, &v)
}

// conflict names a unique constraint that has the key as the target of ON CONFLICT.
func (s *search) conflict(tree *sqlast.Node, t *candidate.Table, rel *catalog.Relation) {
	clause := tree.GetInsertStmt().GetOnConflictClause()
	if clause == nil || s.st.Query.Write.Conflict == nil {
		return
	}
	have := s.st.Query.Write.Conflict.Columns
	columns, exists := target(rel, t.Column, have)
	if len(columns) == 0 {
		return
	}
	p := s.p
	if !exists {
		p = planner.New(withUnique(s.p.Catalog(), rel, columns), s.p.Candidate())
	}
	text, ok := s.apply(func(tree *sqlast.Node) bool {
		c := tree.GetInsertStmt().GetOnConflictClause()
		infer := &sqlast.InferClause{}
		for _, col := range columns {
			infer.IndexElems = append(infer.IndexElems, &sqlast.Node{Node: &sqlast.Node_IndexElem{IndexElem: &sqlast.IndexElem{Name: col,
				Ordering: sqlast.SortByDir_SORTBY_DEFAULT, NullsOrdering: sqlast.SortByNulls_SORTBY_NULLS_DEFAULT}}})
		}
		c.Infer = infer
		return true
	})
	if !ok {
		return
	}
	v, ok := s.try(p, text, false)
	if !ok {
		return
	}
	var names []string
	for _, c := range columns {
		names = append(names, ident(c))
	}
	list := "(" + strings.Join(names, ", ") + ")"
	out, found := s.conflictText(list, text)
	f := planner.Fix{Kind: ConflictTarget, SQL: s.shown(p, out, found, text, &v), Change: fmt.Sprintf("make the target of ON CONFLICT %s, which has the shard key %s of %s", list, named(t.Column), table(t.Key))}
	f.Semantics = "a row that repeats another unique value is an error then, not a conflict"
	switch {
	case !exists:
		f.Change += fmt.Sprintf("; it takes UNIQUE %s on the table", list)
		f.Semantics = fmt.Sprintf("same result if (%s) repeats only within one %s", strings.Join(have, ", "), named(t.Column))
	case contains(columns, have):
		f.Semantics = fmt.Sprintf("same result if (%s) repeats only within one %s", strings.Join(have, ", "), named(t.Column))
	}
	if len(have) == 0 && f.Kind == ConflictTarget && exists {
		f.Semantics = "same result if rows repeat no other unique value; else an error instead of no row"
	}
	s.offer(f, &v)
}

func contains(all, part []string) bool {
	return len(part) > 0 && !slices.ContainsFunc(part, func(c string) bool { return !slices.Contains(all, c) })
}

// target finds the columns of a unique constraint with the key: the given ones and the key, whether there is such a constraint or not, or
// of the primary key where none are given.
func target(rel *catalog.Relation, key string, have []string) (columns []string, exists bool) {
	if len(have) == 0 {
		if rel.Primary != nil && slices.Contains(rel.Primary.Columns, key) {
			return rel.Primary.Columns, true
		}
		for _, u := range rel.Uniques {
			if slices.Contains(u.Columns, key) && u.Exprs == 0 && !u.Partial {
				return u.Columns, true
			}
		}
		return nil, false
	}
	want := append([]string{key}, have...)
	for _, u := range rel.Uniques {
		if len(u.Columns) == len(want) && contains(u.Columns, want) && u.Exprs == 0 && !u.Partial {
			return u.Columns, true
		}
	}
	return want, false
}

// withUnique is the catalog with one more unique constraint.
func withUnique(cat *catalog.Catalog, rel *catalog.Relation, columns []string) *catalog.Catalog {
	out := *cat
	out.Relations = maps.Clone(cat.Relations)
	more := *rel
	more.Uniques = append(slices.Clone(rel.Uniques), &catalog.Constraint{Name: "added", Columns: columns})
	out.Relations[rel.Key()] = &more
	return &out
}

// conflictText puts the target into the user's text, in the place of what is there.
func (s *search) conflictText(list, want string) (string, bool) {
	i := slices.IndexFunc(s.tokens, func(t sqlast.Token) bool { return t.Name == "CONFLICT" })
	if i < 0 || i+1 >= len(s.tokens) {
		return "", false
	}
	end := slices.IndexFunc(s.tokens[i+1:], func(t sqlast.Token) bool { return t.Name == "DO" })
	if end < 0 {
		return "", false
	}
	out := s.text[:s.tokens[i].End] + " " + list + " " + s.text[s.tokens[i+1+end].Start:]
	got, ok := canonical(out)
	return out, ok && got == want
}

// insertKey gives the inserted rows a key: a parameter, or the key of the table they are read from.
func (s *search) insertKey(tree *sqlast.Node, t *candidate.Table) {
	ins := tree.GetInsertStmt()
	if ins == nil || len(ins.GetCols()) == 0 {
		return
	}
	values := []string{s.param()}
	if len(ins.GetSelectStmt().GetSelectStmt().GetValuesLists()) == 0 {
		values = nil
		for _, it := range s.occ {
			if it.colo == t.Colo && !it.target {
				values = append(values, it.name+"."+it.column)
			}
		}
	}
	for _, value := range values {
		text, ok := s.apply(func(tree *sqlast.Node) bool { return giveKey(tree, t.Column, value) })
		if !ok {
			continue
		}
		v, ok := s.try(s.p, text, false)
		if !ok {
			continue
		}
		sem := fmt.Sprintf("the application has to give the %s of the rows", named(t.Column))
		if value != s.param() {
			sem = fmt.Sprintf("the rows get the %s of the rows they are made from", named(t.Column))
		}
		s.offer(planner.Fix{
			Kind: InsertKey, Change: fmt.Sprintf("give %s of %s in the INSERT: %s", named(t.Column), table(t.Key), value),
			SQL: s.insertText(t.Column, value, text, &v), Semantics: sem,
		}, &v)
		return
	}
}

// giveKey puts a value for a column into an INSERT: in the place of the NULL or DEFAULT that is there, or as its first column.
func giveKey(tree *sqlast.Node, column, value string) bool {
	ins := tree.GetInsertStmt()
	val := expression(value)
	sel := ins.GetSelectStmt().GetSelectStmt()
	if sel == nil || val == nil || sel.GetLarg() != nil {
		return false
	}
	at := slices.IndexFunc(ins.GetCols(), func(n *sqlast.Node) bool { return n.GetResTarget().GetName() == column })
	if at < 0 {
		ins.Cols = append([]*sqlast.Node{{Node: &sqlast.Node_ResTarget{ResTarget: &sqlast.ResTarget{Name: column}}}}, ins.GetCols()...)
	}
	put := func(list []*sqlast.Node, val *sqlast.Node, bare func(*sqlast.Node) *sqlast.Node) []*sqlast.Node {
		if at < 0 {
			return append([]*sqlast.Node{val}, list...)
		}
		if at < len(list) && (bare(list[at]).GetSetToDefault() != nil || bare(list[at]).GetAConst().GetIsnull()) {
			list[at] = val
		}
		return list
	}
	rows := sel.GetValuesLists()
	for _, r := range rows {
		if r.GetList() == nil {
			return false
		}
		r.GetList().Items = put(r.GetList().GetItems(), val, func(n *sqlast.Node) *sqlast.Node { return n })
	}
	if len(rows) == 0 {
		target := &sqlast.Node{Node: &sqlast.Node_ResTarget{ResTarget: &sqlast.ResTarget{Val: val}}}
		sel.TargetList = put(sel.GetTargetList(), target, func(n *sqlast.Node) *sqlast.Node { return n.GetResTarget().GetVal() })
	}
	return true
}

// insertText puts a first column and its value into the user's text; other changes are shown as the tree writes them.
func (s *search) insertText(column, value, want string, v *planner.Verdict) string {
	var b strings.Builder
	depth, at, lists, values := 0, 0, 0, false
	for _, t := range s.tokens {
		b.WriteString(s.text[at:t.End])
		at = t.End
		switch t.Name {
		case "ASCII_40":
			switch depth++; {
			case depth == 1 && lists == 0:
				lists = 1
				b.WriteString(ident(column) + ", ")
			case depth == 1 && values:
				b.WriteString(value + ", ")
			}
		case "ASCII_41":
			depth--
		case "VALUES":
			values = values || depth == 0
		case "SELECT":
			if depth == 0 && lists == 1 {
				lists = 2
				b.WriteString(" " + value + ",")
			}
		case "ON":
			values = values && depth > 0
		}
	}
	b.WriteString(s.text[at:])
	got, ok := canonical(b.String())
	return s.shown(s.p, b.String(), ok && got == want, want, v)
}
