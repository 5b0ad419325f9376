package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/diff"
	"github.com/esshadow/esshadow/replay/report"
	"github.com/esshadow/esshadow/sanitize"
)

var _ replay.Source = (*capture.Source)(nil)

// replayCmd is what the flags of replay that are no settings say.
type replayCmd struct {
	s     *streams
	set   *settings
	rules []string
}

func newReplayCmd(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "replay CAPTURE... --target URL",
		Short: "Send a capture to another cluster, and report",
		Long: `replay sends the requests of a capture (directories or segment files) to a
target, each when it is due: at the original times, scaled by --speed, or without
pauses. Requests of one connection keep their order. What the target answers is
compared with what the source answered.

Only reads are sent unless --writes is given, which needs --index-map or
--same-index. Administrative and destructive requests are never sent, and the
captured cluster itself is refused as a target.`,
		Example: `  esshadow replay /var/lib/esshadow --target http://10.0.0.9:9200
  esshadow replay capture/ --target https://new:9200 --ca-cert ca.pem --user elastic --password-file pw --speed 2
  esshadow replay capture/ --target http://127.0.0.1:9201 --writes --index-map 'logs-*=shadow-logs-*'
  esshadow replay capture/ --target http://127.0.0.1:9201 --dry-run`,
		Args: someArgs("capture"),
	}
	r := &replayCmd{s: s, set: newSettings(c, s)}
	r.flags(c)
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		ofReplay().fromEnv(s, &r.set.cfg.Replay.Target)
		return r.set.load(c)
	}
	c.RunE = graceful(func(ctx context.Context, paths []string) error {
		if err := errors.Join(notFromStdin(paths, "a capture is replayed from files"), r.complete()); err != nil {
			return err
		}
		if err := checkIdle(c, s, idleInReplay(&r.set.cfg.Replay)...); err != nil {
			return err
		}
		rep, err := r.run(ctx, paths)
		if rep != nil {
			if textErr := rep.Text(s.out); err == nil && textErr != nil {
				err = textErr
			}
			dir := r.set.cfg.Replay.Out
			s.note("esshadow replay: outcomes are in %s; 'esshadow report %s' draws this report again", dir, dir)
		}
		return err
	})
	return c
}

func (r *replayCmd) flags(c *cobra.Command) {
	f, cfg := c.Flags(), &r.set.cfg.Replay
	t := &cfg.Target
	f.StringVar(&t.URL, "target", "", "`URL` of the cluster to send to")
	f.Var(&cfg.Speed, "speed", "`factor` of the original speed, or max")
	f.StringVar(&cfg.Out, "out", "", "run `directory` (default esshadow-run-<UTC time>)")
	f.BoolVar(&cfg.Writes, "writes", false, "send writes too; needs --index-map or --same-index")
	f.StringArrayVar(&r.rules, "index-map", nil, "send requests for index FROM to index TO: `FROM=TO`, globs allowed; repeatable")
	f.BoolVar(&cfg.SameIndex, "same-index", false, "writes go to indices of the captured names")
	f.StringVar(&cfg.From, "from", "", "begin at this `time`: RFC 3339, +5m after the first record, -1h before the last")
	f.StringVar(&cfg.To, "to", "", "end at this `time`, likewise")
	f.DurationVar(&cfg.Duration, "duration", 0, "end after this much captured time")
	f.IntVar(&cfg.InFlight, "in-flight", cfg.InFlight, "requests due and not done; what exceeds it is shed and counted; 0: no bound")
	f.IntVar(&t.Connections, "connections", 0, "connections to the target; 0: as many as requests in flight")
	f.DurationVar(&t.Timeout, "timeout", t.Timeout, "from sending a request to the last byte of its answer")
	f.StringVar(&cfg.Admin, "admin", cfg.Admin, "`address` of /metrics and /healthz while the replay runs, or off")
	f.BoolVar(&cfg.DryRun, "dry-run", false, "show what would be sent, and send nothing")
	identityFlag(f, &cfg.Identity)
	f.StringVar(&cfg.Key, "key", "", "the capture's key `file`, for a target that holds the original ids")
	f.StringVar(&t.User, "user", "", "user `name` at the target")
	f.StringVar(&t.PasswordFile, "password-file", "", "`file` with the user's password, - for standard input; or set ESSHADOW_REPLAY_PASSWORD")
	f.StringVar(&t.APIKeyFile, "api-key-file", "", "`file` with an API key, base64 of id:key, - for standard input; or set ESSHADOW_REPLAY_API_KEY")
	f.StringVar(&t.CACertFile, "ca-cert", "", "PEM `file` of the authorities that the target's certificate comes from")
	f.StringVar(&t.Fingerprint, "fingerprint", "", "SHA-256 of a certificate of the target's chain, in `hex`")
	f.BoolVar(&t.Insecure, "insecure", false, "do not check the target's certificate")
	logFlags(f, &r.set.cfg.Log)
}

// complete reads the files that settings name and checks the whole.
func (r *replayCmd) complete() error {
	cfg := &r.set.cfg.Replay
	cfg.Window.Duration, cfg.Config.DryRun = cfg.Duration, cfg.DryRun
	t := &cfg.Target
	if t.URL == "" {
		return usage("--target: want the URL of the cluster to send to, such as http://10.0.0.9:9200")
	}
	errs := append(ofReplay().read(r.s, t), indexMap(r.rules, "replay", &cfg.IndexMap))
	errs = append(errs, r.set.cfg.Log.Validate(), configs.Under("replay", cfg.Config.Validate()),
		configs.Under("replay.target", t.TargetConfig.Validate()), configs.Under("replay", cfg.CheckAdmin()))
	if err := errors.Join(errs...); err != nil {
		return &codeError{exitUsage, err}
	}
	return nil
}

// window turns --from and --to into times of the capture.
func (r *replayCmd) window(info capture.Info) error {
	cfg := &r.set.cfg.Replay
	w := &cfg.Window
	for _, x := range []struct {
		key, text string
		to        *int64
	}{{"replay.from", cfg.From, &w.From}, {"replay.to", cfg.To, &w.To}} {
		if x.text == "" {
			continue
		}
		m, err := replay.ParseMoment(x.text)
		if err != nil {
			return usage("%s: %w", x.key, err)
		}
		*x.to = m.At(info.First, info.Last)
	}
	if w.To != 0 && w.To <= w.From {
		return usage("replay.to: want a time after replay.from")
	}
	return nil
}

// open opens the captures for the chosen window.
func (r *replayCmd) open(paths []string) (*capture.Source, error) {
	ids, err := identities("replay.identity", r.set.cfg.Replay.Identity, r.s.in)
	if err != nil {
		return nil, err
	}
	src, err := capture.OpenSource(paths, capture.SourceOptions{Identities: ids})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.window(src.Info()), unsealed(src.Info(), paths, ids)); err != nil {
		_ = src.Close()
		return nil, err
	}
	w, all := r.set.cfg.Replay.Window, src.Info()
	if err := src.Close(); err != nil {
		return nil, err
	}
	opt := capture.SourceOptions{From: w.From, To: w.To, Identities: ids}
	until := opt
	if end := w.From + int64(w.Duration); w.From != 0 && w.Duration > 0 && (w.To == 0 || end < w.To) {
		until.To = end
	}
	if err := (windowKeys{"replay.from", "replay.to"}).nothingThere(paths, until, all); err != nil {
		return nil, err
	}
	return capture.OpenSource(paths, opt)
}

// run replays and reports. A report may come with an error: what there is of
// an interrupted or failed run.
func (r *replayCmd) run(ctx context.Context, paths []string) (*report.Report, error) {
	cfg := &r.set.cfg.Replay
	src, err := r.open(paths)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	mapper, err := r.mapper(src.Info())
	if err != nil {
		return nil, &codeError{exitUsage, err}
	}
	if cfg.DryRun {
		return nil, r.dryRun(ctx, src)
	}
	target, err := r.identify(ctx, src.Info())
	if err != nil {
		return nil, err
	}
	client, err := replay.NewClient(cfg.Target.TargetConfig)
	if err != nil {
		return nil, &codeError{exitUsage, err}
	}
	metrics, end, err := r.listen(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	veil, err := veilFor(src.Info())
	if err != nil {
		return nil, err
	}
	run := replay.NewRun(time.Now(), readBuild().Version, paths, cfg.Config, cfg.Target.TargetConfig)
	run.Target, run.Source = target, sourceOf(src.Info())
	run.Preset, run.KeyID = presetOf(src.Info()), keyOf(src.Info())
	if cfg.Out == "" {
		cfg.Out = "esshadow-run-" + run.Started.Format("20060102T150405Z")
	}
	lines, err := replay.CreateRunDir(cfg.Out, run)
	if err != nil {
		return nil, err
	}
	e := replay.New(cfg.Config, replay.Deps{
		Veil:   veil,
		Source: src, Target: client, Lines: lines, Judge: metrics.judge, Counted: metrics.count, Mapper: mapper, Identity: target,
		Log: newLogger(r.set.cfg.Log, r.s.err),
	})
	metrics.follow(e.Stats)
	show := startProgress(r.s, src.Info(), cfg.Speed, e.Stats)
	runErr := e.Run(ctx)
	show.end()
	interrupted := ctx.Err() != nil
	run.End(time.Now(), e.Stats(), interrupted, runErr)
	for _, w := range src.Warnings() {
		r.s.note("esshadow replay: warning: %v", w)
	}
	return r.finish(run, runErr, interrupted)
}

// finish writes run.json and draws the report.
func (r *replayCmd) finish(run replay.Run, runErr error, interrupted bool) (*report.Report, error) {
	dir := r.set.cfg.Replay.Out
	if err := replay.WriteRun(dir, run); err != nil {
		return nil, errors.Join(runErr, err)
	}
	rep, err := report.Load(dir, report.Options{Tolerances: diff.DefaultTolerances()})
	if err = errors.Join(runErr, err); err == nil && interrupted {
		err = &codeError{code: exitInterrupted}
	}
	return rep, err
}

// listen serves the run's metrics, if that is asked for, until end is called.
func (r *replayCmd) listen(ctx context.Context) (m *replayMetrics, end func(), err error) {
	m = newReplayMetrics()
	admin := r.set.cfg.Replay.Admin
	if admin == "" || admin == "off" {
		return m, func() {}, nil
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", admin)
	if err != nil {
		return nil, nil, listenFailed("replay.admin", admin, err)
	}
	stop, err := serveReplay(ctx, ln, m)
	if err != nil {
		return nil, nil, errors.Join(err, ln.Close())
	}
	r.s.note("esshadow replay: admin on %s", ln.Addr())
	return m, func() {
		if err := stop(); err != nil {
			r.s.note("esshadow replay: warning: %v", err)
		}
	}, nil
}

// identify asks the target who it is, and refuses the source itself.
func (r *replayCmd) identify(ctx context.Context, info capture.Info) (es.Identity, error) {
	id, err := replay.Identify(ctx, r.set.cfg.Replay.Target.TargetConfig)
	if err != nil {
		return id, refused(err)
	}
	for _, m := range info.Metas {
		if m.Source == nil {
			continue
		}
		if err := replay.Distinct(id, m.Source.UUID); err != nil {
			return id, refused(err)
		}
	}
	return id, nil
}

// mapper is the capture's id rule, where its key is given.
func (r *replayCmd) mapper(info capture.Info) (es.Mapper, error) {
	path := r.set.cfg.Replay.Key
	if path == "" {
		return es.Mapper{}, nil
	}
	key, err := readKey(path, r.s.in)
	if err != nil {
		return es.Mapper{}, fmt.Errorf("replay.key: %w", err)
	}
	for _, id := range info.KeyIDs {
		if id != key.ID() {
			return es.Mapper{}, fmt.Errorf("replay.key: %s is key %s, the capture was made with key %s", path, key.ID(), id)
		}
	}
	if err := loadRuleFile(r.s, &r.set.cfg.Sanitize, false); err != nil { // ids depend on no schema
		return es.Mapper{}, err
	}
	pipe, err := idRule(r.set.cfg.Sanitize.Config, key, info)
	if err != nil {
		return es.Mapper{}, err
	}
	return sharedMapper(pipe.Worker()), nil
}

// idRule is the capture's rule for ids, made again from its header.
func idRule(cfg sanitize.Config, key sanitize.Key, info capture.Info) (*sanitize.Pipeline, error) {
	if len(info.Metas) == 0 {
		return sanitize.New(cfg, key, nil)
	}
	m := info.Metas[0]
	cfg.Preset = m.Preset
	var salt []byte
	if m.Salt != "" { // pseudonyms that hold for this capture alone
		cfg.Scope = "capture"
		var err error
		if salt, err = hex.DecodeString(m.Salt); err != nil {
			return nil, errors.New("replay.key: the capture's salt is damaged")
		}
	}
	pipe, err := sanitize.New(cfg, key, salt)
	if err == nil && m.Rules != "" && pipe.RulesHash() != m.Rules {
		return nil, errors.New("replay.key: the capture was made with rules of its own: name the configuration file that it was made with by --config")
	}
	return pipe, err
}

// sharedMapper makes one worker's rules usable by several goroutines.
func sharedMapper(w *sanitize.Worker) es.Mapper {
	var mu sync.Mutex
	return es.Mapper{ID: func(dst, id []byte) []byte {
		mu.Lock()
		defer mu.Unlock()
		return w.MapID(dst, id)
	}}
}

func sourceOf(info capture.Info) es.Identity {
	for _, m := range info.Metas {
		if m.Source != nil {
			return es.Identity{UUID: m.Source.UUID, Version: m.Source.Version, Flavor: m.Source.Flavor}
		}
	}
	return es.Identity{}
}

func presetOf(info capture.Info) string {
	if len(info.Metas) > 0 {
		return info.Metas[0].Preset
	}
	return ""
}

func keyOf(info capture.Info) string {
	if len(info.KeyIDs) > 0 {
		return info.KeyIDs[0]
	}
	return ""
}
