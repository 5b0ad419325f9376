package proxy

import (
	"crypto/tls"
	"errors"
	"net/netip"
)

// setup is the configuration that holds at a moment, and the nodes that belong
// to it. A job keeps to the one that it began with.
type setup struct {
	cfg   Config
	nodes nodes
	tls   *tlsFiles // of the clients' side, nil: plain HTTP

	balancers []netip.Prefix // whose connections begin with a PROXY header
}

// RestartKeys are the keys of Config, as in the YAML file, that Reload leaves as
// they are: they are bound to sockets and buffers that exist already.
func RestartKeys() []string {
	return []string{
		"listen", "admin", "max_connections", "idle_timeout", "header_timeout", "max_header", "pooled_bytes",
		"reuse_port",
	}
}

// keepBound takes over what RestartKeys names.
func (c *Config) keepBound(old *Config) {
	c.Listen, c.Admin = old.Listen, old.Admin
	c.MaxConnections, c.IdleTimeout, c.HeaderTimeout = old.MaxConnections, old.IdleTimeout, old.HeaderTimeout
	c.MaxHeader, c.PooledBytes, c.ReusePort = old.MaxHeader, old.PooledBytes, old.ReusePort
}

// Reload takes over cfg but for RestartKeys, and reads the TLS files again.
// Requests in flight end under the old one; nodes that stay the same keep their
// connections and state. On an error everything stays as it was.
func (p *Proxy) Reload(cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	p.reloading.Lock()
	defer p.reloading.Unlock()
	old := p.now.Load()
	cfg.keepBound(&old.cfg)
	if (cfg.TLS.Cert == "") != (old.cfg.TLS.Cert == "") {
		return errors.New("proxy: tls cannot be switched on or off without a restart")
	}
	next, err := p.newSetup(cfg, old)
	if err != nil {
		return err
	}
	p.now.Store(next)
	p.retire(old, next)
	for _, n := range next.nodes.all {
		p.watchers.watch(n)
	}
	return nil
}

// newSetup makes what cfg needs, and takes from old what cfg leaves the same.
func (p *Proxy) newSetup(cfg Config, old *setup) (*setup, error) {
	s := &setup{cfg: cfg}
	var err error
	if s.balancers, err = parseNetworks(cfg.ProxyProtocol); err != nil {
		return nil, err
	}
	if s.tls, err = p.clientTLS(cfg.TLS, old); err != nil {
		return nil, err
	}
	for _, address := range cfg.Upstreams {
		n := old.node(keyOf(&cfg, address))
		if n != nil {
			err = n.secure.reread()
		} else {
			n, err = p.newUpstream(&cfg, address)
		}
		if err != nil {
			return nil, err
		}
		s.nodes.all = append(s.nodes.all, n)
	}
	return s, nil
}

func (p *Proxy) clientTLS(c TLS, old *setup) (*tlsFiles, error) {
	switch {
	case c.Cert == "":
		return nil, nil
	case old != nil && old.tls != nil && old.cfg.TLS == c:
		return old.tls, old.tls.reread()
	}
	return newTLSFiles(p.log, func() (*tls.Config, error) { return c.config() }, c.Cert, c.Key, c.ClientCA)
}

// node is the one of that key, nil if there is none.
func (s *setup) node(k nodeKey) *upstream {
	if s == nil {
		return nil
	}
	for _, n := range s.nodes.all {
		if n.key == k {
			return n
		}
	}
	return nil
}

// retire lets go of the nodes that next does not have. Requests in flight on
// them end; their connections close when they have been idle for long enough.
func (p *Proxy) retire(old, next *setup) {
	names := map[string]bool{}
	for _, n := range next.nodes.all {
		names[n.name] = true
	}
	for _, n := range old.nodes.all {
		if next.node(n.key) == n {
			continue
		}
		p.watchers.leave(n)
		n.pool.CloseIdleConnections()
		if !names[n.name] {
			p.metrics.up.DeleteLabelValues(n.name)
		}
	}
}
