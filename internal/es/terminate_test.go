package es

import "testing"

func TestTerminateAfterIsAFact(t *testing.T) {
	for name, c := range map[string]struct {
		query, body string
		want        bool
	}{
		"neither":        {"size=1", `{"query":{"match_all":{}}}`, false},
		"in the body":    {"", `{"terminate_after":10,"query":{"match_all":{}}}`, true},
		"in the query":   {"terminate_after=10", `{}`, true},
		"0 in the query": {"terminate_after=0", `{}`, false},
	} {
		if got := RequestFacts(OpSearch, c.query, []byte(c.body)).TerminateAfter; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
