package replay

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"

	"github.com/valyala/fasthttp"

	"github.com/esshadow/esshadow/capture"
)

func shotOf(method, target, body string, headers ...capture.Header) *Shot {
	return &Shot{Method: method, Target: target, Body: []byte(body), Header: headers}
}

// raw runs a server that does as script says with each connection.
func raw(t testing.TB, script func(c net.Conn, r *bufio.Reader)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				script(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		wg.Wait()
	})
	return ln.Addr().String()
}

// readRequest reads one request with a Content-Length.
func readRequest(r *bufio.Reader) (head string, body []byte, err error) {
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return head, nil, err
		}
		head += line
		if _, err := fmt.Sscanf(line, "Content-Length: %d", &length); err == nil {
			continue
		}
		if line == "\r\n" {
			body = make([]byte, length)
			_, err := io.ReadFull(r, body)
			return head, body, err
		}
	}
}

func TestRequestGoesOutAsItIs(t *testing.T) {
	got := make(chan string, 1)
	addr := raw(t, func(c net.Conn, r *bufio.Reader) {
		for {
			head, body, err := readRequest(r)
			if err != nil {
				return
			}
			got <- head + string(body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		}
	})
	big := strings.Repeat("x", joinBody+1)
	for name, c := range map[string]struct {
		shot   *Shot
		prefix string
		want   string
	}{
		"odd target": {
			shotOf("GET", "/a%2Fb//%3Clogs-%7Bnow%2Fd%7D%3E/_search?q=a:b,%zz&q=+", ""), "",
			"GET /a%2Fb//%3Clogs-%7Bnow%2Fd%7D%3E/_search?q=a:b,%zz&q=+ HTTP/1.1\r\nHost: ADDR\r\nAuthorization: ApiKey k\r\n\r\n",
		},
		"get with body, spelling and order of headers": {
			shotOf("GET", "/_search", "{}", capture.Header{Name: "x_Odd-name", Value: "1"}, capture.Header{Name: "accept", Value: "*/*"}, capture.Header{Name: "x_Odd-name", Value: "2"}), "/pre%2Ffix",
			"GET /pre%2Ffix/_search HTTP/1.1\r\nHost: ADDR\r\nx_Odd-name: 1\r\naccept: */*\r\nx_Odd-name: 2\r\nAuthorization: ApiKey k\r\nContent-Length: 2\r\n\r\n{}",
		},
		"post without body":   {shotOf("POST", "/i/_refresh", ""), "", "POST /i/_refresh HTTP/1.1\r\nHost: ADDR\r\nAuthorization: ApiKey k\r\nContent-Length: 0\r\n\r\n"},
		"delete without body": {shotOf("DELETE", "/i/_doc/1", ""), "", "DELETE /i/_doc/1 HTTP/1.1\r\nHost: ADDR\r\nAuthorization: ApiKey k\r\n\r\n"},
		"long body":           {shotOf("POST", "/_bulk", big), "", fmt.Sprintf("POST /_bulk HTTP/1.1\r\nHost: ADDR\r\nAuthorization: ApiKey k\r\nContent-Length: %d\r\n\r\n%s", len(big), big)},
	} {
		t.Run(name, func(t *testing.T) {
			c2 := client(t, addr+c.prefix, func(cfg *TargetConfig) { cfg.APIKey = "k" })
			var ans Answer
			c2.Send(c.shot, &ans)
			defer c2.Release(&ans)
			if ans.Err != "" || ans.Status != 200 || string(ans.Body) != "{}" {
				t.Fatalf("answer %+v", ans)
			}
			if g, want := <-got, strings.ReplaceAll(c.want, "ADDR", addr); g != want {
				t.Errorf("sent %q\nwant %q", g, want)
			}
			c2.Abort()
		})
	}
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer string // then the connection is closed
		method string
		status int
		body   string
		class  string
	}{
		"length":              {"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc", "GET", 200, "abc", ""},
		"chunked, lower case": {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "GET", 200, "abc", ""},
		"until the end":       {"HTTP/1.0 200 OK\r\n\r\nabc", "GET", 200, "abc", ""},
		"head":                {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HEAD", 200, "", ""},
		"no content":          {"HTTP/1.1 204 No Content\r\n\r\n", "GET", 204, "", ""},
		"an interim answer":   {"HTTP/1.1 100 \r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "POST", 200, "a", ""},
		"an error":            {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", "GET", 404, "{}", ""},
		"nothing":             {"", "GET", 0, "", ErrReset},
		"garbage":             {"SSH-2.0-OpenSSH_9.2\r\n", "GET", 0, "", ErrUnreadable},
		"cut head":            {"HTTP/1.1 200 OK\r\nContent-Le", "GET", 0, "", ErrUnreadable},
		"cut body":            {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "GET", 200, "", ErrUnreadable},
		"cut chunk":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", "GET", 200, "", ErrUnreadable},
		"bad chunk":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", "GET", 200, "", ErrUnreadable},
		"endless head":        {"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 2*readBuffer), "GET", 0, "", ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			addr := raw(t, func(conn net.Conn, r *bufio.Reader) {
				if _, _, err := readRequest(r); err != nil {
					return
				}
				_, _ = io.WriteString(conn, c.answer)
				_ = conn.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, r)
			})
			cl := client(t, addr, nil)
			var ans Answer
			cl.Send(shotOf(c.method, "/", ""), &ans)
			if ans.Err != c.class || ans.Status != c.status || c.class == "" && string(ans.Body) != c.body {
				t.Errorf("got %q, status %d, body %q", ans.Err, ans.Status, ans.Body)
			}
			if ans.Sent.IsZero() || ans.Done.Before(ans.Sent) || ans.First.IsZero() != (c.answer == "") {
				t.Errorf("times %v %v %v", ans.Sent, ans.First, ans.Done)
			}
			cl.Release(&ans)
			if held, _ := cl.room.now(); held != 0 {
				t.Errorf("%d bytes are not given back", held)
			}
			cl.Abort()
		})
	}
}

func TestTimeouts(t *testing.T) {
	hang := make(chan struct{})
	addr := raw(t, func(c net.Conn, r *bufio.Reader) {
		head, _, err := readRequest(r)
		if err != nil {
			return
		}
		if strings.Contains(head, "/half") {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab")
		}
		<-hang
	})
	defer close(hang)
	for _, target := range []string{"/none", "/half"} {
		cl := client(t, addr, func(cfg *TargetConfig) { cfg.Timeout = 100 * time.Millisecond })
		var ans Answer
		cl.Send(shotOf("GET", target, ""), &ans)
		cl.Release(&ans)
		if took := ans.Done.Sub(ans.Sent); ans.Err != ErrTimeout || took < 100*time.Millisecond || took > time.Second {
			t.Errorf("%s: %q after %v", target, ans.Err, took)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	dead, _ := testenv.DeadAddress(t)
	cl := client(t, dead, nil)
	var ans Answer
	cl.Send(shotOf("GET", "/", ""), &ans)
	if ans.Err != ErrRefused || ans.Sent.IsZero() {
		t.Errorf("%+v", ans)
	}
}

func TestResetIsNotRepeated(t *testing.T) {
	var seen atomic.Int64
	addr := raw(t, func(c net.Conn, r *bufio.Reader) {
		if _, _, err := readRequest(r); err == nil {
			seen.Add(1)
			_ = c.(*net.TCPConn).SetLinger(0)
		}
	})
	cl := client(t, addr, nil)
	for _, method := range []string{"GET", "POST", "PUT", "HEAD"} {
		var ans Answer
		cl.Send(shotOf(method, "/", ""), &ans)
		if ans.Err != ErrReset {
			t.Errorf("%s: %+v", method, ans)
		}
	}
	if n := seen.Load(); n != 4 {
		t.Errorf("the server saw %d requests of 4", n)
	}
}

func TestAnswerBeforeTheBodyWasTaken(t *testing.T) {
	addr := raw(t, func(c net.Conn, r *bufio.Reader) {
		_, _ = r.ReadString('\n')
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, r)
	})
	cl := client(t, addr, nil)
	var ans Answer
	cl.Send(shotOf("POST", "/_bulk", strings.Repeat("x", 8<<20)), &ans)
	defer cl.Release(&ans)
	if ans.Status != 413 || ans.Err != "" {
		t.Errorf("%+v", ans)
	}
}

func TestConnectionsAreKept(t *testing.T) {
	var conns atomic.Int64
	addr := raw(t, func(c net.Conn, r *bufio.Reader) {
		conns.Add(1)
		for {
			if _, _, err := readRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		}
	})
	cl := client(t, addr, nil)
	for range 1000 {
		var ans Answer
		cl.Send(shotOf("GET", "/", ""), &ans)
		cl.Release(&ans)
		if ans.Err != "" {
			t.Fatal(ans.Err)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	cl.Abort()
}

func TestConnectionClosedWhileIdle(t *testing.T) {
	const n = 3
	closed := make(chan struct{}, n)
	addr := raw(t, func(c net.Conn, r *bufio.Reader) {
		if _, _, err := readRequest(r); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
			_ = c.Close()
			closed <- struct{}{}
		}
	})
	cl := client(t, addr, nil)
	for i := range n {
		var ans Answer
		cl.Send(shotOf("POST", "/_search", "{}"), &ans)
		cl.Release(&ans)
		if ans.Err != "" {
			t.Fatalf("request %d: %s", i, ans.Err)
		}
		<-closed
		<-time.After(recheckAfter + 20*time.Millisecond)
	}
}

func TestLateChunkAfterHead(t *testing.T) {
	addr := raw(t, func(c net.Conn, r *bufio.Reader) {
		for {
			if _, _, err := readRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n")
		}
	})
	cl := client(t, addr, nil)
	for _, method := range []string{"HEAD", "GET", "HEAD", "POST"} {
		var ans Answer
		cl.Send(shotOf(method, "/i", ""), &ans)
		cl.Release(&ans)
		if ans.Err != "" || ans.Status != 200 {
			t.Errorf("%s: %+v", method, ans)
		}
	}
	cl.Abort()
}

func TestLargeAnswersAreTimedButNotKept(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 3<<20)
	addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		if string(ctx.Path()) == "/chunked" {
			ctx.SetBodyStream(bytes.NewReader(body), -1)
			return
		}
		ctx.SetBody(body)
	})
	for _, target := range []string{"/length", "/chunked"} {
		for _, limit := range []int{1 << 20, 3<<20 - 1, 3 << 20, 4 << 20} {
			cl := client(t, addr, func(cfg *TargetConfig) {
				if err := cfg.MaxAnswer.Set(fmt.Sprint(limit)); err != nil {
					t.Fatal(err)
				}
			})
			var ans Answer
			cl.Send(shotOf("GET", target, ""), &ans)
			kept := limit >= len(body)
			if ans.Err != "" || ans.Size != int64(len(body)) || (ans.Cut == "") != kept || kept && !bytes.Equal(ans.Body, body) {
				t.Errorf("%s limit %d: err %q, size %d, cut %q, %d bytes kept", target, limit, ans.Err, ans.Size, ans.Cut, len(ans.Body))
			}
			cl.Release(&ans)
			if held, _ := cl.room.now(); held != 0 {
				t.Errorf("%s limit %d: %d bytes are not given back", target, limit, held)
			}
		}
	}
}

func TestAbortEndsWhatIsUnderWay(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	addr := raw(t, func(_ net.Conn, r *bufio.Reader) {
		_, _, _ = readRequest(r)
		<-hang
	})
	cl := client(t, addr, func(cfg *TargetConfig) { cfg.Connections = 5 })
	var wg sync.WaitGroup
	classes := make([]string, 20)
	for i := range classes {
		wg.Go(func() {
			var ans Answer
			cl.Send(shotOf("GET", "/", ""), &ans)
			classes[i] = ans.Err
		})
	}
	<-time.After(100 * time.Millisecond)
	cl.Abort()
	wg.Wait()
	for i, c := range classes {
		if c != ErrCancelled {
			t.Errorf("request %d: %q", i, c)
		}
	}
}

// authority makes a CA, and a server certificate for 127.0.0.1 that it signed.
func authority(t *testing.T) (ca *x509.Certificate, server tls.Certificate) {
	t.Helper()
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &caKey.PublicKey, caKey)
	if err != nil {
		t.Fatal(err)
	}
	ca, _ = x509.ParseCertificate(caDER)
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "node"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: tmpl.NotBefore, NotAfter: tmpl.NotAfter,
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		t.Fatal(err)
	}
	return ca, tls.Certificate{Certificate: [][]byte{der, caDER}, PrivateKey: key}
}

func TestTLS(t *testing.T) {
	ca, cert := authority(t)
	otherCA, other := authority(t)
	// A server that shows the right CA beside a certificate that it did not sign.
	liar := tls.Certificate{Certificate: [][]byte{other.Certificate[0], ca.Raw}, PrivateKey: other.PrivateKey}
	print := func(der []byte) string { s := sha256.Sum256(der); return hex.EncodeToString(s[:]) }
	pemOf := func(c *x509.Certificate) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	for name, c := range map[string]struct {
		cert tls.Certificate
		set  func(*TargetConfig)
		ok   bool
	}{
		"unknown authority":                   {cert, func(*TargetConfig) {}, false},
		"its authority":                       {cert, func(cfg *TargetConfig) { cfg.CACert = pemOf(ca) }, true},
		"another authority":                   {cert, func(cfg *TargetConfig) { cfg.CACert = pemOf(otherCA) }, false},
		"insecure":                            {cert, func(cfg *TargetConfig) { cfg.Insecure = true }, true},
		"its own fingerprint":                 {cert, func(cfg *TargetConfig) { cfg.Fingerprint = print(cert.Certificate[0]) }, true},
		"its authority's fingerprint":         {cert, func(cfg *TargetConfig) { cfg.Fingerprint = strings.ToUpper(print(ca.Raw)) }, true},
		"another fingerprint":                 {cert, func(cfg *TargetConfig) { cfg.Fingerprint = print(otherCA.Raw) }, false},
		"a stranger that shows the authority": {liar, func(cfg *TargetConfig) { cfg.Fingerprint = print(ca.Raw) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			addr := raw(t, func(conn net.Conn, _ *bufio.Reader) {
				s := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{c.cert}, MinVersion: tls.VersionTLS12})
				r := bufio.NewReader(s)
				for {
					if _, _, err := readRequest(r); err != nil {
						return
					}
					_, _ = io.WriteString(s, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
				}
			})
			cfg := DefaultTarget()
			cfg.URL = "https://" + addr
			c.set(&cfg)
			cl, err := NewClient(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Abort()
			for range 2 {
				var ans Answer
				cl.Send(shotOf("POST", "/", strings.Repeat("y", joinBody+1)), &ans)
				cl.Release(&ans)
				if (ans.Err == "") != c.ok || !c.ok && ans.Err != ErrRefused {
					t.Errorf("%+v", ans)
				}
			}
		})
	}
}

// After a burst, connections that nobody needs any more are closed.
func TestClientLetsIdleConnectionsGo(t *testing.T) {
	var c counter
	cl := client(t, serve(t, c.handle), func(cfg *TargetConfig) { cfg.IdleTimeout = 50 * time.Millisecond })
	now := time.Now()
	for i := range 5 {
		w, class := cl.dial(now.Add(time.Minute))
		if class != "" {
			t.Fatal(class)
		}
		cl.put(w, true)
		if i < 4 {
			w.since = now.Add(-time.Second)
		}
	}
	w, _ := cl.connect(now.Add(time.Minute))
	cl.put(w, true)
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if len(cl.idle) != 1 || len(cl.open) != 1 {
		t.Errorf("%d idle connections, %d open, want 1", len(cl.idle), len(cl.open))
	}
}
