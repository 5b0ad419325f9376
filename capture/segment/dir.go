package segment

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Suffixes of file names. openSuffix follows while a file is written.
const (
	SuffixCapture  = ".ndjson.zst"
	SuffixOutcomes = ".outcomes.ndjson.zst"

	openSuffix = ".open"
	nameTime   = "20060102T150405.000Z"
)

// Name is what the name of a file says.
type Name struct {
	Capture string
	Start   time.Time // UTC, ms
	Writer  string
	Number  uint64 // of the file among its writer's, from 1
	Suffix  string
	Open    bool // not closed: being written, or left by a crash
}

// String is the file's name.
func (n Name) String() string {
	s := fmt.Sprintf("%s-%s-%s-%06d%s", n.Capture, n.Start.UTC().Format(nameTime), n.Writer, n.Number, n.Suffix)
	if n.Open {
		s += openSuffix
	}
	return s
}

// ParseName reads the name of a file (its last element, if it is a path).
func ParseName(path string) (n Name, ok bool) {
	s := filepath.Base(path)
	s, n.Open = strings.CutSuffix(s, openSuffix)
	for _, suffix := range []string{SuffixOutcomes, SuffixCapture} {
		if stem, found := strings.CutSuffix(s, suffix); found {
			n.Suffix = suffix
			return n, n.parseStem(stem)
		}
	}
	return n, false
}

func (n *Name) parseStem(s string) bool {
	var part [3]string // time, writer, number
	for i := len(part) - 1; i >= 0; i-- {
		at := strings.LastIndexByte(s, '-')
		if at < 0 {
			return false
		}
		s, part[i] = s[:at], s[at+1:]
	}
	var err error
	if n.Start, err = time.Parse(nameTime, part[0]); err != nil {
		return false
	}
	if n.Number, err = strconv.ParseUint(part[2], 10, 64); err != nil || len(part[2]) < 6 {
		return false
	}
	n.Capture, n.Writer = s, part[1]
	return validName(n.Capture, true) && validName(n.Writer, false)
}

// HasSuffix says whether path is named as a file with this suffix, closed or
// open; a file of outcomes is not one of a capture although its name ends alike.
func HasSuffix(path, suffix string) bool {
	path = strings.TrimSuffix(path, openSuffix)
	return strings.HasSuffix(path, suffix) && (suffix != SuffixCapture || !strings.HasSuffix(path, SuffixOutcomes))
}

// List gives the segment files of paths: a directory stands for the files in it
// (not below it) with the suffix, open ones too; a file stands for itself,
// whatever its name. They come ordered by capture, writer and number, those with
// names of another form first, each once.
func List(suffix string, paths ...string) ([]string, error) {
	var files []string
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		if !st.IsDir() {
			files = append(files, filepath.Clean(path))
			continue
		}
		inDir, err := listDir(path, suffix)
		if err != nil {
			return nil, err
		}
		files = append(files, inDir...)
	}
	slices.SortStableFunc(files, comparePaths)
	return dropRenamed(slices.Compact(files)), nil
}

func listDir(dir, suffix string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	for _, e := range entries {
		if e.Type()&fs.ModeDir == 0 && HasSuffix(e.Name(), suffix) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// dropRenamed drops an open name whose closed one is there too: the file was
// closed while the directory was read.
func dropRenamed(files []string) []string {
	closed := make(map[string]bool, len(files))
	for _, f := range files {
		closed[f] = true
	}
	return slices.DeleteFunc(files, func(f string) bool {
		final, open := strings.CutSuffix(f, openSuffix)
		return open && closed[final]
	})
}

func comparePaths(a, b string) int {
	x, _ := ParseName(a)
	y, _ := ParseName(b)
	return cmp.Or(
		cmp.Compare(x.Capture, y.Capture), cmp.Compare(x.Writer, y.Writer), cmp.Compare(x.Number, y.Number),
		x.Start.Compare(y.Start), cmp.Compare(a, b))
}
