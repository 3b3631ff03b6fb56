package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/foreshard/foreshard/analysis"
)

var upkeepKills = flag.Int("upkeep.kills", 10, "how often TestUpkeepKilled kills")

// Two agents that do upkeep by themselves and drop days while they fill them, compactions beside them and reports, any of which is killed at any
// moment: every statement counts once, the dropped ones in the ledger, and nothing is damaged.
func TestUpkeepKilled(t *testing.T) {
	dir := t.TempDir()
	const grace = "2s"
	a := newAgent(t, dir, "--log", filepath.Join(dir, "a.log"), "--stream", "a")
	a.args = append(a.args, "--log-line-prefix", "%m [%p] ", "--commit-every", "20ms", "--poll", "10ms", "--compact-every", "150ms", "--grace", grace, "--retain-all", "1d")
	b := *a
	b.log = bytes.Buffer{}
	b.args = append([]string{}, a.args...)
	for i, s := range b.args {
		if s == filepath.Join(dir, "a.log") {
			b.args[i] = filepath.Join(dir, "b.log")
		} else if s == "a" {
			b.args[i] = "b"
		}
	}
	var written atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	logs := make(chan error, 2)
	for i, name := range []string{"a.log", "b.log"} {
		go func() { logs <- writeLog(ctx, filepath.Join(dir, name), 100+i, &written) }()
	}
	random := rand.New(rand.NewPCG(3, 4))
	agents := []*testAgent{a, &b}
	a.start()
	b.start()
	compactions := 0
	for range *upkeepKills {
		compact := exec.Command(a.program, "warehouse", "compact", "--warehouse", filepath.Join(dir, "traffic"), "--grace", grace)
		var said bytes.Buffer
		compact.Stdout, compact.Stderr = &said, &said
		compact.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
		if err := compact.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(600)) * time.Millisecond)
		victim := agents[random.IntN(2)]
		victim.kill()
		if err := compact.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := compact.Wait(); err == nil {
			compactions++
		} else if !strings.Contains(err.Error(), "killed") && !strings.Contains(said.String(), "no traffic was ever written") {
			t.Errorf("compact: %v\n%s", err, &said)
		}
		victim.start()
		var out, errOut bytes.Buffer
		code := run(t.Context(), []string{"analyze", "--format", "json", "--warehouse", filepath.Join(dir, "traffic"), "--schema", filepath.Join(dir, "schema.sql"), "--candidate", filepath.Join(dir, "by-org.yaml")},
			strings.NewReader(""), &out, &errOut)
		if code != exitDone && code != exitThin && !strings.Contains(errOut.String(), "deleted while they were read") {
			t.Errorf("analyze: exit code %d\n%s", code, &errOut)
		}
	}
	stop()
	for range 2 {
		if err := <-logs; err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Second) // the last record is taken for whole after --idle
	a.drain()
	b.drain()
	var out, errOut bytes.Buffer
	for _, verb := range []string{"compact", "check", "status"} {
		if code := run(t.Context(), []string{"warehouse", verb, "--warehouse", filepath.Join(dir, "traffic")}, strings.NewReader(""), &out, &errOut); code != exitDone {
			t.Fatalf("warehouse %s: exit code %d\n%s\n%s\n%s", verb, code, &errOut, a.said(), b.said())
		}
	}
	t.Logf("%d statements, %d compactions to their end\n%s", written.Load(), compactions, &out)
	judged, dropped := a.judged()
	if judged+dropped != written.Load() || judged < 100 || dropped < 100 {
		t.Errorf("%d statements are in the logs; %d are judged, %d dropped\n%s\n%s", written.Load(), judged, dropped, a.said(), b.said())
	}
	if said := a.said() + b.said(); !strings.Contains(said, "merged into") || strings.Contains(said, "upkeep failed") {
		t.Errorf("the agents say\n%s", said)
	}
}

// judged are the calls that a report weighs, and those of days that were dropped.
func (a *testAgent) judged() (calls, dropped int64) {
	a.t.Helper()
	var out, errOut bytes.Buffer
	code := run(context.Background(), []string{"analyze", "--format", "json", "--warehouse", filepath.Join(a.dir, "traffic"), "--schema", filepath.Join(a.dir, "schema.sql"), "--candidate", filepath.Join(a.dir, "by-org.yaml")},
		strings.NewReader(""), &out, &errOut)
	var r analysis.Report
	if err := json.Unmarshal(out.Bytes(), &r); code != exitDone || err != nil {
		a.t.Fatalf("analyze: exit code %d, %v\n%s", code, err, &errOut)
	}
	calls, dropped = int64(r.Candidates[0].Calls.Total), r.Ledger.Retired["rollups"]
	if calls+dropped != r.Ledger.Executions || int64(r.Candidates[0].Transactions.Total)+r.Ledger.Retired["transactions"] != r.Ledger.Executions {
		a.t.Errorf("%d calls are judged, %d dropped, %d in the ledger; %+v", calls, dropped, r.Ledger.Executions, r.Ledger.Retired)
	}
	return calls, dropped
}

// writeLog writes statements to a log until ctx ends, and counts them.
func writeLog(ctx context.Context, path string, pid int, written *atomic.Int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for n := 0; ctx.Err() == nil && err == nil; n++ {
		at := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
		_, err = fmt.Fprintf(f, "%s UTC [%d] LOG:  duration: 1.000 ms  statement: select balance from accounts where org_id = %d\n", at.Format("2006-01-02 15:04:05.000"), pid, n%50)
		written.Add(1)
		time.Sleep(2 * time.Millisecond)
	}
	return errors.Join(err, f.Close())
}
