package segment

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/size"
)

func name(number int, at time.Time, open bool) string {
	return Name{Capture: "shop", Writer: "w1", Start: at, Number: uint64(number), Suffix: SuffixCapture, Open: open}.String()
}

// Silence after three lines: they are in the file within the flush interval.
func TestFlushByTime(t *testing.T) {
	cfg := testConfig(t.TempDir())
	w := newWriter(t, cfg)
	fill(t, w, items(3), 0)
	for _, c := range []struct {
		after time.Duration
		want  uint64
	}{{0, 0}, {cfg.FlushInterval - 1, 0}, {cfg.FlushInterval, 3}, {3 * cfg.FlushInterval, 3}} {
		if err := w.Tick(day.Add(c.after)); err != nil {
			t.Fatal(err)
		}
		same(t, c.after.String(), w.Stats().Records, c.want)
	}
	got, err := readAll(w.path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "lines in the open file", got, lines(items(3)))
}

// countingFile counts syncs.
type countingFile struct {
	File
	syncs *int
}

func (f countingFile) Sync() error { *f.syncs++; return f.File.Sync() }

func TestSyncPolicies(t *testing.T) {
	for _, c := range []struct {
		policy       SyncPolicy
		ticks, close int // syncs after 4 blocks in 2 intervals, and after Close
	}{{SyncNone, 0, 0}, {SyncBlock, 4, 5}, {SyncInterval, 2, 3}} {
		t.Run(string(c.policy), func(t *testing.T) {
			n := 0
			cfg := testConfig(t.TempDir())
			cfg.Sync = c.policy
			w := newWriter(t, cfg, WithOpener(func(path string) (File, error) {
				f, err := CreateFile(path)
				return countingFile{f, &n}, err
			}))
			for i := range 8 { // a block every half interval, then silence
				if i < 4 {
					fill(t, w, items(1), 1)
				}
				if err := w.Tick(day.Add(time.Duration(i+1) * cfg.SyncInterval / 2)); err != nil {
					t.Fatal(err)
				}
			}
			same(t, "syncs", n, c.ticks)
			if err := w.Close(nil); err != nil {
				t.Fatal(err)
			}
			same(t, "syncs after close", n, c.close)
		})
	}
}

func TestRotateBySize(t *testing.T) {
	dir := t.TempDir()
	cfg := testConfig(dir)
	cfg.RotateSize = 2000
	w := newWriter(t, cfg)
	its := items(600)
	fill(t, w, its, 10)
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	paths, err := List(SuffixCapture, dir)
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	var got []string
	previous := ""
	for i, path := range paths {
		report, err := Verify(path)
		if err != nil {
			t.Error(err)
		}
		if footer := int64(200 + 48*report.Blocks); report.Size < 2000 && i < len(paths)-1 || report.Size > 2000+1500+footer {
			t.Errorf("file %d has %d bytes", i+1, report.Size)
		}
		same(t, "previous", report.Meta.Previous, previous)
		previous = filepath.Base(path)
		part, err := readAll(path)
		if err != nil {
			t.Error(err)
		}
		got = append(got, part...)
	}
	same(t, "lines", got, lines(its))
}

func TestRotateByAge(t *testing.T) {
	dir := t.TempDir()
	cfg := testConfig(dir)
	cfg.RotateAge = time.Minute
	w := newWriter(t, cfg)
	tick := func(after time.Duration) {
		if err := w.Tick(day.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	tick(10 * time.Minute) // an empty file stays
	same(t, "names", files(t, dir), []string{name(1, day, true)})
	fill(t, w, items(1), 0)
	tick(10*time.Minute + time.Millisecond) // the file is old, and the line goes with it
	second := day.Add(10*time.Minute + time.Millisecond)
	same(t, "names", files(t, dir), []string{name(1, day, false), name(2, second, true)})
	fill(t, w, items(1), 0)
	tick(second.Sub(day) + time.Minute - 1)
	same(t, "number of files", len(files(t, dir)), 2)
	tick(second.Sub(day) + time.Minute)
	same(t, "number of files", len(files(t, dir)), 3)
	tick(time.Minute) // a clock that goes back does nothing
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	same(t, "closed", strings.Contains(strings.Join(files(t, dir), " "), openSuffix), false)
}

// Footers hold what was dropped since the last one.
func TestDropsAreSpreadOverFiles(t *testing.T) {
	dir := t.TempDir()
	total := map[string]uint64{"queue_full": 2}
	w := newWriter(t, testConfig(dir), WithDrops(func() map[string]uint64 { return total }))
	fill(t, w, items(1), 0)
	if err := w.Rotate(); err != nil {
		t.Fatal(err)
	}
	total = map[string]uint64{"queue_full": 5, "policy": 1}
	fill(t, w, items(1), 0)
	if err := w.Rotate(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(map[string]uint64{"queue_full": 5, "policy": 4}); err != nil {
		t.Fatal(err)
	}
	want := []map[string]uint64{{"queue_full": 2}, {"queue_full": 3, "policy": 1}, {"policy": 3}}
	for i, f := range files(t, dir) {
		report, err := Verify(filepath.Join(dir, f))
		if err != nil {
			t.Error(err)
		}
		same(t, f, report.Drops, want[i])
	}
}

// A restart never writes to an older file: it repairs what is open and begins
// the next number, also where that is taken.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	its := items(6)
	w := newWriter(t, testConfig(dir))
	fill(t, w, its[:2], 0)
	if err := w.Rotate(); err != nil {
		t.Fatal(err)
	}
	fill(t, w, its[2:4], 1)
	fill(t, w, its[4:], 0)
	_ = w.file.Close() // killed: what is pending is lost, the lock goes

	first, err := os.ReadFile(filepath.Join(dir, name(1, day, false)))
	if err != nil {
		t.Fatal(err)
	}
	var repaired []Report
	w = newWriter(t, testConfig(dir), OnRepair(func(r Report, err error) {
		if err != nil {
			t.Error(err)
		}
		repaired = append(repaired, r)
	}))
	same(t, "names", files(t, dir), []string{name(1, day, false), name(2, day, false), name(3, day, true)})
	same(t, "previous", w.meta.Previous, name(2, day, false))
	if len(repaired) != 1 || repaired[0].Records != 2 {
		t.Errorf("repaired %+v", repaired)
	}
	again, err := os.ReadFile(filepath.Join(dir, name(1, day, false)))
	if err != nil || string(again) != string(first) {
		t.Errorf("older file was touched: %v", err)
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	checkDir(t, dir, its, ledger{written: 4})
}

func TestNoFileIsEverOverwritten(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testConfig(dir))
	for i, taken := range []string{name(2, day, false), name(3, day, true), name(3, day, false) + ".bak"} {
		if err := os.WriteFile(filepath.Join(dir, taken), []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, w, items(1), 0)
	if err := errors.Join(w.Rotate(), w.Close(nil)); err != nil {
		t.Fatal(err)
	}
	same(t, "names", files(t, dir), []string{
		name(1, day, false), name(2, day, false), name(3, day, false) + ".bak", name(3, day, true), name(4, day, false),
	})
	for i, taken := range []string{name(2, day, false), name(3, day, true)} {
		if b, err := os.ReadFile(filepath.Join(dir, taken)); err != nil || string(b) != string([]byte{byte(i)}) {
			t.Errorf("%s was touched: %v", taken, err)
		}
	}
	// A name that appears while the file is written is not overwritten at close.
	w = newWriter(t, testConfig(dir))
	if err := os.WriteFile(w.final, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(nil); err == nil {
		t.Error("closed over a foreign file")
	}
	if b, err := os.ReadFile(w.final); err != nil || string(b) != "mine" {
		t.Errorf("foreign file was touched: %v", err)
	}
}

// Two writers live in one directory, even with one name: neither repairs,
// removes or writes to what the other has open.
func TestTwoWritersInOneDirectory(t *testing.T) {
	for _, second := range []string{"w2", "w1"} {
		t.Run(second, func(t *testing.T) {
			dir := t.TempDir()
			cfg := testConfig(dir)
			cfg.KeepFiles, cfg.RotateAge = 1, 0
			unexpected := OnRepair(func(r Report, err error) { t.Errorf("repaired %+v, %v", r, err) })
			a := newWriter(t, cfg, unexpected)
			m := testMeta()
			m.Writer = second
			b, err := NewWriter(cfg, m, day, unexpected)
			if err != nil {
				t.Fatal(err)
			}
			if a.path == b.path {
				t.Fatal("one file for two writers")
			}
			if f, err := os.Open(a.path); err != nil || !busy(f) {
				t.Errorf("open file is not locked: %v", err)
			}
			if _, err := Repair(a.path); !errors.Is(err, ErrBusy) {
				t.Errorf("repair of a file being written: %v", err)
			}
			its := items(8)
			fill(t, a, its[:4], 1)
			fill(t, b, its[4:], 1)
			for _, w := range []*Writer{a, b} {
				if err := w.Tick(day.Add(time.Hour)); err != nil { // retention runs
					t.Fatal(err)
				}
			}
			if err := errors.Join(a.Close(nil), b.Close(nil)); err != nil {
				t.Fatal(err)
			}
			checkDir(t, dir, its, ledger{written: 8})
		})
	}
}

func TestRetention(t *testing.T) {
	mk := func(number int, bytes int64, age time.Duration, open bool) kept {
		return kept{
			path: name(number, day.Add(-age), open), size: bytes, mtime: day.Add(-age),
			name: Name{Start: day.Add(-age), Number: uint64(number), Open: open},
		}
	}
	all := []kept{ // not in order of age
		mk(4, 100, 1*time.Hour, false), mk(1, 100, 4*time.Hour, false), mk(2, 100, 3*time.Hour, false),
		mk(3, 100, 2*time.Hour, false), mk(5, 100, 0, true), mk(9, 100, 9*time.Hour, true),
	}
	for _, c := range []struct {
		name  string
		size  size.Size
		age   time.Duration
		files int
		want  []int
	}{
		{"nothing set", 0, 0, 0, nil},
		{"size holds", 600, 0, 0, nil},
		{"size by one byte", 599, 0, 0, []int{1}},
		{"size", 350, 0, 0, []int{1, 2, 3}},
		{"size below the open ones", 1, 0, 0, []int{1, 2, 3, 4}},
		{"age holds", 0, 4*time.Hour + 1, 0, nil},
		{"age", 0, 2 * time.Hour, 0, []int{1, 2, 3}},
		{"files", 0, 0, 1, []int{1, 2, 3}},
		{"the strictest wins", 500, 3 * time.Hour, 3, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			cfg := Config{KeepSize: c.size, KeepAge: c.age, KeepFiles: c.files}
			for _, f := range expired(append([]kept{}, all...), cfg, day) {
				got = append(got, int(f.name.Number))
			}
			same(t, "gone", got, c.want)
		})
	}
}

// Retention on real files: only closed segments of this suffix, never a name
// that is not ours.
func TestRetentionOnDisk(t *testing.T) {
	dir := t.TempDir()
	foreign := []string{"notes.txt", "mine" + SuffixCapture, strings.Replace(name(1, day, false), SuffixCapture, SuffixOutcomes, 1)}
	for _, f := range foreign {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := testConfig(dir)
	cfg.KeepFiles = 2
	w := newWriter(t, cfg)
	for i := range 5 {
		if err := w.Tick(day.Add(time.Duration(i) * time.Second)); err != nil {
			t.Fatal(err)
		}
		fill(t, w, items(2), 0)
		if err := w.Rotate(); err != nil {
			t.Fatal(err)
		}
	}
	at := func(i int) time.Time { return day.Add(time.Duration(i) * time.Second) }
	same(t, "names", files(t, dir), append([]string{foreign[1], foreign[0], foreign[2]},
		name(4, at(2), false), name(5, at(3), false), name(6, at(4), true)))
	same(t, "deleted", w.Stats().Deleted, uint64(3))
	// By age, Tick alone removes them.
	old := time.Now().Add(-time.Hour)
	for _, f := range []string{name(4, at(2), false), name(5, at(3), false)} {
		if err := os.Chtimes(filepath.Join(dir, f), old, old); err != nil {
			t.Fatal(err)
		}
	}
	w.cfg.KeepAge, w.cfg.KeepFiles = 30*time.Minute, 0
	if err := w.Tick(time.Now()); err != nil {
		t.Fatal(err)
	}
	same(t, "deleted", w.Stats().Deleted, uint64(5))
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	w := newWriter(t, testConfig(dir))
	defer func() { _ = w.Close(nil) }()
	for path, want := range map[string]os.FileMode{filepath.Dir(dir): 0o700, dir: 0o700, w.path: 0o600} {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if os.PathSeparator == '/' && st.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, st.Mode())
		}
	}
}

// TestKillVictim is the process that TestKill kills.
func TestKillVictim(t *testing.T) {
	dir := os.Getenv("ESSHADOW_TEST_KILL_DIR")
	if dir == "" {
		return
	}
	cfg := testConfig(dir)
	cfg.RotateSize = 64 << 10
	w := newWriter(t, cfg, OnWritten(func(d Written) { fmt.Println("written", d.Records) }))
	for i := 0; ; i++ {
		it := items(1)[0]
		if err := w.Append(fmt.Appendf(nil, "%d %s", i, it.Line), it.T); err != nil {
			t.Fatal(err)
		}
	}
}

// kill -9 loses no line that was said to be written, and what is left is whole
// after the next start.
func TestKill(t *testing.T) {
	for round := range 5 {
		dir := t.TempDir()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		victim := exec.Command(self, "-test.run=^TestKillVictim$")
		victim.Env = append(os.Environ(), "ESSHADOW_TEST_KILL_DIR="+dir)
		out, err := victim.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		said := 0
		in := bufio.NewReader(out)
		for blocks := 0; ; blocks++ {
			if blocks == 100*(round+1)+round {
				_ = victim.Process.Kill()
			}
			var n int
			if _, err := fmt.Fscanf(in, "written %d\n", &n); err != nil {
				break
			}
			said += n
		}
		_, _ = io.Copy(io.Discard, in)
		_ = victim.Wait()
		w := newWriter(t, testConfig(dir)) // repairs
		if err := w.Close(nil); err != nil {
			t.Fatal(err)
		}
		checkKilled(t, dir, said)
	}
}

func checkKilled(t *testing.T, dir string, said int) {
	t.Helper()
	paths, err := List(SuffixCapture, dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range paths {
		if _, err := Verify(path); err != nil {
			t.Error(err)
		}
		got, err := readAll(path)
		if err != nil {
			t.Error(err)
		}
		for _, line := range got {
			if !strings.HasPrefix(line, fmt.Sprintf("%d ", n)) {
				t.Fatalf("line %d is %.20q", n, line)
			}
			n++
		}
	}
	if n < said || said == 0 {
		t.Errorf("%d lines in %d files, %d were said to be written", n, len(paths), said)
	}
}
