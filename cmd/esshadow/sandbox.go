package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/sandbox"
)

func newSandboxCmd(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "Run the embedded search engine, to try things on",
		Long: `sandbox serves a small search engine in memory that speaks the part of the
Elasticsearch API that trying and testing needs. It is not Elasticsearch and not
for data that matters: all is gone when it ends. The flags that make it slow or
forgetful are there to see what a replay's report says about such a target.`,
		Example: `  esshadow sandbox --listen 127.0.0.1:9200
  esshadow sandbox --slow match:title=30ms --drop-every 50`,
		Args: noArgs,
	}
	set := newSettings(c, s)
	cfg := &set.cfg.Sandbox
	c.PreRunE = func(c *cobra.Command, _ []string) error { return set.load(c) }
	c.RunE = graceful(func(ctx context.Context, _ []string) error { return runSandbox(ctx, s, *cfg) })
	f := c.Flags()
	f.StringVar(&cfg.Listen, "listen", cfg.Listen, "`address` to serve on")
	f.DurationVar(&cfg.Latency, "latency", cfg.Latency, "delay of every answer")
	f.StringSliceVar(&cfg.Slow, "slow", cfg.Slow, "delay searches of a shape: `kind:field=delay` or agg:kind:field=delay; repeatable")
	f.IntVar(&cfg.DropEvery, "drop-every", cfg.DropEvery, "acknowledge but do not keep every `n`-th document")
	f.IntVar(&cfg.RejectEvery, "reject-every", cfg.RejectEvery, "answer every `n`-th request with 429")
	f.IntVar(&cfg.MaxDocs, "max-docs", cfg.MaxDocs, "documents that are kept at most")
	return c
}

func runSandbox(ctx context.Context, s *streams, cfg configs.Sandbox) error {
	if err := cfg.Validate(); err != nil {
		return &codeError{exitUsage, configs.Under("sandbox", err)}
	}
	o := sandbox.Options{MaxDocs: cfg.MaxDocs, Faults: sandbox.Faults{
		Latency: cfg.Latency, DropEvery: cfg.DropEvery, RejectEvery: cfg.RejectEvery,
	}}
	var err error
	if o.Faults.Slow, err = slowShapes(cfg.Slow); err != nil {
		return &codeError{exitUsage, err}
	}
	ln, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return listenFailed("sandbox.listen", cfg.Listen, err)
	}
	e := sandbox.New(o)
	defer e.Close()
	s.note("esshadow sandbox: listening on %s (for trying and testing only)", ln.Addr())
	return e.Serve(ctx, ln)
}

// slowShapes reads what is to be slow.
func slowShapes(texts []string) (all []sandbox.SlowShape, err error) {
	var errs []error
	for _, text := range texts {
		shape, err := sandbox.ParseSlowShape(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("sandbox.slow: %w", err))
			continue
		}
		all = append(all, shape)
	}
	return all, errors.Join(errs...)
}
