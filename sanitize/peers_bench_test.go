package sanitize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/valyala/fastjson"

	"github.com/esshadow/esshadow/capture"
)

// searchLog makes n search bodies of about half a KB.
func searchLog(n int) []string {
	r := rand.New(rand.NewPCG(3, 4))
	word := func() string { return fmt.Sprintf("w%x", r.IntN(1<<12)) }
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(`{"size":%d,"from":%d,"track_total_hits":true,"query":{"bool":{"must":[{"match":{"message":{"query":"%s %s %s","operator":"and"}}}],`+
			`"filter":[{"term":{"user.id":"u-%05d"}},{"terms":{"http.response.status_code":[%d,%d]}},{"range":{"@timestamp":{"gte":"2024-05-%02dT00:00:00Z","lt":"now/d"}}}]}},`+
			`"sort":[{"@timestamp":"desc"},"_score"],"aggs":{"by_host":{"terms":{"field":"host.name","size":10}},"per_hour":{"date_histogram":{"field":"@timestamp","fixed_interval":"1h"}}},"_source":["message","user.*"]}`,
			10*(1+r.IntN(5)), r.IntN(40), word(), word(), word(), r.IntN(100000), 200+r.IntN(5), 500+r.IntN(5), 1+r.IntN(28))
	}
	return out
}

func BenchmarkSearches(b *testing.B) {
	bodies := searchLog(1000)
	var xs []*capture.Exchange
	for _, body := range bodies {
		xs = append(xs, exchange("POST", "/logs/_search", body, "Content-Type", "application/json"))
	}
	for _, name := range []string{PresetFidelity, PresetStrict} {
		b.Run(name, func(b *testing.B) { benchmark(b, preset(name), xs) })
	}
	off, cfg := false, preset(PresetFidelity)
	cfg.Postcheck = &off
	b.Run("without post-check", func(b *testing.B) { benchmark(b, cfg, xs) })
	texts := make([][]byte, len(bodies))
	for i, body := range bodies {
		texts[i] = []byte(body)
	}
	peers(b, texts)
}

func BenchmarkBulkPeers(b *testing.B) {
	peers(b, bytes.Split(bytes.TrimSpace([]byte(bulkLog(2000))), []byte("\n")))
}

// peers is what two libraries need for the same texts: encoding/json decodes and
// encodes them, and fastjson parses, walks, replaces every string by another and
// encodes. Neither makes pseudonyms, knows a query or checks what it wrote.
func peers(b *testing.B, texts [][]byte) {
	size := 0
	for _, t := range texts {
		size += len(t) + 1
	}
	run := func(name string, one func([]byte) error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			cpu := newCPUClock()
			for b.Loop() {
				for _, t := range texts {
					if err := one(t); err != nil {
						b.Fatal(err)
					}
				}
			}
			cpu.report(b, int64(size))
		})
	}
	run("peer encoding/json round trip", func(t []byte) error {
		d := json.NewDecoder(bytes.NewReader(t))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return err
		}
		_, err := json.Marshal(v)
		return err
	})
	var p fastjson.Parser
	var a fastjson.Arena
	var dst []byte
	run("peer fastjson walk", func(t []byte) error {
		v, err := p.ParseBytes(t)
		if err != nil {
			return err
		}
		a.Reset()
		dst = replaced(v, a.NewString("t_0123456789abcdef")).MarshalTo(dst[:0])
		return nil
	})
}

// replaced puts token for every string in v.
func replaced(v, token *fastjson.Value) *fastjson.Value {
	switch v.Type() {
	case fastjson.TypeString:
		return token
	case fastjson.TypeArray:
		items, _ := v.Array()
		for i, item := range items {
			if n := replaced(item, token); n != item {
				v.SetArrayItem(i, n)
			}
		}
	case fastjson.TypeObject:
		o, _ := v.Object()
		o.Visit(func(key []byte, item *fastjson.Value) {
			if n := replaced(item, token); n != item {
				v.Set(string(key), n)
			}
		})
	}
	return v
}

// The peers do what they are said to do.
func TestPeerReplacesEveryString(t *testing.T) {
	var p fastjson.Parser
	var a fastjson.Arena
	v, err := p.Parse(`{"a":"x","b":["y",1,{"c":"z"}],"d":null}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"a":"t","b":["t",1,{"c":"t"}],"d":null}`
	if got := string(replaced(v, a.NewString("t")).MarshalTo(nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
