package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/reason"
)

// insertion is where the key of inserted rows comes from.
type insertion struct {
	set     *keyset // the keys of all rows; nil: not known before execution
	reject  bool    // a row has no key, or NULL
	pos     int     // of the key in the source's outputs, -1 if it is the default
	split   bool    // the rows are listed in the statement, so that they can be split by key
	keyGen  bool
	global  bool
	subsel  bool
	keyExpr *facts.Expr
}

// fillInsert restricts the target of an INSERT to the keys of its rows.
func (j *judge) fillInsert(lv *level, s *scope) {
	in := lv.insts[0]
	if !j.isSharded(in) {
		return
	}
	ins := j.insertion(lv, in)
	if t := j.term(in, in.keyColumn()); t != noTerm && ins.set != nil && len(ins.set.keys) > 0 {
		s.restrict(t, ins.set)
	}
}

// insertion works out the keys of an INSERT's rows.
func (j *judge) insertion(lv *level, in *inst) insertion {
	w := lv.q.Write
	out := insertion{pos: slices.Index(w.Columns, in.table.Column)}
	col := &catalog.Column{}
	if k := in.keyColumn(); in.rel != nil && k >= 0 {
		col = &in.rel.Columns[k]
	}
	class := layout.ClassOf(j.baseType(col.Type))
	switch {
	case col.Generated:
		return out // computed from other columns: not known here
	case out.pos < 0, w.Source == nil, w.Overriding == "user" && col.Identity:
		j.defaultKeys(w.Source, col, class, &out)
		return out
	case len(w.Source.Values) > 0 && lv.src != nil:
		out.split, out.set = true, &keyset{}
		for _, row := range w.Source.Values {
			j.rowKey(lv.src, row, col, class, &out)
		}
		return out
	}
	if lv.src == nil || out.pos >= len(w.Source.Outputs) {
		return out
	}
	e := w.Source.Outputs[out.pos].Expr
	out.keyExpr = e
	switch {
	case !lv.src.outs[out.pos].notNull && !col.NotNull && j.termOf(lv.src, e) != noTerm:
		return out // a row may be without a key
	case j.outputClass(lv.src, out.pos) == class:
		out.set = lv.src.outs[out.pos].set
		if j.cuts(lv.src, e, col) {
			out.set = j.fit(out.set, col)
		}
	case lv.src.q.SetOp == nil:
		out.set = j.assigned(e, col, class)
	}
	out.split = tableless(w.Source)
	if lv.src.q.SetOp == nil && isNullConst(e) {
		out.reject = true
	}
	return out
}

// tableless tells a query whose rows are all written in the statement.
func tableless(q *facts.Query) bool {
	plain := true
	walkQuery(q, func(q *facts.Query) {
		plain = plain && q.Write == nil
		for _, src := range q.From {
			walkSource(src, func(s *facts.Source) { plain = plain && s.Kind == facts.FromQuery })
		}
		eachExpr(q, func(e *facts.Expr, _ place) {
			walkExpr(e, func(x *facts.Expr) { plain = plain && !x.SetReturning })
		})
	})
	return plain
}

// rowKey adds the key of one row of VALUES.
func (j *judge) rowKey(src *level, row []*facts.Expr, col *catalog.Column, class layout.KeyClass, out *insertion) {
	if out.pos >= len(row) {
		out.set = nil
		return
	}
	e := row[out.pos]
	if e.Op == facts.Default {
		j.defaultKey(col, class, out)
		if out.keyGen && src.q.Folded {
			out.merge(&keyset{keys: []key{{id: "default", list: true, from: fromGenerated}}})
		}
		return
	}
	if isNullConst(e) {
		out.reject = true
		return
	}
	if e.Op == facts.Sublink {
		out.subsel = true
		out.merge(j.fit(j.keysOf(src, e, class), col))
		return
	}
	set := j.assigned(e, col, class)
	if set == nil && src.q.Folded && (holdsList(e) || j.volatileExpr(e)) { // one row stands for many, each with a value of its own
		out.keyGen = out.keyGen || j.volatileExpr(e)
		set = &keyset{keys: []key{{id: j.ident(e), list: true, from: fromExpr}}}
	}
	switch {
	case set == nil && j.volatileExpr(e), set == nil && builtinStable(e):
		out.keyGen = true
		out.merge(generatedKey())
	case set == nil:
		out.set = nil
	case len(set.keys) == 0 || set.keys[0].null && !set.keys[0].list:
		out.reject = true
	default:
		out.merge(set)
	}
}

// holdsList tells an expression over a folded list.
func holdsList(e *facts.Expr) bool {
	found := false
	walkExpr(e, func(x *facts.Expr) { found = found || x.Op == facts.Slot && x.List })
	return found
}

// builtinStable tells an expression of constants and builtin functions, which has one value when the engine evaluates it.
func builtinStable(e *facts.Expr) bool {
	ok := true
	walkExpr(e, func(x *facts.Expr) {
		switch x.Op {
		case facts.Column, facts.Sublink, facts.Opaque, facts.Aggregate, facts.Window:
			ok = false
		case facts.Call:
			ok = ok && !x.SetReturning
		}
	})
	return ok
}

func generatedKey() *keyset { return &keyset{keys: []key{{from: fromGenerated}}} }

func (ins *insertion) merge(set *keyset) {
	if ins.set == nil {
		return
	}
	if set == nil {
		ins.set = nil
		return
	}
	for i := range set.keys { // the set is the insertion's own
		ins.set.add(set.keys[i])
	}
}

// defaultKeys adds the keys of rows that all leave it to the column's default.
func (j *judge) defaultKeys(source *facts.Query, col *catalog.Column, class layout.KeyClass, out *insertion) {
	out.pos, out.set = -1, &keyset{}
	rows, many := 1, false
	switch {
	case source == nil:
	case len(source.Values) > 0:
		rows, many = len(source.Values), source.Folded
	default:
		many = source.SetOp != nil || len(source.From) > 0 || !tableless(source)
	}
	out.split = source == nil || len(source.Values) > 0 || tableless(source)
	for range rows {
		j.defaultKey(col, class, out)
	}
	if many && out.keyGen {
		out.merge(&keyset{keys: []key{{id: "default", list: true, from: fromGenerated}}})
	}
}

// assigned is the key that a value becomes in a column.
func (j *judge) assigned(e *facts.Expr, col *catalog.Column, class layout.KeyClass) *keyset {
	return j.fit(j.converted(e, col.Type, class), col)
}

// converted turns a value into the key's type as an assignment does, and takes it as a key.
func (j *judge) converted(e *facts.Expr, typ string, class layout.KeyClass) *keyset {
	o, err := j.eval(e)
	if err != nil {
		j.wrong = true
		return nil
	}
	if !o.fixed {
		return nil
	}
	typ = j.baseType(typ)
	if o.known && !o.list {
		d, err := convert(o.val, typ, "")
		if err == nil {
			o.val = d
			if o.id != "" && layout.ClassOf(j.baseType(e.Type)) != class {
				o.id, o.expr, o.slot = o.id+"->"+typ, true, 0
			}
			return keysFrom(o, class)
		}
		if err == errInput && o.id == "" {
			j.wrong = true
			return nil
		}
	}
	if layout.ClassOf(j.baseType(e.Type)) == class {
		return keysFrom(o, class)
	}
	if o.list || layout.ClassOf(typ) == layout.NoKey {
		return nil
	}
	id := o.id
	if id == "" {
		id = j.ident(e)
	}
	return &keyset{keys: []key{{id: id + "->" + typ, from: fromExpr}}}
}

// defaultKey adds the key of a row that leaves it to the column's default.
func (j *judge) defaultKey(col *catalog.Column, class layout.KeyClass, out *insertion) {
	switch {
	case col.Identity || strings.Contains(col.Default, "nextval("):
		out.keyGen, out.global = true, true
		out.merge(generatedKey())
	case col.DefaultVolatile:
		out.keyGen = true
		out.merge(generatedKey())
	case col.Default == "" || strings.HasPrefix(strings.ToLower(col.Default), "null"):
		out.reject = true
	default:
		if k, ok := literalDefault(col.Default, j.baseType(col.Type)); ok {
			out.merge(&keyset{keys: []key{{known: true, k: k}}})
			return
		}
		out.keyGen = true // one value for the statement: the engine evaluates it first
		out.merge(generatedKey())
	}
}

// literalDefault reads a default that is a plain literal: 'x'::text, 5, '5'::bigint.
func literalDefault(s, typ string) (layout.Key, bool) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "'") {
		end := strings.LastIndexByte(s, '\'')
		if rest := s[end+1:]; end < 1 || rest != "" && (!strings.HasPrefix(rest, "::") || strings.ContainsAny(rest, "()|+-*/")) {
			return layout.Key{}, false
		}
		body := s[1:end]
		if strings.Contains(strings.ReplaceAll(body, "''", ""), "'") || strings.Contains(body, `\`) {
			return layout.Key{}, false
		}
		s = strings.ReplaceAll(body, "''", "'")
	} else if _, err := strconv.ParseInt(s, 10, 64); err != nil {
		return layout.Key{}, false
	}
	k, err := layout.Parse(typ, s)
	return k, err == nil
}

// writeProp is the property of a data-modifying query: its target and its sources stay on one shard, row by row.
func (j *judge) writeProp(lv *level) prop {
	w := lv.q.Write
	if w == nil {
		return j.levelProp(lv, false)
	}
	in := lv.lookup(w.Target.ID)
	if in == nil || !j.isSharded(in) {
		return notLocal
	}
	switch w.Op {
	case "insert":
		return j.insertProp(lv, in)
	case "merge":
		if p := j.baseProp(lv); p.kind == local && j.mergeInserts(lv, in, p) {
			return prop{kind: local, keys: j.outputKeys(lv, p)}
		}
		return notLocal
	}
	p := j.baseProp(lv)
	if p.kind != local {
		return notLocal
	}
	return prop{kind: local, keys: j.outputKeys(lv, p)}
}

// insertProp tells whether the rows that INSERT ... SELECT makes stay on the shard they are read from.
func (j *judge) insertProp(lv *level, in *inst) prop {
	t := j.term(in, in.keyColumn())
	ins := j.insertion(lv, in)
	if lv.src == nil || len(lv.src.q.Values) > 0 || ins.pos < 0 || t == noTerm {
		return notLocal
	}
	p := j.levelProp(lv.src, false)
	if p.kind != local {
		if p.kind == repeated {
			j.note(reason.InsertSelectRekey, in.src.Pos, j.argsOf(in))
		}
		return notLocal
	}
	k := keyAt(p.keys, ins.pos)
	if k.nullable || j.outputClass(lv.src, ins.pos) != j.terms[t].class || j.cuts(lv.src, lv.src.q.Outputs[ins.pos].Expr, &in.rel.Columns[in.keyColumn()]) {
		j.note(reason.InsertSelectRekey, in.src.Pos, j.argsOf(in))
		return notLocal
	}
	base := prop{kind: local, keys: []keyCol{{term: t}}}
	if !j.sublinksLocal(lv, base) {
		return notLocal
	}
	return prop{kind: local, keys: j.outputKeys(lv, base)}
}

// mergeInserts tells whether the rows that a MERGE inserts get the key of the source row they are made from.
func (j *judge) mergeInserts(lv *level, in *inst, p prop) bool {
	for i := range lv.q.Write.Actions {
		a := &lv.q.Write.Actions[i]
		if a.Do != "insert" {
			continue
		}
		pos := slices.Index(a.Columns, in.table.Column)
		if pos < 0 || pos >= len(a.Values) || !j.hasKey(lv, a.Values[pos:pos+1], p.keys) || in.rel == nil || j.cuts(lv, a.Values[pos], &in.rel.Columns[in.keyColumn()]) {
			j.note(reason.InsertSelectRekey, a.Pos, j.argsOf(in))
			return false
		}
	}
	return true
}

// mergeKeys adds the keys of rows that a MERGE inserts to the target's; nil if they are not known.
func (j *judge) mergeKeys(lv *level, in *inst, set *keyset) *keyset {
	class := j.columnClass(in, in.keyColumn())
	for i := range lv.q.Write.Actions {
		a := &lv.q.Write.Actions[i]
		if a.Do != "insert" {
			continue
		}
		pos := slices.Index(a.Columns, in.table.Column)
		if pos < 0 || pos >= len(a.Values) {
			return nil
		}
		one := (*keyset)(nil)
		if t := j.termOf(lv, a.Values[pos]); t != noTerm && j.terms[t].class == class {
			if one = lv.final.keys(t); in.rel == nil || j.cuts(lv, a.Values[pos], &in.rel.Columns[in.keyColumn()]) {
				return nil
			}
		} else if t == noTerm && in.rel != nil {
			one = j.assigned(a.Values[pos], &in.rel.Columns[in.keyColumn()], class)
		}
		if one == nil {
			return nil
		}
		set = unite(set, one)
	}
	return set
}

// checkWrite finds what makes a write on a sharded table impossible: a changed key, a conflict target off the key, a row without key.
func (j *judge) checkWrite(lv *level) (rejected bool) {
	w := lv.q.Write
	in := lv.lookup(w.Target.ID)
	if in == nil || !j.isSharded(in) {
		return false
	}
	args := j.argsOf(in)
	if w.Op == "insert" {
		ins := j.insertion(lv, in)
		if ins.reject {
			j.note(reason.InsertKeyMissing, in.src.Pos, args)
			rejected = true
		}
		if ins.keyGen {
			j.feature(policy.KeyGeneration)
		}
		if ins.global {
			j.feature(policy.GlobalSequence)
			j.note(reason.Sequence, in.src.Pos, reason.Args{Table: args.Table})
		}
		j.sequenceDefaults(in, w)
	}
	for i := range w.Set {
		rejected = j.checkSet(lv, in, &w.Set[i], nil) || rejected
	}
	for i := range w.Actions {
		a := &w.Actions[i]
		for k := range a.Set {
			rejected = j.checkSet(lv, in, &a.Set[k], nil) || rejected
		}
		if a.Do != "insert" {
			continue
		}
		if pos := slices.Index(a.Columns, in.table.Column); pos < 0 || pos < len(a.Values) && isNullConst(a.Values[pos]) {
			j.note(reason.InsertKeyMissing, a.Pos, args)
			rejected = true
		}
	}
	if c := w.Conflict; c != nil {
		rejected = j.checkConflict(lv, in, c) || rejected
	}
	return rejected
}

// sequenceDefaults notes columns that a sequence fills because the INSERT leaves them out.
func (j *judge) sequenceDefaults(in *inst, w *facts.Write) {
	if in.rel == nil {
		return
	}
	for i := range in.rel.Columns {
		c := &in.rel.Columns[i]
		if c.Name == in.table.Column || !c.Identity && !strings.Contains(c.Default, "nextval(") {
			continue
		}
		if !slices.Contains(w.Columns, c.Name) || w.Source == nil {
			j.feature(policy.GlobalSequence)
			j.note(reason.Sequence, in.src.Pos, reason.Args{Table: in.src.Table, Column: c.Name, Name: c.Name})
		}
	}
}

// checkSet rejects an assignment to the key, unless it provably assigns the value that the row has.
func (j *judge) checkSet(lv *level, in *inst, a *facts.Assign, arbiter []string) bool {
	if a.Column != in.table.Column {
		return false
	}
	key := j.term(in, in.keyColumn())
	if key != noTerm && lv.final != nil {
		if arbiter != nil && a.Value.Op == facts.Column && a.Value.Source == lv.q.Write.Conflict.Excluded && a.Value.Name == in.table.Column && slices.Contains(arbiter, in.table.Column) {
			return false
		}
		if t := j.termOf(lv, a.Value); t != noTerm && (t == key || lv.final.same(t, key)) {
			return false
		}
		have := lv.final.keys(key)
		set := j.converted(a.Value, in.rel.Columns[in.keyColumn()].Type, j.terms[key].class) // a value that equals a stored one is not cut
		if have.single() && set.single() && have.keys[0].same(&set.keys[0]) {
			return false
		}
		if have != nil && len(have.keys) == 0 {
			return false
		}
	}
	j.note(reason.KeyUpdate, a.Pos, j.argsOf(in))
	j.feature(policy.MoveRow)
	return true
}

func (j *judge) checkConflict(lv *level, in *inst, c *facts.Conflict) (rejected bool) {
	off := func() {
		j.note(reason.ConflictTargetOffKey, c.Pos, j.argsOf(in))
		rejected = true
	}
	switch {
	case len(c.Columns) > 0 || c.Exprs > 0:
		if !slices.Contains(c.Columns, in.table.Column) {
			off()
		}
	case c.Constraint != "":
		off()
	case in.rel != nil:
		for _, u := range in.rel.Uniques {
			if !slices.Contains(u.Columns, in.table.Column) {
				off()
				break
			}
		}
	}
	arbiter := append([]string{}, c.Columns...)
	for i := range c.Set {
		rejected = j.checkSet(lv, in, &c.Set[i], arbiter) || rejected
	}
	return rejected
}
