package main

import (
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/sanitize"
)

// An id rule that cannot be the capture's is refused, not used.
func TestIDRuleIsTheCaptures(t *testing.T) {
	key, err := sanitize.ParseKey([]byte(testKey))
	if err != nil {
		t.Fatal(err)
	}
	made := sanitize.Default()
	made.Preset = "fidelity"
	made.IDs.Domain = "text"
	pipe, err := sanitize.New(made, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	info := capture.Info{Metas: []segment.Meta{{Preset: "fidelity", Rules: pipe.RulesHash()}}}
	if _, err := idRule(sanitize.Default(), key, info); err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("other rules: %v", err)
	}
	same := made
	same.Preset = "strict" // the capture's counts
	got, err := idRule(same, key, info)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := string(got.Worker().MapID(nil, []byte("anna"))), string(pipe.Worker().MapID(nil, []byte("anna"))); a != b {
		t.Errorf("anna is %s, in the capture %s", a, b)
	}
	info.Metas[0].Salt = "no hex"
	if _, err := idRule(same, key, info); err == nil {
		t.Error("a damaged salt is taken")
	}
}
