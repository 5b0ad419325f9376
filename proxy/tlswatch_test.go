package proxy

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"
)

// secured is a proxy that serves by TLS and looks at its files each time.
func secured(t *testing.T, files TLS, upstream string) *started {
	p := start(t, Deps{}, func(c *Config) { c.TLS = files }, upstream)
	dial(t, p.addr).Close()
	p.now.Load().tls.mu.Lock()
	p.now.Load().tls.every = 0
	p.now.Load().tls.mu.Unlock()
	return p
}

func dialTLS(t *testing.T, addr string, trust *authority, certs ...tls.Certificate) (*client, error) {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(trust.cert)
	c, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: pool, Certificates: certs})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return &client{t: t, Conn: c, br: bufio.NewReader(c)}, nil
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	// Two versions of one size may come within one tick of the file system.
	later := time.Now().Add(time.Duration(len(b)) * time.Second)
	if err := os.Chtimes(to, later, later); err != nil {
		t.Fatal(err)
	}
}

// New handshakes get the new certificate, by its files' change alone and by
// Reload; connections that stand go on.
func TestCertificateReload(t *testing.T) {
	old, next, last := newAuthority(t), newAuthority(t), newAuthority(t)
	for _, a := range []*authority{old, next, last} {
		a.leaf(t, "proxy")
	}
	files := TLS{Cert: old.file("proxy.pem"), Key: old.file("proxy.key")}
	p := secured(t, files, recording(t).url())
	kept, err := dialTLS(t, p.addr, old)
	if err != nil {
		t.Fatal(err)
	}
	kept.ask(getRoot)

	// The certificate comes before its key: what is valid holds meanwhile.
	copyFile(t, next.file("proxy.pem"), files.Cert)
	if _, err := dialTLS(t, p.addr, old); err != nil {
		t.Errorf("between the two files: %v", err)
	}
	if err := p.Reload(p.Config()); err == nil {
		t.Error("a reload takes a certificate with another's key")
	}
	copyFile(t, next.file("proxy.key"), files.Key)
	c, err := dialTLS(t, p.addr, next)
	if err != nil {
		t.Fatalf("the new certificate: %v", err)
	}
	for _, c := range []*client{kept, c} {
		if a := c.ask(getRoot); a.status() != 200 {
			t.Errorf("answer %q", a.line)
		}
	}
	if _, err := dialTLS(t, p.addr, old); err == nil {
		t.Error("the old certificate is still shown")
	}

	cfg := p.Config()
	cfg.TLS = TLS{Cert: last.file("proxy.pem"), Key: last.file("proxy.key")}
	if err := p.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := dialTLS(t, p.addr, last); err != nil {
		t.Errorf("other files: %v", err)
	}
	if a := kept.ask(getRoot); a.status() != 200 {
		t.Errorf("the first connection: %q", a.line)
	}
}

func TestClientCertificates(t *testing.T) {
	ca, clients, others := newAuthority(t), newAuthority(t), newAuthority(t)
	ca.leaf(t, "proxy")
	good, bad := clients.leaf(t, "me"), others.leaf(t, "other")
	p := secured(t, TLS{Cert: ca.file("proxy.pem"), Key: ca.file("proxy.key"), ClientCA: clients.file("authority.pem")}, recording(t).url())
	works := func(certs ...tls.Certificate) bool {
		t.Helper()
		c, err := dialTLS(t, p.addr, ca, certs...)
		if err != nil {
			return false
		}
		if _, err := c.Write([]byte(getRoot)); err != nil {
			return false
		}
		return c.read("GET").status() == 200
	}
	if !works(good) || works() || works(bad) {
		t.Errorf("known %v, none %v, unknown %v", works(good), works(), works(bad))
	}
	copyFile(t, others.file("authority.pem"), clients.file("authority.pem"))
	if works(good) || !works(bad) {
		t.Errorf("with other authorities: the former %v, the latter %v", works(good), works(bad))
	}
	cfg := p.Config()
	cfg.TLS.ClientCA = ca.file("proxy.key")
	if err := p.Reload(cfg); err == nil || !strings.Contains(err.Error(), "client_ca") {
		t.Errorf("a file without certificates: %v", err)
	}
}

// The upstream's side reads its files again too.
func TestUpstreamCertificateReload(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	n := tlsNode(t, ca.leaf(t, "node"), nil)
	trust := other.file("authority.pem")
	p := start(t, Deps{}, func(c *Config) { c.UpstreamTLS.CACert = trust }, strings.Replace(n.url(), "http", "https", 1))
	checkRefusal(t, dial(t, p.addr).ask(getRoot), 502, "proxy_upstream_unreachable")
	copyFile(t, ca.file("authority.pem"), trust)
	if err := p.Reload(p.Config()); err != nil {
		t.Fatal(err)
	}
	if a := dial(t, p.addr).ask(getRoot); a.status() != 200 {
		t.Errorf("answer %q %s", a.line, a.body)
	}
}
