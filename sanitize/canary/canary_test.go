package canary

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestBuiltIn(t *testing.T) {
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 300 {
		t.Errorf("%d cases", len(cases))
	}
	names, directions := map[string]bool{}, map[string]int{}
	for _, c := range cases {
		if names[c.Name] {
			t.Errorf("%s stands twice", c.Name)
		}
		names[c.Name] = true
		directions[c.Direction]++
		if c.Position == "" {
			t.Errorf("%s has no position", c.Name)
		}
	}
	if directions[DirectionOut] < 15 || directions[DirectionLog] < 15 {
		t.Errorf("directions: %v", directions)
	}
}

func TestRead(t *testing.T) {
	good := `{"name":"a","method":"GET","path":"/","canaries":["x"],"position":"p","expect":"absent"}`
	for name, c := range map[string]struct {
		text, want string
		n          int
	}{
		"one":         {good + "\n\n", "", 1},
		"no line end": {good, "", 1},
		"not JSON":    {good + "\n{secret", "line 2: not a case", 0},
		"no canaries": {`{"name":"a","method":"GET","path":"/","expect":"absent"}`, "line 1: want a name and canaries", 0},
		"expect":      {strings.Replace(good, "absent", "gone", 1), "expect", 0},
		"direction":   {strings.Replace(good, `"name"`, `"direction":"up","name"`, 1), "direction", 0},
		"no path":     {strings.Replace(good, `"path":"/",`, "", 1), "method and a path", 0},
		"base64":      {strings.Replace(good, `"name"`, `"body":"?","body_encoding":"base64","name"`, 1), "not base64", 0},
	} {
		got, err := Read(strings.NewReader(c.text))
		if len(got) != c.n || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && c.want != "" {
			t.Errorf("%s: %d cases, %v", name, len(got), err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error quotes the line: %v", name, err)
		}
	}
}

func TestMarks(t *testing.T) {
	m, err := NewMarks(time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	probe, err := m.Probe("canary")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseMarks(text)
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(probe)
	if err != nil {
		t.Fatal(err)
	}
	runs := regexp.MustCompile(`([a-z]{16})\.([0-9]{12})(@|%40)probe`).FindAllStringSubmatch(string(all), -1)
	if len(runs) < 40 {
		t.Errorf("%d marks in the probe", len(runs))
	}
	for _, r := range runs {
		if !again.Has([]byte(r[1])) || !again.Has([]byte(r[2])) {
			t.Errorf("a mark is not recognised")
		}
		if strings.Contains(string(text), r[1]) || strings.Contains(string(text), r[2]) {
			t.Errorf("the marks' file holds a mark")
		}
	}
	for _, other := range []string{"", "probe", "abcdefghijklmnop", "123456789012"} {
		if again.Has([]byte(other)) {
			t.Errorf("%q is no mark", other)
		}
	}
	for _, c := range probe {
		if c.Method != "GET" && !strings.Contains(c.Path, "_search") && !strings.Contains(c.Path, "_count") && !strings.Contains(c.Path, "_mget") && c.Path != "/_msearch" {
			t.Errorf("%s %s may change something", c.Method, c.Path)
		}
	}
}

func TestParseMarks(t *testing.T) {
	for _, text := range []string{"", "{}", `{"version":2}`, `{"version":1,"key":"00","runs":["x"]}`, `{"version":1,"key":"` + strings.Repeat("00", 32) + `"}`} {
		if _, err := ParseMarks([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
