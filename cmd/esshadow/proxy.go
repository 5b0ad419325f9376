package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/proxy"
	"github.com/esshadow/esshadow/replay/mirror"
	"github.com/esshadow/esshadow/sanitize"
)

var _ proxy.Tap = (*capture.Recorder)(nil)

func newProxyCmd(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "proxy --upstream URL[,URL...]",
		Short: "Pass live traffic through, and capture it sanitised",
		Long: `proxy stands in front of a cluster. Requests and answers pass through unchanged;
with --capture, sanitised records of them are written to segment files, which
never makes a client wait. With --mirror, a copy of the requests goes from memory
to a second cluster, whose answers are compared with those of the first: reads
only, unless --mirror-writes says otherwise. Without both it passes through only.

Pseudonyms are made with the key of --key. Without one, a key is made for this
process alone: its pseudonyms then agree with those of no other process, and no
documents can be sanitised to match them.

Flags and keys of a mirror without --mirror are a mistake. Those of a capture
without --capture, and variables of either, are warned of: they have no effect.`,
		Example: `  esshadow proxy --upstream http://10.0.0.5:9200
  openssl rand -hex 32 > key && chmod 600 key
  esshadow proxy --upstream https://es1:9200,https://es2:9200 --capture /var/lib/esshadow --key key
  esshadow proxy --upstream http://es1:9200 --mirror http://new:9200 --mirror-sample 0.1 --mirror-out /var/lib/esshadow/mirror --key key`,
		Args: noArgs,
	}
	set := newSettings(c, s)
	given := proxyFlags(c, set)
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		ofMirror().fromEnv(s, &set.cfg.Mirror.Target)
		return set.load(c)
	}
	c.RunE = graceful(func(ctx context.Context, _ []string) error {
		if err := given.complete(&set.cfg); err != nil {
			return &codeError{exitUsage, err}
		}
		if err := errors.Join(checkIdle(c, s, idleInProxy(c, &set.cfg)...), set.checkIdleKeys()); err != nil {
			return err
		}
		if err := errors.Join(ofMirror().read(s, &set.cfg.Mirror.Target)...); err != nil {
			return &codeError{exitUsage, err}
		}
		set.presetSaid = said(c, s, "preset")
		set.again = func() (configs.Config, error) { return proxyConfigAgain(c, s, set) }
		if err := harden(); err != nil {
			s.note("esshadow proxy: core dumps cannot be switched off: %v", err)
		}
		return runProxy(ctx, s, set)
	})
	return c
}

// proxyConfigAgain layers the configuration of a proxy once more: the file and
// the environment may say something else now, the flags do not.
func proxyConfigAgain(c *cobra.Command, s *streams, set *settings) (configs.Config, error) {
	if set.file == "-" {
		return configs.Config{}, errors.New("the configuration came from standard input, which cannot be read again")
	}
	own := *s // whose file stays the one of the start
	s = &own
	root, twin := &cobra.Command{Use: c.Root().Name()}, &cobra.Command{Use: c.Name()}
	root.AddCommand(twin)
	next := newSettings(twin, s)
	said := proxyFlags(twin, next)
	flags := givenFlags(c)
	for i, x := range flags {
		flags[i].flag = twin.Flags().Lookup(x.flag.Name)
		if x.flag.Name == "config" {
			next.file = set.file
		}
	}
	if err := next.layer(twin, flags); err != nil {
		return next.cfg, err
	}
	err := said.complete(&next.cfg)
	return next.cfg, err
}

// proxySaid is what the flags of proxy that are no settings say.
type proxySaid struct {
	plaintext bool
	rules     []string // of the mirror's index map
}

// complete puts it into the configuration.
func (x *proxySaid) complete(cfg *configs.Config) error {
	cfg.Sanitize.AcceptPlaintext = x.plaintext
	return indexMap(x.rules, "mirror", &cfg.Mirror.IndexMap)
}

func proxyFlags(c *cobra.Command, set *settings) *proxySaid {
	said := &proxySaid{}
	f, cfg := c.Flags(), &set.cfg
	p, r, files := &cfg.Proxy, &cfg.Capture.Config, &cfg.Capture.Files
	f.StringSliceVar(&p.Upstreams, "upstream", nil, "nodes of the source cluster: `URL[,URL...]`, used in turn")
	f.StringVar(&p.Listen, "listen", p.Listen, "`address` that clients use")
	f.StringVar(&p.Admin, "admin", p.Admin, "`address` of /metrics, /healthz, /readyz and /control, or off")
	f.StringVar(&files.Dir, "capture", "", "`directory` for the capture; absent: nothing is captured")
	f.StringVar(&cfg.Sanitize.Preset, "preset", cfg.Sanitize.Preset, "sanitising preset: strict, fidelity, ecs-logs, commerce, shape-only, sealed or off")
	f.BoolVar(&p.ReusePort, "reuse-port", false, "let another process listen on the same address, to take over")
	f.StringVar(&p.AdminTokenFile, "admin-token-file", "", "`file` with the token that /control needs; without it, control is for this machine alone")
	f.StringSliceVar((*[]string)(&cfg.Sanitize.Recipients), "recipient", nil, "age recipient (age1…) that preset sealed encrypts to; repeatable")
	f.StringVar(&cfg.Sanitize.Rules, "rules", "", "sanitising rules `file`; its preset gives way to --preset")
	f.StringVar(&cfg.Sanitize.Schema, "schema", "", "what 'esshadow schema pull' wrote of the source: `file`; before the one that the rules name")
	f.StringVar(&cfg.Sanitize.Key, "key", "", "pseudonym key `file`: 64 hex digits, mode 0600; - for standard input")
	f.BoolVar(&said.plaintext, "i-accept-plaintext-on-disk", false, "allow --preset off: requests are stored as they are, personal data included")
	f.Var(&r.MaxBody, "max-body", "request bodies above this are forwarded, but not captured")
	f.Var(&r.Queue, "queue", "memory for exchanges on their way to the disk; beyond it records are dropped and counted")
	f.StringVar(&r.Priority, "priority", r.Priority, "what is dropped last when the queue is short of room: writes, or none for all alike")
	f.Float64Var(&r.Sample, "sample", r.Sample, "part of the connections that is captured, `0 to 1`")
	f.Var(&files.RotateSize, "rotate-size", "begin a new file at this size; 0: never")
	f.DurationVar(&files.RotateAge, "rotate-age", files.RotateAge, "begin a new file at this age; 0: never")
	f.Var(&files.KeepSize, "keep-size", "remove the oldest files while all are larger; 0: keep all")
	f.DurationVar(&files.KeepAge, "keep-age", files.KeepAge, "remove files at this age; 0: keep all")
	f.Var(&files.MinFree, "min-free", "free disk space below which nothing is captured")
	f.DurationVar(&p.UpstreamTimeout, "upstream-timeout", p.UpstreamTimeout, "silence of a node before the client gets 504; 0: no bound")
	f.IntVar(&p.UpstreamConnections, "upstream-connections", p.UpstreamConnections, "connections to one node")
	f.StringVar(&p.UpstreamTLS.CACert, "upstream-ca-cert", "", "PEM `file` of the authorities that the nodes' certificates come from")
	f.StringVar(&p.UpstreamTLS.Fingerprint, "upstream-fingerprint", "", "SHA-256 of a certificate of the nodes' chain, in `hex`")
	f.BoolVar(&p.UpstreamTLS.Insecure, "upstream-insecure", false, "do not check the nodes' certificates")
	f.StringVar(&p.TLS.Cert, "tls-cert", "", "serve clients by TLS with this PEM `file`")
	f.StringVar(&p.TLS.Key, "tls-key", "", "the certificate's key, a PEM `file`")
	f.DurationVar(&p.Drain, "drain", p.Drain, "time for requests in flight at the end")
	f.StringVar(&p.HostHeader, "host-header", p.HostHeader, "what the node sees as Host: auto, upstream or pass")
	mirrorFlags(f, &cfg.Mirror, &said.rules)
	logFlags(f, &cfg.Log)
	return said
}

// gateway is a running proxy and all that belongs to it.
type gateway struct {
	proxy    *proxy.Proxy
	recorder *capture.Recorder // nil: nothing is captured
	mirror   *mirror.Mirror    // nil: nothing is mirrored
	source   *sourceCluster    // nil without both
	pipe     *sanitize.Pipeline
	registry *prometheus.Registry
	held     []func() int64 // each tells how many bytes something holds now
	log      *zap.Logger
	writer   string // of the capture's files
	served   bool   // clients could connect

	running
}

func runProxy(ctx context.Context, s *streams, set *settings) error {
	cfg := &set.cfg
	if len(cfg.Proxy.Upstreams) == 0 {
		return usage("--upstream: want the nodes of the source cluster, such as http://10.0.0.5:9200")
	}
	if err := errors.Join(cfg.Log.Validate(), configs.Under("proxy", cfg.Proxy.Validate())); err != nil {
		return &codeError{exitUsage, err}
	}
	g := &gateway{registry: newRegistry(readBuild())}
	g.log, g.level = newLeveled(cfg.Log, s.err)
	g.started, g.file, g.again, g.cfg, g.notify = time.Now().UTC(), set.file, set.again, *cfg, notifier(s.env)
	if err := g.startTaps(ctx, s, set); err != nil {
		return g.stop(s, set, err)
	}
	g.registry.MustRegister(newCaptureMetrics(g.captureStats, cfg.Capture.Files.Dir), newDetectedMetric(g.pipe))
	cfg.Proxy.MaxBody = cfg.Capture.MaxBody
	deps := proxy.Deps{Log: g.log, Registry: g.registry, Version: readBuild().Version, Tap: g.tap()}
	var err error
	if g.proxy, err = proxy.New(cfg.Proxy, deps); err != nil {
		return g.stop(s, set, &codeError{exitUsage, configs.Under("proxy", err)})
	}
	g.held = append(g.held, g.proxy.BodiesHeld)
	defer followMemory(s.env, g.memoryWanted)()
	return g.stop(s, set, g.serve(ctx, s, set))
}

// memoryWanted is what the process may use now.
func (g *gateway) memoryWanted() int64 {
	cfg, sum := g.config(), int64(0)
	for _, held := range g.held {
		sum += held()
	}
	return memoryWanted(&cfg, sum)
}

func (g *gateway) captureStats() capture.Stats {
	if g.recorder == nil {
		return capture.Stats{}
	}
	return g.recorder.Stats()
}

// serve listens and says so in one line.
func (g *gateway) serve(ctx context.Context, s *streams, set *settings) error {
	cfg := &set.cfg
	ln, aln, outlived, err := listen(ctx, &cfg.Proxy, s.env)
	if err != nil {
		return err
	}
	if outlived {
		g.proxy.Outlived()
	}
	ctx, g.end = context.WithCancel(ctx)
	defer g.end()
	if err := g.mirrorElsewhere(ctx, &cfg.Mirror, ln.Addr()); err != nil {
		return errors.Join(err, ln.Close(), closeListener(aln))
	}
	g.listen, g.preset = ln.Addr().String(), cfg.Sanitize.Preset
	admin := "off"
	adminDone := make(chan error, 1)
	adminCtx, stopAdmin := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAdmin()
	if aln != nil {
		admin = aln.Addr().String()
		g.admin = admin
		warnOfToken(s, cfg.Proxy.AdminTokenFile)
		go func() { adminDone <- proxy.ServeAdmin(adminCtx, aln, g.adminHandler(), g.log) }()
	} else {
		adminDone <- nil
	}
	where := "no capture"
	if g.recorder != nil {
		where = fmt.Sprintf("capture %s (preset %s)", cfg.Capture.Files.Dir, cfg.Sanitize.Preset)
	}
	if g.mirror != nil {
		where += ", mirror to " + cfg.Mirror.Target.URL
	}
	s.note("esshadow proxy: listening on %s, admin on %s, upstream %s, %s", ln.Addr(), admin, strings.Join(cfg.Proxy.Upstreams, ","), where)
	if set.listening != nil {
		set.listening(ln.Addr())
	}
	defer g.reloadOnHangup()()
	g.notify("READY=1")
	defer context.AfterFunc(ctx, func() { g.notify("STOPPING=1") })()
	g.served = true
	err = g.proxy.Serve(ctx, ln)
	stopAdmin()
	return errors.Join(err, <-adminDone)
}

// captureClose bounds the wait for records that are on their way to the disk.
const captureClose = 30 * time.Second

// stop closes mirror and capture, and writes the sums.
func (g *gateway) stop(s *streams, set *settings, err error) error {
	if !g.served {
		return errors.Join(err, g.abandon(set.cfg.Capture.Files.Dir))
	}
	var mirrored sync.WaitGroup
	var mirrorErr error
	var sums mirror.Stats
	if g.mirror != nil {
		mirrored.Go(func() { sums, mirrorErr = g.mirror.Close() })
	}
	if g.recorder != nil {
		ctx, cancel := context.WithTimeout(context.Background(), max(set.cfg.Proxy.Drain, captureClose))
		defer cancel()
		stats, closeErr := g.recorder.Close(ctx)
		s.note("%s", captureSums(stats))
		if found := detected(g.pipe); len(found) > 0 {
			s.note("esshadow capture: detectors found personal data or secrets in %d kept values%s", capture.Sum(found), reasons(found))
		}
		if set.closed != nil {
			set.closed(stats)
		}
		err = errors.Join(err, closeErr)
	}
	if mirrored.Wait(); g.mirror != nil {
		s.note("%s", mirrorSums(&sums, g.mirrorDir))
	}
	if g.proxy != nil {
		p := g.proxy.Stats()
		s.note("esshadow proxy: %d requests on %d connections, %d answered without asking the cluster", p.Requests, p.Connections, p.Own)
	}
	return errors.Join(err, mirrorErr)
}

func captureSums(s capture.Stats) string {
	return fmt.Sprintf("esshadow capture: received %d = captured %d + filtered %d%s + sampled out %d + dropped %d%s; %d bytes of lines in %d bytes of files",
		s.Received, s.Captured, capture.Sum(s.Filtered), reasons(s.Filtered), s.SampledOut,
		capture.Sum(s.Dropped), reasons(s.Dropped), s.RawBytes, s.WrittenBytes)
}
