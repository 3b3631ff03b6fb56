package prove

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/sqlast"
)

// planSplit runs an INSERT of several rows as its verdict says: each shard gets the rows that are its own. Where a row goes is judged row by row.
func (l *Lab) planSplit(p *plan, st Statement, shards []*site) string {
	node, err := sqlast.ParseOne(st.SQL)
	if err != nil {
		return "the statement is not one statement that parses"
	}
	rows := node.GetInsertStmt().GetSelectStmt().GetSelectStmt().GetValuesLists()
	if len(rows) == 0 {
		return "only INSERT with VALUES is split"
	}
	byShard := map[int][]*sqlast.Node{}
	for _, row := range rows {
		text, err := insertOf(node, []*sqlast.Node{row})
		if err != nil {
			return err.Error()
		}
		q := st.Question
		q.SQL = text
		v := l.planner.Explain(q).Verdict
		if v.Class != planner.SingleShard || len(v.Shards.List) != 1 || v.Shards.List[0] >= len(shards) {
			return "a row of the INSERT has no shard of its own"
		}
		byShard[v.Shards.List[0]] = append(byShard[v.Shards.List[0]], row)
	}
	p.texts = map[*site]string{}
	p.sites = nil
	for n, s := range shards {
		if len(byShard[n]) == 0 {
			continue
		}
		text, err := insertOf(node, byShard[n])
		if err != nil {
			return err.Error()
		}
		p.sites = append(p.sites, s)
		p.texts[s] = text
	}
	return ""
}

// insertOf writes an INSERT with some of its rows.
func insertOf(insert *sqlast.Node, rows []*sqlast.Node) (string, error) {
	n := proto.Clone(insert).(*sqlast.Node)
	n.GetInsertStmt().SelectStmt.GetSelectStmt().ValuesLists = rows
	return deparse(n)
}

// planBroadcast runs a write to reference tables on every copy of them: each must give the whole's answer.
func (l *Lab) planBroadcast(p *plan, v planner.Verdict) string {
	if !v.Write || len(v.Tables) == 0 || slices.ContainsFunc(v.Tables, func(key string) bool { return l.cfg.Candidate.Table(key).Placement != candidate.Reference }) {
		return "class broadcast is executed for writes to reference tables only"
	}
	p.each = true
	p.sites = []*site{l.refs, l.home}
	for _, colo := range l.cfg.Candidate.Colos {
		p.sites = append(p.sites, l.shards[colo.Name]...)
	}
	for _, key := range v.Tables {
		if l.cfg.Catalog.Relations[key] != nil {
			p.watch = append(p.watch, l.cfg.Candidate.Table(key))
		}
	}
	return ""
}

// compareEach gives the lines in which any copy's answer differs from the whole's.
func compareEach(p *plan, whole *answer, parts []*answer) []string {
	var diff []string
	for i, a := range parts {
		if a.code != "" {
			return []string{fmt.Sprintf("+ %s fails: %s (%s)", p.sites[i].name, a.text, a.code)}
		}
		if a.count != whole.count {
			diff = append(diff, fmt.Sprintf("+ %s: %d rows affected, not %d", p.sites[i].name, a.count, whole.count))
		}
		for _, line := range append(diffBags(whole.rows, a.rows), diffStates(whole.state, a.state)...) {
			diff = append(diff, line[:2]+p.sites[i].name+": "+line[2:])
		}
	}
	return diff
}

// query takes the query out of a statement that is one around it: EXPLAIN, DECLARE CURSOR, COPY (query) TO.
func query(sql string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	switch strings.ToLower(first) {
	case "explain", "declare", "copy":
	default:
		return sql
	}
	node, err := sqlast.ParseOne(sql)
	if err != nil {
		return sql
	}
	inner := node.GetExplainStmt().GetQuery()
	if inner == nil {
		inner = node.GetDeclareCursorStmt().GetQuery()
	}
	if inner == nil && !node.GetCopyStmt().GetIsFrom() {
		inner = node.GetCopyStmt().GetQuery()
	}
	if inner == nil {
		return sql
	}
	if text, err := deparse(inner); err == nil {
		return text
	}
	return sql
}

// sampled tells a statement that takes a sample of rows which it does not say how to repeat.
func sampled(sql string) bool {
	if !strings.Contains(strings.ToLower(sql), "tablesample") {
		return false
	}
	node, err := sqlast.ParseOne(sql)
	if err != nil {
		return false
	}
	found := false
	sqlast.Walk(node, func(n *sqlast.Node) bool {
		s := n.GetRangeTableSample()
		found = found || s != nil && s.GetRepeatable() == nil
		return !found
	})
	return found
}
