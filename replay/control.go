package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	elasticsearch "github.com/elastic/go-elasticsearch/v8"

	"github.com/esshadow/esshadow/internal/es"
)

// Errors of a target that is not replayed to: the process ends with code 5.
var (
	ErrTargetUnreachable  = errors.New("the target cannot be reached")
	ErrTargetUnauthorised = errors.New("the target refuses the credentials")
	ErrTargetUnknown      = errors.New("the target does not answer as a search engine")
	ErrTargetAnswer       = errors.New("the target's answer is too large")
	ErrTargetIsProxy      = errors.New("the target is an esshadow proxy: what is replayed would be captured again")
	ErrTargetIsSource     = errors.New("the target is the cluster that was captured")
)

// ProbeHeader asks an esshadow proxy to say that it is one: it then answers
// GET / itself, with an object that has the member "esshadow". A cluster passes
// over the header.
const ProbeHeader = "Esshadow-Probe"

// controlAnswer bounds what is read of an answer on the control plane.
const controlAnswer = 1 << 20

// Identify asks the target what it is. It refuses an esshadow proxy, and errors
// wrap one of the ErrTarget values.
func Identify(ctx context.Context, cfg TargetConfig) (es.Identity, error) {
	c, err := newControl(cfg)
	if err != nil {
		return es.Identity{}, err
	}
	defer c.transport.CloseIdleConnections()
	status, body, err := c.get(ctx, "/")
	if err != nil {
		return es.Identity{}, err
	}
	if status == http.StatusOK {
		if isProxy(body) {
			return es.Identity{}, ErrTargetIsProxy
		}
		if id, err := es.ParseIdentity(body); err == nil {
			return id, nil
		}
	}
	return c.pieceTogether(ctx)
}

// Distinct is ErrTargetIsSource where the target's cluster is the captured one.
// An empty uuid proves nothing.
func Distinct(target es.Identity, sourceUUID string) error {
	if sourceUUID != "" && sourceUUID != "_na_" && target.UUID == sourceUUID {
		return ErrTargetIsSource
	}
	return nil
}

func isProxy(body []byte) bool {
	var mark struct {
		Esshadow json.RawMessage `json:"esshadow"`
	}
	return json.Unmarshal(body, &mark) == nil && mark.Esshadow != nil
}

// control is the control plane: the official client, which is never used for
// what is replayed.
type control struct {
	client    *elasticsearch.BaseClient
	transport *http.Transport
	limit     int64 // of an answer, in bytes
}

func newControl(cfg TargetConfig) (*control, error) {
	u, err := cfg.parseURL()
	if err != nil {
		return nil, err
	}
	t := &http.Transport{ResponseHeaderTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second, DisableCompression: true}
	if u.Scheme == "https" {
		if t.TLSClientConfig, err = cfg.tlsConfig(u.Hostname()); err != nil {
			return nil, err
		}
	}
	client, err := elasticsearch.NewBaseClient(elasticsearch.Config{
		Addresses:    []string{cfg.URL},
		DisableRetry: true, DisableMetaHeader: true,
		Transport: &controlTrip{next: t, authorization: cfg.authorization()},
	})
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return &control{client: client, transport: t, limit: controlAnswer}, nil
}

// controlTrip sends plain JSON requests, whatever the client's environment asks
// for, and passes any maker's engine through the client's check for the name of
// one.
type controlTrip struct {
	next          http.RoundTripper
	authorization string
}

func (t *controlTrip) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "esshadow")
	req.Header.Set(ProbeHeader, "1")
	if t.authorization != "" {
		req.Header.Set("Authorization", t.authorization)
	}
	res, err := t.next.RoundTrip(req)
	if err == nil {
		res.Header.Set("X-Elastic-Product", "Elasticsearch")
	}
	return res, err
}

// get returns the status and body of an answer that is neither a failure nor a
// refusal of the credentials.
func (c *control) get(ctx context.Context, target string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return 0, nil, err
	}
	res, err := c.client.Perform(req)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrTargetUnreachable, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, c.limit+1))
	switch {
	case int64(len(body)) > c.limit:
		return 0, nil, fmt.Errorf("%w: more than %d bytes", ErrTargetAnswer, c.limit)
	case err != nil:
		return 0, nil, fmt.Errorf("%w: %w", ErrTargetUnreachable, err)
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return 0, nil, fmt.Errorf("%w (status %d)", ErrTargetUnauthorised, res.StatusCode)
	case res.StatusCode == http.StatusBadGateway, res.StatusCode == http.StatusServiceUnavailable, res.StatusCode == http.StatusGatewayTimeout:
		return 0, nil, fmt.Errorf("%w (status %d)", ErrTargetUnreachable, res.StatusCode)
	}
	return res.StatusCode, body, nil
}

// pieceTogether finds the identity where GET / does not give it: a node from
// plain jars lacks that endpoint, some services hide it.
func (c *control) pieceTogether(ctx context.Context) (es.Identity, error) {
	var id es.Identity
	status, body, err := c.get(ctx, "/_nodes/_local?filter_path=nodes.*.version,nodes.*.build_flavor")
	if err != nil {
		return id, err
	}
	var nodes struct {
		Nodes map[string]struct {
			Version string `json:"version"`
			Flavor  string `json:"build_flavor"`
		} `json:"nodes"`
	}
	if status != http.StatusOK || json.Unmarshal(body, &nodes) != nil || len(nodes.Nodes) == 0 {
		return id, ErrTargetUnknown
	}
	for _, n := range nodes.Nodes {
		id.Version, id.Flavor = n.Version, es.FlavorUnknown
		// Elasticsearch's nodes name a build flavour, OpenSearch's do not.
		if n.Flavor != "" {
			id.Flavor = es.FlavorElasticsearch
		}
	}
	major, _, _ := strings.Cut(id.Version, ".")
	_, _ = fmt.Sscan(major, &id.Major)
	status, body, err = c.get(ctx, "/_cluster/state/metadata?filter_path=cluster_uuid")
	if err != nil {
		return id, err
	}
	var state struct {
		UUID string `json:"cluster_uuid"`
	}
	if status == http.StatusOK && json.Unmarshal(body, &state) == nil {
		id.UUID = state.UUID
	}
	return id, nil
}
