package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A capture on standard input is read as one in a file is, and nothing of it stays.
func TestCaptureOnStandardInput(t *testing.T) {
	c := makeCapture(t, 3, time.Millisecond)
	files, err := filepath.Glob(filepath.Join(c.dir, "*.ndjson.zst"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, command := range []string{
		"capture cat", "capture cat --from +1ms", "capture stat", "capture stat --json", "sanitize report", "sanitize audit",
	} {
		args := strings.Fields(command)
		want := esshadow(t, nil, append(args, files[0])...).want(t, exitDone)
		got := esshadowWith(t, bytes.NewReader(text), nil, append(args, "-")...).want(t, exitDone)
		if got.out != want.out {
			t.Errorf("%s: %s\nwant: %s", command, got.out, want.out)
		}
	}
	for _, command := range []string{"capture ls", "capture verify"} {
		r := esshadowWith(t, bytes.NewReader(text), nil, append(strings.Fields(command), "-")...).want(t, exitDone)
		if !strings.Contains(r.out, "standard input") || strings.Contains(r.out, temporary) {
			t.Errorf("%s: %s", command, r.out)
		}
	}
	esshadowWith(t, bytes.NewReader(text[:len(text)/2]), nil, "capture", "verify", "-").want(t, exitFailed, "1 of 1 files")
	damaged := bytes.Clone(text)
	damaged[len(damaged)/2] ^= 1
	for bad, commands := range map[string][]string{
		string(text[:len(text)/2]): {"capture cat", "capture verify", "capture verify --json"},
		string(damaged):            {"capture cat", "capture stat", "capture verify", "capture verify --json", "sanitize report", "sanitize audit", "sanitize audit --json"},
		"no segment at all":        {"capture ls", "capture ls --json", "capture cat", "capture stat", "capture verify", "sanitize report"},
	} {
		for _, command := range commands {
			r := esshadowWith(t, strings.NewReader(bad), nil, append(strings.Fields(command), "-")...)
			if said := r.out + r.err; r.code == exitDone || !strings.Contains(said, "standard input") || strings.Contains(said, temporary) {
				t.Errorf("%s: exit code %d: %s", command, r.code, said)
			}
		}
	}
	for _, command := range []string{
		"capture repair -", "replay - --target http://127.0.0.1:1", "capture cat - -", "capture stat - --identity -", "sanitize audit - --words -",
	} {
		esshadowWith(t, bytes.NewReader(text), nil, strings.Fields(command)...).want(t, exitUsage, "esshadow: -: ")
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// A key on standard input is that of a file; what else comes there cannot be one.
func TestKeyOnStandardInput(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(testKey), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"key id KEY", "sanitize explain user.email --key KEY"} {
		from := func(path string) []string { return strings.Fields(strings.ReplaceAll(command, "KEY", path)) }
		want := esshadow(t, nil, from(key)...).want(t, exitDone)
		if got := esshadowWith(t, strings.NewReader(testKey), nil, from("-")...).want(t, exitDone); got.out != want.out {
			t.Errorf("%s: %s\nwant: %s", command, got.out, want.out)
		}
		esshadowWith(t, strings.NewReader("abc"), nil, from("-")...).want(t, exitUsage, "standard input: key must be 64")
	}
	c := makeCapture(t, 1, 0)
	r := esshadowWith(t, strings.NewReader(testKey), nil, "replay", c.dir, "--target", newEngine(t).url, "--key", "-", "--out", filepath.Join(t.TempDir(), "run"))
	r.want(t, exitDone)
	for _, command := range []string{"sanitize preview --key -", "sanitize preview --rules -", "sanitize filter --key -"} {
		esshadowWith(t, strings.NewReader(testKey), nil, strings.Fields(command)...).want(t, exitUsage, "esshadow: -: standard input holds")
	}
}
