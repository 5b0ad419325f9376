package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/es"
)

func TestVeilHidesAndStillCompares(t *testing.T) {
	make := func() *Outcome {
		s := func() *es.Summary {
			return &es.Summary{
				IDs: []string{es.Digest([]byte("anna"))}, Aggs: []es.Agg{{Path: es.Digest([]byte("berg"))}},
				Items: []es.Item{{Summary: es.Summary{IDs: []string{es.Digest([]byte("bo"))}}}},
			}
		}
		return &Outcome{Index: "tenant-anna", Want: s(), Got: s(), Example: &Example{Target: "/tenant-anna/_search", Body: "anna"}}
	}
	v, err := NewVeil()
	if err != nil {
		t.Fatal(err)
	}
	o, other := make(), make()
	v.hide(o)
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{"anna", es.Digest([]byte("anna")), es.Digest([]byte("berg")), es.Digest([]byte("bo"))} {
		if strings.Contains(string(text), hidden) {
			t.Errorf("%q is in %s", hidden, text)
		}
	}
	if o.Want.IDs[0] != o.Got.IDs[0] || o.Want.Aggs[0].Path != o.Got.Aggs[0].Path || o.Want.Items[0].IDs[0] != o.Got.Items[0].IDs[0] || o.Want.IDs[0] == o.Want.Items[0].IDs[0] {
		t.Error("what was equal is not, or the other way round")
	}
	second, err := NewVeil()
	if err != nil {
		t.Fatal(err)
	}
	second.hide(other)
	if other.Want.IDs[0] == o.Want.IDs[0] {
		t.Error("two runs have the same digests")
	}
}
