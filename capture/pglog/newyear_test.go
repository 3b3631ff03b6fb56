package pglog

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// A log without years that is followed for days, or comes through a pipe that lasts as long, has the year of each entry, not that of a year before.
func TestYearsOfALongLog(t *testing.T) {
	days := []time.Time{time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), time.Date(2026, 12, 9, 10, 0, 0, 0, time.UTC), time.Date(2027, 1, 5, 10, 0, 0, 0, time.UTC)}
	line := func(at time.Time, n int) string {
		return fmt.Sprintf("%s db1 postgres[71]: [%d-1] app@shop LOG:  duration: 1.000 ms  statement: select %d\n", at.Format(time.Stamp), n, n)
	}
	var now time.Time
	cfg := Config{Format: Syslog, Prefix: "%u@%d ", Now: func() time.Time { return now }, Workers: 1}
	want := fmt.Sprint(days)
	read := func(r *Reader) (times []time.Time) {
		if err := r.Run(t.Context(), func(b Batch) error {
			for _, e := range b.Events {
				times = append(times, e.Time)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return times
	}

	r, err := Follow(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var log []byte
	var times []time.Time
	offset := int64(0)
	for i, day := range days {
		log = append(log, line(day, i+1)...)
		if err := r.Next(Part{Name: "x", Content: bytes.NewReader(log), Offset: offset, Whole: true, Written: day}); err != nil {
			t.Fatal(err)
		}
		times = append(times, read(r)...)
		offset = r.Positions()[0].Offset
	}
	if got := fmt.Sprint(times); got != want {
		t.Errorf("followed: %s, want %s", got, want)
	}

	rd, wr := io.Pipe()
	now = days[0]
	go func() {
		for i, day := range days {
			text := line(day, i+1)
			if i == 0 {
				text += strings.Repeat("foreign\n", 64<<10) // more than is looked at before reading begins
			}
			_, _ = wr.Write([]byte(text)) // what is not read fails the test by its times
		}
		_ = wr.Close()
	}()
	cfg.ChunkSize = 64
	if r, err = Open(t.Context(), []Input{{Name: "-", Reader: clocked{rd, func(text []byte) {
		for _, day := range days {
			if bytes.Contains(text, []byte(day.Format(time.Stamp))) {
				now = day
			}
		}
	}}}}, cfg); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(read(r)); got != want {
		t.Errorf("through a pipe: %s, want %s", got, want)
	}
}

// clocked shows what is read of it.
type clocked struct {
	io.Reader
	see func([]byte)
}

func (c clocked) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.see(p[:n])
	return n, err
}
