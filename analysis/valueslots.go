package analysis

import (
	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
)

func valueSlots(*facts.Statement, *catalog.Catalog) []pipeline.ValueSlot { return nil }
