package mirror

import (
	"errors"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/replay"
)

// openFiles begins the run directory, or goes on with the one of the process
// before.
func (m *Mirror) openFiles() (outcomeFiles, error) {
	m.about.Lock()
	defer m.about.Unlock()
	w, undo, err := replay.MirrorRunDir(m.opt.Dir, &m.run, m.cfg.files(),
		segment.OnWritten(m.keeper.wrote), segment.WithDrops(m.door.counters), segment.OnRepair(repaired(m.log)))
	if err != nil {
		return nil, err // a nil Writer in an interface would not be nil
	}
	m.undo = undo
	return w, nil
}

// describe changes run.json. That it cannot be written is no reason to stop.
func (m *Mirror) describe(change func(*replay.Run)) {
	m.about.Lock()
	defer m.about.Unlock()
	change(&m.run)
	if err := replay.UpdateRun(m.opt.Dir, &m.run); err != nil {
		m.log.Warn("mirror's run.json cannot be written", zap.Error(err))
	}
}

func repaired(log *zap.Logger) func(segment.Report, error) {
	return func(_ segment.Report, err error) {
		if err != nil {
			log.Warn("outcome file of an earlier process cannot be repaired", zap.Error(err))
			return
		}
		log.Info("outcome file of an earlier process repaired")
	}
}

// tellAsked makes run.json say what is asked for now.
func (m *Mirror) tellAsked() {
	sample, inFlight := m.Sample(), int(m.inFlight.Load())
	m.about.Lock()
	told := m.run.Asked.Sample == sample && m.run.Asked.InFlight == inFlight
	m.about.Unlock()
	if !told {
		m.describe(func(r *replay.Run) { r.Asked.Sample, r.Asked.InFlight = sample, inFlight })
	}
}

// Abandon is Close for a mirror that was begun in vain, to which nothing was
// offered: it leaves the run directory as it was found.
func (m *Mirror) Abandon() error {
	if _, err := m.Close(); err != nil {
		return err
	}
	m.about.Lock()
	defer m.about.Unlock()
	if m.undo == nil {
		return nil
	}
	return errors.Join(m.undo(), m.lock.Undo())
}
