package sanitize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestParseKey(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"as openssl prints it", testKeyText + "\n", nil},
		{"upper case", strings.ToUpper(testKeyText), nil},
		{"empty", "", ErrKeyForm},
		{"a pass phrase", "correct horse battery staple", ErrKeyForm},
		{"a digit short", testKeyText[1:], ErrKeyForm},
		{"a digit long", testKeyText + "0", ErrKeyForm},
		{"not hex", strings.Repeat("g", 64), ErrKeyForm},
		{"one digit", strings.Repeat("0", 64), ErrKeyWeak},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ParseKey([]byte(c.text)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestLoadKeyRefusesWhatOthersCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(testKeyText), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(path); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for mode := range fs.FileMode(0o100) {
		if err := os.Chmod(path, 0o600|mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKey(path); errors.Is(err, ErrKeyMode) != (mode != 0) {
			t.Errorf("mode %o: %v", 0o600|mode, err)
		}
	}
	if _, err := LoadKey(path + ".absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

// TestKeyNeverPrints tries every way in which a value ends up in text.
func TestKeyNeverPrints(t *testing.T) {
	k := testKey(t)
	type holder struct {
		K Key  `json:"k" yaml:"k"`
		P *Key `json:"p" yaml:"p"`
	}
	h := holder{k, &k}
	j, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	y, err := yaml.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	all := string(j) + string(y) + k.String() + k.GoString()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		all += fmt.Sprintf(verb, k) + fmt.Sprintf(verb, &k) + fmt.Sprintf(verb, h)
	}
	all = strings.ToLower(all)
	for _, part := range []string{"0001020304", "0 1 2 3", "0x0, 0x1", "\x00\x01\x02", `\x00\x01`} {
		if strings.Contains(all, part) {
			t.Errorf("the key is in %q", all)
		}
	}
	if !strings.Contains(all, "[secret]") {
		t.Error("nothing says [secret]")
	}
}

func TestKeyID(t *testing.T) {
	if got := testKey(t).ID(); got != "fa0cde5e86539aca" {
		t.Errorf("key id %s", got)
	}
	if (Key{}).ID() != "" {
		t.Error("no key has an id")
	}
	a, err := EphemeralKey()
	if err != nil {
		t.Fatal(err)
	}
	b, _ := EphemeralKey()
	if a.ID() == b.ID() || !a.Ephemeral() || testKey(t).Ephemeral() {
		t.Error("ephemeral keys agree")
	}
}

func TestScopes(t *testing.T) {
	word := func(k Key, scope, salt string) string {
		cfg := Default()
		cfg.Scope = scope
		p, err := New(cfg, k, []byte(salt))
		if err != nil {
			t.Fatal(err)
		}
		return string(p.Worker().text.text(nil, []byte("anna")))
	}
	k := testKey(t)
	if word(k, "", "one") != word(k, "", "two") || word(k, "", "one") != word(k, "project", "") {
		t.Error("a key file's pseudonyms depend on the capture")
	}
	if word(k, "capture", "one") == word(k, "capture", "two") {
		t.Error("scope capture does not depend on the capture")
	}
	e, _ := EphemeralKey()
	if word(e, "", "one") == word(e, "", "two") {
		t.Error("an ephemeral key's pseudonyms do not depend on the capture")
	}
	if _, err := New(Default(), e, nil); err == nil {
		t.Error("scope capture without a salt is accepted")
	}
	if _, err := New(Default(), Key{}, nil); !errors.Is(err, ErrNoKey) {
		t.Errorf("no key: %v", err)
	}
}
