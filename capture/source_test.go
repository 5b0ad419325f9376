package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture/segment"
)

// testWriter writes the records of one writer to dir, in blocks of about 4 KiB
// and several files.
type testWriter struct {
	w   *segment.Writer
	seq uint64
}

func newTestWriter(t testing.TB, dir, writer, key string) *testWriter {
	t.Helper()
	cfg := segment.DefaultConfig()
	cfg.Dir, cfg.MinFree, cfg.Sync = dir, 0, segment.SyncNone
	cfg.BlockSize, cfg.RotateSize = 4<<10, 6<<10
	w, err := segment.NewWriter(cfg, segment.Meta{
		Kind: segment.KindCapture, Capture: "c", Writer: writer, KeyID: key, Preset: "strict",
		Source: &segment.Source{UUID: "u", Version: "8.19.0", Flavor: "elasticsearch"},
	}, time.Unix(1_700_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	return &testWriter{w: w}
}

func (w *testWriter) write(t testing.TB, r Record) Record {
	t.Helper()
	w.seq++
	r.Seq = w.seq
	if err := w.w.Append(AppendRecord(nil, &r), r.Time); err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *testWriter) close(t testing.TB) {
	t.Helper()
	if err := w.w.Close(nil); err != nil {
		t.Fatal(err)
	}
}

// noise is text that does not compress, so that files rotate.
func noise(n int, seed uint64) []byte {
	out := make([]byte, 0, n+16)
	for len(out) < n {
		seed = mix(seed + 1)
		out = strconv.AppendUint(out, seed, 36)
	}
	return out[:n]
}

func readAll(s *Source) (records []Record, err error) {
	for {
		var r Record
		if err = s.Read(&r); err != nil {
			break
		}
		records = append(records, r)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return records, err
}

func openAll(t testing.TB, opt SourceOptions, paths ...string) *Source {
	t.Helper()
	s, err := OpenSource(paths, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Whatever the writers, the blocks and the lateness of lines: the merged order
// is the order of time, and everything comes once.
func TestMergedOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		writers := rapid.IntRange(1, 3).Draw(rt, "writers")
		n := rapid.IntRange(0, 120).Draw(rt, "records")
		late := rapid.SampledFrom([]int64{0, 3, 40, 1000}).Draw(rt, "late")
		held := rapid.SampledFrom([]int64{0, 1, 9000}).Draw(rt, "held")
		var want []Record
		for w := range writers {
			out := newTestWriter(t, dir, fmt.Sprintf("w%d", w), "k")
			for i := range n {
				r := Record{
					Time: int64(i)*5 + 1000 - rapid.Int64Range(0, late).Draw(rt, "lag"), Conn: uint64(i % 9), Method: "GET",
					Body: noise(rapid.IntRange(0, 900).Draw(rt, "len"), uint64(i)),
				}
				if rapid.IntRange(0, 20).Draw(rt, "gap") == 0 {
					r = Record{Kind: KindGap, Time: r.Time, Gap: &Gap{Reason: "r", Count: 1}}
				}
				r = out.write(t, r)
				r.Conn |= uint64(w) << connBits
				want = append(want, r)
			}
			out.close(t)
		}
		// Files come in order of writer and number, and lines in that of seq.
		slices.SortStableFunc(want, func(a, b Record) int { return cmp.Compare(a.Time, b.Time) })
		from, to := int64(0), int64(0)
		if rapid.Bool().Draw(rt, "bounds") {
			from, to = rapid.Int64Range(900, 1700).Draw(rt, "from"), rapid.Int64Range(900, 1700).Draw(rt, "to")
			want = slices.DeleteFunc(want, func(r Record) bool { return r.Time < from || r.Time >= to })
		}
		s, err := OpenSource([]string{dir}, SourceOptions{From: from, To: to, MaxHeld: held})
		if err != nil {
			rt.Fatal(err)
		}
		got, err := readAll(s)
		if err != nil || len(s.Warnings()) > 0 || s.Missing() != (Missing{}) {
			rt.Fatal(err, s.Warnings(), s.Missing())
		}
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
		if len(got) != len(want) {
			rt.Fatalf("%d records, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i].Time != want[i].Time || got[i].Seq != want[i].Seq || len(got[i].Body) != len(want[i].Body) || got[i].Conn != want[i].Conn {
				rt.Fatalf("place %d: t %d seq %d, want t %d seq %d", i, got[i].Time, got[i].Seq, want[i].Time, want[i].Seq)
			}
		}
	})
}

// One line that is very late must not keep what lies between in memory, and
// lateness everywhere stays within the bound.
func TestConstantMemory(t *testing.T) {
	for _, c := range []struct {
		name   string
		late   func(i int) int64
		held   int64
		blocks int // overlapping ones that may be held
	}{
		{"in order", func(int) int64 { return 0 }, 0, 2},
		{"one line late by everything", func(i int) int64 { return map[bool]int64{true: 1e9}[i == 4999] }, 0, 4},
		{"one in each block late by much", func(i int) int64 { return map[bool]int64{true: 500}[i%16 == 0] }, 64 << 10, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			w := newTestWriter(t, dir, "w", "k")
			const n = 5000
			for i := range n {
				w.write(t, Record{Time: 1e9 + int64(i) - c.late(i), Body: noise(240, uint64(i))})
			}
			w.close(t)
			s := openAll(t, SourceOptions{MaxHeld: c.held}, dir)
			last, count, open := int64(0), 0, 0
			for {
				r, err := s.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.Time < last {
					t.Fatalf("record %d: %d after %d", count, r.Time, last)
				}
				last = r.Time
				count++
				if !bytes.Equal(s.Line(), AppendRecord(nil, r)) {
					t.Fatalf("record %d: line %q", count, s.Line())
				}
				limit := s.opt.MaxHeld
				if most := int64(c.blocks) * 5000; c.held == 0 && most < limit {
					limit = most
				}
				if s.merge.held > max(limit, 5000) || len(s.merge.cursors) > c.blocks {
					t.Fatalf("record %d: %d bytes of %d blocks held", count, s.merge.held, len(s.merge.cursors))
				}
				open = 0
				for _, f := range s.files {
					if f.reader != nil {
						open++
					}
				}
				if open > 5 && c.held == 0 {
					t.Fatalf("record %d: %d files open", count, open)
				}
			}
			if count != n {
				t.Errorf("%d records", count)
			}
			if blocks := s.Info().RawBytes / 4000; blocks < 300 {
				t.Errorf("only about %d blocks", blocks)
			}
			for _, f := range s.files {
				if f.reader != nil {
					t.Error("a file is open at the end")
				}
			}
		})
	}
}

func TestSourceInfo(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		w := newTestWriter(t, dir, name, "k1")
		for i := range 50 {
			w.write(t, Record{Time: int64(100 + i), Body: noise(300, uint64(i))})
		}
		w.close(t)
	}
	s := openAll(t, SourceOptions{}, dir)
	i := s.Info()
	if i.Records != 100 || i.First != 100 || i.Last != 149 || i.Files < 4 || len(i.Metas) != i.Files || i.Bytes == 0 ||
		!slices.Equal(i.Writers, []string{"c/a", "c/b"}) || !slices.Equal(i.KeyIDs, []string{"k1"}) || i.RawBytes < 30000 {
		t.Errorf("%+v", i)
	}
	half := openAll(t, SourceOptions{From: 140}, dir).Info()
	if half.Records >= 100 || half.Records < 20 {
		t.Errorf("from the middle: %d records announced", half.Records)
	}
}

func TestMixedKeys(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for dir, key := range map[string]string{one: "k1", two: "k2"} {
		w := newTestWriter(t, dir, "w", key)
		w.write(t, Record{Time: 1})
		w.close(t)
	}
	_, err := OpenSource([]string{one, two}, SourceOptions{})
	if !errors.Is(err, ErrMixedKeys) || !strings.Contains(err.Error(), "k1") || !strings.Contains(err.Error(), "k2") {
		t.Errorf("%v", err)
	}
	if got, err := readAll(openAll(t, SourceOptions{MixedKeys: true}, one, two)); err != nil || len(got) != 2 {
		t.Errorf("%d records, %v", len(got), err)
	}
}

func TestNoFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenSource([]string{dir}, SourceOptions{}); err == nil {
		t.Error("an empty directory is a capture")
	}
	if _, err := OpenSource([]string{filepath.Join(dir, "none")}, SourceOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	newTestWriter(t, dir, "w", "k").close(t)
	if got, err := readAll(openAll(t, SourceOptions{}, dir)); err != nil || len(got) != 0 {
		t.Errorf("a file without records: %d, %v", len(got), err)
	}
}

// oneFile writes n records and returns the only file and its blocks.
func oneFile(t *testing.T, n int) (path string, whole []byte, blocks []segment.BlockInfo) {
	t.Helper()
	dir := t.TempDir()
	w := newTestWriter(t, dir, "w", "k")
	for i := range n {
		w.write(t, Record{Time: int64(1000 + i), Body: []byte(strings.Repeat("x", 500))})
	}
	w.close(t)
	files, err := segment.List(segment.SuffixCapture, dir)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	r, err := segment.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if blocks, err = r.Index(); err != nil || r.Close() != nil {
		t.Fatal(err)
	}
	if whole, err = os.ReadFile(files[0]); err != nil {
		t.Fatal(err)
	}
	return files[0], whole, blocks
}

// Cut anywhere: all records of whole blocks come, and the cut is named.
func TestTornAnywhere(t *testing.T) {
	path, whole, blocks := oneFile(t, 40)
	if len(blocks) < 3 {
		t.Fatalf("%d blocks", len(blocks))
	}
	header := blocks[1].Offset - blocks[0].Offset - int64(blocks[0].PackedLen)
	torn := filepath.Join(t.TempDir(), filepath.Base(path))
	for cut := range len(whole) {
		if err := os.WriteFile(torn, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, b := range blocks {
			if b.Offset+header+int64(b.PackedLen) <= int64(cut) {
				want += int(b.Records)
			}
		}
		s, err := OpenSource([]string{torn}, SourceOptions{})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		got, err := readAll(s)
		if err != nil || len(got) != want {
			t.Errorf("cut at %d: %d records, want %d; %v", cut, len(got), want, err)
		}
		if w := s.Warnings(); len(w) != 1 || !errors.Is(w[0], segment.ErrTorn) || !strings.Contains(w[0].Error(), torn) {
			t.Errorf("cut at %d: warnings %v", cut, w)
		}
		_ = s.Close()
	}
}

func TestCorruptBlock(t *testing.T) {
	path, whole, blocks := oneFile(t, 40)
	bad := slices.Clone(whole)
	bad[blocks[1].Offset+100] ^= 1 // in the packed bytes
	damaged := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(damaged, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readAll(openAll(t, SourceOptions{}, damaged))
	if !errors.Is(err, segment.ErrCorrupt) || !strings.Contains(err.Error(), damaged) {
		t.Errorf("by default: %v", err)
	}
	s := openAll(t, SourceOptions{OnCorrupt: segment.Skip}, damaged)
	got, err := readAll(s)
	if err != nil || len(got) != 40-int(blocks[1].Records) {
		t.Errorf("skipping: %d records, %v", len(got), err)
	}
	if want := (Missing{Blocks: 1, Records: uint64(blocks[1].Records)}); s.Missing() != want {
		t.Errorf("missing %+v, want %+v", s.Missing(), want)
	}
}

func TestLineThatIsNoRecord(t *testing.T) {
	dir := t.TempDir()
	w := newTestWriter(t, dir, "w", "k")
	w.write(t, Record{Time: 1})
	if err := w.w.Append([]byte(`{"seq":2,"t":"SECRET"}`), 2); err != nil {
		t.Fatal(err)
	}
	w.write(t, Record{Time: 3})
	w.close(t)
	got, err := readAll(openAll(t, SourceOptions{}, dir))
	if len(got) != 1 || !errors.Is(err, ErrLine) || !strings.Contains(err.Error(), "offset") || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("%d records, %v", len(got), err)
	}
	s := openAll(t, SourceOptions{OnCorrupt: segment.Skip}, dir)
	if got, err := readAll(s); err != nil || len(got) != 2 || s.Missing() != (Missing{Lines: 1, Records: 1}) {
		t.Errorf("%d records, %v, %+v", len(got), err, s.Missing())
	}
}

func TestOutcomesAreNoCapture(t *testing.T) {
	dir := t.TempDir()
	w := newTestWriter(t, dir, "w", "k")
	w.close(t)
	cfg := segment.DefaultConfig()
	cfg.Dir, cfg.MinFree = dir, 0
	o, err := segment.NewWriter(cfg, segment.Meta{Kind: segment.KindOutcomes, Capture: "c", Writer: "o"}, time.Unix(1, 0), segment.WithSuffix(segment.SuffixOutcomes))
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSuffix(o.Stats().Path, ".open")
	if err := o.Close(nil); err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(openAll(t, SourceOptions{}, dir)); err != nil || len(got) != 0 {
		t.Errorf("%d records, %v", len(got), err)
	}
	if _, err := OpenSource([]string{path}, SourceOptions{}); err == nil || !strings.Contains(err.Error(), "outcomes") {
		t.Errorf("%v", err)
	}
}

func TestLineTime(t *testing.T) {
	for _, r := range vectors() {
		if got, ok := lineTime(AppendRecord(nil, &r)); !ok || got != r.Time {
			t.Errorf("%d, %v; want %d", got, ok, r.Time)
		}
	}
	for line, want := range map[string]int64{
		`{"t":5,"seq":1}`: 5, `{"seq":1,"t":-9223372036854775808}`: -9223372036854775808,
		`{ "seq" : 1, "t" : 7 }`: 7, `{"seq":1,"conn":3,"t":8}`: 8, `{"seq":1,"t":0}`: 0, `{"seq":1,"t":-3,"n":1}`: -3,
	} {
		if got, ok := lineTime([]byte(line)); !ok || got != want {
			t.Errorf("%s: %d, %v", line, got, ok)
		}
	}
	for _, line := range []string{``, `{"seq":1,"t":`, `{"seq":1,"t":1.5}`, `{"seq":1,"t":-}`, `{"seq":1,"t":"x"}`} {
		if got, ok := lineTime([]byte(line)); ok {
			t.Errorf("%s: %d", line, got)
		}
	}
}

func BenchmarkSource(b *testing.B) {
	dir := b.TempDir()
	cfg := segment.DefaultConfig()
	cfg.Dir, cfg.MinFree = dir, 0
	w, err := segment.NewWriter(cfg, segment.Meta{Kind: segment.KindCapture, Capture: "c", Writer: "w"}, time.Unix(1, 0))
	if err != nil {
		b.Fatal(err)
	}
	r := benchRecord()
	raw := 0
	for i := range 20000 {
		r.Seq, r.Time = uint64(i), int64(i)
		line := AppendRecord(nil, &r)
		raw += len(line)
		if err := w.Append(line, r.Time); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(nil); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(raw))
	b.ReportAllocs()
	for b.Loop() {
		s, err := OpenSource([]string{dir}, SourceOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for n := 0; ; n++ {
			if _, err := s.Next(); err != nil {
				if n != 20000 {
					b.Fatal(n, err)
				}
				break
			}
		}
		_ = s.Close()
	}
}
