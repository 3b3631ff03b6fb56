package tail

import (
	"context"
	"errors"
	"fmt"

	"github.com/foreshard/foreshard/capture/pglog"
)

// recognisable is how long a file may be without being recognised; up to then more of it is waited for. It is more than what is looked at.
const recognisable = 256 << 10

// Round is what one look at the files gave.
type Round struct {
	Bytes    int64   // consumed
	Problems []error // files that could not be read now and are tried again
}

// Read polls once and reads what there is through the reader, which was made by pglog.Follow. fn gets the events file by file; when it is
// called, f.Offset is consistent with the events handed out so far. A file that is no log in the reader's format is an error once it is long
// enough to tell: reading on without it would look like success.
func (t *Tail) Read(ctx context.Context, r *pglog.Reader, fn func(f *File, b pglog.Batch) error) (Round, error) {
	ready, problems := t.Poll()
	round := Round{Problems: problems}
	for _, f := range ready {
		if err := ctx.Err(); err != nil {
			return round, err
		}
		before := f.offset
		err := t.readFile(ctx, r, f, fn)
		round.Bytes += f.offset - before
		var passing *passingError
		if errors.As(err, &passing) {
			round.Problems = append(round.Problems, passing.err)
			f.Skip()
			continue
		}
		if err != nil {
			return round, err
		}
		if err := f.Read(); err != nil {
			round.Problems = append(round.Problems, err)
		}
	}
	return round, nil
}

// passingError is of a file that may be readable when it has changed.
type passingError struct{ err error }

func (e *passingError) Error() string { return e.err.Error() }

func (t *Tail) readFile(ctx context.Context, r *pglog.Reader, f *File, fn func(*File, pglog.Batch) error) error {
	part, err := f.Part()
	if err != nil {
		return &passingError{err}
	}
	err = r.Next(part)
	if errors.Is(err, pglog.ErrUnrecognised) && f.part < recognisable {
		return &passingError{err}
	}
	if err != nil {
		return err
	}
	if t.format == "" {
		t.format, t.formatOf = r.Format(), f.Name()
	}
	if t.format != r.Format() {
		return fmt.Errorf("follow log: %q is %s and %q is %s: both would count the traffic twice; name the files of one format", t.formatOf, t.format, f.Name(), r.Format())
	}
	err = r.Run(ctx, func(b pglog.Batch) error {
		f.Advance(r.Positions()[0].Offset)
		return fn(f, b)
	})
	switch {
	case err == nil, errors.Is(err, pglog.ErrNothing):
		return nil
	case ctx.Err() == nil && f.packed():
		return &passingError{err} // cut short, or still being written
	}
	return err
}

// packed says that the file is read from a compressed carrier.
func (f *File) packed() bool {
	c := f.best()
	return c != nil && c.compressed
}
