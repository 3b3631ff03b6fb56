package pglog

import (
	"fmt"
	"strings"
	"testing"
)

// A record that never ends, with lines that are taken at once between its own, does not fill the memory: it is cut like any that is too long.
func TestWrappedRecordWithoutEnd(t *testing.T) {
	const bound = 64 << 10
	var log strings.Builder
	for i := range 20_000 {
		text := "\t" + strings.Repeat("x", 400)
		if i == 0 {
			text = "2026-01-02 10:00:00.001 UTC [71] LOG:  statement: select"
		}
		fmt.Fprintf(&log, `{"log":"%s\n","stream":"stderr","time":"2026-01-02T10:00:00.000000001Z"}`+"\n", strings.ReplaceAll(text, "\t", `\t`))
		if i%5 == 0 {
			log.WriteString(`{"log":"broken` + "\n")
		}
	}
	p, err := compilePrefix("%m [%p] ")
	if err != nil {
		t.Fatal(err)
	}
	s := &source{name: "endless", format: Docker, prefix: p, wrap: &wrapping{kind: "docker", inner: Stderr}}
	w := newWrapFeeder(s, &Config{ChunkSize: 4 << 10, MaxRecord: bound}, strings.NewReader(log.String()))
	var c chunk
	total, most := 0, 0
	for n := 0; !c.last && n < log.Len(); n++ {
		c = chunk{}
		w.fill(&c, false)
		total += c.size + c.over
		most = max(most, len(w.buf))
	}
	if most > 2*bound || total != log.Len() || len(w.buf) > 0 {
		t.Errorf("%d of %d bytes were taken, at most %d were held", total, log.Len(), most)
	}
}
