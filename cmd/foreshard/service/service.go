// Package service is what every verb that goes on until it is told to end has in common: it turns flags into a log on standard error, an address
// that answers for the process (/metrics, /healthz, /readyz, profiles), a drain with a limit, and words to the service manager. It knows no verb,
// and imports of foreshard only metric.
//
//	s, err := flags.Start(ctx, cmd.ErrOrStderr(), version)
//	defer func() { err = errors.Join(err, s.Close()) }()
//	s.Watch(emitMetrics)
//	s.Check(func() string { … })       // why it is not ready
//	work, cancel := s.Drain(ctx)
//	defer cancel()
//	defer s.Repeat(work, service.Job{…})() // beside the main work
//	s.Up()
package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/foreshard/foreshard/cmd/foreshard/metric"
)

// Flags are those that every long-running verb has.
type Flags struct {
	Listen    string
	LogFormat string
	LogLevel  string
	DrainTime time.Duration
	Quiet     bool

	flags *pflag.FlagSet
}

// Register adds the flags. listen is the address that is served when none is given.
func (f *Flags) Register(flags *pflag.FlagSet, listen string) {
	f.flags = flags
	flags.StringVar(&f.Listen, "listen", listen, "address of /metrics, /healthz, /readyz and, on loopback only, /debug/pprof/; empty: none")
	flags.StringVar(&f.LogFormat, "log-format", "text", "what notes on standard error look like: text (a sentence), logfmt, json")
	flags.StringVar(&f.LogLevel, "log-level", "info", "the least that is said: debug, info, warn, error")
	flags.BoolVar(&f.Quiet, "quiet", false, "nothing but errors on standard error")
}

// RegisterDrain adds the flag of verbs whose drain has a limit: see Service.Drain.
func (f *Flags) RegisterDrain(flags *pflag.FlagSet) {
	flags.DurationVar(&f.DrainTime, "drain-time", 20*time.Second, "after SIGTERM, how long to go on reading and sending what is there; the rest is taken up at the next start")
}

// Check refuses flags that make no sense.
func (f *Flags) Check() error {
	if _, err := f.handler(io.Discard); err != nil {
		return err
	}
	if f.flags.Lookup("drain-time") != nil && f.DrainTime <= 0 {
		return errors.New("--drain-time must be more than 0")
	}
	return nil
}

// Service is a process that goes on. It is safe for concurrent use.
type Service struct {
	Log *slog.Logger

	flags    *Flags
	registry *prometheus.Registry
	jobs     *jobs
	server   *http.Server
	served   chan error
	address  string
	ended    func()
	again    repeats

	mu     sync.Mutex
	up     bool
	told   string
	checks []func() string
}

// Start opens the log and begins to answer; when ctx ends it says so, to people and to the service manager. The service is not ready until Up is
// called. version goes into foreshard_build_info.
func (f *Flags) Start(ctx context.Context, errOut io.Writer, version string) (*Service, error) {
	handler, err := f.handler(errOut)
	if err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	s := &Service{Log: slog.New(handler), flags: f, registry: prometheus.NewRegistry(), jobs: &jobs{byName: map[string]jobCounts{}}}
	if err := s.register(version); err != nil {
		return nil, err
	}
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	said := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(said)
		s.notify("STOPPING=1")
		s.Log.Info("asked to end: what is there is taken up first; a second signal ends at once and loses nothing")
	})
	s.ended = sync.OnceFunc(func() {
		if !stop() {
			<-said // a drain that is over at once must not end before it was announced
		}
	})
	return s, nil
}

// Watch adds metrics: a function that emits them at each scrape.
func (s *Service) Watch(m metric.Meter) error {
	if err := s.registry.Register(m); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}

// Check adds a question to /readyz: why is it not ready? "" is no reason.
func (s *Service) Check(why func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks = append(s.checks, why)
}

// Up says that the work has begun: from here on /readyz answers with the checks.
func (s *Service) Up() {
	s.mu.Lock()
	s.up = true
	s.mu.Unlock()
	s.notify("READY=1")
}

// Address is where it answers, "" if nowhere.
func (s *Service) Address() string { return s.address }

// unready says why the service is not ready, "" if it is.
func (s *Service) unready() string {
	s.mu.Lock()
	up, checks := s.up, slices.Clone(s.checks)
	s.mu.Unlock()
	if !up {
		return "it is starting"
	}
	var reasons []string
	for _, check := range checks {
		if why := check(); why != "" {
			reasons = append(reasons, why)
		}
	}
	return strings.Join(reasons, "\n")
}

// Drain is a context for the work of a verb: it goes on when ctx ends, and ends --drain-time after that.
func (s *Service) Drain(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(s.flags.DrainTime, cancel)
		context.AfterFunc(work, func() { timer.Stop() })
	})
	return work, func() { stop(); cancel() }
}

// Tell says how things are, to people and to the service manager, whose status shows the last line. A line that says nothing new is not said.
func (s *Service) Tell(line string, numbers ...any) {
	s.mu.Lock()
	same := s.told == line
	s.told = line
	s.mu.Unlock()
	if !same {
		s.notify("STATUS=" + line)
		s.Log.Info(line, numbers...)
	}
}

// Close stops to answer.
func (s *Service) Close() error {
	s.ended()
	return s.shutdown()
}

// Cancelled says that an error is only that a context was cancelled: a drain that came to its limit. With anything else in it, it is not.
func Cancelled(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if !Cancelled(part) {
				return false
			}
		}
		return true
	case interface{ Unwrap() error }:
		return Cancelled(e.Unwrap())
	}
	return err == context.Canceled
}
