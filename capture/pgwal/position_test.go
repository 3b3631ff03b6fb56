package pgwal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foreshard/foreshard/capture"
)

// A transaction whose file cannot be read was not handed on, so the position stays before it and it is sent again.
func TestPositionStaysBeforeWhatFailed(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "lost"))
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(Config{DSN: "host=nowhere", Dir: t.TempDir()}, Position{System: "1", Database: "db", LSN: 50})
	if err != nil {
		t.Fatal(err)
	}
	handed := 0
	s := &session{r: r, decoder: &decoder{store: r.store, counts: &r.counts, tables: &tables{}, relations: map[uint32]*relation{}, streams: map[uint32]*transaction{},
		emit: func([]capture.Event) error { handed++; return nil }}}
	x := func(message text) []byte {
		return append(binary.BigEndian.AppendUint64([]byte{'w'}, 100), append(make([]byte, 16), message...)...)
	}
	if err := s.data(x(text("B").u64(100).u64(0).u32(7))); err != nil {
		t.Fatal(err)
	}
	s.decoder.plain.file, s.decoder.plain.out = file, bufio.NewWriter(file)
	if err := s.data(x(text("C").u8(0).u64(100).u64(110).u64(0))); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("reading a closed file gives %v", err)
	}
	if handed != 0 || r.Position().LSN != 50 {
		t.Errorf("handed on %d transactions, the position is %d", handed, r.Position().LSN)
	}
}

// A reader that is held up by whoever keeps events is let go of, and nobody is told of a problem that is none.
func TestHeldReaderIsLetGo(t *testing.T) {
	r, err := Open(Config{DSN: "host=nowhere", Dir: t.TempDir(), Problem: func(err error) { t.Errorf("told of %v", err) }}, Position{})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{r: r, poke: make(chan bool, 1), failed: make(chan error, 1)}
	s.read.Store(time.Now().Add(-time.Hour).UnixNano())
	s.answer(false)
	s.keep(t.Context())
	if err := s.broken(net.ErrClosed); errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), "could not be kept") {
		t.Errorf("the session ends with %v", err)
	}
}
