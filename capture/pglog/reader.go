package pglog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/foreshard/foreshard/planner/sqltext"
	"golang.org/x/sync/errgroup"
)

// ErrNothing says that records were read and none of them was a statement: the settings of the server, or the prefix, hide them.
var ErrNothing = errors.New("no statement found")

// Reader reads inputs in time order: by their first record's time, then by name.
type Reader struct {
	cfg     Config
	sources []*source
	machine *machine
	counts  *tally
	err     error // of sources that broke; reading went on with the next one

	followed []*source // files of a followed log that were recognised
}

// Open recognises the inputs, checks the prefix on their first 1,000 lines and orders them; nothing is consumed yet. The caller closes
// the Reader.
func Open(ctx context.Context, inputs []Input, cfg Config) (*Reader, error) {
	defaults(&cfg)
	r := &Reader{cfg: cfg, counts: newTally()}
	m, err := newMachine(&r.cfg, r.counts)
	if err != nil {
		return nil, err
	}
	r.machine = m
	for _, in := range inputs {
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		if err := r.add(in); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	if len(r.sources) == 0 {
		return nil, fmt.Errorf("all %d inputs are empty", len(inputs))
	}
	slices.SortStableFunc(r.sources, func(a, b *source) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.name, b.name))
	})
	return r, nil
}

// maxWorkers is the default's ceiling: beyond it the session machine is the limit, and each worker costs two chunks of memory.
const maxWorkers = 8

func defaults(cfg *Config) {
	if cfg.Workers <= 0 {
		cfg.Workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	if cfg.MaxRecord <= 0 {
		cfg.MaxRecord = 8 << 20
	}
	if cfg.ChunkSize <= 0 {
		cfg.ChunkSize = 1 << 20
	}
	cfg.ChunkSize = min(cfg.ChunkSize, cfg.MaxRecord)
	if cfg.Sessions <= 0 {
		cfg.Sessions = 50_000
	}
	if cfg.Cache == nil {
		cfg.Cache = sqltext.NewCache(64 << 20)
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
}

func (r *Reader) add(in Input) error {
	s := &source{name: in.Name, path: in.Path}
	if s.name == "" {
		s.name = in.Path
	}
	if err := s.open(in.Reader); err != nil {
		return err
	}
	if err := s.peek(r.cfg.HashKey); err != nil {
		return errors.Join(err, s.close())
	}
	if len(s.head) == 0 { // a server with csvlog leaves an empty stderr file beside it
		r.counts.note(NoteEmptyInput, 1)
		return s.close()
	}
	r.sources = append(r.sources, s)
	if err := s.recognise(&r.cfg); err != nil {
		if s.broken != nil {
			err = fmt.Errorf("read log %q: broken after %d bytes of content, too few to recognise it: %w", s.name, len(s.head), s.broken)
		}
		return err
	}
	s.pos.Format = s.format
	if s.format == SQL {
		s.pos.Identity = identity(r.cfg.HashKey, s.head, peekBytes)
	}
	for _, other := range r.sources[:len(r.sources)-1] {
		if other.pos.Identity == s.pos.Identity {
			return fmt.Errorf("%q and %q start with the same bytes: name one of them, or the traffic would count twice", other.name, s.name)
		}
	}
	s.match(r.cfg.HashKey, r.cfg.Known)
	s.window = r.machine.windowOf(s)
	if s.once {
		return nil
	}
	s.head = nil // files are opened again when their turn comes
	return s.close()
}

func (r *Reader) cutterOf(s *source) cutter {
	switch s.format {
	case Stderr:
		return &stderrCutter{stderrParser{prefix: s.prefix, clock: clock{zone: r.cfg.Zone}}}
	case CSV:
		return csvCutter{}
	}
	return jsonCutter{}
}

// Run reads everything and hands on events batch by batch, in input order, from this goroutine. An error of fn stops it and is returned.
// A truncated compressed input is an error after what was whole has been delivered. If this run consumed records and none was a
// statement the error is ErrNothing.
func (r *Reader) Run(ctx context.Context, fn func(Batch) error) error {
	size := 2*r.cfg.Workers + 2
	work, order, free := make(chan *chunk, size), make(chan *chunk, size), make(chan *chunk, size)
	for range size {
		free <- &chunk{done: make(chan struct{}, 1)}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(work)
		defer close(order)
		return r.feed(ctx, work, order, free)
	})
	for range r.cfg.Workers {
		g.Go(func() error {
			w := newWorker(&r.cfg)
			for c := range work {
				w.run(c)
				c.done <- struct{}{}
			}
			return nil
		})
	}
	err := r.sequence(ctx, order, free, fn)
	if err != nil {
		// Let the other goroutines end: what they wait for will not come.
		g.Go(func() error { return errStopped })
	}
	if werr := g.Wait(); err == nil && werr != nil {
		err = werr
	}
	if err != nil {
		return err
	}
	if r.err != nil {
		return r.err
	}
	if r.counts.Records > 0 && r.counts.Statements == 0 {
		return fmt.Errorf("read %d bytes, %d records: %w; check log_statement, log_min_duration_statement and the prefix", r.counts.Bytes, r.counts.Records, ErrNothing)
	}
	if r.counts.Records == 0 && r.counts.Bytes > 0 {
		return fmt.Errorf("read %d bytes: no record in them: %w", r.counts.Bytes, ErrNothing)
	}
	return nil
}

// sequence runs the session machine over the chunks, in input order.
func (r *Reader) sequence(ctx context.Context, order <-chan *chunk, free chan<- *chunk, fn func(Batch) error) error {
	for {
		var c *chunk
		var ok bool
		select {
		case c, ok = <-order:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !ok {
			break
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		r.counts.chunk(c)
		c.src.pos.Unread = c.unread // 0 before the last chunk
		if c.last {
			r.counts.Skipped += c.src.known.Offset
		}
		r.machine.begin()
		r.machine.chunk(c)
		if c.err == nil || c.size > 0 {
			c.src.pos.Offset = max(c.src.pos.Offset, c.next)
			r.machine.consumed(c.src, c.taken)
		}
		if c.last && c.index == len(r.sources)-1 && !r.cfg.Hold {
			r.machine.finish()
		}
		if c.err != nil {
			r.err = errors.Join(r.err, c.err)
		}
		if err := fn(Batch{Events: r.machine.events, Source: c.index}); err != nil {
			return err
		}
		free <- c
	}
	return ctx.Err()
}

// Counts is the ledger so far. It may be called from fn and after Run.
func (r *Reader) Counts() Counts { return r.counts.snapshot(r.machine.pendingStatements()) }

// Positions are those of all inputs, in reading order, consistent with the events delivered so far. It may be called from fn and after Run.
func (r *Reader) Positions() []Position {
	out := make([]Position, len(r.sources))
	for i, s := range r.sources {
		out[i] = s.pos
	}
	return out
}

// State is the session machine as of the events delivered so far: open transactions, pending statements, prepared statements. It holds
// templates and hashes, no values. It may be called from fn and after Run.
func (r *Reader) State() ([]byte, error) { return r.machine.state() }

// Prefix is the log_line_prefix in use, given or inferred; "" if no input is stderr.
func (r *Reader) Prefix() string {
	for _, s := range r.sources {
		if s.prefix != nil {
			return s.prefix.text
		}
	}
	return ""
}

// Close releases the inputs that Open opened.
func (r *Reader) Close() error {
	var err error
	for _, s := range r.sources {
		err = errors.Join(err, s.close())
	}
	return err
}
