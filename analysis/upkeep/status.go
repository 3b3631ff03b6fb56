package upkeep

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// Status is what a warehouse holds. Its JSON form is a contract: fields are only ever added.
type Status struct {
	SchemaVersion int                 `json:"schema_version"` // 1
	Place         string              `json:"place"`
	Head          int                 `json:"head"` // number of the last manifest
	From          time.Time           `json:"from,omitzero"`
	To            time.Time           `json:"to,omitzero"`
	Executions    int64               `json:"executions"` // that rows are there of
	Retired       map[string]int64    `json:"retired"`    // what the rows counted that retention dropped, by table
	Tables        []TableStatus       `json:"tables"`     // that have files
	Streams       []StreamStatus      `json:"streams"`
	Upkeep        int                 `json:"upkeep"` // number of upkeep's last manifest, 0: it never ran
	Inventory     warehouse.Inventory `json:"inventory"`
}

// TableStatus is one table.
type TableStatus struct {
	Name      string `json:"name"`
	Files     int    `json:"files"`
	Compacted int    `json:"compacted"` // files there would be if all were merged, at most
	Rows      int64  `json:"rows"`
	Bytes     int64  `json:"bytes"`
	Days      int    `json:"days"`
	First     string `json:"first,omitempty"` // day
	Last      string `json:"last,omitempty"`
}

// StreamStatus is one stream of traffic.
type StreamStatus struct {
	Name       string `json:"name"`
	Commit     int    `json:"commit"` // number of its last manifest
	Sources    int    `json:"sources"`
	Newest     string `json:"newest"` // the last of its sources by name, and how far it was read
	Offset     int64  `json:"offset"`
	Executions int64  `json:"executions"`
}

// StatusOf reads what the warehouse holds.
func StatusOf(ctx context.Context, w *warehouse.Warehouse) (*Status, error) {
	snap := w.Snapshot()
	s := &Status{SchemaVersion: 1, Place: w.Place(), Head: snap.Head, Executions: snap.Executions(), Retired: snap.Ledger.Retired,
		Tables: []TableStatus{}, Streams: []StreamStatus{}}
	if s.Retired == nil {
		s.Retired = map[string]int64{}
	}
	s.From, s.To = snap.Span()
	for _, t := range warehouse.Tables() {
		if files := snap.Files(t.Name); len(files) > 0 {
			s.Tables = append(s.Tables, tableStatus(t.Name, files))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(snap.Streams)) {
		st := snap.Streams[name]
		if name == warehouse.UpkeepStream {
			s.Upkeep = st.Commit()
			continue
		}
		s.Streams = append(s.Streams, streamStatus(name, st))
	}
	var err error
	s.Inventory, err = w.Inventory(ctx)
	return s, err
}

func tableStatus(name string, files []warehouse.File) TableStatus {
	t := TableStatus{Name: name, Files: len(files)}
	small := map[string]bool{}
	days := map[string]bool{}
	for _, f := range files {
		t.Rows += f.Rows
		t.Bytes += f.Bytes
		day := f.Day()
		if day != "" {
			days[day] = true
		}
		if f.Bytes >= largeFile {
			t.Compacted++
		} else {
			small[day] = true
		}
	}
	t.Compacted += len(small)
	t.Days = len(days)
	if list := slices.Sorted(maps.Keys(days)); len(list) > 0 {
		t.First, t.Last = list[0], list[len(list)-1]
	}
	return t
}

func streamStatus(name string, st *warehouse.Stream) StreamStatus {
	out := StreamStatus{Name: name, Commit: st.Commit(), Sources: len(st.Positions)}
	for _, p := range st.Positions {
		out.Executions += p.Executions
		if p.Name > out.Newest || p.Name == out.Newest && p.Offset > out.Offset {
			out.Newest, out.Offset = p.Name, p.Offset
		}
	}
	return out
}
