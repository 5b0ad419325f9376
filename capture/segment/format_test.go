package segment

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/testenv"
)

func joined(errs ...error) error { return errors.Join(errs...) }

var updateVector = flag.Bool("update-vector", false, "write testdata/v1.ndjson.zst anew: only before a version of the format is released")

const vectorFile = "testdata/v1.ndjson.zst"

// vectorItems are the lines of the test vector: two blocks of two.
func vectorItems() []item {
	return []item{
		{`{"seq":1,"t":1773480413589000000,"op":"search"}`, 1773480413589000000},
		{`{"seq":2,"t":1773480413588000001,"op":"bulk"}`, 1773480413588000001},
		{`{"seq":3,"t":1773480414000000000,"op":"search"}`, 1773480414000000000},
		{`{"seq":4,"t":1773480415000000000,"op":"search"}`, 1773480415000000000},
	}
}

func vectorMeta() Meta {
	return Meta{
		Kind: KindCapture, Capture: "shop", Writer: "w1", Encoding: "ndjson/1", Salt: "000102030405060708090a0b0c0d0e0f",
		KeyID: "k1", Rules: "r1", Scheme: "s1", Preset: "strict", Source: &Source{UUID: "uuid", Version: "8.19.0", Flavor: "elasticsearch"},
	}
}

// writeVector writes the vector's lines as this version does.
func writeVector(t testing.TB) string {
	t.Helper()
	w, err := NewWriter(testConfig(t.TempDir()), vectorMeta(), day)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, w, vectorItems(), 2)
	if err := w.Close(map[string]uint64{"queue_full": 7}); err != nil {
		t.Fatal(err)
	}
	return w.final
}

// The file of version 1 is read for ever.
func TestVector(t *testing.T) {
	if *updateVector {
		b, err := os.ReadFile(writeVector(t))
		if err == nil {
			err = os.WriteFile(vectorFile, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := readAll(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "lines", got, lines(vectorItems()))
	report, err := Verify(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	want := vectorMeta()
	want.Format, want.Created = 1, day
	same(t, "meta", report.Meta, want)
	same(t, "drops", report.Drops, map[string]uint64{"queue_full": 7})
	same(t, "times", []int64{report.First, report.Last}, []int64{1773480413588000001, 1773480415000000000})
}

// What this version writes differs from the vector at most in the data frames,
// which belong to the compressor, and in what follows from their length.
func TestVectorHeaders(t *testing.T) {
	want, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(writeVector(t))
	if err != nil {
		t.Fatal(err)
	}
	n := wholeFrame(want)
	if !bytes.Equal(got[:n], want[:n]) {
		t.Errorf("file header differs:\n%s\n%s", hex.Dump(got[:n]), hex.Dump(want[:n]))
	}
	block := n + 40 // up to the packed length
	if !bytes.Equal(got[n:block], want[n:block]) {
		t.Errorf("block header differs:\n%s\n%s", hex.Dump(got[n:block]), hex.Dump(want[n:block]))
	}
}

// docs/segment-format.md shows the vector's headers byte by byte.
func TestDocumentShowsTheVector(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "segment-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReader(inMemory(b), closedName)
	if err != nil {
		t.Fatal(err)
	}
	f := r.Footer()
	_, at := r.tail()
	for part, span := range map[string][2]int64{
		"file header": {0, r.first}, "first block header": {f.Blocks[0].Offset, f.Blocks[0].Offset + blockLen},
		"second block header": {f.Blocks[1].Offset, f.Blocks[1].Offset + blockLen}, "footer": {at, int64(len(b))},
	} {
		if dump := dumpAt(b, span[0], span[1]); !strings.Contains(string(doc), dump) {
			t.Errorf("the document lacks the %s:\n%s", part, dump)
		}
	}
	for what, n := range map[string]int{
		"header of a block": blockLen, "row of the table": entryLen, "fixed part of the footer": footerFixed, "tail": tailLen,
	} {
		if !strings.Contains(string(doc), fmt.Sprintf("%s: %d bytes", what, n)) {
			t.Errorf("the document does not say %q: %d bytes", what, n)
		}
	}
}

// dumpAt prints bytes with their offsets in the file, as xxd does.
func dumpAt(b []byte, from, to int64) string {
	var s strings.Builder
	for at := from; at < to; at += 16 {
		row := b[at:min(at+16, to)]
		text := strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '.'
			}
			return r
		}, strings.ToValidUTF8(latin(row), "."))
		fmt.Fprintf(&s, "%06x  %-47s  %s\n", at, strings.TrimRight(fmt.Sprintf("% x", row), " "), text)
	}
	return s.String()
}

func latin(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}

// Any decoder of zstd prints the lines, and nothing else.
func TestAnyDecoderPrintsTheLines(t *testing.T) {
	whole, its, _ := smallFile(t)
	want := strings.Join(lines(its), "\n") + "\n"
	dec, err := zstd.NewReader(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	got, err := io.ReadAll(dec)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "klauspost", string(got), want)
}

func TestCommandLineToolPrintsTheLines(t *testing.T) {
	tool, err := exec.LookPath("zstd")
	if err != nil {
		testenv.Skip(t, "install zstd to run this test")
	}
	paths := []string{vectorFile}
	wants := []string{strings.Join(lines(vectorItems()), "\n") + "\n"}
	for _, level := range []Level{LevelFastest, LevelDefault, LevelBetter} {
		cfg := testConfig(t.TempDir())
		cfg.Level = level
		w := newWriter(t, cfg)
		its := append(items(300), item{strings.Repeat("a long line ", 1<<20), 1}, item{"", 2})
		fill(t, w, its, 0)
		if err := w.Close(nil); err != nil {
			t.Fatal(err)
		}
		paths, wants = append(paths, w.final), append(wants, strings.Join(lines(its), "\n")+"\n")
	}
	for i, path := range paths {
		out, err := exec.Command(tool, "-dcq", path).Output()
		if err != nil || string(out) != wants[i] {
			t.Errorf("%s: %d bytes, want %d, %v", path, len(out), len(wants[i]), err)
		}
		if err := exec.Command(tool, "-tq", path).Run(); err != nil {
			t.Errorf("%s: zstd -t: %v", path, err)
		}
	}
}

func TestHeadersComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := BlockInfo{
			Offset: rapid.Int64Range(0, 1<<40).Draw(t, "offset"), Seq: rapid.Uint32().Draw(t, "seq"), Index: rapid.Uint64().Draw(t, "index"),
			Records: rapid.Uint32().Draw(t, "records"), RawLen: rapid.Uint32().Draw(t, "raw"),
			First: rapid.Int64().Draw(t, "first"), Last: rapid.Int64().Draw(t, "last"),
		}
		frame := rapid.SliceOf(rapid.Byte()).Draw(t, "frame")
		b.PackedLen = uint32(len(frame))
		mark := rapid.Uint32().Draw(t, "mark")
		out := append(make([]byte, blockLen), frame...)
		putBlockHeader(out, kindZstd, mark, b)
		h, ok := decodeBlockHeader(out, b.Offset)
		if !ok || h.BlockInfo != b || h.mark != mark || h.sum != sum(frame) || h.newer != "" || !bytes.Equal(out[blockLen:], frame) {
			t.Fatalf("%+v came back as %+v", b, h)
		}
		f := &Footer{Blocks: []BlockInfo{}}
		for range rapid.IntRange(0, 5).Draw(t, "blocks") {
			b.First, b.Seq = rapid.Int64().Draw(t, "t"), b.Seq+1
			f.add(b)
		}
		f.Repaired = rapid.Bool().Draw(t, "repaired")
		f.Drops = rapid.MapOfN(rapid.StringMatching(`[a-z_]+`), rapid.Uint64(), 1, 4).Draw(t, "drops")
		enc, err := appendFooter(nil, mark, f)
		if err != nil {
			t.Fatal(err)
		}
		got, newer, bad := decodeFooter(enc, mark, false)
		if newer != "" || bad != "" || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", f) {
			t.Fatalf("%+v came back as %+v (%s)", f, got, bad)
		}
	})
}

// A header of any version that keeps the rules of all versions is told apart
// from damage.
func TestNewerHeader(t *testing.T) {
	b := newerFile(t)
	b = b[:wholeFrame(b)]
	if _, _, newer, bad := decodeFileHeader(b); newer != "format version 2" || bad != "" {
		t.Errorf("newer %q, bad %q", newer, bad)
	}
	binary.LittleEndian.PutUint16(b[12:], formatVersion)
	binary.LittleEndian.PutUint16(b[14:], 2)
	binary.LittleEndian.PutUint32(b[len(b)-sumLen:], sum(b[:len(b)-sumLen]))
	if _, _, newer, _ := decodeFileHeader(b); newer != "header flags 0x2" {
		t.Errorf("newer %q", newer)
	}
}

func TestUnknownMetaIsIgnored(t *testing.T) {
	b, _, err := appendFileHeader(nil, testMeta())
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Replace(b[fileFixed:len(b)-sumLen], []byte(`{"format"`), []byte(`{"later":[1],"format"`), 1)
	n := appendFrame(nil, tagFile, fileFixed-frameLen+len(text)+sumLen)
	n = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(n, formatVersion), uint32(len(text)))
	n = append(n, text...)
	n = binary.LittleEndian.AppendUint32(n, sum(n))
	got, _, newer, bad := decodeFileHeader(n)
	if newer != "" || bad != "" || got.Capture != "shop" {
		t.Errorf("%+v, %q, %q", got, newer, bad)
	}
	huge := testMeta()
	huge.Rules = strings.Repeat("x", maxMeta)
	if _, _, err := appendFileHeader(nil, huge); err == nil {
		t.Error("header over the limit")
	}
}
