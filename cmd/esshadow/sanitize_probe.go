package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/sanitize/audit"
	"github.com/esshadow/esshadow/sanitize/canary"
)

func newSanitizeCanary(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "canary",
		Short: "Probe a running proxy: send random marks through it, then look for them in its capture",
		Example: `  esshadow sanitize canary send --via http://127.0.0.1:9280 --marks marks
  esshadow sanitize canary verify /var/lib/esshadow --marks marks`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCanarySend(s), newCanaryVerify(s))
	return c
}

// probe is what canary send is asked for.
type probe struct {
	via, marks, index string
	insecure          bool
	timeout           time.Duration
}

func newCanarySend(s *streams) *cobra.Command {
	var p probe
	c := &cobra.Command{
		Use:   "send --via URL --marks FILE",
		Short: "Send requests with random marks through a proxy",
		Long: `send asks for an index that need not be there, with random marks in every position
that a request which changes nothing can have: ids, parameters, headers, query
clauses, names, suggesters, sorts. The marks are kept in this process only; FILE,
which must not be there yet, gets their HMACs and the HMACs' key, mode 0600.`,
		Example: "  esshadow sanitize canary send --via http://127.0.0.1:9280 --marks marks",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkIdle(c, s, withoutTLS("", p.via)); err != nil {
				return err
			}
			return p.send(c.Context(), s)
		},
	}
	f := c.Flags()
	f.StringVar(&p.via, "via", "", "`URL` of the proxy")
	f.StringVar(&p.marks, "marks", "", "new `file` for what is needed to recognise the marks")
	f.StringVar(&p.index, "index", "esshadow-canary", "index that is asked for")
	f.BoolVar(&p.insecure, "insecure", false, "do not check the proxy's certificate")
	f.DurationVar(&p.timeout, "timeout", 10*time.Second, "for each request")
	return c
}

func (p *probe) send(ctx context.Context, s *streams) error {
	u, err := url.Parse(p.via)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usage("--via: want the URL of a proxy, such as http://127.0.0.1:9280")
	}
	if p.marks == "" {
		return usage("--marks: want a file")
	}
	marks, err := canary.NewMarks(time.Now())
	if err != nil {
		return err
	}
	cases, err := marks.Probe(p.index)
	if err != nil {
		return err
	}
	text, err := json.Marshal(marks)
	if err != nil {
		return err
	}
	if err := createPrivate(p.marks, append(text, '\n')); err != nil {
		return usage("--marks: %w", err)
	}
	client := &http.Client{Timeout: p.timeout, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: p.insecure}, //nolint:gosec // the flag says so
	}}
	defer client.CloseIdleConnections()
	answered, failed, unsent := 0, 0, 0
	for i := range cases {
		if err := sendCase(ctx, client, strings.TrimSuffix(p.via, "/"), &cases[i]); err != nil {
			failed++
			if noWay := (*net.OpError)(nil); errors.As(err, &noWay) && noWay.Op == "dial" {
				unsent++
			}
			continue
		}
		answered++
	}
	if unsent == len(cases) { // no mark left this process: the next try can have the file
		return errors.Join(refused(errors.New("no request was answered: the proxy cannot be reached")), os.Remove(p.marks))
	}
	s.note("esshadow canary: %d requests with %d marks sent, %d answered, %d failed; look for them with: esshadow sanitize canary verify CAPTURE --marks %s",
		len(cases), len(marks.Runs)/2, answered, failed, p.marks)
	if answered == 0 {
		return refused(errors.New("no request was answered")) // the cause may quote a mark
	}
	return nil
}

func sendCase(ctx context.Context, client *http.Client, via string, c *canary.Case) error {
	req, err := http.NewRequestWithContext(ctx, c.Method, via+c.Path, strings.NewReader(c.Body))
	if err != nil {
		return err
	}
	for k, v := range c.Headers {
		req.Header.Set(k, v)
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return errors.Join(err, res.Body.Close())
}

func newCanaryVerify(s *streams) *cobra.Command {
	var file string
	var also []string
	c := &cobra.Command{
		Use:   "verify CAPTURE... --marks FILE",
		Short: "Look for the marks of canary send in a capture",
		Long: `verify decodes a capture in all the ways of 'sanitize audit' and compares every run
of letters and of digits with the HMACs in FILE. Other files, such as the proxy's
log, are looked through with --also.

Exit codes: 0 no mark was found; 3 marks were found; 4 the capture has no record
from after the probe, or something could not be decoded.`,
		Example: "  esshadow sanitize canary verify /var/lib/esshadow --marks marks --also proxy.log",
		Args:    someArgs("capture"),
		RunE: func(_ *cobra.Command, paths []string) error {
			return verifyMarks(s, file, paths, also)
		},
	}
	c.Flags().StringVar(&file, "marks", "", "`file` that canary send wrote")
	c.Flags().StringArrayVar(&also, "also", nil, "text `file` to look through as well; repeatable")
	return c
}

func verifyMarks(s *streams, file string, paths, also []string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return usage("--marks: %w", err)
	}
	marks, err := canary.ParseMarks(text)
	if err != nil {
		return usage("--marks: %w", err)
	}
	files, err := allFiles(paths)
	if err != nil {
		return err
	}
	scan, err := audit.New(audit.Options{Runs: marks.Has})
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := scan.File(f); err != nil {
			return err
		}
	}
	for _, f := range also {
		text, err := os.ReadFile(f)
		if err != nil {
			return usage("--also: %w", err)
		}
		scan.Text(f, text)
	}
	r := scan.Report()
	if err := printAudit(s.out, r, len(marks.Runs)); err != nil {
		return err
	}
	since, err := recordsSince(files, marks.Sent)
	if err != nil {
		s.note("esshadow canary: the capture cannot be read: %v", err)
	}
	fmt.Fprintf(s.out, "%d records since the probe was sent\n", since)
	if since == 0 && r.Found == 0 {
		s.note("esshadow canary: nothing was captured since the probe: is this the proxy's capture?")
		return &codeError{code: exitUndecoded}
	}
	return verdict(r.Found, r.Undecoded)
}

// recordsSince counts the records that arrived after a time.
func recordsSince(files []string, from time.Time) (n int, err error) {
	src, err := capture.OpenSource(files, capture.SourceOptions{MixedKeys: true, From: from.UnixNano()})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	for {
		rec, err := src.Next()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if rec.Kind != capture.KindGap {
			n++
		}
	}
}
