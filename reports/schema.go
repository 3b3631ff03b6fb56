package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/analysis"
)

// LossView is what of the schema a candidate would lose.
type LossView struct {
	Line   string // the counts in one sentence
	Breaks int64
	Groups []LossGroup // most that breaks first
}

// LossGroup is the findings of one table, worst first. Those that belong to no table stand last.
type LossGroup struct {
	Table    string
	Counts   string
	Findings []LossRow

	breaks, weakens int64
}

// LossRow is one object of the schema.
type LossRow struct {
	Mark              Mark
	Object            string // with its kind: "primary key invites_pkey"
	Line              string // "line 89", "" if the schema does not tell
	Why, Repair, Code string
}

// severityMark shows what is left of an object's promise.
func severityMark(severity string) Mark {
	switch severity {
	case "breaks":
		return Mark{"blocked", "✗", "breaks"}
	case "weakens":
		return Mark{"costly", "▲", "weakens"}
	}
	return Mark{"note", "·", "info"}
}

// lossView groups the findings by table.
func lossView(list []analysis.SchemaFinding) LossView {
	v := LossView{Line: "the schema keeps every promise it makes"}
	var weakens, info int64
	at := map[string]int{}
	for _, f := range list {
		i, ok := at[f.Table]
		if !ok {
			i = len(v.Groups)
			at[f.Table] = i
			v.Groups = append(v.Groups, LossGroup{Table: cut(line(strings.TrimPrefix(f.Table, "public.")), maxName)})
		}
		g := &v.Groups[i]
		switch f.Severity {
		case "breaks":
			g.breaks++
			v.Breaks++
		case "weakens":
			g.weakens++
			weakens++
		default:
			info++
		}
		row := LossRow{Mark: severityMark(f.Severity), Object: cut(line(strings.TrimSpace(f.Kind+" "+strings.TrimPrefix(f.Object, "public."))), maxName), Code: line(f.Code),
			Why: cut(line(f.Why), maxLine), Repair: cut(line(f.Repair), maxSQL)}
		if f.Line > 0 {
			row.Line = "line " + Count(int64(f.Line))
		}
		g.Findings = append(g.Findings, row)
	}
	for i := range v.Groups {
		g := &v.Groups[i]
		slices.SortStableFunc(g.Findings, func(a, b LossRow) int { return cmp.Compare(severityRank(a.Mark), severityRank(b.Mark)) })
		g.Counts = lossCounts(g.breaks, g.weakens, int64(len(g.Findings))-g.breaks-g.weakens)
	}
	slices.SortStableFunc(v.Groups, func(a, b LossGroup) int {
		if (a.Table == "") != (b.Table == "") {
			return -cmp.Compare(a.Table, b.Table)
		}
		return cmp.Or(cmp.Compare(b.breaks, a.breaks), cmp.Compare(b.weakens, a.weakens), strings.Compare(a.Table, b.Table))
	})
	for i := range v.Groups {
		if v.Groups[i].Table == "" {
			v.Groups[i].Table = "not of one table"
		}
	}
	if len(list) > 0 {
		v.Line = lossCounts(v.Breaks, weakens, info) + " in the schema, whatever the traffic"
	}
	return v
}

func severityRank(m Mark) int { return slices.Index([]string{"breaks", "weakens", "info"}, m.Word) }

func lossCounts(breaks, weakens, info int64) string {
	var parts []string
	if breaks > 0 {
		parts = append(parts, plural(breaks, "object breaks", "objects break"))
	}
	if weakens > 0 {
		parts = append(parts, plural(weakens, "weakens", "weaken"))
	}
	if info > 0 {
		parts = append(parts, Count(info)+" to know about")
	}
	return strings.Join(parts, ", ")
}

// broken names the objects that break.
func (v *LossView) broken() []string {
	var out []string
	for _, g := range v.Groups {
		for _, f := range g.Findings {
			if f.Mark.Word == "breaks" {
				out = append(out, f.Object)
			}
		}
	}
	return out
}
