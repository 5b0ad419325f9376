package proxy

import (
	"crypto/tls"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// lookEvery is how often handshakes look whether the files have changed.
const lookEvery = 2 * time.Second

// tlsFiles is a TLS configuration made of files, and made anew when they change:
// connections that exist stay, new handshakes use the new one. A nil one stands
// for plain HTTP.
type tlsFiles struct {
	paths []string
	build func() (*tls.Config, error)
	log   *zap.Logger
	every time.Duration
	now   atomic.Pointer[tls.Config]

	mu     sync.Mutex
	looked time.Time
	stamps []stamp
}

// stamp is what tells a file from its successor.
type stamp struct {
	modified time.Time
	size     int64
}

func newTLSFiles(log *zap.Logger, build func() (*tls.Config, error), paths ...string) (*tlsFiles, error) {
	f := &tlsFiles{build: build, log: log, every: lookEvery}
	for _, p := range paths {
		if p != "" {
			f.paths = append(f.paths, p)
		}
	}
	return f, f.reread()
}

// get is the configuration for a handshake. It never waits for another that
// looks at the files.
func (f *tlsFiles) get() *tls.Config {
	if f == nil {
		return nil
	}
	if len(f.paths) > 0 && f.mu.TryLock() {
		f.look()
		f.mu.Unlock()
	}
	return f.now.Load()
}

// look rereads the files if they have changed. What cannot be read changes
// nothing: a certificate may be there before its key is.
func (f *tlsFiles) look() {
	now := time.Now()
	if now.Sub(f.looked) < f.every {
		return
	}
	f.looked = now
	stamps := f.stat()
	same := true
	for i, s := range stamps {
		same = same && s.size == f.stamps[i].size && s.modified.Equal(f.stamps[i].modified)
	}
	if same {
		return
	}
	f.stamps = stamps
	t, err := f.build()
	if err != nil {
		f.log.Warn("changed certificate files cannot be used, the old ones hold", zap.Error(err))
		return
	}
	f.now.Store(t)
	f.log.Info("certificate files read again")
}

// reread reads the files now. On an error the old ones hold.
func (f *tlsFiles) reread() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked, f.stamps = time.Now(), f.stat()
	t, err := f.build()
	if err != nil {
		return err
	}
	f.now.Store(t)
	return nil
}

func (f *tlsFiles) stat() []stamp {
	out := make([]stamp, len(f.paths))
	for i, p := range f.paths {
		if st, err := os.Stat(p); err == nil {
			out[i] = stamp{st.ModTime(), st.Size()}
		}
	}
	return out
}
