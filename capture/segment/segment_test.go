package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// day is the time at which tests begin; it lies in the past, since nothing may
// depend on the clock.
var day = time.Date(2026, 3, 14, 9, 26, 53, 589e6, time.UTC)

func testConfig(dir string) Config {
	cfg := DefaultConfig()
	cfg.Dir, cfg.BlockSize, cfg.MinFree, cfg.Sync = dir, 4096, 0, SyncNone
	return cfg
}

func testMeta() Meta {
	return Meta{Kind: KindCapture, Capture: "shop", Writer: "w1", Salt: "00ff", Preset: "strict", Source: &Source{UUID: "u", Version: "8.19.0", Flavor: "elasticsearch"}}
}

func newWriter(t testing.TB, cfg Config, opts ...Option) *Writer {
	t.Helper()
	w, err := NewWriter(cfg, testMeta(), day, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// item is a line and its time.
type item struct {
	Line string
	T    int64
}

// items makes n different lines a second apart, every third late.
func items(n int) []item {
	out := make([]item, n)
	for i := range out {
		t := day.Add(time.Duration(i) * time.Second)
		if i%3 == 2 {
			t = t.Add(-2500 * time.Millisecond)
		}
		out[i] = item{Line: fmt.Sprintf(`{"seq":%d,"t":%d,"target":"/shop/_search?n=%d"}`, i, t.UnixNano(), i*7919), T: t.UnixNano()}
	}
	return out
}

func lines(its []item) []string {
	out := []string{}
	for _, it := range its {
		out = append(out, it.Line)
	}
	return out
}

// fill appends items and cuts a block after every per of them.
func fill(t testing.TB, w *Writer, its []item, per int) {
	t.Helper()
	for i, it := range its {
		if err := w.Append([]byte(it.Line), it.T); err != nil {
			t.Fatal(err)
		}
		if per > 0 && i%per == per-1 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// rest reads what the reader still gives.
func rest(r *Reader) (out []string, err error) {
	out = []string{}
	for {
		line, err := r.Next()
		if err != nil {
			return out, err
		}
		out = append(out, string(line))
	}
}

// readAll opens and reads a file; io.EOF, the good end, is nil.
func readAll(path string, opts ...ReadOption) ([]string, error) {
	r, err := Open(path, opts...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out, err := rest(r)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return out, err
}

// files are the names in dir.
func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestWriteThenRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	var done Written
	w := newWriter(t, testConfig(dir), OnWritten(func(d Written) {
		done.Records += d.Records
		done.Raw += d.Raw
		done.Packed += d.Packed
	}))
	its := items(500)
	fill(t, w, its, 0)
	if err := w.Close(map[string]uint64{"queue_full": 3, "none": 0}); err != nil {
		t.Fatal(err)
	}
	same(t, "names", files(t, dir), []string{"shop-20260314T092653.589Z-w1-000001.ndjson.zst"})

	path := filepath.Join(dir, files(t, dir)[0])
	got, err := readAll(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "lines", got, lines(its))

	report, err := Verify(path)
	if err != nil {
		t.Fatal(err)
	}
	var raw uint64
	for _, it := range its {
		raw += uint64(len(it.Line)) + 1
	}
	same(t, "written", done.Records, uint64(500))
	same(t, "raw", []uint64{done.Raw, report.Raw, w.Stats().Raw}, []uint64{raw, raw, raw})
	same(t, "drops", report.Drops, map[string]uint64{"queue_full": 3})
	if report.Blocks < 5 || report.Size != int64(w.Stats().Packed) || report.Records != 500 {
		t.Errorf("report %+v, stats %+v", report, w.Stats())
	}
	want := testMeta()
	want.Format, want.Created = 1, day
	same(t, "meta", report.Meta, want)
}
