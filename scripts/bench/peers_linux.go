package main

import (
	"context"
	_ "embed"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
)

//go:embed nginx.conf.tmpl
var nginxConf string

//go:embed haproxy.cfg.tmpl
var haproxyConf string

// programPath finds a program also where only root's PATH leads; empty: there is
// none. asked is its path, "off", or empty: the first found.
func programPath(asked, name string) string {
	names := []string{asked}
	if asked == "" {
		names = []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name}
	}
	for _, name := range names {
		if p, err := exec.LookPath(name); err == nil && asked != "off" {
			return p
		}
	}
	return ""
}

// freeAddr asks the kernel for a port. The peers cannot be told to do so and to
// say which they got; should another take the port meanwhile, they say so and end.
func freeAddr() (netip.AddrPort, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer func() { _ = ln.Close() }()
	return netip.ParseAddrPort(ln.Addr().String())
}

// peerConf is what the configuration of a peer is made of.
type peerConf struct {
	User, Dir       string
	Listen, Backend netip.AddrPort
}

// write fills in a template and says where the file is.
func (c peerConf) write(file, text string) (path string, err error) {
	t, err := template.New(file).Parse(text)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(c.Dir, file)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	return path, errors.Join(t.Execute(f, c), f.Close())
}

// startPeer starts a server and waits until it answers.
func startPeer(ctx context.Context, name string, c peerConf, bin string, args ...string) (*variant, error) {
	p, err := startProcess(c.Dir, bin, args...)
	if err != nil {
		return nil, err
	}
	v := &variant{name: name, addr: c.Listen, process: p}
	if err := v.awaitAnswer(ctx); err != nil {
		return nil, errors.Join(err, errors.New(p.lines.last()), p.stop())
	}
	p.addChildren()
	return v, nil
}

func startNginx(ctx context.Context, bin, dir string, backend netip.AddrPort) (*variant, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	c := peerConf{Dir: dir, Listen: addr, Backend: backend}
	if os.Geteuid() == 0 {
		c.User = "root" // else the worker could not use dir
	}
	conf, err := c.write("nginx.conf", nginxConf)
	if err != nil {
		return nil, err
	}
	return startPeer(ctx, nginx, c, bin, "-p", dir, "-c", conf, "-e", "stderr")
}

func startHaproxy(ctx context.Context, bin, dir string, backend netip.AddrPort) (*variant, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	c := peerConf{Dir: dir, Listen: addr, Backend: backend}
	conf, err := c.write("haproxy.cfg", haproxyConf)
	if err != nil {
		return nil, err
	}
	return startPeer(ctx, haproxy, c, bin, "-db", "-f", conf)
}

// startReverse starts this program again as a ReverseProxy.
func startReverse(ctx context.Context, backend netip.AddrPort) (*variant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := startListening(self, "reverse", "-upstream", backend.String())
	if err != nil {
		return nil, err
	}
	v := &variant{name: reverse, addr: p.addr, process: p.process}
	if err := v.awaitAnswer(ctx); err != nil {
		return nil, errors.Join(err, p.process.stop())
	}
	return v, nil
}
