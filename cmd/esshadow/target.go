package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/replay"
)

// secretsFromEnv takes what no flag may hold, from PREFIX_PASSWORD and
// PREFIX_API_KEY. Files win over it.
func secretsFromEnv(s *streams, prefix string, t *configs.Target) {
	if v, ok := s.env(prefix + "_PASSWORD"); ok {
		t.Password = replay.Secret(v)
	}
	if v, ok := s.env(prefix + "_API_KEY"); ok {
		t.APIKey = replay.Secret(v)
	}
}

// readTarget reads the files that a target's settings name. prefix is that of
// its flags.
func readTarget(s *streams, prefix string, t *configs.Target) (errs []error) {
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
