package sanitize

import (
	"fmt"
	"testing"

	"github.com/esshadow/esshadow/capture"
)

// What a query for words or a pattern asks of pieces of dates, addresses and UUIDs.
func TestFidelityOfPieces(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	for _, c := range []struct{ clause, text, want, why string }{
		{"match", "failed login", capture.Exact, ""},
		{"match", "北京", capture.Broken, "ideographs"},
		{"match_phrase", "login タワー", capture.Broken, "ideographs"},
		{"match", "서울", capture.Exact, ""},
		{"term", "北京", capture.Exact, ""},
		{"match", "on 2024-05-01", capture.Approx, "part_of_shape"},
		{"match", "8f14e45f-ceea-467f-9a0c-0123456789ab", capture.Approx, "part_of_shape"},
		{"match", "8f14e45f", capture.Broken, "part_of_shape"},
		{"match", "from 10.0.0.7 on", capture.Exact, ""},
		{"match", "10.0.0.7.b", capture.Broken, "part_of_shape"},
		{"match", "b:10.0.0.7", capture.Broken, "part_of_shape"},
		{"regexp", "(anna|bo)-x1", capture.Exact, ""},
		{"regexp", "anna (berg|li)", capture.Exact, ""},
		{"regexp", "2024-05-01", capture.Broken, "regexp"},
		{"regexp", "2024-.*", capture.Broken, "regexp"},
		{"regexp", "(2024)-(05)", capture.Broken, "regexp"},
		{"regexp", `10\\.0`, capture.Broken, "regexp"},
		{"regexp", "8f14e45f-.*", capture.Broken, "regexp"},
	} {
		var rec capture.Record
		body := fmt.Sprintf(`{"query":{"%s":{"f":"%s"}}}`, c.clause, c.text)
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", body)); drop != "" || rec.Fidelity != c.want || rec.FidWhy != c.why {
			t.Errorf("%s: %s %s %s, want %s %s", body, drop, rec.Fidelity, rec.FidWhy, c.want, c.why)
		}
	}
	for q, want := range map[string]string{"tag:北京": capture.Broken, `f:"a 2024-05-01"`: capture.Approx, "f:login": capture.Exact, "2024": capture.Broken, "f:서울": capture.Exact} {
		var rec capture.Record
		body := fmt.Sprintf(`{"query":{"query_string":{"query":%q}}}`, q)
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", body)); drop != "" || rec.Fidelity != want {
			t.Errorf("%s: %s %s %s, want %s", body, drop, rec.Fidelity, rec.FidWhy, want)
		}
	}
}
