package segment

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"
)

// varied makes lines that compress about as search traffic does.
func varied(total int) [][]byte {
	var out [][]byte
	seed := uint64(1)
	next := func(n uint64) uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return (seed >> 33) % n
	}
	word := func() string { return fmt.Sprintf("w%x", next(1<<20)) }
	for i := 0; total > 0; i++ {
		line := fmt.Appendf(nil, `{"seq":%d,"t":%d,"conn":%d,"op":"search","method":"POST","target":"/shop-%d/_search","headers":{"Content-Type":"application/json"},`+
			`"body":{"query":{"bool":{"must":[{"match":{"title":"%s %s"}}],"filter":[{"term":{"brand":"%s"}},{"range":{"price":{"gte":%d,"lt":%d}}}]}},"size":%d},"status":200,"want":{"took":%d,"total":%d}}`,
			i, day.UnixNano()+int64(next(1e12)), next(200), next(8), word(), word(), word(), next(500), 500+next(9000), 10*next(5), next(90), next(100000))
		out = append(out, line)
		total -= len(line) + 1
	}
	return out
}

func BenchmarkWrite(b *testing.B) {
	in := varied(16 << 20)
	for _, blockSize := range []int{64 << 10, 256 << 10, 1 << 20} {
		for _, level := range []Level{LevelFastest, LevelDefault, LevelBetter} {
			b.Run(fmt.Sprintf("%dKiB/%s", blockSize>>10, level), func(b *testing.B) {
				cfg := testConfig(b.TempDir())
				cfg.Level, cfg.RotateSize, cfg.KeepFiles = level, 64<<20, 1
				_ = cfg.BlockSize.Set(fmt.Sprint(blockSize))
				w := newWriter(b, cfg)
				b.ReportAllocs()
				var n int64
				for i := 0; b.Loop(); i++ {
					line := in[i%len(in)]
					if err := w.Append(line, int64(i)); err != nil {
						b.Fatal(err)
					}
					n += int64(len(line)) + 1
				}
				b.SetBytes(n / int64(max(b.N, 1)))
				s := w.Stats()
				b.ReportMetric(float64(s.Raw)/float64(max(s.Packed, 1)), "ratio")
				if err := w.Close(nil); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	in := varied(16 << 20)
	for _, blockSize := range []int{64 << 10, 256 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", blockSize>>10), func(b *testing.B) {
			cfg := testConfig(b.TempDir())
			_ = cfg.BlockSize.Set(fmt.Sprint(blockSize))
			w := newWriter(b, cfg)
			for i, line := range in {
				if err := w.Append(line, int64(i)); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(nil); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(w.Stats().Raw))
			b.ReportAllocs()
			start := time.Now()
			lines := 0
			for b.Loop() {
				r, err := Open(w.final)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					if _, err = r.Next(); err == nil {
						lines++
					}
				}
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
				_ = r.Close()
			}
			b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(max(lines, 1)), "ns/line")
		})
	}
}
