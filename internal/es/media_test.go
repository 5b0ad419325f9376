package es

import (
	"strings"
	"testing"
)

func TestParseMedia(t *testing.T) {
	tests := []struct {
		in   string
		want Media
	}{
		{"", Media{}},
		{" ", Media{}},
		{"application/json", Media{Kind: MediaJSON}},
		{"Application/JSON; charset=UTF-8", Media{Kind: MediaJSON}},
		{"text/json", Media{Kind: MediaJSON}},
		{"application/x-ndjson", Media{Kind: MediaNDJSON}},
		{"application/x-ldjson", Media{Kind: MediaNDJSON}},
		{"application/vnd.elasticsearch+json;compatible-with=8", Media{MediaJSON, true, 8}},
		{"application/vnd.elasticsearch+json; compatible-with=9", Media{MediaJSON, true, 9}},
		{"Application/Vnd.Elasticsearch+X-NDJSON ; Compatible-With = \"7\" ", Media{MediaNDJSON, true, 7}},
		{"application/vnd.elasticsearch+json;charset=utf-8;compatible-with=8", Media{MediaJSON, true, 8}},
		{"application/vnd.elasticsearch+json", Media{MediaJSON, true, 0}},
		{"application/vnd.elasticsearch+json;compatible-with=x", Media{MediaJSON, true, 0}},
		{"application/vnd.elasticsearch+cbor;compatible-with=8", Media{MediaCBOR, true, 8}},
		{"application/vnd.elasticsearch+x;compatible-with=8", Media{MediaOther, true, 8}},
		{"application/cbor", Media{Kind: MediaCBOR}},
		{"application/smile", Media{Kind: MediaSMILE}},
		{"application/yaml", Media{Kind: MediaYAML}},
		{"text/plain; charset=UTF-8", Media{Kind: MediaText}},
		{"text/csv", Media{Kind: MediaText}},
		{"application/x-www-form-urlencoded", Media{Kind: MediaForm}},
		{"multipart/form-data; boundary=x", Media{Kind: MediaForm}},
		{"application/vnd.mapbox-vector-tile", Media{Kind: MediaOther}},
		{"*/*", Media{Kind: MediaOther}},
		{"json", Media{Kind: MediaOther}},
		{";", Media{}},
	}
	for _, tt := range tests {
		if got := ParseMedia(tt.in); got != tt.want {
			t.Errorf("%q: got %+v; want %+v", tt.in, got, tt.want)
		}
	}
}

func TestRewriteMedia(t *testing.T) {
	const v8 = "application/vnd.elasticsearch+json;compatible-with=8"
	tests := []struct {
		in     string
		compat int
		want   string
	}{
		{"", 0, ""},
		{"application/json; charset=UTF-8", 0, "application/json; charset=UTF-8"},
		{"application/json", 9, "application/json"},
		{"*/*", 0, "*/*"},
		{v8, 0, "application/json"},
		{v8, 9, "application/vnd.elasticsearch+json;compatible-with=9"},
		{v8, 8, v8},
		{"application/vnd.elasticsearch+x-ndjson; compatible-with=8", 0, "application/x-ndjson"},
		{"application/vnd.elasticsearch+json; compatible-with=8; charset=utf-8", 0, "application/json; charset=utf-8"},
		{"application/vnd.elasticsearch+json; compatible-with=8; charset=utf-8", 7, "application/vnd.elasticsearch+json;compatible-with=7; charset=utf-8"},
		{"application/vnd.elasticsearch+json", 8, v8},
		{v8 + ",text/plain", 0, "application/json,text/plain"},
		{"text/plain;q=0.5, " + v8, 0, "text/plain;q=0.5, application/json"},
		{"text/plain;x=\"a,application/vnd.elasticsearch+json\", " + v8, 0, "text/plain;x=\"a,application/vnd.elasticsearch+json\", application/json"},
		{"image/svg+xml", 0, "image/svg+xml"},
	}
	for _, tt := range tests {
		if got := RewriteMedia(tt.in, tt.compat); got != tt.want {
			t.Errorf("%q to %d: got %q; want %q", tt.in, tt.compat, got, tt.want)
		}
	}
}

func FuzzParseMedia(f *testing.F) {
	for _, s := range []string{"", ";", ",", "application/vnd.elasticsearch+json;compatible-with=8", "a/b;\"", "application/vnd.elasticsearch+;=;,"} {
		f.Add(s, 8)
	}
	f.Fuzz(func(t *testing.T, in string, compat int) {
		ParseMedia(in)
		out := RewriteMedia(in, compat)
		if again := RewriteMedia(out, compat); again != out {
			t.Errorf("%q becomes %q, and then %q", in, out, again)
		}
		if !strings.Contains(strings.ToLower(in), vendorPrefix) && out != in {
			t.Errorf("%q becomes %q", in, out)
		}
	})
}
