package analysis

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/impact"
	"github.com/foreshard/foreshard/planner/reason"
)

// keyUpdates are the sharded tables whose shard key the traffic changes: by statements that set it, or by rows that moved in the WAL.
func (b *builder) keyUpdates(c *candidate.Candidate, verdicts []*judged, w *WriteReport) (out []impact.Finding) {
	calls := b.keyUpdateCalls(c, verdicts)
	moves := map[string]int64{}
	if w != nil {
		for _, t := range w.Tables {
			moves[t.Table] = t.KeyMoves
		}
	}
	for key, t := range c.Tables {
		if t.Placement != candidate.Sharded || calls[key]+moves[key] == 0 {
			continue
		}
		var seen []string
		if n := calls[key]; n > 0 {
			seen = append(seen, strconv.FormatInt(n, 10)+" calls of statements that set it")
		}
		if n := moves[key]; n > 0 {
			seen = append(seen, strconv.FormatInt(n, 10)+" updates in the WAL that changed it")
		}
		f := impact.Finding{Code: impact.KeyUpdated, Severity: impact.Breaks, Table: key, Object: t.Column, Kind: "column",
			Why:    "the shard key is updated in traffic: " + strings.Join(seen, ", ") + "; each such row would move to another shard",
			Repair: fmt.Sprintf("leave %s out of SET; to move a row, delete it and insert it again", t.Column)}
		if rel := b.cat.Relations[key]; rel != nil {
			f.Line = rel.Line
		}
		out = append(out, f)
	}
	return out
}

// keyUpdateCalls counts the calls of statements that set the shard key of a table; what a statement does to several tables is told by its reason.
func (b *builder) keyUpdateCalls(c *candidate.Candidate, verdicts []*judged) map[string]int64 {
	out := map[string]int64{}
	for _, v := range verdicts {
		n := b.totals[v.Template].calls
		if n == 0 || !v.Write {
			continue
		}
		for _, r := range v.Reasons {
			if r.Code != reason.KeyUpdate {
				continue
			}
			for _, table := range v.Tables {
				if setsKey(r.Message, table, c.Table(table)) {
					out[table] += n
					break
				}
			}
		}
	}
	return out
}

// setsKey says whether a reason's sentence is about a table: it names it with or without its schema.
func setsKey(message, key string, t *candidate.Table) bool {
	if t.Placement != candidate.Sharded {
		return false
	}
	for _, name := range []string{key, key[strings.IndexByte(key, '.')+1:]} {
		if reason.New(reason.KeyUpdate, 0, reason.Args{Table: name, Column: t.Column}).Message == message {
			return true
		}
	}
	return false
}
