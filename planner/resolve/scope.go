package resolve

import (
	"slices"

	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// scope is one query level's names.
type scope struct {
	parent  *scope
	query   *facts.Query
	items   []*item
	ctes    []*cte
	lateral bool // a LATERAL item is being resolved: items to its left are visible
	windows map[string]*window
	outputs []facts.Output // named outputs that ORDER BY may refer to
	agg     bool           // an aggregate was met at this level
	noAgg   string         // the clause an aggregate may not stand in
}

// item is one name of the FROM list and the columns behind it.
type item struct {
	name        string // alias or relation name; "" for an unnamed join
	schema      string // of an unaliased table
	source      *facts.Source
	cols        []member
	relVisible  bool // name.column finds it
	colVisible  bool // a bare column finds it
	lateralOnly bool // visible to LATERAL items only
	open        bool // its columns are not known: any name may be one of them
	loose       bool // of the system: a server of another version may have columns that are not listed
	table       bool // has system columns
	rowType     string
}

// member is one visible column.
type member struct {
	name string
	expr *facts.Expr // Column or Merge, Levels 0
}

// cte is a WITH entry in scope.
type cte struct {
	facts     *facts.CTE
	node      *sqlast.CommonTableExpr
	scope     *scope // the level of the WITH clause
	recursive bool   // of WITH RECURSIVE: visible before it is resolved
	state     cteState
	cols      []column
	open      bool
}

// cteState tells how far a CTE is resolved.
type cteState uint8

const (
	ctePending cteState = iota
	cteRunning
	cteReady
)

func newScope(parent *scope, q *facts.Query) *scope { return &scope{parent: parent, query: q} }

// at copies the expression of a member for a reference from levels below.
func (m *member) at(levels, pos int) *facts.Expr {
	e := shift(m.expr, levels)
	e.Pos = pos
	return e
}

func shift(e *facts.Expr, levels int) *facts.Expr {
	c := *e
	if c.Op == facts.Column {
		c.Levels += levels
	}
	if len(e.Args) > 0 {
		c.Args = make([]*facts.Expr, len(e.Args))
		for i, a := range e.Args {
			c.Args[i] = shift(a, levels)
		}
	}
	return &c
}

// find looks an unqualified column up, innermost level first. open tells that an unknown relation may have it.
func (s *scope) find(name string) (m *member, levels int, ambiguous, open bool) {
	for ; s != nil; s, levels = s.parent, levels+1 {
		for _, i := range s.items {
			if !i.colVisible || i.lateralOnly && !s.lateral {
				continue
			}
			if i.open {
				open = true
			}
			for k := range i.cols {
				if i.cols[k].name != name {
					continue
				}
				if m != nil {
					return m, levels, true, open
				}
				m = &i.cols[k]
			}
		}
		if m != nil || open {
			return m, levels, false, open
		}
	}
	return nil, 0, false, open
}

// system looks for a system column of an unqualified name.
func (s *scope) system(name string) (it *item, levels int, ambiguous bool) {
	if !isSystemColumn(name) {
		return nil, 0, false
	}
	for ; s != nil; s, levels = s.parent, levels+1 {
		for _, i := range s.items {
			if i.table && i.relVisible && !(i.lateralOnly && !s.lateral) {
				if it != nil {
					return it, levels, true
				}
				it = i
			}
		}
		if it != nil {
			return it, levels, false
		}
	}
	return nil, 0, false
}

// loose finds a relation of the system that may have a column nobody else has.
func (s *scope) loose() (it *item, levels int) {
	for ; s != nil; s, levels = s.parent, levels+1 {
		for _, i := range s.items {
			if i.loose && i.relVisible {
				return i, levels
			}
		}
	}
	return nil, 0
}

// relation looks a range variable up.
func (s *scope) relation(schema, name string) (it *item, levels int, ambiguous bool) {
	for ; s != nil; s, levels = s.parent, levels+1 {
		for _, i := range s.items {
			if !i.relVisible || i.name != name || i.lateralOnly && !s.lateral || schema != "" && i.schema != schema {
				continue
			}
			if it != nil {
				return it, levels, true
			}
			it = i
		}
		if it != nil {
			return it, levels, false
		}
	}
	return nil, 0, false
}

// findCTE looks a WITH name up.
func (s *scope) findCTE(name string) *cte {
	for ; s != nil; s = s.parent {
		for i := len(s.ctes) - 1; i >= 0; i-- {
			if s.ctes[i].facts.Name == name && (s.ctes[i].recursive || s.ctes[i].state == cteReady) {
				return s.ctes[i]
			}
		}
	}
	return nil
}

func (s *scope) up(levels int) *scope {
	for ; levels > 0 && s != nil; levels-- {
		s = s.parent
	}
	return s
}

// expand gives the columns of * in FROM order.
func (s *scope) expand(pos int) (out []facts.Output, open, any bool) {
	for _, i := range s.items {
		if !i.colVisible || i.lateralOnly {
			continue
		}
		any = true
		open = open || i.open || i.loose && len(i.cols) == 0
		for k := range i.cols {
			out = append(out, facts.Output{Name: i.cols[k].name, Expr: i.cols[k].at(0, pos)})
		}
	}
	return out, open, any
}

var systemColumns = []string{"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"}

func isSystemColumn(name string) bool { return slices.Contains(systemColumns, name) }

func systemType(name string) string {
	switch name {
	case "ctid":
		return "tid"
	case "xmin", "xmax":
		return "xid"
	case "cmin", "cmax":
		return "cid"
	}
	return "oid"
}

// columnRef resolves a.b.c, *.
func (r *resolver) columnRef(c *sqlast.ColumnRef, s *scope) *facts.Expr {
	pos := r.pos(int(c.GetLocation()))
	parts := names(c.GetFields())
	last := c.GetFields()[len(c.GetFields())-1]
	if _, star := last.GetNode().(*sqlast.Node_AStar); star { // t.* outside a target list is the whole row
		schema, rel := qualifier(append(parts, ""))
		return r.wholeRow(schema, rel, s, pos)
	}
	name := parts[len(parts)-1]
	if len(parts) == 1 {
		return r.bareColumn(name, s, pos)
	}
	schema, rel := qualifier(parts)
	it, levels, amb := s.relation(schema, rel)
	switch {
	case amb:
		r.invalid("ambiguous_table", pos, "table reference %q is ambiguous", rel)
		return r.opaque("column", pos)
	case it == nil:
		r.missingRelation(rel, s, pos)
		return r.opaque("column", pos)
	}
	return r.itemColumn(it, name, levels, pos)
}

func qualifier(parts []string) (schema, rel string) {
	switch len(parts) {
	case 2:
		return "", parts[0]
	case 3:
		return parts[0], parts[1]
	case 4:
		return parts[1], parts[2]
	}
	return "", ""
}

func (r *resolver) missingRelation(rel string, s *scope, pos int) {
	for ; s != nil; s = s.parent {
		for _, i := range s.items {
			if i.open && i.name == "" {
				r.problem("unknown_column", pos, "%q is not known", rel)
				return
			}
		}
	}
	r.invalid("unknown_table", pos, "no FROM item is named %q", rel)
}

func (r *resolver) itemColumn(it *item, name string, levels, pos int) *facts.Expr {
	var found *member
	for k := range it.cols {
		if it.cols[k].name == name {
			if found != nil {
				r.invalid("ambiguous_column", pos, "column %q of %q is ambiguous", name, it.name)
				return r.opaque("column", pos)
			}
			found = &it.cols[k]
		}
	}
	switch {
	case found != nil:
		return found.at(levels, pos)
	case it.table && isSystemColumn(name):
		return &facts.Expr{Op: facts.Column, Source: it.source.ID, Col: -1, Name: name, System: true, Type: systemType(name), Levels: levels, Pos: pos}
	case it.open || it.loose:
		e := &facts.Expr{Op: facts.Column, Col: -1, Name: name, Levels: levels, Pos: pos}
		if it.source != nil {
			e.Source = it.source.ID
		}
		return e
	}
	if e := r.attributeCall(it, name, levels, pos); e != nil {
		return e
	}
	r.invalid("unknown_column", pos, "%q has no column %q", it.name, name)
	return r.opaque("column", pos)
}

func (r *resolver) bareColumn(name string, s *scope, pos int) *facts.Expr {
	m, levels, amb, open := s.find(name)
	switch {
	case amb:
		r.invalid("ambiguous_column", pos, "column %q is ambiguous", name)
		return r.opaque("column", pos)
	case m != nil:
		return m.at(levels, pos)
	case open:
		r.problem("unknown_column", pos, "column %q belongs to a relation that is not known", name)
		return r.opaque("column", pos)
	}
	if it, levels, amb := s.system(name); it != nil && !amb {
		return &facts.Expr{Op: facts.Column, Source: it.source.ID, Col: -1, Name: name, System: true, Type: systemType(name), Levels: levels, Pos: pos}
	}
	if it, _, _ := s.relation("", name); it != nil {
		return r.wholeRow("", name, s, pos)
	}
	if it, levels := s.loose(); it != nil {
		return r.itemColumn(it, name, levels, pos)
	}
	r.invalid("unknown_column", pos, "column %q does not exist", name)
	return r.opaque("column", pos)
}

// wholeRow is a reference to a row as one value. Of a function that returns a scalar it is the scalar.
func (r *resolver) wholeRow(schema, rel string, s *scope, pos int) *facts.Expr {
	it, levels, amb := s.relation(schema, rel)
	if it == nil || amb {
		r.invalid("unknown_table", pos, "no FROM item is named %q, or several are", rel)
		return r.opaque("row", pos)
	}
	if it.source != nil && it.source.Kind == facts.FromFunction && len(it.cols) == 1 && !it.open && it.rowType == "" {
		return it.cols[0].at(levels, pos)
	}
	if it.source == nil || it.source.Kind == facts.FromJoin {
		e := &facts.Expr{Op: facts.Row, Type: "record", Pos: pos}
		for k := range it.cols {
			e.Args = append(e.Args, it.cols[k].at(levels, pos))
		}
		return e
	}
	typ := it.rowType
	if typ == "" {
		typ = "record"
	}
	return &facts.Expr{Op: facts.Column, Source: it.source.ID, Col: -1, Name: it.name, System: true, Type: typ, Levels: levels, Pos: pos}
}

// opaque is a leaf for what was not understood; a problem accompanies it.
func (r *resolver) opaque(name string, pos int) *facts.Expr {
	return &facts.Expr{Op: facts.Opaque, Name: name, Pos: pos}
}
