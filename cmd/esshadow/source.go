package main

import (
	"context"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/proxy"
	"github.com/esshadow/esshadow/replay"
)

// identifyWait bounds the question to a cluster who it is.
const identifyWait = 3 * time.Second

// sourceCluster is the cluster that the proxy stands before, and what it said of
// itself.
type sourceCluster struct {
	cfg proxy.Config
	log *zap.Logger

	mu     sync.Mutex
	id     es.Identity
	failed time.Time // when it was last asked in vain
	told   bool      // that it could not be identified
}

// ask asks the upstream's nodes in turn, until one has answered, and for a while
// not again if none has. Not to know is no obstacle: a secured cluster does not
// answer the proxy, which has no credentials.
func (c *sourceCluster) ask(ctx context.Context) es.Identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id.UUID != "" || time.Since(c.failed) < identifyWait {
		return c.id
	}
	ctx, cancel := context.WithTimeout(ctx, identifyWait)
	defer cancel()
	t := replay.DefaultTarget()
	t.Insecure, t.Fingerprint = c.cfg.UpstreamTLS.Insecure, c.cfg.UpstreamTLS.Fingerprint
	if path := c.cfg.UpstreamTLS.CACert; path != "" {
		t.CACert, _ = os.ReadFile(path) // proxy.New says what is wrong with it
	}
	for _, t.URL = range c.cfg.Upstreams {
		if id, err := replay.Identify(ctx, t); err == nil {
			c.id = id
			return id
		}
	}
	if c.failed = time.Now(); !c.told {
		c.told = true
		c.log.Warn("the source cluster could not be identified: a replay against it will not be recognised")
	}
	return es.Identity{}
}
