package pglog

import (
	"flag"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/klauspost/compress/zstd"

	"github.com/foreshard/foreshard/fixtures/pgserver"
)

var recordSyslog = flag.String("record-syslog", "", "record testdata/syslog anew, listening at this path, which is where the C library sends syslog: "+
	"unshare -m sh -c 'mount -t tmpfs none /mnt && … && go test -run TestRecordSyslog -record-syslog /dev/log'")

// longTexts are statements that the server has to cut: long lines with and without blanks, letters of several bytes, empty lines and TABs.
var longTexts = []string{
	"select 1 as " + strings.Repeat("a", 40) + " where " + strings.Repeat("'x y' <> 'é z' and ", 120) + "true",
	"select '" + strings.Repeat("0123456789", 300) + "', '" + strings.Repeat("é", 1200) + "'",
	"select 'a\tb',\n\n\n\t'  c',\n  'd\n\ne'\n\nfrom t\n",
	"select '" + strings.Repeat("word ", 178) + "tail', 'x'",
}

// TestRealSyslog reads what real servers sent to syslog and to stderr at the same time: the events are the same. Without a number for each
// record, or with one message for each, too, and with and without the escapes of rsyslog.
func TestRealSyslog(t *testing.T) {
	paths, err := filepath.Glob("testdata/syslog/*.syslog.zst")
	if err != nil || len(paths) != 3 {
		t.Fatalf("%d samples, %v", len(paths), err)
	}
	now := func() time.Time { return time.Date(2026, 12, 3, 0, 0, 0, 0, time.UTC) }
	for _, path := range paths {
		want, counts, err := exactly(t, Config{Prefix: samplePrefix}, Input{Path: strings.TrimSuffix(path, ".syslog.zst") + ".log.zst"})
		if err != nil || counts.Executions < 300 {
			t.Fatalf("%d executions, %v", counts.Executions, err)
		}
		sent := unpack(t, path)
		for what, text := range map[string]string{
			"as sent":    sent,
			"by rsyslog": regexp.MustCompile(`(?m)^<\d+>(\w+ [ \d]\d [\d:]+) `).ReplaceAllString(escapeSyslog(sent), "$1 db1 "),
		} {
			got, c, err := exactly(t, Config{Now: now}, Input{Name: "x", Reader: strings.NewReader(text)})
			if err != nil {
				t.Fatal(err)
			}
			if got = unhosted(got); got != want || c.Records != counts.Records {
				t.Errorf("%s %s: %s\n%s", path, what, firstDifference(want, got), dumpCounts(c))
			}
		}
	}
}

func unpack(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	text, err := dec.DecodeAll(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// escapeSyslog writes messages as rsyslog does: a line each, control characters escaped, the newline at the end dropped.
func escapeSyslog(sent string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(sent, "\n"), "\n") {
		if !strings.HasPrefix(line, "<") {
			b.WriteString("#012")
		} else if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.ReplaceAll(line, "\t", "#011"))
	}
	return b.String() + "\n"
}

// TestRecordSyslog has conversations with real servers that log to stderr and to syslog at once, and keeps both.
func TestRecordSyslog(t *testing.T) {
	if *recordSyslog == "" {
		t.Skip("it writes testdata; see -record-syslog")
	}
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: *recordSyslog, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	from := &receiver{socket, make(chan []byte, 1<<20)}
	go from.run()
	if err := os.Chmod(*recordSyslog, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]map[string]string{"17": {}, "12.unnumbered": {"syslog_sequence_numbers": "off"}, "17.unsplit": {"syslog_split_messages": "off"}} {
		major := map[bool]int{true: 12, false: 17}[strings.HasPrefix(name, "12")]
		settings := map[string]string{"log_line_prefix": samplePrefix, "max_prepared_transactions": "5", "syslog_ident": "pg"}
		for k, v := range set {
			settings[k] = v
		}
		srv := pgserver.New(t, pgserver.Options{Major: major, Log: []string{"stderr", "syslog"}, Settings: settings})
		start, err := os.ReadFile(srv.LogFile("stderr"))
		if err != nil {
			t.Fatal(err)
		}
		from.take() // of the start, which names folders
		connect(t, srv, "setup", nil, simple(`create table t (a int, b text); insert into t values (1, 'a'), (2, 'b');
			create function twice(n int) returns int language plpgsql as $$ begin perform count(*) from t; return n * 2; end $$;
			create procedure proc(n int) language plpgsql as $$ begin insert into t values (n, 'p'); end $$;`))
		for mode, set := range truthModes {
			for _, x := range truths {
				connect(t, srv, mode+"."+x.name, set, x.talk)
			}
			connect(t, srv, mode+".long", set, simple(longTexts...))
			for _, v := range longTexts {
				connect(t, srv, mode+".long", set, func(c *pgconn.PgConn) error { return extended("select $1::text, $2::text", v, "end")(c) })
			}
		}
		if err := srv.Stop(); err != nil {
			t.Fatal(err)
		}
		plain, err := os.ReadFile(srv.LogFile("stderr"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, name+".log", plain[len(start):])
		write(t, name+".syslog", from.take())
	}
}

func write(t *testing.T, name string, data []byte) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata/syslog", name+".zst"), enc.EncodeAll(data, nil), 0o644); err != nil {
		t.Fatal(err)
	}
}

// receiver keeps datagrams, a line each: the C library writes no newline and no host.
type receiver struct {
	socket *net.UnixConn
	lines  chan []byte
}

// run reads until the socket is closed. A server waits for its datagrams to be read.
func (r *receiver) run() {
	buf := make([]byte, 1<<20)
	for {
		n, err := r.socket.Read(buf)
		if err != nil {
			return
		}
		r.lines <- []byte(strings.TrimSuffix(string(buf[:n]), "\n") + "\n")
	}
}

// take gives the lines so far, a while after the last one.
func (r *receiver) take() (out []byte) {
	for {
		select {
		case line := <-r.lines:
			out = append(out, line...)
		case <-time.After(time.Second):
			return out
		}
	}
}
