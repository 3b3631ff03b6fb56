package pglog

import (
	"context"
	"errors"
)

// ErrNothing says that records were read and none of them was a statement: the settings of the server, or the prefix, hide them.
var ErrNothing = errors.New("no statement found")

// Reader reads inputs in time order: by their first record's time, then by name.
type Reader struct {
	inputs []Input
	cfg    Config
}

// Open recognises the inputs, checks the prefix on their first 1,000 lines and orders them; nothing is consumed yet. The caller closes
// the Reader.
func Open(ctx context.Context, inputs []Input, cfg Config) (*Reader, error) {
	return &Reader{inputs: inputs, cfg: cfg}, nil
}

// Run reads everything and hands on events batch by batch, in input order, from this goroutine. An error of fn stops it and is returned.
// A truncated compressed input is an error after what was whole has been delivered. If this run consumed records and none was a
// statement the error is ErrNothing.
func (r *Reader) Run(ctx context.Context, fn func(Batch) error) error { return nil }

// Counts is the ledger so far. It may be called from fn and after Run.
func (r *Reader) Counts() Counts { return Counts{} }

// Positions are those of all inputs, in reading order, consistent with the events delivered so far. It may be called from fn and after Run.
func (r *Reader) Positions() []Position { return nil }

// State is the session machine as of the events delivered so far: open transactions, pending statements, prepared statements. It holds
// templates and hashes, no values. It may be called from fn and after Run.
func (r *Reader) State() ([]byte, error) { return nil, nil }

// Prefix is the log_line_prefix in use, given or inferred; "" if no input is stderr.
func (r *Reader) Prefix() string { return "" }

// Close releases the inputs that Open opened.
func (r *Reader) Close() error { return nil }
