package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/replay"
)

// secretSource says where a target's secrets come from.
type secretSource struct {
	flags string // what its flags begin with: --, --mirror-
	env   string // what its variables begin with: ESSHADOW_REPLAY
}

func ofReplay() secretSource     { return secretSource{"--", "ESSHADOW_REPLAY"} }
func ofMirror() secretSource     { return secretSource{"--mirror-", "ESSHADOW_PROXY_MIRROR"} }
func ofSchemaPull() secretSource { return secretSource{"--", "ESSHADOW_SCHEMA_PULL"} }

// fromEnv takes what no flag may hold, from ENV_PASSWORD and ENV_API_KEY. Files
// win over it.
func (x secretSource) fromEnv(s *streams, t *configs.Target) {
	if v, ok := s.env(x.env + "_PASSWORD"); ok {
		t.Password = replay.Secret(v)
	}
	if v, ok := s.env(x.env + "_API_KEY"); ok {
		t.APIKey = replay.Secret(v)
	}
}

// read reads the files that a target's settings name, and says what is missing.
func (x secretSource) read(s *streams, t *configs.Target) (errs []error) {
	prefix := x.flags
	secret := func(flag, path string, to *replay.Secret) {
		if path == "" {
			return
		}
		text, err := readInput(path, s.in)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s%s: %w", prefix, flag, err))
			return
		}
		if *to = replay.Secret(strings.TrimRight(string(text), "\r\n")); *to == "" {
			errs = append(errs, fmt.Errorf("%s%s: %s is empty, and without it nothing would be asked with credentials", prefix, flag, path))
		}
	}
	secret("password-file", t.PasswordFile, &t.Password)
	secret("api-key-file", t.APIKeyFile, &t.APIKey)
	if t.CACertFile != "" {
		var err error
		if t.CACert, err = os.ReadFile(t.CACertFile); err != nil {
			errs = append(errs, fmt.Errorf("%sca-cert: %w", prefix, err))
		}
	}
	if t.URL != "" && t.User != "" && t.Password == "" && t.PasswordFile == "" && t.APIKey == "" && t.APIKeyFile == "" {
		errs = append(errs, fmt.Errorf("%suser: needs a password: %spassword-file FILE, or %s_PASSWORD in the environment", prefix, prefix, x.env))
	}
	return errs
}

// indexMap replaces an index map by the rules that a flag gave, if it gave any.
func indexMap(rules []string, flag string, to *[]replay.IndexRule) error {
	if len(rules) == 0 {
		return nil
	}
	*to = nil
	var errs []error
	for _, text := range rules {
		rule, err := replay.ParseIndexRule(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", flag, err))
			continue
		}
		*to = append(*to, rule)
	}
	return errors.Join(errs...)
}
