package analysis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foreshard/foreshard/analysis/pipeline"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/tail"
	"github.com/foreshard/foreshard/planner/catalog"
)

// Notes that following a log adds to the ledger's.
const (
	noteTruncated = "truncated_files" // files that were cut in place, which is how some logs are rotated
	noteLost      = "lost_bytes"      // seen in a file that was cut or deleted before they could be read
)

// FollowOptions says how a log that is being written is followed. Files.Patterns, Files.Now and Tick are required.
type FollowOptions struct {
	IngestOptions
	Files   tail.Options     // HashKey and Known are filled in from the warehouse
	Commit  time.Duration    // between commits, by Files.Now
	Tick    <-chan time.Time // each is a look at the files
	Stop    <-chan struct{}  // closed: read what is there, commit, return
	Observe func(FollowStatus)
}

// FollowStatus is where following a log stands after a look at the files.
type FollowStatus struct {
	Ledger   Ledger // of this run, what is not committed included; its executions are those of commits
	Events   int64  // executions seen by this run
	Files    tail.Counts
	Unread   int64     // bytes that are there and not consumed, of all files
	Last     time.Time // of the last record read
	Problems []error   // files that could not be read at the last look
	Missing  []Missing // at the first look: what an earlier run left unread in files that are gone
}

// Missing is a file that is nowhere to be found, and the bytes that an earlier run saw in it and did not read. Under a name that the patterns
// find they are still read.
type Missing struct {
	Name  string
	Bytes int64
}

// Follow reads a log that is still being written into the warehouse until Stop is closed or ctx ends, and goes on where the warehouse says an
// earlier run got to: the log is the queue, and what was not committed is read again. progress may be nil; it is called after each commit,
// between two looks at the log.
func Follow(ctx context.Context, w *warehouse.Warehouse, cat *catalog.Catalog, o FollowOptions, progress func(Ledger)) (_ Ledger, err error) {
	cfg, err := resume(ctx, w, o.IngestOptions)
	if err != nil {
		return Ledger{}, fmt.Errorf("follow logs: %w", err)
	}
	o.Files.HashKey, o.Files.Known = cfg.HashKey, cfg.Known
	st := w.Snapshot().Streams[o.Stream]
	if st != nil {
		o.Files.Start = tail.Beginning // of files that have appeared since
	}
	files, err := tail.New(o.Files)
	if err != nil {
		return Ledger{}, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	if st == nil && o.Files.Start == tail.End {
		if err := commitEnds(ctx, w, o.Stream, files); err != nil {
			return Ledger{}, err
		}
	}
	reader, err := pglog.Follow(cfg)
	if err != nil {
		return Ledger{}, fmt.Errorf("follow logs: %w", err)
	}
	s := &liveSource{o: o, files: files, reader: reader, format: cfg.Format, records: map[*tail.File]int64{}, index: map[*tail.File]int{}}
	if st != nil {
		s.before = st.Positions
	}
	last, also := o.Files.Now(), o.Due
	o.IngestOptions.Due = func() bool {
		now := o.Files.Now()
		if now.Sub(last) < o.Commit && (also == nil || !also()) {
			return false
		}
		last = now
		return true
	}
	total, err := IngestFrom(ctx, w, s, cat, o.IngestOptions, progress)
	if err != nil {
		err = fmt.Errorf("follow logs: %w", err)
	}
	return total, err
}

// commitEnds keeps the ends of the files that are there: an agent that starts at the end and dies before its first commit must not start at
// another end.
func commitEnds(ctx context.Context, w *warehouse.Warehouse, stream string, files *tail.Tail) error {
	_, problems := files.Poll()
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	c := warehouse.Commit{Stream: stream}
	for _, f := range files.Files() {
		c.Positions = append(c.Positions, warehouse.Position{Identity: f.Identity(), Name: f.Name(), Offset: f.Offset()})
		f.SetCommitted(f.Identity())
	}
	return w.Commit(ctx, &c)
}

// liveSource is a followed log as the pipeline sees it.
type liveSource struct {
	o      FollowOptions
	files  *tail.Tail
	reader *pglog.Reader
	format pglog.Format // as configured

	before  map[string]warehouse.Position // of the run before, by identity
	records map[*tail.File]int64          // since the beginning
	seen    int64                         // records of the batches so far
	events  int64
	index   map[*tail.File]int // files read since the last commit
	order   []*tail.File
	looked  bool
}

var _ pipeline.Source = (*liveSource)(nil)

// Run looks at the files at each tick. Stop makes the look at hand the last but one: what was written before it is read.
func (s *liveSource) Run(ctx context.Context, fn func([]capture.Event, int) error) error {
	for stopped := false; ; {
		round, err := s.files.Read(ctx, s.reader, func(f *tail.File, b pglog.Batch) error { return s.batch(f, b, fn) })
		s.observe(round)
		if err != nil {
			return err
		}
		if err := fn(nil, 0); err != nil { // a commit may be due though nothing came
			return err
		}
		if stopped {
			return nil
		}
		select {
		case <-s.o.Stop:
			stopped = true
		case <-s.o.Tick:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *liveSource) batch(f *tail.File, b pglog.Batch, fn func([]capture.Event, int) error) error {
	if s.reader.Guessed() {
		return fmt.Errorf("%q is a stderr log: give its log_line_prefix; one made from its first lines would lose what later lines add", f.Name())
	}
	at, ok := s.index[f]
	if !ok {
		at = len(s.order)
		s.index[f] = at
		s.order = append(s.order, f)
		if _, known := s.records[f]; !known {
			s.records[f] = s.before[f.Committed()].Records
		}
	}
	n := s.reader.Counts().Records
	s.records[f] += n - s.seen
	s.seen = n
	for i := range b.Events {
		if b.Events[i].Kind == capture.Execution {
			s.events++
		}
	}
	return fn(b.Events, at)
}

func (s *liveSource) observe(round tail.Round) {
	if s.o.Observe == nil {
		return
	}
	c := s.reader.Counts()
	st := FollowStatus{Ledger: ledgerReport(logLedger(c)), Events: s.events, Files: s.files.Counts(), Last: c.Last, Problems: round.Problems}
	for _, f := range s.files.Files() {
		st.Unread += f.Unread()
	}
	if !s.looked {
		for _, p := range s.files.Missing() {
			st.Missing = append(st.Missing, Missing{p.Name, p.Unread})
		}
	}
	s.looked = true
	s.o.Observe(st)
}

// Progress is asked for a commit: the positions of the files that were read since the one before.
func (s *liveSource) Progress() (pipeline.Progress, error) {
	state, err := s.reader.State()
	if err != nil {
		return pipeline.Progress{}, err
	}
	p := pipeline.Progress{State: state, Ledger: logLedger(s.reader.Counts())}
	counts := s.files.Counts()
	p.Ledger.Notes[noteTruncated] += counts.Truncated
	p.Ledger.Notes[noteLost] += counts.Lost
	for _, f := range s.order {
		pos := warehouse.Position{Identity: f.Identity(), Name: f.Name(), Format: formatName(s.reader.Format()), Offset: f.Offset(), Unread: f.Unread(), Records: s.records[f]}
		if old := f.Committed(); old != pos.Identity {
			pos.Replaces = old
		}
		p.Positions = append(p.Positions, pos)
		f.SetCommitted(pos.Identity)
	}
	clear(s.index)
	s.order = s.order[:0]
	return p, nil
}
