package segment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNames(t *testing.T) {
	for _, n := range []Name{
		{Capture: "shop", Start: day, Writer: "w1", Number: 1, Suffix: SuffixCapture},
		{Capture: "a-b-c", Start: day, Writer: "host_2", Number: 1234567, Suffix: SuffixOutcomes, Open: true},
	} {
		got, ok := ParseName(filepath.Join("some", "dir", n.String()))
		if !ok {
			t.Errorf("%s does not parse", n)
		}
		same(t, n.String(), got, n)
	}
	good := name(1, day, false)
	for _, bad := range []string{
		"", SuffixCapture, "shop" + SuffixCapture, strings.TrimPrefix(good, "shop"), strings.TrimPrefix(good, "shop-"),
		strings.Replace(good, "000001", "00001", 1), strings.Replace(good, "000001", "00000x", 1),
		strings.Replace(good, "2026", "20x6", 1), strings.Replace(good, "w1", "w.1", 1), strings.Replace(good, "w1", "", 1),
		good + ".bak", strings.Replace(good, SuffixCapture, ".ndjson.gz", 1), strings.Replace(good, "0314", "1314", 1),
	} {
		if n, ok := ParseName(bad); ok {
			t.Errorf("%q parses as %+v", bad, n)
		}
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	at := func(capture, writer string, number int, start time.Time, suffix string, open bool) string {
		return Name{Capture: capture, Writer: writer, Start: start, Number: uint64(number), Suffix: suffix, Open: open}.String()
	}
	want := []string{ // in order; times that contradict numbers do not count
		"renamed" + SuffixCapture,
		at("a", "w1", 1, day.Add(time.Hour), SuffixCapture, false),
		at("a", "w1", 2, day, SuffixCapture, false),
		at("a", "w2", 1, day, SuffixCapture, false),
		at("b", "w1", 999999, day, SuffixCapture, false),
		at("b", "w1", 1000000, day, SuffixCapture, true),
	}
	others := []string{
		"notes.txt", at("a", "w1", 1, day, SuffixOutcomes, false), "x" + SuffixOutcomes, want[1] + ".bak",
		want[2] + openSuffix, // seen twice: it was closed meanwhile
	}
	for _, f := range append(others, want...) {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"+SuffixCapture), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i] = filepath.Join(dir, want[i])
	}
	got, err := List(SuffixCapture, dir, want[3], dir+"/./")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "captures", got, want)
	got, err = List(SuffixOutcomes, dir)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "outcomes", got, []string{filepath.Join(dir, others[2]), filepath.Join(dir, others[1])})
	got, err = List(SuffixCapture, filepath.Join(dir, "notes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "a file stands for itself", got, []string{filepath.Join(dir, "notes.txt")})
	if _, err := List(SuffixCapture, dir, filepath.Join(dir, "absent")); err == nil {
		t.Error("absent path")
	}
}

func TestConfigNamesEveryMistake(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Errorf("default: %v", err)
	}
	bad := Config{
		BlockSize: 1, MaxLine: 0, FlushInterval: 0, Sync: "often", RotateSize: -1, RotateAge: -1,
		KeepSize: -1, KeepAge: -1, KeepFiles: -1, MinFree: -1, Level: "best",
	}
	err := bad.Validate()
	if err == nil {
		t.Fatal("no mistake found")
	}
	for _, key := range []string{
		"block_size", "max_line", "flush_interval", "sync", "rotate_size", "rotate_age", "keep_size", "keep_age", "keep_files", "min_free", "level",
	} {
		if strings.Count(err.Error(), key+": ") != 1 {
			t.Errorf("%s is not named once in: %v", key, err)
		}
	}
	interval := DefaultConfig()
	interval.SyncInterval = 0
	if err := interval.Validate(); err == nil {
		t.Error("interval of 0")
	}
	interval.Sync = SyncBlock
	if err := interval.Validate(); err != nil {
		t.Errorf("interval of 0 that is not used: %v", err)
	}
}

func TestNewWriterNamesEveryMistake(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Level = ""
	_, err := NewWriter(cfg, Meta{Capture: "../x", Writer: "a-b"}, day, WithSuffix(".log"))
	if err == nil {
		t.Fatal("no mistake found")
	}
	for _, part := range []string{"level: ", "dir: ", "capture id: ", "writer id: ", "suffix: "} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewWriter(testConfig(file), testMeta(), day); err == nil {
		t.Error("a file for a directory")
	}
}

func TestLost(t *testing.T) {
	inner := &LostError{Records: 2, Err: ErrDiskLow}
	for n, err := range map[uint64]error{
		0: ErrDiskLow, 2: inner, 5: joined(inner, ErrGone, joined(&LostError{Records: 3, Err: ErrClosed})),
	} {
		same(t, err.Error(), Lost(err), n)
	}
	same(t, "nil", Lost(nil), uint64(0))
}
