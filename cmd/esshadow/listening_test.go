package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command that cannot listen says which flag asked for it and what helps.
func TestListenFailed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	taken := ln.Addr().String()
	const proxy = "proxy --upstream http://127.0.0.1:1 "
	for _, x := range []struct {
		args string
		code int
		says string
	}{
		{proxy + "--admin off --listen " + taken, exitFailed, "--listen " + taken + ": another process listens there"},
		{proxy + "--listen 127.0.0.1:0 --admin " + taken, exitFailed, "--admin " + taken + ": another process listens there"},
		{proxy + "--admin off --listen 192.0.2.1:0", exitFailed, "--listen 192.0.2.1:0: this machine has no such address"},
		{proxy + "--admin off --listen 127.0.0.1:99999", exitUsage, `--listen "127.0.0.1:99999": want host:port, with a port from 0 to 65535`},
		{proxy + "--admin off --listen 127.0.0.1:nowhere", exitUsage, `--listen "127.0.0.1:nowhere": want host:port`},
		{"sandbox --listen " + taken, exitFailed, "--listen " + taken + ": another process listens there"},
		{"sandbox --listen nowhere", exitUsage, `--listen "nowhere": want host:port`},
	} {
		if r := esshadow(t, nil, strings.Fields(x.args)...).want(t, x.code, x.says); r.out != "" {
			t.Errorf("%s: stdout %q", x.args, r.out)
		}
	}
}

// A token file that cannot serve is told at the start, not when control is needed.
func TestTokenFileIsLookedAt(t *testing.T) {
	short := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("secretword\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(long, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, says := range map[string]string{
		"nowhere": "warning: --admin-token-file: open nowhere: ",
		short:     "token: the token file holds fewer than 16 characters: until it is put right",
		long:      "",
		"":        "",
	} {
		var said bytes.Buffer
		warnOfToken(&streams{err: &said}, file)
		if got := said.String(); !strings.Contains(got, says) || (says == "") != (got == "") || strings.Contains(got, "secretword") {
			t.Errorf("%q: %q", file, got)
		}
	}
}
