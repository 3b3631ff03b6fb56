package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/foreshard/foreshard/cmd/foreshard/metric"
)

// register adds the metrics that every process has: what it was built from, its memory, processor time and files, its jobs.
func (s *Service) register(version string) error {
	own := metric.Meter(func(emit metric.Emit) {
		emit("build_info", 1, version, runtime.Version())
		ready := 0.0
		if s.unready() == "" {
			ready = 1
		}
		emit("service_ready", ready)
	})
	for _, c := range []prometheus.Collector{own, metric.Meter(s.jobs.emit), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := s.registry.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

// listen begins to answer. An empty address serves nothing. A default port that another process has is no reason not to run: two planners on one
// machine are given two, and each says which; an address that was asked for is that or an error.
func (s *Service) listen(ctx context.Context) error {
	address := s.flags.Listen
	if address == "" {
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) && s.flags.flags != nil && !s.flags.flags.Changed("listen") {
		host, _, splitErr := net.SplitHostPort(address)
		if splitErr != nil {
			return fmt.Errorf("serve metrics: %w", splitErr)
		}
		if listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(host, "0")); err == nil {
			s.Log.Warn(fmt.Sprintf("%s is taken: metrics are at %s; give --listen for an address that stays", address, listener.Addr()), "address", listener.Addr().String())
		}
	}
	if err != nil {
		return fmt.Errorf("serve metrics: %w: give another --listen, or an empty one for none", err)
	}
	s.address = listener.Addr().String()
	s.server = &http.Server{Handler: s.serving(listener.Addr()), ReadHeaderTimeout: 5 * time.Second}
	s.served = make(chan error, 1)
	go func() { s.served <- s.server.Serve(listener) }()
	return nil
}

// serving answers at an address. Profiles hold parts of the memory's shape and can be asked to cost, so only the machine itself gets them. The command
// line, which pprof would tell too, may hold a password.
func (s *Service) serving(at net.Addr) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{Registry: s.registry}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := s.unready(); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	} else {
		s.Log.Warn(fmt.Sprintf("no profiles: %s is no loopback address, and profiles are for this machine only", at), "address", at.String())
	}
	return mux
}

// shutdown stops to answer; a request that is being answered has two seconds.
func (s *Service) shutdown() error {
	if s.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // a profile that is being taken
		err = s.server.Close()
	}
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}
