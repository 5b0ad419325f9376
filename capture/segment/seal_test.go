package segment

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

func identity(t testing.TB) *age.X25519Identity {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// sealedFile is smallFile sealed to recipients.
func sealedFile(t testing.TB, ids ...*age.X25519Identity) (path string, b []byte, its []item) {
	t.Helper()
	var to []age.Recipient
	for _, id := range ids {
		to = append(to, id.Recipient())
	}
	w := newWriter(t, testConfig(t.TempDir()), WithRecipients(to))
	its = items(12)
	fill(t, w, its, 3)
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(w.final)
	if err != nil {
		t.Fatal(err)
	}
	return w.final, b, its
}

func with(ids ...*age.X25519Identity) ReadOption {
	var all []age.Identity
	for _, id := range ids {
		all = append(all, id)
	}
	return WithIdentities(all)
}

func TestSealedOpensForEveryRecipientOnly(t *testing.T) {
	anna, bo, other := identity(t), identity(t), identity(t)
	path, b, its := sealedFile(t, anna, bo)
	for name, id := range map[string]*age.X25519Identity{"first": anna, "second": bo} {
		got, err := readAll(path, with(id))
		if err != nil || !slices.Equal(got, lines(its)) {
			t.Errorf("%s recipient: %d lines, %v", name, len(got), err)
		}
	}
	if got, err := readAll(path, with(other)); len(got) > 0 || !errors.Is(err, ErrSealed) {
		t.Errorf("another identity: %d lines, %v", len(got), err)
	}
	if got, err := readAll(path); len(got) > 0 || !errors.Is(err, ErrSealed) {
		t.Errorf("no identity: %d lines, %v", len(got), err)
	}
	for _, l := range lines(its) {
		if strings.Contains(string(b), l) {
			t.Fatal("a line stands in the file")
		}
	}
	d, err := zstd.NewReader(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if n, err := d.WriteTo(&strings.Builder{}); n != 0 || err != nil {
		t.Errorf("a zstd decoder prints %d bytes, %v", n, err)
	}
}

func TestSealedIsVerifiedAndRepairedWithoutIdentity(t *testing.T) {
	id := identity(t)
	path, b, its := sealedFile(t, id)
	if r, err := Verify(path); err != nil || r.Records != 12 {
		t.Errorf("verify: %+v, %v", r, err)
	}
	r, err := newReader(inMemory(b), closedName)
	if err != nil {
		t.Fatal(err)
	}
	last := r.Footer().Blocks[3]
	cut := path[:len(path)-len(SuffixCapture)-1] + "9" + SuffixCapture + openSuffix
	if err := os.WriteFile(cut, b[:last.end()-1], 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err := Repair(cut)
	if err != nil || rep.Records != 9 {
		t.Fatalf("repair: %+v, %v", rep, err)
	}
	if got, err := readAll(rep.Path, with(id)); err != nil || !slices.Equal(got, lines(its)[:9]) {
		t.Errorf("after repair: %d lines, %v", len(got), err)
	}
}

// Whatever bit is flipped, even where the checksums are put right again, no line
// is given that was not sealed, and none twice.
func TestSealedFlips(t *testing.T) {
	id := identity(t)
	_, b, its := sealedFile(t, id)
	all := lines(its)
	for i := range b {
		for bit := 0; bit < 8; bit += 3 {
			c := slices.Clone(b)
			c[i] ^= 1 << bit
			for name, d := range map[string][]byte{"flipped": c, "checksums put right": resign(slices.Clone(c))} {
				got, _, err := readBytes(d, closedName, with(id))
				if !slices.Equal(got, all[:len(got)]) || len(got) < len(all) && err == nil {
					t.Fatalf("byte %d bit %d %s: %d lines, %v", i, bit, name, len(got), err)
				}
			}
		}
	}
}

// Sealed blocks that are swapped or repeated do not open, although their
// checksums hold.
func TestSealedBlocksKeepTheirPlaces(t *testing.T) {
	id := identity(t)
	_, b, its := sealedFile(t, id)
	r, err := newReader(inMemory(b), closedName)
	if err != nil {
		t.Fatal(err)
	}
	blocks := r.Footer().Blocks
	part := func(i int) []byte { return b[blocks[i].Offset:blocks[i].end()] }
	for name, order := range map[string][]int{"swapped": {1, 0, 2, 3}, "repeated": {0, 0, 1, 2, 3}, "left out": {0, 2, 3}} {
		d := slices.Clone(b[:blocks[0].Offset])
		for seq, i := range order {
			p := slices.Clone(part(i))
			h, ok := decodeBlockHeader(p, 0)
			if !ok {
				t.Fatal("no block")
			}
			h.Seq, h.Index = uint32(seq), uint64(3*seq)
			putBlockHeader(p, h.kind, h.mark, h.BlockInfo)
			d = append(d, p...)
		}
		got, _, err := readBytes(d, openName, with(id))
		if !slices.Equal(got, lines(its)[:len(got)]) || err == nil {
			t.Errorf("%s: %d lines, %v", name, len(got), err)
		}
	}
}

// A sealed block in a plain file, and a plain one in a sealed file, are damage.
func TestBlocksAreAsTheFileSays(t *testing.T) {
	plain, its, f := smallFile(t)
	b := slices.Clone(plain)
	p := b[f.Blocks[1].Offset:]
	h, _ := decodeBlockHeader(p, 0)
	putBlockHeader(p[:h.end()], kindSealed, h.mark, h.BlockInfo)
	got, _, err := readBytes(b, closedName)
	if !errors.Is(err, ErrCorrupt) || !slices.Equal(got, lines(its[:3])) {
		t.Errorf("sealed in plain: %d lines, %v", len(got), err)
	}
}

func TestParseRecipientsAndIdentities(t *testing.T) {
	id := identity(t)
	if _, err := ParseRecipients([]string{id.Recipient().String()}); err != nil {
		t.Error(err)
	}
	if _, err := ParseRecipients([]string{"age1nonsense"}); err == nil {
		t.Error("nonsense is a recipient")
	}
	if _, err := ParseIdentities(strings.NewReader("# a comment\n" + id.String() + "\n")); err != nil {
		t.Error(err)
	}
	secret := "AGE-SECRET-KEY-1NONSENSE"
	if _, err := ParseIdentities(strings.NewReader(secret)); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("nonsense: %v", err)
	}
}
