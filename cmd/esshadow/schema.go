package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

// schemaAnswer bounds the answers that a schema is read from: clusters of many
// indices with many fields have mappings of tens of megabytes.
const schemaAnswer = 256 << 20

func newSchemaCmd(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "schema",
		Short:   "Read the fields and analysers of a cluster",
		Example: "  esshadow schema pull --from http://10.0.0.5:9200 -o schema.json",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSchemaPull(s))
	return c
}

// schemaPull is what the flags of pull say.
type schemaPull struct {
	s             *streams
	target        configs.Target
	index, output string
}

func newSchemaPull(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "pull --from URL",
		Short: "Write what a cluster says of its fields and analysers, without documents",
		Long: `pull asks a cluster for GET /INDEX/_mapping and GET /INDEX/_settings and writes
one JSON document: each field's path, type, analysers, normaliser, format and the
like, and the definitions of the analysers. Documents, other settings and the words
of synonym and stop word lists are not in it; names of fields and indices are.

'esshadow sanitize init --schema' drafts rules from it. Where a cluster does not
tell its settings, as serverless ones do not, the document says so.`,
		Example: `  esshadow schema pull --from http://10.0.0.5:9200 -o schema.json
  esshadow schema pull --from https://es:9200 --ca-cert ca.pem --user elastic --password-file pw --index 'logs-*,shop'`,
		Args: noArgs,
	}
	p := &schemaPull{s: s, target: configs.Target{TargetConfig: replay.DefaultTarget()}}
	f := c.Flags()
	f.StringVar(&p.target.URL, "from", "", "`URL` of the cluster")
	f.StringVar(&p.index, "index", "*", "indices: names, patterns, with commas; hidden ones only by name")
	f.StringVarP(&p.output, "output", "o", "-", "write to a new `file` instead of standard output")
	f.StringVar(&p.target.User, "user", "", "user `name`")
	f.StringVar(&p.target.PasswordFile, "password-file", "", "`file` with the user's password, - for standard input; or set ESSHADOW_SCHEMA_PULL_PASSWORD")
	f.StringVar(&p.target.APIKeyFile, "api-key-file", "", "`file` with an API key, base64 of id:key, - for standard input; or set ESSHADOW_SCHEMA_PULL_API_KEY")
	f.StringVar(&p.target.CACertFile, "ca-cert", "", "PEM `file` of the authorities that the certificate comes from")
	f.StringVar(&p.target.Fingerprint, "fingerprint", "", "SHA-256 of a certificate of the chain, in `hex`")
	f.BoolVar(&p.target.Insecure, "insecure", false, "do not check the certificate")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := p.complete(); err != nil {
			return &codeError{exitUsage, err}
		}
		if err := checkIdle(c, s, withoutTLS("", p.target.URL)); err != nil {
			return err
		}
		schema, err := p.pull(c.Context())
		if err != nil {
			return err
		}
		return writeOutput(s, p.output, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", " ")
			e.SetEscapeHTML(false)
			return e.Encode(schema)
		})
	}
	return c
}

// complete reads the files that flags name and checks the whole.
func (p *schemaPull) complete() error {
	if p.target.URL == "" {
		return errors.New("--from: want the URL of a cluster")
	}
	ofSchemaPull().fromEnv(p.s, &p.target)
	errs := ofSchemaPull().read(p.s, &p.target)
	return errors.Join(append(errs, configs.Under("pull.target", p.target.Validate()))...)
}

// pull asks the cluster.
func (p *schemaPull) pull(ctx context.Context) (es.Schema, error) {
	id, err := replay.Identify(ctx, p.target.TargetConfig)
	if errors.Is(err, replay.ErrTargetUnreachable) || errors.Is(err, replay.ErrTargetUnauthorised) {
		return es.Schema{}, refused(fmt.Errorf("--from: %w", err))
	}
	index := strings.ReplaceAll(url.PathEscape(p.index), "%2A", "*")
	status, mapping, err := replay.Ask(ctx, p.target.TargetConfig, "/"+index+"/_mapping?ignore_unavailable=true", schemaAnswer)
	if err != nil {
		return es.Schema{}, refused(fmt.Errorf("mapping: %w", err))
	}
	if status != http.StatusOK {
		return es.Schema{}, refused(fmt.Errorf("mapping: the cluster answers with status %d", status))
	}
	status, settings, err := replay.Ask(ctx, p.target.TargetConfig, "/"+index+"/_settings?ignore_unavailable=true&filter_path=*.settings.index.analysis", schemaAnswer)
	unread := ""
	switch {
	case errors.Is(err, replay.ErrTargetUnauthorised):
		unread = "refused"
	case err != nil:
		return es.Schema{}, refused(fmt.Errorf("settings: %w", err))
	case status != http.StatusOK:
		unread = fmt.Sprintf("status %d", status)
	}
	if unread != "" {
		settings = nil
		p.s.note("esshadow schema pull: warning: the cluster does not tell its analysers (%s); those that are not built in are taken for unknown", unread)
	}
	schema, err := es.ParseSchema(mapping, settings)
	if err != nil {
		return schema, err
	}
	if len(schema.Groups) == 0 {
		return schema, fmt.Errorf("--index: no index is named %s", p.index)
	}
	schema.Flavor, schema.Engine, schema.Unread = id.Flavor, id.Version, unread
	return schema, nil
}
