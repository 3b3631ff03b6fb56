package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/receive"
	"github.com/foreshard/foreshard/capture/stream"
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

// A pipe that seemed to repeat an earlier one and broke before its end: what was received of the earlier one and never read is counted.
func TestWhatWasNotRepeatedIsCounted(t *testing.T) {
	agent, err := stream.OpenAgent(stream.AgentConfig{Name: "a", Dir: t.TempDir()}, stream.NewMemory("traffic", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	s, err := receive.Open(t.TempDir(), receive.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var newest *receive.Log
	for _, text := range []string{"first\nsecond\nthird\n", "first\nsecond\n"} {
		if err := s.Copy(t.Context(), strings.NewReader(text), func(l *receive.Log) { newest = l }); err != nil {
			t.Fatal(err)
		}
	}
	head, err := newest.Head(pglog.HeadBytes)
	if err != nil {
		t.Fatal(err)
	}
	read := stream.Position{Name: "-", Identity: pglog.Identity(agent.HashKey(), head), Offset: int64(len(head))}
	if err := agent.Flush(t.Context(), stream.Checkpoint{Positions: []stream.Position{read}}, stream.Ledger{}); err != nil {
		t.Fatal(err)
	}
	if err := finished(t.Context(), agent, s, newest); err != nil {
		t.Fatal(err)
	}
	want := receive.Drop{Count: 1, Bytes: int64(len("third\n"))}
	if logs, got := s.Logs(), s.Dropped()[receive.DropCut]; len(logs) != 1 || logs[0] != newest || got != want {
		t.Errorf("%d logs are left, %+v was counted", len(logs), got)
	}
}
