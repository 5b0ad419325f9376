package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/sanitize"
)

var _ capture.Sanitizer = (*sanitize.Worker)(nil)

// policy is what sanitises, for the capture and for the mirror alike.
type policy struct {
	pipe   *sanitize.Pipeline
	mirror *sanitize.Pipeline // another beside a capture: what detectors find counts once
	meta   segment.Meta       // of the capture
}

// makePolicy reads rules and key.
func (g *gateway) makePolicy(s *streams, set *settings) (policy, error) {
	cfg := &set.cfg
	if err := loadRules(s, &cfg.Sanitize, set.presetSaid); err != nil {
		return policy{}, err
	}
	key, err := loadKey(cfg.Sanitize.Key, s.in)
	if err != nil {
		return policy{}, &codeError{exitUsage, err}
	}
	if cfg.Sanitize.Key == "" && pipeNeedsKey(cfg.Sanitize.Preset) {
		g.log.Warn("no --key: pseudonyms are made with a key for this process alone and agree with those of no other; it is gone at the end")
	}
	meta, salt, err := captureMeta()
	if err != nil {
		return policy{}, err
	}
	if err := cfg.Sanitize.Config.Validate(); err != nil {
		return policy{}, &codeError{exitUsage, configs.Under("sanitize", err)}
	}
	pipe, err := sanitize.New(cfg.Sanitize.Config, key, salt)
	if err != nil {
		return policy{}, &codeError{exitUsage, err}
	}
	g.pipe = pipe
	twin := pipe
	if cfg.Capture.Files.Dir != "" && cfg.Mirror.On() {
		if twin, err = sanitize.New(cfg.Sanitize.Config, key, salt); err != nil {
			return policy{}, &codeError{exitUsage, err}
		}
	}
	if pipe.Scope() == "project" {
		meta.Salt = "" // pseudonyms do not depend on it
	}
	meta.Schema = pipe.SchemaHash()
	meta.KeyID, meta.Rules, meta.Preset = pipe.KeyID(), pipe.RulesHash(), cfg.Sanitize.Preset
	meta.Scheme, meta.Plaintext = strconv.Itoa(sanitize.Scheme), cfg.Sanitize.Preset == sanitize.PresetOff
	if meta.Plaintext {
		g.log.Warn("preset off: requests are written to the disk as they are, personal data included")
	}
	return policy{pipe, twin, meta}, nil
}

// startTaps makes what is given a copy of the traffic: the capture, the mirror.
func (g *gateway) startTaps(ctx context.Context, s *streams, set *settings) error {
	cfg := &set.cfg
	if cfg.Capture.Files.Dir == "" && !cfg.Mirror.On() {
		return nil
	}
	if err := g.checkTaps(cfg); err != nil {
		return err
	}
	g.source = &sourceCluster{cfg: cfg.Proxy, log: g.log}
	var ask askTarget
	if cfg.Mirror.On() {
		var err error
		if ask, err = g.checkMirror(ctx, cfg); err != nil {
			return err
		}
	}
	p, err := g.makePolicy(s, set)
	if err != nil {
		return err
	}
	g.writer = p.meta.Writer
	if cfg.Capture.Files.Dir != "" {
		if err := g.startCapture(ctx, p, s, cfg); err != nil {
			return err
		}
	}
	if cfg.Mirror.On() {
		return g.startMirror(ctx, p, ask, s, set)
	}
	return nil
}

// checkTaps names what is wrong with the settings before anything is begun.
func (g *gateway) checkTaps(cfg *configs.Config) error {
	errs := []error{configs.Under("capture", cfg.Capture.Config.Validate())}
	if cfg.Capture.Files.Dir != "" {
		errs = append(errs, configs.Under("capture", cfg.Capture.Files.Validate()))
	}
	if cfg.Mirror.On() {
		errs = append(errs, configs.Under("mirror", cfg.Mirror.Config.Validate()),
			configs.Under("mirror.target", cfg.Mirror.Target.TargetConfig.Validate()))
	}
	if err := errors.Join(errs...); err != nil {
		return &codeError{exitUsage, err}
	}
	return nil
}

// startCapture makes the recorder: the files' header, workers.
func (g *gateway) startCapture(ctx context.Context, p policy, s *streams, cfg *configs.Config) error {
	to, err := segment.ParseRecipients(cfg.Sanitize.Recipients)
	if err != nil {
		return usage("sanitize.recipients: %w", err)
	}
	if err := writable(cfg.Capture.Files.Dir); err != nil {
		return usage("capture.dir: %w", err)
	}
	meta := p.meta
	id := g.source.ask(ctx)
	if known := cfg.Sanitize.Snapshot; known != nil && id.Version != "" && known.Engine != "" && known.Engine != id.Version {
		g.log.Warn("the schema was pulled from an engine of another version: pull it again")
	}
	if id.UUID != "" {
		meta.Source = &segment.Source{UUID: id.UUID, Version: id.Version, Flavor: id.Flavor}
	}
	g.recorder, err = capture.NewRecorder(cfg.Capture.Config, capture.Options{
		Open:         capture.OpenSegments(cfg.Capture.Files, meta, g.log, segment.WithRecipients(to)),
		NewSanitizer: func() capture.Sanitizer { return p.pipe.Worker() },
		Log:          g.log,
		Wide:         widener(s.env),
	})
	if err == nil {
		g.held = append(g.held, g.recorder.QueueBytes)
	}
	return err
}

// pipeNeedsKey tells that a preset makes pseudonyms.
func pipeNeedsKey(preset string) bool {
	return preset != sanitize.PresetOff && preset != sanitize.PresetSealed
}

// writable makes the directory where it is missing and tries it: a recorder
// waits for a disk that comes back, but a wrong path should be told at once.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".esshadow-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// loadRules replaces the rules of the configuration by those of a file, and reads
// the schema.
func loadRules(s *streams, c *configs.Sanitize, presetSaid bool) error {
	named := "sanitize.schema"
	if c.Rules != "" && c.Schema == "" {
		named = c.Rules + ": schema"
	}
	if err := loadRuleFile(s, c, presetSaid); err != nil {
		return err
	}
	return loadSchema(s, named, &c.Config)
}

// loadRuleFile is loadRules without the schema. A preset that was said by flag or
// environment stays, as does a schema that was named elsewhere than in the file.
func loadRuleFile(s *streams, c *configs.Sanitize, presetSaid bool) error {
	if c.Rules == "" {
		return nil
	}
	text, err := readInput(c.Rules, s.in)
	if err != nil {
		return usage("sanitize.rules: %w", err)
	}
	rules, err := configs.LoadRules(c.Rules, text)
	if err != nil {
		return &codeError{exitUsage, err}
	}
	rules.AcceptPlaintext = c.AcceptPlaintext
	if presetSaid {
		rules.Preset = c.Preset
	}
	if c.Schema != "" {
		rules.Schema = c.Schema
	} else {
		rules.Schema = beside(c.Rules, rules.Schema)
	}
	c.Config = rules
	return nil
}

// beside is the path of a file that a file of rules names: relative to it.
func beside(rules, path string) string {
	if path == "" || path == "-" || rules == "-" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(rules), path)
}

// loadSchema reads the file that the rules or --schema name; named says which.
func loadSchema(s *streams, named string, c *sanitize.Config) error {
	if c.Schema == "" {
		return nil
	}
	text, err := readInput(c.Schema, s.in)
	if err != nil {
		return usage("%s: %w", named, err)
	}
	schema, err := es.DecodeSchema(text)
	if err != nil {
		return usage("%s: %s: %w; 'esshadow schema pull' writes one", named, c.Schema, err)
	}
	c.Snapshot = &schema
	return nil
}

func loadKey(path string, stdin io.Reader) (sanitize.Key, error) {
	if path == "" {
		return sanitize.EphemeralKey()
	}
	key, err := readKey(path, stdin)
	if err != nil {
		return key, fmt.Errorf("sanitize.key: %w", err)
	}
	return key, nil
}

// readKey reads a key file, or standard input for "-".
func readKey(path string, stdin io.Reader) (sanitize.Key, error) {
	if path != onStdin {
		return sanitize.LoadKey(path)
	}
	text, err := io.ReadAll(io.LimitReader(stdin, 4096))
	if err != nil {
		return sanitize.Key{}, fmt.Errorf("standard input: %w", err)
	}
	defer clear(text)
	key, err := sanitize.ParseKey(text)
	if err != nil {
		return key, fmt.Errorf("standard input: %w", err)
	}
	return key, nil
}

// captureMeta names a new capture by the time, with a random part, and draws its
// salt.
func captureMeta() (segment.Meta, []byte, error) {
	var b [36]byte
	if _, err := rand.Read(b[:]); err != nil {
		return segment.Meta{}, nil, fmt.Errorf("random numbers: %w", err)
	}
	salt := b[4:]
	return segment.Meta{
		Capture: "es-" + time.Now().UTC().Format("20060102"),
		Writer:  hex.EncodeToString(b[:4]),
		Salt:    hex.EncodeToString(salt),
	}, salt, nil
}

// reasons writes counts by reason in brackets, largest first, with a space before
// them; nothing where there are none.
func reasons(m map[string]uint64) string {
	if len(m) == 0 {
		return ""
	}
	return " (" + counted(m) + ")"
}

// counted writes counts by name, largest first: "search 82, get 40"; "-" where
// there are none.
func counted(m map[string]uint64) string {
	if len(m) == 0 {
		return "-"
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, m[k])
	}
	return strings.Join(keys, ", ")
}
