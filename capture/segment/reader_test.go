package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFollow(t *testing.T) {
	w := newWriter(t, testConfig(t.TempDir()))
	r, err := Open(w.path, WithFollow())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	its := items(9)
	for i := range 3 {
		if line, err := r.Next(); !errors.Is(err, io.EOF) || r.Complete() {
			t.Fatalf("before block %d: %q, %v", i, line, err)
		}
		fill(t, w, its[3*i:3*i+3], 3)
		got, err := rest(r)
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		same(t, "lines", got, lines(its[3*i:3*i+3]))
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) || !r.Complete() || r.Footer() == nil {
		t.Errorf("after close: %v, complete %v", err, r.Complete())
	}
	// The name that List gave before the close still opens.
	if got, err := readAll(w.path); err != nil || len(got) != 9 {
		t.Errorf("open name after close: %d lines, %v", len(got), err)
	}
}

// growing is an input of which only a part is there yet.
type growing struct {
	b []byte
	n int
}

func (g *growing) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(g.b[:g.n]).ReadAt(p, off)
}
func (g *growing) Size() (int64, error) { return int64(g.n), nil }
func (g *growing) Busy() bool           { return false }
func (g *growing) Close() error         { return nil }

// A file that grows byte by byte gives each line once, when its block is whole.
func TestFollowEveryByte(t *testing.T) {
	whole, its, footer := smallFile(t)
	in := &growing{b: whole}
	r, err := newReader(in, openName, WithFollow())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for n := range whole {
		in.n = n
		part, err := rest(r)
		if !errors.Is(err, io.EOF) || r.Complete() {
			t.Fatalf("at %d: %v", n, err)
		}
		got = append(got, part...)
		same(t, "lines", len(got), wholeBefore(footer, n))
	}
	in.n = len(whole)
	if _, err := r.Next(); !errors.Is(err, io.EOF) || !r.Complete() {
		t.Errorf("at the end: %v", err)
	}
	same(t, "lines", got, lines(its))
	same(t, "meta", r.Meta().Preset, "strict")
}

// A writer that fails within a block takes it back and writes another: who
// follows sees only the second.
func TestFollowOverATakenBackBlock(t *testing.T) {
	whole, its, footer := smallFile(t)
	torn := bytes.Clone(whole[:footer.Blocks[2].end()])
	for i := footer.Blocks[2].Offset + blockLen + 5; i < int64(len(torn)); i++ {
		torn[i] = 0
	}
	in := &growing{b: torn, n: len(torn)}
	r, err := newReader(in, openName, WithFollow())
	if err != nil {
		t.Fatal(err)
	}
	first, err := rest(r)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	in.b, in.n = whole, len(whole)
	second, err := rest(r)
	if !errors.Is(err, io.EOF) || !r.Complete() {
		t.Fatal(err)
	}
	same(t, "first", first, lines(its[:6]))
	same(t, "second", second, lines(its[6:]))
}

// A file that is being written is no torn file; once its writer is dead it is.
func TestVerifyWhileWritten(t *testing.T) {
	w := newWriter(t, testConfig(t.TempDir()))
	fill(t, w, items(4), 2)
	report, err := Verify(w.path)
	if err != nil || !report.Live || report.Closed || report.Torn || report.Records != 4 {
		t.Errorf("alive: %+v, %v", report, err)
	}
	_ = w.file.Close()
	report, err = Verify(w.path)
	if !errors.Is(err, ErrTorn) || report.Live || !report.Torn || report.TornAt != report.Size || report.Records != 4 {
		t.Errorf("dead: %+v, %v", report, err)
	}
}

func TestFileWithoutRecords(t *testing.T) {
	w := newWriter(t, testConfig(t.TempDir()))
	if got, err := readAll(w.path); err != nil || len(got) != 0 {
		t.Errorf("while open: %q, %v", got, err)
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	report, err := Verify(w.final)
	if err != nil || report.Records != 0 || !report.Closed || report.First != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	r, err := Open(w.final)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.SeekTime(day.UnixNano()); err != nil {
		t.Error(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) || !r.Complete() {
		t.Error(err)
	}
}

func TestEmptyFile(t *testing.T) {
	dir := t.TempDir()
	for file, want := range map[string]error{closedName: ErrTorn, openName: io.EOF} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); !errors.Is(err, want) {
			t.Errorf("%s: %v", file, err)
		}
		same(t, "meta", r.Meta(), Meta{})
		_ = r.Close()
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	newer := newerFile(t)
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"newer version":   {newer, ErrVersion},
		"text":            {[]byte(strings.Repeat("just text\n", 100)), ErrCorrupt},
		"other zstd file": {append([]byte{0x28, 0xB5, 0x2F, 0xFD}, newer...), ErrCorrupt},
		"two bytes":       {[]byte("ab"), ErrCorrupt},
	} {
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, c.b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		for _, other := range []error{ErrVersion, ErrCorrupt, ErrTorn} {
			if !errors.Is(c.want, other) && errors.Is(err, other) {
				t.Errorf("%s: %v is also %v", name, err, other)
			}
		}
	}
	if _, err := Open(dir); err == nil {
		t.Error("opened a directory")
	}
	if _, err := Open(filepath.Join(dir, "absent"+openSuffix)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

// A block of an unknown kind in a sound file is of a newer version, not corrupt.
func TestUnknownKindOfBlock(t *testing.T) {
	whole, its, f := smallFile(t)
	for name, at := range map[string]int64{"kind": 12, "flags": 14} {
		b := bytes.Clone(whole)
		h := b[f.Blocks[1].Offset:]
		h[at] = 2
		binary.LittleEndian.PutUint32(h[blockSummed:], sum(h[:blockSummed]))
		for _, policy := range []OnCorrupt{Fail, Skip} {
			got, _, err := readBytes(b, closedName, WithOnCorrupt(policy))
			var newer *VersionError
			if !errors.As(err, &newer) || newer.Offset != f.Blocks[1].Offset {
				t.Errorf("%s: %v", name, err)
			}
			same(t, "lines", got, lines(its[:3]))
		}
	}
}

func TestLimit(t *testing.T) {
	whole, _, f := smallFile(t)
	most := 0
	for _, b := range f.Blocks {
		most = max(most, int(b.RawLen))
	}
	if _, _, err := readBytes(whole, closedName, WithMaxBlock(max(most, 1024))); !errors.Is(err, io.EOF) {
		t.Errorf("at the limit: %v", err)
	}
	_, _, err := readBytes(whole, closedName, WithMaxBlock(most-1))
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Limit != int64(most-1) || errors.Is(err, ErrCorrupt) {
		t.Errorf("over the limit: %v", err)
	}
}

// Lengths that lie, under checksums that hold, are bounded before anything is
// allocated.
func TestLyingLengths(t *testing.T) {
	whole, _, f := smallFile(t)
	for name, put := range map[string]func(h []byte){
		"raw":         func(h []byte) { binary.LittleEndian.PutUint32(h[36:], 1<<31) },
		"raw shorter": func(h []byte) { binary.LittleEndian.PutUint32(h[36:], f.Blocks[1].RawLen-1) },
		"raw longer":  func(h []byte) { binary.LittleEndian.PutUint32(h[36:], f.Blocks[1].RawLen+1) },
		"raw zero":    func(h []byte) { binary.LittleEndian.PutUint32(h[36:], 0) },
		"packed":      func(h []byte) { binary.LittleEndian.PutUint32(h[40:], 1<<31) },
		"records":     func(h []byte) { binary.LittleEndian.PutUint32(h[32:], 4) },
		"no records":  func(h []byte) { binary.LittleEndian.PutUint32(h[32:], 0) },
	} {
		b := bytes.Clone(whole)
		h := b[f.Blocks[1].Offset:]
		put(h)
		binary.LittleEndian.PutUint32(h[blockSummed:], sum(h[:blockSummed]))
		if used := allocated(func() {
			got, _, err := readBytes(b, closedName)
			if err == nil || errors.Is(err, io.EOF) || len(got) != 3 {
				t.Errorf("%s: %d lines, %v", name, len(got), err)
			}
		}); used > 4<<20 {
			t.Errorf("%s: %d bytes allocated", name, used)
		}
	}
}

// allocated counts the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestLongLines(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.MaxLine = size1MiB
	w := newWriter(t, cfg)
	long := bytes.Repeat([]byte("long "), size1MiB/5)
	its := []item{{"short", 1}, {string(long), 2}, {"", 3}, {strings.Repeat("y", 4095), 4}, {strings.Repeat("z", 4096), 5}, {"end", 6}}
	fill(t, w, its, 0)
	for name, line := range map[string][]byte{
		"too long": make([]byte, size1MiB), "newline": []byte("a\nb"),
	} {
		if err := w.Append(line, 7); Lost(err) != 1 || !errors.Is(err, ErrLine) || w.Err() != nil {
			t.Errorf("%s: %v, writer %v", name, err, w.Err())
		}
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Append([]byte("x"), 8); Lost(err) != 1 || !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	if err := errors.Join(w.Close(nil), w.Flush()); err != nil {
		t.Errorf("second close: %v", err)
	}
	if w.Rotate() == nil || w.Reopen(day) == nil {
		t.Error("rotate and reopen after close")
	}
	got, err := readAll(w.final)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "lines", got, lines(its))
	r, err := Open(w.final)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var sizes []uint32
	blocks, err := r.Index()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		sizes = append(sizes, b.RawLen)
	}
	same(t, "block sizes", sizes, []uint32{6, uint32(len(long) + 1), 1, 4096, 4097, 4})
}

const size1MiB = 1 << 20

// Seeking gives, of all lines from a time on, exactly those that reading
// everything gives, in the same order; with and without a footer.
func TestSeekIsAFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "seek")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		w, err := NewWriter(testConfig(dir), testMeta(), day)
		if err != nil {
			t.Fatal(err)
		}
		times := rapid.SliceOfN(rapid.Int64Range(-50, 50), 0, 40).Draw(t, "times")
		for i, at := range times {
			if err := w.Append([]byte(time.Duration(at).String()), at); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 || i == len(times)-1 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		from, to := rapid.Int64Range(-60, 60).Draw(t, "from"), rapid.Int64Range(-60, 60).Draw(t, "to")
		want := within(times, from, to)
		checkSeek(t, w.path, from, to, want)
		if err := w.Close(nil); err != nil {
			t.Fatal(err)
		}
		checkSeek(t, w.final, from, to, want)
	})
}

func within(times []int64, from, to int64) []string {
	out := []string{}
	for _, at := range times {
		if at >= from && at <= to {
			out = append(out, time.Duration(at).String())
		}
	}
	return out
}

func checkSeek(t *rapid.T, path string, from, to int64, want []string) {
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 { // the second time from where the first has ended
		if err := r.SetRange(from, to); err != nil {
			t.Fatal(err)
		}
		all, err := rest(r)
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		var times []int64
		for _, line := range all {
			d, err := time.ParseDuration(line)
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, int64(d))
		}
		if got := within(times, from, to); !slices.Equal(got, want) {
			t.Fatalf("%s: got %v, want %v", path, got, want)
		}
	}
}

// Blocks outside of the range are not unpacked: damage in them is not seen.
func TestSeekPassesOver(t *testing.T) {
	whole, its, f := smallFile(t)
	b := bytes.Clone(whole)
	b[f.Blocks[0].Offset+blockLen+3] ^= 1
	for name, b := range map[string][]byte{"footer": b, "no footer": b[:f.Blocks[3].end()]} {
		r, err := newReader(inMemory(b), openName)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.SeekTime(its[8].T); err != nil {
			t.Fatal(err)
		}
		got, err := rest(r)
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name, got, lines(its[6:]))
	}
}

func TestIndex(t *testing.T) {
	whole, _, f := smallFile(t)
	for name, b := range map[string][]byte{"footer": whole, "no footer": whole[:f.Blocks[3].end()], "torn": whole[:f.Blocks[3].end()+20]} {
		r, err := newReader(inMemory(b), openName)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil { // the index does not move reading
			t.Fatal(err)
		}
		got, err := r.Index()
		if torn := name == "torn"; torn != errors.Is(err, ErrTorn) || !torn && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name, got, f.Blocks)
		if left, _ := rest(r); len(left) != 11 {
			t.Errorf("%s: %d lines left", name, len(left))
		}
	}
}

func TestReadBlock(t *testing.T) {
	whole, its, f := smallFile(t)
	b := bytes.Clone(whole)
	b[f.Blocks[1].Offset+blockLen+9] ^= 4
	r, err := newReader(inMemory(b), closedName, WithOnCorrupt(Skip))
	if err != nil {
		t.Fatal(err)
	}
	if line, err := r.Next(); err != nil || string(line) != its[0].Line {
		t.Fatal(err)
	}
	for _, i := range []int{3, 0, 2, 2} {
		raw, err := r.ReadBlock(f.Blocks[i])
		if err != nil {
			t.Fatal(err)
		}
		same(t, "lines", string(raw), strings.Join(lines(its[3*i:3*i+3]), "\n")+"\n")
	}
	wrong := f.Blocks[2]
	wrong.Records++
	moved := f.Blocks[2]
	moved.Offset++
	atFooter := f.Blocks[3]
	atFooter.Offset = atFooter.end()
	for name, b := range map[string]BlockInfo{
		"damaged": f.Blocks[1], "another": wrong, "elsewhere": moved, "footer": atFooter, "behind the end": {Offset: 1 << 40},
	} {
		if _, err := r.ReadBlock(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := rest(r) // goes on behind the block that was begun
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	same(t, "rest", got, lines(its[6:]))
}

func TestBlocks(t *testing.T) {
	whole, its, f := smallFile(t)
	r, err := newReader(inMemory(whole), closedName)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range f.Blocks {
		got, raw, err := r.NextBlock()
		if err != nil {
			t.Fatal(err)
		}
		same(t, "block", got, want)
		same(t, "lines", string(raw), strings.Join(lines(its[3*i:3*i+3]), "\n")+"\n")
		low, high := its[3*i].T, its[3*i].T
		for _, it := range its[3*i : 3*i+3] {
			low, high = min(low, it.T), max(high, it.T)
		}
		same(t, "times", []int64{got.First, got.Last}, []int64{low, high})
	}
	if _, _, err := r.NextBlock(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// brokenInput fails to read at and behind an offset.
type brokenInput struct {
	memory
	at int64
}

func (b brokenInput) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.at {
		return 0, errors.New("input/output error")
	}
	return b.memory.ReadAt(p, off)
}

// An error of the disk is that error, never damage of the file.
func TestReadError(t *testing.T) {
	whole, _, _ := smallFile(t)
	for at := range whole {
		r, err := newReader(brokenInput{inMemory(whole), int64(at)}, closedName, WithOnCorrupt(Skip))
		if err == nil {
			_, err = rest(r)
		}
		if err == nil || !strings.Contains(err.Error(), "input/output error") || errors.Is(err, ErrTorn) || errors.Is(err, ErrCorrupt) {
			t.Fatalf("at %d: %v", at, err)
		}
	}
}
