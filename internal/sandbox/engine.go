package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	bleve "github.com/blevesearch/bleve_index_api"
	"go.uber.org/zap"
)

// Ties is how hits that are equal by score or sort criteria are ordered.
type Ties uint8

const (
	// TiesByID orders them by _id, then index.
	TiesByID Ties = iota
	// TiesByArrival orders them as Lucene does, by when the version of the
	// document was written. Two engines that hold the same documents under other
	// ids then agree, if both got them in the same order.
	TiesByArrival
)

// Options of an engine. The zero value is usable.
type Options struct {
	Name    string // node name; "sandbox"
	Cluster string // cluster_name; "esshadow-sandbox"
	UUID    string // cluster_uuid; random
	Version string // version.number; "8.19.0"
	MaxDocs int    // over all indices; 1 000 000
	MaxBody int64  // bytes of a request body, inflated; 100 MiB
	Ties    Ties
	Faults  Faults
	Now     func() time.Time // what "now" means in queries; time.Now
	Log     *zap.Logger      // nil: none
}

func (o *Options) fill() {
	set := func(to *string, def string) {
		if *to == "" {
			*to = def
		}
	}
	set(&o.Name, "sandbox")
	set(&o.Cluster, "esshadow-sandbox")
	set(&o.Version, "8.19.0")
	if o.UUID == "" {
		o.UUID = randomID(16)
	}
	if o.MaxDocs <= 0 {
		o.MaxDocs = 1_000_000
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 100 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
}

func randomID(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// Engine is one sandbox: a set of indices and the cursors over them. Its methods
// may be used by many goroutines at once.
type Engine struct {
	opts   Options
	routes map[string]map[string]endpoint
	faults faultState
	queue  *bleve.AnalysisQueue

	packers sync.Pool // of *gzip.Writer

	mu      sync.RWMutex
	indices map[string]*index
	docs    int    // living, over all indices
	serial  uint64 // of ids that the engine gives
	cursors cursors
	closed  bool
}

// New makes an empty engine. Close frees it.
func New(o Options) *Engine {
	o.fill()
	e := &Engine{opts: o, indices: map[string]*index{}, routes: routes(), queue: bleve.NewAnalysisQueue(max(1, runtime.GOMAXPROCS(0)))}
	e.cursors.open = map[string]*cursor{}
	e.SetFaults(o.Faults)
	return e
}

// UUID is the cluster_uuid that the engine answers with.
func (e *Engine) UUID() string { return e.opts.UUID }

// Close drops every index. Requests that come later are answered 503.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.closed = true
	for _, ix := range e.indices {
		ix.text.close()
	}
	e.indices = map[string]*index{}
	e.cursors.open = map[string]*cursor{}
	e.docs = 0
	e.queue.Close()
}

// Serve answers requests of ln until ctx ends, then finishes those in flight,
// for at most ten seconds, and closes ln. It returns nil then.
func (e *Engine) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{Handler: e.Handler(), ReadHeaderTimeout: 30 * time.Second, MaxHeaderBytes: 64 << 10, ErrorLog: zap.NewStdLog(zap.NewNop())}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	e.opts.Log.Info("sandbox serves; it is for trying and testing only")
	select {
	case err := <-served:
		return fmt.Errorf("sandbox: %w", err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := srv.Shutdown(end)
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	<-served //nolint:errcheck // what ended it is told by Shutdown
	if err != nil {
		return fmt.Errorf("sandbox: stop: %w", err)
	}
	return nil
}

// newID is an id for a document or cursor: it differs between engines.
func (e *Engine) newID() string {
	e.serial++
	b := binary.BigEndian.AppendUint64([]byte(e.opts.UUID), e.serial)
	return base64.RawURLEncoding.EncodeToString(b[max(0, len(b)-15):])
}

// resolve finds the indices of an expression: names, patterns, exclusions,
// _all. The caller holds mu.
func (e *Engine) resolve(expr string, p params) ([]*index, error) {
	chosen := map[string]bool{}
	if expr == "" || expr == "_all" {
		expr = "*"
	}
	for _, part := range strings.Split(expr, ",") {
		switch pattern, exclude := strings.CutPrefix(part, "-"); {
		case exclude || strings.Contains(part, "*"):
			for name := range e.indices {
				if glob(pattern, name) {
					chosen[name] = !exclude
				}
			}
		case e.indices[part] != nil:
			chosen[part] = true
		case !p.flag("ignore_unavailable"):
			return nil, noIndex(part)
		}
	}
	var out []*index
	for name, in := range chosen {
		if in {
			out = append(out, e.indices[name])
		}
	}
	if len(out) == 0 && p["allow_no_indices"] == "false" {
		return nil, noIndex(expr)
	}
	slices.SortFunc(out, func(a, b *index) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// makeIndex adds an index. The caller holds mu for writing.
func (e *Engine) makeIndex(name string) (*index, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if len(e.indices) >= maxIndices {
		return nil, failf(400, "validation_exception", "this action would add [1] shards, but this cluster currently has [%d]/[%d] maximum normal shards open;", maxIndices, maxIndices)
	}
	ix := newIndex(name, e.newID(), e.opts.Now().UnixMilli(), e.queue)
	e.indices[name] = ix
	return ix, nil
}

const maxIndices = 1000

func checkName(name string) error {
	why := ""
	switch {
	case name == "" || name == "." || name == "..":
		why = "must not be '.' or '..'"
	case strings.ContainsAny(name, `\/*?"<>|, #:`):
		why = `must not contain the following characters [' ','"','*',',','/','<','>','?','\','|','#',':']`
	case strings.ContainsAny(name[:1], "_-+"):
		why = "must not start with '_', '-', or '+'"
	case strings.ToLower(name) != name:
		why = "must be lowercase"
	case len(name) > 255:
		why = "index name is too long"
	default:
		return nil
	}
	f := failf(400, "invalid_index_name_exception", "Invalid index name [%s], %s", name, why)
	f.index = name
	return f
}

// refresh makes what was written searchable.
func (e *Engine) refresh(ixs []*index) error {
	dirty := false
	for _, ix := range ixs {
		dirty = dirty || len(ix.text.pending) > 0
	}
	if !dirty {
		return nil
	}
	for _, ix := range ixs {
		if e.indices[ix.name] != ix {
			continue
		}
		if err := e.flush(ix); err != nil {
			return err
		}
	}
	return nil
}

// flush indexes the waiting documents of one index. The caller holds mu for
// writing.
func (e *Engine) flush(ix *index) error {
	e.expire()
	snapshots := e.cursors.snapshots > 0
	if !snapshots {
		if err := ix.compact(); err != nil {
			return err
		}
	}
	return ix.text.flush(ix.m, func(d *doc) bool { return snapshots || ix.alive(d) })
}

// reading runs do on the indices of an expression, under the lock for reading
// and with everything searchable that was written before.
func (e *Engine) reading(expr string, p params, do func([]*index) error) error {
	e.mu.RLock()
	ixs, err := e.resolve(expr, p)
	if err == nil && !slices.ContainsFunc(ixs, func(ix *index) bool { return len(ix.text.pending) > 0 }) {
		defer e.mu.RUnlock()
		return do(ixs)
	}
	e.mu.RUnlock()
	if err != nil {
		return err
	}
	e.mu.Lock()
	if ixs, err = e.resolve(expr, p); err == nil {
		err = e.refresh(ixs)
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if ixs, err = e.resolve(expr, p); err != nil {
		return err
	}
	return do(ixs)
}
