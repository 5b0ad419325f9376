package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// suite is the benchmarks of a package that are run.
type suite struct {
	pkg, pattern string
	// rounds runs all of them one after the other, that many times, so that those
	// of one round are near each other in time. 0: each of them count times.
	rounds int
	corpus string // folder of real requests; none unless it is named
}

func suites() []suite {
	return []suite{
		{pkg: "./internal/es", pattern: "^Benchmark(Classify|Tokens|BulkReader|RequestFacts|Summarize|Fingerprint|Peers)$"},
		{pkg: "./capture", pattern: "^Benchmark(Encode|Decode|Source|Offer|RecordPeers)$"},
		{pkg: "./capture/segment", pattern: "^BenchmarkWrite$/^256KiB$/^(fastest|default)$"},
		{pkg: "./capture/segment", pattern: "^BenchmarkRead$/^256KiB$"},
		{pkg: "./sanitize", pattern: "^Benchmark(Bulk|BulkPeers|Searches)$"},
		{pkg: "./replay", pattern: "^Benchmark(Plan|ReplayMax)$"},
	}
}

// packageRun runs benchmarks and prints medians.
type packageRun struct {
	out, progress io.Writer
	dir           string // for temporary files
	count         int
	benchtime     time.Duration
}

func (r packageRun) run(ctx context.Context) error {
	for _, s := range suites() {
		_, _ = fmt.Fprintf(r.progress, "benchmarks of %s\n", s.pkg)
		samples, err := r.suite(ctx, s)
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

// suite builds a test binary and runs it: `go test` would not pass on to it that
// the run is interrupted.
func (r packageRun) suite(ctx context.Context, s suite) ([]*sample, error) {
	bin := filepath.Join(r.dir, "suite.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", bin, s.pkg)
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) }
	if _, err := r.output(build); err != nil {
		return nil, err
	}
	var out []byte
	for range max(1, s.rounds) {
		count := r.count
		if s.rounds > 0 {
			count = 1
		}
		bench := exec.CommandContext(ctx, bin, "-test.run=^$", "-test.bench="+s.pattern, "-test.benchmem",
			"-test.count="+strconv.Itoa(count), "-test.benchtime="+r.benchtime.String())
		bench.Dir = filepath.FromSlash(s.pkg)
		said, err := r.output(bench, "ESSHADOW_CORPUS="+s.corpus)
		if err != nil {
			return nil, err
		}
		out = append(out, said...)
	}
	return parseBenchmarks(bytes.NewReader(out))
}

func (r packageRun) output(cmd *exec.Cmd, env ...string) ([]byte, error) {
	cmd.Env = append(append(os.Environ(), "TMPDIR="+r.dir, "ESSHADOW_CORPUS=", "ESSHADOW_REQUIRE_ALL="), env...)
	cmd.WaitDelay = 10 * time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(err, errors.New(strings.TrimSpace(said.String()+string(out))))
	}
	return out, nil
}

// sample is one benchmark with what was measured, by unit, once a count.
type sample struct {
	name string
	of   map[string][]float64
}

// cell is the median of a unit, – where there is none.
func (s *sample) cell(unit, format string) string {
	v, ok := s.of[unit]
	if !ok {
		return "–"
	}
	return fmt.Sprintf(format, median(v))
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
		cell := s.cell
		var other []string
		for _, unit := range slices.Sorted(maps.Keys(s.of)) {
			if !slices.Contains([]string{"ns/op", "MB/s", "B/op", "allocs/op"}, unit) {
				other = append(other, fmt.Sprintf("%.3g %s", median(s.of[unit]), unit))
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
