package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/esshadow/esshadow/replay/report"
	"github.com/esshadow/esshadow/sanitize/audit"
)

// A sealed capture keeps nothing readable on the disk, opens with the identity
// alone, and compares with a target that holds the real documents.
func TestSealedCapture(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	dir, identity := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "identity")
	if err := os.WriteFile(identity, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, target := newEngine(t), newEngine(t)
	sealSearches(t, source, dir, id.Recipient().String())
	noneOf(t, dir, "amber", "items", "secret-password")

	esshadow(t, nil, "capture", "cat", dir).want(t, exitFailed, "sealed", "--identity FILE")
	looksIntoSealed(t, dir, identity)
	cat := esshadow(t, nil, "capture", "cat", "--identity", identity, "--op", "search", dir).want(t, exitDone)
	if !strings.Contains(cat.out, `"title":"amber`) && !strings.Contains(cat.out, "title") {
		t.Errorf("the identity does not open it: %.300s", cat.out)
	}
	if strings.Contains(cat.out, "secret-password") || strings.Contains(cat.out, "Basic") {
		t.Error("credentials are kept in a sealed capture")
	}
	esshadow(t, nil, "capture", "verify", dir).want(t, exitDone)

	send(t, "POST", target.url+"/_bulk", bulkBody("items", 0, 48)) // the real documents, not from the capture
	send(t, "POST", target.url+"/items/_refresh", "")
	run := filepath.Join(t.TempDir(), "run")
	esshadow(t, nil, "replay", dir, "--target", target.url, "--speed", "max", "--out", run).want(t, exitFailed, "sealed", "--identity FILE")
	// That left nothing behind which would be in the way now.
	esshadow(t, nil, "replay", dir, "--target", target.url, "--identity", identity, "--speed", "max", "--out", run).want(t, exitDone)
	rep := decode[report.Report](t, esshadow(t, nil, "report", "--format", "json", run).want(t, exitDone).out)
	if rep.Counts.Same != 12 || rep.Counts.Different != 0 {
		t.Errorf("counts %+v", rep.Counts)
	}
	noneOf(t, run, "amber", "items")
}

func sealSearches(t *testing.T, source *engine, dir, recipient string) {
	t.Helper()
	throughProxy(t, source.url, dir, func(set *settings) {
		set.cfg.Sanitize.Preset, set.cfg.Sanitize.Recipients = "sealed", []string{recipient}
	}, func(addr string) {
		url := "http://demo:secret-password@" + addr
		send(t, "POST", url+"/_bulk", bulkBody("items", 0, 48))
		send(t, "POST", url+"/items/_refresh", "")
		for i := range 12 {
			send(t, "POST", url+"/items/_search", searchBody(i))
		}
	})
}

// noneOf looks for words in every file of a directory, unpacked where it can be.
func noneOf(t *testing.T, dir string, words ...string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw) + unpacked(raw)
		for _, w := range words {
			if strings.Contains(text, w) {
				t.Errorf("%q can be read in %s", w, f.Name())
			}
		}
	}
}

func unpacked(raw []byte) string {
	d, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		return ""
	}
	defer d.Close()
	text, _ := io.ReadAll(d)
	return string(text)
}

// looksIntoSealed: audit and report open a sealed capture with its identity, find
// there what it holds, and say what to do without.
func looksIntoSealed(t *testing.T, dir, identity string) {
	t.Helper()
	words := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(words, []byte("amber\nnowhere-to-be-found\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	esshadow(t, nil, "sanitize", "audit", dir, "--words", words).want(t, exitUndecoded, "sealed", "--identity FILE")
	esshadow(t, nil, "sanitize", "audit", dir, "--words", words, "--identity", other).want(t, exitUndecoded)
	esshadow(t, nil, "sanitize", "audit", dir, "--identity", words).want(t, exitUsage, "no age identities")
	esshadow(t, nil, "sanitize", "audit", dir, "--words", "-", "--identity", "-").want(t, exitUsage, "not both")
	got := decode[audit.Report](t, esshadow(t, nil, "sanitize", "audit", dir, "--json", "--words", words, "--identity", identity).want(t, exitWorse).out)
	if got.Undecoded != 0 || got.Lines < 13 || got.ByKind["word"] == 0 {
		t.Errorf("audit with the identity: %d lines, %d not decoded, kinds %v", got.Lines, got.Undecoded, got.ByKind)
	}
	esshadow(t, nil, "sanitize", "report", dir).want(t, exitFailed, "sealed", "--identity FILE")
	rep := decode[exposure](t, esshadow(t, nil, "sanitize", "report", dir, "--json", "--identity", identity).want(t, exitDone).out)
	if rep.Records < 13 || len(rep.Fields) == 0 {
		t.Errorf("report with the identity: %d records, %d fields", rep.Records, len(rep.Fields))
	}
}
