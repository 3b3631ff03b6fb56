package warehouse

import (
	"cmp"
	"time"
)

// Statistics is the table of what servers counted themselves.
const Statistics = "statistics"

// OpaqueTemplate begins the template of calls whose text is not kept; what follows is why.
const OpaqueTemplate = "opaque/"

func statisticsTable() Table {
	return Table{Name: Statistics, Doc: "Calls that a server's pg_stat_statements counted between two looks at it: evidence beside the log's, not to be added to rollups. Each look also has a row without a template, so that quiet time shows. Sum them: two rows may share all keys.",
		ByDay: true, Sort: []string{"template", "source", "from", "to"}, Keys: []string{"template", "source", "from", "to", "database", "user", "evidence"},
		Folds: map[string]Fold{"calls": Sum, "time_us": Sum}, Count: "calls", Columns: []Column{
			{"from", Minute, "the look before, by the server's clock"},
			{"to", Minute, "the look; the day is its"},
			{"template", Text, "templates.id; opaque/ and why, where the text is not kept; empty: the look itself"},
			{"database", Text, "database name, empty if it was dropped"},
			{"user", Text, "role name that the statements ran as, empty if it was dropped"},
			{"source", Text, "server: system identifier of its cluster, and address"},
			{"evidence", Text, "exact, at_least (rows were evicted, reset or hidden, or a utility statement was prepared by name), unclear (calls inside functions are in it)"},
			{"calls", Integer, "calls that ended without an error"},
			{"time_us", Integer, "time in the executor, microseconds"},
		}}
}

// CountedRow is a row of statistics.
type CountedRow struct {
	From, To                                   time.Time
	Template, Database, User, Source, Evidence string
	Calls, TimeUS                              int64
}

func (r CountedRow) cells(w *cells) {
	w.time(r.From)
	w.time(r.To)
	w.text(r.Template)
	w.text(r.Database)
	w.text(r.User)
	w.text(r.Source)
	w.text(r.Evidence)
	w.integer(r.Calls)
	w.integer(r.TimeUS)
}

func (r CountedRow) day() time.Time { return r.To }

func compareCounted(a, b *CountedRow) int {
	return cmp.Or(cmp.Compare(a.Template, b.Template), cmp.Compare(a.Source, b.Source), a.From.Compare(b.From), a.To.Compare(b.To),
		cmp.Compare(a.Database, b.Database), cmp.Compare(a.User, b.User), cmp.Compare(a.Evidence, b.Evidence))
}
