package proxy

import (
	"strings"
	"testing"
)

func TestPassThrough(t *testing.T) {
	n := recording(t)
	tap := newTap()
	p := start(t, Deps{Tap: tap}, nil, n.url())
	c := dial(t, p.addr)
	req := "POST /idx%2Fa/_search?q=a;b&x=%zz HTTP/1.1\r\nhost: ES.example:9200\r\nX-Opaque-Id: 1\r\nx_under: 2\r\n" +
		"CONTENT-type: application/json\r\naccept-encoding: gzip\r\nX-Opaque-Id: 3\r\ncontent-length: 2\r\n\r\n{}"
	a := c.ask(req)
	if a.line != "HTTP/1.1 200 OK" || string(a.body) != "{}" {
		t.Fatalf("answer %q %q", a.line, a.body)
	}
	want := []string{"X-elastic-product: Elasticsearch", "content-type: application/json", "content-length: 2"}
	if strings.Join(a.headers, "|") != strings.Join(want, "|") {
		t.Errorf("answer headers %q, want %q", a.headers, want)
	}
	if got := string(n.requests()[0].raw); got != req {
		t.Errorf("upstream saw %q, want %q", got, req)
	}
	x := tap.wait(t, 1)[0]
	if x.Status != 200 || string(x.Body) != "{}" || string(x.Answer) != "{}" || x.Conn != 1 || x.Request != 1 || x.Wait <= 0 || x.Took < x.Wait {
		t.Errorf("exchange %+v", *x)
	}
	if len(x.Header) != 7 || x.Header[2].Name != "x_under" || x.Header[2].Value != "2" {
		t.Errorf("exchange headers %q", x.Header)
	}
}
