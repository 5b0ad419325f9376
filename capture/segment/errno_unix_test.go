//go:build unix

package segment

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
)

// shortFile is one that may not become longer than limit.
type shortFile struct {
	File
	limit int64
}

func (f shortFile) WriteAt(b []byte, off int64) (int, error) {
	if n := f.limit - off; n < int64(len(b)) {
		k, _ := f.File.WriteAt(b[:max(0, n)], off)
		return k, &fs.PathError{Op: "write", Path: "x", Err: syscall.EFBIG}
	}
	return f.File.WriteAt(b, off)
}

// Where files may only become so large, for every limit, lines go into the next file;
// what fits in none is lost and counted, and the writer goes on.
func TestFilesMayNotGrow(t *testing.T) {
	const ample = 1000 // for the header and any one block
	its := items(40)
	for limit := int64(0); limit < 3*ample; limit += 7 {
		dir := t.TempDir()
		var l ledger
		open := func(path string) (File, error) {
			f, err := CreateFile(path)
			return shortFile{f, limit}, err
		}
		w, err := NewWriter(testConfig(dir), testMeta(), day, WithOpener(open), WithFreeSpace(plenty), OnWritten(l.done))
		if errors.Is(err, syscall.EFBIG) {
			continue // not even the header
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range its {
			l.offered++
			l.fault(w.Append([]byte(it.Line), it.T))
			l.fault(w.Flush())
			if w.Err() != nil {
				l.fault(w.Reopen(day))
			}
		}
		l.fault(w.Close(nil))
		l.balanced(t, w)
		if limit >= ample && l.lost > 0 {
			t.Errorf("limit %d: %+v: lost though the next file had room", limit, l)
		}
		files, err := List(SuffixCapture, dir)
		if err != nil {
			t.Fatal(err)
		}
		var read uint64
		for _, path := range files {
			got, _ := readAll(path) // where there was no room for the footer, it is torn
			read += uint64(len(got))
		}
		if read != l.written || limit >= ample && len(files) < 2 {
			t.Errorf("limit %d: %d lines in %d files, of %+v", limit, read, len(files), l)
		}
	}
}
