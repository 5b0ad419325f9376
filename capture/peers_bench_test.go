package capture

import (
	"encoding/json"
	"testing"

	"github.com/valyala/fastjson"
)

// BenchmarkRecordPeers is what two libraries need for the line of
// BenchmarkEncode and BenchmarkDecode.
func BenchmarkRecordPeers(b *testing.B) {
	r := benchRecord()
	line := AppendRecord(nil, &r)
	var p fastjson.Parser
	var dst []byte
	for _, c := range []struct {
		name string
		one  func() error
	}{
		{"encoding/json decode", func() error {
			var v map[string]any
			return json.Unmarshal(line, &v)
		}},
		{"encoding/json round trip", func() error {
			var v map[string]any
			if err := json.Unmarshal(line, &v); err != nil {
				return err
			}
			_, err := json.Marshal(v)
			return err
		}},
		{"fastjson decode", func() error {
			_, err := p.ParseBytes(line)
			return err
		}},
		{"fastjson round trip", func() error {
			v, err := p.ParseBytes(line)
			if err == nil {
				dst = v.MarshalTo(dst[:0])
			}
			return err
		}},
	} {
		b.Run("peer "+c.name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.one(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
