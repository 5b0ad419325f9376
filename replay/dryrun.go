package replay

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/esshadow/esshadow/internal/es"
)

// DryRun is what a replay would do, found without sending anything.
type DryRun struct {
	Records  uint64
	Planned  uint64 // would be sent, those of Handles where the target gives the ids
	Handles  uint64 // of these, need an id that the target is to give in an earlier answer
	Refused  map[string]uint64
	Ops      map[string]OpPlan
	Missing  uint64 // records that the capture says it lost
	Bodies   int64  // bytes of the bodies that would be sent
	First    int64  // arrival of the first and last record of the window, Unix ns
	Last     int64
	Span     time.Duration // from the first to the last send; 0 at Max
	PeakRate int           // most requests in one second of the replay; 0 at Max
	Backward uint64        // records that are older than the one before them
	Examples []Example     // the first rewritten requests, of different operations
}

// OpPlan counts the records of one operation.
type OpPlan struct{ Planned, Refused uint64 }

// Rate is the mean number of requests a second, 0 at Max.
func (d *DryRun) Rate() float64 {
	if d.Span <= 0 {
		return 0
	}
	return float64(d.Planned) / d.Span.Seconds()
}

// maxDryExamples bounds DryRun.Examples.
const maxDryExamples = 10

// Plan reads a whole capture and says what a replay of it would do. target may
// be zero where it is not known; only media types depend on it.
func Plan(ctx context.Context, cfg Config, src Source, target es.Identity) (DryRun, error) {
	d := DryRun{Refused: map[string]uint64{}, Ops: map[string]OpPlan{}}
	r := reader{cfg: &cfg, src: src, planner: newPlanner(&cfg, target)}
	second, inSecond := int64(-1), 0
	for ctx.Err() == nil {
		rec, err := r.src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return d, err
		}
		it, more := r.take(rec)
		if !more {
			break
		}
		if it == nil {
			continue
		}
		d.add(it)
		if it.out.Refused != "" || cfg.Speed == Max {
			continue
		}
		if s := (it.due - int64(startLead)) / int64(time.Second); s != second {
			second, inSecond = s, 0
		}
		inSecond++
		d.PeakRate = max(d.PeakRate, inSecond)
	}
	d.Missing = r.gaps.Load()
	d.Span = time.Duration(Due(d.Last-d.First, cfg.Speed))
	return d, ctx.Err()
}

func (d *DryRun) add(it *item) {
	if d.Records++; d.Records == 1 {
		d.First, d.Last = it.out.Time, it.out.Time
	}
	if it.out.Time < d.Last {
		d.Backward++
	}
	d.Last = max(d.Last, it.out.Time)
	op := it.plan.op.String()
	p := d.Ops[op]
	if it.out.Refused != "" {
		p.Refused++
		d.Refused[it.out.Refused]++
		d.Ops[op] = p
		return
	}
	if p.Planned == 0 && len(d.Examples) < maxDryExamples {
		d.Examples = append(d.Examples, *exampleOf(&it.plan.shot, it.out.Index))
	}
	p.Planned++
	d.Planned++
	d.Bodies += int64(len(it.plan.shot.Body))
	if len(it.plan.uses) > 0 {
		d.Handles++
	}
	d.Ops[op] = p
}
