package receive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	pipeSize  = 1 << 20 // asked of the kernel, so that the writer goes on while the disk is waited for
	pipeLook  = 200 * time.Millisecond
	setPipeSz = 1031 // F_SETPIPE_SZ of fcntl(2), which package syscall lacks
)

// Copy receives what a pipe has to give, until its end or until ctx ends; what is in a pipe then stays there for the next one who reads it. Started
// is called with the log it goes to before anything is read.
func (s *Store) Copy(ctx context.Context, in io.Reader, started func(*Log)) error {
	file, _ := in.(*os.File)
	origin, piped, err := originOf(file)
	if err != nil {
		return fmt.Errorf("receive standard input: %w", err)
	}
	l, err := s.begin(origin)
	if err != nil {
		return fmt.Errorf("receive standard input: %w", err)
	}
	started(l)
	c := copier{s: s, l: l, in: in, file: file, splice: piped}
	if piped {
		// A refusal changes nothing but speed.
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, file.Fd(), setPipeSz, pipeSize)
	}
	for {
		more, err := c.step(ctx)
		if ctx.Err() != nil {
			return errors.Join(s.Sync(), ctx.Err())
		}
		if err != nil {
			return fmt.Errorf("receive standard input: %w", err)
		}
		if !more {
			return l.finish()
		}
	}
}

// originOf names a pipe or socket as long as the machine runs; anything else begins at its beginning each time.
func originOf(f *os.File) (origin string, piped bool, err error) {
	if f == nil {
		return "", false, nil
	}
	info, err := f.Stat()
	if err != nil {
		return "", false, err
	}
	piped = info.Mode()&os.ModeNamedPipe != 0
	if !piped && info.Mode()&os.ModeSocket == 0 {
		return "", false, nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || !ok {
		return "", piped, nil // it cannot be told from another one
	}
	return fmt.Sprintf("%s %d:%d", strings.TrimSpace(string(boot)), st.Dev, st.Ino), piped, nil
}

type copier struct {
	s      *Store
	l      *Log
	in     io.Reader
	file   *os.File
	splice bool
	buf    []byte
}

// step moves what is there; more is false at the end.
func (c *copier) step(ctx context.Context) (more bool, err error) {
	if err := c.s.wait(ctx); err != nil {
		return false, err
	}
	if ready, err := readable(c.file); err != nil || !ready {
		c.l.idle()
		return true, err
	}
	c.l.busy()
	g, left, err := c.l.room()
	if err != nil {
		return c.full(ctx, err)
	}
	if !c.splice {
		return c.read(ctx, left)
	}
	at := g.size
	n, err := syscall.Splice(int(c.file.Fd()), nil, int(g.file.Fd()), &at, int(min(left, pipeSize)), 0)
	switch {
	case err == syscall.EINVAL: // not on this file system
		c.splice = false
		return true, nil
	case err == syscall.EINTR, err == syscall.EAGAIN:
		return true, nil
	case err != nil:
		return c.full(ctx, err)
	case n == 0:
		return false, nil
	}
	c.l.wrote(g, n)
	return true, nil
}

// readable waits a moment for something to read.
func readable(f *os.File) (bool, error) {
	if f == nil || f.Fd() >= 1024 {
		return true, nil
	}
	var set syscall.FdSet
	fd := int(f.Fd())
	width := 8 * int(unsafe.Sizeof(set.Bits[0]))
	set.Bits[fd/width] |= 1 << (fd % width)
	timeout := syscall.NsecToTimeval(pipeLook.Nanoseconds())
	n, err := syscall.Select(fd+1, &set, nil, nil, &timeout)
	if err == syscall.EINTR {
		return false, nil
	}
	return n > 0, err
}

// full waits for room on a disk that has none. Nothing was taken from the pipe.
func (c *copier) full(ctx context.Context, err error) (bool, error) {
	if !noRoom(err) {
		return false, err
	}
	c.s.o.Problem(fmt.Errorf("receive standard input: %w; reading waits", err))
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
	return true, nil
}

// read is for what cannot be spliced. A reader that is no file may block; it is left behind when ctx ends.
func (c *copier) read(ctx context.Context, left int64) (bool, error) {
	if c.buf == nil {
		c.buf = make([]byte, 64<<10)
	}
	var n int
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		n, err = c.in.Read(c.buf[:min(left, int64(len(c.buf)))])
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	for n > 0 {
		werr := c.l.append(c.buf[:n])
		if werr == nil {
			break
		}
		if _, werr = c.full(ctx, werr); werr != nil {
			return false, werr
		}
		if ctx.Err() != nil {
			c.s.count(DropCut, 1, int64(n))
			return false, ctx.Err()
		}
	}
	if err == io.EOF {
		return false, nil
	}
	return true, err
}

// Peek returns the first bytes of a pipe or socket, at most n, and leaves them there; nil of anything else. It waits for the first.
func Peek(ctx context.Context, f *os.File, n int) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at standard input: %w", err)
	}
	buf := make([]byte, n)
	for {
		if ready, err := readable(f); err != nil || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		} else if ready {
			break
		}
	}
	if info.Mode()&os.ModeSocket != 0 {
		k, _, err := syscall.Recvfrom(int(f.Fd()), buf, syscall.MSG_PEEK)
		return buf[:max(0, k)], err
	}
	if info.Mode()&os.ModeNamedPipe == 0 {
		return nil, nil
	}
	rd, wr, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("look at standard input: %w", err)
	}
	k, err := syscall.Tee(int(f.Fd()), int(wr.Fd()), n, 0)
	if err == nil && k > 0 {
		_, err = io.ReadFull(rd, buf[:k])
	}
	if err = errors.Join(err, rd.Close(), wr.Close()); err != nil {
		return nil, fmt.Errorf("look at standard input: %w", err)
	}
	return buf[:max(0, int(k))], nil
}
