package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
)

type releaseTap struct{}

func (releaseTap) Room(int64) bool { return true }

func (releaseTap) Offer(x *capture.Exchange) { x.Release() }

// cannedNode answers each request of known size with the same bytes.
func cannedNode(b *testing.B, request, reply int) *node {
	answer := []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nX-elastic-product: Elasticsearch\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s",
		reply, strings.Repeat("x", reply)))
	return newNode(b, func(_ *node, c net.Conn, br *bufio.Reader) {
		for {
			for {
				line, err := br.ReadSlice('\n')
				if err != nil {
					return
				}
				if len(line) == 2 {
					break
				}
			}
			if _, err := br.Discard(request); err != nil {
				return
			}
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
	})
}

// BenchmarkProxy includes the client and the node, which share the machine.
func BenchmarkProxy(b *testing.B) {
	for _, s := range []struct {
		name           string
		request, reply int
	}{{"search", 529, 1980}, {"bulk100KB", 100_000, 36_000}, {"bulk1MB", 1_000_000, 358_000}} {
		for _, tap := range []Tap{nil, releaseTap{}} {
			name := s.name + "/pass"
			if tap != nil {
				name = s.name + "/tap"
			}
			b.Run(name, func(b *testing.B) {
				n := cannedNode(b, s.request, s.reply)
				p := start(b, Deps{Tap: tap}, nil, n.url())
				req := []byte(fmt.Sprintf("POST /i/_search HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nAccept: application/json\r\n"+
					"User-Agent: bench\r\nContent-Length: %d\r\n\r\n%s", s.request, strings.Repeat("q", s.request)))
				head := int64(len("HTTP/1.1 200 OK\r\nX-elastic-product: Elasticsearch\r\ncontent-type: application/json\r\ncontent-length: \r\n\r\n") + len(fmt.Sprint(s.reply)))
				b.SetBytes(int64(s.request + s.reply))
				b.ReportAllocs()
				b.SetParallelism(8)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					c, err := net.Dial("tcp", p.addr)
					if err != nil {
						b.Error(err)
						return
					}
					defer c.Close()
					br := bufio.NewReaderSize(c, 64<<10)
					for pb.Next() {
						if _, err := c.Write(req); err != nil {
							b.Error(err)
							return
						}
						if _, err := io.CopyN(io.Discard, br, head+int64(s.reply)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}
