package impact

import "github.com/foreshard/foreshard/planner/reason"

// Title is a code's heading, for lists that group findings by code. A code that nobody registered is its own title.
func Title(code string) string {
	switch code {
	case FKSetsKey:
		return "foreign key action that changes the shard key"
	case FKAction:
		return "foreign key action over shards"
	case FKUnknown:
		return "foreign key to a table without a place"
	case KeyDefault:
		return "default of the shard key"
	case KeyGenerated:
		return "generated shard key"
	case CopiesDiffer:
		return "copies of a reference table can differ"
	case ViewCrossPlace:
		return "view over several places"
	case ViewUnread:
		return "view that cannot be read"
	case MaterializedView:
		return "materialized view of sharded tables"
	case FunctionPlaces:
		return "function over several places"
	case LargeObject:
		return "large objects"
	case Extension:
		return "extension"
	case DynamicSQL:
		return "function that builds statements at run time"
	}
	if info, ok := reason.Of(code); ok {
		return info.Short
	}
	return code
}
