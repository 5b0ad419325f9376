package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/replay"
)

// How often progress is shown: a bar is drawn over itself, a plain line is not.
const (
	barEvery   = 200 * time.Millisecond
	plainEvery = 10 * time.Second
	barWidth   = 24
)

// progress shows how a replay goes on while it goes on.
type progress struct {
	stop chan struct{}
	done chan struct{}
}

// startProgress draws a bar on a terminal, and a plain line every ten seconds
// elsewhere.
func startProgress(s *streams, info capture.Info, speed replay.Speed, stats func() replay.Stats) *progress {
	p := &progress{stop: make(chan struct{}), done: make(chan struct{})}
	d := progressDrawer{w: s.err, first: info.First, last: info.Last, speed: speed, records: info.Records}
	every := plainEvery
	if f, ok := s.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		d.bar, every = true, barEvery
	}
	go func() {
		defer close(p.done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				d.draw(stats())
			case <-p.stop:
				if d.bar {
					d.draw(stats())
					_, _ = fmt.Fprintln(d.w)
				}
				return
			}
		}
	}()
	return p
}

// end draws the last state and returns when it is drawn.
func (p *progress) end() {
	close(p.stop)
	<-p.done
}

type progressDrawer struct {
	w           io.Writer
	bar         bool
	first, last int64 // of the capture, Unix ns
	records     uint64
	speed       replay.Speed
	before      replay.Stats
}

func (d *progressDrawer) draw(s replay.Stats) {
	line := d.line(s)
	d.before = s
	if d.bar {
		_, _ = fmt.Fprintf(d.w, "\r\x1b[K%s", line)
		return
	}
	_, _ = fmt.Fprintln(d.w, line)
}

// line is one state: how far, until when, how fast, and what went wrong.
func (d *progressDrawer) line(s replay.Stats) string {
	done := d.part(s)
	var b strings.Builder
	if d.bar {
		full := int(done * barWidth)
		fmt.Fprintf(&b, "[%s%s] ", strings.Repeat("#", full), strings.Repeat("-", barWidth-full))
	} else {
		b.WriteString("esshadow replay: ")
	}
	fmt.Fprintf(&b, "%3.0f%%", done*100)
	if eta := d.eta(s, done); eta > 0 {
		fmt.Fprintf(&b, ", %s left", eta)
	}
	fmt.Fprintf(&b, ", %s/s, sent %d, in flight %d, lag p99 %s, errors %d, differences %d",
		d.rate(s), s.Sent, s.InFlight, s.LagP99.Round(10*time.Microsecond), sum(s.Errors), sum(s.Differences))
	if n := sum(s.Shed); n > 0 {
		fmt.Fprintf(&b, ", SHED %d", n)
	}
	return b.String()
}

// part is how much of the capture is done, 0 to 1: by its time, or by records
// where no pauses are kept.
func (d *progressDrawer) part(s replay.Stats) float64 {
	p := 0.0
	switch {
	case d.speed == replay.Max && d.records > 0:
		p = float64(s.Records) / float64(d.records)
	case d.last > d.first && s.Position > 0:
		p = float64(s.Position-d.first) / float64(d.last-d.first)
	}
	return min(max(p, 0), 1)
}

func (d *progressDrawer) eta(s replay.Stats, done float64) time.Duration {
	if done <= 0 || done >= 1 {
		return 0
	}
	if d.speed != replay.Max {
		return time.Duration((1 - done) * float64(d.last-d.first) / float64(d.speed)).Round(time.Second)
	}
	return time.Duration((1 - done) / done * float64(s.Elapsed)).Round(time.Second)
}

func (d *progressDrawer) rate(s replay.Stats) string {
	span := (s.Elapsed - d.before.Elapsed).Seconds()
	if span <= 0 {
		return "0"
	}
	return fmt.Sprintf("%.0f", float64(s.Sent-d.before.Sent)/span)
}

func sum(m map[string]uint64) uint64 { return capture.Sum(m) }
