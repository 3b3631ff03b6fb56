package analysis_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis/duck"
	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

type slice struct {
	events []capture.Event
	read   int
}

func (s *slice) Run(_ context.Context, fn func([]capture.Event, int) error) error {
	s.read = len(s.events)
	return fn(s.events, 0)
}

func (s *slice) Progress() (pipeline.Progress, error) {
	return pipeline.Progress{Positions: []warehouse.Position{{Identity: "a", Name: "a", Offset: int64(s.read)}}}, nil
}

type noResolver struct{}

func (noResolver) Resolve(*sqltext.Template, string) (pipeline.Resolved, error) {
	return pipeline.Resolved{}, nil
}

func TestSliceFromEventsToCount(t *testing.T) {
	ctx := t.Context()
	store, err := warehouse.NewDir(filepath.Join(t.TempDir(), "w"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := warehouse.Open(ctx, store, warehouse.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &sqltext.Template{ID: sqltext.ID{1}, Text: "select 1"}
	at := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	src := &slice{events: []capture.Event{
		{Kind: capture.Execution, Time: at, Template: tmpl, Auto: true, Timed: true, Duration: time.Millisecond},
		{Kind: capture.Execution, Time: at.Add(time.Second), Template: tmpl, Auto: true, Timed: true, Duration: 3 * time.Millisecond},
	}}
	if _, err := pipeline.Run(ctx, w, src, noResolver{}, warehouse.Schema{}, pipeline.Options{}); err != nil {
		t.Fatal(err)
	}
	d, err := duck.Open(ctx, w.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var calls, us, rows int64
	err = d.Each(ctx, "SELECT sum(calls)::BIGINT, sum(time_us)::BIGINT, count(*) FROM rollups WHERE day = DATE '2026-01-02'", func(scan func(...any) error) error {
		return scan(&calls, &us, &rows)
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls != 2 || us != 4000 || rows != 1 {
		t.Fatalf("got %d calls, %d us in %d rows, want 2, 4000 in 1", calls, us, rows)
	}
}
