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
	section string // of the configuration: replay.target
	env     string // what its variables begin with: ESSHADOW_REPLAY
}

func ofReplay() secretSource     { return secretSource{"replay.target", "ESSHADOW_REPLAY"} }
func ofMirror() secretSource     { return secretSource{"mirror.target", "ESSHADOW_PROXY_MIRROR"} }
func ofSchemaPull() secretSource { return secretSource{"pull.target", "ESSHADOW_SCHEMA_PULL"} }

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
	secret := func(key, path string, to *replay.Secret) {
		if path == "" {
			return
		}
		text, err := readInput(path, s.in)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s.%s: %w", x.section, key, err))
			return
		}
		if *to = replay.Secret(strings.TrimRight(string(text), "\r\n")); *to == "" {
			errs = append(errs, fmt.Errorf("%s.%s: %s is empty, and without it nothing would be asked with credentials", x.section, key, path))
		}
	}
	secret("password_file", t.PasswordFile, &t.Password)
	secret("api_key_file", t.APIKeyFile, &t.APIKey)
	if t.CACertFile != "" {
		var err error
		if t.CACert, err = os.ReadFile(t.CACertFile); err != nil {
			errs = append(errs, fmt.Errorf("%s.ca_cert: %w", x.section, err))
		}
	}
	if t.URL != "" && t.User != "" && t.Password == "" && t.PasswordFile == "" && t.APIKey == "" && t.APIKeyFile == "" {
		errs = append(errs, fmt.Errorf("%s.user: needs a password: password_file FILE, or %s_PASSWORD in the environment", x.section, x.env))
	}
	return errs
}

// indexMap replaces an index map by the rules that a flag gave, if it gave any.
func indexMap(rules []string, section string, to *[]replay.IndexRule) error {
	if len(rules) == 0 {
		return nil
	}
	*to = nil
	var errs []error
	for _, text := range rules {
		rule, err := replay.ParseIndexRule(text)
		if err != nil {
			errs = append(errs, configs.Under(section, err))
			continue
		}
		*to = append(*to, rule)
	}
	return errors.Join(errs...)
}
