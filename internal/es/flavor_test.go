package es

import (
	"errors"
	"testing"
)

func TestParseIdentity(t *testing.T) {
	tests := []struct {
		name, body string
		want       Identity
	}{
		{
			"elasticsearch 8", `{"name":"n1","cluster_name":"c","cluster_uuid":"u-1","version":{"number":"8.19.0","build_flavor":"default","build_type":"docker","build_snapshot":false,"lucene_version":"9.12"},"tagline":"You Know, for Search"}`,
			Identity{FlavorElasticsearch, "8.19.0", 8, "u-1", "n1"},
		},
		{
			"elasticsearch 7 oss", `{"name":"n","cluster_uuid":"_na_","version":{"number":"7.10.2","build_flavor":"oss"},"tagline":"You Know, for Search"}`,
			Identity{FlavorElasticsearch, "7.10.2", 7, "_na_", "n"},
		},
		{
			"elasticsearch 5", `{"name":"n","cluster_uuid":"u","version":{"number":"5.6.16"},"tagline":"You Know, for Search"}`,
			Identity{FlavorElasticsearch, "5.6.16", 5, "u", "n"},
		},
		{
			"opensearch", `{"name":"n","cluster_uuid":"u","version":{"distribution":"opensearch","number":"2.19.6","build_type":"tar"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`,
			Identity{FlavorOpenSearch, "2.19.6", 2, "u", "n"},
		},
		{
			"opensearch that says 7.10.2", `{"name":"n","cluster_uuid":"u","version":{"number":"7.10.2"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`,
			Identity{FlavorOpenSearch, "7.10.2", 7, "u", "n"},
		},
		{
			"serverless", `{"name":"serverless","cluster_uuid":"u","version":{"number":"8.11.0","build_flavor":"serverless"},"tagline":"You Know, for Search"}`,
			Identity{FlavorServerless, "8.11.0", 8, "u", "serverless"},
		},
		{
			"sandbox", `{"name":"sandbox","cluster_uuid":"u","version":{"number":"8.0.0","build_flavor":"sandbox","distribution":"esshadow-sandbox"},"tagline":"You Know, for Search"}`,
			Identity{FlavorSandbox, "8.0.0", 8, "u", "sandbox"},
		},
		{"another product", `{"name":"n","version":{"number":"1.2","distribution":"other"}}`, Identity{FlavorUnknown, "1.2", 1, "", "n"}},
		{"odd version and types", `{"name":7,"cluster_uuid":null,"version":{"number":"x"}}`, Identity{Flavor: FlavorUnknown, Version: "x"}},
		{"escapes", `{"n\u0061me":"\u006e","version":{"number":"8.1.0","build_flavor":"default"}}`, Identity{FlavorElasticsearch, "8.1.0", 8, "", "n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseIdentity([]byte(tt.body))
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestParseIdentityRefuses(t *testing.T) {
	tests := []struct {
		body string
		want error
	}{
		{"", ErrEmpty},
		{"<html>", ErrSyntax},
		{"[]", ErrIdentity},
		{"{}", ErrIdentity},
		{`{"version":"8"}`, ErrIdentity},
		{`{"version":{}}`, ErrIdentity},
		{`{"error":{"type":"security_exception"},"status":401}`, ErrIdentity},
		{`{"version":{"number":"8"}`, ErrSyntax},
		{`{"version":{"number":"8"}}x`, ErrTrailing},
	}
	for _, tt := range tests {
		if got, err := ParseIdentity([]byte(tt.body)); !errors.Is(err, tt.want) || got != (Identity{}) {
			t.Errorf("%q: got %+v, %v", tt.body, got, err)
		}
	}
}

func FuzzParseIdentity(f *testing.F) {
	f.Add([]byte(`{"version":{"number":"8.1.0","distribution":"opensearch"},"tagline":[{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if id, err := ParseIdentity(body); err == nil && (id.Version == "" || id.Flavor == "") {
			t.Errorf("got %+v", id)
		}
	})
}
