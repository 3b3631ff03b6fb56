package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/analysis"
)

// WritesView is what committed transactions wrote, as the WAL has it.
type WritesView struct {
	Line            string // volume and time in one sentence
	TransactionLine string
	Transactions    []TxnRow
	Placements      []PlacementView
	Tables          []WrittenTableView
	Moves           []string // tables whose rows change shards, or may: one sentence each
	Skew            []WriteSkewView
}

// PlacementView is what was written to the tables of one placement.
type PlacementView struct {
	Placement   string
	Rows, Bytes Measure
}

// WrittenTableView is what was written to one table.
type WrittenTableView struct {
	Table, Placement, Where   string
	Rows                      Measure
	Inserts, Updates, Deletes string
	Truncates                 string // "" none
	Size, Rate                string
	KeyUnknown, KeyMoves      string // "" of tables that are not sharded
	Moved                     bool
}

// WriteSkewView is how evenly the rows written to a colo spread.
type WriteSkewView struct {
	Colo, Shards, Rows, Unplaced, Max, Even, Ratio string
	Warn                                           bool
}

// writesView is nil where there is no WAL.
func writesView(w *analysis.WriteReport) *WritesView {
	if w == nil {
		return nil
	}
	v := &WritesView{}
	v.Line = fmt.Sprintf("%s (%s) in %s, %s and %s a second", plural(w.Rows, "row was written", "rows were written"), Size(w.Bytes), Span(w.To.Sub(w.From)),
		rate(w.RowsPerSecond), Size(int64(w.BytesPerSecond)))
	v.TransactionLine, v.Transactions = writeTransactions(&w.Transactions)
	for _, p := range w.Placements {
		v.Placements = append(v.Placements, PlacementView{Placement: line(p.Placement), Rows: measure(Count(p.Rows), float64(p.Rows), float64(w.Rows)),
			Bytes: measure(Size(p.Bytes), float64(p.Bytes), float64(w.Bytes))})
	}
	v.tables(w)
	for _, s := range slices.SortedFunc(slices.Values(w.Skew), func(a, b analysis.WriteSkew) int { return strings.Compare(a.Colo, b.Colo) }) {
		row := WriteSkewView{Colo: cut(line(s.Colo), maxName), Shards: Count(int64(s.Shards)), Rows: Count(s.Rows), Unplaced: Count(s.Unplaced), Max: percent(s.MaxShare, 1),
			Ratio: fmt.Sprintf("%.1f ×", s.MaxMean), Warn: s.MaxMean >= skewWarning, Even: "–"}
		if s.Shards > 0 {
			row.Even = percent(1, float64(s.Shards))
		}
		v.Skew = append(v.Skew, row)
	}
	return v
}

// rate is rows a second with about two digits that mean something.
func rate(perSecond float64) string {
	if perSecond >= 10 {
		return Count(int64(perSecond)) + " rows"
	}
	return trimZeros(strconv.FormatFloat(perSecond, 'f', 2, 64)) + " rows"
}

func writeTransactions(t *analysis.WriteTransactions) (string, []TxnRow) {
	if t.Total == 0 {
		return "no write transaction was seen whole", nil
	}
	row := func(label, readiness string, n int64) TxnRow {
		return TxnRow{label, markOf(readiness), callsMeasure(n, t.Total)}
	}
	rows := []TxnRow{row("one shard", "ready", t.OneShard)}
	text := percent(float64(t.OneShard), float64(t.Total)) + " of " + plural(t.Total, "write transaction stays", "write transactions stay") + " on one shard"
	if t.OneKey < t.OneShard {
		text += fmt.Sprintf(" (%s with one key value, %s the original database only)", Count(t.OneKey), Count(t.OneShard-t.OneKey))
	}
	if n := t.OneShardUnlessMoved; n > 0 {
		rows = append(rows, row("one shard, unless a key moved", "unknown", n))
		text += fmt.Sprintf("; %s (%s) would if their updates left the shard key alone, which the WAL does not tell: the key is not part of the table's replica identity",
			Count(n), percent(float64(n), float64(t.Total)))
	}
	if t.Broadcast > 0 {
		text += fmt.Sprintf("; %s wrote on every shard: reference tables, or sharded ones that were emptied", Count(t.Broadcast))
	}
	return text, append(rows, row("several shards", "blocked", t.CrossShards), row("unknown", "unknown", t.Unknown))
}

func (v *WritesView) tables(w *analysis.WriteReport) {
	list := slices.Clone(w.Tables)
	slices.SortFunc(list, func(a, b analysis.TableWrites) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), strings.Compare(a.Table, b.Table))
	})
	for _, t := range list {
		name := cut(line(t.Table), maxName)
		row := WrittenTableView{Table: name, Placement: line(t.Placement), Rows: measure(Count(t.Rows), float64(t.Rows), float64(w.Rows)), Inserts: Count(t.Inserts),
			Updates: Count(t.Updates), Deletes: Count(t.Deletes), Size: Size(t.Bytes), Rate: rate(t.RowsPerSecond) + "/s"}
		if t.Table == "" {
			row.Table = "not known"
		}
		if t.Truncates > 0 {
			row.Truncates = plural(t.Truncates, "truncate", "truncates")
		}
		if t.Placement == "sharded" {
			row.Where = cut(line(t.Colo)+" by "+line(t.Key), maxName)
			row.KeyUnknown, row.KeyMoves, row.Moved = Count(t.KeyUnknown), Count(t.KeyMoves), t.KeyMoves > 0
			v.moves(name, cut(line(t.Key), maxName), &t)
		}
		v.Tables = append(v.Tables, row)
	}
}

// moves says what is known of rows that would change shards.
func (v *WritesView) moves(name, key string, t *analysis.TableWrites) {
	if t.KeyMoves > 0 {
		v.Moves = append(v.Moves, fmt.Sprintf("%s of %s changed %s: each such row would move to another shard", plural(t.KeyMoves, "update", "updates"), name, key))
	}
	if t.MovesBlind > 0 {
		v.Moves = append(v.Moves, fmt.Sprintf("whether %s of %s changed %s is not known: it is not in the table's replica identity", plural(t.MovesBlind, "update", "updates"), name, key))
	}
}

// textWritten is how many tables a terminal gets.
const textWritten = 10

func (t *textWriter) writes(v *WritesView) {
	if v == nil {
		return
	}
	t.heading("Writes")
	t.para("  ", "", v.Line)
	t.para("  ", "", v.TransactionLine)
	tab := table{cols: []col{{}, {right: true}, {right: true}}}
	for _, r := range v.Transactions {
		tab.add(cell{r.Mark.Icon + " " + r.Label, markColor(r.Mark)}, cell{s: r.Measure.Value}, cell{s: r.Measure.Share})
	}
	t.table(tab)
	tab = table{head: []string{"placement", "rows", "", "size", ""}, cols: []col{{}, {right: true}, {right: true}, {right: true}, {right: true}}}
	for _, r := range v.Placements {
		tab.add(cell{s: r.Placement}, cell{s: r.Rows.Value}, cell{s: r.Rows.Share}, cell{s: r.Bytes.Value}, cell{s: r.Bytes.Share})
	}
	t.table(tab)
	tab = table{head: []string{"table", "colo and key", "rows", "", "inserts", "updates", "deletes", "size", "key moves", "key unknown"}, cols: []col{{flex: true}, {flex: true, drop: 110},
		{right: true}, {right: true}, {right: true, drop: 90}, {right: true, drop: 90}, {right: true, drop: 90}, {right: true}, {right: true, drop: 70}, {right: true, drop: 80}}}
	for _, r := range v.Tables[:min(len(v.Tables), textWritten)] {
		code := ""
		if r.Moved {
			code = "31"
		}
		tab.add(cell{s: r.Table}, cell{s: orDash(r.Where)}, cell{s: r.Rows.Value}, cell{s: r.Rows.Share}, cell{s: r.Inserts}, cell{s: r.Updates}, cell{s: r.Deletes}, cell{s: r.Size},
			cell{orDash(r.KeyMoves), code}, cell{s: orDash(r.KeyUnknown)})
	}
	t.table(tab)
	t.more(textWritten, len(v.Tables), "more tables")
	for _, s := range v.Moves[:min(len(v.Moves), textWritten)] {
		t.para("  ", "", s)
	}
	t.more(textWritten, len(v.Moves), "more tables whose key moves")
	tab = table{head: []string{"colo", "shards", "rows", "not placed", "busiest shard", "even share", "over mean"}, cols: []col{
		{flex: true}, {right: true}, {right: true}, {right: true, drop: 80}, {right: true}, {right: true}, {right: true}}}
	for _, r := range v.Skew {
		code := ""
		if r.Warn {
			code = "33"
		}
		tab.add(cell{s: r.Colo}, cell{s: r.Shards}, cell{s: r.Rows}, cell{s: r.Unplaced}, cell{s: r.Max}, cell{s: r.Even}, cell{r.Ratio, code})
	}
	if len(v.Skew) > 0 {
		t.table(tab)
	}
}

func (m *mdWriter) writes(v *WritesView) {
	if v == nil {
		return
	}
	m.printf("### Writes\n\n%s.\n\n%s.\n\n", prose(v.Line), prose(v.TransactionLine))
	var rows [][]string
	for _, r := range v.Transactions {
		rows = append(rows, []string{r.Mark.Icon + " " + r.Label, r.Measure.Value, r.Measure.Share})
	}
	m.table("lrr", []string{"", "transactions", "share"}, rows)
	rows = nil
	for _, r := range v.Placements {
		rows = append(rows, []string{r.Placement, r.Rows.Value, r.Rows.Share, r.Bytes.Value, r.Bytes.Share})
	}
	m.table("lrrrr", []string{"placement", "rows", "share", "size", "share"}, rows)
	rows = nil
	for _, r := range v.Tables {
		rows = append(rows, []string{code(r.Table), r.Placement, code(r.Where), r.Rows.Value, r.Rows.Share, r.Inserts, r.Updates, r.Deletes, r.Truncates, r.Size, r.Rate, r.KeyMoves, r.KeyUnknown})
	}
	m.table("lllrrrrrrrrrr", []string{"table", "placement", "colo and key", "rows", "share", "inserts", "updates", "deletes", "truncates", "size", "rate", "key moves", "key unknown"}, rows)
	for _, s := range v.Moves[:min(len(v.Moves), m.rows)] {
		m.printf("- %s\n", prose(s))
	}
	if len(v.Moves) > 0 {
		m.printf("\n")
	}
	rows = nil
	for _, s := range v.Skew {
		rows = append(rows, []string{code(s.Colo), s.Shards, s.Rows, s.Unplaced, s.Max, s.Even, s.Ratio})
	}
	m.table("lrrrrrr", []string{"colo", "shards", "rows", "not placed", "busiest shard", "even share", "over mean"}, rows)
}

// commits is the verb for n transactions.
func commits(n int64) string {
	if n == 1 {
		return "commits"
	}
	return "commit"
}
