package es

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The flavours of a cluster. FlavorSandbox is esshadow's own embedded engine.
const (
	FlavorElasticsearch = "elasticsearch"
	FlavorOpenSearch    = "opensearch"
	FlavorServerless    = "serverless"
	FlavorSandbox       = "sandbox"
	FlavorUnknown       = "unknown"
)

// Identity is what a cluster says about itself.
type Identity struct {
	Flavor  string `json:"flavor"`
	Version string `json:"version"` // version.number; of no meaning for a serverless project
	Major   int    `json:"major"`   // 0 where Version does not begin with a number
	UUID    string `json:"uuid"`    // cluster_uuid
	Name    string `json:"name,omitempty"`
}

// ErrIdentity is an answer to GET / that is not the one of a search engine.
var ErrIdentity = errors.New("not the answer of a search engine")

// ParseIdentity reads the answer to GET /. The flavour stands in version's
// build_flavor or distribution, never in its number: OpenSearch 1 may call
// itself 7.10.2. Where it names neither (Elasticsearch before 6.3) the tagline
// decides, and a cluster without one is unknown.
func ParseIdentity(body []byte) (Identity, error) {
	p := identityReader{}
	p.t.Reset(body)
	if err := p.object(p.top); err != nil {
		return Identity{}, fmt.Errorf("identity: %w", err)
	}
	if k, err := p.t.Next(); err != nil || k.Kind != End {
		return Identity{}, fmt.Errorf("identity: %w", ErrTrailing)
	}
	if p.id.Version == "" {
		return Identity{}, fmt.Errorf("identity: %w", ErrIdentity)
	}
	p.id.Flavor = flavorOf(p.build, p.distribution, p.tagline)
	major, _, _ := strings.Cut(p.id.Version, ".")
	p.id.Major, _ = strconv.Atoi(major)
	return p.id, nil
}

func flavorOf(build, distribution, tagline string) string {
	switch {
	case build == "sandbox" || distribution == "esshadow-sandbox":
		return FlavorSandbox
	case distribution == "opensearch" || distribution == "" && strings.Contains(tagline, "OpenSearch"):
		return FlavorOpenSearch
	case build == "serverless":
		return FlavorServerless
	case distribution == "" && (build == "default" || build == "oss" || tagline == "You Know, for Search"):
		return FlavorElasticsearch
	}
	return FlavorUnknown
}

type identityReader struct {
	t                            Tokens
	id                           Identity
	build, distribution, tagline string
}

// object reads the object that comes next and calls member for each of its keys;
// member reads the value.
func (p *identityReader) object(member func(key string) error) error {
	k, err := p.t.Next()
	if err != nil {
		return err
	}
	if k.Kind != ObjectStart {
		return ErrIdentity
	}
	for {
		switch k, err = p.t.Next(); {
		case err != nil:
			return err
		case k.Kind == ObjectEnd:
			return nil
		}
		key, _ := Unquote(nil, p.t.Raw(k))
		if err := member(string(key)); err != nil {
			return err
		}
	}
}

func (p *identityReader) top(key string) error {
	switch key {
	case "name":
		return p.text(&p.id.Name)
	case "cluster_uuid":
		return p.text(&p.id.UUID)
	case "tagline":
		return p.text(&p.tagline)
	case "version":
		return p.object(p.version)
	}
	_, _, err := p.t.Skip()
	return err
}

func (p *identityReader) version(key string) error {
	switch key {
	case "number":
		return p.text(&p.id.Version)
	case "build_flavor":
		return p.text(&p.build)
	case "distribution":
		return p.text(&p.distribution)
	}
	_, _, err := p.t.Skip()
	return err
}

// text reads the value that comes next if it is a string, and passes over any
// other.
func (p *identityReader) text(to *string) error {
	start, end, err := p.t.Skip()
	if err != nil {
		return err
	}
	if raw := p.t.in[start:end]; raw[0] == '"' {
		s, _ := Unquote(nil, raw)
		*to = string(s)
	}
	return nil
}
