package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
)

// parseFingerprint reads 64 hex digits, with or without colons.
func parseFingerprint(s string) ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	b, err := hex.DecodeString(strings.ReplaceAll(s, ":", ""))
	if err != nil || len(b) != sha256.Size {
		return nil, errors.New("proxy: upstream_tls.fingerprint: want a SHA-256 in 64 hex digits")
	}
	return b, nil
}

// config builds what a connection to the node of that name needs.
func (c *UpstreamTLS) config(host string) (*tls.Config, error) {
	t := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: host,
		NextProtos: []string{"http/1.1"},
	}
	if c.ServerName != "" {
		t.ServerName = c.ServerName
	}
	if c.CACert != "" {
		pool, err := readAuthorities(c.CACert)
		if err != nil {
			return nil, fmt.Errorf("proxy: upstream_tls.ca_cert: %w", err)
		}
		t.RootCAs = pool
	}
	if c.ClientCert != "" {
		pair, err := loadPair("upstream_tls.client_cert", c.ClientCert, "upstream_tls.client_key", c.ClientKey)
		if err != nil {
			return nil, err
		}
		t.Certificates = []tls.Certificate{pair}
	}
	pin, err := parseFingerprint(c.Fingerprint)
	if err != nil {
		return nil, err
	}
	switch {
	case pin != nil:
		c.pin(t, pin)
	case c.Insecure:
		t.InsecureSkipVerify = true
	}
	return t, nil
}

// pin trusts a leaf that has that SHA-256, or that is signed by a certificate of
// its chain that has, whatever its name; with a CA file that must agree too.
func (c *UpstreamTLS) pin(t *tls.Config, sum []byte) {
	t.InsecureSkipVerify = c.CACert == ""
	t.VerifyConnection = func(s tls.ConnectionState) error {
		for i, cert := range s.PeerCertificates {
			have := sha256.Sum256(cert.Raw)
			if subtle.ConstantTimeCompare(have[:], sum) != 1 {
				continue
			}
			if i == 0 {
				return nil
			}
			return signedBy(s.PeerCertificates, cert)
		}
		return errors.New("no certificate of the upstream has the configured fingerprint")
	}
}

// signedBy checks that the chain really leads to root: anybody can send a known
// certificate beside his own.
func signedBy(chain []*x509.Certificate, root *x509.Certificate) error {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(root)
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	return err
}

// config builds what the clients' side needs, nil for plain HTTP.
func (c *TLS) config() (*tls.Config, error) {
	if c.Cert == "" {
		return nil, nil
	}
	pair, err := loadPair("tls.cert", c.Cert, "tls.key", c.Key)
	if err != nil {
		return nil, err
	}
	t := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
		Certificates: []tls.Certificate{pair},
	}
	if c.ClientCA == "" {
		return t, nil
	}
	t.ClientAuth = tls.RequireAndVerifyClientCert
	t.ClientCAs, err = readAuthorities(c.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("proxy: tls.client_ca: %w", err)
	}
	return t, nil
}

// loadPair reads a certificate and its key, and says which of them is at fault.
func loadPair(certKey, certFile, keyKey, keyFile string) (pair tls.Certificate, err error) {
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return pair, fmt.Errorf("proxy: %s: %w", certKey, err)
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return pair, fmt.Errorf("proxy: %s: %w", keyKey, err)
	}
	if block, _ := pem.Decode(cert); block == nil {
		return pair, fmt.Errorf("proxy: %s: %s holds no certificate in PEM form", certKey, certFile)
	}
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		return pair, fmt.Errorf("proxy: %s: %s does not go with %s: %w", keyKey, keyFile, certFile, err)
	}
	return pair, nil
}

// CheckFiles reads the certificates and keys that the configuration names, as New
// does, and says what is wrong with each of them.
func (c *Config) CheckFiles() error {
	_, clients := c.TLS.config()
	_, nodes := c.UpstreamTLS.config("")
	return errors.Join(clients, nodes)
}

func readAuthorities(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", path)
	}
	return pool, nil
}
