package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/proxy"
	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/mirror"
	"github.com/esshadow/esshadow/sanitize"
)

var _ proxy.Tap = (*mirror.Mirror)(nil)

func mirrorFlags(f *pflag.FlagSet, cfg *configs.Mirror, rules *[]string) {
	t := &cfg.Target
	f.StringVar(&t.URL, "mirror", "", "`URL` of a second cluster that gets a copy of the requests; absent: nothing is mirrored")
	f.Float64Var(&cfg.Sample, "mirror-sample", cfg.Sample, "part of the connections that is mirrored, `0 to 1`")
	f.StringVar(&cfg.Out, "mirror-out", "", "run `directory` of the mirror, gone on with after a restart (default esshadow-run-<UTC time>)")
	f.Var(&cfg.Queue, "mirror-queue", "memory for requests that are mirrored; beyond it they are shed and counted")
	f.IntVar(&cfg.InFlight, "mirror-in-flight", cfg.InFlight, "requests mirrored at a time; beyond it they are shed and counted")
	f.BoolVar(&cfg.Writes, "mirror-writes", false, "mirror writes too; needs --mirror-index-map or --mirror-same-index")
	f.StringArrayVar(rules, "mirror-index-map", nil, "mirror requests for index FROM to index TO: `FROM=TO`, globs allowed; repeatable")
	f.BoolVar(&cfg.SameIndex, "mirror-same-index", false, "mirrored writes go to indices of the same names")
	f.Var(&cfg.KeepSize, "mirror-keep", "remove the mirror's oldest outcome files while all are larger; 0: keep all")
	f.IntVar(&t.Connections, "mirror-connections", 0, "connections to the mirror's target; 0: as many as requests in flight")
	f.DurationVar(&t.Timeout, "mirror-timeout", t.Timeout, "from sending a mirrored request to the last byte of its answer")
	f.StringVar(&t.User, "mirror-user", "", "user `name` at the mirror's target")
	f.StringVar(&t.PasswordFile, "mirror-password-file", "", "`file` with the user's password; or set ESSHADOW_PROXY_MIRROR_PASSWORD")
	f.StringVar(&t.APIKeyFile, "mirror-api-key-file", "", "`file` with an API key, base64 of id:key; or set ESSHADOW_PROXY_MIRROR_API_KEY")
	f.StringVar(&t.CACertFile, "mirror-ca-cert", "", "PEM `file` of the authorities that the mirror target's certificate comes from")
	f.StringVar(&t.Fingerprint, "mirror-fingerprint", "", "SHA-256 of a certificate of the mirror target's chain, in `hex`")
	f.BoolVar(&t.Insecure, "mirror-insecure", false, "do not check the mirror target's certificate")
}

// askTarget asks a mirror's target who it is.
type askTarget func(context.Context) (es.Identity, error)

// checkMirror refuses a target that is the source or a proxy, this one among them,
// before anything is begun. It returns how to ask from then on, beginning with the
// answer that there is.
func (g *gateway) checkMirror(ctx context.Context, cfg *configs.Config) (askTarget, error) {
	target := cfg.Mirror.Target.TargetConfig
	if err := mirrorIsUpstream(target.URL, cfg.Proxy.Upstreams); err != nil {
		return nil, refused(fmt.Errorf("mirror.target.url: %w", err))
	}
	if here, err := net.ResolveTCPAddr("tcp", cfg.Proxy.Listen); err == nil && here.Port != 0 {
		if err := g.mirrorElsewhere(ctx, &cfg.Mirror, here); err != nil {
			return nil, err
		}
	}
	again := func(ctx context.Context) (es.Identity, error) { return replay.Identify(ctx, target) }
	ctx, stop := context.WithTimeout(ctx, identifyWait)
	defer stop()
	id, unknown := again(ctx)
	if unknown == nil {
		unknown = replay.Distinct(id, g.source.ask(ctx).UUID)
	}
	if errors.Is(unknown, replay.ErrTargetIsSource) || errors.Is(unknown, replay.ErrTargetIsProxy) {
		return nil, refused(fmt.Errorf("mirror.target.url: %w", unknown))
	}
	var asked atomic.Bool
	return func(ctx context.Context) (es.Identity, error) {
		if !asked.Swap(true) {
			return id, unknown
		}
		return again(ctx)
	}, nil
}

// startMirror begins to mirror, unless the target is the source or a proxy. One
// that does not answer is no reason not to serve: it is asked again and again.
func (g *gateway) startMirror(ctx context.Context, p policy, ask askTarget, s *streams, set *settings) error {
	cfg, target := &set.cfg.Mirror, set.cfg.Mirror.Target.TargetConfig
	client, err := replay.NewClient(target)
	if err != nil {
		return &codeError{exitUsage, err}
	}
	run := replay.NewRun(time.Now(), readBuild().Version, []string{"live traffic"}, cfg.Engine(), target)
	run.Source, run.Preset, run.KeyID = g.source.ask(ctx), p.meta.Preset, p.meta.KeyID
	if g.mirrorDir = cfg.Out; g.mirrorDir == "" {
		g.mirrorDir = "esshadow-run-" + run.Started.Format("20060102T150405Z")
	}
	var veil *replay.Veil
	if p.meta.Preset == sanitize.PresetSealed {
		if veil, err = replay.NewVeil(); err != nil {
			return err
		}
	}
	seen := newMirrorMetrics()
	m, err := mirror.New(cfg.Config, mirror.Options{
		Target: client, Ask: ask, Shared: set.cfg.Proxy.ReusePort,
		Source:       g.source.ask,
		NewSanitizer: func() capture.Sanitizer { return p.mirror.Worker() }, Mapper: liveMapper(p.mirror.Worker()), Veil: veil,
		MaxBody: int(set.cfg.Capture.MaxBody), Judge: seen.judge, Counted: seen.count, Dir: g.mirrorDir, Run: run, Log: g.log,
	})
	if err != nil {
		return err
	}
	g.mirror, seen.stats = m, m.Stats
	g.held = append(g.held, m.MemoryBytes, client.AnswerBytes)
	if err := seen.register(g.registry); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, identifyWait)
	defer stop()
	switch err := m.Identify(ctx); {
	case errors.Is(err, replay.ErrTargetIsSource), errors.Is(err, replay.ErrTargetIsProxy):
		return refused(fmt.Errorf("mirror.target.url: %w", err))
	case err == nil && cfg.Writes && cfg.SameIndex && run.Source.UUID == "":
		s.note("esshadow proxy: warning: the source does not say who it is, so that a mirror of writes to the source itself would not be noticed at once")
	case err != nil:
		s.note("esshadow proxy: warning: the mirror's target is not known yet: nothing is mirrored until it says who it is")
	}
	return nil
}

// liveMapper makes one worker's rules usable by several goroutines, for answers
// to requests as clients sent them.
func liveMapper(w *sanitize.Worker) es.Mapper {
	var mu sync.Mutex
	calls := 0
	locked := func(do func(dst, text []byte) []byte) func(dst, text []byte) []byte {
		return func(dst, text []byte) []byte {
			mu.Lock()
			defer mu.Unlock()
			if calls++; calls%forgetEvery == 0 {
				w.Forget()
			}
			return do(dst, text)
		}
	}
	return es.Mapper{ID: locked(w.MapID), Name: locked(w.MapName)}
}

// forgetEvery calls a mapper lets go of what it noted.
const forgetEvery = 4096

// mirrorIsUpstream refuses a target that is one of the proxy's own nodes.
func mirrorIsUpstream(target string, upstreams []string) error {
	at := hostPort(target)
	for _, u := range upstreams {
		if at != "" && hostPort(u) == at {
			return replay.ErrTargetIsSource
		}
	}
	return nil
}

// hostPort is where a URL leads, with its scheme's port where it names none.
func hostPort(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// mirrorElsewhere refuses a target that is the address on which the proxy itself
// listens.
func (g *gateway) mirrorElsewhere(ctx context.Context, cfg *configs.Mirror, listen net.Addr) error {
	if !cfg.On() {
		return nil
	}
	here, err := netip.ParseAddrPort(listen.String())
	host, port, splitErr := net.SplitHostPort(hostPort(cfg.Target.URL))
	if err != nil || splitErr != nil || port != fmt.Sprint(here.Port()) {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, identifyWait)
	defer stop()
	places, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		g.log.Warn("the mirror target's name cannot be resolved now", zap.Error(errors.New("no address")))
		return nil
	}
	for _, ip := range places {
		ip = ip.Unmap()
		if ip == here.Addr().Unmap() || here.Addr().IsUnspecified() && ofThisMachine(ip) {
			return refused(fmt.Errorf("mirror.target.url: %w", replay.ErrTargetIsProxy))
		}
	}
	return nil
}

func ofThisMachine(ip netip.Addr) bool {
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}

func closeListener(ln net.Listener) error {
	if ln == nil {
		return nil
	}
	return ln.Close()
}

// taps give each of several the same exchange.
type taps []proxy.Tap

// Offer implements proxy.Tap.
func (t taps) Offer(x *capture.Exchange) {
	for range t[1:] {
		x.Share()
	}
	for _, tap := range t {
		tap.Offer(x)
	}
}

// Room implements proxy.Tap.
func (t taps) Room(size int64) bool {
	return slices.ContainsFunc(t, func(tap proxy.Tap) bool { return tap.Room(size) })
}

// tap is what the proxy offers its exchanges to, nil if nothing wants them.
func (g *gateway) tap() proxy.Tap {
	switch {
	case g.recorder != nil && g.mirror != nil:
		return taps{g.recorder, g.mirror}
	case g.recorder != nil:
		return g.recorder
	case g.mirror != nil:
		return g.mirror
	}
	return nil
}

func mirrorSums(s *mirror.Stats, dir string) string {
	return fmt.Sprintf("esshadow mirror: offered %d = sent %d + refused %d%s + sampled out %d + shed %d%s; answered %d, errors %d%s, differences %d%s; %d outcomes written, %d lost, in %s",
		s.Offered, s.Sent, sum(s.Refused), reasons(s.Refused), s.SampledOut, sum(s.Shed), reasons(s.Shed),
		s.Answered, sum(s.Errors), reasons(s.Errors), sum(s.Differences), reasons(s.Differences), s.Written, s.Lost, dir)
}
