package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/policy"
)

// plan is how a verdict's claim is run: one text, on the whole and on some sites.
type plan struct {
	sql      string
	params   []planner.Param
	setup    string
	sites    []*site
	other    *site // a place that a right verdict does not need; nil if there is none
	none     bool
	readOnly bool               // nothing to set up and nothing to roll back
	distinct bool               // the gather drops doubles
	each     bool               // every site must give the whole's answer
	texts    map[*site]string   // what a site runs instead of sql
	watch    []*candidate.Table // tables whose rows are compared after a write
}

// merging are the features whose work begins with rows that the shards only deliver: for them the rows that enter the merge are compared.
var merging = []policy.Feature{
	policy.PartialAgg, policy.PartialAvg, policy.AggDistinctOnKey, policy.AggDistinct, policy.AggPull, policy.GroupMerge, policy.HavingAfterMerge,
	policy.DistinctOn, policy.WindowPull,
}

// refusing are the features whose effect no single text can be compared for.
var refusing = []policy.Feature{policy.Subplan, policy.Repartition, policy.MoveRow, policy.KeyGeneration, policy.UnionAppend}

// plan turns a verdict into what to run; why says why there is nothing to run.
func (l *Lab) plan(st Statement, v planner.Verdict) (p *plan, why string) {
	st.SQL = query(st.SQL)
	p = &plan{sql: st.SQL, params: st.Params, setup: st.Setup, readOnly: !v.Write && st.Setup == "" && startsRead(st.SQL)}
	for _, s := range l.plannedTables(v) {
		if v.Write {
			p.watch = append(p.watch, s)
		}
	}
	switch v.Class {
	case planner.Invalid:
		return p, ""
	case planner.Unsharded:
		p.sites = []*site{l.home}
		return p, ""
	case planner.Reference:
		p.sites = []*site{l.refs}
		return p, ""
	case planner.None:
		return p, l.planNone(p)
	case planner.SingleShard, planner.MultiShard, planner.Scatter:
		return p, l.planShards(p, st, v)
	case planner.Broadcast:
		return p, l.planBroadcast(p, v)
	}
	return nil, fmt.Sprintf("class %s makes no claim that can be run", v.Class)
}

func (l *Lab) plannedTables(v planner.Verdict) []*candidate.Table {
	var tables []*candidate.Table
	for _, key := range v.Tables {
		t := l.cfg.Candidate.Table(key)
		if t.Placement == candidate.Sharded && l.cfg.Catalog.Relations[key] != nil {
			tables = append(tables, t)
		}
	}
	return tables
}

// planNone takes one shard to answer and a second one as another witness.
func (l *Lab) planNone(p *plan) string {
	for _, colo := range l.cfg.Candidate.Colos {
		shards := l.shards[colo.Name]
		p.sites, p.other, p.none = shards[:1], shards[len(shards)-1], true
		return ""
	}
	return "the candidate has no colo"
}

func (l *Lab) planShards(p *plan, st Statement, v planner.Verdict) string {
	if len(v.Colos) != 1 {
		return fmt.Sprintf("the verdict names %d colos", len(v.Colos))
	}
	shards := l.shards[v.Colos[0]]
	for _, f := range refusing {
		if slices.Contains(v.Features, f) {
			return fmt.Sprintf("feature %s is not executed", f)
		}
	}
	if slices.Contains(v.Features, policy.SplitInsert) {
		return l.planSplit(p, st, shards)
	}
	if v.Class != planner.Scatter {
		if len(v.Shards.List) == 0 {
			return "the verdict names no shard for these values"
		}
		for _, n := range v.Shards.List {
			if n < 0 || n >= len(shards) {
				return fmt.Sprintf("the verdict names shard %d of %d", n, len(shards))
			}
			p.sites = append(p.sites, shards[n])
		}
	} else {
		p.sites = shards
	}
	if v.Class == planner.SingleShard {
		if len(p.sites) != 1 {
			return fmt.Sprintf("a single_shard verdict names %d shards", len(p.sites))
		}
		p.other = shards[(p.sites[0].shard+1)%len(shards)]
		return ""
	}
	return p.gather(v)
}

// gather replaces the statement by the part of it that runs on the shards.
func (p *plan) gather(v planner.Verdict) string {
	merge := slices.ContainsFunc(v.Features, func(f policy.Feature) bool { return slices.Contains(merging, f) })
	text, err := shardText(p.sql, merge)
	if err != nil {
		return err.Error()
	}
	p.sql = text
	p.distinct = slices.Contains(v.Features, policy.Distinct)
	return ""
}

// startsRead tells a plain read by its first word. What else a statement may do is rolled back.
func startsRead(sql string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	return strings.EqualFold(first, "select") && !strings.Contains(sql, ";")
}
