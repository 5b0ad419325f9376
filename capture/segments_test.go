package capture

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/esshadow/esshadow/capture/segment"
)

func segmentConfig(dir string) segment.Config {
	cfg := segment.DefaultConfig()
	cfg.Dir, cfg.MinFree = dir, 0
	return cfg
}

func testMeta() segment.Meta {
	return segment.Meta{
		Capture: "cap", Writer: "w1", KeyID: "k1", Preset: "strict",
		Source: &segment.Source{UUID: "uuid", Version: "2.19.6", Flavor: "opensearch"},
	}
}

// onDisk starts a Recorder on real files.
func onDisk(t *testing.T, cfg segment.Config, opts ...segment.Option) *fixture {
	t.Helper()
	f := &fixture{}
	var err error
	f.Recorder, err = NewRecorder(Default(), Options{
		Open:         OpenSegments(cfg, testMeta(), nil, opts...),
		NewSanitizer: func() Sanitizer { return &plain{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is done to a file of an earlier run is logged with its name and what it holds.
func TestRepairIsLogged(t *testing.T) {
	dir := t.TempDir()
	cfg := segmentConfig(dir)
	left, err := segment.NewWriter(cfg, testMeta(), time.Now(), segment.WithOpener(func(path string) (segment.File, error) {
		return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // without the lock, as after a kill
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(left.Append([]byte("{}"), 1), left.Flush()); err != nil {
		t.Fatal(err)
	}
	path := left.Stats().Path
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("torn"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	core, seen := observer.New(zap.InfoLevel)
	w, err := OpenSegments(cfg, testMeta(), zap.New(core))(Report{Written: func(segment.Written) {}, Drops: func() map[string]uint64 { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	lines := seen.FilterMessage("segment of an earlier run repaired").All()
	if len(lines) != 1 {
		t.Fatalf("%v", seen.All())
	}
	want := map[string]any{"file": strings.TrimSuffix(path, ".open"), "records": uint64(1), "bytes_cut": int64(len("torn"))}
	if diff := cmp.Diff(want, lines[0].ContextMap()); diff != "" {
		t.Error(diff)
	}
}

func TestRecorderToSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := segmentConfig(dir)
		cfg.BlockSize = 4 << 10
		f := onDisk(t, cfg)
		const n = 300
		for i := range uint64(n) {
			target := "/i/_search"
			if i%10 == 0 {
				target += "?drop=why"
			}
			x := f.exchange(target, n-i) // younger ones first
			x.Body = noise(200, i)
			x.BodySize = 200
			f.Offer(x)
			if i == 150 {
				wait(2 * time.Second)
				if err := f.Rotate(context.Background()); err != nil {
					t.Error(err)
				}
			}
		}
		s := f.close(t, n)
		src := openAll(t, SourceOptions{}, dir)
		records, err := readAll(src)
		if err != nil || len(src.Warnings()) > 0 {
			t.Fatal(err, src.Warnings())
		}
		requests := slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Kind == KindGap })
		if len(requests) != 270 || s.Captured != 270 || !slices.IsSortedFunc(records, func(a, b Record) int { return int(a.Time - b.Time) }) {
			t.Errorf("%d requests, %d captured", len(requests), s.Captured)
		}
		seqs := map[uint64]bool{}
		for _, r := range records {
			seqs[r.Seq] = true
		}
		for i := range uint64(len(records)) {
			if !seqs[i+1] {
				t.Fatalf("no line has seq %d", i+1)
			}
		}
		var packed int64
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, file := range files {
			st, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			packed += st.Size()
		}
		if int64(s.WrittenBytes) > packed || int64(s.WrittenBytes) < packed/2 {
			t.Errorf("written %d, files have %d", s.WrittenBytes, packed)
		}
		st, err := ReadStat([]string{dir}, SourceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		first, last := time.Unix(0, 1001).UTC(), time.Unix(0, 1299).UTC()
		want := Stat{
			Segments: 2, Records: 270, First: &first, Last: &last, BytesFile: packed, BytesRaw: s.RawBytes,
			ByOp: map[string]uint64{"search": 270}, ByStatus: map[string]uint64{"0": 270},
			Dropped: map[string]uint64{"why": 30}, Gaps: uint64(len(records) - 270), Writers: 1,
			Preset: "strict", KeyID: "k1", Source: StatSource{Flavor: "opensearch", Version: "2.19.6", UUID: "uuid"},
		}
		if diff := cmp.Diff(want, st); diff != "" {
			t.Errorf("stat (-want +got):\n%s", diff)
		}
	})
}

// Three requests, then silence: they are in the file within the flush interval,
// and a process that is killed then loses none of them.
func TestKilledAfterFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, later := t.TempDir(), t.TempDir()
		f := onDisk(t, segmentConfig(dir))
		for i := range uint64(3) {
			f.Offer(f.exchange("/i/_search", i))
		}
		wait(segmentConfig(dir).FlushInterval + tickEvery + linger)
		if s := f.Stats(); s.Captured != 3 {
			t.Errorf("%d captured after the flush interval", s.Captured)
		}
		for i := range uint64(4) { // in memory when the process dies
			f.Offer(f.exchange("/i/_search", 10+i))
		}
		// What a killed process leaves: the files as they are at this moment.
		left, err := filepath.Glob(filepath.Join(dir, "*.open"))
		if err != nil || len(left) != 1 {
			t.Fatal(left, err)
		}
		bytes, err := os.ReadFile(left[0])
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(later, filepath.Base(left[0]))
		if err := os.WriteFile(copied, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		f.close(t, 7)

		if got, err := readAll(openAll(t, SourceOptions{}, later)); err != nil || len(got) != 3 {
			t.Errorf("before repair: %d records, %v", len(got), err)
		}
		again := onDisk(t, segmentConfig(later)) // a new process repairs it
		again.close(t, 0)
		src := openAll(t, SourceOptions{}, later)
		if got, err := readAll(src); err != nil || len(got) != 3 || len(src.Warnings()) != 0 {
			t.Errorf("after repair: %d records, %v, %v", len(got), err, src.Warnings())
		}
		if _, err := os.Stat(copied); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the open file is still there: %v", err)
		}
	})
}

func TestDiskLowOnRealFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := segmentConfig(dir)
		cfg.MinFree = 1 << 30
		var free atomic.Uint64
		free.Store(1 << 20)
		f := onDisk(t, cfg, segment.WithFreeSpace(func(string) (uint64, error) { return free.Load(), nil }))
		step := func(n uint64, want State) {
			t.Helper()
			for i := range n {
				f.Offer(f.exchange("/i/_search", i))
			}
			wait(3 * time.Second)
			if f.State() != want {
				t.Errorf("state %v, want %v", f.State(), want)
			}
		}
		step(1, StateDiskLow) // from the start
		free.Store(1 << 40)
		step(0, StateOn)
		step(5, StateOn)
		free.Store(1 << 20)
		step(4, StateDiskLow) // lost with the block
		step(3, StateDiskLow)
		free.Store(1 << 40)
		step(0, StateOn)
		step(2, StateOn)
		s := f.close(t, 15)
		if s.Captured != 7 || s.Dropped[DropDiskLow] != 8 {
			t.Errorf("%+v", s)
		}
		st, err := ReadStat([]string{dir}, SourceOptions{})
		if err != nil || st.Records != 7 || st.Dropped[DropDiskLow] != 8 {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

// The directory is removed under the recorder, cannot be made, and comes back.
func TestDirectoryGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "capture")
		f := onDisk(t, segmentConfig(dir))
		step := func(n uint64, want State) {
			t.Helper()
			for i := range n {
				f.Offer(f.exchange("/i/_search", i))
			}
			wait(5 * time.Second)
			if f.State() != want {
				t.Errorf("state %v, want %v", f.State(), want)
			}
		}
		step(3, StateOn)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for range 30 { // noticed within a second or so
			if wait(tickEvery); f.State() == StateFailed {
				break
			}
		}
		if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file in its place
			t.Fatal(err)
		}
		step(5, StateFailed)
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		wait(lastRetry)
		step(2, StateOn)
		s := f.close(t, 10)
		got, err := readAll(openAll(t, SourceOptions{}, dir))
		requests := len(slices.DeleteFunc(got, func(r Record) bool { return r.Kind == KindGap }))
		// What was written to the file that was removed counted as captured then.
		if err != nil || requests != 2 || s.Captured+s.Dropped[DropWriteFailed] != 10 || s.Captured < 5 {
			t.Errorf("%d requests, %v, %+v", requests, err, s)
		}
	})
}

func TestStatJSON(t *testing.T) {
	dir := t.TempDir()
	w := newTestWriter(t, dir, "w", "")
	w.close(t)
	st, err := ReadStat([]string{dir}, SourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	size := st.BytesFile
	st.BytesFile = 0
	got, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"segments":1,"records":0,"first":null,"last":null,"bytes_file":0,"bytes_raw":0,"by_op":{},"by_status":{},` +
		`"fidelity":{"exact":0,"approx":0,"broken":0},"dropped":{},"gaps":0,"torn":0,"writers":1,"preset":"strict","key_id":"",` +
		`"source":{"flavor":"elasticsearch","version":"8.19.0","uuid":"u"}}`
	if string(got) != want || size == 0 {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestStatAddsUp(t *testing.T) {
	dir := t.TempDir()
	a, b := newTestWriter(t, dir, "a", "k1"), newTestWriter(t, dir, "b", "k2")
	for i, fid := range []string{Exact, Exact, Approx, Broken} {
		a.write(t, Record{Time: int64(10 * (i + 1)), Op: "search", Status: 200, Fidelity: fid})
		b.write(t, Record{Time: int64(10*i + 5), Op: "bulk", Status: 429, Fidelity: fid})
	}
	a.write(t, Record{Kind: KindGap, Time: 20, Gap: &Gap{Reason: "queue_full", Count: 7}})
	a.write(t, Record{Kind: KindGap, Time: 21, Gap: &Gap{Reason: "queue_full", Count: 2}})
	if err := a.w.Close(map[string]uint64{"queue_full": 9, "closed": 1}); err != nil {
		t.Fatal(err)
	}
	b.close(t)
	st, err := ReadStat([]string{dir}, SourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if st.Records != 8 || st.Gaps != 2 || st.Dropped["queue_full"] != 9 || st.Dropped["closed"] != 1 || st.ByOp["bulk"] != 4 ||
		st.ByStatus["429"] != 4 || st.Fidelity != (Fidelities{Exact: 4, Approx: 2, Broken: 2}) || st.KeyID != "k1,k2" ||
		st.Writers != 2 || st.First.UnixNano() != 5 || st.Last.UnixNano() != 40 {
		t.Errorf("%+v", st)
	}
}
