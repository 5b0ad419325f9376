package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// suite is the benchmarks of a package that are run.
type suite struct{ pkg, pattern string }

func suites() []suite {
	return []suite{
		{"./internal/es", "^Benchmark(Classify|Tokens|BulkReader|RequestFacts|Summarize|Fingerprint|Peers)$"},
		{"./capture", "^Benchmark(Encode|Decode|Source|Offer|RecordPeers)$"},
		{"./capture/segment", "^BenchmarkWrite$/^256KiB$/^(fastest|default)$"},
		{"./capture/segment", "^BenchmarkRead$/^256KiB$"},
		{"./sanitize", "^Benchmark(Bulk|BulkPeers|Searches)$"},
		{"./replay", "^Benchmark(Plan|ReplayMax)$"},
	}
}

// packageRun runs `go test -bench` and prints medians.
type packageRun struct {
	out, progress io.Writer
	dir           string // for temporary files
	count         int
	benchtime     time.Duration
}

func (r packageRun) run(ctx context.Context) error {
	for _, s := range suites() {
		var out, said bytes.Buffer
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", s.pattern, "-benchmem", "-p", "1",
			"-count", strconv.Itoa(r.count), "-benchtime", r.benchtime.String(), s.pkg)
		cmd.Stdout, cmd.Stderr = &out, &said
		cmd.Env = append(os.Environ(), "TMPDIR="+r.dir, "ESSHADOW_CORPUS=", "ESSHADOW_REQUIRE_ALL=")
		// go ends its children when it is interrupted.
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 10 * time.Second
		_, _ = fmt.Fprintf(r.progress, "benchmarks of %s\n", s.pkg)
		if err := cmd.Run(); err != nil {
			return errors.Join(fmt.Errorf("benchmarks of %s: %w", s.pkg, err), errors.New(said.String()+out.String()))
		}
		samples, err := parseBenchmarks(&out)
		if err != nil {
			return fmt.Errorf("benchmarks of %s: %w", s.pkg, err)
		}
		if len(samples) == 0 {
			return fmt.Errorf("benchmarks of %s: there are none of %s", s.pkg, s.pattern)
		}
		benchmarkTable(s.pkg, samples).print(r.out)
	}
	return nil
}

// sample is one benchmark with what was measured, by unit, once a count.
type sample struct {
	name string
	of   map[string][]float64
}

var benchmarkLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.+)$`)

// parseBenchmarks reads the lines of `go test -bench`, each of which is a name, a
// number of rounds and pairs of value and unit.
func parseBenchmarks(in io.Reader) ([]*sample, error) {
	var out []*sample
	byName := map[string]*sample{}
	s := bufio.NewScanner(in)
	for s.Scan() {
		m := benchmarkLine.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		b := byName[m[1]]
		if b == nil {
			b = &sample{m[1], map[string][]float64{}}
			byName[m[1]] = b
			out = append(out, b)
		}
		f := strings.Fields(m[2])
		for i := 0; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, fmt.Errorf("not a benchmark's line: %q", s.Text())
			}
			b.of[f[i+1]] = append(b.of[f[i+1]], v)
		}
	}
	return out, s.Err()
}

func benchmarkTable(title string, samples []*sample) *grid {
	t := &grid{title: title, head: []string{"", "ns", "MB/s", "B", "allocs", "other", "spread %"}}
	for _, s := range samples {
		cell := func(unit, format string) string {
			v, ok := s.of[unit]
			if !ok {
				return "–"
			}
			return fmt.Sprintf(format, median(v))
		}
		var other []string
		for _, unit := range []string{"ratio", "ns/line", "%captured"} {
			if v, ok := s.of[unit]; ok {
				other = append(other, fmt.Sprintf("%.3g %s", median(v), unit))
			}
		}
		t.rows = append(t.rows, []string{
			strings.ReplaceAll(s.name, "_", " "), cell("ns/op", "%.4g"), cell("MB/s", "%.0f"), cell("B/op", "%.0f"), cell("allocs/op", "%.0f"),
			strings.Join(other, ", "), fmt.Sprintf("%.0f", spread(s.of["ns/op"])),
		})
	}
	return t
}

// spread is the distance of the extremes in percent of the median.
func spread(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	low, high := v[0], v[0]
	for _, x := range v {
		low, high = min(low, x), max(high, x)
	}
	return 100 * (high - low) / max(median(v), 1e-9)
}
