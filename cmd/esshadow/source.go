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

	mu    sync.Mutex
	id    es.Identity
	again time.Time     // it is not to be asked before
	pause time.Duration // after the last question in vain
	told  bool          // that it could not be identified
}

// An answer holds for sourceFresh: the upstream's name may lead to another cluster
// one day. What was asked in vain is left alone for longer each time.
const (
	sourceFresh    = 5 * time.Second
	sourceMaxPause = 5 * time.Minute
)

// ask asks the upstream's nodes in turn, until one has answered, and for a while
// not again. Not to know is no obstacle: a secured cluster does not answer the
// proxy, which has no credentials.
func (c *sourceCluster) ask(ctx context.Context) es.Identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().Before(c.again) {
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
			c.id, c.again, c.pause = id, time.Now().Add(sourceFresh), 0
			return id
		}
	}
	c.pause = min(max(2*c.pause, identifyWait), sourceMaxPause)
	if c.again = time.Now().Add(c.pause); !c.told && c.id.UUID == "" {
		c.told = true
		c.log.Warn("the source cluster could not be identified: a replay against it will not be recognised")
	}
	return c.id
}
