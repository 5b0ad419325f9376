package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/esshadow/esshadow/internal/size"
)

// Config is what the proxy obeys. The zero value is not valid; start from
// Default.
type Config struct {
	// Listen is the address that clients use.
	Listen string `yaml:"listen"`
	// Admin is the address of /metrics, /healthz and /readyz, or "off".
	Admin string `yaml:"admin"`
	// AdminTokenFile holds the token that whoever changes the proxy by its admin
	// address has to show. Empty: only programs of this machine may, and only if
	// Admin is an address of this machine.
	AdminTokenFile string `yaml:"admin_token_file"`
	// Upstreams are the nodes of the source cluster as http://host:port or
	// https://host:port. A path after that goes before the target of every
	// request.
	Upstreams []string `yaml:"upstreams"`

	// Balance is "round_robin", or "least_loaded": the node with the fewest
	// requests on their way.
	Balance string `yaml:"balance"`
	// HealthInterval is how often each node is asked for "/"; any answer counts
	// as alive. 0: a node is judged by its answers to clients alone.
	HealthInterval time.Duration `yaml:"health_interval"`
	// DNSTTL is how long the addresses of a node's name hold. All of them are
	// used in turn.
	DNSTTL time.Duration `yaml:"dns_ttl"`

	// UpstreamTimeout bounds the silence of a node: while it takes the request,
	// before the first byte of its answer, and between any two reads after
	// that. 0: no bound.
	UpstreamTimeout time.Duration `yaml:"upstream_timeout"`
	// UpstreamDial bounds making a connection, TLS included.
	UpstreamDial time.Duration `yaml:"upstream_dial"`
	// UpstreamConnections bounds the connections to one node.
	UpstreamConnections int `yaml:"upstream_connections"`
	// UpstreamWait bounds the wait for a connection while all are in use.
	UpstreamWait time.Duration `yaml:"upstream_wait"`
	// UpstreamIdle is how long an unused connection is kept. Keep it below what
	// the node, or a load balancer before it, allows.
	UpstreamIdle time.Duration `yaml:"upstream_idle"`
	// UpstreamTLS is used for https upstreams.
	UpstreamTLS UpstreamTLS `yaml:"upstream_tls"`
	// HostHeader is "auto", "upstream" or "pass": auto sends the upstream's name
	// to a TLS upstream that is given by name, else what the client sent.
	HostHeader string `yaml:"host_header"`

	// Forwarded is "off", or "append": X-Forwarded-For gets the client's address
	// at its end, X-Forwarded-Proto and -Host are added where they are missing.
	Forwarded string `yaml:"forwarded"`

	// ProxyProtocol lists the networks (CIDR) of load balancers whose connections
	// begin with a header of the PROXY protocol, version 1 or 2. Empty: none.
	ProxyProtocol []string `yaml:"proxy_protocol"`
	// ReusePort lets another process listen on the same address, to hand over.
	ReusePort bool `yaml:"reuse_port"`
	// TLS serves clients by TLS when a certificate is set.
	TLS TLS `yaml:"tls"`
	// MaxConnections bounds the clients' connections; more wait in the kernel's
	// backlog.
	MaxConnections int `yaml:"max_connections"`
	// IdleTimeout closes a client's connection that has been unused for so
	// long, be it after a request or before the first. 0: never, as
	// Elasticsearch itself.
	IdleTimeout time.Duration `yaml:"idle_timeout"`
	// HeaderTimeout bounds the arrival of a request's head, from its first
	// byte on, and of what comes before the first: a handshake, a header of
	// the PROXY protocol.
	HeaderTimeout time.Duration `yaml:"header_timeout"`
	// ClientTimeout bounds the silence of a client within a body, both ways.
	ClientTimeout time.Duration `yaml:"client_timeout"`

	// MaxHeader bounds a request's line and headers together.
	MaxHeader size.Size `yaml:"max_header"`
	// MaxRequestBody refuses larger request bodies. 0: the node's own limit
	// decides.
	MaxRequestBody size.Size `yaml:"max_request_body"`
	// StreamAbove is the body size above which a body passes in pieces. Smaller
	// ones are read whole first, which costs less CPU and keeps slow clients
	// off the node's connections.
	StreamAbove size.Size `yaml:"stream_above"`
	// MaxBody bounds each body that is copied for capture. Larger ones pass,
	// and are offered by their size alone. It follows capture.max_body.
	MaxBody size.Size `yaml:"-"`
	// BodyMemory bounds the bodies that are held at one time: those read whole,
	// and copies for capture while they grow, by the memory of their buffers. When
	// it is used up, bodies pass in pieces and without a copy.
	BodyMemory size.Size `yaml:"body_memory"`
	// PooledBytes bounds the memory kept for reuse in buffers above 64 KiB.
	PooledBytes size.Size `yaml:"pooled_bytes"`

	// Drain bounds the wait for requests in flight at the end.
	Drain time.Duration `yaml:"drain"`
}

// UpstreamTLS says how the nodes are trusted. Without CACert and Fingerprint the
// system's authorities decide.
type UpstreamTLS struct {
	// CACert is a PEM file of authorities.
	CACert string `yaml:"ca_cert"`
	// Fingerprint is the SHA-256 of a certificate of the node's chain in hex, as
	// Elasticsearch prints it at its first start; colons are allowed.
	Fingerprint string `yaml:"fingerprint"`
	// ServerName replaces the upstream's name in SNI and verification.
	ServerName string `yaml:"server_name"`
	// ClientCert and ClientKey are PEM files that the proxy shows to the node.
	ClientCert string `yaml:"client_cert"`
	ClientKey  string `yaml:"client_key"`
	// Insecure trusts whoever answers.
	Insecure bool `yaml:"insecure"`
}

// TLS names the PEM files of the proxy's own certificate.
type TLS struct {
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	// ClientCA is a PEM file of authorities: a client has to show a certificate
	// that one of them signed. Empty: none has to.
	ClientCA string `yaml:"client_ca"`
}

// Default is the configuration that holds where nothing is said. Upstreams are
// missing in it.
func Default() Config {
	return Config{
		Listen:              "127.0.0.1:9280",
		Admin:               "127.0.0.1:9281",
		UpstreamTimeout:     90 * time.Second,
		UpstreamDial:        5 * time.Second,
		UpstreamConnections: 1024,
		UpstreamWait:        10 * time.Second,
		// Load balancers close after 60 s or more, some proxies after 15 s.
		UpstreamIdle:   10 * time.Second,
		HostHeader:     "auto",
		Balance:        "round_robin",
		DNSTTL:         30 * time.Second,
		Forwarded:      "off",
		MaxConnections: 32768,
		HeaderTimeout:  60 * time.Second,
		ClientTimeout:  2 * time.Minute,
		// A line of 64 KiB and 32 KiB of headers beside it.
		MaxHeader: 96 * size.KiB,
		// Below this, reading whole is cheaper than passing in pieces.
		StreamAbove: size.MiB,
		MaxBody:     16 * size.MiB,
		BodyMemory:  512 * size.MiB,
		PooledBytes: 32 * size.MiB,
		Drain:       30 * time.Second,
	}
}

// Validate names every mistake at once.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("proxy: "+format, args...)) }

	checkAddr(c.Listen, "listen", bad)
	if c.Admin != "" && c.Admin != "off" {
		checkAddr(c.Admin, "admin", bad)
	}
	if len(c.Upstreams) == 0 {
		bad("upstreams: want at least one http://host:port or https://host:port")
	}
	if len(c.Upstreams) > maxNodes {
		bad("upstreams: want %d at most", maxNodes)
	}
	for _, u := range c.Upstreams {
		if _, err := parseUpstream(u); err != nil {
			errs = append(errs, err)
		}
	}
	switch c.HostHeader {
	case "auto", "upstream", "pass":
	default:
		bad("host_header %q: want auto, upstream or pass", c.HostHeader)
	}
	if c.Balance != "round_robin" && c.Balance != "least_loaded" {
		bad("balance %q: want round_robin or least_loaded", c.Balance)
	}
	if c.Forwarded != "off" && c.Forwarded != "append" {
		bad("forwarded %q: want off or append", c.Forwarded)
	}
	if _, err := parseNetworks(c.ProxyProtocol); err != nil {
		bad("proxy_protocol: %w", err)
	}
	if c.TLS.ClientCA != "" && c.TLS.Cert == "" {
		bad("tls.client_ca: needs tls.cert and tls.key")
	}
	for _, x := range []struct{ one, value, other, second string }{
		{"tls.cert", c.TLS.Cert, "tls.key", c.TLS.Key},
		{"upstream_tls.client_cert", c.UpstreamTLS.ClientCert, "upstream_tls.client_key", c.UpstreamTLS.ClientKey},
	} {
		switch {
		case x.value != "" && x.second == "":
			bad("%s: belongs together with %s, which is missing", x.one, x.other)
		case x.value == "" && x.second != "":
			bad("%s: belongs together with %s, which is missing", x.other, x.one)
		}
	}
	if _, err := parseFingerprint(c.UpstreamTLS.Fingerprint); err != nil {
		errs = append(errs, err)
	}
	c.checkNumbers(bad)
	return errors.Join(errs...)
}

func (c *Config) checkNumbers(bad func(string, ...any)) {
	for _, d := range []struct {
		name string
		v    time.Duration
		min  time.Duration
	}{
		{"health_interval", c.HealthInterval, 0},
		{"dns_ttl", c.DNSTTL, time.Millisecond},
		{"upstream_timeout", c.UpstreamTimeout, 0},
		{"upstream_dial", c.UpstreamDial, time.Millisecond},
		{"upstream_wait", c.UpstreamWait, time.Millisecond},
		{"upstream_idle", c.UpstreamIdle, time.Millisecond},
		{"idle_timeout", c.IdleTimeout, 0},
		{"header_timeout", c.HeaderTimeout, time.Millisecond},
		{"client_timeout", c.ClientTimeout, time.Millisecond},
		{"drain", c.Drain, 0},
	} {
		if d.v < d.min {
			bad("%s %v: want %v or more", d.name, d.v, d.min)
		}
	}
	for _, s := range []struct {
		name     string
		v        size.Size
		min, max size.Size
	}{
		{"max_header", c.MaxHeader, 8 * size.KiB, 16 * size.MiB},
		{"max_request_body", c.MaxRequestBody, 0, size.TiB},
		{"stream_above", c.StreamAbove, 4 * size.KiB, size.GiB},
		{"max_body", c.MaxBody, 0, size.GiB},
		{"body_memory", c.BodyMemory, 0, size.TiB},
		{"pooled_bytes", c.PooledBytes, 0, size.TiB},
	} {
		if s.v < s.min || s.v > s.max {
			bad("%s %v: want %v to %v", s.name, s.v, s.min, s.max)
		}
	}
	if c.UpstreamConnections < 1 {
		bad("upstream_connections %d: want 1 or more", c.UpstreamConnections)
	}
	if c.MaxConnections < 1 {
		bad("max_connections %d: want 1 or more", c.MaxConnections)
	}
}

func checkAddr(addr, name string, bad func(string, ...any)) {
	_, port, err := net.SplitHostPort(addr)
	if n, notNumber := strconv.Atoi(port); err != nil || notNumber == nil && (n < 0 || n > 65535) {
		bad("%s %q: want host:port, with a port from 0 to 65535", name, addr)
	}
}

// parseUpstream takes the part of a URL that a node has. Credentials are
// refused since the clients' own pass through.
func parseUpstream(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("proxy: upstreams: not a URL")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("proxy: upstreams: %q: want http://host:port or https://host:port", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("proxy: upstreams: %q: no credentials here, those of the clients pass through", u.Redacted())
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("proxy: upstreams: %q: want no query", u.Redacted())
	}
	return u, nil
}
