package impact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/reason"
)

// foreignKeys checks where each foreign key of a table leads. A database checks a reference only if both rows are in it: key to key within
// one colo, or to a table that has a copy there.
func (c *checker) foreignKeys(p *place) {
	parent := c.parent(p)
	for _, fk := range p.rel.ForeignKeys {
		if parent != nil && slices.ContainsFunc(parent.ForeignKeys, func(o *catalog.ForeignKey) bool {
			return o.RefTable == fk.RefTable && slices.Equal(o.Columns, fk.Columns)
		}) {
			continue
		}
		c.foreignKey(p, fk)
	}
}

func (c *checker) foreignKey(p *place, fk *catalog.ForeignKey) {
	f := Finding{Severity: Breaks, Object: fk.Name, Kind: "foreign key", Line: fk.Line}
	ref := &place{rel: c.cat.Relations[fk.RefTable], Table: c.cand.Table(fk.RefTable)}
	local := p.Placement == candidate.Unsharded
	switch {
	case ref.rel == nil:
		f.Code, f.Severity = FKUnknown, Info
		f.Why = "it refers to " + name(fk.RefTable) + ", which the schema lacks"
		f.Repair = "load a schema that has " + name(fk.RefTable)
	case ref.Placement == candidate.Undecided:
		f.Code = FKUnknown
		f.Why = "it refers to " + name(fk.RefTable) + ", which the candidate does not place"
		f.Repair = "place " + yaml(fk.RefTable) + " in the candidate"
		if local {
			f.Severity = Info
		}
	case p.sharded() && ref.sharded() && p.Colo == ref.Colo:
		if !paired(p, ref, fk) {
			c.offKey(p, ref, fk, &f)
			break
		}
		c.actions(p, fk)
		return
	case p.sharded() && ref.reference():
		c.actions(p, fk)
		return
	case !p.sharded() && !ref.sharded() && !(p.reference() && ref.Placement == candidate.Unsharded):
		return
	default:
		f.Code = reason.FKCrossColo
		f.Why = fmt.Sprintf("%s is %s, %s %s: no database has both rows to check", table(p.rel), where(p.Table), table(ref.rel), where(ref.Table))
		if p.reference() {
			f.Why = fmt.Sprintf("%s is copied to every shard, and its rows refer to %s %s, which a shard does not have", table(p.rel), table(ref.rel), where(ref.Table))
		}
		f.Repair = fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s, and check in the application%s", table(p.rel), ident(fk.Name), c.instead(p, ref))
	}
	c.add(p, f)
}

// paired tells whether the shard keys of both tables stand opposite each other.
func paired(p, ref *place, fk *catalog.ForeignKey) bool {
	for i, col := range fk.Columns {
		if col == p.Column && i < len(fk.RefColumns) && fk.RefColumns[i] == ref.Column {
			return true
		}
	}
	return false
}

func (c *checker) offKey(p, ref *place, fk *catalog.ForeignKey, f *Finding) {
	f.Code = reason.FKOffKey
	f.Why = fmt.Sprintf("it does not pair the shard keys %s.%s and %s.%s, so the row that it refers to may be on another shard", table(p.rel), ident(p.Column), table(ref.rel), ident(ref.Column))
	if slices.Contains(fk.Columns, p.Column) || slices.Contains(fk.RefColumns, ref.Column) {
		f.Repair = fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s, and check in the application", table(p.rel), ident(fk.Name))
		return
	}
	from, to := withFirst(p.Column, fk.Columns), withFirst(ref.Column, fk.RefColumns)
	f.Repair = fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s, ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)", table(p.rel), ident(fk.Name), ident(fk.Name), columns(from), table(ref.rel), columns(to))
	if !slices.ContainsFunc(ref.rel.Uniques, func(u *catalog.Constraint) bool { return u.Exprs == 0 && !u.Partial && sameSet(u.Columns, to) }) {
		f.Repair += fmt.Sprintf("; %s needs UNIQUE (%s) first", table(ref.rel), columns(to))
	}
}

// instead proposes an edit of the candidate that would keep a foreign key: the referenced table beside the other, or copied.
func (c *checker) instead(p, ref *place) string {
	for _, side := range []struct{ stay, move *place }{{p, ref}, {ref, p}} {
		stay, move := side.stay, side.move
		if !stay.sharded() || stay.Colo == move.Colo {
			continue
		}
		if i := move.rel.Column(stay.Column); i >= 0 && move.rel.Columns[i].Type == stay.rel.Columns[stay.Col].Type && !move.reference() {
			return fmt.Sprintf("; or shard %s by %s in colo %s", table(move.rel), ident(stay.Column), quoted(stay.Colo.Name))
		}
	}
	if !p.reference() && ref.Placement == candidate.Unsharded || p.reference() {
		return fmt.Sprintf("; or list %s under reference: if it is small and seldom written", table(ref.rel))
	}
	return ""
}

// actions checks what a foreign key that can be kept does to rows when the row they refer to changes.
func (c *checker) actions(p *place, fk *catalog.ForeignKey) {
	set := fk.SetColumns
	if len(set) == 0 {
		set = fk.Columns
	}
	f := Finding{Object: fk.Name, Kind: "foreign key", Line: fk.Line}
	alter := fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s, ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)", table(p.rel), ident(fk.Name), ident(fk.Name), columns(fk.Columns), table(c.cat.Relations[fk.RefTable]), columns(fk.RefColumns))
	var rest []string // the columns to set that are not the key
	for _, col := range set {
		if col != p.Column {
			rest = append(rest, col)
		}
	}
	switch empties := func(a string) bool { return a == "set null" || a == "set default" }; {
	case empties(fk.OnDelete) && slices.Contains(set, p.Column):
		f.Code, f.Severity = FKSetsKey, Breaks
		f.Why = fmt.Sprintf("ON DELETE %s changes the shard key %s, and a row cannot leave its shard that way", strings.ToUpper(fk.OnDelete), ident(p.Column))
		f.Repair = alter + " ON DELETE RESTRICT"
		if len(rest) > 0 {
			f.Repair = fmt.Sprintf("%s ON DELETE %s (%s), from PostgreSQL 15 on", alter, strings.ToUpper(fk.OnDelete), columns(rest))
		}
	case slices.Contains(fk.Columns, p.Column) && empties(fk.OnUpdate):
		f.Code, f.Severity = FKSetsKey, Breaks
		f.Why = fmt.Sprintf("ON UPDATE %s changes the shard key %s, and a row cannot leave its shard that way", strings.ToUpper(fk.OnUpdate), ident(p.Column))
		f.Repair = alter + onDelete(fk)
	case slices.Contains(fk.Columns, p.Column) && fk.OnUpdate == "cascade":
		f.Code, f.Severity = FKSetsKey, Weakens
		f.Why = fmt.Sprintf("ON UPDATE CASCADE would move rows to another shard when %s changes; a shard key never may", ident(p.Column))
		f.Repair = alter + onDelete(fk)
	case c.cand.Table(fk.RefTable).Placement == candidate.Reference && (fk.OnDelete == "cascade" || empties(fk.OnDelete) || fk.OnUpdate == "cascade" || empties(fk.OnUpdate)):
		f.Code, f.Severity = FKAction, Info
		f.Why = fmt.Sprintf("a change of a row of %s goes to all shards and there changes rows of %s: one write over all shards", name(fk.RefTable), table(p.rel))
	default:
		return
	}
	c.add(p, f)
}

func onDelete(fk *catalog.ForeignKey) string {
	if fk.OnDelete == "no action" {
		return ""
	}
	s := " ON DELETE " + strings.ToUpper(fk.OnDelete)
	if len(fk.SetColumns) > 0 {
		s += " (" + columns(fk.SetColumns) + ")"
	}
	return s
}
