package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// What makes no sense is refused before anything is received.
func TestCaptureReceiveRefuses(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"udp://HOST:PORT", []string{"--listen-syslog", "ftp://127.0.0.1:21"}},
		{"udp://HOST:PORT", []string{"--listen-syslog", "127.0.0.1:514"}},
		{"--max-received", []string{"--listen-syslog", "udp://127.0.0.1:5514", "--max-received", "1"}},
		{"named twice", []string{"--follow", "-", "-"}},
		{"named twice", []string{"--follow", "--log", "-", "-"}},
		{"--start", []string{"--follow", "--start", "middle", "-"}},
		{"--log-line-prefix", []string{"--follow", "--input-format", "stderr", "-"}},
		{"none of auto", []string{"--follow", "--input-format", "syslogg", "-"}},
	} {
		dir := t.TempDir()
		var out, errOut bytes.Buffer
		args := append([]string{"capture", "--brokers", "127.0.0.1:1", "--state", dir, "--listen", ""}, c.args...)
		if code := run(context.Background(), args, strings.NewReader(""), &out, &errOut); code != exitCannot || !strings.Contains(errOut.String(), c.want) {
			t.Errorf("%q: exit code %d, %s", c.args, code, &errOut)
		}
	}
}
