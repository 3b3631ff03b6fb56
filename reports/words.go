package reports

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Mark is how a readiness is shown: never by colour alone.
type Mark struct {
	Key  string // ready, costly, blocked, unknown
	Icon string
	Word string
}

// readinessOrder is the order in which readiness is listed everywhere.
var readinessOrder = [...]string{"ready", "costly", "blocked", "unknown"}

func markOf(readiness string) Mark {
	switch readiness {
	case "ready":
		return Mark{"ready", "✓", "ready"}
	case "costly":
		return Mark{"costly", "▲", "costly"}
	case "blocked":
		return Mark{"blocked", "✗", "blocked"}
	}
	return Mark{"unknown", "?", "unknown"}
}

// noteMark stands before a sentence that is advice.
var noteMark = Mark{"note", "→", "note"}

// readinessMeaning says what a readiness means to the people who own the query.
func readinessMeaning(readiness string) string {
	switch readiness {
	case "ready":
		return "runs unchanged on one shard, one copy or the original database"
	case "costly":
		return "works on many shards with features the engine supports"
	case "blocked":
		return "needs rows to move, cannot keep its meaning, or uses an unsupported feature"
	}
	return "not understood, so nothing is claimed"
}

// classOrder lists the planner's classes from cheap to impossible; classMeaning says each in a few words.
var classOrder = [...]string{
	"single_shard", "none", "reference", "unsharded", "session", "multi_shard", "scatter", "broadcast", "multi_phase", "reject", "unknown", "invalid",
}

func classMeaning(class string) string {
	switch class {
	case "single_shard":
		return "one shard, always"
	case "none":
		return "no row can qualify"
	case "reference":
		return "only replicated tables"
	case "unsharded":
		return "only tables that stay"
	case "session":
		return "BEGIN, SET, cursors"
	case "multi_shard":
		return "a few known shards"
	case "scatter":
		return "every shard, one phase"
	case "broadcast":
		return "same change everywhere"
	case "multi_phase":
		return "rows move between shards"
	case "reject":
		return "its meaning cannot be kept"
	case "unknown":
		return "not understood"
	case "invalid":
		return "not valid SQL"
	}
	return ""
}

// classReadiness is the colour of a class. A dialect may say more of a template; this is for charts of classes only.
func classReadiness(class string) string {
	switch class {
	case "single_shard", "none", "reference", "unsharded", "session":
		return "ready"
	case "multi_shard", "scatter", "broadcast":
		return "costly"
	case "multi_phase", "reject":
		return "blocked"
	}
	return "unknown"
}

// featureWords says what an engine that has a feature can do.
func featureWords(feature string) string {
	words := map[string]string{
		"2pc": "atomic writes on several shards", "row_count_sum": "row counts of several shards added up", "split_insert": "rows of an INSERT sent to their shards",
		"distinct": "DISTINCT over several shards", "distinct_on": "DISTINCT ON over several shards", "agg_distinct": "DISTINCT aggregates off the key",
		"agg_pull": "aggregates that need all rows", "window_pull": "window functions over several shards", "having_after_merge": "HAVING over merged groups",
		"with_ties": "WITH TIES", "union_append": "arms of a UNION from different places", "key_generation": "keys made before routing",
		"global_sequence": "a sequence over all shards", "move_row": "rows that change shards", "subplan": "results of one query fed to another",
		"repartition": "rows that move between shards", "eval_once": "expressions evaluated once", "concat": "rows of several shards", "merge_sort": "sorted rows of several shards",
		"limit": "LIMIT over several shards", "offset": "OFFSET over several shards", "partial_agg": "aggregates over several shards", "partial_avg": "averages over several shards",
		"group_merge": "groups over several shards", "broadcast_ddl": "schema changes on every shard",
	}[feature]
	if words == "" {
		return label(feature)
	}
	return words + " (" + feature + ")"
}

// Count writes an integer with thousand separators.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}

// plural is "1 call", "2 calls".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// percent writes part of total so that it is 0 % only for nothing and 100 % only for everything: 99.97 % does not become 100 %, 0.004 % is
// "< 0.01 %". A total of nothing is a dash.
func percent(part, total float64) string {
	p := 100 * part / total
	switch {
	case total <= 0 || math.IsNaN(p):
		return "–"
	case part <= 0:
		return "0 %"
	case math.Abs(part-total) <= 1e-12*total:
		return "100 %"
	case p < 0.01:
		return "< 0.01 %"
	case p < 0.1, p >= 99.9 && p <= 99.99:
		return strconv.FormatFloat(p, 'f', 2, 64) + " %"
	case p > 99.99 && p < 100:
		return "> 99.99 %"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + " %"
}

// millis writes a duration given in milliseconds with about three digits that mean something.
func millis(ms float64) string {
	switch {
	case ms == 0:
		return "0 ms"
	case ms < 0.0005:
		return "< 0.001 ms"
	case ms < 1:
		return trimZeros(strconv.FormatFloat(ms, 'f', 3, 64)) + " ms"
	case ms < 100:
		return trimZeros(strconv.FormatFloat(ms, 'f', 1, 64)) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(math.Floor(ms), 'f', 0, 64) + " ms"
	case ms < 60_000:
		return trimZeros(strconv.FormatFloat(math.Floor(ms/100)/10, 'f', 1, 64)) + " s"
	}
	if ms > float64(math.MaxInt64)/float64(time.Millisecond) {
		return "> 292 years"
	}
	return Span(time.Duration(ms) * time.Millisecond)
}

// Span writes a duration in its two largest units.
func Span(d time.Duration) string {
	pair := func(big int64, bigUnit string, small int64, smallUnit string) string {
		if small == 0 {
			return Count(big) + " " + bigUnit
		}
		return Count(big) + " " + bigUnit + " " + Count(small) + " " + smallUnit
	}
	s := int64(d / time.Second)
	switch {
	case d < time.Minute:
		if d < time.Second {
			return trimZeros(strconv.FormatFloat(float64(d)/1e6, 'f', 1, 64)) + " ms"
		}
		return trimZeros(strconv.FormatFloat(math.Floor(d.Seconds()*10)/10, 'f', 1, 64)) + " s"
	case d < time.Hour:
		return pair(s/60, "min", s%60, "s")
	case d < 24*time.Hour:
		return pair(s/3600, "h", s%3600/60, "min")
	}
	return pair(s/86400, "d", s%86400/3600, "h")
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Size writes a number of bytes in decimal units.
func Size(n int64) string {
	if n < 1000 {
		return plural(n, "byte", "bytes")
	}
	f := float64(n)
	for _, unit := range []string{"kB", "MB", "GB", "TB"} {
		f /= 1000
		if f < 999.5 || unit == "TB" {
			digits := 1
			if f >= 100 {
				digits = 0
			}
			return strconv.FormatFloat(f, 'f', digits, 64) + " " + unit
		}
	}
	return ""
}

// join lists names as English does, at most max of them: "a, b and 3 more".
func join(names []string, max int) string {
	if len(names) > max {
		return strings.Join(names[:max], ", ") + " and " + Count(int64(len(names)-max)) + " more"
	}
	if len(names) > 1 {
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return strings.Join(names, "")
}

// short is a template's ID as people read it: 12 hex digits tell the templates of any report apart, and are enough to find one by.
func short(id string) string { return id[:min(len(id), 12)] }

// calls is a number of calls.
func calls(m Measure) string { return plural(int64(m.Number), "call", "calls") }

// are is the verb for n things.
func are(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// label turns a code of the contract into words: "multi_shard_write" → "multi shard write".
func label(code string) string { return strings.ReplaceAll(code, "_", " ") }
