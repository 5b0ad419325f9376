package main

import (
	"net"

	"github.com/esshadow/esshadow/internal/sandbox"
	"github.com/spf13/cobra"
)

func newSandboxCmd(s *streams) *cobra.Command {
	var listen string
	var slow []string
	var o sandbox.Options
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
		RunE: func(c *cobra.Command, _ []string) error {
			for _, text := range slow {
				shape, err := sandbox.ParseSlowShape(text)
				if err != nil {
					return usage("--slow: %w", err)
				}
				o.Faults.Slow = append(o.Faults.Slow, shape)
			}
			ln, err := net.Listen("tcp", listen)
			if err != nil {
				return err
			}
			e := sandbox.New(o)
			defer e.Close()
			s.note("esshadow sandbox: listening on %s (for trying and testing only)", ln.Addr())
			return e.Serve(c.Context(), ln)
		},
	}
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:9200", "`address` to serve on")
	f.DurationVar(&o.Faults.Latency, "latency", 0, "delay of every answer")
	f.StringArrayVar(&slow, "slow", nil, "delay searches of a shape: `kind:field=delay` or agg:kind:field=delay; repeatable")
	f.IntVar(&o.Faults.DropEvery, "drop-every", 0, "acknowledge but do not keep every `n`-th document")
	f.IntVar(&o.Faults.RejectEvery, "reject-every", 0, "answer every `n`-th request with 429")
	f.IntVar(&o.MaxDocs, "max-docs", 1_000_000, "documents that are kept at most")
	return c
}
