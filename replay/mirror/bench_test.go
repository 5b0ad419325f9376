package mirror

import (
	"testing"

	"github.com/esshadow/esshadow/capture"
)

// What a client's connection pays for the mirror: Offer alone, for a request that
// is taken in or shed, whatever the feed makes of it.
func BenchmarkOffer(b *testing.B) {
	m := begin(b, nil, answers)
	_ = m.Identify(b.Context())
	x := capture.Exchange{
		Conn: 1, Method: "POST", Target: "/items/_search?request_cache=true", Body: []byte(search), BodySize: int64(len(search)), Status: 200,
		Header: []capture.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "User-Agent", Value: "x"}, {Name: "Accept", Value: "*/*"}},
	}
	b.ReportAllocs()
	for b.Loop() {
		each := x
		m.Offer(&each)
	}
	s := m.Stats()
	b.ReportMetric(float64(s.Sent)/float64(s.Offered), "taken/op")
}
