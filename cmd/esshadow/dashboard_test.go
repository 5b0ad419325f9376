package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/sandbox"
)

// dashboard is what of a Grafana dashboard asks for data.
type dashboard struct {
	Panels []struct {
		ID      int    `json:"id"`
		Type    string `json:"type"`
		Title   string `json:"title"`
		Targets []struct {
			Expr   string `json:"expr"`
			Legend string `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
	Templating struct {
		List []struct {
			Name  string `json:"name"`
			Type  string `json:"type"`
			Query string `json:"query"`
		} `json:"list"`
	} `json:"templating"`
}

// series are the labels of each metric of a scrape, with their values.
type series map[string]map[string][]string

func scrape(text string) series {
	line := regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$`)
	label := regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"`)
	all := series{}
	for l := range strings.SplitSeq(text, "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		if all[m[1]] == nil {
			// What Prometheus itself adds.
			all[m[1]] = map[string][]string{"job": nil, "instance": nil}
		}
		for _, x := range label.FindAllStringSubmatch(m[2], -1) {
			all[m[1]][x[1]] = append(all[m[1]][x[1]], x[2])
		}
	}
	return all
}

// check compares an expression with a scrape: every metric is there, with every
// label and every value that the expression asks it for, and so are the labels
// that it groups by.
func (s series) check(t *testing.T, title, expr, legend string) {
	t.Helper()
	selector := regexp.MustCompile(`((?:esshadow|go|process)_[a-z0-9_]+)(?:\{([^}]*)\})?`)
	matcher := regexp.MustCompile(`([a-z_]+)(=~|!~|!=|=)"([^"]*)"`)
	known := map[string]bool{}
	found := selector.FindAllStringSubmatch(expr, -1)
	if len(found) == 0 {
		t.Errorf("%s: no metric in %q", title, expr)
	}
	for _, m := range found {
		labels, ok := s[m[1]]
		if !ok {
			t.Errorf("%s: no metric %s in the scrape", title, m[1])
			continue
		}
		for name := range labels {
			known[name] = true
		}
		for _, x := range matcher.FindAllStringSubmatch(m[2], -1) {
			values, ok := labels[x[1]]
			if !ok {
				t.Errorf("%s: %s has no label %s", title, m[1], x[1])
			}
			if x[2] == "=" && !slices.Contains(values, x[3]) && x[1] != "code" {
				t.Errorf("%s: %s has no series with %s=%q", title, m[1], x[1], x[3])
			}
		}
	}
	for _, m := range regexp.MustCompile(`\bby \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			if name = strings.TrimSpace(name); !known[name] {
				t.Errorf("%s: groups by %s, which no metric of %q has", title, name, expr)
			}
		}
	}
	for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(legend, -1) {
		if !regexp.MustCompile(`by \([^)]*\b` + m[1] + `\b`).MatchString(expr) {
			t.Errorf("%s: the legend shows %s, by which %q does not group", title, m[1], expr)
		}
	}
}

// The dashboard asks for what a proxy really shows: one that has captured,
// filtered and dropped, and mirrored to a cluster that differs and fails.
func TestDashboardAgainstAScrape(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../configs/deploy/grafana.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	other := newEngineWith(t, sandbox.Options{Faults: sandbox.Faults{RejectEvery: 2}})
	p := start(t, proxyArgs(t, e.url, filepath.Join(t.TempDir(), "capture"), "--mirror", other.url, "--mirror-out", filepath.Join(t.TempDir(), "run"))...)
	url, admin := p.listening()
	send(t, "POST", url+"/_bulk", bulkBody("items", 0, 5))
	send(t, "POST", url+"/items/_search", searchBody(1))
	send(t, "GET", url+"/_cluster/health", "")
	waitSums(t, admin, 3) // exchanges come after their answers, and these before what follows
	esshadow(t, nil, "ctl", "capture", "off", "--admin", admin).want(t, exitDone)
	send(t, "POST", url+"/items/_search", searchBody(2))
	waitSums(t, admin, 4)
	esshadow(t, nil, "ctl", "mirror", "off", "--admin", admin).want(t, exitDone)
	send(t, "POST", url+"/items/_search", searchBody(3))
	metrics := ""
	wait(t, "something was dropped, and something filtered", func() bool {
		_, metrics = get(t, admin+"/metrics")
		return strings.Contains(metrics, `result="dropped"`) && strings.Contains(metrics, `result="filtered"`) &&
			strings.Contains(metrics, `esshadow_mirror_shed_total{`) && metric(metrics, "esshadow_mirror_in_flight") == 0
	})
	s := scrape(metrics)

	ids, targets := map[int]bool{}, 0
	for _, panel := range d.Panels {
		if ids[panel.ID] {
			t.Errorf("two panels are number %d", panel.ID)
		}
		ids[panel.ID] = true
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("%s shows nothing", panel.Title)
		}
		for _, x := range panel.Targets {
			targets++
			s.check(t, panel.Title, x.Expr, x.Legend)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			s.check(t, "variable "+v.Name, v.Query, "")
		}
	}
	if targets < 20 {
		t.Errorf("only %d expressions were checked", targets)
	}
	// And it leaves no metric of ours out.
	for name := range s {
		if strings.HasPrefix(name, "esshadow_") && !strings.HasSuffix(name, "_sum") && !strings.HasSuffix(name, "_count") && !strings.Contains(string(text), name) {
			t.Errorf("no panel shows %s", name)
		}
	}
}
