package proxy

import (
	"bufio"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

const (
	v2IPv4  = originV2 + "\x21\x11\x00\x0c" + "\xc0\x00\x02\x01" + "\x7f\x00\x00\x01" + "\x30\x39\x24\x40"
	v2IPv6  = originV2 + "\x21\x21\x00\x24" + "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05" + "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x06" + "\x30\x39\x24\x40"
	v2Local = originV2 + "\x20\x00\x00\x00"
	v2TLV   = originV2 + "\x21\x11\x00\x10" + "\xc0\x00\x02\x02" + "\x7f\x00\x00\x01" + "\x30\x39\x24\x40" + "\x04\x00\x01\x00"
)

func origins() map[string]struct {
	header, client string
	ok             bool
} {
	return map[string]struct {
		header, client string
		ok             bool
	}{
		"one, IPv4":            {"PROXY TCP4 192.0.2.1 127.0.0.1 12345 9280\r\n", "192.0.2.1", true},
		"one, IPv6":            {"PROXY TCP6 2001:db8::5 ::1 12345 9280\r\n", "2001:db8::5", true},
		"one, unknown":         {"PROXY UNKNOWN\r\n", "", true},
		"one, unknown, longer": {"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", "", true},
		"two, IPv4":            {v2IPv4, "192.0.2.1", true},
		"two, IPv6":            {v2IPv6, "2001:db8::5", true},
		"two, local":           {v2Local, "", true},
		"two, with a TLV":      {v2TLV, "192.0.2.2", true},
		"two, unix sockets":    {originV2 + "\x21\x31\x00\x02ab", "", true},
		"none":                 {"GET / HTTP/1.1\r\n", "", false},
		"one, wrong family":    {"PROXY TCP6 192.0.2.1 127.0.0.1 1 2\r\n", "", false},
		"one, no port":         {"PROXY TCP4 192.0.2.1 127.0.0.1\r\n", "", false},
		"one, large port":      {"PROXY TCP4 192.0.2.1 127.0.0.1 70000 2\r\n", "", false},
		"one, bare line feed":  {"PROXY TCP4 192.0.2.1 127.0.0.1 1 2\n", "", false},
		"one, endless":         {"PROXY TCP4 " + strings.Repeat("1", 200), "", false},
		"two, wrong version":   {originV2 + "\x11\x11\x00\x00", "", false},
		"two, wrong command":   {originV2 + "\x22\x11\x00\x00", "", false},
		"two, cut addresses":   {originV2 + "\x21\x11\x00\x04abcd", "", false},
		"two, too long":        {originV2 + "\x21\x11\xff\xff", "", false},
		"two, half":            {v2IPv4[:20], "", false},
		"two, almost":          {"\r\n\r\n\x00\r\nQUIT\r\x21\x11\x00\x00", "", false},
		"nothing":              {"", "", false},
	}
}

func TestReadOrigin(t *testing.T) {
	for name, c := range origins() {
		t.Run(name, func(t *testing.T) {
			br := bufio.NewReaderSize(strings.NewReader(c.header+"rest"), maxOriginHeader)
			client, err := readOrigin(br)
			if (err == nil) != c.ok {
				t.Fatalf("error %v, want none: %v", err, c.ok)
			}
			if got := client.String(); c.client != "" && got != c.client || c.client == "" && client.IsValid() {
				t.Errorf("client %q, want %q", got, c.client)
			}
			if rest, _ := br.Peek(br.Buffered()); c.ok && string(rest) != "rest" {
				t.Errorf("left %q", rest)
			}
		})
	}
}

func FuzzReadOrigin(f *testing.F) {
	for _, c := range origins() {
		f.Add([]byte(c.header))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		br := bufio.NewReaderSize(strings.NewReader(string(b)+"\n"), maxOriginHeader)
		if client, err := readOrigin(br); err != nil && client.IsValid() {
			t.Errorf("client %v beside %v", client, err)
		}
	})
}

func TestProxyProtocol(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, func(c *Config) { c.ProxyProtocol, c.Forwarded = []string{"127.0.0.0/8"}, "append" }, n.url())
	for i, c := range []struct{ header, client string }{
		{"PROXY TCP4 192.0.2.1 127.0.0.1 12345 9280\r\n", "192.0.2.1"},
		{v2IPv6, "2001:db8::5"},
		{v2Local, "127.0.0.1"},
	} {
		conn := dial(t, p.addr)
		conn.write(c.header)
		for range 2 {
			if a := conn.ask(getRoot); a.status() != 200 {
				t.Fatalf("%q: %q", c.header, a.line)
			}
			all := n.requests()
			if got := all[len(all)-1].get("x-forwarded-for"); len(got) != 1 || got[0] != c.client {
				t.Errorf("%d: client %q, want %s", i, got, c.client)
			}
		}
	}
	bad := dial(t, p.addr)
	bad.write(getRoot)
	if a := bad.read("GET"); a.err == nil || a.line != "" {
		t.Errorf("without a header: %q", a.line)
	}
	if got := testutil.ToFloat64(p.metrics.badOrigin); got != 1 {
		t.Errorf("%v broken headers counted", got)
	}
	if got := len(n.requests()); got != 6 {
		t.Errorf("%d requests reached the node", got)
	}
}

// Whoever is not listed speaks HTTP at once, and cannot say that he is another.
func TestProxyProtocolFromElsewhere(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, func(c *Config) { c.ProxyProtocol = []string{"192.0.2.0/24"} }, n.url())
	if a := dial(t, p.addr).ask(getRoot); a.status() != 200 {
		t.Errorf("plain: %q", a.line)
	}
	if a := dial(t, p.addr).ask("PROXY UNKNOWN\r\n" + getRoot); a.status() != 400 {
		t.Errorf("with a header: %q", a.line)
	}
}

func TestForwarded(t *testing.T) {
	n := recording(t)
	on := start(t, Deps{}, func(c *Config) { c.Forwarded = "append" }, n.url())
	off := start(t, Deps{}, nil, n.url())
	for name, c := range map[string]struct {
		p    *started
		in   string
		want string
	}{
		"off":         {off, "Host: h\r\nX-Forwarded-For: 1.2.3.4\r\nA: 1\r\n", "Host: h|X-Forwarded-For: 1.2.3.4|A: 1"},
		"none before": {on, "Host: h\r\nA: 1\r\n", "Host: h|A: 1|X-Forwarded-For: 127.0.0.1|X-Forwarded-Proto: http|X-Forwarded-Host: h"},
		"one before":  {on, "Host: h\r\nx-forwarded-for: 1.2.3.4\r\nA: 1\r\n", "Host: h|A: 1|X-Forwarded-For: 1.2.3.4, 127.0.0.1|X-Forwarded-Proto: http|X-Forwarded-Host: h"},
		"two before": {
			on, "X-Forwarded-For: 1.2.3.4\r\nHost: h\r\nX-Forwarded-For: 5.6.7.8, 9.9.9.9\r\n",
			"Host: h|X-Forwarded-For: 1.2.3.4, 5.6.7.8, 9.9.9.9, 127.0.0.1|X-Forwarded-Proto: http|X-Forwarded-Host: h",
		},
		"all there": {
			on, "Host: h\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: outside\r\nX-Forwarded-For: \r\n",
			"Host: h|X-Forwarded-Proto: https|X-Forwarded-Host: outside|X-Forwarded-For: 127.0.0.1",
		},
	} {
		dial(t, c.p.addr).ask("GET / HTTP/1.1\r\n" + c.in + "\r\n")
		all := n.requests()
		if got := strings.Join(all[len(all)-1].headers, "|"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestParseNetworks(t *testing.T) {
	list, err := parseNetworks([]string{"10.1.2.3/8", "::1", "192.0.2.7"})
	if err != nil || len(list) != 3 || !list[0].Contains(netip.MustParseAddr("10.9.9.9")) || list[1].Bits() != 128 || list[2].Bits() != 32 {
		t.Errorf("%v %v", list, err)
	}
}
