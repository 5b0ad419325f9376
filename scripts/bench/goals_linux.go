package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// goals prints what the proxy with capture reached of what it aims at: ratios
// within this run, taken from the tables.
func (r *pairedRun) goals(ctx context.Context, all []load) error {
	by := map[kind]rows{}
	var huge load
	for _, l := range all {
		by[l.kind] = r.results[l.name]
		if l.kind == hugeMost {
			huge = l
		}
	}
	over := by[hugeMost]
	held, err := readBudgets(ctx, r.esshadow)
	if err != nil {
		return err
	}
	held.inFlight = float64(huge.conns) * (huge.megabytes() + float64(len(bulkAnswer(int64(huge.megabytes()*1e6))))/1e6)
	on := func(k kind, of func(measure) float64, other string) string {
		return by[k].to("", of, other).cell(captureOn)
	}
	lost := func(k kind) string { return drops(captureOn, by[k][captureOn]) }
	t := grid{title: "esshadow, capture on, against its goals", head: []string{"", "reached", "goal", "aim"}}
	add := func(what, reached, goal, aim string) { t.rows = append(t.rows, []string{what, reached, goal, aim}) }
	add("searches, as many as fit: requests/s × nginx", on(searchMost, measure.rate, nginx), "≥ 0.75", "≥ 0.9")
	add("the same × ReverseProxy, which captures nothing", on(searchMost, measure.rate, reverse), "≥ 2", "≥ 2.5")
	add("searches, 5 000/s: CPU × nginx", on(searchRate, measure.cpuUs, nginx), "≤ 3.2", "≤ 2.5")
	add("searches, as many as fit: CPU × nginx", on(searchMost, measure.cpuUs, nginx), "≤ 1.5", "≤ 1.25")
	add("searches, 5 000/s: added p50 × nginx's", ratio(by[searchRate].added(captureOn), by[searchRate].added(nginx)), "≤ 2.2", "≤ 1.6")
	loss := by[searchLoss]
	add("searches, 20 000/s: dropped, at requests/s", lost(searchLoss)+", at "+loss.median(measure.rate, "%.0f")(captureOn), "0, at 20000", "0, at 20000")
	add("bulks of 1 MB, 100/s: dropped, which costs less", lost(hugeRate), "0", "0")
	perMB := func(m measure) float64 { return m.cpuUs() / 1e3 / huge.megabytes() }
	add("bulks of 1 MB, 100/s: CPU ms/MB", by[hugeRate].median(perMB, "%.2f")(captureOn), "≤ 4.5", "≤ 3")
	add("bulks of 1 MB, 100/s: p99 × off", on(hugeRate, measure.p99us, captureOff), "≤ 4", "≤ 1.5")
	add("bulks of 1 MB, as many as fit: failed", fmt.Sprint(bad(over[captureOn])), "0", "0")
	add("the same: requests/s × off", on(hugeMost, measure.rate, captureOff), "≥ 0.9", "≥ 0.9")
	limit := fmt.Sprintf("≤ %.0f", held.sum()+budgetRoom)
	add("the same: peak RSS MB", over.median(measure.peakMB, "%.0f")(captureOn), limit, limit)
	t.print(r.out)
	_, _ = fmt.Fprintf(r.out, "%s\n", held)
	return nil
}

// budgetRoom is for the program itself beside its budgets, in MB.
const budgetRoom = 64

// budgets are what a proxy with capture may hold by its settings, in MB.
type budgets struct {
	queue, sanitising, pooled, bodies float64
	inFlight                          float64 // of the bodies, what a load can fill
	workers                           int
}

// readBudgets asks the program for its defaults, by which it is measured.
func readBudgets(ctx context.Context, bin string) (b budgets, err error) {
	cmd := exec.CommandContext(ctx, bin, "config", "print")
	cmd.Env = environment()
	out, err := cmd.Output()
	if err != nil {
		return b, fmt.Errorf("config print: %w", err)
	}
	found := map[string]float64{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		name, value, _ := strings.Cut(strings.TrimSpace(s.Text()), ":")
		if f := strings.Fields(value); len(f) > 0 {
			if n, ok := parseSize(f[0]); ok && found[name] == 0 {
				found[name] = n
			}
		}
	}
	for _, name := range []string{"queue", "max_body", "pooled_bytes", "body_memory"} {
		if found[name] == 0 {
			return b, fmt.Errorf("config print: no size of %s", name)
		}
	}
	b = budgets{queue: found["queue"], pooled: found["pooled_bytes"], bodies: found["body_memory"], workers: max(1, runtime.NumCPU()/2)}
	const twice = 2 // a worker holds a body and what becomes of it
	b.sanitising = float64(b.workers) * twice * found["max_body"]
	return b, nil
}

// parseSize reads such as 64MiB, in MB.
func parseSize(s string) (float64, bool) {
	for unit, of := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if digits, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseFloat(digits, 64)
			return n * of / 1e6, err == nil
		}
	}
	return 0, false
}

// sum counts of the bodies only what the load can fill, for the setting bounds
// far more.
func (b budgets) sum() float64 {
	return b.queue + b.sanitising + b.pooled + min(b.bodies, b.inFlight)
}

func (b budgets) String() string {
	return fmt.Sprintf("Budgets in MB: queue %.0f + sanitising (twice max_body for each of %d workers) %.0f + pooled_bytes %.0f + bodies that this load can have on their way %.0f "+
		"(body_memory would allow %.0f) = %.0f, and %d for the program.", b.queue, b.workers, b.sanitising, b.pooled, min(b.bodies, b.inFlight), b.bodies, b.sum(), budgetRoom)
}
