package service

import (
	"errors"
	"net"
	"os"
)

// notify tells systemd's service manager how things are, if it asked to be told: a datagram to the socket that NOTIFY_SOCKET names
// (sd_notify(3)). A manager that does not listen is not worth ending for, but it is said.
func (s *Service) notify(state string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"}) // a leading @, the abstract namespace, is Go's spelling too
	if err == nil {
		_, err = conn.Write([]byte(state))
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		s.Log.Warn("the service manager was not told "+state+": "+err.Error(), "error", err.Error())
	}
}
