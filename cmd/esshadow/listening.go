package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listenFailed says why nothing can be served at address, which the setting of that
// key has asked for, and what helps: exit code 2 where it is no address, else 1.
func listenFailed(key, address string, err error) error {
	var (
		wrong *net.AddrError
		name  *net.DNSError
	)
	switch {
	case errors.As(err, &wrong), errors.As(err, &name):
		return usage("%s %q: want host:port, with a port from 0 to 65535: %w", key, address, err)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s %s: another process listens there: end it, or choose another port: %w", key, address, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s %s: this machine has no such address: %w", key, address, err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s %s: ports below 1024 are for root alone: choose a higher one, or give the program CAP_NET_BIND_SERVICE: %w", key, address, err)
	}
	return fmt.Errorf("%s %s: %w", key, address, err)
}
