package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// memory is an input of bytes.
type memory struct {
	*bytes.Reader
	busy bool
}

func (m memory) Size() (int64, error) { return m.Reader.Size(), nil }
func (m memory) Busy() bool           { return m.busy }
func (m memory) Close() error         { return nil }

func inMemory(b []byte) memory { return memory{Reader: bytes.NewReader(b)} }

const closedName, openName = "x" + SuffixCapture, "x" + SuffixCapture + openSuffix

// smallFile is a closed file of 12 lines in 4 blocks.
func smallFile(t testing.TB) ([]byte, []item, *Footer) {
	t.Helper()
	dir := t.TempDir()
	w := newWriter(t, testConfig(dir))
	its := items(12)
	fill(t, w, its, 3)
	if err := w.Close(map[string]uint64{"queue_full": 2}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(w.final)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReader(inMemory(b), closedName)
	if err != nil {
		t.Fatal(err)
	}
	return b, its, r.Footer()
}

// readBytes reads a file in memory to its end.
func readBytes(b []byte, name string, opts ...ReadOption) (got []string, missing Missing, err error) {
	r, err := newReader(inMemory(b), name, opts...)
	if err != nil {
		return nil, Missing{}, err
	}
	defer r.Close()
	got, err = rest(r)
	return got, r.Missing(), err
}

// wholeBefore counts the lines of blocks that end at or before offset n.
func wholeBefore(f *Footer, n int) (lines int) {
	for _, b := range f.Blocks {
		if b.end() <= int64(n) {
			lines += int(b.Records)
		}
	}
	return lines
}

// boundary says whether a part ends at n.
func boundary(f *Footer, n int) bool {
	for _, b := range f.Blocks {
		if int64(n) == b.Offset || int64(n) == b.end() {
			return true
		}
	}
	return false
}

func TestEveryCut(t *testing.T) {
	whole, its, footer := smallFile(t)
	for n := range whole {
		want := lines(its[:wholeBefore(footer, n)])
		for _, policy := range []OnCorrupt{Fail, Skip} {
			got, missing, err := readBytes(whole[:n], closedName, WithOnCorrupt(policy))
			var torn *TornError
			if !errors.As(err, &torn) || !errors.Is(err, ErrTorn) || torn.Path != closedName {
				t.Fatalf("cut at %d: %v is not torn", n, err)
			}
			if missing != (Missing{}) || wholeBefore(footer, int(torn.Offset)) != len(want) || torn.Offset > int64(n) {
				t.Errorf("cut at %d: torn at %d, missing %+v", n, torn.Offset, missing)
			}
			same(t, "lines", got, want)
		}
		if t.Failed() {
			t.Fatalf("cut at %d", n)
		}
	}
}

// A file with an open name that ends after a whole part is an ordinary case.
func TestEveryCutOfAnOpenFile(t *testing.T) {
	whole, its, footer := smallFile(t)
	for n := range whole {
		got, _, err := readBytes(whole[:n], openName)
		if ends := n == 0 || boundary(footer, n); ends != errors.Is(err, io.EOF) || ends == errors.Is(err, ErrTorn) {
			t.Errorf("cut at %d: %v", n, err)
		}
		same(t, "lines", got, lines(its[:wholeBefore(footer, n)]))
		busy := inMemory(whole[:n])
		busy.busy = true
		r, err := newReader(busy, openName)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rest(r); !errors.Is(err, io.EOF) {
			t.Errorf("cut at %d under a writer: %v", n, err)
		}
	}
}

func TestRepairOfEveryCut(t *testing.T) {
	whole, its, footer := smallFile(t)
	header := int(footer.Blocks[0].Offset)
	dir := t.TempDir()
	for n := range whole {
		open := filepath.Join(dir, openName)
		if err := os.WriteFile(open, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := Repair(open)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if n < header {
			if !report.Removed || !report.Changed || len(files(t, dir)) != 0 {
				t.Fatalf("cut at %d within the header: %+v", n, report)
			}
			continue
		}
		want := its[:wholeBefore(footer, n)]
		checkRepaired(t, report, want)
		same(t, "names", files(t, dir), []string{closedName})
		again, err := Repair(report.Path)
		if err != nil || again.Changed {
			t.Fatalf("cut at %d: second repair: %+v, %v", n, again, err)
		}
		if t.Failed() {
			t.Fatalf("cut at %d", n)
		}
		_ = os.Remove(report.Path)
	}
}

func checkRepaired(t *testing.T, report Report, want []item) {
	t.Helper()
	if !report.Changed || report.Torn || report.Records != uint64(len(want)) {
		t.Errorf("repair: %+v", report)
	}
	verified, err := Verify(report.Path)
	if err != nil {
		t.Errorf("verify after repair: %v", err)
	}
	if !verified.Repaired || !verified.Closed || verified.Size != report.Size {
		t.Errorf("verify after repair: %+v, repair said %+v", verified, report)
	}
	got, err := readAll(report.Path)
	if err != nil {
		t.Error(err)
	}
	same(t, "lines", got, lines(want))
}

// A closed name that holds no whole header is left for a person to look at, and
// so is what was never a segment.
func TestRepairLeavesWhatItCannotJudge(t *testing.T) {
	whole, _, _ := smallFile(t)
	for name, c := range map[string]struct {
		file string
		b    []byte
		want error
	}{
		"cut header, closed name": {closedName, whole[:30], ErrTorn},
		"text":                    {openName, []byte("not ours at all, but a text of some length\n"), ErrCorrupt},
		"newer version":           {openName, newerFile(t), ErrVersion},
		"empty, closed name":      {closedName, nil, ErrTorn},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(path, c.b, 0o600); err != nil {
				t.Fatal(err)
			}
			report, err := Repair(path)
			if !errors.Is(err, c.want) || report.Changed {
				t.Errorf("repair: %+v, %v", report, err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, c.b) {
				t.Errorf("file was touched: %v", err)
			}
		})
	}
}

// newerFile is a sound header of the next version, and what that may hold.
func newerFile(t testing.TB) []byte {
	t.Helper()
	b, _, err := appendFileHeader(nil, testMeta())
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint16(b[12:], formatVersion+1)
	binary.LittleEndian.PutUint32(b[len(b)-sumLen:], sum(b[:len(b)-sumLen]))
	return append(b, "whatever comes then"...)
}

// Repair of a sound file with an open name (a crash between footer and rename)
// only renames.
func TestRepairOnlyRenames(t *testing.T) {
	whole, _, _ := smallFile(t)
	path := filepath.Join(t.TempDir(), openName)
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := Repair(path)
	if err != nil || report.Cut != 0 || report.Repaired {
		t.Errorf("repair: %+v, %v", report, err)
	}
	after, err := os.ReadFile(filepath.Join(filepath.Dir(path), closedName))
	if err != nil || !bytes.Equal(after, whole) {
		t.Errorf("file was changed: %v", err)
	}
}

// Whichever bit flips: no line comes that was not written, none in a wrong
// place, and the damage is said.
func TestEveryBitFlip(t *testing.T) {
	whole, its, footer := smallFile(t)
	all := lines(its)
	for i := range whole {
		for bit := range 8 {
			flipped := bytes.Clone(whole)
			flipped[i] ^= 1 << bit
			checkFlip(t, flipped, all)
			checkFlipSkip(t, flipped, all, i, footer)
			if t.Failed() {
				t.Fatalf("byte %d bit %d", i, bit)
			}
		}
	}
}

func checkFlip(t *testing.T, b []byte, all []string) {
	got, _, err := readBytes(b, closedName)
	if !errors.Is(err, ErrTorn) && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
		t.Errorf("error is %v", err)
	}
	if len(got) > len(all) {
		t.Fatalf("%d lines", len(got))
	}
	same(t, "lines", append([]string{}, got...), append([]string{}, all[:len(got)]...))
}

// checkFlipSkip: exactly the block that holds the flip is missing, and counted.
func checkFlipSkip(t *testing.T, b []byte, all []string, at int, footer *Footer) {
	want := []string{}
	lost := uint64(0)
	for _, blk := range footer.Blocks {
		if int64(at) >= blk.Offset && int64(at) < blk.end() {
			lost = uint64(blk.Records)
			continue
		}
		want = append(want, all[blk.Index:blk.Index+uint64(blk.Records)]...)
	}
	got, missing, err := readBytes(b, closedName, WithOnCorrupt(Skip))
	inFooter := int64(at) >= footer.Blocks[len(footer.Blocks)-1].end()
	foreign := at < 4 || at >= frameLen && at < tagEnd
	switch {
	case inFooter && !errors.Is(err, ErrTorn), !inFooter && !errors.Is(err, io.EOF):
		t.Errorf("error is %v (footer: %v, first bytes: %v)", err, inFooter, foreign)
	case !inFooter && (missing.Places != 1 || missing.Records != lost):
		t.Errorf("missing %+v, want %d lines", missing, lost)
	}
	same(t, "lines", got, want)
}

// Damage in the middle of a crashed file: repair keeps what lies behind it.
func TestRepairKeepsWhatFollowsDamage(t *testing.T) {
	whole, its, footer := smallFile(t)
	b := bytes.Clone(whole[:footer.Blocks[3].end()-1]) // the last block torn
	clear(b[footer.Blocks[1].Offset:footer.Blocks[1].end()])
	path := filepath.Join(t.TempDir(), openName)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := Repair(path)
	if err != nil {
		t.Fatal(err)
	}
	if report.Records != 6 || report.Missing.Records != 3 || report.Missing.Places != 1 || report.Cut == 0 {
		t.Errorf("repair: %+v", report)
	}
	_, err = readAll(report.Path)
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Offset != footer.Blocks[1].Offset {
		t.Errorf("read: %v", err)
	}
	if _, err := Verify(report.Path); !errors.Is(err, ErrCorrupt) {
		t.Errorf("verify: %v", err)
	}
	got, err := readAll(report.Path, WithOnCorrupt(Skip))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "lines", got, append(lines(its[:3]), lines(its[6:9])...))
}

// What a power loss leaves: length without content.
func TestZerosAreTorn(t *testing.T) {
	whole, its, footer := smallFile(t)
	end := footer.Blocks[1].end()
	for name, b := range map[string][]byte{
		"behind a block": append(bytes.Clone(whole[:end]), make([]byte, 70000)...),
		"in a block":     append(bytes.Clone(whole[:end+100]), make([]byte, 70000)...),
	} {
		got, _, err := readBytes(b, openName)
		var torn *TornError
		if !errors.As(err, &torn) || torn.Offset != end {
			t.Errorf("%s: %v", name, err)
		}
		same(t, "lines", got, lines(its[:6]))
	}
	if _, _, err := readBytes(make([]byte, 100), closedName); !errors.Is(err, ErrTorn) {
		t.Errorf("only zeros: %v", err)
	}
}

func TestDamageOfOtherKinds(t *testing.T) {
	whole, its, f := smallFile(t)
	other, _, _ := smallFileOf(t, 12, "w2")
	block := func(b []byte, i int) []byte { return b[f.Blocks[i].Offset:f.Blocks[i].end()] }
	head, tail := whole[:f.Blocks[0].Offset], whole[f.Blocks[3].end():]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, c := range map[string]struct {
		b       []byte
		want    error
		got     []string // with Skip
		missing uint64
	}{
		"block left out":          {join(head, block(whole, 0), block(whole, 2), block(whole, 3), tail), ErrCorrupt, append(lines(its[:3]), lines(its[6:])...), 3},
		"last blocks left out":    {join(head, block(whole, 0), tail), ErrCorrupt, lines(its[:3]), 9},
		"blocks swapped":          {join(head, block(whole, 1), block(whole, 0), block(whole, 2), block(whole, 3), tail), ErrCorrupt, lines(its[3:]), 3},
		"block twice":             {join(head, block(whole, 0), block(whole, 0), block(whole, 1), block(whole, 2), block(whole, 3), tail), ErrCorrupt, lines(its), 0},
		"block of another file":   {join(head, block(other, 0), block(whole, 1), block(whole, 2), block(whole, 3), tail), ErrCorrupt, lines(its[3:]), 3},
		"footer of another file":  {join(whole[:len(whole)-len(tail)], other[f.Blocks[3].end():]), ErrTorn, lines(its), 0},
		"bytes behind the footer": {join(whole, []byte("more")), ErrCorrupt, lines(its), 0},
		"file behind the footer":  {join(whole, other), ErrCorrupt, lines(its), 0},
		"no header":               {join(block(whole, 0), block(whole, 1), block(whole, 2), block(whole, 3), tail), ErrCorrupt, lines(its), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := readBytes(c.b, closedName); !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
			got, missing, err := readBytes(c.b, closedName, WithOnCorrupt(Skip))
			if !errors.Is(err, io.EOF) && !errors.Is(err, ErrTorn) {
				t.Error(err)
			}
			same(t, "lines", got, c.got)
			same(t, "missing", missing.Records, c.missing)
		})
	}
}

// smallFileOf is a file like smallFile's of another writer.
func smallFileOf(t testing.TB, n int, writer string) ([]byte, []item, *Footer) {
	t.Helper()
	m := testMeta()
	m.Writer = writer
	w, err := NewWriter(testConfig(t.TempDir()), m, day)
	if err != nil {
		t.Fatal(err)
	}
	its := items(n)
	fill(t, w, its, 3)
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(w.final)
	if err != nil {
		t.Fatal(err)
	}
	return b, its, nil
}
