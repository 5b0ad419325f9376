package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
)

// minToken is the shortest token that is worth the name.
const minToken = 16

// allowed says who may ask. With a token file: who shows the token, read anew
// each time, so that it can be changed. Without: programs of this machine, if
// the admin address is of this machine alone; a web page in a browser of this
// machine is none, which Origin and a foreign Host tell.
func (c *control) allowed(r *http.Request) error {
	if file := c.g.config().Proxy.AdminTokenFile; file != "" {
		return bearer(r, file)
	}
	if !c.open || !loopback(r.RemoteAddr) {
		return refusal(http.StatusForbidden, "control from elsewhere needs proxy.admin_token_file")
	}
	if r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" || !localName(r.Host) {
		return refusal(http.StatusForbidden, "control is not for web pages")
	}
	return nil
}

// readToken gives the token of a file. What it says of one that is missing or too
// short, whoever asks may know; why it cannot be read is for this machine alone.
func readToken(file string) (token string, told string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "the proxy's token file cannot be read: its log says why", err
	}
	token = strings.TrimSpace(string(text))
	if len(token) < minToken {
		told = fmt.Sprintf("the proxy's token file holds fewer than %d characters", minToken)
		return "", told, fmt.Errorf("%s: the token file holds fewer than %d characters", file, minToken)
	}
	return token, "", nil
}

// warnOfToken tells of a token file with which nobody is allowed anything. It may
// come yet, so that it is no reason not to serve.
func warnOfToken(s *streams, file string) {
	if file == "" {
		return
	}
	if _, _, err := readToken(file); err != nil {
		s.note("esshadow proxy: warning: --admin-token-file: %v: until it is put right, /control is refused to all", err)
	}
}

func bearer(r *http.Request, file string) error {
	token, told, err := readToken(file)
	if err != nil {
		return &controlError{status: http.StatusForbidden, msg: told, why: fmt.Errorf("proxy.admin_token_file: %w", err)}
	}
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return refusal(http.StatusUnauthorized, "want Authorization: Bearer with the token")
	}
	want, have := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(strings.TrimSpace(shown)))
	if subtle.ConstantTimeCompare(want[:], have[:]) != 1 {
		return refusal(http.StatusUnauthorized, "wrong token")
	}
	return nil
}

// loopback reports whether a host:port is of this machine alone.
func loopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// localName reports whether a Host header names this machine: a name that leads
// here from a web page would be another.
func localName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
