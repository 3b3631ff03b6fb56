package analysis

import (
	"context"
	"fmt"
	"time"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pgwal"
	"github.com/foreshard/foreshard/capture/stream"
	"github.com/foreshard/foreshard/planner/catalog"
)

// WALOptions says how a server's WAL is followed. WAL and Commit are required. Logs and Due are not used.
type WALOptions struct {
	IngestOptions
	WAL    pgwal.Config    // HashKey is filled in from the warehouse
	Commit time.Duration   // between commits; sooner if the server waits for one, or would hold much WAL
	Stop   <-chan struct{} // closed: read what is there, commit, return
}

// FollowWAL reads a server's WAL into the warehouse until Stop is closed or ctx ends, beside the traffic of logs. How far it was read is committed
// with it, and only what is committed may the server forget. The stream must not be that of a log.
func FollowWAL(ctx context.Context, w *warehouse.Warehouse, cat *catalog.Catalog, o WALOptions) error {
	snap := w.Snapshot()
	data, err := snap.State(ctx, o.Stream)
	if err != nil {
		return fmt.Errorf("follow WAL: %w", err)
	}
	state, err := pipeline.SourceState(data)
	if err != nil {
		return fmt.Errorf("follow WAL: %w", err)
	}
	at, err := stream.UnpackWAL(state)
	if err != nil {
		return fmt.Errorf("follow WAL: %w", err)
	}
	o.WAL.HashKey = w.HashKey(hashPurpose)
	r, err := pgwal.Open(o.WAL, at)
	if err != nil {
		return err
	}
	s := &walSource{o: o, reader: r, committed: time.Now(), state: state}
	if st := snap.Streams[o.Stream]; st != nil {
		s.records = st.Positions[at.Identity()].Records
	}
	o.IngestOptions.Due = s.due
	_, err = IngestFrom(ctx, w, s, cat, o.IngestOptions, func(Ledger) { s.done() })
	if err != nil {
		return fmt.Errorf("follow WAL: %w", err)
	}
	return nil
}

// walSource is the WAL as the pipeline sees it.
type walSource struct {
	o         WALOptions
	reader    *pgwal.Reader
	records   int64 // of earlier runs
	waiting   bool  // transactions were handed on since the last commit
	committed time.Time
	state     []byte
	position  pgwal.Position // that the commit at hand is about
}

var _ pipeline.Source = (*walSource)(nil)

// Run hands on transactions. The reader's position is past those that it has handed on, so that a commit may follow each.
func (s *walSource) Run(ctx context.Context, fn func([]capture.Event, int) error) error {
	return s.reader.Run(ctx, s.o.Stop, func(events []capture.Event) error {
		s.waiting = s.waiting || len(events) > 0
		return fn(events, 0)
	})
}

// walBytes is how much WAL the server may hold for a commit that would say nothing else.
const walBytes = 64 << 20

func (s *walSource) due() bool {
	return s.waiting && time.Since(s.committed) >= s.o.Commit || s.reader.Wanted(walBytes, max(s.o.Commit, 10*time.Second))
}

func (s *walSource) done() {
	s.reader.Durable(s.position)
	s.committed, s.waiting = time.Now(), false
}

// Progress is the position, after the transactions that were handed on.
func (s *walSource) Progress() (pipeline.Progress, error) {
	c := s.reader.Counts()
	p := pipeline.Progress{State: s.state, Ledger: warehouse.Ledger{Bytes: c.Bytes, Records: c.Records, Dropped: c.Dropped, DroppedBytes: c.DroppedBytes,
		Buckets: c.Buckets, Notes: c.Notes}}
	s.position = s.reader.Position()
	if s.position.System == "" {
		return p, nil // no session began
	}
	state, err := stream.PackWAL(s.position)
	if err != nil {
		return p, err
	}
	p.State = state
	p.Positions = []warehouse.Position{{Identity: s.position.Identity(), Name: "wal " + s.position.Database, Format: "wal", Offset: int64(s.position.LSN), Records: s.records + c.Records}}
	return p, nil
}
