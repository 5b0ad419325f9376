package segment

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func FuzzHeader(f *testing.F) {
	whole, _, footer := smallFile(f)
	r, err := newReader(inMemory(whole), closedName)
	if err != nil {
		f.Fatal(err)
	}
	_, at := r.tail()
	f.Add(whole[:r.first], true)
	f.Add(whole[footer.Blocks[0].Offset:footer.Blocks[0].end()], true)
	f.Add(whole[at:], false)
	f.Fuzz(func(t *testing.T, b []byte, fixSum bool) {
		if fixSum && len(b) >= blockLen { // let the fuzzer past the checksums
			b = bytes.Clone(b)
			binary.LittleEndian.PutUint32(b[blockSummed:], sum(b[:blockSummed]))
			binary.LittleEndian.PutUint32(b[len(b)-sumLen:], sum(b[:len(b)-sumLen]))
		}
		_, _, newer, bad := decodeFileHeader(b)
		if newer != "" && bad != "" {
			t.Error("both newer and bad")
		}
		if h, ok := decodeBlockHeader(b, 0); ok && h.newer == "" {
			again := bytes.Clone(b[:blockLen])
			putBlockHeader(again, h.kind, h.mark, h.BlockInfo)
			binary.LittleEndian.PutUint32(again[44:], h.sum)
			binary.LittleEndian.PutUint32(again[blockSummed:], sum(again[:blockSummed]))
			if !bytes.Equal(again, b[:blockLen]) {
				t.Errorf("header came back different:\n%s\n%s", hex.Dump(b[:blockLen]), hex.Dump(again))
			}
		}
		if foot, _, bad := decodeFooter(b, 0, true); bad == "" && foot != nil && len(foot.Blocks)*entryLen > len(b) {
			t.Error("more blocks than bytes")
		}
	})
}

// seeds are files of all sorts.
func seeds(f *testing.F) [][]byte {
	whole, _, footer := smallFile(f)
	vector, err := os.ReadFile(vectorFile)
	if err != nil {
		f.Fatal(err)
	}
	return [][]byte{
		vector, whole, whole[:footer.Blocks[2].Offset+10],
		append(bytes.Clone(whole[:footer.Blocks[1].Offset]), whole[footer.Blocks[2].Offset:]...),
	}
}

// resign makes the checksums of headers right again, so that a fuzzer gets past
// them: what they say may still be anything.
func resign(b []byte) []byte {
	b = bytes.Clone(b)
	var mark uint32
	if len(b) >= fileFixed+sumLen {
		if n := wholeFrame(b); n >= fileFixed+sumLen && n <= int64(len(b)) {
			mark = sum(b[:n-sumLen])
			binary.LittleEndian.PutUint32(b[n-sumLen:], mark)
		}
	}
	for at := 0; at+blockLen <= len(b); at++ {
		h := b[at:]
		if !hasTag(h[:tagEnd], tagBlock) {
			continue
		}
		binary.LittleEndian.PutUint32(h[16:], mark)
		if n := int(binary.LittleEndian.Uint32(h[40:])); n <= len(h)-blockLen {
			binary.LittleEndian.PutUint32(h[44:], sum(h[blockLen:blockLen+n]))
		}
		binary.LittleEndian.PutUint32(h[blockSummed:], sum(h[:blockSummed]))
	}
	if n := footerLenAtTail(b[max(0, len(b)-tailLen):]); n >= footerFixed+tailLen && n <= int64(len(b)) {
		foot := b[int64(len(b))-n:]
		binary.LittleEndian.PutUint32(foot[16:], mark)
		binary.LittleEndian.PutUint32(foot[n-sumLen:], sum(foot[:n-sumLen]))
	}
	return b
}

// FuzzReader: whatever the bytes, reading ends, with a known error, within its
// bounds; skipping gives at least what failing gives; an index and seeking give
// no more than the whole.
func FuzzReader(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b, false)
		f.Add(b, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, right bool) {
		if right {
			b = resign(b)
		}
		strict, _, err := readBytes(b, closedName, WithMaxBlock(1<<20))
		checkKnown(t, err)
		loose, _, err := readBytes(b, closedName, WithMaxBlock(1<<20), WithOnCorrupt(Skip))
		checkKnown(t, err)
		if len(loose) < len(strict) {
			t.Errorf("skipping gives %d lines, failing %d", len(loose), len(strict))
		}
		r, err := newReader(inMemory(b), openName, WithMaxBlock(1<<20), WithFollow())
		checkKnown(t, err)
		if err != nil {
			return
		}
		defer r.Close()
		blocks, err := r.Index()
		checkKnown(t, err)
		for _, block := range blocks[:min(len(blocks), 8)] {
			_, err := r.ReadBlock(block)
			checkKnown(t, err)
		}
		checkKnown(t, r.SeekTime(day.UnixNano()))
		_, err = rest(r)
		checkKnown(t, err)
	})
}

// FuzzRepair: what repair says is repaired verifies, and a second repair has
// nothing to do.
func FuzzRepair(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b, false)
		f.Add(b, true)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, right bool) {
		if right {
			b = resign(b)
		}
		path := filepath.Join(dir, openName)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := Repair(path)
		checkKnown(t, err)
		if err == nil && !report.Removed {
			verified, err := Verify(report.Path)
			checkKnown(t, err)
			if errors.Is(err, ErrTorn) || verified.Records > report.Records {
				t.Errorf("verify after repair: %+v, %v", verified, err)
			}
			if again, err := Repair(report.Path); err != nil || again.Changed {
				t.Errorf("second repair: %+v, %v", again, err)
			}
		}
		_ = os.Remove(path)
		_ = os.Remove(filepath.Join(dir, closedName))
	})
}

func checkKnown(t *testing.T, err error) {
	t.Helper()
	for _, known := range []error{nil, io.EOF, ErrTorn, ErrCorrupt, ErrVersion, ErrLimit} {
		if errors.Is(err, known) {
			return
		}
	}
	t.Errorf("unknown error %v", err)
}
