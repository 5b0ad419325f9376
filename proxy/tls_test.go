package proxy

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority signs certificates for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.key, a.cert = a.sign(t, "authority", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func (a *authority) sign(t *testing.T, name string, c *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.Subject = pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := c, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name+".pem", "CERTIFICATE", der)
	a.write(t, name+".key", "EC PRIVATE KEY", secret)
	return key, cert
}

func (a *authority) write(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	b := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(a.file(name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) leaf(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, cert := a.sign(t, name, &x509.Certificate{
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return tls.Certificate{Certificate: [][]byte{cert.Raw, a.cert.Raw}, PrivateKey: key}
}

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// tlsNode answers over TLS and demands a client certificate when clients is set.
func tlsNode(t *testing.T, cert tls.Certificate, clients *x509.CertPool) *node {
	cfg := &tls.Config{Certificates: []tls.Certificate{cert}}
	if clients != nil {
		cfg.ClientCAs, cfg.ClientAuth = clients, tls.RequireAndVerifyClientCert
	}
	return newNode(t, func(n *node, c net.Conn, _ *bufio.Reader) {
		s := tls.Server(c, cfg)
		br := bufio.NewReader(s)
		for {
			r, err := readSeen(br)
			if err != nil {
				return
			}
			n.note(r)
			if _, err := io.WriteString(s, okAnswer); err != nil {
				return
			}
		}
	})
}

func TestUpstreamTLS(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	cert := ca.leaf(t, "node")
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	ca.leaf(t, "me")
	colons := strings.ToUpper(fingerprint(cert.Certificate[0]))
	for i := len(colons) - 2; i > 0; i -= 2 {
		colons = colons[:i] + ":" + colons[i:]
	}
	// Anybody can send somebody else's authority along.
	forged := other.leaf(t, "forged")
	forged.Certificate = append(forged.Certificate, ca.cert.Raw)

	for name, c := range map[string]struct {
		cert  tls.Certificate
		trust UpstreamTLS
		need  *x509.CertPool
		ok    bool
	}{
		"system's authorities":     {cert, UpstreamTLS{}, nil, false},
		"authority":                {cert, UpstreamTLS{CACert: ca.file("authority.pem")}, nil, true},
		"another authority":        {cert, UpstreamTLS{CACert: other.file("authority.pem")}, nil, false},
		"wrong name":               {cert, UpstreamTLS{CACert: ca.file("authority.pem"), ServerName: "elsewhere"}, nil, false},
		"right name":               {cert, UpstreamTLS{CACert: ca.file("authority.pem"), ServerName: "localhost"}, nil, true},
		"leaf's fingerprint":       {cert, UpstreamTLS{Fingerprint: colons}, nil, true},
		"authority's fingerprint":  {cert, UpstreamTLS{Fingerprint: fingerprint(ca.cert.Raw)}, nil, true},
		"another's fingerprint":    {cert, UpstreamTLS{Fingerprint: fingerprint(other.cert.Raw)}, nil, false},
		"authority sent, not used": {forged, UpstreamTLS{Fingerprint: fingerprint(ca.cert.Raw)}, nil, false},
		"fingerprint and file":     {cert, UpstreamTLS{Fingerprint: colons, CACert: other.file("authority.pem")}, nil, false},
		"insecure":                 {cert, UpstreamTLS{Insecure: true}, nil, true},
		"no client certificate":    {cert, UpstreamTLS{Insecure: true}, pool, false},
		"client certificate":       {cert, UpstreamTLS{Insecure: true, ClientCert: ca.file("me.pem"), ClientKey: ca.file("me.key")}, pool, true},
	} {
		t.Run(name, func(t *testing.T) {
			n := tlsNode(t, c.cert, c.need)
			p := start(t, Deps{}, func(cfg *Config) { cfg.UpstreamTLS = c.trust }, strings.Replace(n.url(), "http", "https", 1))
			conn := dial(t, p.addr)
			for range 3 {
				a := conn.ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
				if !c.ok {
					checkRefusal(t, a, 502, "proxy_upstream_unreachable")
				} else if a.status() != 200 {
					t.Fatalf("answer %q %q", a.line, a.body)
				}
			}
			if c.ok && n.opened() != 1 {
				t.Errorf("%d connections for 3 requests", n.opened())
			}
		})
	}
}

// A large request passes in pieces, whatever TLS itself has to say meanwhile.
func TestLargeUploadOverTLS(t *testing.T) {
	ca := newAuthority(t)
	n := tlsNode(t, ca.leaf(t, "node"), nil)
	p := start(t, Deps{}, func(c *Config) { c.UpstreamTLS.Insecure = true }, strings.Replace(n.url(), "http", "https", 1))
	body := strings.Repeat("0123456789", 1<<20)
	for range 3 {
		c := dial(t, p.addr)
		a := c.ask(fmt.Sprintf("POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		if a.status() != 200 {
			t.Fatalf("answer %q %q", a.line, a.body)
		}
	}
	for _, s := range n.requests() {
		if string(s.body) != body {
			t.Fatal("the upstream got another body")
		}
	}
}

func TestHostHeader(t *testing.T) {
	ca := newAuthority(t)
	secure := tlsNode(t, ca.leaf(t, "node"), nil)
	plain := recording(t)
	_, port, _ := net.SplitHostPort(secure.ln.Addr().String())
	name := "https://localhost:" + port
	for _, c := range []struct{ mode, upstream, want string }{
		{"auto", plain.url(), "h"},
		{"auto", "https://127.0.0.1:" + port, "h"},
		{"auto", name, "localhost:" + port},
		{"pass", name, "h"},
		{"upstream", plain.url(), plain.ln.Addr().String()},
	} {
		n := secure
		if c.upstream == plain.url() {
			n = plain
		}
		p := start(t, Deps{}, func(cfg *Config) {
			cfg.HostHeader, cfg.UpstreamTLS.Insecure = c.mode, true
		}, c.upstream)
		dial(t, p.addr).ask("GET / HTTP/1.1\r\nA: 1\r\nhost: h\r\nB: 2\r\n\r\n")
		all := n.requests()
		want := fmt.Sprint([]string{"A: 1", "host: " + c.want, "B: 2"})
		if got := fmt.Sprint(all[len(all)-1].headers); got != want {
			t.Errorf("%s to %s: headers %s, want %s", c.mode, c.upstream, got, want)
		}
	}
}

func TestDownstreamTLS(t *testing.T) {
	ca := newAuthority(t)
	ca.leaf(t, "proxy")
	n := recording(t)
	p := start(t, Deps{Tap: newTap()}, func(c *Config) {
		c.TLS = TLS{Cert: ca.file("proxy.pem"), Key: ca.file("proxy.key")}
	}, n.url())
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	c, err := tls.Dial("tcp", p.addr, &tls.Config{RootCAs: pool, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Errorf("protocol %q", got)
	}
	conn := &client{t: t, Conn: c, br: bufio.NewReader(c)}
	for range 3 {
		body := strings.Repeat("x", 100<<10)
		a := conn.ask(fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		if a.status() != 200 || string(a.body) != "{}" {
			t.Fatalf("answer %q %q %v", a.line, a.body, a.err)
		}
	}
}
