package replay

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"strings"
)

// tlsConfig is nil only with an error. host is the name that the certificate
// must have.
func (cfg *TargetConfig) tlsConfig(host string) (*tls.Config, error) {
	t := &tls.Config{
		ServerName: host, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(64),
	}
	if len(cfg.CACert) > 0 {
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(cfg.CACert) {
			return nil, errors.New("ca_cert: holds no certificate in PEM form")
		}
	}
	t.InsecureSkipVerify = cfg.Insecure
	if cfg.Fingerprint == "" {
		return t, nil
	}
	want, err := hex.DecodeString(strings.ReplaceAll(cfg.Fingerprint, ":", ""))
	if err != nil || len(want) != sha256.Size {
		return nil, errors.New("fingerprint: want the 64 hex digits of a certificate's SHA-256")
	}
	if cfg.Insecure || len(cfg.CACert) > 0 {
		return nil, errors.New("fingerprint, ca_cert and insecure exclude each other")
	}
	// The usual check is replaced by the fingerprint's, on resumed sessions too.
	t.InsecureSkipVerify = true
	t.VerifyConnection = func(s tls.ConnectionState) error {
		return checkFingerprint(s.PeerCertificates, [sha256.Size]byte(want))
	}
	return t, nil
}

var errFingerprint = errors.New("no certificate of the chain has the fingerprint, or the server's is not signed by it")

// checkFingerprint accepts a server whose own certificate has the fingerprint,
// or is signed (in the chain that it sent) by one that has it. That a
// certificate is merely sent proves nothing: anyone can send it.
func checkFingerprint(chain []*x509.Certificate, want [sha256.Size]byte) error {
	if len(chain) == 0 {
		return errFingerprint
	}
	if sha256.Sum256(chain[0].Raw) == want {
		return nil
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	found := false
	for _, c := range chain[1:] {
		between.AddCert(c)
		if sha256.Sum256(c.Raw) == want {
			roots.AddCert(c)
			found = true
		}
	}
	if !found {
		return errFingerprint
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between}); err != nil {
		return errFingerprint
	}
	return nil
}
