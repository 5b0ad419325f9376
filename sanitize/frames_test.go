package sanitize

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
)

// frameValues are JSON texts of values, in one place or another of documents.
func frameValues() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			`"info"`, `"anna.berg@example.test"`, `"10.1.2.3"`, `"2024-05-01T12:00:00Z"`, `""`, `"a\"b"`, `"caf\u00e9"`, `"café 北京"`, `"\ud800"`, "\"a\x01\"", `"open`,
			"0", "17", "-3.25", "1e9", "4111111111111111", "01", "true", "false", "null", "nul", "{}", "[]", `{"a":"anna"}`, "[1,2,3]", `["anna",7]`, `"POINT(1 2)"`,
			"/* anna */ 1",
		}),
		rapid.Map(rapid.IntRange(minVector-2, minVector+2), func(n int) string { return "[" + strings.Repeat("0.5,", n-1) + "1]" }),
	)
}

// frameDocs are documents of a few frames.
func frameDocs() *rapid.Generator[[]string] {
	frames := rapid.SliceOfN(rapid.SampledFrom([]string{
		`{"a":@}`, `{"a":@,"b":{"c":@,"d":[@,@]},"message":@}`, `{"a": @ , "b":@}`, `{"Anna Berg":@,"a":@}`, `{"a":@,"a":@}`, `{"\u0061":@}`,
		`{"user":{"name":@,"email":@},"tags":[@]}`, `{"a":[@,@,@]} `, `{"a":@}x`, `{"location":{"lat":@,"lon":@},"a":@}`,
		`{"v":[` + strings.Repeat("@,", minVector-1) + `@],"a":@}`,
	}), 1, 3)
	values := frameValues()
	return rapid.Custom(func(t *rapid.T) []string {
		some := frames.Draw(t, "frames")
		pool := rapid.SliceOfN(values, 1, 4).Draw(t, "values")
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			out := ""
			for i, part := range strings.Split(rapid.SampledFrom(some).Draw(t, "frame"), "@") {
				if i > 0 {
					out += rapid.SampledFrom(pool).Draw(t, "value")
				}
				out += part
			}
			return out
		}), 1, 12).Draw(t, "docs")
	})
}

// A document becomes the same among others as alone, whatever the others taught, and
// is dropped for the same reason.
func TestFramesChangeNothing(t *testing.T) {
	ecs := preset(PresetECSLogs)
	rules := preset(PresetFidelity)
	rules.Fields = []FieldRule{
		{Match: Globs{"a"}, Action: "keep", Why: "x"},
		{Match: Globs{"b.c"}, Action: "mask"},
		{Match: Globs{"user.email"}, Action: "email"},
		{Match: Globs{"location"}, Action: "geo-grid", Step: "0.5"},
		{Match: Globs{"b.d"}, Action: "pseudonym"},
		{Match: Globs{"message"}, Action: "null"},
	}
	for name, cfg := range map[string]Config{"fidelity": preset(PresetFidelity), "strict": preset(PresetStrict), "ecs": ecs, "rules": rules, "schema": withLogSchema(t)} {
		t.Run(name, func(t *testing.T) {
			many, alone := newWorker(t, cfg), newWorker(t, cfg)
			whole := 0
			rapid.Check(t, func(t *rapid.T) {
				var body, want strings.Builder
				drops := map[string]bool{}
				for i, doc := range frameDocs().Draw(t, "docs") {
					lines := fmt.Sprintf("{\"index\":{\"_index\":\"logs-%d\",\"_id\":%q}}\n%s\n", i%2, "anna-"+strconv.Itoa(i%3), doc)
					body.WriteString(lines)
					var rec capture.Record
					drop := alone.Sanitize(&rec, exchange("POST", "/_bulk", lines))
					if drop == string(dropPostcheck) { // what one document has replaced, another may keep
						drop = ""
					}
					drops[drop] = true
					want.Write(rec.Body)
				}
				var rec capture.Record
				switch drop := many.Sanitize(&rec, exchange("POST", "/_bulk", body.String())); {
				case drop == string(dropPostcheck):
				case !drops[drop] || drop == "" && len(drops) > 1:
					t.Fatalf("%s\ndropped %q, alone %v", body.String(), drop, drops)
				case drop == "":
					whole++
					if got := string(rec.Body); got != want.String() {
						t.Fatalf("%s\nbecame\n%s\nalone\n%s", body.String(), got, want.String())
					}
				}
			})
			if whole == 0 {
				t.Error("all was dropped")
			}
		})
	}
}

// The names of a record are known to its post-check although only the first document
// of a frame is walked over: the second record drops nothing that the first did not.
func TestFramesAreForOneRecord(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	for record := range 3 {
		body := strings.Repeat("{\"index\":{}}\n{\"message\":\"the word message stands here\",\"n\":1}\n", 3+record)
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_bulk", body)); drop != "" {
			t.Fatal(drop)
		}
	}
}

// A text of a frame that is known is not walked over.
func TestFramesAreUsed(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	w.reset()
	const doc = `{"a":%d,"b":{"c":"x%d"}}`
	for i := range 5 {
		in := []byte(fmt.Sprintf(doc, i, i))
		_, done, _ := w.byFrame(nil, in, w.docFrames, true)
		if done != (i > 0) {
			t.Fatalf("document %d: by a frame: %v", i, done)
		}
		if _, why := w.framed(nil, in, w.p.bodies.doc, w.docFrames, true); why != kept {
			t.Fatal(why)
		}
	}
	w.reset()
	if _, done, _ := w.byFrame(nil, []byte(fmt.Sprintf(doc, 1, 1)), w.docFrames, true); done {
		t.Error("a frame outlives its record")
	}
}

// Documents without end of which each has a frame of its own cost bounded memory and,
// in each record, a bounded number of tries.
func TestFramesAreBounded(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	for record := range 40 {
		w.reset()
		tries := 0
		for i := range 400 {
			in := []byte(fmt.Sprintf(`{"name%s":{"x":1,"y":"z"},"b":%q}`, strings.Repeat("x", record*10+i%10)+strconv.Itoa(i), "v"))
			if w.docFrames.worth(w.post.kept.round) {
				tries++
			}
			if _, why := w.framed(nil, in, w.p.bodies.doc, w.docFrames, true); why != kept {
				t.Fatal(why)
			}
		}
		if tries > maxFrameDebt/frameMiss {
			t.Errorf("record %d: %d tries", record, tries)
		}
		if n := len(w.docFrames.steps); n > maxSteps+64 {
			t.Fatalf("%d steps", n)
		}
		if n := len(w.docFrames.text); n > maxFrameText+64<<10 {
			t.Fatalf("%d bytes", n)
		}
	}
}
