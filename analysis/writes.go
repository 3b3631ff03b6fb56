package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/planner/candidate"
)

// WriteReport is what committed transactions wrote, as the WAL has it, under one candidate.
type WriteReport struct {
	From           time.Time         `json:"from"` // first minute with rows, and the end of the last one
	To             time.Time         `json:"to"`
	Rows           int64             `json:"rows"`
	Bytes          int64             `json:"bytes"`
	RowsPerSecond  float64           `json:"rows_per_second"`
	BytesPerSecond float64           `json:"bytes_per_second"`
	Transactions   WriteTransactions `json:"transactions"`
	Placements     []PlacementWrites `json:"placements"` // in the order sharded, reference, unsharded, undecided, unknown; those that occur
	Tables         []TableWrites     `json:"tables"`     // most rows first
	Skew           []WriteSkew       `json:"skew"`       // by colo
}

// WriteTransactions are counts of transactions that wrote. Total = OneShard + OneShardUnlessMoved + CrossShards + Unknown.
type WriteTransactions struct {
	Total int64 `json:"total"`
	// OneShard is those that wrote rows of one key value, by keyed hash, in one colo, or nothing but unsharded tables.
	OneShard int64 `json:"one_shard"`
	OneKey   int64 `json:"one_key"` // of OneShard, those with a key value
	// OneShardUnlessMoved is those that would be in OneShard if their updates left the shard key as it was. Its old value is not in the WAL: it is
	// not part of the table's replica identity.
	OneShardUnlessMoved int64 `json:"one_shard_unless_moved"`
	// CrossShards is those of several key values, or of several places. Two values are two, whatever shard they are on in one layout.
	CrossShards int64 `json:"cross_shards"`
	Broadcast   int64 `json:"broadcast"` // of CrossShards, those that wrote reference tables or emptied a sharded one
	// Unknown is those with rows whose key value is not in the WAL or NULL, of columns that were not looked at, or of undecided tables.
	Unknown int64 `json:"unknown"`
}

// PlacementWrites is what was written to the tables of one placement.
type PlacementWrites struct {
	Placement string `json:"placement"` // sharded, reference, unsharded, undecided, unknown: it is not known to which table
	Rows      int64  `json:"rows"`
	Bytes     int64  `json:"bytes"`
}

// TableWrites is what was written to one table.
type TableWrites struct {
	Table         string  `json:"table"`
	Placement     string  `json:"placement"`
	Colo          string  `json:"colo"`
	Key           string  `json:"key"`
	Inserts       int64   `json:"inserts"` // rows
	Updates       int64   `json:"updates"`
	Deletes       int64   `json:"deletes"`
	Truncates     int64   `json:"truncates"` // times
	Rows          int64   `json:"rows"`
	Bytes         int64   `json:"bytes"`
	RowsPerSecond float64 `json:"rows_per_second"`
	// Of sharded tables: rows whose key value is not known, updates that changed it, and updates of which that is not known.
	KeyUnknown int64 `json:"key_unknown"`
	KeyMoves   int64 `json:"key_moves"`
	MovesBlind int64 `json:"moves_blind"`
}

// WriteSkew is how the rows written to a colo spread over its logical shards.
type WriteSkew struct {
	Colo     string  `json:"colo"`
	Shards   int     `json:"shards"`
	Rows     int64   `json:"rows"`     // whose key value is known
	Unplaced int64   `json:"unplaced"` // whose is not
	MaxShare float64 `json:"max_share"`
	MaxMean  float64 `json:"max_over_mean"`
}

// written is what the WAL told, free of candidates.
type written struct {
	from, to time.Time
	tables   []writtenTable
	columns  map[writtenColumn]columnWrites
	counts   []writeCount
	shapes   map[string][]writeRow
}

type writtenTable struct {
	table, op   string
	rows, bytes int64
}

type writtenColumn struct{ table, column string }

type columnWrites struct{ rows, unknown, moved, blind int64 }

type writeCount struct {
	shape string
	n     int64
}

// writeRow is one column of a table and operation of a shape.
type writeRow struct {
	table, op, column     string
	symbol                int64
	unknown, moved, blind bool
}

// BasisWAL is Report.Basis of a warehouse that holds nothing but what was written: no statement is judged.
const BasisWAL = "wal"

func hasWrites(s *warehouse.Snapshot) bool { return len(s.Files(warehouse.WALRows)) > 0 }

// loadWritten reads what the WAL told; nil: nothing.
func (b *builder) loadWritten(ctx context.Context) error {
	if !hasWrites(b.snap) {
		return nil
	}
	w := &written{columns: map[writtenColumn]columnWrites{}, shapes: map[string][]writeRow{}}
	from, to := b.window()
	minutes := []any{from.Format(time.RFC3339), to.Format(time.RFC3339)}
	days := []any{from.Format(time.DateOnly), to.Format(time.DateOnly)}
	err := b.db.Each(ctx, query("wal_rows.sql"), func(scan func(...any) error) error {
		var t writtenTable
		var first, last int64
		if err := scan(&t.table, &t.op, &t.rows, &t.bytes, &first, &last); err != nil {
			return err
		}
		w.saw(time.UnixMicro(first).UTC(), time.UnixMicro(last).UTC().Add(time.Minute))
		w.tables = append(w.tables, t)
		return nil
	}, minutes...)
	if err != nil || len(w.tables) == 0 {
		return err
	}
	if err := b.db.Each(ctx, query("wal_columns.sql"), func(scan func(...any) error) error {
		var k writtenColumn
		var c columnWrites
		err := scan(&k.table, &k.column, &c.rows, &c.unknown, &c.moved, &c.blind)
		w.columns[k] = c
		return err
	}, days...); err != nil {
		return err
	}
	if err := b.db.Each(ctx, query("wal_transactions.sql"), func(scan func(...any) error) error {
		var s writeCount
		err := scan(&s.shape, &s.n)
		w.counts = append(w.counts, s)
		return err
	}, days...); err != nil {
		return err
	}
	b.written = w
	return b.db.Each(ctx, query("wal_shapes.sql"), func(scan func(...any) error) error {
		var shape string
		var r writeRow
		err := scan(&shape, &r.table, &r.op, &r.column, &r.symbol, &r.unknown, &r.moved, &r.blind)
		w.shapes[shape] = append(w.shapes[shape], r)
		return err
	})
}

func (w *written) saw(from, to time.Time) {
	if w.from.IsZero() || from.Before(w.from) {
		w.from = from
	}
	if to.After(w.to) {
		w.to = to
	}
}

// writes weighs what the WAL told by a candidate.
func (b *builder) writes(ctx context.Context, i int, c *candidate.Candidate, r *CandidateReport) error {
	w := b.written
	if w == nil {
		return nil
	}
	out := &WriteReport{From: w.from, To: w.to, Placements: []PlacementWrites{}, Tables: []TableWrites{}, Skew: []WriteSkew{}}
	seconds := w.to.Sub(w.from).Seconds()
	out.tables(w, c, seconds)
	out.RowsPerSecond, out.BytesPerSecond = float64(out.Rows)/seconds, float64(out.Bytes)/seconds
	for _, s := range w.counts {
		rows, ok := w.shapes[s.shape]
		if !ok {
			return fmt.Errorf("shape %s has transactions and no rows: %w", s.shape, warehouse.ErrCorrupt)
		}
		out.Transactions.count(judgeWrites(rows, c), s.n)
	}
	from, to := b.window()
	err := b.db.Each(ctx, query("wal_skew.sql"), func(scan func(...any) error) error {
		var s WriteSkew
		var busiest int64
		if err := scan(&s.Colo, &s.Shards, &s.Rows, &busiest); err != nil {
			return err
		}
		s.MaxShare = float64(busiest) / float64(s.Rows)
		s.MaxMean = s.MaxShare * float64(s.Shards)
		for _, t := range out.Tables {
			if t.Colo == s.Colo {
				s.Unplaced += t.KeyUnknown
			}
		}
		out.Skew = append(out.Skew, s)
		return nil
	}, i, from.Format(time.DateOnly), to.Format(time.DateOnly))
	r.Writes = out
	return err
}

// unknownTable is the placement of rows of which the table is not known.
const unknownTable = "unknown"

// tables adds up rows by table and by placement.
func (out *WriteReport) tables(w *written, c *candidate.Candidate, seconds float64) {
	places := map[string]*PlacementWrites{}
	for _, t := range w.tables { // by table
		if n := len(out.Tables); n == 0 || out.Tables[n-1].Table != t.table {
			p := placed(c, t.table)
			out.Tables = append(out.Tables, TableWrites{Table: t.table, Placement: p.Placement, Colo: p.Colo, Key: p.Key})
		}
		row := &out.Tables[len(out.Tables)-1]
		if t.table == "" {
			row.Placement = unknownTable
		}
		if t.op == "truncate" {
			row.Truncates += t.rows
			continue
		}
		switch t.op {
		case "insert":
			row.Inserts += t.rows
		case "update":
			row.Updates += t.rows
		case "delete":
			row.Deletes += t.rows
		}
		row.Rows += t.rows
		row.Bytes += t.bytes
		p := places[row.Placement]
		if p == nil {
			p = &PlacementWrites{Placement: row.Placement}
			places[row.Placement] = p
		}
		p.Rows += t.rows
		p.Bytes += t.bytes
		out.Rows += t.rows
		out.Bytes += t.bytes
	}
	for _, name := range []string{"sharded", "reference", "unsharded", "undecided", unknownTable} {
		if p := places[name]; p != nil {
			out.Placements = append(out.Placements, *p)
		}
	}
	for i := range out.Tables {
		t := &out.Tables[i]
		t.RowsPerSecond = float64(t.Rows) / seconds
		if t.Placement != "sharded" {
			continue
		}
		key := w.columns[writtenColumn{t.Table, t.Key}]
		t.KeyUnknown, t.KeyMoves, t.MovesBlind = key.unknown+max(0, t.Rows-key.rows), key.moved, key.blind
	}
	slices.SortStableFunc(out.Tables, func(a, b TableWrites) int { return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Table, b.Table)) })
}

// writeOutcome is where a transaction that wrote has to be committed.
type writeOutcome uint8

const (
	writeUnknown writeOutcome = iota
	writeOneKey
	writeOneKeyUnlessMoved
	writeUnsharded
	writeCross
	writeBroadcast
)

func (t *WriteTransactions) count(where writeOutcome, n int64) {
	t.Total += n
	switch where {
	case writeOneKey:
		t.OneShard += n
		t.OneKey += n
	case writeUnsharded:
		t.OneShard += n
	case writeOneKeyUnlessMoved:
		t.OneShardUnlessMoved += n
	case writeCross:
		t.CrossShards += n
	case writeBroadcast:
		t.CrossShards += n
		t.Broadcast += n
	default:
		t.Unknown += n
	}
}

// writePlaces collects where a transaction wrote.
type writePlaces struct {
	places                          []string // one per colo and key value, and one for the original database
	several, every, unknown, maybes bool
}

// judgeWrites tells where a transaction of a shape wrote. What is known to be in two places is across shards, whatever else is not known.
func judgeWrites(rows []writeRow, c *candidate.Candidate) writeOutcome {
	var p writePlaces
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[j].table == rows[i].table && rows[j].op == rows[i].op {
			j++
		}
		p.add(rows[i:j], c)
		i = j
	}
	switch {
	case p.every:
		return writeBroadcast
	case p.several || len(p.places) > 1:
		return writeCross
	case p.unknown || len(p.places) == 0:
		return writeUnknown
	case p.maybes:
		return writeOneKeyUnlessMoved
	case p.places[0] == unshardedPlace:
		return writeUnsharded
	}
	return writeOneKey
}

// add takes one operation on one table.
func (p *writePlaces) add(rows []writeRow, c *candidate.Candidate) {
	t := c.Table(rows[0].table)
	switch t.Placement {
	case candidate.Unsharded:
		p.at(unshardedPlace)
	case candidate.Reference:
		p.every = p.every || rows[0].table != ""
	case candidate.Sharded:
		p.key(rows, t)
	default:
		p.unknown = true
	}
}

func (p *writePlaces) key(rows []writeRow, t *candidate.Table) {
	if rows[0].op == "truncate" {
		p.every = true
		return
	}
	i := slices.IndexFunc(rows, func(r writeRow) bool { return r.column == t.Column })
	if i < 0 {
		p.unknown = true
		return
	}
	r := &rows[i]
	if r.symbol > 0 {
		p.at(fmt.Sprintf("%s\x00%d", t.Colo.Name, r.symbol))
	}
	p.several = p.several || r.symbol < 0 || r.moved
	p.unknown = p.unknown || r.unknown || r.symbol == 0
	p.maybes = p.maybes || r.blind
}

func (p *writePlaces) at(place string) {
	if !slices.Contains(p.places, place) {
		p.places = append(p.places, place)
	}
}
