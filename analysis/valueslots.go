package analysis

import (
	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/layout"
)

// valueSlots lists the slots of a statement that can hold the value of a column that could be a shard key.
func valueSlots(st *facts.Statement, cat *catalog.Catalog) []pipeline.ValueSlot {
	var out []pipeline.ValueSlot
	for _, s := range planner.ValueSlots(st, cat) {
		out = append(out, pipeline.ValueSlot{Slot: s.Slot, Table: s.Table, Column: s.Column, Class: hashClass(s.Type), List: s.List})
	}
	return out
}

// hashClass is the index of a column type's hashes in a capture.Value, -1 for a type that can not be a shard key.
func hashClass(typ string) int {
	switch layout.ClassOf(typ) {
	case layout.IntKey:
		return 0
	case layout.TextKey:
		return 1
	case layout.UUIDKey:
		return 2
	}
	return -1
}
