package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/reports"
)

// progressEvery is how often the progress line is drawn.
const progressEvery = 200 * time.Millisecond

// progress is one line on a terminal that says how far the reading is; on anything else it is silent.
type progress struct {
	w           io.Writer // nil: silent
	total       int64     // bytes; -1 not known
	start, last time.Time
}

func newProgress(errOut io.Writer, total int64, quiet bool) *progress {
	file, ok := errOut.(*os.File)
	if quiet || !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	return &progress{w: errOut, total: total, start: time.Now()}
}

// show draws what this run has read.
func (p *progress) show(l analysis.Ledger) {
	now := time.Now()
	if p.w == nil || now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	fmt.Fprintf(p.w, "\r\x1b[K%s", progressLine(l, p.total, now.Sub(p.start)))
}

// done clears the line.
func (p *progress) done() {
	if p.w != nil && !p.last.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// progressLine is the line after some time: bytes, share, statements, rate, and the time that is left at the mean rate so far.
func progressLine(l analysis.Ledger, total int64, spent time.Duration) string {
	line := "read " + reports.Size(l.Bytes)
	if total > 0 {
		line += fmt.Sprintf(" of %s (%.0f %%)", reports.Size(total), 100*min(1, float64(l.Bytes)/float64(total)))
	}
	line += " · " + reports.Count(l.Statements) + " statements"
	if seconds := spent.Seconds(); seconds > 0 {
		line += fmt.Sprintf(" · %s/s", reports.Count(int64(float64(l.Statements)/seconds)))
	}
	if total > 0 && l.Bytes > 0 && l.Bytes < total {
		left := time.Duration(float64(spent) * float64(total-l.Bytes) / float64(l.Bytes))
		line += " · " + reports.Span(left.Round(time.Second)) + " left"
	}
	return line
}
