package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func skippable(content string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0x184D2A5E)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(content))), content...)
}

func data(t testing.TB, lines string, opt ...zstd.EOption) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil, opt...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	return e.EncodeAll([]byte(lines), nil)
}

func write(t testing.TB, name string, parts ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, bytes.Join(parts, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	head := skippable("ESHF\x01\x00\x00\x00" + `{"capture":"x"}`)
	repeated := strings.Repeat("\n", 1<<18) // a block of one byte
	path := write(t, "x.ndjson.zst", head,
		data(t, `{"seq":1,"body":"nothing"}`+"\n"), skippable("ESHB\x00\x01marigold\x00"),
		data(t, `{"seq":2,"body":"marigold"}`+"\n"+`{"seq":3}`+"\n", zstd.WithEncoderCRC(false)), data(t, repeated))
	s := newScanner(t, Options{Words: []string{"marigold"}})
	if err := s.File(path); err != nil {
		t.Fatal(err)
	}
	r := s.Report()
	if r.Files != 1 || r.Found != 2 || r.Findings[0].Field != "frame ESHB" || r.Findings[1].Seq != 2 {
		t.Errorf("%+v", r)
	}
}

func TestFileNames(t *testing.T) {
	s := newScanner(t, Options{Words: []string{"marigold"}})
	if err := s.File(write(t, "es-Marigold-1.ndjson.zst", data(t, `{"seq":1}`+"\n"))); err != nil {
		t.Fatal(err)
	}
	if r := s.Report(); r.Found != 1 || r.Findings[0].Field != "file name" {
		t.Errorf("%+v", r)
	}
}

// Every cut of a file, and every kind of damage, is told; what lies before it is
// looked at.
func TestDamagedFiles(t *testing.T) {
	first := data(t, `{"seq":1,"body":"marigold"}`+"\n")
	second := data(t, `{"seq":2,"body":"something longer than nothing at all"}`+"\n")
	for cut := 1; cut < len(second); cut++ {
		s := newScanner(t, Options{Words: []string{"marigold"}})
		if err := s.File(write(t, "x", first, second[:cut])); err != nil {
			t.Fatal(err)
		}
		if r := s.Report(); r.Undecoded != 1 || r.Found != 1 {
			t.Fatalf("cut at %d: %+v", cut, r)
		}
	}
	flipped := bytes.Clone(second)
	flipped[len(flipped)-6] ^= 1
	for name, file := range map[string][]byte{
		"flipped":   flipped,
		"no zstd":   []byte("plain text, no frame"),
		"too large": append(binary.LittleEndian.AppendUint32(nil, 0x184D2A50), 0xFF, 0xFF, 0xFF, 0xFF),
		"sealed":    skippable("ESHF\x01\x00\x01\x00{}"),
		"cut skip":  skippable("ESHF\x01\x00\x00\x00{}")[:12],
	} {
		s := newScanner(t, Options{})
		if err := s.File(write(t, "x", file)); err != nil {
			t.Fatal(err)
		}
		if r := s.Report(); r.Undecoded == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if err := newScanner(t, Options{}).File(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file is no error")
	}
}

// The lines of a sealed file come from outside; its frames are looked at all the
// same, but for the ciphertext.
func TestSealedFile(t *testing.T) {
	path := write(t, "x", skippable("ESHF\x01\x00\x01\x00"+`{"capture":"petunia"}`), skippable("ESHS marigold"), skippable("ESHZ tulip"))
	opt := Options{Words: []string{"marigold", "petunia", "tulip", "lily"}}
	opt.Unseal = func(p string, line func([]byte)) error {
		if p != path {
			t.Errorf("asked to open %s", p)
		}
		line([]byte(`{"seq":7,"body":"lily"}`))
		return errors.New("torn there")
	}
	s := newScanner(t, opt)
	plain := write(t, "y", skippable("ESHF\x01\x00\x00\x00{}"), data(t, `{"seq":1,"body":"x"}`+"\n"))
	for _, p := range []string{path, plain} {
		if err := s.File(p); err != nil {
			t.Fatal(err)
		}
	}
	r := s.Report()
	if r.Found != 3 || r.Findings[2].Seq != 7 || r.Undecoded != 1 || r.Lines != 2 {
		t.Errorf("%+v", r)
	}
}

func FuzzFile(f *testing.F) {
	f.Add(append(skippable("ESHFxxxx"), data(f, `{"seq":1}`+"\n")...))
	f.Add(data(f, strings.Repeat("a", 1<<12)))
	f.Fuzz(func(t *testing.T, file []byte) {
		s := newScanner(t, Options{Detect: true})
		if err := s.File(write(t, "x", file)); err != nil {
			t.Fatal(err)
		}
	})
}
