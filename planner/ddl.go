package planner

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
)

// changeTable judges CREATE TABLE, ALTER TABLE and CREATE INDEX: the same change on every shard that has the table, unless a constraint
// cannot hold over shards or the shard key itself changes.
func (j *judge) changeTable(u *facts.Utility) result {
	if u.Kind == facts.UtilCreateTable {
		return j.createTable(u)
	}
	p := j.placements(u.Tables, u.Missing)
	switch {
	case u.Temp && !p.spread():
		return result{class: Session}
	case len(p.undecided) > 0:
		return result{class: Unknown}
	}
	rejected := false
	for _, key := range u.Tables {
		for i := range u.Actions {
			rejected = j.rejectsAction(key, &u.Actions[i], u) || rejected
		}
	}
	switch {
	case rejected:
		return result{class: Reject}
	case p.spread():
		j.noteDDL(u)
		return result{class: Broadcast}
	}
	return result{class: Unsharded}
}

// createTable judges CREATE TABLE. Where the new table goes is the candidate's decision; without one it is made on the original database.
func (j *judge) createTable(u *facts.Utility) result {
	if u.Temp {
		j.note(reason.TempTable, u.Pos, reason.Args{Table: u.Name})
		return result{class: Session}
	}
	placement := j.p.cand.Table(u.Name).Placement
	for i := range u.Actions {
		if a := &u.Actions[i]; a.Kind == "partition_of" || a.Kind == "inherit" {
			if t := j.p.cand.Table(a.Table); t.Placement == candidate.Sharded || t.Placement == candidate.Reference {
				placement = t.Placement
			}
		}
	}
	rejected := false
	for i := range u.Actions {
		rejected = j.rejectsAction(u.Name, &u.Actions[i], u) || rejected
	}
	switch {
	case rejected:
		return result{class: Reject}
	case placement == candidate.Sharded || placement == candidate.Reference:
		j.noteDDL(u)
		return result{class: Broadcast}
	}
	return result{class: Unsharded}
}

// rejectsAction tells whether a change cannot be kept over shards.
func (j *judge) rejectsAction(table string, a *facts.Action, u *facts.Utility) bool {
	t := j.p.cand.Table(table)
	args := reason.Args{Table: table, Column: t.Column, Name: actionName(u, a)}
	switch kind := strings.TrimSuffix(a.Kind, "_using_index"); kind {
	case "add_unique", "add_primary_key":
		if t.Placement == candidate.Sharded && kind == a.Kind && !slices.Contains(a.Columns, t.Column) {
			j.note(reason.UniqueOffKey, a.Pos, args)
			return true
		}
	case "add_exclude":
		if t.Placement == candidate.Sharded && !slices.Contains(a.Equal, t.Column) {
			j.note(reason.UniqueOffKey, a.Pos, args)
			return true
		}
	case "add_foreign_key":
		return j.rejectsReference(t, a, args)
	case "alter_type", "drop_column":
		if t.Placement == candidate.Sharded && a.Column == t.Column {
			j.note(reason.KeyColumnDDL, a.Pos, args)
			return true
		}
	case "rename_column":
		if t.Placement == candidate.Sharded && a.Column == t.Column {
			j.note(reason.KeyColumnDDL, a.Pos, args)
		}
	}
	return false
}

func actionName(u *facts.Utility, a *facts.Action) string {
	if u.Kind == facts.UtilCreateIndex && u.Name != "" {
		return u.Name
	}
	return strings.ReplaceAll(strings.TrimPrefix(a.Kind, "add_"), "_", " ")
}

// rejectsReference checks a foreign key: both ends in one place, key to key, or to a reference table; and no action that empties the key.
func (j *judge) rejectsReference(t *candidate.Table, a *facts.Action, args reason.Args) bool {
	ref := j.p.cand.Table(a.RefTable)
	args.Other, args.OtherColumn = a.RefTable, ref.Column
	if ref.Colo != nil {
		args.OtherColo = ref.Colo.Name
	}
	if t.Colo != nil {
		args.Colo = t.Colo.Name
	}
	sharded, to := t.Placement == candidate.Sharded, ref.Placement == candidate.Sharded
	switch {
	case sharded && to && t.Colo == ref.Colo:
		paired := false
		for i, c := range a.Columns {
			paired = paired || c == t.Column && i < len(a.RefColumns) && a.RefColumns[i] == ref.Column
		}
		if !paired {
			j.note(reason.FKOffKey, a.Pos, args)
			return true
		}
	case sharded && ref.Placement == candidate.Reference, !sharded && !to:
		if t.Placement == candidate.Reference && ref.Placement == candidate.Unsharded {
			j.note(reason.FKCrossColo, a.Pos, args)
			return true
		}
	default:
		j.note(reason.FKCrossColo, a.Pos, args)
		return true
	}
	empties := func(action string) bool { return action == "set null" || action == "set default" }
	set := a.SetColumns
	if len(set) == 0 {
		set = a.Columns
	}
	if sharded && (empties(a.OnDelete) && slices.Contains(set, t.Column) || empties(a.OnUpdate) && slices.Contains(a.Columns, t.Column)) {
		j.note(reason.KeyUpdate, a.Pos, args)
		return true
	}
	return false
}
