package service

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// handler is the log that the flags ask for. A message is a whole sentence; its attributes hold the same numbers again, for machines.
func (f *Flags) handler(w io.Writer) (slog.Handler, error) {
	var level slog.Level
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, ok := levels[f.LogLevel]
	if !ok {
		return nil, fmt.Errorf("--log-level %q is none of debug, info, warn, error", f.LogLevel)
	}
	if f.Quiet {
		level = slog.LevelError
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.LogFormat {
	case "text":
		return &sentences{w: w, mu: &sync.Mutex{}, level: level}, nil
	case "logfmt":
		return slog.NewTextHandler(w, options), nil
	case "json":
		return slog.NewJSONHandler(w, options), nil
	}
	return nil, fmt.Errorf("--log-format %q is none of text, logfmt, json", f.LogFormat)
}

// sentences writes a line per message for people to read: the sentence, without the attributes that repeat it.
type sentences struct {
	w     io.Writer
	mu    *sync.Mutex
	level slog.Level
}

var _ slog.Handler = (*sentences)(nil)

// Enabled says whether a level is said.
func (h *sentences) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// Handle writes one line. Line breaks would let a file's name begin a line of its own.
func (h *sentences) Handle(_ context.Context, r slog.Record) error {
	var line bytes.Buffer
	line.WriteString("foreshard: ")
	switch {
	case r.Level >= slog.LevelError:
		line.WriteString("error: ")
	case r.Level >= slog.LevelWarn:
		line.WriteString("warning: ")
	}
	after := ' '
	for _, c := range r.Message {
		before := after
		after = c
		switch {
		case c == '\t' && (before == '\n' || before == '\t'): // a line that was set in
		case c == '\n':
			line.WriteString("; ")
		case c < ' ' || c >= 0x7f && c < 0xa0: // also the second set of control characters: 0x9b begins what ESC [ begins
			line.WriteByte('?')
		default:
			line.WriteRune(c)
		}
	}
	line.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.w.Write(line.Bytes())
	return err
}

// WithAttrs returns h: attributes are not written.
func (h *sentences) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup returns h.
func (h *sentences) WithGroup(string) slog.Handler { return h }

// Warn says an error that the work goes on after. It is the shape of callbacks for what is being tried again: the same words are said once a
// minute, with how often they were meant since.
func (s *Service) Warn(err error) {
	text := err.Error()
	if n, say := s.again.say(text, time.Now()); say && n > 0 {
		s.Log.Warn(fmt.Sprintf("%s (%d times more in the last minutes)", text, n), "times", n)
	} else if say {
		s.Log.Warn(text)
	}
}

// repeats knows what was said lately.
type repeats struct {
	mu   sync.Mutex
	last map[string]said
}

type said struct {
	at     time.Time
	hushed int // times it was not said since
}

const (
	repeatAfter = time.Minute
	maxRepeats  = 1000 // texts that are remembered
)

// due says whether to say a text now.
func (r *repeats) due(text string) bool {
	_, say := r.say(text, time.Now())
	return say
}

// say says whether to say a text, and how often it was hushed since it was last said.
func (r *repeats) say(text string, now time.Time) (hushed int, say bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil || len(r.last) >= maxRepeats {
		r.last = map[string]said{}
	}
	before, known := r.last[text]
	if known && now.Sub(before.at) < repeatAfter {
		r.last[text] = said{before.at, before.hushed + 1}
		return 0, false
	}
	r.last[text] = said{at: now}
	return before.hushed, true
}
