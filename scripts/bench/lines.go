package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// corpusFile is what of a corpus of real requests the table of lines reads.
const corpusFile = "search_bodies.ndjson"

// lines measures the way from an exchange to its line beside two libraries that
// only read and write the same texts.
func (r packageRun) lines(ctx context.Context, rounds int) error {
	_, _ = fmt.Fprintln(r.progress, "sanitise + encode")
	dir, err := corpusDir()
	if err != nil {
		return err
	}
	samples, err := r.suite(ctx, suite{pkg: "./sanitize", pattern: "^BenchmarkLines$", rounds: rounds, corpus: dir})
	if err != nil {
		return fmt.Errorf("sanitise + encode: %w", err)
	}
	linesTable(samples).print(r.out)
	if dir == "" {
		_, _ = fmt.Fprintf(r.out, "Real search bodies were not measured: set ESSHADOW_CORPUS to a folder that has %s.\n", corpusFile)
	}
	return nil
}

// corpusDir is the folder of the corpus, "" where none is named.
func corpusDir() (string, error) {
	dir := os.Getenv("ESSHADOW_CORPUS")
	if dir == "" {
		return "", nil
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, corpusFile))
	}
	if err != nil {
		return "", fmt.Errorf("ESSHADOW_CORPUS: %w", err)
	}
	return dir, nil
}

// linesTable has a row for everything that was done with a set of texts. A
// benchmark's name is Lines/texts/what is done.
func linesTable(samples []*sample) *grid {
	const (
		speed  = "MB/cpu-s"
		peer   = "peer "
		decode = "encoding/json"
		walk   = "fastjson"
	)
	peers := map[string][]float64{} // by texts and peer
	for _, s := range samples {
		texts, what := lineName(s.name)
		for _, lib := range []string{decode, walk} {
			if strings.HasPrefix(what, peer+lib) {
				peers[texts+lib] = s.of[speed]
			}
		}
	}
	t := &grid{
		title: "sanitise + encode, one core",
		head:  []string{"", "MB/s of CPU", "MB/s", "× " + decode, "× " + walk, "B/doc", "allocs/doc", "spread %"},
	}
	for _, s := range samples {
		texts, what := lineName(s.name)
		t.rows = append(t.rows, []string{
			texts + ": " + what, s.cell(speed, "%.0f"), s.cell("MB/s", "%.0f"), ratio(s.of[speed], peers[texts+decode]), ratio(s.of[speed], peers[texts+walk]),
			s.cell("B/doc", "%.1f"), s.cell("allocs/doc", "%.2f"), fmt.Sprintf("%.0f", spread(s.of[speed])),
		})
	}
	return t
}

func lineName(name string) (texts, what string) {
	_, rest, _ := strings.Cut(strings.ReplaceAll(name, "_", " "), "/")
	texts, what, _ = strings.Cut(rest, "/")
	return texts, cmp.Or(what, name)
}
