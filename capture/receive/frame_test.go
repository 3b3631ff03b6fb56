package receive

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct {
		name, in string
		want     []string
		dropped  []string
		err      error
	}{
		{"newlines", "<13>a\n<13>b c\r\n\n<13>d\n", []string{"<13>a\n", "<13>b c\r\n", "<13>d\n"}, nil, io.EOF},
		{"a message without its end", "<13>a\n<13>b", []string{"<13>a\n"}, []string{"receive_cut 5"}, io.EOF},
		{"a line that is too long", "<13>a\n" + long + "\n<13>b\n", []string{"<13>a\n", "<13>b\n"}, []string{"receive_oversize 71"}, io.EOF},
		{"the longest line", long[:64] + "\n", []string{long[:64] + "\n"}, nil, io.EOF},
		{"a long line without its end", long, nil, []string{"receive_cut 70"}, io.EOF},
		{"counts", "5 <13>a10 <13>b\nc\nd\n", []string{"<13>a", "<13>b\nc\nd\n"}, nil, io.EOF},
		{"counts and line ends", "5 <13>a\n5 <13>b\n", []string{"<13>a", "<13>b"}, nil, io.EOF},
		{"a count that is too long", "70 " + long + "5 <13>b", []string{"<13>b"}, []string{"receive_oversize 73"}, io.EOF},
		{"a counted message that breaks", "5 <13>a9 <13>b", []string{"<13>a"}, []string{"receive_cut 7"}, io.ErrUnexpectedEOF},
		{"a long counted message that breaks", "700 " + long, nil, []string{"receive_cut 74"}, io.ErrUnexpectedEOF},
		{"a count that breaks", "5 <13>a12", []string{"<13>a"}, []string{"receive_cut 2"}, io.EOF},
		{"no count", "5 <13>a<13>b\n", []string{"<13>a"}, []string{"receive_framing 6"}, errFraming},
		{"a count beyond all bounds", "12345678901 x", nil, []string{"receive_framing 13"}, errFraming},
		{"nothing", "", nil, nil, io.EOF},
	} {
		for kind, rd := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			if c.err == errFraming && kind != "whole" {
				continue // how much is thrown away with the connection is how much has arrived
			}
			t.Run(c.name+" "+kind, func(t *testing.T) {
				var got, dropped []string
				f := frames{rd: bufio.NewReaderSize(rd, 16), max: 64, drop: func(reason string, bytes int64) { dropped = append(dropped, fmt.Sprint(reason, " ", bytes)) }}
				var err error
				for {
					var m []byte
					if m, err = f.next(); err != nil {
						break
					}
					got = append(got, string(m))
				}
				if !slices.Equal(got, c.want) || !slices.Equal(dropped, c.dropped) || err != c.err {
					t.Errorf("%q, dropped %q, %v; want %q, %q, %v", got, dropped, err, c.want, c.dropped, c.err)
				}
			})
		}
	}
}

// Whatever arrives, the messages and what was dropped are all of it, framing apart.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{"<13>a\n<13>b", "5 <13>a11 <13>b\nc\nd\n", "70 x", "9999999999999 ", "\n\n\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		total := int64(0)
		fr := frames{rd: bufio.NewReaderSize(strings.NewReader(string(in)), 16), max: 64, drop: func(_ string, n int64) { total += n }}
		for {
			m, err := fr.next()
			if err != nil {
				break
			}
			if len(m) > 65 {
				t.Fatalf("a message of %d bytes", len(m))
			}
			total += int64(len(m))
			if line := appendLine(nil, m); strings.Count(string(line), "\n") != 1 {
				t.Fatalf("%q is not a line", line)
			}
		}
		if total > int64(len(in)) {
			t.Errorf("%d bytes of %d", total, len(in))
		}
	})
}

func TestAppendLine(t *testing.T) {
	for in, want := range map[string]string{
		"<13>a":                 "<13>a\n",
		"<13>a\n":               "<13>a\n",
		"<13>a\r\n\x00":         "<13>a\n",
		"<13>select 1,\n\t2\n":  "<13>select 1,#012\t2\n",
		"a\x01b\x1fc\rd\x00e":   "a#001b#037c#015d#000e\n",
		"caf\xc3\xa9 \xff#012x": "caf\xc3\xa9 \xff#012x\n",
		"\n\r\x00":              "\n",
	} {
		if got := string(appendLine(nil, []byte(in))); got != want {
			t.Errorf("%q is written %q, want %q", in, got, want)
		}
	}
}

func TestSyslogAddress(t *testing.T) {
	for in, want := range map[string]string{
		"udp://127.0.0.1:5514": "udp 127.0.0.1:5514", "tcp://:5514": "tcp 127.0.0.1:5514", "udp://": "udp 127.0.0.1:514", "tcp://[::1]:1": "tcp [::1]:1",
		"udp://0.0.0.0:514": "udp 0.0.0.0:514", "unix:///run/foreshard.sock": "unix /run/foreshard.sock",
		"127.0.0.1:5514": "", "udp://h:1/x": "", "unix://x/y": "", "unix:": "", "tls://h:1": "", "udp://u@h:1": "",
	} {
		scheme, host, err := syslogAddress(in)
		if got := scheme + " " + host; got != want && (err == nil || want != "") {
			t.Errorf("%q is %q, %v; want %q", in, got, err, want)
		}
	}
}
