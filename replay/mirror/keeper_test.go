package mirror

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/esshadow/esshadow/capture/segment"
)

// paper is a Writer whose disk can fail.
type paper struct {
	wrote   func(segment.Written)
	fault   atomic.Pointer[error] // what the next write comes to
	err     error
	pending uint64
	reopens int
	closed  bool
}

func (p *paper) Append([]byte, int64) error {
	p.pending++
	return p.flush()
}

func (p *paper) flush() error {
	n := p.pending
	p.pending = 0
	if p.err = p.broken(); p.err != nil {
		return &segment.LostError{Records: n, Err: p.err}
	}
	if n > 0 {
		p.wrote(segment.Written{Records: n})
	}
	return nil
}

func (p *paper) broken() error {
	if f := p.fault.Load(); f != nil {
		return *f
	}
	return nil
}

func (p *paper) Tick(time.Time) error { return nil }
func (p *paper) Err() error           { return p.err }

func (p *paper) Reopen(time.Time) error {
	p.reopens++
	p.err = p.broken()
	return p.err
}

func (p *paper) Close(map[string]uint64) error {
	p.closed = true
	return p.flush()
}

// A disk that fails costs outcomes, which are counted, and nothing else; when it
// works again, writing goes on.
func TestKeeper(t *testing.T) {
	for _, x := range []struct {
		fault error
		disk  Disk
	}{{errors.New("input/output error"), DiskFailed}, {segment.ErrDiskLow, DiskLow}} {
		t.Run(x.disk.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zap.InfoLevel)
				k := newKeeper(zap.New(core))
				p := &paper{wrote: k.wrote}
				var full atomic.Bool
				full.Store(true)
				if err := k.begin(func() (outcomeFiles, error) {
					if full.Load() {
						return nil, fmt.Errorf("run.json: %w", syscall.ENOSPC)
					}
					return p, nil
				}); err != nil {
					t.Fatal(err)
				}
				if _, _, disk := k.stats(); disk != DiskFailed {
					t.Errorf("disk %s although it is full", disk)
				}
				full.Store(false)
				stop := make(chan struct{})
				go k.run(stop)
				write := func(n int) {
					for range n {
						if err := k.Append([]byte("{}"), 1); err != nil {
							t.Fatalf("the engine is told: %v", err)
						}
					}
				}
				write(2)
				<-time.After(retryWait + time.Second)
				write(3)
				p.fault.Store(&x.fault)
				write(4)
				if written, lost, disk := k.stats(); written != 3 || lost != 6 || disk != x.disk {
					t.Errorf("%d written, %d lost, disk %s", written, lost, disk)
				}
				<-time.After(time.Minute)
				k.mu.Lock()
				reopens := p.reopens
				k.mu.Unlock()
				if reopens == 0 || reopens > 70 {
					t.Errorf("tried %d times in a minute", reopens)
				}
				p.fault.Store(nil)
				<-time.After(retryMax + time.Second)
				write(5)
				close(stop)
				k.end()
				write(1)
				if written, lost, disk := k.stats(); written != 8 || lost != 7 || disk != DiskOn || !p.closed {
					t.Errorf("at the end %d written, %d lost, disk %s", written, lost, disk)
				}
				if n := logs.Len(); n != 4 {
					t.Errorf("%d lines in the log, want one for each change: %v", n, logs.All())
				}
				synctest.Wait()
			})
		})
	}
}
