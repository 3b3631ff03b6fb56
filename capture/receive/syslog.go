package receive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	syslogOrigin = "syslog"
	datagramSize = 256 << 10 // more than UDP can carry; a longer one of a unix socket is cut and dropped
	socketBuffer = 8 << 20   // asked of the kernel
	memoryBytes  = 8 << 20   // of messages that wait for the disk
	defaultPort  = "514"
	// Each connection may hold a message of Options.MaxMessage in memory.
	maxConnections = 256
	farewell       = 200 * time.Millisecond // for what is on its way when receiving ends
	soRXQOverflow  = 40                     // SO_RXQ_OVFL of socket(7), which package syscall lacks
)

// Syslog receives messages on sockets.
type Syslog struct {
	s       *Store
	l       *Log
	packets []net.PacketConn
	streams []net.Listener
	remove  []string // unix sockets

	mu      sync.Mutex
	changed *sync.Cond
	lines   []byte // messages that wait to be written, as lines
	ending  bool   // nobody waits for room in memory any more
	stopped bool   // nothing is added to lines any more
	conns   map[net.Conn]bool
}

// Listen opens the sockets of addresses: udp://HOST:PORT, tcp://HOST:PORT, unix:///PATH (datagrams). No host is loopback, no port is 514.
func (s *Store) Listen(addresses []string) (*Syslog, error) {
	y := &Syslog{s: s, conns: map[net.Conn]bool{}}
	y.changed = sync.NewCond(&y.mu)
	for _, a := range addresses {
		if err := y.listen(a); err != nil {
			return nil, errors.Join(fmt.Errorf("listen for syslog on %q: %w", a, err), y.closeSockets())
		}
	}
	var err error
	if y.l, err = s.begin(syslogOrigin); err != nil {
		return nil, errors.Join(fmt.Errorf("listen for syslog: %w", err), y.closeSockets())
	}
	return y, nil
}

func (y *Syslog) listen(address string) error {
	scheme, host, err := syslogAddress(address)
	if err != nil {
		return err
	}
	switch scheme {
	case "tcp":
		l, err := net.Listen("tcp", host)
		if err != nil {
			return err
		}
		y.streams = append(y.streams, l)
	case "udp":
		c, err := net.ListenPacket("udp", host)
		if err != nil {
			return err
		}
		return y.packet(c.(*net.UDPConn))
	case "unix":
		if err := removeStale(host); err != nil {
			return err
		}
		c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: host, Net: "unixgram"})
		if err != nil {
			return err
		}
		y.remove = append(y.remove, host)
		return y.packet(c)
	}
	return nil
}

// syslogAddress takes an address apart.
func syslogAddress(address string) (scheme, host string, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil: // it says nothing of use
	case u.Scheme == "unix" && u.Host == "" && u.Path != "" && u.RawQuery == "":
		return u.Scheme, u.Path, nil
	case (u.Scheme == "udp" || u.Scheme == "tcp") && u.Path == "" && u.RawQuery == "" && u.User == nil:
		name, port := u.Hostname(), u.Port()
		if name == "" {
			name = "127.0.0.1"
		}
		if port == "" {
			port = defaultPort
		}
		return u.Scheme, net.JoinHostPort(name, port), nil
	}
	return "", "", errors.New("write udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH")
}

// CheckSyslogAddress says what is wrong with an address that Listen is to be given.
func CheckSyslogAddress(address string) error {
	if _, _, err := syslogAddress(address); err != nil {
		return fmt.Errorf("syslog address %q: %w", address, err)
	}
	return nil
}

// removeStale removes a socket that nobody listens on, which a process that was killed leaves behind.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return nil // listening says what is in the way
	}
	c, err := net.Dial("unixgram", path)
	if err == nil {
		return errors.Join(errors.New("another process listens there"), c.Close())
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return os.Remove(path)
	}
	return nil
}

// packet gets a datagram socket ready: a large buffer, and the kernel's count of what it had to drop.
func (y *Syslog) packet(c interface {
	net.PacketConn
	SetReadBuffer(int) error
	SyscallConn() (syscall.RawConn, error)
}) error {
	y.packets = append(y.packets, c)
	if err := c.SetReadBuffer(socketBuffer); err != nil {
		return err
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	if err := raw.Control(func(fd uintptr) { set = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soRXQOverflow, 1) }); err != nil {
		return err
	}
	return set
}

// Addresses are those that are listened on, as the system has them: port 0 has become a number.
func (y *Syslog) Addresses() []string {
	var out []string
	for _, c := range y.packets {
		out = append(out, c.LocalAddr().Network()+"://"+c.LocalAddr().String())
	}
	for _, l := range y.streams {
		out = append(out, "tcp://"+l.Addr().String())
	}
	return out
}

// Run receives until ctx ends. What it had received is durable when it returns.
func (y *Syslog) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var sockets, writer sync.WaitGroup
	var failed error
	writer.Go(func() {
		defer cancel() // a writer that cannot go on ends it all
		failed = y.write(ctx)
	})
	for _, c := range y.packets {
		sockets.Go(func() { y.datagrams(ctx, c) })
	}
	for _, l := range y.streams {
		sockets.Go(func() { y.accept(ctx, l, &sockets) })
	}
	<-ctx.Done()
	err := y.lastWords()
	sockets.Wait()
	y.stop()
	writer.Wait()
	return errors.Join(err, failed, y.closeSockets(), y.s.Sync())
}

// lastWords lets the readers take what has arrived, and ends them.
func (y *Syslog) lastWords() error {
	until := time.Now().Add(farewell)
	var err error
	for _, c := range y.packets {
		err = errors.Join(err, c.SetReadDeadline(until))
	}
	for _, l := range y.streams {
		err = errors.Join(err, l.Close())
	}
	y.streams = nil
	y.mu.Lock()
	defer y.mu.Unlock()
	for c := range y.conns {
		err = errors.Join(err, c.SetReadDeadline(until))
	}
	y.ending = true
	y.changed.Broadcast()
	return err
}

func (y *Syslog) closeSockets() error {
	var err error
	for _, c := range y.packets {
		err = errors.Join(err, c.Close())
	}
	for _, l := range y.streams {
		err = errors.Join(err, l.Close())
	}
	for _, path := range y.remove {
		if rerr := os.Remove(path); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// datagrams receives from a socket and never waits for the disk.
func (y *Syslog) datagrams(ctx context.Context, c net.PacketConn) {
	buf, oob := make([]byte, datagramSize), make([]byte, 256)
	var line []byte
	kernel := uint32(0)
	for {
		n, k, flags, err := readDatagram(c, buf, oob)
		if err != nil {
			if ctx.Err() != nil || !y.again(ctx, err) {
				return
			}
			continue
		}
		if total, ok := overflow(oob[:k]); ok && total != kernel {
			y.s.count(DropKernel, int64(total-kernel), 0)
			kernel = total
		}
		switch {
		case flags&syscall.MSG_TRUNC != 0:
			y.s.count(DropCut, 1, int64(n))
			continue
		case n > y.s.o.MaxMessage:
			y.s.count(DropOversize, 1, int64(n))
			continue
		}
		if line = appendLine(line[:0], buf[:n]); len(line) > 1 && !y.offer(line) {
			y.s.count(DropFull, 1, int64(n))
		}
	}
}

func readDatagram(c net.PacketConn, buf, oob []byte) (n, oobn, flags int, err error) {
	switch c := c.(type) {
	case *net.UDPConn:
		n, oobn, flags, _, err = c.ReadMsgUDP(buf, oob)
	case *net.UnixConn:
		n, oobn, flags, _, err = c.ReadMsgUnix(buf, oob)
	}
	return n, oobn, flags, err
}

// overflow finds how many datagrams the kernel has dropped since the socket was made.
func overflow(oob []byte) (uint32, bool) {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return 0, false
	}
	for _, m := range messages {
		if m.Header.Level == syscall.SOL_SOCKET && m.Header.Type == soRXQOverflow && len(m.Data) >= 4 {
			return binary.NativeEndian.Uint32(m.Data), true
		}
	}
	return 0, false
}

// accept takes connections until the listener is closed.
func (y *Syslog) accept(ctx context.Context, l net.Listener, conns *sync.WaitGroup) {
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				c.Close() //nolint:errcheck // nothing was read from it
			}
			return
		}
		if err != nil {
			if !y.again(ctx, err) {
				return
			}
			continue
		}
		if err := y.admit(c); err != nil {
			y.s.o.Problem(fmt.Errorf("receive syslog from %s: %w", c.RemoteAddr(), errors.Join(err, c.Close())))
			continue
		}
		conns.Go(func() {
			if err := y.connection(ctx, c); err != nil {
				y.s.o.Problem(fmt.Errorf("receive syslog from %s: %w", c.RemoteAddr(), err))
			}
		})
	}
}

// admit takes note of a connection.
func (y *Syslog) admit(c net.Conn) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	if len(y.conns) >= maxConnections {
		return fmt.Errorf("refused: there are %d connections", len(y.conns))
	}
	y.conns[c] = true
	if y.ending {
		return c.SetReadDeadline(time.Now())
	}
	return nil
}

// again says what went wrong and waits a moment; false if it is not to be tried again.
func (y *Syslog) again(ctx context.Context, err error) bool {
	y.s.o.Problem(fmt.Errorf("receive syslog: %w", err))
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// connection receives from a connection, and waits for the disk.
func (y *Syslog) connection(ctx context.Context, c net.Conn) error {
	f := frames{rd: bufio.NewReaderSize(c, 64<<10), max: y.s.o.MaxMessage, drop: func(reason string, bytes int64) { y.s.count(reason, 1, bytes) }}
	var line []byte
	var err error
	for err == nil {
		var message []byte
		if message, err = f.next(); err != nil {
			break
		}
		if line = appendLine(line[:0], message); len(line) > 1 && !y.put(line) {
			y.s.count(DropFull, 1, int64(len(message)))
		}
	}
	y.mu.Lock()
	delete(y.conns, c)
	y.mu.Unlock()
	cerr := c.Close()
	if err == io.EOF || ctx.Err() != nil {
		return nil
	}
	return errors.Join(err, cerr)
}

// offer hands a line to the writer, unless too many wait.
func (y *Syslog) offer(line []byte) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	if len(y.lines)+len(line) > memoryBytes {
		return false
	}
	y.hand(line)
	return true
}

// put hands a line to the writer, and waits while too many wait. It returns false when nothing is written any more.
func (y *Syslog) put(line []byte) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	for len(y.lines) > 0 && len(y.lines)+len(line) > memoryBytes && !y.ending {
		y.changed.Wait()
	}
	if len(y.lines) > 0 && len(y.lines)+len(line) > memoryBytes {
		return false
	}
	y.hand(line)
	return true
}

func (y *Syslog) hand(line []byte) {
	y.lines = append(y.lines, line...)
	y.changed.Broadcast()
}

// stop makes the writer end when nothing waits.
func (y *Syslog) stop() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.stopped = true
	y.changed.Broadcast()
}

// write takes lines to the log. While there is no room it waits, and memory fills.
func (y *Syslog) write(ctx context.Context) error {
	var spare []byte
	for {
		y.mu.Lock()
		for len(y.lines) == 0 && !y.stopped {
			y.l.idle()
			y.changed.Wait()
		}
		lines := y.lines
		y.lines = spare[:0]
		y.changed.Broadcast()
		y.mu.Unlock()
		if len(lines) == 0 {
			return nil
		}
		y.l.busy()
		for at := 0; at < len(lines); {
			n, err := y.append(ctx, lines[at:])
			if err != nil {
				return err
			}
			at += n
		}
		spare = lines
	}
}

// append writes as many lines as go into a segment and returns their bytes. When receiving ends and there is no room it counts all of them.
func (y *Syslog) append(ctx context.Context, lines []byte) (int, error) {
	for {
		n, err := 0, y.s.wait(ctx)
		if err == nil {
			n, err = y.l.appendLines(lines)
		}
		switch {
		case err == nil:
			return n, nil
		case ctx.Err() == nil && !noRoom(err):
			return 0, err
		case ctx.Err() != nil || !y.again(ctx, err):
			count := int64(bytes.Count(lines, []byte{'\n'}))
			y.s.count(DropFull, count, int64(len(lines))-count)
			return len(lines), nil
		}
	}
}

// noRoom says that an error is of a disk that is full.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
