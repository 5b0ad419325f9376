package es

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/valyala/fastjson"
)

// BenchmarkPeers is what two libraries need to read what the other benchmarks of
// this package read.
func BenchmarkPeers(b *testing.B) {
	var p fastjson.Parser
	for _, in := range []struct {
		name string
		text []byte
	}{{"doc", []byte(benchDoc)}, {"search", []byte(benchSearch)}, {"answer", searchAnswer()}} {
		for _, c := range []struct {
			name string
			one  func() error
		}{
			{"encoding/json valid", func() error {
				if !json.Valid(in.text) {
					return errors.New("not valid")
				}
				return nil
			}},
			{"encoding/json decode", func() error {
				var v any
				return json.Unmarshal(in.text, &v)
			}},
			{"fastjson decode", func() error {
				_, err := p.ParseBytes(in.text)
				return err
			}},
		} {
			b.Run(in.name+" peer "+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(in.text)))
				b.ReportAllocs()
				for b.Loop() {
					if err := c.one(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
