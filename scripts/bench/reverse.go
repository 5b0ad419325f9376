package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"sync"
	"time"
)

// pieces lends the buffers that a ReverseProxy copies with.
type pieces struct{ pool sync.Pool }

func (p *pieces) Get() []byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, 32<<10)
}

func (p *pieces) Put(b []byte) { p.pool.Put(&b) }

// reverseProxy is what a Go programmer would write before a cluster and then
// tune: connections kept, buffers pooled, nothing packed or unpacked.
func reverseProxy(upstream netip.AddrPort) *http.Server {
	const idle = 1024 // the default keeps two, and makes a new one for most requests
	dial := net.Dialer{Timeout: 5 * time.Second, KeepAlive: time.Minute}
	to := &url.URL{Scheme: "http", Host: upstream.String()}
	return &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(to)
				r.Out.Host = r.In.Host
			},
			Transport: &http.Transport{
				DialContext: dial.DialContext, MaxIdleConnsPerHost: idle, IdleConnTimeout: time.Minute,
				DisableCompression: true, ReadBufferSize: 64 << 10, WriteBufferSize: 64 << 10,
			},
			BufferPool: &pieces{},
		},
	}
}

// runReverse passes on what comes until it is told to end.
func runReverse(ctx context.Context, args []string, progress io.Writer) error {
	f := flag.NewFlagSet("bench reverse", flag.ContinueOnError)
	f.SetOutput(progress)
	upstream := f.String("upstream", "", "`IP:PORT` to pass requests on to")
	if err := f.Parse(args); err != nil {
		return err
	}
	to, err := netip.ParseAddrPort(*upstream)
	if err != nil {
		return fmt.Errorf("-upstream: %w", err)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := reverseProxy(to)
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	_, _ = fmt.Fprintf(progress, "listening on %s\n", ln.Addr())
	if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
