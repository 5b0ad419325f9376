package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/sanitize"
)

// checkConfig says what the commands would refuse of a configuration file and of the
// files that it names.
func checkConfig(s *streams, name string, text []byte) error {
	cfg := configs.Default()
	if err := configs.Load(name, text, &cfg); err != nil {
		return err
	}
	named := checkNamed(s, &cfg) // first: what it reads is looked at with the rest
	return configs.Locate(name, text, errors.Join(cfg.Validate(), named))
}

// checkNamed looks at the files that a configuration names.
func checkNamed(s *streams, cfg *configs.Config) error {
	var errs []error
	tell := func(err error) { errs = append(errs, err) }
	p := cfg.Proxy
	if len(p.Upstreams) > 0 && withoutTLS("upstream-", p.Upstreams...).flags != nil { // then nobody reads them
		p.UpstreamTLS.CACert, p.UpstreamTLS.ClientCert, p.UpstreamTLS.ClientKey = "", "", ""
	}
	if p.Validate() == nil || len(p.Upstreams) == 0 { // else halves of pairs would be told twice
		tell(configs.Under("proxy", p.CheckFiles()))
	}
	if file := p.AdminTokenFile; file != "" {
		if _, _, err := readToken(file); err != nil { // it may come yet
			s.note("esshadow config check: warning: proxy.admin_token_file: %v: until it is put right, /control is refused to all", err)
		}
	}
	tell(checkDir("capture.dir", cfg.Capture.Files.Dir))
	tell(checkDir("mirror.out", cfg.Mirror.Out))
	tell(checkSanitize(s, cfg.Sanitize))
	for _, x := range []struct {
		source secretSource
		target *configs.Target
	}{{ofMirror(), &cfg.Mirror.Target}, {ofReplay(), &cfg.Replay.Target}} {
		x.source.fromEnv(s, x.target)
		errs = append(errs, x.source.read(s, notStdin(x.target))...)
	}
	if err := mirrorIsUpstream(cfg.Mirror.Target.URL, cfg.Proxy.Upstreams); cfg.Mirror.On() && err != nil {
		tell(fmt.Errorf("mirror.target.url: %w", err))
	}
	tell(checkReplay(s, cfg.Replay))
	_, err := slowShapes(cfg.Sandbox.Slow)
	tell(err)
	return errors.Join(errs...)
}

// notStdin lets go of what is read from standard input, which is the commands' alone.
func notStdin(t *configs.Target) *configs.Target {
	for _, path := range []*string{&t.PasswordFile, &t.APIKeyFile} {
		if *path == onStdin {
			*path = ""
			t.User = "" // that its password is missing is not known
		}
	}
	return t
}

// checkDir tells whether a directory could be made where it is missing.
func checkDir(key, dir string) error {
	for at := dir; at != ""; at = filepath.Dir(at) {
		st, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at:
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", key, err)
		case !st.IsDir():
			return fmt.Errorf("%s: %s is not a directory", key, at)
		}
		return nil
	}
	return nil
}

// checkSanitize reads rules, schema and key, and makes of them what sanitises.
func checkSanitize(s *streams, cfg configs.Sanitize) error {
	var errs []error
	for _, path := range []*string{&cfg.Rules, &cfg.Schema} {
		if *path == onStdin {
			*path = ""
		}
	}
	if err := loadRules(s, &cfg, false); err != nil {
		errs = append(errs, err)
	} else if cfg.Config.Validate() == nil { // else it is told with the rest
		_, err := anyPipeline(cfg.Config)
		errs = append(errs, err)
	}
	if _, err := segment.ParseRecipients(cfg.Recipients); err != nil {
		errs = append(errs, fmt.Errorf("sanitize.recipients: %w", err))
	}
	if cfg.Key != "" && cfg.Key != onStdin {
		_, err := loadKey(cfg.Key, s.in)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// checkReplay reads the files of a replay that are not its target's.
func checkReplay(s *streams, cfg configs.Replay) error {
	var errs []error
	if cfg.Key != "" && cfg.Key != onStdin {
		if _, err := sanitize.LoadKey(cfg.Key); err != nil {
			errs = append(errs, fmt.Errorf("replay.key: %w", err))
		}
	}
	if cfg.Identity != onStdin {
		_, err := identities("replay.identity", cfg.Identity, s.in)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
