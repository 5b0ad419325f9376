package main

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// notifier tells the service manager that started the process how it is, by the
// protocol of sd_notify(3): datagrams of KEY=value lines to the socket that
// NOTIFY_SOCKET names. Without one it does nothing. Nobody waits for it, and
// what it cannot tell is lost.
func notifier(env func(string) (string, bool)) func(state string) {
	path, ok := env("NOTIFY_SOCKET")
	if !ok || path == "" {
		return func(string) {}
	}
	if strings.HasPrefix(path, "@") {
		path = "\x00" + path[1:] // of the abstract kind
	}
	return func(state string) {
		c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		if state == "RELOADING=1" {
			// Type=notify-reload wants to know when, on the clock that systemd reads.
			state += fmt.Sprintf("\nMONOTONIC_USEC=%d", monotonic().Microseconds())
		}
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = c.Write([]byte(state))
	}
}
