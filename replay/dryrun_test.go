package replay

import (
	"errors"
	"testing"
	"time"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

func TestDryRun(t *testing.T) {
	src := &records{n: 101, make: func(i int, r *capture.Record) {
		search(r, i)
		r.Time = captureStart + int64(i)*int64(100*time.Millisecond)
		switch {
		case i == 50:
			r.Kind, r.Gap = "gap", &capture.Gap{Reason: "queue", Count: 7}
		case i == 60:
			r.Time -= int64(time.Second)
		case i%10 == 1:
			r.Method, r.Target = "PUT", "/a/_doc/1"
		case i%10 == 2:
			r.Method, r.Target = "DELETE", "/a"
		}
	}}
	cfg := Default()
	cfg.Speed = 2
	d, err := Plan(t.Context(), cfg, src, es.Identity{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Records != 100 || d.Planned != 80 || d.Refused[RefusedWrite] != 10 || d.Refused[RefusedDestructive] != 10 || d.Missing != 7 || d.Backward != 1 {
		t.Errorf("%+v", d)
	}
	if d.Span != 5*time.Second || d.Rate() != 16 || d.PeakRate != 16 {
		t.Errorf("span %v, rate %v, peak %v", d.Span, d.Rate(), d.PeakRate)
	}
	if d.Ops["search"].Planned != 80 || d.Ops["index"].Refused != 10 || len(d.Examples) != 1 || d.Examples[0].Target != "/logs/_search?n=0" {
		t.Errorf("%+v %+v", d.Ops, d.Examples)
	}
	src.i, src.fail = 0, errDisk
	if _, err := Plan(t.Context(), cfg, src, es.Identity{}); !errors.Is(err, errDisk) {
		t.Error(err)
	}
}
