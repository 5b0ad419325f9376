package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/esshadow/esshadow/proxy"
)

// firstSocket is where the sockets of a service manager begin, sd_listen_fds(3).
const firstSocket = 3

// inherited are the listening sockets that a service manager opened for this
// process, by name: "proxy" and "admin". It keeps them open while the process is
// replaced, so that no connection is refused meanwhile.
type inherited map[string]net.Listener

// inheritedSockets reads LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES. Sockets
// without one of the two names are taken in that order.
func inheritedSockets(env func(string) (string, bool)) (inherited, error) {
	pid, _ := env("LISTEN_PID")
	if pid != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	count, _ := env("LISTEN_FDS")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > 2 {
		return nil, fmt.Errorf("LISTEN_FDS %q: want 1 or 2 sockets, for clients and for the admin address", count)
	}
	given, _ := env("LISTEN_FDNAMES")
	names := strings.Split(given, ":")
	sockets := inherited{}
	var errs []error
	for i := range n {
		name := []string{"proxy", "admin"}[i]
		if i < len(names) && (names[i] == "proxy" || names[i] == "admin") {
			name = names[i]
		}
		file := os.NewFile(uintptr(firstSocket+i), name)
		ln, err := net.FileListener(file) // a copy
		errs = append(errs, file.Close())
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("inherited socket %s: %w", name, err))
		case sockets[name] != nil:
			errs = append(errs, ln.Close(), fmt.Errorf("two inherited sockets are named %s", name))
		default:
			sockets[name] = ln
		}
	}
	if err := errors.Join(errs...); err != nil {
		sockets.close()
		return nil, err
	}
	return sockets, nil
}

func (s inherited) close() {
	for _, ln := range s {
		_ = ln.Close()
	}
}

// listen gives the two listeners, the inherited ones or new ones; admin is nil
// when it is off. The clients' one outlives the process where it was inherited.
func listen(ctx context.Context, cfg *proxy.Config, env func(string) (string, bool)) (clients, admin net.Listener, outlived bool, err error) {
	sockets, err := inheritedSockets(env)
	if err != nil {
		return nil, nil, false, err
	}
	if clients, outlived = sockets["proxy"]; !outlived {
		if clients, err = proxy.Listen(ctx, cfg); err != nil {
			sockets.close()
			return nil, nil, false, listenFailed("proxy.listen", cfg.Listen, err)
		}
	}
	if admin = sockets["admin"]; admin == nil && cfg.Admin != "" && cfg.Admin != "off" {
		if admin, err = (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Admin); err != nil {
			return nil, nil, false, errors.Join(listenFailed("proxy.admin", cfg.Admin, err), clients.Close())
		}
	}
	return clients, admin, outlived, nil
}
