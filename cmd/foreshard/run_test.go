package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/capture/tail"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

const runSchema = `create table accounts (id bigint primary key, org_id bigint not null, balance bigint not null default 0);
create table entries (org_id bigint not null, account_id bigint not null, amount bigint not null);`

const runCandidate = "name: by-org\nshards: 16\ncolos:\n  org:\n    key: {name: org_id, type: bigint}\n    tables: {accounts: org_id, entries: org_id}\n"

// An agent that is killed with SIGKILL again and again, under a server that rotates its log, counts exactly what the clients ran.
func TestRunKilled(t *testing.T) {
	for _, c := range []struct {
		destination, pattern string
		flags                []string
	}{
		{"csvlog", "postgresql-%Y%m%d_%H%M%S.csv", nil},
		{"stderr", "postgresql-%Y%m%d_%H%M%S.log", []string{"--log-line-prefix", "%m [%p] %q%u@%d/%a %c %x "}},
	} {
		t.Run(c.destination, func(t *testing.T) {
			srv := pgserver.New(t, pgserver.Options{Major: 17, Log: []string{c.destination}, Settings: map[string]string{
				"log_min_duration_statement": "0", "log_line_prefix": "%m [%p] %q%u@%d/%a %c %x ", "log_filename": "postgresql-%Y%m%d_%H%M%S.log", "log_rotation_size": "300kB"}})
			dir := t.TempDir()
			a := newAgent(t, dir, append([]string{"--log", filepath.Join(filepath.Dir(srv.LogFile("stderr")), c.pattern)}, c.flags...)...)
			const kills = 12
			ctx, stop := context.WithCancel(context.Background())
			client := make(chan clientCounts, 1)
			failed := make(chan error, 1)
			go func() {
				counts, err := runClients(ctx, srv.DSN("postgres"), 4)
				client <- counts
				failed <- err
			}()
			random := rand.New(rand.NewPCG(1, 2))
			for range kills {
				a.start()
				time.Sleep(time.Duration(200+random.IntN(900)) * time.Millisecond)
				a.kill()
			}
			stop()
			want := <-client
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
			if err := srv.Stop(); err != nil {
				t.Fatal(err)
			}
			a.start()
			time.Sleep(3 * time.Second) // the last record of a stderr log is taken for whole after --idle
			a.drain()
			got := a.counts()
			t.Logf("%d statements by the clients, %d kills", want.total(), kills)
			if got != want || want.selects < 100 {
				t.Errorf("the clients ran %+v, the agent counted %+v\n%s", want, got, a.said())
			}
			if files, err := filepath.Glob(filepath.Join(filepath.Dir(srv.LogFile("stderr")), "postgresql-*")); err != nil || len(files) < 2 {
				t.Errorf("the log was not rotated: %v, %v", files, err)
			}
		})
	}
}

// clientCounts are statements by kind.
type clientCounts struct{ setup, begins, updates, inserts, commits, selects int64 }

func (c clientCounts) total() int64 {
	return c.setup + c.begins + c.updates + c.inserts + c.commits + c.selects
}

// runClients runs transactions in several sessions, half of them in the extended protocol, until ctx ends.
func runClients(ctx context.Context, dsn string, sessions int) (clientCounts, error) {
	background := context.Background()
	setup, err := pgconn.Connect(background, dsn)
	if err != nil {
		return clientCounts{}, err
	}
	_, err = setup.Exec(background, runSchema).ReadAll()
	if err := errors.Join(err, setup.Close(background)); err != nil {
		return clientCounts{}, err
	}
	all := make([]clientCounts, sessions)
	var g errgroup.Group
	for i := range sessions {
		g.Go(func() error {
			conn, err := pgconn.Connect(background, dsn)
			if err != nil {
				return err
			}
			for n := 0; ctx.Err() == nil && err == nil; n++ {
				err = transaction(conn, i, n, &all[i])
				time.Sleep(2 * time.Millisecond)
			}
			return errors.Join(err, conn.Close(background))
		})
	}
	err = g.Wait()
	sum := clientCounts{setup: 2}
	for _, c := range all {
		sum.begins += c.begins
		sum.updates += c.updates
		sum.inserts += c.inserts
		sum.commits += c.commits
		sum.selects += c.selects
	}
	return sum, err
}

func transaction(conn *pgconn.PgConn, session, n int, c *clientCounts) error {
	ctx := context.Background()
	simple := func(counter *int64, sql string) error {
		_, err := conn.Exec(ctx, sql).ReadAll()
		*counter++
		return err
	}
	extended := func(counter *int64, sql string, args ...string) error {
		values := make([][]byte, len(args))
		for i, a := range args {
			values[i] = []byte(a)
		}
		*counter++
		return conn.ExecParams(ctx, sql, values, nil, nil, nil).Read().Err
	}
	org := fmt.Sprint(session*1000 + n%50)
	if session%2 == 0 {
		return errors.Join(simple(&c.begins, "begin"), simple(&c.updates, "update accounts set balance = balance + 1 where org_id = "+org+" and id = 5"),
			simple(&c.inserts, "insert into entries (org_id, account_id, amount)\nvalues ("+org+", 5, 1)"), simple(&c.commits, "commit"),
			simple(&c.selects, "select balance from accounts where org_id = "+org))
	}
	return errors.Join(extended(&c.begins, "begin"), extended(&c.updates, "update accounts set balance = balance + 1 where org_id = $1 and id = $2", org, "5"),
		extended(&c.inserts, "insert into entries (org_id, account_id, amount)\nvalues ($1, $2, 1)", org, "5"), extended(&c.commits, "commit"),
		extended(&c.selects, "select balance from accounts where org_id = $1", org))
}

// testAgent is foreshard run as a process of its own.
type testAgent struct {
	t       *testing.T
	dir     string
	program string
	args    []string
	cmd     *exec.Cmd
	log     bytes.Buffer
}

func newAgent(t *testing.T, dir string, args ...string) *testAgent {
	t.Helper()
	return newProcess(t, dir, append([]string{"run", "--warehouse", filepath.Join(dir, "traffic"), "--schema", filepath.Join(dir, "schema.sql"),
		"--poll", "50ms", "--commit-every", "200ms", "--idle", "500ms", "--listen", ""}, args...)...)
}

// newProcess is a long-running verb as a process of its own, with a schema and a candidate in its directory.
func newProcess(t *testing.T, dir string, args ...string) *testAgent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := &testAgent{t: t, dir: dir, program: filepath.Join(dir, "foreshard"), args: args}
	for name, text := range map[string]string{"schema.sql": runSchema, "by-org.yaml": runCandidate} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, a.program); err != nil && !errors.Is(err, fs.ErrExist) { // the test program is the command if it is called so
		t.Fatal(err)
	}
	return a
}

func (a *testAgent) start() {
	a.t.Helper()
	a.cmd = exec.Command(a.program, a.args...)
	a.cmd.Stdout, a.cmd.Stderr = &a.log, &a.log
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := a.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
}

// kill ends the agent as a crash does. An agent that has ended by itself failed.
func (a *testAgent) kill() {
	a.t.Helper()
	if err := a.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		a.t.Fatalf("%v\n%s", err, &a.log)
	}
	var exit *exec.ExitError
	if err := a.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		a.t.Fatalf("the agent ended by itself: %v\n%s", err, &a.log)
	}
}

// drain ends the agent as a service manager does.
func (a *testAgent) drain() {
	a.t.Helper()
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		a.t.Fatal(err)
	}
	if err := a.cmd.Wait(); err != nil {
		a.t.Fatalf("%v\n%s", err, &a.log)
	}
}

func (a *testAgent) said() string { return a.log.String() }

// counts are the calls in the warehouse, by kind.
func (a *testAgent) counts() (c clientCounts) {
	a.t.Helper()
	var out, errOut bytes.Buffer
	code := run(context.Background(), []string{"analyze", "--format", "json", "--warehouse", filepath.Join(a.dir, "traffic"), "--schema", filepath.Join(a.dir, "schema.sql"), "--candidate", filepath.Join(a.dir, "by-org.yaml")},
		strings.NewReader(""), &out, &errOut)
	if code != exitDone {
		a.t.Fatalf("analyze: exit code %d\n%s", code, &errOut)
	}
	var r struct {
		Ledger struct {
			Executions int64
			Dropped    map[string]int64
		}
		Candidates []struct {
			Queries []struct {
				Text  string
				Calls int64
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		a.t.Fatal(err)
	}
	for _, q := range r.Candidates[0].Queries {
		switch word, _, _ := strings.Cut(q.Text, " "); word {
		case "begin":
			c.begins += q.Calls
		case "update":
			c.updates += q.Calls
		case "insert":
			c.inserts += q.Calls
		case "commit":
			c.commits += q.Calls
		case "select":
			c.selects += q.Calls
		case "create":
			c.setup += q.Calls
		}
	}
	if c.total() != r.Ledger.Executions {
		a.t.Errorf("queries have %d calls, the ledger %d executions; dropped %v", c.total(), r.Ledger.Executions, r.Ledger.Dropped)
	}
	return c
}

// While it runs an agent answers for itself, and it prints headlines.
func TestRunAnswers(t *testing.T) {
	dir := t.TempDir()
	address := freeAddress(t)
	log := filepath.Join(dir, "postgresql.log")
	a := newAgent(t, dir, "--log", log, "--log-line-prefix", "%m [%p] ", "--listen", address, "--candidate", filepath.Join(dir, "by-org.yaml"), "--report-every", "1ms")
	a.start()
	get := func(path, want string) { t.Helper(); comesToSay(t, address, path, want) }
	get("/healthz", "200 ok")
	get("/readyz", "503 no log file is found")
	lines := "2026-01-02 10:00:00.001 UTC [71] LOG:  duration: 1.000 ms  statement: select * from accounts where org_id = 4\n" +
		"2026-01-02 10:00:00.002 UTC [71] LOG:  duration: 1.000 ms  statement: select * from accounts\nforeign\n" +
		"2026-01-02 10:00:00.003 UTC [71] LOG:  checkpoint starting\n"
	if err := os.WriteFile(log, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	get("/readyz", "200 ready")
	get("/metrics", `foreshard_capture_events_total{source="log"} 2`)
	get("/metrics", `foreshard_capture_dropped_total{cause="foreign",source="log"} 1`)
	get("/metrics", `foreshard_plan_executions_total 2`)
	get("/metrics", `foreshard_ready_ratio{candidate="by-org"} 0.5`)
	a.drain()
	if !strings.Contains(a.said(), "50.0 % of calls (1 of 2 templates) are ready on by-org") || !strings.Contains(a.said(), "2 executions committed") {
		t.Errorf("it says\n%s", a.said())
	}
}

// freeAddress is a loopback address that nothing listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// comesToSay waits until what is served has a text in it.
func comesToSay(t *testing.T, address, path, want string) {
	t.Helper()
	var body string
	for range 400 {
		if r, err := http.Get("http://" + address + path); err == nil {
			b, err := io.ReadAll(r.Body)
			r.Body.Close()
			if body = fmt.Sprint(r.StatusCode, " ", string(b)); err == nil && strings.Contains(body, want) {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not come to say %q but\n%s", path, want, body)
}

// What makes no sense is refused before anything is read.
func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	newAgent(t, dir) // its files
	schema := filepath.Join(dir, "schema.sql")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"nothing to follow", []string{"--warehouse", "w", "--schema", schema}},
		{"no warehouse", []string{"--log", "x", "--schema", schema}},
		{"no schema", []string{"--log", "x", "--warehouse", "w"}},
		{"--start", []string{"--log", "x", "--warehouse", "w", "--schema", schema, "--start", "middle"}},
		{"--log-line-prefix", []string{"--log", "x", "--warehouse", "w", "--schema", schema, "--input-format", "stderr"}},
		{"needs a --candidate", []string{"--log", "x", "--warehouse", "w", "--schema", schema, "--report-every", "1s"}},
		{"pattern", []string{"--log", "[", "--warehouse", filepath.Join(dir, "w"), "--schema", schema, "--listen", ""}},
		{"--listen", []string{"--log", "x", "--warehouse", filepath.Join(dir, "w"), "--schema", schema, "--listen", "127.0.0.1:99999"}},
	} {
		var out, errOut bytes.Buffer
		if code := run(context.Background(), append([]string{"run"}, c.args...), strings.NewReader(""), &out, &errOut); code != exitCannot || !strings.Contains(errOut.String(), c.want) {
			t.Errorf("%q: exit code %d, %s", c.args, code, &errOut)
		}
	}
	// A stderr log without its prefix, and a file that is no log.
	for name, c := range map[string]struct{ text, want string }{
		"a.log": {strings.Repeat("2026-01-02 10:00:00.001 UTC [71] LOG:  duration: 1.000 ms  statement: select 1\n", 3), "give its log_line_prefix"},
		"b.log": {strings.Repeat("nothing of the kind, and much of it\n", 10000), "not recognised"},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var out, errOut bytes.Buffer
		code := run(context.Background(), []string{"run", "--log", filepath.Join(dir, name), "--warehouse", filepath.Join(dir, "w"), "--schema", schema, "--listen", "", "--idle", "1ms", "--poll", "10ms"}, strings.NewReader(""), &out, &errOut)
		if code != exitCannot || !strings.Contains(errOut.String(), c.want) {
			t.Errorf("%s: exit code %d, %s", name, code, &errOut)
		}
	}
}

// An agent that reads a log and learns nothing from it says so.
func TestRunUnderstandsNothing(t *testing.T) {
	ledger := func(bytes, dropped, records, statements int64) analysis.FollowStatus {
		return analysis.FollowStatus{Files: tail.Counts{Files: 1}, Ledger: analysis.Ledger{Bytes: bytes, Records: records, Statements: statements, DroppedBytes: map[string]int64{"foreign": dropped}}}
	}
	s := newRunStatus(time.Second)
	now := time.Unix(0, 0)
	for i, step := range []struct {
		status analysis.FollowStatus
		want   string
	}{
		{ledger(1000, 10, 5, 0), ""},
		{ledger(100_000, 10, 1000, 0), "no statement is in them"},
		{ledger(200_000, 10, 1000, 1), ""},
		{ledger(300_000, 90_000, 1000, 1), ""},        // less than half
		{ledger(600_000, 300_000, 1000, 1), "prefix"}, // of the last 300 kB
		{ledger(610_000, 300_000, 1000, 1), "prefix"}, // too little to tell that it is well again
		{ledger(900_000, 300_000, 1000, 1), ""},
	} {
		s.look(step.status, now)
		if why := s.log.unready(now); (why == "") != (step.want == "") || !strings.Contains(why, step.want) {
			t.Errorf("step %d: %q, want %q", i, why, step.want)
		}
	}
}
