package sanitize

import (
	"strings"
	"testing"
)

func TestDetectors(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm5hIn0."
	for _, c := range []struct {
		name    string
		yes, no []string
	}{
		{
			"email",
			[]string{"anna@example.test", "<a.b+c@x-y.example.co>", "mail:anna%40example.test", "anna&#64;example.test", "anna＠example.test", "北京anna@example.cn"},
			[]string{"anna@", "@example.test", "anna@host", "a @ b.c", "user@1.2.3.4", "x@.test"},
		},
		{
			"phone:cn",
			[]string{"13800138000", "138-0013-8000", "+86 138 0013 8000", "电话13800138000。", "008613800138000"},
			[]string{"1714521600123", "12800138000", "a13800138000", "138001380001", "1380013800"},
		},
		{"phone:e164", []string{"+43 660 1234567", "tel:+491701234567"}, []string{"43 660 1234567", "+123", "+0123456789", "1+2345678a"}},
		{"id:cn", []string{"11010519491231002X", "身份证11010519491231002x", "11010519491231002X."}, []string{"110105194912310021", "11010519491331002X", "911010519491231002X"}},
		{"card", []string{"4111111111111111", "4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"}, []string{"4111111111111112", "1234567812345670", "41111111111111110000000"}},
		{"iban", []string{"DE89370400440532013000", "gb82 west 1234 5698 7654 32", "NO9386011117947."}, []string{"DE89370400440532013001", "DE8937040044053201300", "XX89370400440532013000"}},
		{"jwt", []string{jwt, "Bearer " + jwt + "c2ln"}, []string{"eyJ", "eyJhbGciOiJIUzI1NiJ9", "xeyJhbGciOiJIUzI1NiJ9.e.e"}},
		{"pem", []string{"-----BEGIN PRIVATE KEY-----\nMII", "x -----BEGIN CERTIFICATE-----"}, []string{"-----BEGIN", "BEGIN PRIVATE KEY"}},
		{"es_api_key", []string{
			"ApiKey VuaCfGcBCdbkQm-e5aOx", "basic YW5uYTpzZWNyZXQtd29yZA==", "VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6dWkybHAyYXhUTm1zeWFrdzl0dk5udw",
			"AAEAAWVsYXN0aWMvZmxlZXQtc2VydmVyL3Rva2VuMTo3TFdaSDZ",
		}, []string{"basic facts", "apikey", "VuaCfGcBCdbkQm-e5aOx"}},
		{
			"url_credentials",
			[]string{"https://anna:secret@h.test/x", "/x?a=1&access_token=abcdef123", "?X-Amz-Signature=0123456789"},
			[]string{"https://h.test/x@y:z", "https://anna@h.test/", "?page=2&size=10", "?code=1"},
		},
		{
			"high_entropy",
			[]string{"k3JX8sQ2mZ9vLw4Tn7Rb1Yc6", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"},
			[]string{"internationalization-of-things", "8f14e45f-ceea-467f-9a0c-0123456789ab", "aaaaaaaaaaaaaaaaaaaaaaaa1"},
		},
	} {
		d := newDetectors(DetectorRules{InKeptFields: detectDrop, Use: Globs{c.name}})
		if len(d.use) != 1 {
			t.Fatalf("%s is not known", c.name)
		}
		for _, s := range c.yes {
			if !d.use[0].find([]byte(s)) || looked(d, s) == "" && c.name != entropyName {
				t.Errorf("%s: not found in %q", c.name, s)
			}
		}
		for _, s := range c.no {
			if d.use[0].find([]byte(s)) {
				t.Errorf("%s: found in %q", c.name, s)
			}
		}
	}
}

func FuzzDetectors(f *testing.F) {
	for _, s := range []string{"a@b.cc", "+", "%40", "DE89 3704", "eyJ.", "-----BEGIN ", "https://a:b@", "?key=", "basic ", "1-", "＠", "11010519491231002X"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		d := newDetectors(DetectorRules{InKeptFields: detectReport})
		if looked(d, string(s)) != "" {
			t.Error("report wants something done")
		}
	})
}

// TestDetectorsInKeptFields: what a rule keeps is looked at, in documents and
// queries, and dealt with as is said.
func TestDetectorsInKeptFields(t *testing.T) {
	for _, c := range []struct{ mode, drop, body string }{
		{"drop-record", "detector", ""},
		{"mask", "", "mmmmm"},
		{"report", "", "anna@example.test"},
	} {
		cfg := preset(PresetFidelity)
		cfg.Detectors.InKeptFields = c.mode
		cfg.Fields = []FieldRule{{Match: Globs{"note"}, Action: "keep"}}
		w := newWorker(t, cfg)
		for _, x := range []struct{ method, target, body string }{
			{"PUT", "/i/_doc/1", `{"note":"write to anna@example.test","n":1}`},
			{"POST", "/i/_search", `{"query":{"match":{"note":"write to anna@example.test"}}}`},
		} {
			got, _, drop := sanitized(t, w, x.method, x.target, x.body)
			if drop != c.drop || drop == "" && !strings.Contains(got, c.body) {
				t.Errorf("%s: %q %s", c.mode, drop, got)
			}
		}
		if found := w.p.Detected(); found[0].Detector != "email" || found[0].Count != 2 {
			t.Errorf("%s: counted %v", c.mode, found)
		}
		if got, _, drop := sanitized(t, w, "PUT", "/i/_doc/1", `{"note":"nothing personal","other":"anna@example.test"}`); drop != "" || !strings.Contains(got, "nothing personal") {
			t.Errorf("%s: %q %s", c.mode, drop, got)
		}
	}
	cfg := preset(PresetStrict)
	cfg.Fields = []FieldRule{{Match: Globs{"n"}, Action: "keep", Why: "a counter"}}
	if _, _, drop := sanitized(t, newWorker(t, cfg), "PUT", "/i/_doc/1", `{"n":13800138000}`); drop != "detector" {
		t.Errorf("a telephone number that a rule keeps: %q", drop)
	}
}

func looked(d *detectors, s string) string {
	want, _ := d.look([]byte(s))
	return want
}
