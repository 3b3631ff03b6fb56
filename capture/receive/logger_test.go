package receive_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/receive"
)

// logger(1) sends in each way it knows, and each statement counts once.
func TestLoggerIsUnderstood(t *testing.T) {
	logger, err := exec.LookPath("logger")
	if err != nil {
		t.Skip("needs logger(1)")
	}
	for _, c := range []struct {
		name string
		args func(host, port, socket string) []string
	}{
		{"udp 3164", func(host, port, _ string) []string { return []string{"-n", host, "-P", port, "-d", "--rfc3164"} }},
		{"udp 5424", func(host, port, _ string) []string { return []string{"-n", host, "-P", port, "-d", "--rfc5424"} }},
		{"tcp 3164", func(host, port, _ string) []string { return []string{"-n", host, "-P", port, "-T", "--rfc3164"} }},
		{"tcp 5424", func(host, port, _ string) []string { return []string{"-n", host, "-P", port, "-T", "--rfc5424"} }},
		{"tcp octets", func(host, port, _ string) []string {
			return []string{"-n", host, "-P", port, "-T", "--rfc5424", "--octet-count"}
		}},
		{"unix", func(_, _, socket string) []string { return []string{"-u", socket} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, pglog.Config{Prefix: "%m [%p] ", Format: pglog.Syslog, Escaped: true, Now: time.Now})
			m.max = 0
			file, socket := filepath.Join(m.dir, "lines"), filepath.Join(m.dir, "socket")
			var text strings.Builder
			const n = 20
			for i := range n {
				fmt.Fprintf(&text, "[%d-1] 2026-01-02 10:00:%02d.000 UTC [71] LOG:  duration: 1.000 ms  statement: select a from t where id = %d -- %s\n", i+1, i, i, strings.Repeat("x", i*30))
			}
			if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			m.run(func(ctx context.Context, s *receive.Store) error {
				y, err := s.Listen([]string{"tcp://127.0.0.1:0", "udp://127.0.0.1:0", "unix://" + socket})
				if err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				done := make(chan error, 1)
				go func() { done <- y.Run(ctx) }()
				network, _, _ := strings.Cut(c.name, " ")
				address := ""
				for _, a := range y.Addresses() {
					if scheme, rest, _ := strings.Cut(a, "://"); scheme == network {
						address = rest
					}
				}
				host, port, _ := strings.Cut(address, ":")
				args := append(c.args(host, port, socket), "-t", "postgres", "--id=71", "-p", "local0.info", "-f", file)
				if out, err := exec.Command(logger, args...).CombinedOutput(); err != nil {
					return fmt.Errorf("%w: %s", err, out)
				}
				l := s.Logs()[0]
				for range 500 { // until nothing more is on its way
					size, _ := l.Stat()
					time.Sleep(20 * time.Millisecond)
					if now, _ := l.Stat(); size == now && size > int64(text.Len()) {
						break
					}
				}
				cancel()
				return <-done
			})
			// The end of the log is whole after a silence only; by then nothing but one more start is needed.
			m.idle = time.Millisecond
			m.run(func(ctx context.Context, s *receive.Store) error {
				y, err := s.Listen([]string{"udp://127.0.0.1:0"})
				if err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				done := make(chan error, 1)
				go func() { done <- y.Run(ctx) }()
				for range 500 {
					if n, _ := m.arrived(); n > 0 {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				cancel()
				return <-done
			})
			if got, l := m.arrived(); got != n || len(l.Dropped) > 0 {
				t.Errorf("%d executions, want %d; dropped %v, notes %v", got, n, l.Dropped, l.Notes)
			}
		})
	}
}
