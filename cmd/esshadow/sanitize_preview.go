package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/sanitize"
)

// rulesFlags are the flags that choose a pipeline.
type rulesFlags struct {
	preset, rules, key, schema string
}

func (r *rulesFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.preset, "preset", "strict", "sanitising preset: strict, fidelity, ecs-logs, commerce or shape-only")
	f.StringVarP(&r.rules, "rules", "c", "", "sanitising rules `file`; its preset gives way to --preset")
	f.StringVar(&r.schema, "schema", "", "what 'esshadow schema pull' wrote of the source: `file`; before the one that the rules name")
	f.StringVar(&r.key, "key", "", "pseudonym key `file`; absent: a key for this process alone")
}

// checkPreset refuses the preset that has no rules to try.
func (r *rulesFlags) checkPreset() error {
	if r.preset == sanitize.PresetOff {
		return usage("--preset: off replaces nothing, so there is nothing to try: want strict, fidelity, ecs-logs, commerce or shape-only")
	}
	return nil
}

// pipeline builds what a proxy with the same flags would sanitise with.
func (r *rulesFlags) pipeline(c *cobra.Command, s *streams) (*sanitize.Pipeline, error) {
	if err := r.checkPreset(); err != nil {
		return nil, err
	}
	if r.key == onStdin || r.rules == onStdin || r.schema == onStdin {
		return nil, usage("-: standard input holds what is to be sanitised: give files for key, rules and schema")
	}
	cfg := configs.Sanitize{Config: sanitize.Default(), Rules: r.rules}
	cfg.Preset, cfg.Schema = r.preset, r.schema
	if err := loadRules(s, &cfg, said(c, s, "preset")); err != nil {
		return nil, err
	}
	key, err := loadKey(r.key, s.in)
	if err != nil {
		return nil, &codeError{exitUsage, err}
	}
	_, salt, err := captureMeta()
	if err != nil {
		return nil, err
	}
	p, err := sanitize.New(cfg.Config, key, salt)
	if err != nil {
		return nil, &codeError{exitUsage, err}
	}
	return p, nil
}

func newSanitizePreview(s *streams) *cobra.Command {
	var r rulesFlags
	c := &cobra.Command{
		Use:   "preview",
		Short: "Show what would be stored of a request from standard input",
		Long: `preview reads one request and prints what a capture would hold of it, or the reason
for which nothing would be stored. The request is read from standard input, in
either form:

  {"method":"POST","path":"/x/_search","headers":{"X-Opaque-Id":"me"},"body":{"query":{}}}

  POST /x/_search
  X-Opaque-Id: me

  {"query":{}}

A body that is a string is taken as the body's text, as _bulk and _msearch need it.
Nothing is written to the disk, and the request itself is never printed.

Exit codes: 0 it would be stored; 3 it would be dropped.`,
		Example: "  printf 'GET /x/_search?q=anna' | esshadow sanitize preview --preset fidelity",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := r.pipeline(c, s)
			if err != nil {
				return err
			}
			text, err := io.ReadAll(io.LimitReader(s.in, 256<<20))
			if err != nil {
				return err
			}
			x, err := parseRequest(text)
			if err != nil {
				return usage("standard input: %w", err)
			}
			x.Time = time.Now().UnixNano() // what now in it means
			return preview(s, p, x)
		},
	}
	r.add(c)
	return c
}

func preview(s *streams, p *sanitize.Pipeline, x *capture.Exchange) error {
	var rec capture.Record
	if drop := p.Worker().Sanitize(&rec, x); drop != "" {
		fmt.Fprintf(s.out, "dropped: %s\n", drop)
		return &codeError{code: exitFindings}
	}
	fmt.Fprintf(s.out, "%s %s\n", rec.Method, rec.Target)
	for _, h := range rec.Header {
		fmt.Fprintf(s.out, "%s: %s\n", h.Name, h.Value)
	}
	if len(rec.Body) > 0 {
		fmt.Fprintf(s.out, "\n%s\n", bytes.TrimSuffix(rec.Body, []byte{'\n'}))
	}
	s.note("operation %s, fidelity %s%s", rec.Op, rec.Fidelity, inBrackets(rec.FidWhy))
	return nil
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// parseRequest reads a request in JSON or as text. Errors quote nothing.
func parseRequest(text []byte) (*capture.Exchange, error) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if bytes.HasPrefix(text, []byte{'{'}) {
		return parseJSONRequest(text)
	}
	line, rest, _ := bytes.Cut(text, []byte{'\n'})
	words := strings.Fields(string(line))
	if len(words) < 2 || !strings.HasPrefix(words[1], "/") && !strings.Contains(words[1], "://") {
		return nil, errors.New("want a JSON object, or a first line of method and path")
	}
	x := &capture.Exchange{Method: words[0], Target: words[1]}
	for len(rest) > 0 {
		if c := bytes.TrimLeft(rest, " \t")[:min(1, len(bytes.TrimLeft(rest, " \t")))]; len(c) == 1 && (c[0] == '{' || c[0] == '[') {
			break
		}
		line, more, _ := bytes.Cut(rest, []byte{'\n'})
		rest = more
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			return nil, errors.New("a line between the first and the body is no header")
		}
		x.Header = append(x.Header, capture.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	setBody(x, rest)
	return x, nil
}

func parseJSONRequest(text []byte) (*capture.Exchange, error) {
	var r struct {
		Method, Path string
		Headers      map[string]string
		Body         json.RawMessage
	}
	if err := json.Unmarshal(text, &r); err != nil || r.Method == "" || r.Path == "" {
		return nil, errors.New("want a JSON object with method, path, and if need be headers and body")
	}
	x := &capture.Exchange{Method: r.Method, Target: r.Path}
	for _, k := range slices.Sorted(maps.Keys(r.Headers)) {
		x.Header = append(x.Header, capture.Header{Name: k, Value: r.Headers[k]})
	}
	body := []byte(r.Body)
	if len(body) > 0 && body[0] == '"' {
		var s string
		if err := json.Unmarshal(body, &s); err != nil {
			return nil, errors.New("body: not a JSON string")
		}
		body = []byte(s)
	}
	if string(body) == "null" {
		body = nil
	}
	setBody(x, body)
	return x, nil
}

// setBody gives a request its body, and the content type that people leave out.
func setBody(x *capture.Exchange, body []byte) {
	if len(bytes.TrimSpace(body)) == 0 {
		return
	}
	x.Body, x.BodySize = body, int64(len(body))
	for _, h := range x.Header {
		if textproto.CanonicalMIMEHeaderKey(h.Name) == "Content-Type" {
			return
		}
	}
	media := "application/json"
	if path, _, _ := strings.Cut(x.Target, "?"); strings.HasSuffix(path, "/_bulk") || strings.HasSuffix(path, "/_msearch") {
		media = "application/x-ndjson"
	}
	x.Header = append(x.Header, capture.Header{Name: "Content-Type", Value: media})
}
